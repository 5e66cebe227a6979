import { describe, expect, test } from 'vitest';
import type { MailRow } from '../apple/occurrence.ts';
import { isBackfill, judgeArrival, noteFirstSight, Yardsticks, type SeenMemory } from './arrival.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = Date.UTC(2026, 2, 2, 9);

function memory(): SeenMemory {
  const highest = new Map<string, number>();
  const seen = new Map<string, number>();
  return {
    highest: (account) => highest.get(account) ?? 0,
    setHighest: (account, id) => void highest.set(account, id),
    seen: (key, account) => [...seen].find(([entry]) => (account === null ? entry.startsWith(`${key} `) : entry === `${key} ${account}`))?.[1] ?? null,
    recordSeen: (key, account, row) => void seen.set(`${key} ${account}`, row),
  };
}
function mail(rowid: number, globalId: number, over: Partial<MailRow> & { account?: string | null } = {}): MailRow {
  const { account = 'A', ...rest } = over;
  const mailbox = account === null ? null : { id: 1, url: '', accountId: account, account, path: 'INBOX', role: 'inbox' as const, source: null };
  return {
    store: 'mail', rowid, globalId, sender: 'ada@example.org', excluded: null, incomplete: false, date: NOW, box: 1, hasAttachments: false, attachmentCount: 0, messageHash: String(globalId),
    messageIdHeader: null, from: null, to: [], toCount: 0, recipients: [], subject: null, mailbox, mailboxes: [], dateReceived: NOW, dateSent: NOW, conversationId: '', ...rest,
  };
}

describe('arrival or not (architecture 4, ruling 5)', () => {
  test('a global id above the highest is new, another row of it is a move', () => {
    const seen = memory();
    expect(judgeArrival(mail(1, 10), seen, null, NOW)).toBeNull();
    expect(judgeArrival(mail(1, 10), seen, null, NOW)).toBeNull();
    expect(judgeArrival(mail(2, 10), seen, null, NOW)).toBe('moved');
  });
  test('an id below the highest that nobody saw is a move', () => {
    const seen = memory();
    seen.setHighest('A', 100);
    expect(judgeArrival(mail(1, 50), seen, null, NOW)).toBe('moved');
  });
  test('the same mail in another account is an arrival there', () => {
    const seen = memory();
    seen.setHighest('B', 100);
    expect(judgeArrival(mail(1, 10), seen, null, NOW)).toBeNull();
    expect(judgeArrival(mail(2, 10, { account: 'B' }), seen, null, NOW)).toBeNull();
    expect(judgeArrival(mail(3, 10, { account: 'B' }), seen, null, NOW)).toBe('moved');
  });
  test.each(['A', null])('a row that waited while a later one was judged is still new (account %s at first)', (account) => {
    const seen = memory();
    noteFirstSight(mail(1, 10, { account }), seen);
    expect(judgeArrival(mail(2, 11), seen, null, NOW)).toBeNull();
    expect(judgeArrival(mail(1, 10), seen, null, NOW)).toBeNull();
  });
  test('order of the reasons', () => {
    const seen = memory();
    seen.setHighest('A', 100);
    const old = { date: NOW - 2 * HOUR };
    expect(judgeArrival(mail(1, 50, { excluded: 'draft', sender: null, ...old }), seen, null, NOW)).toBe('draft');
    expect(judgeArrival(mail(1, 50, { sender: null, ...old }), seen, null, NOW)).toBe('no-sender');
    expect(judgeArrival(mail(1, 50, old), seen, null, NOW)).toBe('moved');
    expect(judgeArrival(mail(1, 101, old), seen, null, NOW)).toBe('backfill');
  });
});

test.each([
  ['undated', null, null, false], ['an hour old', NOW - HOUR, null, false], ['older', NOW - HOUR - 1, null, true],
  ['an hour behind its mailbox', NOW - 3 * HOUR, NOW - 2 * HOUR, false], ['further behind', NOW - 3 * HOUR - 1, NOW - 2 * HOUR, true],
])('back-fill: %s', (_name, date, yardstick, expected) => expect(isBackfill(date, yardstick, NOW)).toBe(expected));

describe('the newest date of a mailbox', () => {
  test('counts after 15 minutes', () => {
    const dates = new Yardsticks(() => []);
    dates.saw(1, NOW, NOW);
    expect(dates.newest(1, NOW + 15 * MINUTE - 1)).toBeNull();
    expect(dates.newest(1, NOW + 15 * MINUTE)).toBe(NOW);
    expect(dates.newest(2, NOW + 15 * MINUTE)).toBeNull();
    expect(dates.newest(null, NOW)).toBeNull();
  });
  test('the future counts as the time it was seen', () => {
    const dates = new Yardsticks(() => []);
    expect(dates.saw(1, NOW + 100 * HOUR, NOW)).toEqual({ seenAt: NOW, date: NOW });
    expect(dates.newest(1, NOW + HOUR)).toBe(NOW);
  });
  test('an older row changes nothing', () => {
    const dates = new Yardsticks(() => [{ seenAt: NOW - HOUR, date: NOW - HOUR }]);
    expect(dates.saw(1, NOW - 2 * HOUR, NOW)).toBeNull();
    expect(dates.newest(1, NOW)).toBe(NOW - HOUR);
  });
});
