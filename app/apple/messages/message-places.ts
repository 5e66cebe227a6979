import type { Store } from '../store.ts';
import { unixMs } from './message-columns.ts';
import { indexedBy, indexOn } from './table-index.ts';

/** Where messages lie: in these chats, and of these handles what is in no chat at all. ROWIDs. */
export interface MessageScope {
  readonly chats: readonly number[];
  readonly handles: readonly number[];
}

/** Where a page of a list goes on: after this message. */
export interface MessagePlace {
  /** The date as stored, in decimal: nanoseconds exceed a double. Null where there is none. */
  readonly date: string | null;
  readonly rowid: number;
}

/** Unix ms, or null: only what is dated before, or at and after. */
export interface DateRange {
  readonly before: number | null;
  readonly since: number | null;
}

/** Places newest first, and from where there may be more; null: there is none. */
export interface MessageStretch {
  readonly places: readonly MessagePlace[];
  readonly next: MessagePlace | null;
}

export const LIST_STEP = 200;
/** Rows of one handle that are asked in one step whether they are in a chat: most are. */
const MOST_ASKED = 20_000;
const NOTHING: MessageStretch = { places: [], next: null };

/** Finds the messages of a scope, source by source along an index, so that the cost follows what is found. */
export class MessagePlaces {
  readonly #store: Store;
  readonly #isMessage: string;
  /** `j` is the join to a chat. */
  readonly #date: string;
  readonly #byChat: string | null;
  readonly #byHandle: string | null;
  readonly #byHandleAndDate: string | null;

  /** @param isMessage condition on `m`: own words of a person */
  constructor(store: Store, isMessage: string) {
    this.#store = store;
    this.#isMessage = isMessage;
    this.#date = store.has('chat_message_join', 'message_date') ? 'j.message_date' : 'm.date';
    this.#byChat = indexOn(store, 'chat_message_join', ['chat_id', 'message_id']);
    this.#byHandle = indexOn(store, 'message', ['handle_id']);
    this.#byHandleAndDate = indexOn(store, 'message', ['handle_id', 'date']);
  }

  /** Condition on a row that lies in no chat: one that waits in Recently Deleted is not meant (data-formats/chat-db 9). */
  alone(rowid: string): string {
    const deleted = this.#store.has('chat_recoverable_message_join') ? ` AND NOT EXISTS (SELECT 1 FROM chat_recoverable_message_join r WHERE r.message_id = ${rowid})` : '';
    return `NOT EXISTS (SELECT 1 FROM chat_message_join a WHERE a.message_id = ${rowid})${deleted}`;
  }

  /** The next messages, newest first; those without a date come last. */
  step(scope: MessageScope, range: DateRange, after: MessagePlace | null): MessageStretch {
    const dated = after?.date === null ? NOTHING : this.#stretch(scope, range, after, true);
    if (dated.next !== null || range.before !== null || range.since !== null) return dated;
    const undated = this.#stretch(scope, range, after?.date === null ? after : null, false);
    return { places: [...dated.places, ...undated.places], next: undated.next };
  }

