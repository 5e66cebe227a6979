import { expect, test } from 'vitest';
import { HandClock } from '../../policy/testing.ts';
import { MAX_PENDING, PENDING_MS, Registrations } from './registrations.ts';

const program = (clientId: string) => ({ clientId, name: clientId, redirects: ['https://agent.example/'] });

test('however many come, a hundred are kept, and the one used longest ago goes', () => {
  const clock = new HandClock();
  const registrations = new Registrations(clock);
  registrations.add(program('first'));
  registrations.add(program('second'));
  registrations.find('first');
  for (let at = 2; at <= MAX_PENDING; at++) registrations.add(program(`p${at}`));
  expect(registrations.size).toBe(100);
  expect([registrations.find('first')?.clientId, registrations.find('second')]).toEqual(['first', null]);
  for (let at = 0; at < 10_000; at++) registrations.add(program(`flood-${at}`));
  expect(registrations.size).toBe(100);
});

test('ten minutes, then it has to register again', () => {
  const clock = new HandClock();
  const registrations = new Registrations(clock);
  registrations.add(program('a'));
  clock.pass(PENDING_MS - 1);
  expect(registrations.find('a')).not.toBeNull();
  clock.pass(1);
  expect(registrations.find('a')).toBeNull();
  expect(registrations.size).toBe(0);
});

test('twenty in an hour; then the seconds until the next', () => {
  const clock = new HandClock();
  const registrations = new Registrations(clock);
  for (let at = 0; at < 20; at++) expect(registrations.take()).toBe(0);
  expect(registrations.take()).toBe(180);
  clock.pass(180_000);
  expect(registrations.take()).toBe(0);
  expect(registrations.take()).toBeGreaterThan(0);
});
