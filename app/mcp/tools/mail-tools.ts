import { z } from 'zod';
import { attachmentSource, readMail, type MailReading, type NoAttachment } from '../../apple/mail/mail-texts.ts';
import { hashOf } from '../../apple/mail/mail-rows.ts';
import type { Missing } from '../../apple/mail/mail-content.ts';
import type { MailMarks, MailName } from '../../apple/mail/mail-lookup.ts';
import type { MailPlace } from '../../apple/mail/mail-places.ts';
import type { Address, Mailbox, MailRow } from '../../apple/occurrence.ts';
import type { MailArchive } from '../../apple/reader.ts';
import { EventsError } from '../../events/errors.ts';
import { findMailbox } from '../../events/names.ts';
import { occurrenceOf, payloadOf } from '../../events/occurrence.ts';
import { cleanText } from '../../events/text.ts';
import { cursorArgument } from '../sealed-cursor.ts';
import { MISSING_CODES, missingSentence } from './missing-words.ts';
import { boundNote, CODES_HIDDEN, fitting, pageNote, readable, STRANGERS, textPage, textPart } from './reading.ts';
import type { FetchedText } from '../session.ts';
import { READS, tool, UNREADABLE, type ToolCall } from './tool.ts';

const NAME_LIMIT = 256;
const SHOWN_LINKS = 20;
const MAX_LIST = 200;
const DAY_MS = 86_400_000;
/** JSON bytes of the parts of an answer; with the copy for older clients a line stays below 256 KiB. */
const BYTES = { list: 56_000, links: 8000, allLinks: 56_000, attachments: 12_000, addresses: 4000, mailboxes: 56_000 } as const;

const id = z.string().min(1).max(1000).describe('The id of an event, a row number from mail_list, or a Message-ID such as <x@example.com>.');
const address = z.object({ address: z.string(), name: z.string().nullable() });
const envelope = z.record(z.string(), z.unknown()).describe(`The envelope as in mail.received. ${STRANGERS}`);
const link = z.object({ url: z.string(), text: z.string() });
const attachment = z.object({
  part: z.string().describe('Pass it to mail_attachment.'), name: z.string().nullable(), type: z.string(), size: z.int().nullable(), inline: z.boolean(),
  here: z.boolean().describe('False: it is on the server only.'),
});

/** The same words for what is not there, what is excluded and what this client may not read: an id proves nothing. */
export const NO_MAIL = 'id: there is no mail with this id that you may read.';

interface Found {
  readonly archive: MailArchive;
  readonly row: MailRow;
  readonly eventId: string;
}

/** The mail that an id names, as far as this client may read it; else a sentence. */
const found = (given: string, call: ToolCall): Found | string => foundMail(given, call, (row) => call.session.backend.reading.mayRead(row, call.principal));

/** The same for another permission. */
export function foundMail(given: string, { session: { backend } }: ToolCall, may: (row: MailRow) => boolean): Found | string {
  const archive = backend.reading.mail!;
  return archive.together(() => {
    const store = archive.storeId();
    const name = nameOf(given.trim(), store);
    if (name === null) return NO_MAIL;
    const [row] = archive.find(name).filter(may);
    return row === undefined ? NO_MAIL : { archive, row, eventId: occurrenceOf(row, store, 0).eventId };
  });
}

function nameOf(text: string, storeId: string): MailName | null {
  const event = /^([0-9a-f]{8})-(\d{1,15})$/i.exec(text);
  // Another store's id may number another mail here.
  if (event !== null) return event[1]!.toLowerCase() === storeId.slice(0, 8).toLowerCase() ? { globalId: Number(event[2]) } : null;
  if (/^\d{1,15}$/.test(text)) return { rowid: Number(text) };
  return /[@<]/.test(text) ? { messageId: text } : null;
}

const NO_MARKS: MailMarks = { read: false, flagged: false, answered: false };

/** Marks and envelope of each mail, as every answer shows them. */
export function shownMails(rows: readonly MailRow[], archive: MailArchive, { session: { backend } }: ToolCall) {
  const [marks, store] = archive.together(() => [archive.marks(rows.map(({ rowid }) => rowid)), archive.storeId()] as const);
  return rows.map((row) => ({ row: row.rowid, ...(marks.get(row.rowid) ?? NO_MARKS), mail: payloadOf(occurrenceOf(row, store, 0), backend.subjects) }));
}

