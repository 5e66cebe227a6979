import { expect, test } from 'vitest';
import { Throttle, type Clock } from './throttle.ts';

class HandClock implements Clock {
  time = 0;
  #timers: { at: number; work: () => void }[] = [];
  now(): number {
    return this.time;
  }
  setTimer(ms: number, work: () => void): () => void {
    const timer = { at: this.time + ms, work };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }
  advance(ms: number): void {
    this.time += ms;
    const due = this.#timers.filter(({ at }) => at <= this.time);
    this.#timers = this.#timers.filter(({ at }) => at > this.time);
    for (const { work } of due) work();
  }
}

function repaints() {
  const clock = new HandClock();
  const at: number[] = [];
  return { clock, at, throttle: new Throttle(250, () => at.push(clock.now()), clock) };
}

test('the first is painted at once, the rest at most four times a second', () => {
  const { clock, at, throttle } = repaints();
  for (let ms = 0; ms < 1000; ms += 20) {
    throttle.ask();
    clock.advance(20);
  }
  expect(at).toEqual([0, 260, 520, 780]);
});

test('the last one is never lost', () => {
  const { clock, at, throttle } = repaints();
  throttle.ask();
  clock.advance(10);
  throttle.ask();
  throttle.ask();
  clock.advance(1000);
  expect(at).toHaveLength(2);
});

test('after a quiet time the next is painted at once again', () => {
  const { clock, at, throttle } = repaints();
  throttle.ask();
  clock.advance(250);
  throttle.ask();
  expect(at).toEqual([0, 250]);
});

test('stopping drops what was to come', () => {
  const { clock, at, throttle } = repaints();
  throttle.ask();
  throttle.ask();
  throttle.stop();
  clock.advance(1000);
  expect(at).toEqual([0]);
});
