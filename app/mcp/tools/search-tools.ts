import { z } from 'zod';
import type { Mailbox } from '../../apple/occurrence.ts';
import { cleanText, cutText } from '../../events/text.ts';
import { hiddenIn } from '../../text/hidden.ts';
import type { Coverage, FoundText, MailFinding } from '../searching.ts';
import { cursorArgument } from '../sealed-cursor.ts';
import type { Reach } from '../session.ts';
import { idsOf, mailboxesOf, shownMails } from './mail-tools.ts';
import { chatNamed, envelopeOf } from './messages-tools.ts';
import { boundNote, fitting, personNote, STRANGERS } from './reading.ts';
import { timeArgument, timeOf } from './time-argument.ts';
import { READS, tool, type ToolCall } from './tool.ts';

const BYTES = 56_000;
const MAX_LIMIT = 100;
const MAX_QUERY = 1000;
/** Characters of a stretch of text, with its marks. */
const MAX_SNIPPET = 400;

const query = z.string().min(1).max(MAX_QUERY).describe('Words, all of which must be there; "a phrase"; OR; -word to leave out; (brackets) hold several together; word* for a beginning. Whole words: no stemming. Case and accents do not count.');
const highlight = z.boolean().default(false).describe('Puts the words that were found between ** and **; an asterisk of the text itself shows as \u2217.');
const snippet = z.string().nullable().describe(`A stretch of the text around the first word found; null: nothing of the text is on this Mac, or it could not be cut in time. ${STRANGERS}`);

const COVERAGE = {
  off: 'There is no index yet.', waiting: 'The index waits for Mail.', failed: 'The index met a fault, so newer mail may be missing.', paused: 'The index is paused',
  opening: 'The index is being opened', comparing: 'The index is being compared with Mail', building: 'The index is being built, the newest mail first',
} as const;

/** What a search looked at, as far as a client may know: how much mail there is says something of senders that are not allowed. */
export function coverageFor({ phase, indexed, total, unreadable }: Coverage, reach: Reach | null): { phase: string; percent: number; unreadable: boolean; indexed?: number; total?: number } {
  const percent = phase === 'ready' ? 100 : total === 0 ? 0 : Math.min(99, Math.floor((100 * indexed) / total));
  return { phase, percent, unreadable: unreadable > 0, ...(reach === 'everything' && { indexed, total }) };
}

/** @param mayMiss whether it says something of this search that the text of some mail is not known whole */
function coverageSentence({ phase, percent, unreadable }: ReturnType<typeof coverageFor>, mayMiss: boolean): string {
  const known = Object.hasOwn(COVERAGE, phase) ? COVERAGE[phase as keyof typeof COVERAGE] : '';
  const share = known === '' || known.endsWith('.') ? known : `${known}: ${percent} % of the mail is in it.`;
  return [share, unreadable && mayMiss ? 'The text of some mails could not be read whole.' : ''].filter(Boolean).join(' ');
}

function shownText(found: FoundText | null, marked: boolean): string | null {
  if (found === null || !marked) return found === null ? null : cleanText(found.text, MAX_SNIPPET);
  // A mark of the sender's own would say that something was found.
  const whole = found.text.replaceAll('*', '\u2217');
  // Cleaned before the marks come in: what a joiner is needed for is told by what stands beside it.
  const clean = cleanText(whole, Infinity);
  const hidden = hiddenIn(whole);
  const moved = (at: number): number => hidden.reduce((to, { start, end }) => to - Math.max(0, Math.min(end, at) - start), at);
  let [text, at] = ['', 0];
  for (const { start, end } of found.marks.map((mark) => ({ start: moved(mark.start), end: moved(mark.end) }))) {
    text += `${clean.slice(at, start)}**${clean.slice(start, end)}**`;
    at = end;
  }
  return cutText(text + clean.slice(at), MAX_SNIPPET);
}

const countWords = (count: number, isExact: boolean, one: string) => `${isExact ? '' : 'More than '}${count} ${one}${count === 1 && isExact ? '' : 's'}`;

