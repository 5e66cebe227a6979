import { normaliseAddress } from '../sender.ts';
import { Store } from '../store.ts';
import type { MailboxPlace } from './mail-files.ts';
import { parseMailboxUrl } from './mailboxes.ts';
import { toMs } from './mail-rows.ts';

/** A row of the index as far as a list of all mails needs it. */
export interface ListedRow {
  readonly rowid: number;
  /** ROWID of the physical mailbox. */
  readonly mailbox: number;
  /** Unix seconds of arrival, 0 where there is none. */
  readonly date: number;
}

/** What of a mail the index itself holds as text. */
export interface MailEnvelope extends ListedRow {
  readonly subject: string;
  /** Name and address. */
  readonly sender: string;
  /** The address alone, normalised; '' for none. */
  readonly address: string;
  /** Names of attachments, one a line. */
  readonly attachments: string;
  /** Mail's own preview, or '': stands in for a body that is not on disk. */
  readonly summary: string;
}

const CHUNK = 10_000;
const MAX_NAMES = 100;
const MAX_NAMES_LENGTH = 8000;
const DELETED = 2;

/**
 * The whole Envelope Index in chunks, for what works through all mail. A connection of its own, for use in a thread of its own;
 * each call is one short read transaction (architecture 4). Mails marked deleted are left out.
 */
export class MailList {
  readonly path: string;
  readonly #store: Store;
  #bound: { readonly json: string } | null = null;

  constructor(path: string) {
    this.path = path;
    this.#store = new Store(path, { tables: ['messages', 'mailboxes', 'addresses', 'properties'], slowMs: Infinity, isShared: true });
  }

  /** @param mailboxes ROWIDs of mailboxes and labels: what lies in any other is left out. Null: all. */
  bound(mailboxes: readonly number[] | null): void {
    this.#bound = mailboxes === null ? null : { json: JSON.stringify(mailboxes) };
  }

  /** True if another file lies at its path by now, so that this one must be opened anew. */
  replaced(): boolean {
    return this.#store.isOpen && this.#store.replaced();
  }

  /** @throws StoreError */
  open(): void {
    this.#store.open();
  }

  close(): void {
    this.#store.close();
  }

  /** Places of all physical mailboxes by ROWID. */
  places(): ReadonlyMap<number, MailboxPlace> {
    const rows = this.#store.transaction('places', () => this.#store.statement('SELECT ROWID, url FROM mailboxes', 'raw').all()) as [number, unknown][];
    return new Map(rows.map(([id, url]) => [id, parseMailboxUrl(String(url))]));
  }

  /** `properties.UUID`, or the file's inode where an index has none. */
  storeId(): string {
    return this.#store.guard(() => {
      const value = this.#store.statement(`SELECT value FROM properties WHERE key = 'UUID'`, 'pluck').get() as unknown;
      if (Buffer.isBuffer(value)) return value.toString('hex');
      return typeof value === 'string' ? value : `file-${this.#store.identity().ino}`;
    });
  }

  /** Highest row id ever given. */
  head(): number {
    return this.#store.guard(() => this.#store.head('messages'));
  }

  /** All mails by row id. */
  *rows(): Generator<ListedRow> {
    const { condition, values } = this.#within();
    const sql = `SELECT m.ROWID, m.mailbox, m.date_received FROM messages m WHERE ${condition} AND m.mailbox IS NOT NULL AND m.ROWID > ? ORDER BY m.ROWID LIMIT ${CHUNK}`;
    for (let after = -1; ; ) {
      const rows = this.#store.transaction('rows', () => this.#store.statement(sql, 'raw').all(...values, after)) as [number, number, unknown][];
      for (const [rowid, mailbox, date] of rows) yield { rowid, mailbox, date: seconds(date) };
      if (rows.length < CHUNK) return;
      after = rows.at(-1)![0];
    }
  }

  /** Whether any of these is there and not marked deleted, within the bound or not. */
  hasAny(rowids: readonly number[]): boolean {
    return this.#store.transaction('hasAny', () => {
      const statement = this.#store.statement(`SELECT 1 FROM messages m WHERE ${this.#kept()} AND m.ROWID = ?`, 'pluck');
      return rowids.some((rowid) => statement.get(rowid) !== undefined);
    });
  }

  /** In the order asked for; rows that left, or are left out, are missing. */
  envelopes(rowids: readonly number[]): MailEnvelope[] {
    const store = this.#store;
    const prefix = store.has('messages', 'subject_prefix') ? 'm.subject_prefix' : 'NULL';
    const names = store.has('addresses', 'comment') ? 'a.comment' : 'NULL';
    const [summary, join] = store.has('summaries') ? ['u.summary', 'LEFT JOIN summaries u ON u.ROWID = m.summary'] : [store.has('messages', 'snippet') ? 'm.snippet' : 'NULL', ''];
    const attachments = store.has('attachments', 'name')
      ? `(SELECT group_concat(name, char(10)) FROM (SELECT t.name AS name FROM attachments t WHERE t.${store.has('attachments', 'message') ? 'message' : 'message_id'} = m.ROWID LIMIT ${MAX_NAMES}))` : 'NULL';
    const { condition, values } = this.#within();
    const sql = `SELECT m.ROWID, m.mailbox, m.date_received, ${prefix}, s.subject, ${names}, a.address, ${summary}, ${attachments} FROM messages m
      LEFT JOIN subjects s ON s.ROWID = m.subject LEFT JOIN addresses a ON a.ROWID = m.sender ${join} WHERE ${condition} AND m.ROWID = ?`;
    return store.transaction('envelopes', () => {
      const statement = store.statement(sql, 'raw');
      return rowids.flatMap((id) => {
        const row = statement.get(...values, id) as [number, number | null, ...unknown[]] | undefined;
        if (row === undefined || row[1] === null) return [];
        const [rowid, mailbox, date, prefix, subject, name, address, summary, names] = row;
        return [{
          rowid, mailbox, date: seconds(date), subject: text(prefix) + text(subject), sender: `${text(name)} ${text(address)}`.trim(), address: normaliseAddress(text(address)),
          summary: text(summary), attachments: text(names).slice(0, MAX_NAMES_LENGTH),
        }];
      });
    });
  }

  #kept(): string {
    return `${this.#store.has('messages', 'deleted') ? 'm.deleted = 0 AND ' : ''}m.flags & ${DELETED} = 0`;
  }

  /** What is not marked deleted and lies within the bound. An unknown mailbox or label counts as outside: it may lie below one that is excluded. */
  #within(): { readonly condition: string; readonly values: readonly string[] } {
    const kept = this.#kept();
    if (this.#bound === null) return { condition: kept, values: [] };
    const inside = '(SELECT value FROM json_each(?))';
    const { json } = this.#bound;
    if (!this.#store.has('labels')) return { condition: `${kept} AND m.mailbox IN ${inside}`, values: [json] };
    return { condition: `${kept} AND m.mailbox IN ${inside} AND NOT EXISTS (SELECT 1 FROM labels l WHERE l.message_id = m.ROWID AND l.mailbox_id NOT IN ${inside})`, values: [json, json] };
  }
}

const seconds = (value: unknown): number => (toMs(value) ?? 0) / 1000;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
