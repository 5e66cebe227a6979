import { describe, expect, test } from 'vitest';
import { activityKind, type ActivityRow } from '../../app/contract/values.ts';
import { dayGroups, joinRows } from './day-groups.ts';
import { activityWords, KINDS, searchActivity } from './words.ts';

const row = (id: number, fields: Partial<ActivityRow> = {}): ActivityRow =>
  ({ id, at: id, kind: 'delivered', type: 'mail.received', client: null, eventId: null, rowid: null, reason: null, sender: null, count: null, ...fields });
const name = (id: string) => (id === '0123abcd' ? '"Claude Code"' : `Client ${id}`);
/** Local time: days are those of the reader. */
const local = (month: number, day: number, hour: number, year = 2026) => new Date(year, month - 1, day, hour).getTime();

describe('day groups', () => {
  const now = local(11, 30, 15);
  test('local days, newest first', () => {
    const rows = [row(5, { at: local(11, 30, 14) }), row(4, { at: local(11, 30, 0) }), row(3, { at: local(11, 29, 23) }), row(2, { at: local(11, 24, 9) }), row(1, { at: local(12, 31, 9, 2025) })];
    expect(dayGroups(rows, now).map(({ title, rows: each }) => [title, each.map(({ id }) => id)])).toEqual([
      ['Today', [5, 4]], ['Yesterday', [3]], ['Tue 24 Nov', [2]], ['Wed 31 Dec 2025', [1]],
    ]);
  });
  test('no rows, no days', () => {
    expect(dayGroups([], now)).toEqual([]);
  });
});

test('pages and told rows join, each once and newest first', () => {
  const joined = joinRows([row(9), row(8)], [row(7), row(8), row(10)]);
  expect(joined.map(({ id }) => id)).toEqual([10, 9, 8, 7]);
});

describe('words', () => {
  test('every kind has a label', () => {
    expect(Object.keys(KINDS).sort()).toEqual([...activityKind.options].sort());
  });
  test.each<[Partial<ActivityRow>, string]>([
    [{ client: '0123abcd' }, '"Claude Code"'],
    [{ kind: 'not_sent', reason: 'no-allowed-sender' }, 'No allowed sender matches'],
    [{ kind: 'not_sent', client: 'ffffffff', reason: 'paused' }, 'Client ffffffff, Paused'],
    [{ kind: 'changed', type: null, reason: 'New mail turned on' }, 'New mail turned on'],
    [{ client: '0123abcd', sender: 'ada@example.com' }, '"Claude Code", ada@example.com'],
    [{ kind: 'gap' }, 'Events were missed'],
    [{ kind: 'delivered' }, ''],
    [{ kind: 'read', client: '0123abcd', reason: 'mail_list', count: 50 }, '"Claude Code", 50 mails, mail_list'],
    [{ kind: 'read', client: '0123abcd', reason: 'mail_mailboxes', count: 12 }, '"Claude Code", 12 mailboxes, mail_mailboxes'],
    [{ kind: 'read', type: 'messages.received', client: '0123abcd', reason: 'messages_get', count: 1 }, '"Claude Code", 1 message, messages_get'],
    [{ kind: 'reply', type: 'messages.received', client: '0123abcd', reason: 'Sent' }, '"Claude Code", Sent'],
  ])('%j', (fields, words) => {
    expect(activityWords(row(1, fields), name)).toBe(words);
  });
  test('search looks at what is on screen', () => {
    const rows = [row(3, { client: '0123abcd' }), row(2, { kind: 'not_sent', reason: 'rate' }), row(1, { kind: 'changed', type: null, reason: 'New mail turned on' })];
    expect(searchActivity(rows, 'claude', name).map(({ id }) => id)).toEqual([3]);
    expect(searchActivity(rows, 'CEILING', name).map(({ id }) => id)).toEqual([2]);
    expect(searchActivity(rows, 'turned on', name).map(({ id }) => id)).toEqual([1]);
    expect(searchActivity(rows, ' ', name)).toBe(rows);
  });
});
