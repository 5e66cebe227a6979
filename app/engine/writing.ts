import { StoreError } from '../apple/reader.ts';
import { openAnswer, openDraft, type MailPlaceInApp } from '../apple/script/mail-script.ts';
import { sendToChat } from '../apple/script/messages-script.ts';
import type { ScriptAnswer } from '../apple/script/osascript.ts';
import { faultSentence } from '../apple/script/script-words.ts';
import type { MailRow } from '../apple/occurrence.ts';
import { quotedName } from '../contract/health.ts';
import type { ContractOutcome, WaitingRow } from '../contract/values.ts';
import { answeredMail, type DraftWriting, type MessageWriting, type SomeAddresses, type Standing, type Writing, type WritingRequest, type Written } from '../delivery/writing.ts';
import type { WritingWord } from '../delivery/outgoing.ts';
import { eventTypeOf } from '../events/occurrence.ts';
import { cleanText } from '../events/text.ts';
import type { Principal } from '../events/verdict.ts';
import type { AllowOptions } from '../policy/change.ts';
import { inQuotes } from '../text/quotes.ts';
import type { Engine } from './engine.ts';

const NAME_LIMIT = 256;
const SHOWN_MEMBERS = 20;

/** A chat by its own row, with everybody in it; null where it cannot be read or is gone. @param service of the message that is answered */
export function chatAsItIs(engine: Engine, guid: string, service: string | null): MessageWriting['chat'] | null {
  const reader = engine.readable('messages');
  const chat = reader?.chatByGuid(guid) ?? null;
  if (reader === null || chat === null || !agrees(chat)) return null;
  const members = [...engine.archives.messages.membersOf(chat.id)].sort();
  if (!chat.isGroup && members.length !== 1) return null;
  return {
    guid: chat.guid, name: cleanText(chat.title, NAME_LIMIT), isGroup: chat.isGroup, members,
    names: members.map((member) => cleanText(engine.contacts?.nameOf(member) ?? member, NAME_LIMIT)), service,
  };
}

/** The guid says `-` for one person and `+` for a group, beside the row's style: where they differ nothing is sent. */
const agrees = ({ guid, isGroup }: { readonly guid: string; readonly isGroup: boolean }): boolean => /^[^;]*;([+-]);./.exec(guid)?.[1] === (isGroup ? '+' : '-');

/** Whether a client may write this by settings and stores as they are now. A pause takes no permission away. */
export function standing(engine: Engine, client: string, writing: Writing): Standing {
  if (engine.policy.writes({ id: client }) === null) return 'may-not';
  // A new mail belongs to no store.
  if (writing.kind === 'draft' && writing.answers === null) return 'may';
  const ofMessages = writing.kind === 'message';
  if (!engine.policy.eventOn(eventTypeOf[ofMessages ? 'messages' : 'mail'])) return 'may-not';
  if ((ofMessages ? engine.readable('messages') : engine.readable('mail')) === null) return 'unreadable';
  try {
    return isWithin(engine, { id: client }, writing) ? 'may' : 'may-not';
  } catch (error) {
    if (error instanceof StoreError) return 'unreadable';
    throw error;
  }
}

/**
 * Whether it goes out without being shown: only where the rules allow all in the chat, or who wrote the mail. What may be
 * written only because all may be read is shown. A new draft answers nobody and is sent by nobody but the owner.
 */
export function isUnasked(engine: Engine, client: string, writing: Writing): boolean {
  const { policy, archives } = engine;
  const principal = { id: client };
  if (policy.writes(principal) !== 'unasked') return false;
  if (writing.kind === 'message') return policy.allowsAll(writing.chat.members, writing.chat.guid, principal);
  if (writing.answers === null) return true;
  try {
    const [row] = engine.readable('mail') === null ? [] : archives.mail.find({ rowid: writing.answers.rowid });
    return row !== undefined && policy.allowsRow(row, principal);
  } catch (error) {
    if (error instanceof StoreError) return false;
    throw error;
  }
}

/** What an answer belongs to is looked up anew: it may lie in another place by now. */
function isWithin({ policy, archives: { mail, messages } }: Engine, principal: Principal, writing: Writing): boolean {
  if (writing.kind === 'draft') {
    const [row] = mail.find({ rowid: writing.answers!.rowid });
    // One that is gone is said to be gone when it is written.
    return row === undefined || policy.mayAnswer(row, principal);
  }
  const { chat, event } = writing;
  const row = event === null ? null : messages.find({ rowid: event });
  return row === null ? policy.mayWriteTo(chat.members, chat.guid, principal) : row.chat?.guid === chat.guid && policy.mayAnswer(row, principal);
}

