import { indexedBy, indexOn } from '../messages/table-index.ts';
import type { Store } from '../store.ts';
import type { Shape } from './mail-rows.ts';

/** Where a page of a list goes on: after this mail. A mail without a date stands behind all that have one. */
export interface MailPlace {
  /** `date_received` as stored, Unix seconds. */
  readonly date: number | null;
  readonly rowid: number;
}

export interface PlaceFilter {
  readonly unread: boolean;
  readonly flagged: boolean;
  /** Unix ms, or null. */
  readonly since: number | null;
}

/** The places of one list. */
export interface PlaceList {
  /** Up to `most` of them that come after one, newest first; fewer are the last. */
  after(place: MailPlace | null, most: number): MailPlace[];
  /** ROWIDs of all of a mail that are in the list, in its order; at least the one asked for. */
  copiesOf(rowid: number): number[];
}

/** A physical mailbox, or a label within one, and the quickest way to its mails. */
interface ListedBox {
  readonly box: number;
  readonly label: number | null;
  readonly from: string;
  readonly where: readonly string[];
}

/** Rows among which all of a list are. */
interface Way {
  readonly from: string;
  readonly where: string;
  /** At most one more than are few. */
  readonly count: number;
}

/** Places looked through for one page, about: what the quickest way to them is weighed with. */
export const USUAL_PAGE = 200;
const [FLAGGED, READ] = [16, 1];
/** Its name tells its condition, which SQLite must find in the statement. */
const UNREAD_INDEX = 'messages_read_deleted_global_message_id_mailbox_read0_deleted0_index';
const OF_LABEL = 'labels k CROSS JOIN messages m ON m.ROWID = k.message_id';
const WITHIN_LABEL = 'EXISTS (SELECT 1 FROM labels l WHERE l.message_id = m.ROWID AND l.mailbox_id = @label)';
/** To fetch a row by its id and sort it costs about three times what passing it along the index of dates does. */
const DEARER = 3;

/** In which order the mails of mailboxes and labels stand in a list. Everything within the caller's transaction. */
export class MailPlaces {
  /** SQL over `messages m`: true for a mail that was read. */
  readonly read: string;
  readonly flagged: string;
  readonly #store: Store;
  readonly #hasLabels: boolean;
  /** What all copies of a mail share. */
  readonly #sameMail: string | null;
  readonly #byDate: string;
  readonly #byLabel: boolean;
  readonly #byUnread: string | null;
  readonly #byFlagged: string | null;

  constructor(store: Store, shape: Shape) {
    this.#store = store;
    const column = (name: string, bit: number) => (store.has('messages', name) ? `(m.${name} <> 0)` : `(m.flags & ${bit} <> 0)`);
    this.read = column('read', READ);
    this.flagged = column('flagged', FLAGGED);
    this.#hasLabels = shape.labels !== null && store.has('mailboxes', 'source');
    this.#sameMail = shape.hasGlobal ? 'global_message_id' : store.has('messages', 'message_id') ? 'message_id' : null;
    this.#byLabel = this.#hasLabels && indexOn(store, 'labels', ['mailbox_id']) !== null;
    this.#byUnread = store.hasIndex(UNREAD_INDEX) ? UNREAD_INDEX : null;
    this.#byFlagged = indexOn(store, 'messages', ['flagged']);
    this.#byDate = `messages m ${indexedBy(indexOn(store, 'messages', ['mailbox', 'date_received']))}`;
  }

