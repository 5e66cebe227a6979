import { expect, test } from 'vitest';
import type { Backtest } from '../../app/contract/values.ts';
import { backtestSentence, backtestTargets, joinBacktests } from './backtests.ts';

const address = (value: string) => ({ kind: 'address', value }) as const;
const domain = (value: string) => ({ kind: 'domain', value }) as const;
const values = (entries: readonly { value: string }[]) => entries.map(({ value }) => value);

test('nothing is counted twice: an address within a domain that is tested is left out', () => {
  const senders = [address('ada@example.org'), address('bob@lists.example.org'), address('eve@example.com'), domain('example.org'), domain('lists.example.org')];
  expect(values(backtestTargets(senders, false))).toEqual(['eve@example.com', 'example.org', 'lists.example.org']);
  expect(values(backtestTargets(senders, true))).toEqual(['eve@example.com', 'example.org']);
  expect(values(backtestTargets([domain('example.org'), domain('badexample.org')], true))).toEqual(['example.org', 'badexample.org']);
});

const events = [{ type: 'mail.received' }, { type: 'messages.received' }] as const;
const answer = (type: Backtest['type'], count: number, ...times: (number | null)[]): Backtest =>
  ({ type, count, examples: times.map((at) => ({ at, sender: 'ada@example.com', name: null, subject: null })) });

test('answers add up, newest examples first', () => {
  const joined = joinBacktests([[answer('mail.received', 3, 10, 30), answer('messages.received', 1, 20)], [answer('mail.received', 2, 40, null)]], 'both', events);
  expect(joined.count).toBe(6);
  expect(joined.examples.map(({ at }) => at)).toEqual([40, 30, 20, 10, null]);
  expect(joined.unread).toEqual([]);
});

test('a type that is off is named, if it was asked for', () => {
  expect(joinBacktests([[answer('mail.received', 0)]], 'both', events).unread).toEqual(['messages.received']);
  expect(joinBacktests([[answer('mail.received', 0)]], 'mail', events).unread).toEqual([]);
  expect(joinBacktests([], 'messages', events).unread).toEqual(['messages.received']);
});

test.each([[0, 'Would not have rung in the last 30 days.'], [1, 'Would have rung once in the last 30 days.'], [14, 'Would have rung 14 times in the last 30 days.']])(
  '%i', (count, sentence) => expect(backtestSentence({ count })).toBe(sentence));
