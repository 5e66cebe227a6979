import type { MailRow } from '../occurrence.ts';
import { indexedBy, indexOn } from '../messages/table-index.ts';
import type { Store } from '../store.ts';
import { hashOf, type MailRowReader, type Shape } from './mail-rows.ts';

/** What Mail's owner did with a mail. */
export interface MailMarks {
  readonly read: boolean;
  readonly flagged: boolean;
  readonly answered: boolean;
}

/** How a mail is named: by the id that an event carries, by its row, or by its Message-ID header. */
export type MailName = { readonly globalId: number } | { readonly rowid: number } | { readonly messageId: string };

/** Where a page of a list goes on: after this mail. A mail without a date stands behind all that have one. */
export interface MailPlace {
  /** `date_received` as stored, Unix seconds. */
  readonly date: number | null;
  readonly rowid: number;
}

export interface MailListRequest {
  /** ROWIDs of mailboxes, labels too. */
  readonly mailboxes: readonly number[];
  readonly unread: boolean;
  readonly flagged: boolean;
  /** Unix ms, or null. */
  readonly since: number | null;
  readonly after: MailPlace | null;
  readonly limit: number;
  /** Asked of each row before it counts towards the limit. */
  readonly may: (row: MailRow) => boolean;
}

export interface MailListPage {
  readonly rows: readonly { readonly row: MailRow; readonly place: MailPlace }[];
  /** Null: there is no more. */
  readonly next: MailPlace | null;
}

/** A physical mailbox, or a label within one. */
interface ListedBox {
  readonly box: number;
  readonly label: number | null;
}

/** Copies of one mail are few; a broken sender may give thousands one Message-ID. */
const MAX_COPIES = 50;
const STEP = 200;
/** Rows looked at for one page: where little may be read, the next call goes on. */
const MAX_LOOKED = 1000;
const [ANSWERED, FLAGGED, READ] = [4, 16, 1];

/** Finds mails by name and lists mailboxes, newest first. Everything within the caller's transaction. */
export class MailLookup {
  readonly #store: Store;
  readonly #shape: Shape;
  readonly #rows: MailRowReader;
  readonly #read: string;
  readonly #flagged: string;
  readonly #byMailbox: string | null;

  constructor(store: Store, shape: Shape, rows: MailRowReader) {
    this.#store = store;
    this.#shape = shape;
    this.#rows = rows;
    const column = (name: string, bit: number) => (store.has('messages', name) ? `(m.${name} <> 0)` : `(m.flags & ${bit} <> 0)`);
    this.#read = column('read', READ);
    this.#flagged = column('flagged', FLAGGED);
    this.#byMailbox = indexOn(store, 'messages', ['mailbox', 'date_received']);
  }

  /** The rows that a name fits, the newest first: a mail may lie in several mailboxes. Those marked deleted are left out. */
  find(name: MailName): MailRow[] {
    const rows = this.#rows.byId(this.#rowids(name)).filter(({ excluded }) => excluded !== 'deleted');
    // A hash may be that of another header.
    return 'messageId' in name ? rows.filter(({ messageIdHeader }) => messageIdHeader === null || idOf(messageIdHeader) === idOf(name.messageId)) : rows;
  }

  marks(rowid: number): MailMarks {
    const found = this.#store.statement(`SELECT ${this.#read}, ${this.#flagged}, m.flags & ${ANSWERED} FROM messages m WHERE m.ROWID = ?`, 'raw').get(rowid) as number[] | undefined;
    return { read: found?.[0] === 1, flagged: found?.[1] === 1, answered: (found?.[2] ?? 0) !== 0 };
  }

