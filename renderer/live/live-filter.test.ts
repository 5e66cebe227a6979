import { describe, expect, test } from 'vitest';
import { filterRows, isNotMatched, openFilter } from './live-filter.ts';
import { liveRow } from './testing.ts';

const verdict = { client: '"Claude Code"', sent: true, confirmed: false, reason: null };
const rows = [
  liveRow({ id: 3, verdicts: [verdict] }),
  liveRow({ id: 2, type: 'messages.received', sender: '+15550101234', name: null, subject: null, place: 'Family' }),
  liveRow({ id: 1, sender: 'bob@example.org', name: 'Bob', subject: 'Lunch' }),
];
const ids = (filter: Partial<typeof openFilter>) => filterRows(rows, { ...openFilter, ...filter }).map(({ id }) => id);

test('an open filter gives the very same rows', () => {
  expect(filterRows(rows, openFilter)).toBe(rows);
  expect(filterRows(rows, { ...openFilter, text: '  ' })).toBe(rows);
});

test('by kind', () => {
  expect(ids({ mail: false })).toEqual([2]);
  expect(ids({ messages: false })).toEqual([3, 1]);
  expect(ids({ mail: false, messages: false })).toEqual([]);
});

test.each([['LUNCH', [1]], ['bob@', [1]], ['lovelace', [3]], ['family', [2]], ['claude', [3]], ['0101', [2]], ['nobody', []]])('by text: %s', (text, found) => {
  expect(ids({ text })).toEqual(found);
});

describe('not matched', () => {
  test('no rule names the sender and no client asked', () => {
    expect(isNotMatched(liveRow({ status: 'not-sent', reason: 'no-allowed-sender' }))).toBe(true);
  });
  test.each([
    ['a client asked for it', { status: 'not-sent', reason: 'no-allowed-sender', verdicts: [{ ...verdict, sent: false, reason: 'no-allowed-sender' }] }],
    ['nobody listens', { status: 'not-sent', reason: 'no-listener' }],
    ['it was delivered', { status: 'delivered', reason: null }],
  ] as const)('is not what %s', (_why, fields) => {
    expect(isNotMatched(liveRow(fields as Parameters<typeof liveRow>[0]))).toBe(false);
  });
});
