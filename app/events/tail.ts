import type { MailReader, StoreReader, StoreTrouble } from '../apple/reader.ts';
import { StoreError } from '../apple/reader.ts';
import type { NotArrival, StoreKind, StoreRow } from '../apple/occurrence.ts';
import type { StoreWatcher } from '../apple/watch.ts';
import type { Clock } from './clock.ts';
import { judgeArrival, noteFirstSight, Yardsticks } from './arrival.ts';
import { formatCursor, NO_CHECK, type Cursor } from './cursor.ts';
import { occurrenceOf, type Occurrence } from './occurrence.ts';
import type { TailState } from './tail-state.ts';

export type TailTrouble = StoreTrouble;

/** Who hears from a tail. Calls are synchronous and in the order of the store. */
export interface TailListener {
  /** A new row, judged: `reason` null means that it rings. Called once for each row. */
  judged(occurrence: Occurrence, reason: NotArrival | null): void;
  /** After all rows of a look at the store: write what was collected. */
  settled(): void;
  /** Something was committed, rows or not; what rows are new was judged before. */
  committed(): void;
  /** Another store is there, or the store went back: positions before this mean nothing. */
  gap(): void;
  /** The store cannot be read, or (null) can be read again. */
  trouble(kind: TailTrouble | null): void;
}

/** Truth is asked this often even if no watcher ever wakes us (architecture 4). */
export const TICK_MS = 250;
/** A wake can precede its commit: look again this long after it until `data_version` moved. 0 is the end of the turn. */
const LADDER_MS = [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 8, 16, 32, 64];
/** Many commits end within a fraction of a millisecond of their first wake: so many turns are tried before a timer. More only took the processor from the writer (measured). */
const TURNS = 20;
/** An incomplete row is looked at again after these times and is then delivered as it is. */
const PENDING_MS = [200, 1000];
const BUSY_REPORT_MS = 2000;
const BATCH = 500;

interface Pending {
  readonly row: StoreRow;
  readonly firstSeen: number;
  readonly since: number;
  tries: number;
}

/**
 * One store, followed once for all clients: reads what is new, judges arrival or not, remembers what is not.
 * All work is synchronous; a wake costs one `data_version` unless something was committed.
 */
export class Tail {
  readonly kind: StoreKind;
  readonly #reader: StoreReader;
  readonly #state: TailState;
  readonly #watcher: StoreWatcher;
  readonly #clock: Clock;
  readonly #listener: TailListener;
  readonly #yardsticks: Yardsticks;
  readonly #pending = new Map<number, Pending>();
  #timer: (() => void) | null = null;
  #ladder: (() => void) | null = null;
  /** The look at the end of the turn in which a wake came. */
  #soon: (() => void) | null = null;
  #unanswered = false;
  #turnsLeft = 0;
  #pendingTimer: (() => void) | null = null;
  #version = -1;
  #position = 0;
  /** Check at the position, or null until somebody asks. */
  #positionCheck: string | null = NO_CHECK;
  #storeId = '';
  #file = { dev: '0', ino: '0' };
  #trouble: TailTrouble | null = 'not_there';
  /** What the listener heard last; undefined before the first look. */
  #told: TailTrouble | null | undefined = undefined;
  #busySince: number | null = null;
  #readAt: number | null = null;
  #flushing = false;

  constructor(options: { reader: StoreReader; state: TailState; watcher: StoreWatcher; clock: Clock; listener: TailListener }) {
    this.#reader = options.reader;
    this.kind = options.reader.kind;
    this.#state = options.state;
    this.#watcher = options.watcher;
    this.#clock = options.clock;
    this.#listener = options.listener;
    this.#yardsticks = new Yardsticks((box) => this.#loadYardstick(box));
  }

