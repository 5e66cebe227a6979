import { z } from 'zod';
import { parseSender } from '../../apple/sender.ts';
import { answeredMail, type DraftWriting, type MessageWriting, type Writing, type WritingRequest } from '../../delivery/writing.ts';
import { cleanBody, cleanText, unixLines } from '../../events/text.ts';
import { withoutHidden } from '../../text/hidden.ts';
import { recipientsOf } from './answer-recipients.ts';
import { foundMail, NO_MAIL } from './mail-tools.ts';
import { PAUSED, storeRefusal } from './reading.ts';
import { MAX_WAIT, MAX_WAITS, tool, type ToolAnswer, type ToolCall } from './tool.ts';

const MAX_MESSAGE = 10_000;
const MAX_DRAFT = 40_000;
/** Bytes: with the addresses it stays below what one script takes. */
const MAX_TEXT_BYTES = 90_000;
const MAX_RECIPIENTS = 20;
const MAX_SUBJECT = 512;
/** A text that goes out unasked is done or not within this. */
const UNASKED_MS = 10_000;

const NO_CHAT = 'chat: there is no chat of this id that you may write to. Answer an event instead, or ask the owner.';
const NO_EVENT = 'event: there is no message with this id that you may answer.';
const READ_ENVELOPE = 'Nothing was asked for. Read chat.isGroup and chat.participantCount in the envelope, and say them as they are.';
const OTHER_KIND = `isGroup: the chat is not what you expect. ${READ_ENVELOPE}`;
const OTHER_COUNT = `participantCount: the chat has more or fewer members than that. ${READ_ENVELOPE}`;

const key = z.string().min(1).max(64).optional().describe('Any word of yours for this text. The same key never writes twice, also if an answer got lost; without it the same text to the same chat or address never does.');
const requested = {
  request: z.string().describe('Pass it to reply_status.'),
  state: z.enum(['waiting', 'running', 'done', 'declined', 'expired', 'failed', 'unknown']).describe('waiting: the owner was shown it and has not answered. unknown: it may have gone out; it is not tried again.'),
  expiresAt: z.string().nullable().describe('Until when the owner may answer; null once it is settled.'),
};
/** It writes, never twice, and to the world outside. */
const WRITES = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true } as const;

/**
 * A text made inert, without all that a person does not see: what the owner is shown is what goes out; else a sentence. `isWhole`
 * false: something was left out.
 */
function wordsOf(text: string): { readonly words: string; readonly isWhole: boolean } | string {
  const lines = unixLines(text);
  const clean = cleanBody(lines);
  const words = clean.trim();
  if (words === '') return 'text: say something.';
  return Buffer.byteLength(words) > MAX_TEXT_BYTES ? TOO_LONG : { words, isWhole: clean === lines };
}
const LEFT_OUT = 'It held characters that nobody sees, or half a character: they were left out of what is shown and written. ';
const TOO_LONG = `text: it is too long, more than ${MAX_TEXT_BYTES} bytes in UTF-8. Shorten it.`;

export const messagesReply = tool({
  name: 'messages_reply',
  title: 'Reply by Messages',
  description: 'Writes a text to the chat of a message event, or to a chat whose members are all allowed (any chat, if you may read all messages). The owner is shown the whole text and the chat and allows it or not. Only if they let this client write unasked, and their rules allow all members of the chat, it is sent at once. This returns at once, and reply_status tells what became of it. State isGroup as the envelope does: a reply meant for one person never goes to a group.',
  input: z.strictObject({
    event: z.string().min(1).max(128).optional().describe('The id of the message event that you answer.'),
    chat: z.string().min(1).max(256).optional().describe('The id of a chat (chat.id of an envelope), instead of an event.'),
    isGroup: z.boolean().describe('chat.isGroup of the envelope.'),
    participantCount: z.int().min(1).max(10_000).optional().describe('chat.participantCount of the envelope; needed for a group.'),
    text: z.string().min(1).max(MAX_MESSAGE),
    key,
  }),
  output: z.object({ ...requested, chat: z.string(), isGroup: z.boolean(), participantCount: z.int() }),
  annotations: WRITES,
  granted: true,
  writes: true,
  async run({ event, chat: named, isGroup, participantCount, text, key: given }, call) {
    if ((event === undefined) === (named === undefined)) return { error: 'event: name one event or one chat, not both and not none.' };
    const read = wordsOf(text);
    if (typeof read === 'string') return { error: read };
    const { words, isWhole } = read;
    const refusal = storeRefusal(call.session.backend, 'messages');
    if (refusal !== null) return { error: refusal };
    const place = event === undefined ? chatNamed(named!, call) : chatOf(event, call);
    if (typeof place === 'string') return { error: place };
    const { chat } = place;
    if (chat.isGroup !== isGroup) return { error: OTHER_KIND };
    if (isGroup && participantCount === undefined) return { error: 'participantCount: for a group say how many others are in it, as the envelope does.' };
    if (participantCount !== undefined && participantCount !== chat.members.length) return { error: OTHER_COUNT };
    return asked({ kind: 'message', ...place, text: words }, given ?? null, call, isWhole, { chat: chat.guid, isGroup, participantCount: chat.members.length });
  },
});

