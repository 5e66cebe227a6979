import type { Statement } from 'better-sqlite3';
import type { MailRow } from '../occurrence.ts';
import type { Store } from '../store.ts';
import { MailPlaces, USUAL_PAGE, type MailPlace, type PlaceFilter } from './mail-places.ts';
import { hashOf, type MailRowReader, type Shape } from './mail-rows.ts';

/** What Mail's owner did with a mail. */
export interface MailMarks {
  readonly read: boolean;
  readonly flagged: boolean;
  readonly answered: boolean;
}

export interface MailCounts {
  /** Without those marked deleted. */
  readonly total: number;
  readonly unread: number;
}

/** How a mail is named: by the id that an event carries, by its row, or by its Message-ID header. */
export type MailName = { readonly globalId: number } | { readonly rowid: number } | { readonly messageId: string };

export interface MailListRequest extends PlaceFilter {
  /** ROWIDs of mailboxes, labels too. */
  readonly mailboxes: readonly number[];
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

/** Copies of one mail are few; a broken sender may give thousands one Message-ID. */
const MAX_COPIES = 50;
/** Rows looked at for one page: where little may be read, the next call goes on. */
const MAX_LOOKED = 1000;
const SPARE = 10;
const ANSWERED = 4;

/** Finds mails by name and lists mailboxes, newest first. Everything within the caller's transaction. */
export class MailLookup {
  readonly #store: Store;
  readonly #shape: Shape;
  readonly #rows: MailRowReader;
  readonly #places: MailPlaces;
  // Kept here: finding a statement by its text costs as much as running it.
  readonly #marks: Statement;

  constructor(store: Store, shape: Shape, rows: MailRowReader) {
    this.#store = store;
    this.#shape = shape;
    this.#rows = rows;
    this.#places = new MailPlaces(store, shape);
    this.#marks = store.statement(`SELECT ${this.#places.read}, ${this.#places.flagged}, m.flags & ${ANSWERED} FROM messages m WHERE m.ROWID = ?`, 'raw');
  }

  /** The rows that a name fits, the newest first: a mail may lie in several mailboxes. Those marked deleted are left out. */
  find(name: MailName): MailRow[] {
    const rows = this.#rows.byId(this.#rowids(name)).filter(({ excluded }) => excluded !== 'deleted');
    // A hash may be that of another header.
    return 'messageId' in name ? rows.filter(({ messageIdHeader }) => messageIdHeader === null || idOf(messageIdHeader) === idOf(name.messageId)) : rows;
  }

  /** By row id; those that left are missing. */
  marks(rowids: readonly number[]): ReadonlyMap<number, MailMarks> {
    const marks = new Map<number, MailMarks>();
    for (const rowid of rowids) {
      const found = this.#marks.get(rowid) as [number, number, number] | undefined;
      if (found !== undefined) marks.set(rowid, { read: found[0] === 1, flagged: found[1] === 1, answered: found[2] !== 0 });
    }
    return marks;
  }

  /** Mails of each mailbox and label, by its ROWID, as Mail counts them. */
  counts(): ReadonlyMap<number, MailCounts> {
    const has = (name: string) => this.#store.has('mailboxes', name);
    if (!has('total_count') || !has('unread_count')) return new Map();
    // The total holds those marked deleted, which no list shows (data-formats/envelope-index.sql, after_insert_message).
    const total = has('deleted_count') ? 'MAX(total_count - deleted_count, 0)' : 'total_count';
    const found = this.#store.statement(`SELECT ROWID, ${total}, unread_count FROM mailboxes`, 'raw').all() as [number, number, number][];
    return new Map(found.map(([id, mails, unread]) => [id, { total: mails, unread }]));
  }

  /** A mail in several of the mailboxes stands once, at the first of its places that may be read: whichever page that is on. */
  list(request: MailListRequest): MailListPage {
    const rows: MailListPage['rows'][number][] = [];
    const first = new Map<number, number>();
    const isRead = (row: MailRow) => row.excluded !== 'deleted' && request.may(row);
    const isFirst = ({ rowid, globalId }: MailRow) => {
      if (!first.has(globalId)) first.set(globalId, list.copiesOf(rowid).find((copy) => copy === rowid || this.#rows.byId([copy]).some(isRead))!);
      return first.get(globalId) === rowid;
    };
    const list = this.#places.of(request.mailboxes, request);
    let place = request.after;
    for (let looked = 0; looked < MAX_LOOKED; ) {
      // At first a few more than are wanted, since some come twice; where many may not be read, most of those that are looked through.
      const most = looked === 0 ? request.limit + SPARE : USUAL_PAGE;
      const step = list.after(place, most);
      for (place of step) {
        looked += 1;
        const [row] = this.#rows.byId([place.rowid]);
        if (row === undefined || !isRead(row) || !isFirst(row)) continue;
        rows.push({ row, place });
        if (rows.length >= request.limit) return { rows, next: place };
      }
      if (step.length < most) return { rows, next: null };
    }
    return { rows, next: place };
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
