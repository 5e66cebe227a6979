import type { Clock } from '../../events/clock.ts';

export const TICK = 'lab.tick';
/** How far back a cursor may lie. */
const KEPT = 100;
const HEARTBEAT_MS = 10_000;

export interface Tick {
  readonly eventId: string;
  readonly name: string;
  readonly timestamp: string;
  readonly data: { readonly number: number; readonly word: string };
}

/** What a client asks the laboratory to do to its stream, once it is open and one event went out. */
export const FAULTS = ['error', 'gap', 'terminated', 'close'] as const;
export type Fault = (typeof FAULTS)[number];

/** Where a client's cursor lies among the ticks. */
export interface Start {
  readonly after: number;
  readonly truncated: boolean;
}

/** The synthetic event: one tick after another, kept for those who come back with a cursor. */
export class Ticks {
  readonly #clock: Clock;
  readonly #run: string;
  readonly #listeners = new Set<() => void>();
  readonly #stop: () => void;
  #last = 0;
  #times = new Map<number, number>();

  /** @param everyMs between two ticks */
  constructor(everyMs: number, clock: Clock) {
    this.#clock = clock;
    // Cursors of another run of the laboratory are another store's.
    this.#run = clock.now().toString(36);
    this.#stop = clock.every(everyMs, () => this.#tick());
  }

  get last(): number {
    return this.#last;
  }

  cursorAt = (number: number): string => `${this.#run}.${number}`;

  /** Null for a cursor that is no text of ours. */
  startOf(cursor: string | null): Start | null {
    if (cursor === null) return { after: this.#last, truncated: false };
    const [, run, number] = /^([0-9a-z]{1,16})\.(\d{1,15})$/.exec(cursor) ?? [];
    if (run === undefined) return null;
    const after = Number(number);
    const isKnown = run === this.#run && after <= this.#last && after >= this.#last - KEPT;
    return isKnown ? { after, truncated: false } : { after: this.#last, truncated: true };
  }

  /** @param word that each tick of this subscription carries */
  between(after: number, max: number, word: string): Tick[] {
    const until = Math.min(this.#last, after + max);
    return Array.from({ length: Math.max(0, until - after) }, (_, at) => this.#at(after + at + 1, word));
  }

  /** @returns what ends it */
  listen(onTick: () => void): () => void {
    this.#listeners.add(onTick);
    return () => void this.#listeners.delete(onTick);
  }

  heartbeats(onBeat: () => void): () => void {
    return this.#clock.every(HEARTBEAT_MS, onBeat);
  }

  close(): void {
    this.#stop();
    this.#listeners.clear();
  }

  #tick(): void {
    this.#last += 1;
    this.#times.set(this.#last, this.#clock.now());
    this.#times.delete(this.#last - KEPT - 1);
    for (const listener of this.#listeners) listener();
  }

  #at(number: number, word: string): Tick {
    return { eventId: `${this.#run}-${number}`, name: TICK, timestamp: new Date(this.#times.get(number) ?? this.#clock.now()).toISOString(), data: { number, word } };
  }
}