export const mailSearch = tool({
  name: 'mail_search',
  title: 'Search mail',
  description: 'Searches the full text of mail on this Mac: subject, sender, text and names of attachments. mail_get reads what was found. Works while Mail is closed and marks nothing as read.',
  input: z.strictObject({
    query,
    scope: z.enum(['all', 'subject', 'sender', 'body', 'attachments']).default('all').describe('Where the words must stand. In the query, subject:, from:, body: and attachment: say it of one word, or of those in brackets behind it.'),
    mailbox: z.string().min(1).max(1024).optional().describe('A name from mail_mailboxes; left out: everywhere.'),
    exclude: z.array(z.string().min(1).max(1024)).max(20).default([]).describe('Mailboxes to leave out. Junk and Trash are searched like any other.'),
    after: timeArgument.optional().describe('Only mail of this day or time and later.'),
    before: timeArgument.optional().describe('Only mail before this day or time.'),
    highlight,
    limit: z.int().min(1).max(MAX_LIMIT).default(10),
    offset: z.int().min(0).max(10_000).default(0).describe('nextOffset of the last answer.'),
  }),
  output: z.object({
    mails: z.array(z.object({
      row: z.int(), read: z.boolean(), flagged: z.boolean(), answered: z.boolean(), snippet, score: z.number().nullable().describe('Higher fits better; null where the newest come first, or only mail of some senders may be read.'),
      mail: z.record(z.string(), z.unknown()).describe(`The envelope as in mail.received. ${STRANGERS}`),
    })),
    count: z.int(), isExact: z.boolean().describe('False: there are more than count.'), order: z.enum(['best', 'newest']), nextOffset: z.int().nullable(),
    coverage: z.object({ phase: z.string(), percent: z.int(), unreadable: z.boolean(), indexed: z.int().optional(), total: z.int().optional() }),
  }),
  annotations: READS,
  granted: true,
  reads: 'mail',
  lists: 'mails',
  searches: true,
  async run({ mailbox, exclude, after, before, highlight: marked, ...asked }, call) {
    const { session: { backend: { reading } }, principal, signal } = call;
    const archive = reading.mail!;
    const boxes = mailbox === undefined && exclude.length === 0 ? [] : mailboxesOf(archive, call);
    const found = await reading.search.mail(principal, {
      ...asked, mailboxes: mailbox === undefined ? null : named(boxes, mailbox, 'mailbox'), except: exclude.flatMap((name, at) => named(boxes, name, `exclude[${at}]`)),
      after: timeOf(after), before: timeOf(before),
    });
    if (!found.ok) return { error: found.reason };
    const shown = shownMails(found.hits.map(({ row }) => row), archive, call);
    const cut = await found.snippets(signal);
    // Meanwhile Mail may have moved what was found, and the owner excluded it: from here on nobody is waited for.
    const rows = found.rowsNow();
    const isSame = rows.every((row, nth) => row === found.hits[nth]!.row);
    const hits = found.hits.map((hit, nth) => ({ ...hit, nth })).filter(({ nth }) => rows[nth] !== null && reading.mayRead(rows[nth]!, principal));
    const mailsNow = isSame ? hits.map(({ nth }) => shown[nth]!) : shownMails(hits.map(({ nth }) => rows[nth]!), archive, call);
    const all = hits.map(({ nth, score }, at) => ({ ...mailsNow[at]!, snippet: shownText(cut[nth]!, marked), score: score === null ? null : Number(score.toFixed(3)) }));
    const mails = fitting(all, BYTES);
    const nextOffset = mails.length < all.length ? hits[mails.length - 1]!.at + 1 : found.next;
    const coverage = coverageFor(found.coverage, reading.reach(principal, 'mail'));
    const { isExact, order } = found;
    const count = found.count - (found.hits.length - hits.length);
    const mayMiss = asked.offset === 0 && (asked.scope === 'all' || asked.scope === 'body');
    return { sentence: mailSentence({ ...found, count }, mails.length, nextOffset, coverageSentence(coverage, mayMiss), call), value: { mails, count, isExact, order, nextOffset, coverage } };
  },
});

