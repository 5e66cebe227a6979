import { expect, test } from 'vitest';
import { liveRow } from './testing.ts';
import { indexOfId, keepRows, mergeRows, noRows, releaseRows } from './live-rows.ts';

const ids = (rows: readonly { id: number }[]) => rows.map(({ id }) => id);
const told = (...list: number[]) => list.map((id) => liveRow({ id }));

test('new rows go on top, newest first, in whatever order they are told', () => {
  const first = mergeRows(noRows, told(1, 2), false);
  expect(ids(first.shown)).toEqual([2, 1]);
  expect(ids(mergeRows(first, told(4, 3), false).shown)).toEqual([4, 3, 2, 1]);
});

test('older rows that are told late find their place', () => {
  const rows = mergeRows(mergeRows(noRows, told(5), false), told(2, 3), false);
  expect(ids(rows.shown)).toEqual([5, 3, 2]);
});

test('a row told again under its id replaces the old one where it stands', () => {
  const rows = mergeRows(noRows, told(1, 2, 3), false);
  const after = mergeRows(rows, [liveRow({ id: 2, status: 'delivered' })], false);
  expect(after.shown.map(({ id, status }) => [id, status])).toEqual([[3, 'waiting'], [2, 'delivered'], [1, 'waiting']]);
  expect(rows.shown[1]!.status).toBe('waiting');
});

test('one batch may tell a row twice: the last word holds', () => {
  const rows = mergeRows(noRows, [liveRow({ id: 1 }), liveRow({ id: 1, status: 'sent' })], false);
  expect(rows.shown).toMatchObject([{ id: 1, status: 'sent' }]);
});

test('while held the list stands still, rows wait, and known ones still change', () => {
  const rows = mergeRows(noRows, told(1, 2), false);
  const held = mergeRows(mergeRows(rows, told(3), true), [liveRow({ id: 4 }), liveRow({ id: 1, status: 'sent' }), liveRow({ id: 3, status: 'sent' })], true);
  expect(ids(held.shown)).toEqual([2, 1]);
  expect(held.shown[1]!.status).toBe('sent');
  expect(held.pending.map(({ id, status }) => [id, status])).toEqual([[4, 'waiting'], [3, 'sent']]);
  const released = releaseRows(held);
  expect(ids(released.shown)).toEqual([4, 3, 2, 1]);
  expect(released.pending).toEqual([]);
});

test('the newest are kept and the oldest go', () => {
  const rows = mergeRows(noRows, told(1, 2, 3), false, 3);
  expect(ids(mergeRows(rows, told(4), false, 3).shown)).toEqual([4, 3, 2]);
  const held = mergeRows(rows, told(4, 5, 6, 7), true, 3);
  expect(ids(held.shown)).toEqual([3, 2, 1]);
  expect(ids(held.pending)).toEqual([7, 6, 5]);
  expect(ids(releaseRows(held, 3).shown)).toEqual([7, 6, 5]);
});

test('nothing told is no change', () => {
  const rows = mergeRows(noRows, told(1), false);
  expect(mergeRows(rows, [], false)).toBe(rows);
  expect(releaseRows(rows)).toBe(rows);
});

test('rows can be dropped from both parts', () => {
  const rows = mergeRows(mergeRows(noRows, told(1, 2), false), told(3, 4), true);
  const kept = keepRows(rows, ({ id }) => id % 2 === 0);
  expect([ids(kept.shown), ids(kept.pending)]).toEqual([[2], [4]]);
});

test.each([[9, 0], [7, 1], [2, 3], [1, -1], [8, -1], [10, -1]])('row %i stands at %i', (id, index) => {
  expect(indexOfId(told(9, 7, 4, 2), id)).toBe(index);
});
