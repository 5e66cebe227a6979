import type { Clock } from '../../events/clock.ts';

/** At most `burst` at once and `perSecond` in the long run. */
export class Bucket {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #perSecond: number;
  readonly #burst: number;
  #left: number;
  #at: number;

  constructor(clock: Pick<Clock, 'monotonic'>, limits: { readonly perSecond: number; readonly burst: number }) {
    this.#clock = clock;
    this.#perSecond = limits.perSecond;
    this.#burst = limits.burst;
    this.#left = limits.burst;
    this.#at = clock.monotonic();
  }

  /** 0: taken. Otherwise nothing was taken, and so many whole seconds have to pass: the value of `Retry-After`. */
  take(): number {
    const now = this.#clock.monotonic();
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#at) / 1000) * this.#perSecond);
    this.#at = now;
    if (this.#left >= 1) {
      this.#left -= 1;
      return 0;
    }
    return Math.max(1, Math.ceil((1 - this.#left) / this.#perSecond));
  }
}
