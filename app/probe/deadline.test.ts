import { expect, test } from 'vitest';
import { VirtualClock } from '../testing/virtual-clock.ts';
import { Deadline } from './deadline.ts';
import { ProbeFailure } from './failure.ts';

const late = () => new ProbeFailure('EVENT_TIMEOUT', 'late');
const never = new Promise<never>(() => undefined);

test('work that is done in time gives its value, other work the failure, and both only once', async () => {
  const clock = new VirtualClock();
  const deadline = new Deadline(1000, clock);
  expect(await deadline.within(Promise.resolve(7), late)).toBe(7);
  const waiting = deadline.within(never, late);
  clock.advance(1000);
  await expect(waiting).rejects.toMatchObject({ code: 'EVENT_TIMEOUT' });
  await expect(deadline.within(never, late)).rejects.toMatchObject({ code: 'EVENT_TIMEOUT' });
  expect([deadline.left, deadline.signal.aborted]).toEqual([0, true]);
});

test('who waits behind other work gets that work\'s failure', async () => {
  const clock = new VirtualClock();
  const deadline = new Deadline(1000, clock);
  const outer = deadline.within(deadline.meanwhile(() => never, () => new ProbeFailure('AUTH_TIMEOUT', 'login')), late);
  clock.advance(1000);
  await expect(outer).rejects.toMatchObject({ code: 'AUTH_TIMEOUT' });
  const again = new Deadline(1000, clock);
  await again.meanwhile(() => Promise.resolve(), late);
  const after = again.within(never, () => new ProbeFailure('SERVER_TIMEOUT', 'x'));
  clock.advance(1000);
  await expect(after).rejects.toMatchObject({ code: 'SERVER_TIMEOUT' });
});

test('a pause that does not fit ends with the deadline and not before', async () => {
  const clock = new VirtualClock();
  const deadline = new Deadline(1000, clock);
  const short = deadline.pause(400);
  clock.advance(400);
  expect(await short).toBe(true);
  const exact = deadline.pause(600);
  clock.advance(600);
  expect(await exact).toBe(false);
  expect(await deadline.pause(1)).toBe(false);
});

test('an interruption is told from time that is up', async () => {
  const stop = new AbortController();
  const deadline = new Deadline(1000, new VirtualClock(), stop.signal);
  const waiting = deadline.within(never, late);
  const pause = deadline.pause(10);
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'INTERRUPTED' });
  expect(await pause).toBe(false);
  const early = new AbortController();
  early.abort();
  await expect(new Deadline(1000, new VirtualClock(), early.signal).within(never, late)).rejects.toMatchObject({ code: 'INTERRUPTED' });
});

test('what is to come soon is not waited for past the end of the time, nor past an interruption', async () => {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const deadline = new Deadline(1000, clock, stop.signal);
  expect(await deadline.soon(Promise.resolve('come'), 2000)).toBe('come');
  const late = deadline.soon(never, 2000);
  stop.abort();
  expect(await late).toBeNull();
  const timed = new Deadline(1000, clock).soon(never, 2000);
  clock.advance(1000);
  expect(await timed).toBeNull();
});
