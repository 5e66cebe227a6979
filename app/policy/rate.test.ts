import { expect, test } from 'vitest';
import { RateLimit } from './rate.ts';

const HOUR = 3_600_000;

test('the ceiling holds for a rolling hour, for each client by itself, and the same event is free', () => {
  let now = 0;
  const rate = new RateLimit(() => now);
  expect(rate.takeRing('a', 'e1', 2)).toBe(true);
  now = 1000;
  expect(rate.takeRing('a', 'e2', 2)).toBe(true);
  expect(rate.takeRing('a', 'e3', 2)).toBe(false);
  expect(rate.takeRing('a', 'e1', 2)).toBe(true);
  expect(rate.takeRing('b', 'e3', 2)).toBe(true);
  expect(rate.nextFreeAt('a', 2)).toBe(HOUR);
  expect(rate.nextFreeAt('a', 1)).toBe(1000 + HOUR);
  expect(rate.nextFreeAt('b', 2)).toBe(now);
  now = HOUR - 1;
  expect(rate.takeRing('a', 'e3', 2)).toBe(false);
  now = HOUR;
  expect(rate.takeRing('a', 'e3', 2)).toBe(true);
  expect(rate.takeRing('a', 'e4', 2)).toBe(false);
  now = 3 * HOUR;
  expect(rate.nextFreeAt('a', 2)).toBe(now);
  expect(rate.takeRing('a', 'e1', 2)).toBe(true);
});