  /** ROWIDs of the labels of these mails, where they have any. */
  labelsOf(rowids: readonly number[]): ReadonlyMap<number, readonly number[]> {
    const labels = new Map<number, number[]>();
    if (this.#shape.labels === null) return labels;
    const sql = 'SELECT message_id, mailbox_id FROM labels WHERE message_id IN (SELECT value FROM json_each(?))';
    for (const [rowid, label] of this.#store.statement(sql, 'raw').all(JSON.stringify(rowids)) as [number, number][]) {
      const known = labels.get(rowid);
      if (known === undefined) labels.set(rowid, [label]);
      else known.push(label);
    }
    return labels;
  }

  /** Unread mails of each mailbox, by its ROWID, as Mail counts them. */
  unread(): ReadonlyMap<number, number> {
    if (!this.#store.has('mailboxes', 'unread_count')) return new Map();
    return new Map(this.#store.statement('SELECT ROWID, unread_count FROM mailboxes', 'raw').all() as [number, number][]);
  }

  /** A mail in several of the mailboxes stands once. */
  list(request: MailListRequest): MailListPage {
    const rows: MailListPage['rows'][number][] = [];
    const seen = new Set<number>();
    const boxes = request.mailboxes.map((id) => this.#boxOf(id));
    let place = request.after;
    for (let looked = 0; looked < MAX_LOOKED; ) {
      const step = this.#step(request, boxes, place);
      for (place of step) {
        looked += 1;
        const [row] = this.#rows.byId([place.rowid]);
        if (row === undefined || row.excluded === 'deleted' || seen.has(row.globalId) || !request.may(row)) continue;
        seen.add(row.globalId);
        rows.push({ row, place });
        if (rows.length >= request.limit) return { rows, next: place };
      }
      if (step.length < STEP) return { rows, next: null };
    }
    return { rows, next: place };
  }

  /** Up to STEP places of all the mailboxes, newest first; those without a date come last. */
  #step(request: MailListRequest, boxes: readonly ListedBox[], after: MailPlace | null): MailPlace[] {
    const dated = after?.date === null ? [] : this.#places(request, boxes, after, true);
    const left = STEP - dated.length;
    if (left === 0 || request.since !== null) return dated;
    return [...dated, ...this.#places(request, boxes, after?.date === null ? after : null, false).slice(0, left)];
  }

  /** Mailbox by mailbox, each along its index, then merged: one statement for several would sort all their rows for each page. */
  #places({ unread, flagged, since }: MailListRequest, boxes: readonly ListedBox[], after: MailPlace | null, isDated: boolean): MailPlace[] {
    const byIndex = indexedBy(this.#byMailbox);
    const conditions = [
      'm.mailbox = @box', isDated ? 'm.date_received IS NOT NULL' : 'm.date_received IS NULL',
      ...(unread ? [`NOT ${this.#read}`] : []),
      ...(flagged ? [this.#flagged] : []),
      ...(since === null ? [] : ['m.date_received >= @since']),
      ...(after === null ? [] : isDated ? ['(m.date_received, m.ROWID) < (@date, @rowid)'] : ['m.ROWID < @rowid']),
    ];
    const places = boxes.flatMap(({ box, label }) => {
      const all = label === null ? conditions : [...conditions, 'EXISTS (SELECT 1 FROM labels l WHERE l.message_id = m.ROWID AND l.mailbox_id = @label)'];
      const sql = `SELECT m.date_received AS date, m.ROWID AS rowid FROM messages m ${byIndex} WHERE ${all.join(' AND ')} ORDER BY m.date_received DESC, m.ROWID DESC LIMIT ${STEP}`;
      const values = { box, ...(label !== null && { label }), ...(since !== null && { since: since / 1000 }), ...(after !== null && { rowid: after.rowid, ...(isDated && { date: after.date }) }) };
      return this.#store.statement(sql).all(values) as MailPlace[];
    });
    if (boxes.length === 1) return places;
    const ordered = places.toSorted((a, b) => (b.date ?? 0) - (a.date ?? 0) || b.rowid - a.rowid);
    // A mail with several of the labels comes once for each.
    return ordered.filter(({ rowid }, at) => rowid !== ordered[at - 1]?.rowid).slice(0, STEP);
  }

  /** Where the mails of a mailbox lie: a label's in the mailbox that it is a label of. */
  #boxOf(id: number): ListedBox {
    if (this.#shape.labels === null || !this.#store.has('mailboxes', 'source')) return { box: id, label: null };
    const source = this.#store.statement('SELECT source FROM mailboxes WHERE ROWID = ?', 'pluck').get(id) as number | null | undefined;
    return typeof source === 'number' ? { box: source, label: id } : { box: id, label: null };
  }

  #rowids(name: MailName): number[] {
    if ('rowid' in name) return [name.rowid];
    if ('globalId' in name && this.#shape.hasGlobal) return this.#idsBy('global_message_id', name.globalId);
    if ('globalId' in name) {
      // Up to 10.15 the first row with a Message-ID stands for all that carry it.
      const [first] = this.#rows.byId([name.globalId]);
      if (first === undefined) return [];
      return first.messageHash === '0' ? [first.rowid] : this.#idsBy('message_id', BigInt(first.messageHash));
    }
    const hash = hashOf(`<${idOf(name.messageId)}>`);
    return hash === '0' || !this.#store.has('messages', 'message_id') ? [] : this.#idsBy('message_id', BigInt(hash));
  }

  #idsBy(column: 'global_message_id' | 'message_id', value: number | bigint): number[] {
    return this.#store.statement(`SELECT ROWID FROM messages WHERE ${column} = ? ORDER BY ROWID DESC LIMIT ${MAX_COPIES}`, 'pluck').all(value) as number[];
  }
}

/** A Message-ID without its brackets. */
export const idOf = (header: string): string => /<([^<>]*)>/.exec(header)?.[1] ?? header.trim();
