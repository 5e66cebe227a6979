import type { MailRow, NotArrival, StoreRow } from '../apple/occurrence.ts';

/** A row's date may lie this far behind the newest of its mailbox before it counts as synced late (architecture 4). */
export const BACKFILL_SLACK_MS = 60 * 60_000;
/** Rows seen within this time are no yardstick yet: a sync brings old and new in one burst. */
export const SETTLE_MS = 15 * 60_000;

/** What is remembered about messages that were seen before; implemented by TailState. */
export interface SeenMemory {
  highest(account: string): number;
  setHighest(account: string, globalId: number): void;
  seen(key: string, account: string | null): number | null;
  recordSeen(key: string, account: string, row: number): void;
}

/**
 * Arrival or not, for a row seen for the first time. Null: it rings.
 * @param now Unix ms at which the row was first seen. `yardstick`: newest settled date of its box, or null.
 */
export function judgeArrival(row: StoreRow, memory: SeenMemory, yardstick: number | null, now: number): NotArrival | null {
  const moved = row.store === 'mail' && isMoved(row, memory);
  if (row.excluded !== null) return row.excluded;
  if (row.sender === null) return 'no-sender';
  if (moved) return 'moved';
  return isBackfill(row.date, yardstick, now) ? 'backfill' : null;
}

/**
 * An incomplete row is judged later, maybe after rows that came later: that it is new is remembered now. While its
 * mailbox is unknown, `''` stands for the account; the highest global id there is that of the whole store.
 */
export function noteFirstSight(row: StoreRow, memory: SeenMemory): void {
  if (row.store === 'mail') isMoved(row, memory);
}

/**
 * A move or a re-filing makes a new row for a known message. A global id above the highest of its account is
 * new without a look-up. Below it: known in this account, or never seen by us (ruling 5), is a move; first seen
 * by us in another account only is the second delivery of one mail, and an arrival here.
 */
function isMoved(row: MailRow, memory: SeenMemory): boolean {
  const account = row.mailbox?.accountId ?? '';
  const key = messageKey(row);
  if (row.globalId > memory.highest(account)) {
    memory.setHighest(account, row.globalId);
    if (row.globalId > memory.highest('')) memory.setHighest('', row.globalId);
    memory.recordSeen(key, account, row.rowid);
    return false;
  }
  const first = memory.seen(key, account);
  if (first !== null) return first !== row.rowid;
  if (memory.seen(key, null) === null) return true;
  memory.recordSeen(key, account, row.rowid);
  return false;
}

/** How a message is known again under another row: the hash of its Message-ID, or the global id without one. */
export const messageKey = (row: MailRow) => (row.messageHash === '0' ? `g${row.globalId}` : row.messageHash);

/** Undated rows are never back-fill: nothing says that they are old. */
export function isBackfill(date: number | null, yardstick: number | null, firstSeen: number): boolean {
  return date !== null && date < (yardstick ?? firstSeen) - BACKFILL_SLACK_MS;
}

export interface Dated {
  readonly seenAt: number;
  readonly date: number;
}

/**
 * Newest date of each mailbox or chat among rows that were first seen at least 15 minutes ago. A date in the
 * future (a wrong server or sender clock) counts as the time it was seen, or all later mail would look old.
 */
export class Yardsticks {
  readonly #boxes = new Map<number, { settled: number | null; recent: Dated[] }>();
  readonly #load: (box: number) => readonly Dated[];

  /** @param load What is known of a box that was not asked for before, oldest first. */
  constructor(load: (box: number) => readonly Dated[]) {
    this.#load = load;
  }

  newest(box: number | null, now: number): number | null {
    return box === null ? null : this.#settle(box, now).settled;
  }

  /** What is worth keeping if the row moved the newest date of its box, else null. One entry a minute and box. */
  saw(box: number | null, date: number | null, now: number): Dated | null {
    if (box === null || date === null) return null;
    const entry = this.#settle(box, now);
    const clamped = Math.min(date, now);
    const last = entry.recent.at(-1);
    if (clamped <= (last?.date ?? entry.settled ?? -Infinity)) return null;
    const joins = last !== undefined && now - last.seenAt < 60_000;
    if (joins) entry.recent.pop();
    const kept = { seenAt: joins ? last.seenAt : now, date: clamped };
    entry.recent.push(kept);
    return kept;
  }

  forget(): void {
    this.#boxes.clear();
  }

  #settle(box: number, now: number): { settled: number | null; recent: Dated[] } {
    let entry = this.#boxes.get(box);
    if (!entry) {
      entry = { settled: null, recent: [...this.#load(box)] };
      this.#boxes.set(box, entry);
    }
    while (entry.recent.length > 0 && entry.recent[0]!.seenAt <= now - SETTLE_MS) {
      entry.settled = Math.max(entry.settled ?? -Infinity, entry.recent.shift()!.date);
    }
    return entry;
  }
}