function mailSentence({ count, isExact, order, notes }: Extract<MailFinding, { ok: true }>, shown: number, nextOffset: number | null, coverage: string, call: ToolCall): string {
  const head = count === 0 ? 'No mail that you may read has this.' : `${countWords(count, isExact, 'mail')}, ${order === 'best' ? 'the best fit first' : 'too many or too general to rank, so the newest first'}; ${shown} shown. ${STRANGERS}`;
  const subjects = call.session.backend.subjects === false ? 'Subjects are switched off, so they were not looked through.' : '';
  return [head, ...notes, subjects, nextOffset === null ? '' : `Pass offset ${nextOffset} to go on.`, coverage, boundNote(call, 'mail')].filter(Boolean).join(' ');
}

function named(boxes: readonly Mailbox[], name: string, field: string): Mailbox[] {
  const ids = idsOf(boxes, name, field);
  return boxes.filter(({ id }) => ids.includes(id));
}

export const messagesSearch = tool({
  name: 'messages_search',
  title: 'Search messages',
  description: 'Looks through the texts of messages on this Mac, the newest first. One call looks at up to 50,000 messages; pass nextCursor to go on from there. messages_get reads one.',
  input: z.strictObject({
    query,
    chat: z.string().min(1).max(256).optional().describe('Id or exact name of a chat from messages_chats; left out: all chats.'),
    person: z.string().min(1).max(320).optional().describe('A number with its country code or an address, instead of a chat: the one-to-one chats with it, and what it sent that is in no chat.'),
    after: timeArgument.optional(),
    before: timeArgument.optional(),
    highlight,
    limit: z.int().min(1).max(MAX_LIMIT).default(20),
    cursor: cursorArgument.optional(),
  }),
  output: z.object({
    messages: z.array(z.object({ row: z.int(), fromMe: z.boolean(), snippet: z.string().describe(STRANGERS), message: z.record(z.string(), z.unknown()).describe(`The envelope as in messages.received; from is null for the owner's own. ${STRANGERS}`) })),
    unreadable: z.boolean().describe('True: the texts of some messages cannot be read, so they were not looked through.'),
    nextCursor: z.string().nullable().describe('Null: all was looked at.'),
  }),
  annotations: READS,
  granted: true,
  reads: 'messages',
  lists: 'messages',
  searches: true,
  async run({ query: text, chat, person, after, before, highlight: marked, limit, cursor }, call) {
    const { session: { backend: { reading } }, principal, signal } = call;
    const archive = reading.messages!;
    const cursors = reading.cursors.of('messages_search', principal, [text, chat, person, after, before]);
    const from = cursors.open(cursor);
    if (chat !== undefined && person !== undefined) return { error: 'chat: name one chat or one person, not both.' };
    const scope = person !== undefined ? archive.scopeOf(person) : chat === undefined ? null : chatNamed(archive, chat, call);
    if (typeof scope === 'string') return { error: scope };
    const found = await reading.search.messages(principal, { query: text, scope, after: timeOf(after), before: timeOf(before), limit, below: from === null ? null : Number(from) }, signal);
    if (!found.ok) return { error: found.reason };
    // The owner may have answered otherwise while it was looked through.
    const allowed = found.hits.filter(({ row }) => reading.mayRead(row, principal));
    const all = allowed.map(({ row, snippet: cut }) => ({ row: row.rowid, fromMe: row.excluded === 'sent', snippet: shownText(cut, marked)!, message: envelopeOf(row) }));
    const messages = fitting(all, BYTES);
    const next = messages.length < all.length ? messages.at(-1)!.row : found.next;
    const nextCursor = next === null ? null : cursors.seal(String(next));
    const sentence = [
      messages.length === 0 ? (next === null ? 'No message that you may read has this.' : 'Nothing was found so far.') : `${messages.length} ${messages.length === 1 ? 'message' : 'messages'}, the newest first. ${STRANGERS}`,
      messages.length === 0 && next === null ? personNote(person) : '', ...found.notes,
      found.unreadable ? 'Some messages have a text that Belfry cannot read, so they were not looked through; messages_list shows which.' : '',
      nextCursor === null ? '' : `Pass cursor "${nextCursor}" to look further back.`, boundNote(call, 'messages'),
    ].filter(Boolean).join(' ');
    return { sentence, value: { messages, unreadable: found.unreadable, nextCursor } };
  },
});