/** What lies on disk of a mail. Null: nothing, or the file is that of another mail (its row moved meanwhile). */
async function contentOf({ row }: Found, { session: { backend } }: ToolCall): Promise<MailReading | null> {
  if (row.mailbox === null) return null;
  const content = await readMail(backend.reading.mailFiles, row.mailbox, row.rowid);
  return isOfAnother(row, content?.headers.messageId ?? null) ? null : content;
}

/** Whether a file's Message-ID says that it is not this row's. */
export const isOfAnother = (row: MailRow, messageId: string | null): boolean => messageId !== null && row.messageHash !== '0' && hashOf(messageId) !== row.messageHash;

const shown = (list: readonly Address[]) =>
  fitting(list.map(({ address: each, name }) => ({ address: cleanText(each, NAME_LIMIT), name: name === null ? null : cleanText(name, NAME_LIMIT) })), BYTES.addresses);
/** Says of which people of a mail not all are shown; '' where all are. */
function peopleSentence(lists: Readonly<Record<string, readonly [shown: number, all: number]>>): string {
  const short = Object.entries(lists).filter(([, [some, all]]) => some < all).map(([name, [some, all]]) => `${some} of ${all} ${name}`);
  return short.length === 0 ? '' : `Not all addresses are shown: ${short.join(', ')}.`;
}

const linksOf = (content: MailReading) => content.links.map(({ url, text }) => ({ url: cleanText(url, 4096), text: cleanText(text, 200) }));
const attachmentsOf = (content: MailReading) => content.attachments.map(({ part, name, type, size, isInline, where }) => ({
  part, name: name === null ? null : cleanText(name, NAME_LIMIT), type: cleanText(type, 100), size, inline: isInline, here: where !== 'not-downloaded',
}));

const NOT_HERE = 'Its text is not on this Mac: Mail has not downloaded it.';
const hasText = (content: MailReading | null): boolean => content !== null && !(content.text === '' && content.missing.includes('not-downloaded'));

/** What lies on disk, else what Mail gives where the owner lets it be asked; it then lies on disk in a moment, with all that belongs to it. */
async function textOf(mail: Found, call: ToolCall): Promise<{ content: MailReading | null; fetched: FetchedText | null }> {
  const content = await contentOf(mail, call);
  if (hasText(content)) return { content, fetched: null };
  const fetched = await call.session.backend.reading.fetchText(mail.row);
  const now = fetched.ok ? await contentOf(mail, call) : null;
  return hasText(now) ? { content: now, fetched: null } : { content, fetched };
}

/** A text that came from Mail is whole, whatever of it lies on disk. */
function missingOf(content: MailReading | null, fetched: FetchedText | null): Missing[] {
  const missing = content === null ? ['not-downloaded' as const] : [...content.missing];
  return fetched?.ok === true ? missing.filter((code) => code !== 'not-downloaded') : missing;
}

