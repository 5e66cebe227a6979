import { expect, test } from 'vitest';
import { systemClock } from './clock.ts';

test('what repeats with one period falls on one moment, once each period, until it is cancelled', async () => {
  const calls: { who: string; turn: number }[] = [];
  let turn = 0;
  const note = (who: string) => () => {
    calls.push({ who, turn });
    // Whatever is called in the same turn of the event loop sees the same number.
    setImmediate(() => { turn += 1; });
  };
  const cancels: (() => void)[] = [];
  const from = performance.now();
  await new Promise<void>((done) => {
    cancels.push(systemClock.every(20, note('first')));
    setTimeout(() => cancels.push(systemClock.every(20, note('second'))), 7);
    // The timers of the clock hold no process open.
    const look = setInterval(() => {
      if (calls.length < 60) return;
      clearInterval(look);
      done();
    }, 5);
  });
  for (const cancel of cancels) cancel();
  const took = performance.now() - from;
  // The one that began later found its place in the other's step.
  const pairs = calls.slice(calls.findIndex(({ who }) => who === 'second') - 1);
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    expect(pairs.slice(index, index + 2).map(({ who }) => who)).toEqual(['first', 'second']);
    expect(pairs[index + 1]!.turn).toBe(pairs[index]!.turn);
  }
  // Late it may be, but never twice in a period: a timer that fires a little early does not count again.
  expect(calls.filter(({ who }) => who === 'first').length).toBeLessThanOrEqual(Math.ceil(took / 20) + 1);
  const count = calls.length;
  await new Promise((done) => setTimeout(done, 60));
  expect(calls).toHaveLength(count);
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
