import { expect, test } from 'vitest';
import { cleanText } from './text.ts';

// Architecture 5: strings lose control and bidi-override characters and are cut at a number of characters.
test.each([
  ['plain', 'Hello, world', 'Hello, world'],
  ['line ends and tabs', 'a\r\nb\tc\0', 'abc'],
  ['C1 and DEL', 'a\u007f\u0085b', 'ab'],
  ['bidi overrides', 'invoice\u202egpj.exe\u202c', 'invoicegpj.exe'],
  ['bidi isolates', '\u2066a\u2069', 'a'],
  ['line separator', 'a\u2028b', 'ab'],
  ['the joiner of an emoji stays', '👩\u200d💻', '👩\u200d💻'],
  ['a lone surrogate', 'a\ud800b', 'a\ufffdb'],
])('%s', (_name, given, expected) => expect(cleanText(given, 256)).toBe(expected));

test('cut by whole characters', () => {
  expect(cleanText('x'.repeat(300), 256)).toBe('x'.repeat(256));
  expect(cleanText('😀'.repeat(300), 256)).toBe('😀'.repeat(256));
  expect(cleanText('😀'.repeat(256), 256)).toBe('😀'.repeat(256));
});
