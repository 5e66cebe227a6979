import type { Clock } from '../events/clock.ts';

interface Timer {
  due: number;
  readonly period: number | null;
  readonly work: () => void;
}

/** A clock that stands until it is told to go: timers run in their order, in one process, without waiting. */
export class VirtualClock implements Clock {
  #wall: number;
  #monotonic = 0;
  #timers = new Set<Timer>();

  /** @param wall Unix ms; whole seconds, as Mail's dates are. */
  constructor(wall = Math.floor(Date.now() / 1000) * 1000) {
    this.#wall = wall;
  }

  now(): number {
    return this.#wall;
  }
  monotonic(): number {
    return this.#monotonic;
  }
  /** Unix seconds, `ms` from now. */
  seconds(ms = 0): number {
    return Math.floor((this.#wall + ms) / 1000);
  }

  after(ms: number, work: () => void): () => void {
    return this.#add({ due: this.#monotonic + ms, period: null, work });
  }
  every(ms: number, work: () => void): () => void {
    return this.#add({ due: this.#monotonic + ms, period: ms, work });
  }

  /** Time goes on and everything that falls due runs when it is due. */
  advance(ms: number): void {
    const end = this.#monotonic + ms;
    for (let runs = 0; ; runs += 1) {
      if (runs > 100_000) throw new Error('Something is spinning: timers fall due without time going on.');
      let next: Timer | null = null;
      for (const timer of this.#timers) if (timer.due <= end && (next === null || timer.due < next.due)) next = timer;
      if (next === null) break;
      this.#to(Math.max(this.#monotonic, next.due));
      if (next.period === null) this.#timers.delete(next);
      else next.due = this.#monotonic + next.period;
      next.work();
    }
    this.#to(end);
  }

  /** The Mac sleeps: time passes, nothing runs; what fell due runs once after it. */
  sleep(ms: number): void {
    this.#to(this.#monotonic + ms);
    this.advance(0);
  }

  /** The process is gone: whatever it waited for never comes. */
  forgetTimers(): void {
    this.#timers = new Set();
  }

  #to(monotonic: number): void {
    this.#wall += monotonic - this.#monotonic;
    this.#monotonic = monotonic;
  }

  #add(timer: Timer): () => void {
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }
}
