import { beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../app/testing/virtual-clock.ts';
import { NotificationDesk } from './notification-desk.ts';
import type { AlertFacts, AlertId } from './notifications.ts';
import { DEFAULT_PREFERENCES } from '../app/contract/shell.ts';
import { Notification, reset } from './testing/electron-double.ts';

let clock: VirtualClock;
let facts: { -readonly [K in keyof AlertFacts]: AlertFacts[K] };
let chosen: AlertId[];
let desk: NotificationDesk;
beforeEach(() => {
  reset();
  clock = new VirtualClock();
  facts = { holding: new Set<AlertId>(), preferences: DEFAULT_PREFERENCES, inFront: false };
  chosen = [];
  desk = new NotificationDesk(clock, () => facts, ({ id }) => chosen.push(id));
});

test('a condition that has to be steady is told when it has been, without another look from outside', () => {
  facts.holding = new Set(['access-lost']);
  desk.look();
  clock.advance(59_999);
  expect(Notification.made).toEqual([]);
  clock.advance(1);
  expect(Notification.made.map(({ options }) => options)).toEqual([{ title: 'Belfry', body: "Mail and message events have stopped. Belfry can't read them.", silent: true }]);
});

test('looked at ever so often it is shown once, is taken back when it clears, and a click opens its place', () => {
  facts.holding = new Set(['client-asks']);
  for (let i = 0; i < 5; i += 1) desk.look();
  expect(Notification.made.length).toBe(1);
  Notification.made[0]!.emit('click');
  expect(chosen).toEqual(['client-asks']);
  facts.holding = new Set();
  desk.look();
  expect(Notification.made[0]!.closed).toBe(true);
  facts.holding = new Set(['client-asks']);
  desk.look();
  expect(Notification.made.length).toBe(2);
});
