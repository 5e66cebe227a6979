import { describe, expect, test } from 'vitest';
import { belongsTo, formatCursor, NO_CHECK, parseCursor } from './cursor.ts';

const file = { dev: '16777234', ino: '4711' };
const store = { file, head: 100, check: 'aaaaaaaa' };

describe('the form of a cursor (architecture 5)', () => {
  test('is v1.<dev>-<ino>.<rowid>.<check> and reads back', () => {
    expect(formatCursor(file, 42, 'deadbeef')).toBe('v1.16777234-4711.42.deadbeef');
    expect(parseCursor('v1.16777234-4711.42.deadbeef')).toEqual({ ...file, rowid: 42, check: 'deadbeef' });
  });
  test('three parts are read too', () => expect(parseCursor('v1.1-2.3')).toEqual({ dev: '1', ino: '2', rowid: 3, check: null }));
  test.each(['', 'v1', 'v2.1-2.3', 'v1.1-2', 'v1.1-2.-3', 'v1.1-2.3.DEADBEEF', 'v1.1-2.3.abc', 'v1.1-2.3.aaaaaaaa.1', ' v1.1-2.3', 'v1.1-2.3\n', 'v1.a-2.3', 'v1.1-2.1234567890123456'])(
    '%j is none', (text) => expect(parseCursor(text)).toBeNull());
});

describe('whether a cursor is of this store (architecture 4)', () => {
  const cursor = (over: object = {}) => ({ ...file, rowid: 42, check: 'aaaaaaaa', ...over });
  test.each([
    ['the same', cursor(), store, true],
    ['another device number after a boot', cursor({ dev: '1' }), store, true],
    ['another inode, the same check: restored from a copy', cursor({ ino: '9' }), store, true],
    ['a reused inode, another check', cursor({ check: 'bbbbbbbb' }), store, false],
    ['above the head', cursor({ rowid: 101 }), store, false],
    ['at the head', cursor({ rowid: 100 }), store, true],
    ['the row is gone now, the inode is the same', cursor(), { ...store, check: NO_CHECK }, true],
    ['the row is gone now, another inode', cursor({ ino: '9' }), { ...store, check: NO_CHECK }, false],
    ['the row was gone then, the inode is the same', cursor({ check: NO_CHECK }), store, true],
    ['the row was gone then, another inode', cursor({ check: NO_CHECK, ino: '9' }), store, false],
    ['three parts, the same file', cursor({ check: null }), store, true],
    ['three parts, another inode', cursor({ check: null, ino: '9' }), store, false],
    ['three parts, another device', cursor({ check: null, dev: '1' }), store, false],
  ])('%s', (_name, one, at, expected) => expect(belongsTo(one, at)).toBe(expected));
});