/** Sends or opens what was allowed, once. */
export async function write(engine: Engine, writing: Writing): Promise<Written> {
  try {
    return writing.kind === 'message' ? await sendMessage(engine, writing) : await openInMail(engine, writing);
  } catch (error) {
    if (error instanceof StoreError) return nothing('The store cannot be read at the moment.');
    throw error;
  }
}

async function sendMessage(engine: Engine, { chat, text }: MessageWriting): Promise<Written> {
  const now = chatAsItIs(engine, chat.guid, chat.service);
  if (now === null) return nothing('This chat is gone.');
  if (now.isGroup !== chat.isGroup || now.members.join('\n') !== chat.members.join('\n')) return nothing('The members of this chat are others than those that were shown.');
  engine.echoes.expect(chat.guid, text);
  return written(await sendToChat(engine.scripts, chat.guid, text, chat.isGroup), 'Messages', 'The text may have been sent, or may still be: look in the chat before you write it again.');
}

async function openInMail(engine: Engine, draft: DraftWriting): Promise<Written> {
  const late = 'The draft may be open, or may still open: look in Mail before you ask for it again.';
  if (draft.answers === null) return written(await openDraft(engine.scripts, draft), 'Mail', late);
  const [row] = engine.archives.mail.find({ rowid: draft.answers.rowid });
  const place = row === undefined ? null : placeInApp(row);
  if (row === undefined || place === null) return nothing('The mail that it answers is gone.');
  const { from, subject } = answeredMail(row);
  if (from !== draft.answers.from || subject !== draft.answers.subject) return nothing('The mail that it answers is another than the one that was shown.');
  return written(await openAnswer(engine.scripts, place, draft.text, draft.answers.all), 'Mail', late);
}

/** How Mail itself names a row. */
export const placeInApp = ({ rowid, mailbox, messageIdHeader }: MailRow): MailPlaceInApp | null =>
  (mailbox === null ? null : { rowid, accountId: mailbox.accountId, path: mailbox.path, messageId: messageIdHeader });

const nothing = (why: string): Written => ({ state: 'failed', sentence: `${why} Nothing was written.` });

/** Only what certainly was not written may be asked for again. @param late what may have happened, or may still */
function written(answer: ScriptAnswer, app: 'Mail' | 'Messages', late: string): Written {
  if (answer.ok) return { state: 'done' };
  const why = faultSentence(answer.fault, app);
  return answer.nothingWritten ? nothing(why) : { state: 'unknown', sentence: `${why} ${late}` };
}

/** All that waits for the owner: clients, changes, and texts. */
export function waitingRows(engine: Engine, waiting = engine.policy.snapshot().waiting): WaitingRow[] {
  return [...waiting, ...engine.outgoing.waiting.flatMap((request) => (request.writing === null ? [] : [writingRow(engine, request, request.writing)]))];
}

function writingRow(engine: Engine, { id, client, since, expiresAt }: WritingRequest, writing: Writing): WaitingRow {
  const known = engine.policy.snapshot().clients.find((each) => each.id === client);
  const clientName = known === undefined ? inQuotes(client) : quotedName(known);
  const base = { id, client, clientName, since, expiresAt, text: writing.text };
  if (writing.kind === 'draft') {
    const { to, cc, subject, answers, goesTo } = writing;
    return {
      kind: 'draft', ...base, to: [...to], cc: [...cc], subject,
      answers: answers === null ? null : { from: answers.from, subject: answers.subject, all: answers.all, goesTo: goesTo === null ? null : { instead: some(goesTo.instead), to: some(goesTo.to), cc: some(goesTo.cc) } },
      sentence: `${clientName} would like to open ${answers === null ? 'a draft' : 'an answer'} in Mail`,
    };
  }
  const { guid, name, isGroup, members, names, service } = writing.chat;
  return {
    kind: 'send', ...base, sentence: `${clientName} would like to send a message to ${inQuotes(name, guid)}`,
    chat: { id: guid, name, isGroup, members: names.slice(0, SHOWN_MEMBERS), memberCount: members.length, service },
  };
}

const some = ({ shown, count }: SomeAddresses) => ({ shown: [...shown], count });

/** The owner's answer to anything that waits. */
export async function answerWaiting(engine: Engine, id: string, accept: boolean, options: AllowOptions = {}): Promise<ContractOutcome> {
  if (!engine.outgoing.has(id)) return engine.policy.answer(id, accept, options);
  const answered = await engine.outgoing.answer(id, accept);
  return answered.ok ? { ok: true, changed: true, sentence: answered.sentence } : { ok: false, code: 'refused', message: answered.message };
}

/** What Activity says of a text: never the text, and not to whom. */
export const ACTIVITY_WORDS: Readonly<Record<WritingWord, string>> = {
  asked: 'The owner was asked', dropped: 'No longer allowed by settings', done: 'Written', declined: 'Not allowed', expired: 'Nobody answered', failed: 'Could not be written', unknown: 'May have been written',
};
