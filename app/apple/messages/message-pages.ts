import type { PageRequest, SenderSet } from '../reader.ts';
import type { Store } from '../store.ts';
import type { HandleIds, Handles } from './handles.ts';
import { EPOCH_MS, NANOSECONDS_FROM, unixMs, unpeeked } from './message-columns.ts';
import { indexedBy, indexOn } from './table-index.ts';

/** Limits of catch-up (architecture 5). */
const MOST_IDS = 20_000;
const SCAN_BEHIND = 5_000;
const SCAN_ROWS = 25_000;
const SCAN_STEP = 1_000;
/** Rows that are built for one page at most: what is left out after building (twins, spam chats) stays bounded. */
const MOST_BUILT = 2_000;
const FIRST_WINDOW = 4_000;
const DENSE_IDS = 500;

const P = unpeeked('?');

/** Builds the row at a rowid; null if it is gone, is excluded or is not from these senders after all. */
type Build<R> = (rowid: number) => R | null;

/** Finds the messages of a set of senders by rowid, in pages whose cost follows what they return. */
export class MessagePages {
  readonly #store: Store;
  readonly #handles: Handles;
  /** Condition that leaves out most of what never rings. */
  readonly #likely: string;
  /** Indexes on the sender, and on the sender and the date. */
  readonly #byId: string | null;
  readonly #byIdAndDate: string | null;

  constructor(store: Store, handles: Handles, likely: string) {
    this.#store = store;
    this.#handles = handles;
    this.#likely = likely;
    this.#byId = indexOn(store, 'message', ['handle_id']);
    this.#byIdAndDate = indexOn(store, 'message', ['handle_id', 'date']);
  }

