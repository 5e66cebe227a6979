import type { Statement } from 'better-sqlite3';
import { hash } from 'node:crypto';
import type { Address, Mailbox, MailRow, NotArrival, PlacedMail } from '../occurrence.ts';
import type { RecentSender } from '../reader.ts';
import { normaliseAddress } from '../sender.ts';
import type { Store } from '../store.ts';
import type { MailboxDirectory } from './mailboxes.ts';

/** Addresses shown for a mail (architecture 5, payload `to`). */
const MAX_TO = 10;
/** Bits of `flags` that are looked at: deleted, draft, junk, not junk (data-formats/envelope-index 8). The column exceeds 32 bits. */
const DELETED = 2;
const DRAFT = 64;
const JUNK = 2 ** 24;
const NOT_JUNK = 2 ** 25;
export const FLAG_MASK = DELETED | DRAFT | JUNK | NOT_JUNK;
/** "No date" of some senders: the end of 32-bit time. */
const NO_DATE = 2_147_483_647;
/** Most that a JavaScript date can hold. */
const MAX_MS = 8.64e15;

/** Role and flag judgement of a row without its labels; null if it may ring. */
export function excludedByPlace(box: Mailbox | undefined, flags: number, deleted: boolean): NotArrival | null {
  if (box?.role === 'sent') return 'sent';
  if (box?.role === 'drafts' || (flags & DRAFT) !== 0) return 'draft';
  if (box?.role === 'outbox') return 'outbox';
  if (box?.role === 'junk' || (flags & (JUNK | NOT_JUNK)) === JUNK) return 'junk';
  if (box?.role === 'trash') return 'trash';
  return deleted || (flags & DELETED) !== 0 ? 'deleted' : null;
}

/** What Gmail's labels say. A mail to oneself is sent and in the inbox: it rings. */
export function excludedByLabels(labels: readonly Mailbox[]): NotArrival | null {
  const has = (role: Mailbox['role']): boolean => labels.some((label) => label.role === role);
  if (has('inbox')) return null;
  if (has('sent')) return 'sent';
  if (has('drafts')) return 'draft';
  if (has('outbox')) return 'outbox';
  if (has('junk')) return 'junk';
  return has('trash') ? 'trash' : null;
}

/** Unix seconds to milliseconds; null for none. */
export function toMs(seconds: unknown): number | null {
  if (typeof seconds !== 'number' || !(seconds > 0) || seconds === NO_DATE) return null;
  const ms = Math.round(seconds * 1000);
  return ms > MAX_MS ? null : ms;
}

/** Names that differ between the versions of the index (data-formats/envelope-index 2), found by probing. */
export interface Shape {
  /** SQL for the hash of the Message-ID, as text. */
  readonly hash: string;
  /** False up to 10.15: no global ids. */
  readonly hasGlobal: boolean;
  readonly row: string;
  /** SQL for `deleted`, 0 or 1. */
  readonly deleted: string;
  /** Sender, place and date of the newest rows. */
  readonly senders: string;
  /** Who wrote one row, and where it is. */
  readonly placed: string;
  readonly recipients: string | null;
  readonly labels: string | null;
}

