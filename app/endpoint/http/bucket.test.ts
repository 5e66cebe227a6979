import { expect, test } from 'vitest';
import { Bucket } from './bucket.ts';

test('the burst is there at once, then as much as time brings, never more than the burst', () => {
  let now = 0;
  const bucket = new Bucket({ monotonic: () => now }, { perSecond: 2, burst: 3 });
  const taken = () => Array.from({ length: 5 }, () => bucket.take());
  // Half a second brings one: the answer is in whole seconds.
  expect(taken()).toEqual([0, 0, 0, 1, 1]);
  now += 500;
  expect(taken()).toEqual([0, 1, 1, 1, 1]);
  now += 1_000_000;
  expect(taken()).toEqual([0, 0, 0, 1, 1]);
});

test('how long to wait is rounded up', () => {
  const bucket = new Bucket({ monotonic: () => 0 }, { perSecond: 0.1, burst: 1 });
  expect([bucket.take(), bucket.take()]).toEqual([0, 10]);
});
