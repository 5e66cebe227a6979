import type { MailReader, StoreReader } from '../apple/reader.ts';
import type { NotArrival, StoreRow } from '../apple/occurrence.ts';
import { messageKey } from './arrival.ts';
import type { Filter } from './sender-filter.ts';
import { accepts } from './sender-filter.ts';
import { occurrenceOf, type Occurrence, type Subjects } from './occurrence.ts';
import type { Tail } from './tail.ts';
import type { TailState } from './tail-state.ts';

export interface CatchUpRequest {
  readonly filter: Filter;
  /** Exclusive lower rowid. */
  readonly after: number;
  /** Where this reader's way began: what arrived above it was never offered to it. Default: `after`. */
  readonly since?: number;
  /** Inclusive upper rowid; at most the tail's position. */
  readonly upTo: number;
  /** Most occurrences to return, 1 or more. */
  readonly limit: number;
  /** Unix ms; rows dated before are skipped, undated ones kept (ruling 7). */
  readonly notBefore: number | null;
  readonly subjects: Subjects;
  /** Whether the owner wants mail and messages that were synced late. */
  readonly backfill: boolean;
  readonly now: number;
}

export interface CatchUpPage {
  readonly occurrences: readonly Occurrence[];
  /** Everything at or below is accounted for; equals `upTo` if the range is finished. */
  readonly through: number;
}

export interface MovedAhead {
  readonly occurrence: Occurrence;
  /** The rowid at which it arrived. */
  readonly place: number;
}

/** Reads a store from a position and tells the same story as the tail told when the rows came. */
export class CatchUp {
  readonly #reader: StoreReader;
  readonly #state: TailState;
  readonly #tail: Tail;

  constructor(reader: StoreReader, state: TailState, tail: Tail) {
    this.#reader = reader;
    this.#state = state;
    this.#tail = tail;
  }

  /** One page. A page that returns little because much was narrowed away still moves `through`. */
  page(request: CatchUpRequest): CatchUpPage {
    const { filter, upTo, limit } = request;
    if (request.after >= upTo) return { occurrences: [], through: Math.max(request.after, upTo) };
    const page = this.#reader.page({
      senders: filter.senders,
      after: request.after,
      upTo,
      limit,
      ...(request.notBefore !== null && { notBefore: request.notBefore }),
    });
    const rows = page.rows.filter((row) => !this.#tail.isPending(row.rowid) && accepts(filter, row, request.subjects));
    const kept = this.#arrivals(rows, filter, request);
    return { occurrences: kept.map((row) => occurrenceOf(row, this.#tail.storeId, request.now)), through: page.through };
  }

  /** True exactly if a matching arrival above `after` is dated before the floor (ruling 7). */
  skips(filter: Filter, after: number, upTo: number, notBefore: number): boolean {
    return after < upTo && this.#reader.skippedBefore({ senders: filter.senders, after, upTo, limit: 1, notBefore });
  }

  #arrivals(rows: readonly StoreRow[], filter: Filter, request: CatchUpRequest): StoreRow[] {
    if (rows.length === 0) return [];
    const recorded = this.#state.notArrivals(rows.map((row) => row.rowid));
    const rings = (reason: NotArrival | undefined) => reason === undefined || (reason === 'backfill' && request.backfill);
    const kept = rows.filter((row) => rings(recorded.get(row.rowid)) || (recorded.get(row.rowid) === 'moved' && this.#movedWhileAway(row, request.since ?? request.after, rings)));
    if (this.#reader.kind !== 'mail' || kept.length === 0) return kept;
    return this.#firstOfEach(kept, filter, request, rings);
  }

  /**
   * A mail that arrived and was moved while this reader was away: its first row is gone and would have rung, so
   * the copy stands for it, under the same event id. A move of what the reader was offered stays silent.
   */
  #movedWhileAway(row: StoreRow, since: number, rings: (reason: NotArrival | undefined) => boolean): boolean {
    return this.#firstPlace(row, since, rings) !== null;
  }

  /** Rowid that the row's mail had when it arrived, if that lies above `since`, would have rung and is gone; else null. */
  #firstPlace(row: StoreRow, since: number, rings: (reason: NotArrival | undefined) => boolean): number | null {
    if (row.store !== 'mail') return null;
    const first = this.#state.seen(messageKey(row), row.mailbox?.accountId ?? '');
    if (first === null || first <= since || first >= row.rowid) return null;
    if (!rings(this.#state.notArrivals([first]).get(first))) return null;
    return this.#reader.pick([first]).length === 0 ? first : null;
  }

  /**
   * For a reader that stops at `through` and comes back with nothing but that position: mails that arrived in
   * (after, through] and were moved above it since. Later pages take their copies for moves of what was offered.
   */
  movedAhead(request: Omit<CatchUpRequest, 'limit' | 'since'>, through: number): readonly MovedAhead[] {
    const { filter, after, upTo, notBefore } = request;
    if (this.#reader.kind !== 'mail' || through >= upTo) return [];
    const copies = this.#state.moved(through, upTo);
    return copies.length === 0 ? [] : this.#reader.pick(copies).flatMap((row) => {
      if (row.excluded !== null || !accepts(filter, row, request.subjects)) return [];
      if (notBefore !== null && row.date !== null && row.date < notBefore) return [];
      const place = this.#firstPlace(row, after, (reason) => reason === undefined || (reason === 'backfill' && request.backfill));
      return place === null || place > through ? [] : [{ occurrence: occurrenceOf(row, this.#tail.storeId, request.now), place }];
    });
  }

  /**
   * One subscription delivers one eventId once. A mail with an older row is a copy: of the same account (a
   * move that happened before we looked), or of another one, and then only a copy if the older row rings here.
   */
  #firstOfEach(rows: readonly StoreRow[], filter: Filter, request: CatchUpRequest, rings: (reason: NotArrival | undefined) => boolean): StoreRow[] {
    const reader = this.#reader as MailReader;
    const first = reader.firstRows(rows.flatMap((row) => (row.store === 'mail' ? [row.globalId] : [])));
    const older = [...new Set(rows.flatMap((row) => {
      const lowest = row.store === 'mail' ? first.get(row.globalId) : undefined;
      return lowest !== undefined && lowest < row.rowid ? [lowest] : [];
    }))];
    if (older.length === 0) return [...rows];
    const elders = new Map(reader.pick(older).map((row) => [row.rowid, row]));
    const reasons = this.#state.notArrivals(older);
    return rows.filter((row) => {
      if (row.store !== 'mail') return true;
      const elder = elders.get(first.get(row.globalId) ?? row.rowid);
      if (elder === undefined || elder.rowid === row.rowid) return true;
      const sameAccount = elder.mailbox?.accountId === row.mailbox?.accountId;
      if (sameAccount) return false;
      const elderRings = elder.excluded === null && rings(reasons.get(elder.rowid)) && accepts(filter, elder, request.subjects);
      return !elderRings;
    });
  }
}