  /** @param mailboxes ROWIDs of mailboxes and labels */
  of(mailboxes: readonly number[], filter: PlaceFilter): PlaceList {
    const marked = [...(filter.unread ? this.#unread() : []), ...(filter.flagged ? this.#flagged() : [])];
    const boxes = mailboxes.map((id) => this.#boxOf(id, marked));
    return { after: (place, most) => this.#after(filter, boxes, place, most), copiesOf: this.#copies(filter, boxes) };
  }

  #copies({ unread, flagged, since }: PlaceFilter, boxes: readonly ListedBox[]): (rowid: number) => number[] {
    const column = this.#sameMail;
    if (column === null) return (rowid) => [rowid];
    const statement = this.#store.statement(
      `SELECT m.ROWID, m.mailbox FROM messages m WHERE m.${column} = (SELECT NULLIF(NULLIF(o.${column}, 0), '') FROM messages o WHERE o.ROWID = ?)
         ${unread ? `AND NOT ${this.read}` : ''} ${flagged ? `AND ${this.flagged}` : ''} ${since === null ? '' : 'AND m.date_received >= ?'}
       ORDER BY m.date_received DESC, m.ROWID DESC`, 'raw',
    );
    const rest = since === null ? [] : [since / 1000];
    return (rowid) => {
      const copies = statement.all(rowid, ...rest) as [number, number][];
      if (copies.length < 2) return [rowid];
      return copies.filter(([copy, mailbox]) => copy === rowid || boxes.some(({ box, label }) => box === mailbox && (label === null || this.#isLabelled(copy, label)))).map(([copy]) => copy);
    };
  }

  #isLabelled(rowid: number, label: number): boolean {
    return this.#store.statement('SELECT 1 FROM labels WHERE message_id = ? AND mailbox_id = ?', 'pluck').get(rowid, label) !== undefined;
  }

  /** Those without a date come last. */
  #after(filter: PlaceFilter, boxes: readonly ListedBox[], after: MailPlace | null, most: number): MailPlace[] {
    const dated = after?.date === null ? [] : this.#merged(filter, boxes, after, true, most);
    const left = most - dated.length;
    if (left === 0 || filter.since !== null) return dated;
    return [...dated, ...this.#merged(filter, boxes, after?.date === null ? after : null, false, left)];
  }

  /** Mailbox by mailbox, then merged: one statement for several would sort all their rows for each page. */
  #merged({ unread, flagged, since }: PlaceFilter, boxes: readonly ListedBox[], after: MailPlace | null, isDated: boolean, most: number): MailPlace[] {
    const conditions = [
      'm.mailbox = @box', isDated ? 'm.date_received IS NOT NULL' : 'm.date_received IS NULL',
      ...(unread ? [`NOT ${this.read}`] : []),
      ...(flagged ? [this.flagged] : []),
      ...(since === null ? [] : ['m.date_received >= @since']),
      ...(after === null ? [] : isDated ? ['(m.date_received, m.ROWID) < (@date, @rowid)'] : ['m.ROWID < @rowid']),
    ];
    const places = boxes.flatMap(({ box, label, from, where }) => {
      const sql = `SELECT m.date_received AS date, m.ROWID AS rowid FROM ${from} WHERE ${[...where, ...conditions].join(' AND ')} ORDER BY m.date_received DESC, m.ROWID DESC LIMIT @most`;
      const values = { box, most, ...(label !== null && { label }), ...(since !== null && { since: since / 1000 }), ...(after !== null && { rowid: after.rowid, ...(isDated && { date: after.date }) }) };
      return this.#store.statement(sql).all(values) as MailPlace[];
    });
    if (boxes.length === 1) return places;
    const ordered = places.toSorted((a, b) => (b.date ?? 0) - (a.date ?? 0) || b.rowid - a.rowid);
    // A mail with several of the labels comes once for each.
    return ordered.filter(({ rowid }, at) => rowid !== ordered[at - 1]?.rowid).slice(0, most);
  }

  /** Where the mails of a mailbox lie, a label's in the mailbox that it is a label of; along its dates unless few can be in the list at all. */
  #boxOf(id: number, marked: readonly Way[]): ListedBox {
    const source = this.#hasLabels ? (this.#store.statement('SELECT source FROM mailboxes WHERE ROWID = ?', 'pluck').get(id) as number | null | undefined) : null;
    const [box, label] = typeof source === 'number' ? [source, id] : [id, null];
    const few = this.#few();
    const ways = [...marked, ...(label === null ? [] : this.#labelled(label))].filter(({ count }) => count <= few);
    const [way] = ways.toSorted((a, b) => a.count - b.count);
    const isWithin = label !== null && way?.from !== OF_LABEL ? [WITHIN_LABEL] : [];
    return { box, label, from: way?.from ?? this.#byDate, where: way === undefined ? isWithin : [way.where, ...isWithin] };
  }

  #unread(): Way[] {
    if (this.#byUnread === null) return [];
    const [from, where] = [`messages m ${indexedBy(this.#byUnread)}`, 'm.read = 0 AND m.deleted = 0'];
    return [{ from, where, count: this.#count(`${from} WHERE ${where}`) }];
  }

  #flagged(): Way[] {
    if (this.#byFlagged === null) return [];
    const [from, where] = [`messages m ${indexedBy(this.#byFlagged)}`, 'm.flagged > 0'];
    return [{ from, where, count: this.#count(`${from} WHERE ${where}`) }];
  }

  #labelled(label: number): Way[] {
    if (!this.#byLabel) return [];
    const where = 'k.mailbox_id = @label';
    return [{ from: OF_LABEL, where, count: this.#count(`labels k WHERE ${where}`, { label }) }];
  }

  /** Up to so many rows it is quicker to fetch and sort them all than to walk along the dates until a page is full: n * DEARER = USUAL_PAGE * all / n. */
  #few(): number {
    return Math.floor(Math.sqrt((USUAL_PAGE * this.#store.head('messages')) / DEARER));
  }

  #count(rows: string, values: { label?: number } = {}): number {
    return this.#store.statement(`SELECT COUNT(*) FROM (SELECT 1 FROM ${rows} LIMIT @few + 1)`, 'pluck').get({ ...values, few: this.#few() }) as number;
  }
}
