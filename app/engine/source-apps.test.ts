import { expect, test } from 'vitest';
import { VirtualClock } from '../testing/virtual-clock.ts';
import { SourceApps } from './source-apps.ts';

test('the system is asked at most every ten seconds for each app, and not where it cannot tell', () => {
  const clock = new VirtualClock();
  const asked: string[] = [];
  const apps = new SourceApps((kind) => asked.push(kind) % 2 === 1, clock);
  expect([apps.runs('mail'), apps.runs('mail'), apps.runs('messages')]).toEqual([true, true, false]);
  clock.advance(10_000);
  expect(apps.runs('mail')).toBe(true);
  expect(asked).toEqual(['mail', 'messages', 'mail']);
  expect(new SourceApps(undefined, clock).runs('mail')).toBeNull();
});