export const mailGet = tool({
  name: 'mail_get',
  title: 'Read a mail',
  description: 'Reads one mail: envelope, text, attachments and links, by the id of an event, a row or a Message-ID. Works while Mail is closed, and nothing is marked as read. A text that is not on this Mac is fetched only where the owner allowed that and Mail runs. Text that repeats earlier mails is marked as quoted.',
  input: z.strictObject({ id, offset: z.int().min(0).default(0).describe('Where in the text to start: nextOffset of the last answer.') }),
  output: z.object({
    mail: envelope, row: z.int(), read: z.boolean(), flagged: z.boolean(), answered: z.boolean(),
    cc: z.array(address), ccCount: z.int().describe('How many Cc addresses there are, also beyond those listed; more than this if missing has headers.'),
    replyTo: z.array(address), replyToCount: z.int().describe('The same of Reply-To.'), inReplyTo: z.string().nullable(),
    fetched: z.boolean().describe('True: the text was not on this Mac and came from Mail; links and attachments are not told then.'),
    onDisk: z.enum(['whole', 'partial', 'no']).describe('partial: not all of it; attachments may be on the server only, or its file ends too early. no: nothing of it is on this Mac.'),
    parts: z.array(textPart).describe(STRANGERS), length: z.int().describe('Characters of the whole text.'), nextOffset: z.int().nullable(),
    missing: z.array(z.string()).describe(MISSING_CODES),
    attachments: z.array(attachment), attachmentCount: z.int(), links: z.array(link), linkCount: z.int().describe('mail_links gives all.'),
  }),
  annotations: READS,
  granted: true,
  reads: 'mail',
  async run({ id: given, offset }, call) {
    const mail = found(given, call);
    if (typeof mail === 'string') return { error: mail };
    const { archive, row } = mail;
    const { backend } = call.session;
    const [shownMail] = shownMails([row], archive, call);
    const { content, fetched } = await textOf(mail, call);
    // The owner may have answered otherwise while the file was read.
    if (!backend.reading.mayRead(row, call.principal)) return { error: NO_MAIL };
    const source = fetched?.ok === true ? fetched : content;
    const text = readable(backend, source?.text ?? '', row.subject);
    const page = textPage(text, source?.quotes ?? [], offset);
    const missing = missingOf(content, fetched);
    const { cc: allCc, replyTo: allReplyTo, inReplyTo } = content?.headers ?? { cc: [], replyTo: [], inReplyTo: null };
    const [cc, replyTo] = [shown(allCc), shown(allReplyTo)];
    const [links, attachments] = content === null ? [[], []] : [linksOf(content), attachmentsOf(content)];
    const sentence = [
      STRANGERS,
      fetched === null || fetched.ok ? '' : `${NOT_HERE} ${fetched.sentence}`,
      peopleSentence({ To: [row.to.length, row.toCount], Cc: [cc.length, allCc.length], 'Reply-To': [replyTo.length, allReplyTo.length] }),
      missingSentence(fetched === null ? missing : missing.filter((code) => code !== 'not-downloaded')),
      text === (source?.text ?? '') ? '' : CODES_HIDDEN,
      fetched === null || fetched.ok ? pageNote(page, offset) : '',
    ].filter(Boolean).join(' ');
    return {
      sentence,
      value: {
        ...shownMail!,
        cc, ccCount: allCc.length, replyTo, replyToCount: allReplyTo.length, inReplyTo: inReplyTo === null ? null : cleanText(inReplyTo, 512),
        fetched: fetched?.ok === true, onDisk: content === null ? 'no' : content.onDisk, ...page, missing,
        attachments: fitting(attachments, BYTES.attachments), attachmentCount: attachments.length,
        links: fitting(links.slice(0, SHOWN_LINKS), BYTES.links), linkCount: links.length,
      },
    };
  },
});

const placeText = ({ date, rowid }: MailPlace): string => `${date ?? 'n'}_${rowid}`;

function placeOf(text: string): MailPlace {
  const [date, rowid] = text.split('_');
  return { date: date === 'n' ? null : Number(date), rowid: Number(rowid) };
}

export const mailList = tool({
  name: 'mail_list',
  title: 'List mails',
  description: 'Lists mails newest first, envelope only: of one mailbox, or of all inboxes. mail_get reads one. Works while Mail is closed and marks nothing as read.',
  input: z.strictObject({
    mailbox: z.string().min(1).max(1024).optional().describe('A name from mail_mailboxes; left out: all inboxes.'),
    filter: z.enum(['all', 'unread', 'flagged', 'today', 'last_7_days']).default('all'),
    limit: z.int().min(1).max(MAX_LIST).default(50),
    cursor: cursorArgument.optional(),
  }),
  output: z.object({
    mails: z.array(z.object({ row: z.int(), read: z.boolean(), flagged: z.boolean(), answered: z.boolean(), mail: envelope })).describe(STRANGERS),
    nextCursor: z.string().nullable().describe('Null: there is no more.'),
  }),
  annotations: READS,
  granted: true,
  reads: 'mail',
  lists: 'mails',
  run({ mailbox, filter, limit, cursor }, call) {
    const { session: { backend }, principal } = call;
    const archive = backend.reading.mail!;
    const cursors = backend.reading.cursors.of('mail_list', principal, [mailbox, filter]);
    const from = cursors.open(cursor);
    const [page, all] = archive.together(() => {
      const boxes = mailboxesOf(archive, call);
      const mailboxes = mailbox === undefined ? boxes.filter(({ role }) => role === 'inbox').map((box) => box.id) : idsOf(boxes, mailbox);
      const listed = archive.list({
        mailboxes, unread: filter === 'unread', flagged: filter === 'flagged', since: sinceOf(filter, backend.now()), limit,
        after: from === null ? null : placeOf(from),
        may: (row) => backend.reading.mayRead(row, principal),
      });
      return [listed, shownMails(listed.rows.map(({ row }) => row), archive, call)] as const;
    });
    const mails = fitting(all, BYTES.list);
    const next = mails.length === all.length ? page.next : page.rows[mails.length - 1]!.place;
    const nextCursor = next === null ? null : cursors.seal(placeText(next));
    const count = mails.length === 0 ? (next === null ? 'There is no such mail that you may read.' : 'Nothing of what was looked at may be read.') : `${mails.length} ${mails.length === 1 ? 'mail' : 'mails'}, newest first. ${STRANGERS}`;
    const sentence = [count, nextCursor === null ? '' : `Pass cursor "${nextCursor}" to go on.`, boundNote(call, 'mail')].filter(Boolean).join(' ');
    return { sentence, value: { mails, nextCursor } };
  },
});

