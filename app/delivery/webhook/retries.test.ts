import { expect, test } from 'vitest';
import { MAX_TRIES, waitAfter } from './retries.ts';

test('five tries, ever further apart, within 10 to 15 minutes (events-extension 9.3)', () => {
  expect(MAX_TRIES).toBe(5);
  const waits = [1, 2, 3, 4].map((failed) => waitAfter(failed, 0.5)!);
  expect(waits).toEqual([2000, 8000, 60_000, 600_000]);
  expect(waitAfter(5, 0.5)).toBeNull();
  const total = (random: number) => [1, 2, 3, 4].reduce((sum, failed) => sum + waitAfter(failed, random)!, 0);
  expect(total(0)).toBe(536_000);
  expect(total(0.999_999)).toBeLessThan(15 * 60_000);
});

test('jitter: a fifth less to a fifth more', () => {
  expect([0, 0.25, 0.75, 0.999_999].map((random) => waitAfter(1, random))).toEqual([1600, 1800, 2200, 2400]);
});
