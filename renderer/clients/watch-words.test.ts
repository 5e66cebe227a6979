import { expect, test } from 'vitest';
import { contract } from '../../app/contract/contract.ts';
import type { WatchRow } from '../../app/contract/values.ts';
import { unreadOf, watchArguments, watchCounts, watchLosses, watchState, watchTitle } from './watch-words.ts';

const watch = (fields: Partial<WatchRow> = {}): WatchRow => ({
  id: '0123abcd', client: '3f2a9c01', type: 'mail.received', senders: 2, source: 'tool', state: 'watching', waiting: 0, sent: 0, confirmed: 0, dropped: 0, gap: false, inbox: null,
  problem: null, createdAt: 1, ...fields,
});

test.each<[WatchRow['state'], string, string | null]>([
  ['watching', 'Watching', null],
  ['waiting-for-owner', 'Waiting for you', "The client or some of its senders aren't allowed yet. For those nothing is kept."],
  ['paused', 'Paused', null],
  ['ceiling', 'Ceiling reached', 'The events of this hour are used up. It goes on by itself.'],
  ['off', 'Off', 'New mail is off.'],
  ['unreadable', "Can't read", "Belfry can't read Mail now. The watch goes on once it can."],
  ['problem', 'Problem', null],
])('a watch that is %s says %s', (state, text, sentence) => {
  expect(watchState(watch({ state }))).toMatchObject({ text, sentence });
});

test('what it watches, and how much of it was read', () => {
  expect(watchTitle(watch())).toBe('New mail from 2 senders');
  expect(watchTitle(watch({ type: 'messages.received', senders: 1 }))).toBe('New message from 1 sender');
  expect(watchCounts(watch())).toBe('0 unread');
  expect(watchCounts(watch({ waiting: 2, sent: 1, confirmed: 5 }))).toBe('2 unread - 1 sent, not confirmed - 5 confirmed');
});

test('what was lost is told', () => {
  expect(watchLosses(watch())).toEqual([]);
  expect(watchLosses(watch({ type: 'messages.received', dropped: 1, gap: true }))).toEqual([
    '1 unread item had to go because the watch was full.', 'The database of Messages was replaced, so events may be missing.',
  ]);
});

test('unread items are counted over the watches of one client', () => {
  expect(unreadOf('3f2a9c01', [watch({ waiting: 2 }), watch({ waiting: 3 }), watch({ client: '77b01d4e', waiting: 9 })])).toBe(5);
  expect(unreadOf('00000000', [])).toBe(0);
});

test('arguments name domains by themselves, and subdomains only with a domain', () => {
  const address = { kind: 'address', value: 'ada@example.com' } as const;
  const phone = { kind: 'phone', value: '+15550101234' } as const;
  const domain = { kind: 'domain', value: 'example.org' } as const;
  expect(watchArguments([address, phone], true)).toEqual({ from: ['ada@example.com', '+15550101234'] });
  expect(watchArguments([domain], false)).toEqual({ domains: ['example.org'] });
  const both = watchArguments([address, domain], true);
  expect(both).toEqual({ from: ['ada@example.com'], domains: ['example.org'], subdomains: true });
  expect(contract.calls.watches.add.params.safeParse({ client: '3f2a9c01', type: 'mail.received', arguments: both }).success).toBe(true);
});
