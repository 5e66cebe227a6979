import { expect, test } from 'vitest';
import { Counters } from './counters.ts';

test('methods are counted by connection and licence, and totals outlive connections', () => {
  const counters = new Counters();
  const [a, b] = [{}, {}];
  counters.count(a, 'notifications/events/event', 'events');
  counters.count(a, 'notifications/events/event', 'events');
  counters.count(b, 'notifications/events/active', 'events');
  expect(counters.of(a)).toEqual([{ method: 'notifications/events/event', licence: 'events', count: 2 }]);
  counters.closed(a);
  expect(counters.of(a)).toEqual([]);
  expect(counters.totals()).toEqual({ 'notifications/events/event': 2, 'notifications/events/active': 1 });
});
