import type { Clock } from '../events/clock.ts';
import { ProbeFailure } from './failure.ts';

/** The one time limit of a run: connecting, logging in, asking and waiting all spend from it. */
export class Deadline {
  readonly #clock: Clock;
  readonly #end: number;
  readonly #ended = new AbortController();
  readonly #cancel: () => void;
  #interrupted = false;
  /** What time is being spent on, if not on what whoever waits asked for. */
  #meanwhile: (() => ProbeFailure) | null = null;

  /**
   * @param ms from now
   * @param interrupt ends it early: the person pressed Ctrl-C, or who asked went away
   */
  constructor(ms: number, clock: Clock, interrupt?: AbortSignal) {
    this.#clock = clock;
    this.#end = clock.monotonic() + ms;
    this.#cancel = clock.after(ms, () => this.#ended.abort());
    const stop = () => {
      this.#interrupted = true;
      this.#ended.abort();
    };
    if (interrupt?.aborted) stop();
    else interrupt?.addEventListener('abort', stop, { once: true });
  }

  /** Aborted once time is up. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Milliseconds left, at least 0. */
  get left(): number {
    return this.#ended.signal.aborted ? 0 : Math.max(0, this.#end - this.#clock.monotonic());
  }

  /** What `work` gives, or the failure once time is up. */
  within<T>(work: Promise<T>, late: () => ProbeFailure): Promise<T> {
    return this.#race(work, () => (this.#interrupted ? interrupted() : (this.#meanwhile ?? late)()));
  }

  /** The same for work that others wait behind: while it goes on, its failure is theirs too. */
  async meanwhile<T>(work: () => Promise<T>, late: () => ProbeFailure): Promise<T> {
    this.#meanwhile = late;
    try {
      return await this.within(work(), late);
    } finally {
      if (!this.signal.aborted) this.#meanwhile = null;
    }
  }

  /** True once `ms` have passed; false once time is up, at the end of it if `ms` are not left. */
  pause(ms: number): Promise<boolean> {
    const { signal } = this.#ended;
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const finish = (passed: boolean) => {
        cancel();
        signal.removeEventListener('abort', onEnd);
        resolve(passed);
      };
      const onEnd = () => finish(false);
      const cancel = this.left <= ms ? () => undefined : this.#clock.after(ms, () => finish(true));
      signal.addEventListener('abort', onEnd);
    });
  }

  /** What `work` gives if it comes within `ms` and before time is up, else null. */
  async soon<T>(work: Promise<T>, ms: number): Promise<T | null> {
    const { signal } = this.#ended;
    let cancel = () => {};
    const late = new Promise<null>((resolve) => {
      const end = () => resolve(null);
      const quiet = this.#clock.after(Math.min(ms, this.left), end);
      signal.addEventListener('abort', end);
      cancel = () => {
        quiet();
        signal.removeEventListener('abort', end);
      };
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      cancel();
    }
  }

  close(): void {
    this.#cancel();
  }

  async #race<T>(work: Promise<T>, late: () => ProbeFailure): Promise<T> {
    const { signal } = this.#ended;
    // Whoever loses the race must not become an unhandled rejection.
    work.catch(() => undefined);
    if (signal.aborted) throw late();
    let onAbort = () => {};
    const expired = new Promise<never>((_, reject) => {
      onAbort = () => reject(late());
      signal.addEventListener('abort', onAbort, { once: true });
    });
    try {
      return await Promise.race([work, expired]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}

const interrupted = () => new ProbeFailure('INTERRUPTED', 'The probe was stopped before it was done.');
