import { expect, test } from 'vitest';
import { lineDiff } from './line-diff.ts';

function marks(before: string, after: string): string[] {
  return lineDiff(before, after).map(({ kind, text }) => `${{ same: ' ', added: '+', removed: '-' }[kind]}${text}`);
}

test('added lines stand between two unchanged lines on either side', () => {
  expect(marks('a\nb\nc\nd\ne\nf\n', 'a\nb\nc\nnew\nd\ne\nf\n')).toEqual([' b', ' c', '+new', ' d', ' e']);
});

test('removed and changed lines', () => {
  expect(marks('a\nb\nc\n', 'a\nc\n')).toEqual([' a', '-b', ' c']);
  expect(marks('a\nold\nc\nold2\ne\n', 'a\nnew\nc\nnew2\ne\n')).toEqual([' a', '-old', '+new', ' c', '-old2', '+new2', ' e']);
});

test('a new file, a file that goes, and nothing', () => {
  expect(marks('', 'a\nb\n')).toEqual(['+a', '+b']);
  expect(marks('a\n', '')).toEqual(['-a']);
  expect(marks('a\n', 'a\n')).toEqual([' a']);
  expect(marks('', '')).toEqual([]);
});

test('line endings are no change of a line', () => {
  expect(marks('a\r\nb\r\n', 'a\r\nnew\r\nb\r\n')).toEqual([' a', '+new', ' b']);
});

test('a long line is shown around its change, so that others\' secrets stay out', () => {
  const secret = `"token":"${'s'.repeat(400)}"`;
  const lines = lineDiff(`{${secret},"z":1}`, `{${secret},"belfry":{},"z":1}`);
  expect(lines.map(({ kind }) => kind)).toEqual(['removed', 'added']);
  expect(lines[1]!.text).toBe(`…${'s'.repeat(37)}","belfry":{},"z":1}`);
  for (const { text } of lines) expect(text).not.toContain('token');
  expect(lineDiff(`${secret}\nb\n`, `${secret}\nnew\nb\n`)[0]!.text).toBe(`${secret.slice(0, 120)}…`);
});

test('characters that hide or turn text are spelled out', () => {
  expect(marks('', '"\u202efdp"\u0000\u200b\t')).toEqual(['+"\\u202efdp"\\u0000\\u200b\t']);
});

test('a change of very many lines is all removed, then all added', () => {
  const old = Array.from({ length: 2000 }, (_, index) => `a${index}`).join('\n');
  const now = Array.from({ length: 2000 }, (_, index) => `b${index}`).join('\n');
  const kinds = lineDiff(old, now).map(({ kind }) => kind);
  expect(kinds).toEqual([...Array.from({ length: 2000 }, () => 'removed'), ...Array.from({ length: 2000 }, () => 'added')]);
});