  /** ROWIDs below one, falling: of the chats, and every row of the handles. */
  newest(scope: MessageScope, below: number | null, limit: number): { readonly rowids: readonly number[]; readonly inChats: ReadonlySet<number> } {
    const ofChat = `SELECT j.message_id FROM chat_message_join j ${indexedBy(this.#byChat)} WHERE j.chat_id = ? AND j.message_id < ? ORDER BY j.message_id DESC LIMIT ?`;
    const ofHandle = `SELECT m.ROWID FROM message m ${indexedBy(this.#byHandle)} WHERE m.handle_id = ? AND m.ROWID < ? ORDER BY m.ROWID DESC LIMIT ?`;
    const read = (sql: string, of: readonly number[]) => of.flatMap((id) => this.#store.statement(sql, 'pluck').all(id, below ?? Number.MAX_SAFE_INTEGER, limit) as number[]);
    const inChats = new Set(read(ofChat, scope.chats));
    return { rowids: [...new Set([...inChats, ...read(ofHandle, scope.handles)])].toSorted((a, b) => b - a).slice(0, limit), inChats };
  }

  /**
   * Each source gives its next places and, where it has more, the last of them: below the newest of these the order is not known yet.
   * Seconds of old stores are smaller than nanoseconds, so it holds across both.
   */
  #stretch({ chats, handles }: MessageScope, range: DateRange, after: MessagePlace | null, isDated: boolean): MessageStretch {
    const newestOf = (stretches: readonly MessageStretch[]) => stretches.flatMap(({ next }) => next ?? []).toSorted(newestFirst)[0] ?? null;
    const ofChats = chats.map((chat) => this.#ofChat(chat, range, after, isDated));
    const until = newestOf(ofChats);
    const all = [...ofChats, ...handles.map((handle) => this.#ofHandle(handle, range, after, until, isDated))];
    const next = newestOf(all);
    const ordered = all.flatMap(({ places }) => places).filter((place) => next === null || newestFirst(place, next) <= 0).toSorted(newestFirst);
    return { places: ordered.filter(({ rowid }, at) => rowid !== ordered[at - 1]?.rowid), next };
  }

  #ofChat(chat: number, range: DateRange, after: MessagePlace | null, isDated: boolean): MessageStretch {
    const conditions = ['j.chat_id = @chat', this.#isMessage, ...conditionsOf(this.#date, 'j.message_id', range, after, null, isDated)];
    const sql = `SELECT CAST(${this.#date} AS TEXT) AS date, j.message_id AS rowid FROM chat_message_join j CROSS JOIN message m ON m.ROWID = j.message_id
      WHERE ${conditions.join(' AND ')} ORDER BY ${this.#date} DESC, j.message_id DESC LIMIT ${LIST_STEP}`;
    const places = this.#store.statement(sql).all({ chat, ...valuesOf(range, after, null, isDated) }) as MessagePlace[];
    return { places, next: places.length < LIST_STEP ? null : places.at(-1)! };
  }

  /** @param until nothing below is wanted in this step */
  #ofHandle(handle: number, range: DateRange, after: MessagePlace | null, until: MessagePlace | null, isDated: boolean): MessageStretch {
    const conditions = ['h.handle_id = @handle', ...conditionsOf('h.date', 'h.ROWID', range, after, until, isDated)];
    // The index alone answers for what is in a chat.
    const asked = `SELECT h.ROWID AS rowid, h.date AS date FROM message h ${indexedBy(this.#byHandleAndDate)} WHERE ${conditions.join(' AND ')} ORDER BY h.date DESC, h.ROWID DESC`;
    const values = { handle, ...valuesOf(range, after, until, isDated) };
    const places = this.#store.statement(
      `SELECT CAST(q.date AS TEXT) AS date, q.rowid AS rowid FROM (${asked} LIMIT ${MOST_ASKED}) q CROSS JOIN message m ON m.ROWID = q.rowid
       WHERE ${this.alone('q.rowid')} AND ${this.#isMessage} ORDER BY q.date DESC, q.rowid DESC LIMIT ${LIST_STEP}`,
    ).all(values) as MessagePlace[];
    if (places.length === LIST_STEP) return { places, next: places.at(-1)! };
    const last = this.#store.statement(`SELECT CAST(date AS TEXT) AS date, rowid FROM (${asked} LIMIT 1 OFFSET ${MOST_ASKED - 1})`).get(values) as MessagePlace | undefined;
    return { places, next: last ?? null };
  }
}

function conditionsOf(date: string, rowid: string, { before, since }: DateRange, after: MessagePlace | null, until: MessagePlace | null, isDated: boolean): string[] {
  return [
    `${date} IS ${isDated ? 'NOT ' : ''}NULL`,
    ...(before === null ? [] : [`${unixMs(date)} < @before`]),
    ...(since === null ? [] : [`${unixMs(date)} >= @since`]),
    ...(after === null ? [] : [isDated ? `(${date}, ${rowid}) < (CAST(@date AS INTEGER), @rowid)` : `${rowid} < @rowid`]),
    ...(until === null ? [] : [isDated ? `(${date}, ${rowid}) >= (CAST(@untilDate AS INTEGER), @untilRowid)` : `${rowid} >= @untilRowid`]),
  ];
}

const valuesOf = ({ before, since }: DateRange, after: MessagePlace | null, until: MessagePlace | null, isDated: boolean) => ({
  ...(before !== null && { before }), ...(since !== null && { since }),
  ...(after !== null && { rowid: after.rowid, ...(isDated && { date: after.date }) }),
  ...(until !== null && { untilRowid: until.rowid, ...(isDated && { untilDate: until.date }) }),
});

const newestFirst = (a: MessagePlace, b: MessagePlace): number => Number(BigInt(b.date ?? 0) - BigInt(a.date ?? 0)) || b.rowid - a.rowid;
