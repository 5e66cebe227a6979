import { expect, test } from 'vitest';
import { inQuotes, withoutQuotes } from './quotes.ts';

test.each([
  ['straight', 'Claude" is allowed. "x', 'Claude is allowed. x'], ['curly', 'Claude” is allowed. “x', 'Claude is allowed. x'], ['low', '„a‟', 'a'], ['angle', '«a» ‹b›', 'a b'],
  ['corner', '「a」『b』〝c〞〟', 'abc'], ['vertical corner', '﹁a﹂﹃b﹄', 'ab'], ['CJK angle', '《a》〈b〉', 'ab'], ['full-width', '＂a＂', 'a'], ['primes', 'a″b‶c‴', 'abc'], ['modifier letters', 'aʺbˮc', 'abc'],
  ['ornaments', '❝a❞❮b❯', 'ab'], ['Hebrew', 'ד״ר', 'דר'], ['two apostrophes for one mark', "a'' b’’ c``", 'a’ b’ c’'], ['hidden between two apostrophes', "a'\u200b'b", 'a’b'], ['nothing else', '"”"', ''],
])('%s', (_what, given, expected) => {
  expect(withoutQuotes(given)).toBe(expected);
  expect(inQuotes(given)).toBe(`"${expected}"`);
});

test.each(["O'Brien", 'O’Brien', "rock 'n' roll", 'Ada (home) <a@b.c>', 'Семья', '家族'])('%j stays', (name) => {
  expect(withoutQuotes(name)).toBe(name);
});

test('a name of marks alone has a word in its place', () => {
  expect(inQuotes('“”', 'chat-1')).toBe('"chat-1"');
});
