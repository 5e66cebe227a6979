import { expect, test } from 'vitest';
import type { NotArrival } from '../../app/apple/occurrence.ts';
import type { NotSent } from '../../app/events/verdict.ts';
import { liveStatus, type LiveStatus } from '../../app/contract/values.ts';
import { liveRow } from './testing.ts';
import { aboutWords, nobodyWords, reasonTables, reasonWords, statusWords, verdictSentences, whoWords, whyWords } from './words.ts';

// Every code of the engine has words: a code without them does not pass the type check.
reasonTables.notSent satisfies Readonly<Record<NotSent | 'no-listener', string>>;
reasonTables.notArrival satisfies Readonly<Record<NotArrival, string>>;

test('no reason is a code, and a code that is not known is shown as it is', () => {
  for (const [code, words] of [...Object.entries(reasonTables.notSent), ...Object.entries(reasonTables.notArrival)]) {
    expect(reasonWords(code)).toBe(words);
    expect(words).toMatch(/^[A-Z][^!]*[^.!]$/);
  }
  expect(reasonWords('meteor')).toBe('meteor');
  expect(reasonWords('constructor')).toBe('constructor');
});

test('the labels of the five states', () => {
  expect(liveStatus.options.map((status: LiveStatus) => statusWords(status).text)).toEqual(['Delivered', 'Sent, not confirmed', 'Waiting', 'Not sent', 'Missed']);
});

const verdict = (client: string, sent = true) => ({ client, sent, confirmed: false, reason: null });

test.each([
  [{ status: 'missed', number: 4 }, '4 events'],
  [{ status: 'missed', number: null }, "Can't tell how many"],
  [{ status: 'not-sent', reason: 'no-allowed-sender' }, 'No allowed sender matches'],
  [{ status: 'not-sent', notArrival: 'backfill' }, 'Old message synced late'],
  [{ status: 'not-sent', reason: 'rate' }, 'The ceiling of events per hour is reached'],
  [{ status: 'waiting', reason: 'no-listener' }, null],
  [{ status: 'delivered' }, null],
] as const)('why %j was not sent', (fields, words) => {
  expect(whyWords(liveRow(fields))).toBe(words);
});

test.each([
  [{ status: 'waiting', number: 1 }, '1 unread'],
  [{ status: 'waiting', number: null }, null],
  [{ status: 'delivered', verdicts: [verdict('Claude Code'), verdict('Cursor', false)] }, 'Claude Code'],
  [{ status: 'sent', verdicts: [verdict('Claude Code'), verdict('Cursor')] }, '2 clients'],
  [{ status: 'not-sent', verdicts: [verdict('Cursor', false)] }, null],
] as const)('who got %j', (fields, words) => {
  expect(whoWords(liveRow(fields as Parameters<typeof liveRow>[0]))).toBe(words);
});

test('what a row is about', () => {
  expect(aboutWords(liveRow())).toBe('Quarterly plan');
  expect(aboutWords(liveRow({ type: 'messages.received', service: 'iMessage', place: null, attachments: 1 }))).toBe('iMessage, 1 attachment');
  expect(aboutWords(liveRow({ subject: null, attachments: 2 }))).toBe('2 attachments');
});

test('one sentence for each client', () => {
  const row = liveRow({ verdicts: [
    { client: 'Claude Code', sent: true, confirmed: false, reason: null },
    { client: 'Cursor', sent: true, confirmed: true, reason: null },
    { client: 'agent', sent: false, confirmed: false, reason: 'client-not-allowed' },
    { client: 'Codex', sent: false, confirmed: false, reason: 'waiting' },
  ] });
  expect(verdictSentences(row, '10:42:08')).toEqual([
    'Sent to Claude Code at 10:42:08, not confirmed.',
    'Delivered to Cursor at 10:42:08.',
    "Not sent to agent: the client isn't allowed.",
    'Waits in the inbox of Codex, unread.',
  ]);
});

test.each([
  [{ status: 'missed' }, 'Events were missed'],
  [{ status: 'not-sent', notArrival: 'sent' }, 'You'],
  [{ status: 'not-sent', notArrival: 'system' }, 'No sender'],
] as const)('without a sender: %j', (fields, words) => {
  expect(nobodyWords(liveRow({ sender: '', ...fields }))).toBe(words);
});
