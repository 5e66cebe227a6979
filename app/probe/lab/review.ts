import type { Clock } from '../../events/clock.ts';
import type { LabOptions } from './options.ts';

export const REVIEW_URI = 'lab://review/status';

/** Who is told of changes. */
export interface ReviewListener {
  updated(uri: string): void;
  listChanged(): void;
}

/** The synthetic resource: it changes after each subscription, and is as before once nobody is subscribed. */
export class Review {
  readonly #options: LabOptions;
  readonly #clock: Clock;
  readonly #listener: ReviewListener;
  readonly #subscriptions = new Map<symbol, () => void>();
  #version = 1;
  #status: string;

  constructor(options: LabOptions, clock: Clock, listener: ReviewListener) {
    this.#options = options;
    this.#clock = clock;
    this.#listener = listener;
    this.#status = options.initialStatus;
  }

  get version(): number {
    return this.#version;
  }

  /** What it holds; while it is not what it will be, it says so. */
  read(): object {
    const isDone = this.#status !== this.#options.initialStatus;
    return { status: this.#status, version: this.#version, recommended_next_action: isDone ? 'READ_REVIEW' : 'POLL_AFTER' };
  }

  /** @returns what ends the subscription */
  subscribe(): () => void {
    const key = Symbol('subscription');
    let left = this.#options.steps;
    let cancel = () => {};
    const step = () => {
      left -= 1;
      this.#change(left === 0 ? this.#options.updatedStatus : this.#status);
      if (left > 0) cancel = this.#clock.after(this.#options.delayMs, step);
    };
    cancel = this.#clock.after(this.#options.delayMs, step);
    this.#subscriptions.set(key, () => cancel());
    return () => {
      this.#subscriptions.get(key)?.();
      if (this.#subscriptions.delete(key) && this.#subscriptions.size === 0) this.#reset();
    };
  }

  #change(status: string): void {
    this.#status = status;
    this.#version += 1;
    this.#listener.updated(REVIEW_URI);
    if (this.#options.listChanged && status === this.#options.updatedStatus) this.#listener.listChanged();
  }

  /** The next subscriber sees its own update. */
  #reset(): void {
    if (this.#status === this.#options.initialStatus) return;
    this.#status = this.#options.initialStatus;
    this.#version += 1;
  }
}
