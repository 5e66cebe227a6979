import { expect, test } from 'vitest';
import { searchOff, type SearchState } from '../contract/search.ts';
import { searchLines, searchSummary } from './search-lines.ts';

test('of mails that are not whole as many as are named are shown, and how many more there are', () => {
  const deadLetters = [
    { reason: 'the file is cut', count: 22, mails: [{ row: 40, mailbox: 'iCloud/INBOX', date: 0 }, { row: 39, mailbox: 'iCloud/Work/Plans', date: null }] },
    { reason: 'a part is larger than is read', count: 1, mails: [{ row: 7, mailbox: null, date: 1_769_904_000_000 }] },
  ];
  const lines = searchLines({ ...searchOff, phase: 'ready', deadLetters: deadLetters.map(({ reason, count }) => ({ reason, count })) }, deadLetters, true).split('\n');
  expect(lines.slice(lines.findIndex((line) => line.startsWith('Not whole'))).map((line) => line.replace(/^ {11}/, ''))).toEqual([
    'Not whole  23: 22 the file is cut; 1 a part is larger than is read',
    'the file is cut:', '  row 40, iCloud/INBOX, 1970-01-01', '  row 39, iCloud/Work/Plans, no date', '  and 20 more',
    'a part is larger than is read:', '  row 7, mailbox not known, 2026-02-01',
  ]);
});

test.each<[Partial<SearchState>, boolean, string]>([
  [{ phase: 'ready', indexed: 27, total: 27, bytes: 260_000 }, true, 'ready, 27 of 27 mails, 0.3 MB'],
  [{ phase: 'building', indexed: 20, total: 27, pending: 7, bytes: 2_500_000, deadLetters: [{ reason: 'x', count: 2 }, { reason: 'y', count: 1 }] }, true, 'building, 20 of 27 mails, 7 pending, 3 not read whole, 2.5 MB'],
  [{ phase: 'waiting' }, true, 'waiting for Mail to be readable'],
  // Nobody reads Mail then, however readable it is.
  [{ phase: 'waiting' }, false, 'waiting: New mail is off'],
  [{ phase: 'waiting', indexed: 27, total: 27, bytes: 1_000_000 }, false, 'waiting: New mail is off, 27 of 27 mails, 1.0 MB'],
  [{ phase: 'off' }, false, 'off: no client may search mail'],
  [{ phase: 'paused', pausedBy: 'owner', indexed: 1, total: 2, pending: 1 }, true, 'paused with Belfry, 1 of 2 mails, 1 pending'],
])('in one line: %j, New mail on: %s', (search, mailOn, line) => {
  expect(searchSummary({ ...searchOff, ...search }, mailOn)).toBe(line);
  expect(searchLines({ ...searchOff, ...search }, [], mailOn)).toMatch(line.startsWith('waiting: ') ? /^Index( +)waiting: New mail is off/ : /^Index/);
});