function sinceOf(filter: string, now: number): number | null {
  // A local day (architecture 7).
  if (filter === 'today') return new Date(now).setHours(0, 0, 0, 0);
  return filter === 'last_7_days' ? now - 7 * DAY_MS : null;
}

export const mailboxesOf = (archive: MailArchive, { session: { backend } }: ToolCall): readonly Mailbox[] => archive.mailboxes().filter((box) => !backend.reading.hides(box));

/** @throws EventsError with the names that exist, of those that are not excluded */
export function idsOf(boxes: readonly Mailbox[], name: string, field = 'mailbox'): readonly number[] {
  try {
    return findMailbox(boxes, name);
  } catch (error) {
    throw error instanceof EventsError ? new EventsError(error.code, error.message.replace('arguments.mailboxes:', `${field}:`), error.data) : error;
  }
}

export const mailAccounts = tool({
  name: 'mail_accounts',
  title: 'List mail accounts',
  description: 'Lists the accounts of Mail on this Mac.',
  input: z.strictObject({}),
  output: z.object({ accounts: z.array(z.object({ id: z.string(), name: z.string() })) }),
  annotations: READS,
  granted: true,
  reads: 'mail',
  lists: 'accounts',
  run(_args, call) {
    const byId = new Map(mailboxesOf(call.session.backend.reading.mail!, call).map(({ accountId, account }) => [accountId, { id: accountId, name: cleanText(account, NAME_LIMIT) }]));
    return { sentence: `${byId.size} ${byId.size === 1 ? 'account' : 'accounts'}. mail_mailboxes lists their mailboxes.`, value: { accounts: fitting([...byId.values()], BYTES.mailboxes) } };
  },
});

const count = z.int().nullable().describe('As Mail counts. Null where Mail counts more than you may read: always if only allowed senders may be read, and for mailboxes that share their mail with others, as those of Gmail do, if a mailbox is excluded.');

export const mailMailboxes = tool({
  name: 'mail_mailboxes',
  title: 'List mailboxes',
  description: 'Lists mailboxes with the names that mail_list takes, and how many mails lie in each.',
  input: z.strictObject({ account: z.string().min(1).max(NAME_LIMIT).optional().describe('Id or name of an account; left out: all.') }),
  output: z.object({
    mailboxes: z.array(z.object({ name: z.string(), account: z.string(), role: z.string(), total: count, unread: count })),
    isCut: z.boolean().describe('True: there are more; name an account.'),
  }),
  annotations: READS,
  granted: true,
  reads: 'mail',
  lists: 'mailboxes',
  run({ account }, call) {
    const { session: { backend }, principal } = call;
    const archive = backend.reading.mail!;
    const all = mailboxesOf(archive, call);
    // How much lies there says something of senders that are not allowed.
    const counts = backend.reading.reach(principal, 'mail') === 'everything' ? archive.counts() : null;
    // A mail with an excluded label is excluded, and counted all the same in All Mail and under its other labels.
    const sources = new Set(archive.mailboxes().map(({ source }) => source));
    const isAnyExcluded = all.length < archive.mailboxes().length;
    const countsOf = (box: Mailbox) => (isAnyExcluded && (box.source !== null || sources.has(box.id)) ? undefined : counts?.get(box.id));
    const wanted = account === undefined ? all : all.filter((box) => fold(box.account) === fold(account) || fold(box.accountId) === fold(account));
    if (account !== undefined && wanted.length === 0) return { error: 'account: there is no account of this name or id. mail_accounts lists them.' };
    const named = wanted.map((box) => {
      const isShared = all.some((other) => other.account === box.account && other.accountId !== box.accountId);
      return { name: cleanText(`${isShared ? box.accountId : box.account}/${box.path}`, 1024), account: cleanText(box.account, NAME_LIMIT), role: box.role, total: countsOf(box)?.total ?? null, unread: countsOf(box)?.unread ?? null };
    });
    const mailboxes = fitting(named, BYTES.mailboxes);
    return { sentence: `${mailboxes.length} of ${named.length} mailboxes.`, value: { mailboxes, isCut: mailboxes.length < named.length } };
  },
});