  get running(): boolean {
    return this.#timer !== null;
  }
  /** Null while the store is readable. */
  get trouble(): TailTrouble | null {
    return this.#trouble;
  }
  /** When rows were read last, Unix ms; null before the first look. */
  get readAt(): number | null {
    return this.#readAt;
  }
  /** Everything at or below was read. */
  get position(): number {
    return this.#position;
  }
  /** Everything at or below was read and nothing of it waits: the only position that may be given away. */
  get watermark(): number {
    let lowest = Infinity;
    for (const rowid of this.#pending.keys()) lowest = Math.min(lowest, rowid);
    return lowest === Infinity ? this.#position : lowest - 1;
  }
  get baseline(): number {
    return this.#state.position?.baseline ?? 0;
  }
  get storeId(): string {
    return this.#storeId;
  }
  isPending(rowid: number): boolean {
    return this.#pending.has(rowid);
  }

  /** A cursor for a position at or below `position`. */
  cursorAt(rowid: number): string {
    return formatCursor(this.#file, rowid, rowid === this.#position ? this.#checkHere() : this.#reader.checkAt(rowid));
  }
  /** What the open store says at a foreign cursor's position. */
  storeAt(cursor: Cursor): { file: { dev: string; ino: string }; head: number; check: string } {
    return { file: this.#file, head: Math.max(this.#position, this.#reader.head()), check: this.#reader.checkAt(cursor.rowid) };
  }

  start(): void {
    if (this.#timer) return;
    this.#timer = this.#clock.every(TICK_MS, () => this.tick());
    this.tick();
  }

  stop(): void {
    this.#timer?.();
    this.#timer = null;
    this.#ladder?.();
    this.#ladder = null;
    this.#soon?.();
    this.#soon = null;
    this.#pendingTimer?.();
    this.#pendingTimer = null;
    this.#watcher.stop();
    this.#pending.clear();
    this.flush();
    this.#reader.close();
    this.#trouble = 'not_there';
    this.#told = undefined;
  }

  /** A disk that refuses is tried again with the next rows: until then a crash only means that rows are judged again. */
  flush(): void {
    try {
      this.#state.flush();
    } catch (error) {
      if (!String((error as { code?: unknown }).code).startsWith('SQLITE_')) throw error;
    }
  }

  /** The timer's look: is it the same file, did anything commit. */
  tick(): void {
    this.#guarded(() => {
      if (this.#reader.isOpen && this.#reader.replaced()) this.#reader.close();
      if (!this.#reader.isOpen) this.#open();
      this.#look();
    });
  }

  /** Reads now what was committed before this call, and sees a file that was swapped; for polls. */
  check(): void {
    this.tick();
  }

  /**
   * A watcher heard something. Read at once; if nothing was committed yet, climb the ladder. One commit wakes
   * for each page that it writes: the look at the end of the turn is for all that came after the first.
   */
  wake(): void {
    if (this.#trouble !== null || !this.#timer) return;
    this.#turnsLeft = TURNS;
    if (this.#soon !== null) {
      this.#unanswered = true;
      return;
    }
    this.#guarded(() => {
      this.#unanswered = true;
      this.#unanswered = !this.#look();
    });
    this.#lookSoon();
  }

  #lookSoon(): void {
    this.#soon = this.#clock.after(0, () => {
      this.#soon = null;
      if (!this.#unanswered || this.#trouble !== null) return;
      this.#guarded(() => {
        this.#turnsLeft -= 1;
        if (this.#look()) this.#unanswered = false;
        else if (this.#turnsLeft > 0) this.#lookSoon();
        else this.#climb(1);
      });
    });
  }

  #climb(step: number): void {
    this.#ladder?.();
    this.#ladder = null;
    if (step >= LADDER_MS.length) return;
    this.#ladder = this.#clock.after(LADDER_MS[step]! - LADDER_MS[step - 1]!, () => {
      this.#ladder = null;
      this.#guarded(() => this.#look() || this.#climb(step + 1));
    });
  }

  /** True if something had been committed. */
  #look(): boolean {
    const version = this.#reader.dataVersion();
    if (version === this.#version) return false;
    this.#ladder?.();
    this.#ladder = null;
    this.#read();
    this.#version = version;
    this.#listener.committed();
    return true;
  }

  #open(): void {
    this.#reader.open();
    this.#file = this.#reader.identity();
    this.#storeId = this.#reader.storeId();
    this.#version = this.#reader.dataVersion();
    const known = this.#state.position;
    const head = this.#reader.head();
    if (known && this.#isSame(known, head)) {
      this.#position = known.position;
      this.#positionCheck = known.check;
    } else {
      this.#startAt(head, known !== null);
    }
    this.#watcher.start(this.#reader.path, () => this.wake());
    this.#setTrouble(null);
    // Rows that came while nobody looked: judged and recorded, so that catch-up tells the same story.
    this.#read();
  }

  /** The store is the same if its check is; for Messages the inode decides where the row at the position is gone. */
  #isSame(known: { storeId: string; position: number; check: string; ino: string }, head: number): boolean {
    if (head < known.position) return false;
    if (this.kind === 'mail') return known.storeId === this.#storeId;
    const check = this.#reader.checkAt(known.position);
    return known.check === NO_CHECK || check === NO_CHECK ? known.ino === this.#file.ino : known.check === check;
  }

  #startAt(head: number, replaced: boolean): void {
    this.#state.reset();
    this.#yardsticks.forget();
    this.#pending.clear();
    this.#position = head;
    this.#positionCheck = this.#reader.checkAt(head);
    const now = this.#clock.now();
    if (this.#reader.kind === 'mail') {
      const highest = (this.#reader as MailReader).highestGlobalIds();
      for (const [account, id] of highest) this.#state.setHighest(account, id);
      this.#state.setHighest('', Math.max(0, ...highest.values()));
    }
    this.#state.position = this.#describe(head, now);
    // At once: a kill right after it would make a later head the baseline, with rows between that nobody judged.
    this.flush();
    if (replaced) this.#listener.gap();
  }

  #moveTo(rowid: number): void {
    if (rowid === this.#position) return;
    this.#position = rowid;
    this.#positionCheck = null;
  }

  #checkHere(): string {
    return (this.#positionCheck ??= this.#reader.checkAt(this.#position));
  }

  /** The watermark: what waits now is judged by the engine that comes after a kill. */
  #describe(baseline: number, startedAt: number) {
    const position = this.watermark;
    const check = position === this.#position ? this.#checkHere() : this.#reader.checkAt(position);
    return { storeId: this.#storeId, position, baseline, startedAt, check, ino: this.#file.ino };
  }

  #keepPosition(): void {
    const known = this.#state.position!;
    this.#state.position = this.#describe(known.baseline, known.startedAt);
  }

  #read(): void {
    for (;;) {
      const batch = this.#reader.read(this.#position, BATCH);
      if (batch.head < this.#position) {
        this.#startAt(batch.head, true);
        break;
      }
      const now = this.#clock.now();
      const before = this.#position;
      for (const row of batch.rows) {
        // The position moves with each row: the cursor of an event is its own row.
        this.#moveTo(row.rowid);
        this.#take(row, now);
      }
      if (batch.through !== before) {
        this.#moveTo(batch.through);
        this.#keepPosition();
        this.#listener.settled();
        this.#scheduleFlush();
      }
      if (batch.rows.length < BATCH) break;
    }
    this.#readAt = this.#clock.now();
    if (this.#busySince !== null) this.#setTrouble(null);
    this.#busySince = null;
  }

  #take(row: StoreRow, now: number): void {
    if (row.incomplete && (row.excluded === null || row.excluded === 'no-sender')) {
      noteFirstSight(row, this.#state);
      this.#pending.set(row.rowid, { row, firstSeen: now, since: this.#clock.monotonic(), tries: 0 });
      this.#armPending();
    } else {
      this.#judge(row, now);
    }
  }

  #judge(row: StoreRow, firstSeen: number): void {
    const reason = judgeArrival(row, this.#state, this.#yardsticks.newest(row.box, firstSeen), firstSeen);
    const newest = this.#yardsticks.saw(row.box, row.date, firstSeen);
    if (newest && row.box !== null) this.#state.recordNewest(row.box, newest.seenAt, newest.date);
    if (reason !== null) this.#state.recordNotArrival(row.rowid, reason);
    this.#listener.judged(occurrenceOf(row, this.#storeId, firstSeen), reason);
  }

  /** @param atLeast Not at once again after a look that failed: a store that stays away would keep us spinning. */
  #armPending(atLeast = 0): void {
    if (this.#pendingTimer !== null || this.#pending.size === 0) return;
    const now = this.#clock.monotonic();
    let wait = Infinity;
    for (const entry of this.#pending.values()) wait = Math.min(wait, entry.since + PENDING_MS[entry.tries]! - now);
    this.#pendingTimer = this.#clock.after(Math.max(atLeast, wait), () => {
      this.#pendingTimer = null;
      const looked = this.#guarded(() => this.#lookAgain());
      this.#armPending(looked ? 0 : TICK_MS);
    });
  }

  #lookAgain(): void {
    const now = this.#clock.monotonic();
    const due = [...this.#pending.values()].filter((entry) => now >= entry.since + PENDING_MS[entry.tries]! - 1);
    if (due.length === 0) return;
    const rows = new Map(this.#reader.pick(due.map((entry) => entry.row.rowid)).map((row) => [row.rowid, row]));
    for (const entry of due) {
      const row = rows.get(entry.row.rowid);
      entry.tries += 1;
      if (row === undefined) {
        // The row left before it was whole: moved (its copy is another row) or deleted.
        this.#pending.delete(entry.row.rowid);
      } else if (!row.incomplete || entry.tries >= PENDING_MS.length) {
        this.#pending.delete(row.rowid);
        this.#judge(row, entry.firstSeen);
      }
    }
    this.#keepPosition();
    this.#listener.settled();
    this.#scheduleFlush();
  }

  /** Rows that stood in the box before the first start count as seen then. */
  #loadYardstick(box: number): { seenAt: number; date: number }[] {
    const known = this.#state.position!;
    const kept = this.#state.newest(box);
    const before = this.#reader.newestDate(box, known.baseline);
    const first = before === null ? [] : [{ seenAt: known.startedAt, date: Math.min(before, known.startedAt) }];
    return [...first, ...kept];
  }

  /** State goes out after the events did: latency first, and a crash in between only repeats the judgement. */
  #scheduleFlush(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    this.#clock.after(5, () => {
      this.#flushing = false;
      if (this.#timer) this.flush();
    });
  }

  #setTrouble(kind: TailTrouble | null): void {
    this.#trouble = kind;
    if (this.#told === kind) return;
    this.#told = kind;
    this.#listener.trouble(kind);
  }

  /** False if the store could not be read. */
  #guarded(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.kind === 'busy') {
        // Mail's checkpoints pass in milliseconds; the timer tries again, and only a long wait is told.
        this.#busySince ??= this.#clock.monotonic();
        // Never opened yet: what a client is answered meanwhile is that it is busy, not that it is missing.
        if (this.#told === undefined) this.#trouble = 'busy';
        if (this.#clock.monotonic() - this.#busySince >= BUSY_REPORT_MS) this.#setTrouble('busy');
        return false;
      }
      this.#busySince = null;
      this.#reader.close();
      this.#watcher.stop();
      this.#setTrouble(error.kind);
      return false;
    }
  }
}