type Place = Pick<MessageWriting, 'chat' | 'event'>;

/** The chat of a message that this client may answer. In a chat for one person that person wrote it. */
function chatOf(event: string, { session: { backend }, principal }: ToolCall): Place | string {
  const row = backend.reading.messages!.find(/^\d{1,15}$/.test(event) ? { rowid: Number(event) } : { guid: event });
  if (row === null || row.chat === null || !backend.writing.mayAnswer(row, principal)) return NO_EVENT;
  const chat = backend.writing.chat(row.chat.guid, row.service);
  if (chat === null) return NO_EVENT;
  return !chat.isGroup && row.excluded !== 'sent' && row.sender !== chat.members[0] ? OTHER_KIND : { chat, event: row.rowid };
}

function chatNamed(guid: string, { session: { backend: { writing } }, principal }: ToolCall): Place | string {
  const chat = writing.chat(guid, null);
  return chat !== null && writing.mayWriteTo(chat.members, chat.guid, principal) ? { chat, event: null } : NO_CHAT;
}

const addresses = z.array(z.string().min(3).max(320)).max(MAX_RECIPIENTS);

export const mailDraft = tool({
  name: 'mail_draft',
  title: 'Open a draft in Mail',
  description: 'Opens a draft in Mail on this Mac: a new mail (to, cc, subject, text), or an answer to a mail by its id. It is never sent: the owner reads it in Mail, and sends it or not. The owner is shown it first and allows it or not. Only if they let this client write unasked, it opens at once: a new mail, and an answer where their rules allow the sender of the mail. This returns at once, and reply_status tells what became of it.',
  input: z.strictObject({
    answers: z.string().min(1).max(1000).optional().describe('The id of the mail that is answered: of an event, a row number, or a Message-ID. Then leave out to, cc and subject.'),
    all: z.boolean().default(false).describe('For an answer: to everyone whom the mail names.'),
    to: addresses.min(1).optional(),
    cc: addresses.optional(),
    subject: z.string().max(MAX_SUBJECT).optional(),
    text: z.string().min(1).max(MAX_DRAFT),
    key,
  }),
  output: z.object(requested),
  annotations: WRITES,
  granted: true,
  writes: true,
  async run({ answers, all, to, cc, subject, text, key: given }, call) {
    const read = wordsOf(text);
    if (typeof read === 'string') return { error: read };
    const { words, isWhole } = read;
    if (call.session.backend.paused) return { error: PAUSED };
    if (answers !== undefined) {
      if (to !== undefined || cc !== undefined || subject !== undefined) return { error: 'answers: leave out to, cc and subject; Mail takes them from the mail that is answered.' };
      const answer = await answerTo(answers, all, call);
      return typeof answer === 'string' ? { error: answer } : asked({ kind: 'draft', to: [], cc: [], subject: '', text: words, ...answer }, given ?? null, call, isWhole, {});
    }
    if (to === undefined || subject === undefined) return { error: 'to: name at least one address and a subject, or the mail that is answered.' };
    const [people, copies] = [addressesOf('to', to), addressesOf('cc', cc ?? [])];
    if (typeof people === 'string') return { error: people };
    if (typeof copies === 'string') return { error: copies };
    const draft = { to: people, cc: copies, subject: cleanText(subject, MAX_SUBJECT), text: words };
    return asked({ kind: 'draft', ...draft, answers: null, goesTo: null }, given ?? null, call, isWhole && withoutHidden(subject) === subject, {});
  },
});

const NO_ANSWER = NO_MAIL.replace('id:', 'answers:').replace('read', 'answer');

