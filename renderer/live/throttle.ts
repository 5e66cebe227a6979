/** Time as an edge: passed in, so that a test owns it. */
export interface Clock {
  /** Monotonic ms. */
  now(): number;
  /** Returns its own cancel. */
  setTimer(ms: number, work: () => void): () => void;
}

export const pageClock: Clock = {
  now: () => performance.now(),
  setTimer(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

/** Runs work on the leading edge, then at most once in `ms`; what was asked for meanwhile is never lost. */
export class Throttle {
  readonly #ms: number;
  readonly #work: () => void;
  readonly #clock: Clock;
  #last = -Infinity;
  #cancel: (() => void) | null = null;

  constructor(ms: number, work: () => void, clock: Clock) {
    this.#ms = ms;
    this.#work = work;
    this.#clock = clock;
  }

  ask(): void {
    if (this.#cancel) return;
    const wait = this.#last + this.#ms - this.#clock.now();
    if (wait <= 0) return this.#run();
    this.#cancel = this.#clock.setTimer(wait, () => this.#run());
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #run(): void {
    this.#cancel = null;
    this.#last = this.#clock.now();
    this.#work();
  }
}