export function shapeOf(store: Store): Shape {
  const column = (name: string, otherwise = 'NULL'): string => (store.has('messages', name) ? `m.${name}` : otherwise);
  const hash = store.has('messages', 'message_id') ? 'CAST(m.message_id AS TEXT)' : `'0'`;
  const header = store.has('message_global_data', 'message_id_header') && store.has('messages', 'global_message_id');
  const subjects = store.has('subjects', 'subject') && store.has('messages', 'subject');
  const names = store.has('addresses', 'comment') ? 'a.comment' : 'NULL';
  const pointer = (table: string): string => (store.has(table, 'message') ? 'message' : 'message_id');
  const counted = `(m.flags >> 10) & 63`;
  // The count in the flags comes with the row, attachment rows later; 63 is "unknown" (data-formats/envelope-index 8).
  const attached = store.has('attachments')
    ? `CASE WHEN ${counted} BETWEEN 1 AND 62 THEN ${counted} ELSE (SELECT COUNT(*) FROM attachments t WHERE t.${pointer('attachments')} = m.ROWID) END`
    : `CASE WHEN ${counted} = 63 THEN 1 ELSE ${counted} END`;
  const deleted = column('deleted', '0');
  const address = store.has('recipients', 'address') ? 'address' : 'address_id';
  return {
    hash,
    hasGlobal: store.has('messages', 'global_message_id'),
    deleted,
    // One statement: a subject or an address may vanish between two (data-formats/envelope-index 4).
    row: `SELECT m.ROWID, ${hash}, ${column('global_message_id')}, m.sender, a.address, ${names}, ${column('subject_prefix')}, ${subjects ? 's.subject' : 'NULL'},
        m.date_received, ${column('date_sent')}, m.mailbox, b.url, m.flags & ${FLAG_MASK}, ${deleted}, CAST(${column('conversation_id', `''`)} AS TEXT),
        ${header ? 'g.message_id_header' : 'NULL'}, ${attached}
      FROM messages m LEFT JOIN addresses a ON a.ROWID = m.sender LEFT JOIN mailboxes b ON b.ROWID = m.mailbox
        ${subjects ? 'LEFT JOIN subjects s ON s.ROWID = m.subject' : ''}
        ${header ? 'LEFT JOIN message_global_data g ON g.ROWID = m.global_message_id' : ''}`,
    senders: `SELECT a.address, ${names}, m.mailbox, m.flags & ${FLAG_MASK}, ${deleted}, m.date_received
      FROM messages m JOIN addresses a ON a.ROWID = m.sender ORDER BY m.ROWID DESC LIMIT ?`,
    placed: `SELECT a.address, m.mailbox, b.url, m.flags & ${FLAG_MASK}, ${deleted}
      FROM messages m LEFT JOIN addresses a ON a.ROWID = m.sender LEFT JOIN mailboxes b ON b.ROWID = m.mailbox WHERE m.ROWID = ?`,
    recipients: store.has('recipients')
      ? `SELECT r.type, a.address, ${names} FROM recipients r JOIN addresses a ON a.ROWID = r.${address}
          WHERE r.${pointer('recipients')} = ? AND (r.type IS NULL OR r.type < 2) ORDER BY r.type, r.position`
      : null,
    labels: store.has('labels')
      ? 'SELECT l.mailbox_id, b.url FROM labels l JOIN mailboxes b ON b.ROWID = l.mailbox_id WHERE l.message_id = ? ORDER BY l.mailbox_id'
      : null,
  };
}

type RawSender = readonly [address: unknown, name: unknown, mailbox: number | null, flags: number | null, deleted: number | null, received: unknown];

type RawPlaced = readonly [address: unknown, mailbox: number | null, url: string | null, flags: number | null, deleted: number | null];

type RawRow = readonly [
  rowid: number, hash: unknown, globalId: number | null, sender: number | null, address: unknown, name: unknown, prefix: unknown, subject: unknown,
  received: unknown, sent: unknown, mailbox: number | null, url: string | null, flags: number | null, deleted: number | null, conversation: string | null,
  header: unknown, attached: number,
];

/** How rows without a global id (10.13 to 10.15) are told apart: the first row that carried their Message-ID. */
export interface FirstRows {
  of(rowid: number, hash: string): number;
}

/** Makes rows of the index into values. Labels and recipients are read row by row, labels only where there can be any. */
export class MailRowReader {
  readonly #directory: MailboxDirectory;
  readonly #reload: () => void;
  readonly #firstRows: FirstRows | null;
  // Kept here: finding a statement by its text costs as much as running it.
  readonly #above: Statement;
  readonly #between: Statement;
  readonly #one: Statement;
  readonly #labels: Statement | null;
  readonly #recipients: Statement | null;
  readonly #recent: Statement;
  readonly #placed: Statement;