/** Each once; else a sentence that says which is none. */
function addressesOf(field: 'to' | 'cc', entries: readonly string[]): readonly string[] | string {
  const all = entries.map(addressOf);
  const wrong = all.indexOf(null);
  return wrong < 0 ? [...new Set(all as string[])] : `${field}[${wrong}]: this is no mail address.`;
}

const addressOf = (text: string): string | null => {
  const parsed = parseSender(text, null);
  return parsed.ok && parsed.kind === 'address' ? parsed.value : null;
};

/** The mail that is answered, and where Mail's answer to it goes; else a sentence. */
async function answerTo(id: string, all: boolean, call: ToolCall): Promise<Pick<DraftWriting, 'answers' | 'goesTo'> | string> {
  const { session: { backend }, principal } = call;
  const refusal = storeRefusal(backend, 'mail');
  if (refusal !== null) return refusal;
  const mail = foundMail(id, call, (row) => backend.writing.mayAnswer(row, principal));
  if (typeof mail === 'string') return NO_ANSWER;
  const goesTo = await recipientsOf(mail.row, all, call);
  // The owner may have changed the settings while the file was read.
  if (!backend.writing.may(principal) || !backend.writing.mayAnswer(mail.row, principal)) return NO_ANSWER;
  if (backend.paused) return PAUSED;
  return { answers: { rowid: mail.row.rowid, ...answeredMail(mail.row), all }, goesTo };
}

/** Puts it before the owner, or lets it go where the owner wants it unasked. */
async function asked(writing: Writing, given: string | null, { session: { backend }, principal, signal }: ToolCall, isWhole: boolean, more: object): Promise<ToolAnswer> {
  const { outgoing } = backend.writing;
  const request = outgoing.ask(principal.id, writing, given);
  if ('refused' in request) return { error: request.refused };
  if (request.state === 'running') await outgoing.settled(request.id, UNASKED_MS, signal);
  return answerOf(request, more, isWhole ? '' : LEFT_OUT);
}

export const replyStatus = tool({
  name: 'reply_status',
  title: 'What became of a reply',
  description: 'Tells what became of a text of messages_reply or mail_draft. With timeoutSeconds it waits until the owner has answered.',
  input: z.strictObject({
    request: z.string().regex(/^(?:message|draft)-[0-9a-f]{12}$/, 'must be the request of messages_reply or mail_draft'),
    timeoutSeconds: z.int().min(0).max(MAX_WAIT).default(0).describe('How long to wait for the owner at most.'),
  }),
  output: z.object(requested),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  granted: true,
  writes: true,
  async run({ request: id, timeoutSeconds }, { session, principal, signal }) {
    const { outgoing } = session.backend.writing;
    if (outgoing.find(id, principal.id) === null) return { error: 'request: there is no such request of yours. If Belfry was started anew since, nothing of it was written; ask again.' };
    if (session.waits >= MAX_WAITS) return { error: `At most ${MAX_WAITS} calls may wait at once on one connection.` };
    session.waits += 1;
    try {
      await outgoing.settled(id, timeoutSeconds * 1000, signal);
    } finally {
      session.waits -= 1;
    }
    const request = outgoing.find(id, principal.id);
    return request === null ? { error: 'request: it is no longer known.' } : answerOf(request, {});
  },
});

/** @param note put before the sentence */
function answerOf(request: WritingRequest, more: object, note = ''): ToolAnswer {
  const { id, state, expiresAt } = request;
  return { sentence: note + sentenceOf(request), value: { request: id, state, expiresAt: state === 'waiting' ? new Date(expiresAt).toISOString() : null, ...more } };
}

function sentenceOf({ id, kind, state, sentence }: WritingRequest): string {
  switch (state) {
    case 'waiting':
      return `The owner was shown it and has not answered yet; after 10 minutes it ends by itself. Go on with something else, and call reply_status with request "${id}" later.`;
    case 'running':
      return `It is being written. Call reply_status with request "${id}" in a moment.`;
    case 'done':
      return kind === 'message' ? 'It was sent.' : 'The draft is open in Mail. Whether it is sent is up to the owner.';
    case 'declined':
      return sentence ?? 'The owner did not allow it. Nothing was written. Do not ask for the same again.';
    case 'expired':
      return 'The owner did not answer within 10 minutes. Nothing was written.';
    case 'failed':
    case 'unknown':
      return sentence!;
  }
}
