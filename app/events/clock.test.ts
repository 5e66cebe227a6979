import { expect, test } from 'vitest';
import { systemClock } from './clock.ts';

test('what repeats with one period falls on one moment, once each period, until it is cancelled', async () => {
  const times: number[][] = [[], []];
  const cancels: (() => void)[] = [];
  await new Promise<void>((done) => {
    cancels.push(systemClock.every(20, () => times[0]!.push(performance.now())));
    setTimeout(() => cancels.push(systemClock.every(20, () => {
      times[1]!.push(performance.now());
      if (times[1]!.length === 20) done();
    })), 7);
    // The timers of the clock hold no process open.
    setTimeout(() => undefined, 20_000);
  });
  for (const cancel of cancels) cancel();
  const [first, second] = times as [number[], number[]];
  // The one that began later found its place in the other's step: both in the same turn, and a whole period between turns.
  const shared = first.slice(-20);
  shared.forEach((at, index) => expect(second[index]! - at).toBeLessThan(10));
  for (let index = 1; index < shared.length; index += 1) expect(shared[index]! - second[index - 1]!).toBeGreaterThan(5);
  const count = second.length;
  await new Promise((done) => setTimeout(done, 60));
  expect(second).toHaveLength(count);
});

test('a nap below a millisecond lasts at least its time, and is cancelled like a timer', async () => {
  const from = performance.now();
  await new Promise<void>((done) => void systemClock.after(0.5, done));
  expect(performance.now() - from).toBeGreaterThanOrEqual(0.5);
  let ran = false;
  systemClock.after(0.5, () => { ran = true; })();
  await new Promise((done) => setTimeout(done, 20));
  expect(ran).toBe(false);
});