  page<R>(request: PageRequest, build: Build<R>): { rows: R[]; through: number } {
    const { after, upTo, limit } = request;
    const ids = this.#handles.idsOf(request.senders);
    if (upTo <= after || ids.ids.size === 0) return { rows: [], through: upTo };
    const rows: R[] = [];
    const floor = request.notBefore;
    const take = (rowid: number) => {
      const row = build(rowid);
      if (row !== null) rows.push(row);
      return rows.length >= limit;
    };
    const mustScan = upTo - after < SCAN_BEHIND || ids.ids.size > MOST_IDS || this.#byId === null;
    if (mustScan) return { rows, through: this.#scan(ids, after, upTo, floor, SCAN_ROWS, take) };
    // Many senders are often dense: a look at the next rows is cheaper than a search for each id.
    const from = ids.ids.size > DENSE_IDS ? this.#scan(ids, after, upTo, floor, SCAN_STEP, take) : after;
    return { rows, through: rows.length >= limit ? from : this.#byWindows(ids, from, upTo, floor, () => limit - rows.length, take) };
  }

  /** Ruling 7: a matching row dated before the floor. */
  skippedBefore(request: PageRequest & { readonly notBefore: number }, build: Build<unknown>): boolean {
    const { after, upTo, notBefore } = request;
    const ids = this.#handles.idsOf(request.senders);
    if (upTo <= after || ids.ids.size === 0) return false;
    const sql = BEFORE.map((arm) => this.#candidates(`${arm} AND m.ROWID > ${P} AND m.ROWID <= ${P} AND ${this.#likely}`, this.#byIdAndDate));
    const [nanoseconds, seconds] = bounds(notBefore);
    return [nanoseconds, seconds].some((bound, arm) => {
      // Stopped at the first that counts; the iterator ends with the loop, within the transaction.
      const found = this.#store.statement(sql[arm]!, 'pluck').iterate(ids.json, bound, after, upTo) as IterableIterator<number>;
      for (const rowid of found) if (build(rowid) !== null) return true;
      return false;
    });
  }

  /** Rows dated at or after `since`, newest first. */
  since<R>(senders: SenderSet, since: number, build: Build<R>): R[] {
    const ids = this.#handles.idsOf(senders);
    if (ids.ids.size === 0) return [];
    const arms = NOT_BEFORE.map((arm) => this.#candidates(`${arm} AND ${this.#likely}`, this.#byIdAndDate, unixMs('m.date')));
    const [nanoseconds, seconds] = bounds(since);
    const rowids = this.#store.statement(`${arms.join(' UNION ALL ')} ORDER BY 2 DESC, 1 DESC`, 'raw').all(ids.json, nanoseconds, ids.json, seconds) as [number, number][];
    return rowids.flatMap(([rowid]) => build(rowid) ?? []);
  }

  /** Every row in turn, at most `most`. `take` says when to stop. Gives what is accounted for. */
  #scan(ids: HandleIds, after: number, upTo: number, floor: number | undefined, most: number, take: (rowid: number) => boolean): number {
    const dated = floor === undefined ? '1' : KEPT_BY_FLOOR;
    const statement = this.#store.statement(
      `SELECT m.ROWID, m.handle_id, ${this.#likely} AND ${dated} FROM message m WHERE m.ROWID > ${P} AND m.ROWID <= ${P} ORDER BY m.ROWID LIMIT ${SCAN_STEP}`,
      'raw',
    );
    let from = after;
    let built = 0;
    for (let seen = 0; seen < most; ) {
      const step = statement.all(...(floor === undefined ? [] : [floor]), from, upTo) as [number, number | null, number][];
      for (const [rowid, handle, fits] of step) {
        from = rowid;
        if (fits !== 1 || handle === null || !ids.ids.has(handle)) continue;
        built += 1;
        if (take(rowid) || built >= MOST_BUILT) return from;
      }
      seen += step.length;
      if (step.length < SCAN_STEP) return upTo;
    }
    return from;
  }

  /**
   * By the handle index in windows of rowids that grow while they find too little: one window over everything would
   * sort all later rows of these senders for each page. Where rows are too old, the date index says where to go on.
   */
  #byWindows(ids: HandleIds, after: number, upTo: number, floor: number | undefined, missing: () => number, take: (rowid: number) => boolean): number {
    const dated = floor === undefined ? '1' : KEPT_BY_FLOOR;
    const sql = this.#candidates(`m.ROWID > ${P} AND m.ROWID <= ${P} AND ${this.#likely} AND ${dated}`, this.#byId);
    const statement = this.#store.statement(`${sql} ORDER BY m.ROWID LIMIT ${P}`, 'pluck');
    let width = floor === undefined ? Math.max(FIRST_WINDOW, 4 * ids.ids.size) : FIRST_WINDOW;
    let from = after;
    for (let built = 0; from < upTo && built < MOST_BUILT; width *= 4) {
      const to = Math.min(upTo, from + width);
      const most = Math.min(MOST_BUILT - built, missing() + 16);
      const found = statement.all(ids.json, from, to, ...(floor === undefined ? [] : [floor]), most) as number[];
      for (const rowid of found) if (take(rowid)) return rowid;
      built += found.length;
      from = found.length < most ? to : found.at(-1)!;
      if (found.length === 0 && floor !== undefined && from < upTo && this.#byIdAndDate !== null) {
        const next = this.#nextSince(ids, from, upTo, floor);
        if (next === null) return upTo;
        from = next - 1;
      }
    }
    return from;
  }

  /** Lowest rowid above `after` whose row is undated or not before the floor; the index alone answers. */
  #nextSince(ids: HandleIds, after: number, upTo: number, floor: number): number | null {
    const arms = [...NOT_BEFORE, 'm.date IS NULL', 'm.date = 0'].map((arm) =>
      this.#candidates(`${arm} AND m.ROWID > ${P} AND m.ROWID <= ${P}`, this.#byIdAndDate),
    );
    const [nanoseconds, seconds] = bounds(floor);
    const range = [after, upTo];
    return this.#store
      .statement(`SELECT MIN(rowid) FROM (${arms.join(' UNION ALL ')})`, 'pluck')
      .get(ids.json, nanoseconds, ...range, ids.json, seconds, ...range, ids.json, ...range, ids.json, ...range) as number | null;
  }

  /** First bound value: the ids. */
  #candidates(condition: string, index: string | null, also?: string): string {
    return `SELECT m.ROWID AS rowid${also === undefined ? '' : `, ${also}`} FROM message m ${indexedBy(index)} WHERE m.handle_id IN (SELECT value FROM json_each(?)) AND ${condition}`;
  }
}

/** One bound value: the floor in Unix ms. Undated rows are kept (ruling 7). */
const KEPT_BY_FLOOR = `(${unixMs('m.date')} IS NULL OR ${unixMs('m.date')} >= ${P})`;

/** Ranges of the date index for each unit, each with one bound value: a floor as `bounds` gives it. */
const NOT_BEFORE = [`m.date > ${NANOSECONDS_FROM} AND m.date >= ${P}`, `m.date <= ${NANOSECONDS_FROM} AND m.date >= ${P} AND m.date <> 0`];
const BEFORE = [`m.date > ${NANOSECONDS_FROM} AND m.date < ${P}`, `m.date <= ${NANOSECONDS_FROM} AND m.date < ${P} AND m.date <> 0`];

/** A floor in Unix ms as raw dates: nanoseconds, and seconds rounded up (a row of that second is not before it). */
function bounds(ms: number): [bigint, bigint] {
  const apple = Math.ceil(ms) - EPOCH_MS;
  return [BigInt(apple) * 1_000_000n, BigInt(Math.ceil(apple / 1000))];
}
