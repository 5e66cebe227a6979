import type { Clock } from '../events/clock.ts';
import type { PausedUntil } from './settings.ts';

/** Shortest and longest pause with an end. */
export const MIN_PAUSE_MS = 1000;
export const MAX_PAUSE_MS = 366 * 86_400_000;

/** A timer sleeps through a changed wall clock and through sleep of the Mac: look again at least this often. */
const LOOK_MS = 5000;

/**
 * The owner's pause. It ends at a wall time, so that "until 11:30" is 11:30 also after a changed clock, but
 * never lasts longer than chosen by the monotonic clock (architecture 5).
 */
export class Pause {
  readonly #clock: Clock;
  readonly #ended: () => void;
  #until: PausedUntil = null;
  /** Monotonic ms. */
  #deadline = Infinity;
  #cancel: (() => void) | null = null;

  /** @param ended called when a pause ends by time, not by `set`. */
  constructor(clock: Clock, ended: () => void) {
    this.#clock = clock;
    this.#ended = ended;
  }

  get active(): boolean {
    return this.#until === 'resumed' || (this.#until !== null && this.#remaining() > 0);
  }

  get until(): PausedUntil {
    return this.active ? this.#until : null;
  }

  /** Starts, changes or (null) ends the pause. Also used at start with what settings hold. */
  set(until: PausedUntil): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#until = until;
    if (typeof until !== 'number') return;
    const left = Math.min(until - this.#clock.now(), MAX_PAUSE_MS);
    if (left <= 0) {
      this.#until = null;
      return;
    }
    this.#deadline = this.#clock.monotonic() + left;
    this.#arm();
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #remaining(): number {
    if (typeof this.#until !== 'number') return 0;
    return Math.min(this.#until - this.#clock.now(), this.#deadline - this.#clock.monotonic());
  }

  #arm(): void {
    this.#cancel = this.#clock.after(Math.min(Math.max(1, this.#remaining()), LOOK_MS), () => {
      this.#cancel = null;
      if (this.#remaining() > 0) return this.#arm();
      this.#until = null;
      this.#ended();
    });
  }
}
