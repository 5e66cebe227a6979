import { expect, test } from 'vitest';
import { Pause } from './pause.ts';
import { HandClock } from './testing.ts';

function setUp() {
  const clock = new HandClock();
  const seen = { ended: 0 };
  const pause = new Pause(clock, () => { seen.ended += 1; });
  return { clock, pause, seen };
}

test('a pause with an end ends by time and says so once', () => {
  const { clock, pause, seen } = setUp();
  pause.set(clock.wall + 90_000);
  clock.pass(89_999);
  expect(pause.active).toBe(true);
  clock.pass(1);
  expect([pause.active, seen.ended]).toEqual([false, 1]);
  clock.pass(1_000_000);
  expect(seen.ended).toBe(1);
});

test.each([
  ['forwards past the end', 3_600_000, 5000, false],
  ['forwards, not past it', 30_000, 5000, true],
  ['backwards', -3_600_000, 89_000, true],
  ['backwards: not longer than chosen', -3_600_000, 90_000, false],
])('the wall clock jumps %s', (_what, jump, passes, active) => {
  const { clock, pause, seen } = setUp();
  pause.set(clock.wall + 90_000);
  clock.wall += jump;
  clock.pass(passes);
  expect([pause.active, seen.ended]).toEqual([active, active ? 0 : 1]);
});

test('until resumed has no end', () => {
  const { clock, pause, seen } = setUp();
  pause.set('resumed');
  clock.pass(1e10);
  expect(pause.until).toBe('resumed');
  pause.set(null);
  expect([pause.until, seen.ended]).toEqual([null, 0]);
});

test('a pause that is over when it is read again does not start', () => {
  const { clock, pause } = setUp();
  pause.set(clock.wall - 1);
  expect(pause.until).toBeNull();
});
