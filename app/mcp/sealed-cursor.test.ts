import { expect, test } from 'vitest';
import { SealedCursors } from './sealed-cursor.ts';

const ONE = { id: '0a0b0c0d' };
const OVER = /^cursor: must be nextCursor of the last answer to the same question\. One from before Belfry was started anew is over/;

test('what was sealed comes back for the same tool, client and arguments, and for no others', () => {
  const all = new SealedCursors();
  const cursors = all.of('mail_list', ONE, ['INBOX', undefined]);
  const cursor = cursors.seal('1700000105_106');
  expect([cursors.open(cursor), all.of('mail_list', ONE, ['INBOX', null]).open(cursor), cursors.open(undefined)]).toEqual(['1700000105_106', '1700000105_106', null]);
  for (const other of [
    all.of('messages_list', ONE, ['INBOX', null]), all.of('mail_list', { id: '0a0b0c0e' }, ['INBOX', null]), all.of('mail_list', ONE, ['Archive', null]), all.of('mail_list', ONE, ['INBOX', 'unread']),
    // Of the engine that ran before.
    new SealedCursors().of('mail_list', ONE, ['INBOX', null]),
  ]) expect(() => other.open(cursor)).toThrow(OVER);
});

test('what is altered anywhere, cut, longer or made up is none', () => {
  const cursors = new SealedCursors().of('mail_list', ONE, []);
  const cursor = cursors.seal('n_1');
  for (let at = 0; at < cursor.length; at += 1) {
    expect(() => cursors.open(`${cursor.slice(0, at)}${cursor[at] === 'A' ? 'B' : 'A'}${cursor.slice(at + 1)}`), String(at)).toThrow(OVER);
    expect(() => cursors.open(cursor.slice(0, at)), String(at)).toThrow(OVER);
  }
  for (const made of ['', '106', '1700000105_106', `${cursor}A`, `${cursor}=`, ` ${cursor}`, 'A'.repeat(200)]) expect(() => cursors.open(made), made).toThrow(OVER);
});

test('neither its text nor its length tells the place, and the same place looks another way each time', () => {
  const cursors = new SealedCursors().of('messages_list', ONE, []);
  const [short, long, again] = [cursors.seal('n_1'), cursors.seal('-789012345678901234_123456789012345'), cursors.seal('n_1')];
  expect(long.length).toBe(short.length);
  expect(again).not.toBe(short);
  expect([cursors.open(long), cursors.open(again)]).toEqual(['-789012345678901234_123456789012345', 'n_1']);
});