const fold = (text: string) => text.normalize('NFC').toLowerCase();

export const mailLinks = tool({
  name: 'mail_links',
  title: 'List the links of a mail',
  description: 'Lists the web links of one mail with the words they show. Nothing is opened.',
  input: z.strictObject({ id, offset: z.int().min(0).max(10_000).default(0) }),
  output: z.object({ links: z.array(link).describe(STRANGERS), linkCount: z.int(), nextOffset: z.int().nullable(), missing: z.array(z.string()).describe('As in mail_get: where it names something, links may be left out.') }),
  annotations: READS,
  granted: true,
  reads: 'mail',
  async run({ id: given, offset }, call) {
    const mail = found(given, call);
    if (typeof mail === 'string') return { error: mail };
    const content = await contentOf(mail, call);
    if (!call.session.backend.reading.mayRead(mail.row, call.principal)) return { error: NO_MAIL };
    if (content === null) return { error: NOT_HERE };
    const all = linksOf(content);
    const links = fitting(all.slice(offset), BYTES.allLinks);
    const end = offset + links.length;
    const nextOffset = end < all.length ? end : null;
    const sentence = [`${links.length} of ${all.length} links. ${STRANGERS} What a link shows need not be where it leads.`, nextOffset === null ? '' : `Pass offset ${nextOffset} for more.`, missingSentence(content.missing)].filter(Boolean).join(' ');
    return { sentence, value: { links, linkCount: all.length, nextOffset, missing: [...content.missing] } };
  },
});

const NO_ATTACHMENT: Readonly<Record<NoAttachment, string>> = {
  'not-here': 'This attachment is not on this Mac: Mail has not downloaded it. Open it in Mail.',
  truncated: 'Not all of this attachment is on this Mac: the file of its mail ends too early. Open it in Mail.',
  'too-large': 'This attachment is too large to be taken out of its mail: 72 MB of a mail are read. Open it in Mail.',
};

export const mailAttachment = tool({
  name: 'mail_attachment',
  title: 'Get an attachment',
  description: 'Copies one attachment of a mail to a private file on this Mac and gives its path. The copy is removed after 24 hours, or once later copies need its room. Nothing is downloaded from the server.',
  input: z.strictObject({ id, part: z.string().regex(/^\d{1,5}(?:\.\d{1,5}){0,31}$/, 'must be the part of an attachment as mail_get lists it, such as 2 or 2.1') }),
  output: z.object({ path: z.string(), name: z.string().nullable(), type: z.string(), size: z.int() }),
  // It writes a file of ours, and nothing of Mail.
  annotations: { ...READS, readOnlyHint: false },
  granted: true,
  reads: 'mail',
  async run({ id: given, part }, call) {
    const mail = found(given, call);
    if (typeof mail === 'string') return { error: mail };
    const { reading } = call.session.backend;
    const content = await contentOf(mail, call);
    if (!reading.mayRead(mail.row, call.principal)) return { error: NO_MAIL };
    const each = content?.attachments.find((known) => known.part === part);
    if (each === undefined || mail.row.mailbox === null) return { error: content === null ? NOT_HERE : 'part: this mail has no such attachment. mail_get lists them.' };
    const source = await attachmentSource(reading.mailFiles, mail.row.mailbox, mail.row.rowid, each);
    if (!reading.mayRead(mail.row, call.principal)) return { error: NO_MAIL };
    if (typeof source === 'string') return { error: NO_ATTACHMENT[source] };
    const saved = await reading.attachments.save({ row: mail.row.rowid, part }, source, each.name, each.type);
    if (saved === 'gone') return { error: UNREADABLE };
    if (saved === 'too-large') return { error: 'This attachment is larger than 100 MB. Open it in Mail.' };
    if (saved === 'no-room') return { error: 'There is no room for a copy now: copies of attachments take at most 1 GB, and a tenth of the free disk. Try again in a minute, or open it in Mail.' };
    return {
      sentence: `The file is there for 24 hours, unless others need its room. ${STRANGERS}`,
      value: { path: saved.path, name: each.name === null ? null : cleanText(each.name, NAME_LIMIT), type: cleanText(each.type, 100), size: saved.size },
    };
  },
});
