import { expect, test } from 'vitest';
import { searchOff } from '../contract/search.ts';
import { searchLines } from './search-lines.ts';

test('of mails that are not whole as many as are named are shown, and how many more there are', () => {
  const deadLetters = [
    { reason: 'the file is cut', count: 22, mails: [{ row: 40, mailbox: 'iCloud/INBOX', date: 0 }, { row: 39, mailbox: 'iCloud/Work/Plans', date: null }] },
    { reason: 'a part is larger than is read', count: 1, mails: [{ row: 7, mailbox: null, date: 1_769_904_000_000 }] },
  ];
  const lines = searchLines({ ...searchOff, phase: 'ready', deadLetters: deadLetters.map(({ reason, count }) => ({ reason, count })) }, deadLetters).split('\n');
  expect(lines.slice(lines.findIndex((line) => line.startsWith('Not whole'))).map((line) => line.replace(/^ {11}/, ''))).toEqual([
    'Not whole  23: 22 the file is cut; 1 a part is larger than is read',
    'the file is cut:', '  row 40, iCloud/INBOX, 1970-01-01', '  row 39, iCloud/Work/Plans, no date', '  and 20 more',
    'a part is larger than is read:', '  row 7, mailbox not known, 2026-02-01',
  ]);
});