  /** @param reload Called once a mailbox shows that the directory does not know, or knows under another URL. */
  constructor(store: Store, shape: Shape, directory: MailboxDirectory, reload: () => void, firstRows: FirstRows | null) {
    this.#directory = directory;
    this.#reload = reload;
    this.#firstRows = firstRows;
    this.#above = store.statement(`${shape.row} WHERE m.ROWID > ? ORDER BY m.ROWID LIMIT ?`, 'raw');
    this.#between = store.statement(`${shape.row} WHERE m.ROWID > ? AND m.ROWID <= ? ORDER BY m.ROWID`, 'raw');
    this.#one = store.statement(`${shape.row} WHERE m.ROWID = ?`, 'raw');
    this.#recent = store.statement(shape.senders, 'raw');
    this.#placed = store.statement(shape.placed, 'raw');
    this.#labels = shape.labels === null ? null : store.statement(shape.labels, 'raw');
    this.#recipients = shape.recipients === null ? null : store.statement(shape.recipients, 'raw');
  }

  /** Rows above `after`, by rowid. */
  above(after: number, limit: number): MailRow[] {
    return (this.#above.all(after, limit) as RawRow[]).map((raw) => this.#row(raw));
  }

  /** Rows above `after`, up to and with `upTo`. */
  between(after: number, upTo: number): MailRow[] {
    return (this.#between.all(after, upTo) as RawRow[]).map((raw) => this.#row(raw));
  }

  /** Rows by id, in the order asked for; those that left are missing. */
  byId(rowids: readonly number[]): MailRow[] {
    return rowids.flatMap((rowid) => {
      const raw = this.#one.get(rowid) as RawRow | undefined;
      return raw === undefined ? [] : [this.#row(raw)];
    });
  }

  /** By id, in the order asked for; those that left are missing. */
  placed(rowids: readonly number[]): PlacedMail[] {
    return rowids.flatMap((rowid) => {
      const raw = this.#placed.get(rowid) as RawPlaced | undefined;
      if (raw === undefined) return [];
      const [address, boxId, url, flags, deleted] = raw;
      const from = addressOf(address, null);
      const sender = from === null ? null : normaliseAddress(from.address);
      const { box, boxes, excluded } = this.#place(rowid, boxId, url, flags ?? 0, deleted === 1);
      return [{ store: 'mail' as const, rowid, sender, excluded: excluded ?? (sender === null ? 'no-sender' as const : null), mailbox: box, mailboxes: boxes }];
    });
  }

  /** Senders of the newest rows whose mailbox lets them ring. Labels are not asked for: who wrote is all that counts here. */
  recentSenders(rows: number): RecentSender[] {
    const found = new Map<string, RecentSender>();
    for (const [address, name, boxId, flags, deleted, received] of this.#recent.all(rows) as RawSender[]) {
      const box = boxId === null ? undefined : this.#directory.get(boxId);
      const from = addressOf(address, name);
      if (from === null || box === undefined || excludedByPlace(box, flags ?? 0, deleted === 1) !== null) continue;
      const sender = normaliseAddress(from.address);
      if (!found.has(sender)) found.set(sender, { sender, name: from.name, date: toMs(received) });
    }
    return [...found.values()];
  }

  labelsOf(rowid: number): readonly Mailbox[] {
    if (this.#labels === null) return [];
    const found = this.#labels.all(rowid) as [number, string][];
    const labels = found.flatMap(([id, url]) => this.#mailbox(id, url) ?? []);
    // Mail in Gmail's inbox is in INBOX, whatever else it is labelled (ruling 10).
    return labels.sort((a, b) => Number(b.role === 'inbox') - Number(a.role === 'inbox'));
  }

  #row(raw: RawRow): MailRow {
    const [rowid, hashText, globalId, senderId, address, name, prefix, subject, received, sent, boxId, url, flags, deleted, conversation, header, attached] = raw;
    const { box, boxes, excluded, lacksLabels } = this.#place(rowid, boxId, url, flags ?? 0, deleted === 1);
    const from = addressOf(address, name);
    const sender = from === null ? null : normaliseAddress(from.address);
    const dateReceived = toMs(received);
    const messageHash = hashOf(hashText);
    return {
      store: 'mail',
      rowid,
      sender,
      excluded: excluded ?? (sender === null ? 'no-sender' : null),
      incomplete: box === null || lacksLabels || (senderId !== null && from === null),
      date: dateReceived,
      box: boxId,
      hasAttachments: attached > 0,
      attachmentCount: attached,
      globalId: globalId ?? this.#firstRows?.of(rowid, messageHash) ?? rowid,
      messageHash,
      messageIdHeader: textOf(header),
      from,
      ...this.#addressees(rowid),
      subject: subjectOf(prefix, subject),
      mailbox: box,
      mailboxes: boxes,
      dateReceived,
      dateSent: toMs(sent),
      conversationId: conversation ?? '',
    };
  }

  /** Where a row shows, and why it cannot ring there. */
  #place(rowid: number, boxId: number | null, url: string | null, flags: number, deleted: boolean): { box: Mailbox | null; boxes: readonly Mailbox[]; excluded: NotArrival | null; lacksLabels: boolean } {
    const box = boxId === null || url === null ? null : (this.#mailbox(boxId, url) ?? null);
    const labelled = box !== null && this.#directory.hasLabels(box.id);
    const labels = labelled ? this.labelsOf(rowid) : [];
    const boxes = box === null ? labels : labels[0]?.role === 'inbox' ? [...labels, box] : [box, ...labels];
    return { box, boxes, excluded: excludedByPlace(box ?? undefined, flags, deleted) ?? excludedByLabels(labels), lacksLabels: labelled && labels.length === 0 };
  }

  #addressees(rowid: number): { to: Address[]; toCount: number; recipients: string[] } {
    const to: Address[] = [];
    const recipients: string[] = [];
    let toCount = 0;
    if (this.#recipients !== null) {
      for (const [type, address, name] of this.#recipients.all(rowid) as [number | null, unknown, unknown][]) {
        const entry = addressOf(address, name);
        if (entry === null) continue;
        recipients.push(normaliseAddress(entry.address));
        if (type === 1) continue;
        toCount += 1;
        if (to.length < MAX_TO) to.push(entry);
      }
    }
    return { to, toCount, recipients };
  }

  #mailbox(id: number, url: string): Mailbox | undefined {
    const found = this.#directory.get(id, url);
    if (found !== undefined) return found;
    this.#reload();
    return this.#directory.get(id);
  }
}

/** Decimal text of the 64-bit hash. V5 to V7 may hold the RFC id itself (data-formats/envelope-index 2, function in 3). */
export function hashOf(value: unknown): string {
  if (typeof value !== 'string' || value === '') return '0';
  if (/^-?\d+$/.test(value)) return value;
  const end = value.indexOf('>');
  const before = end < 0 ? value : value.slice(0, end);
  const id = before.slice(before.lastIndexOf('<') + 1);
  return id === '' ? '0' : String(hash('md5', id, 'buffer').readBigInt64LE(0));
}

function addressOf(address: unknown, name: unknown): Address | null {
  const text = typeof address === 'string' ? address.trim() : '';
  return text === '' ? null : { address: text, name: textOf(name) };
}

/** The index keeps `Re: ` apart from the subject that a thread shares. */
function subjectOf(prefix: unknown, subject: unknown): string | null {
  const base = typeof subject === 'string' ? subject : null;
  return typeof prefix === 'string' && prefix !== '' ? prefix + (base ?? '') : base;
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
