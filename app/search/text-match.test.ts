import { expect, test } from 'vitest';
import { parseQuery } from './query.ts';
import { matcherOf } from './text-match.ts';

const fits = (query: string, text: string): boolean => {
  const parsed = parseQuery(query);
  if (!parsed.ok) throw new Error(parsed.reason);
  return matcherOf(parsed.query)(text);
};

test.each([
  ['lunch', 'Lunch at noon?', true],
  ['lunch', 'lunches', false],
  ['lunch*', 'lunches', true],
  ['unch', 'lunch', false],
  ['zürich', 'ZURICH tomorrow', true],
  ['lunch noon', 'noon: lunch', true],
  ['"lunch at noon"', 'Lunch, at - noon!', true],
  ['"lunch noon"', 'lunch at noon', false],
  ['"at no"*', 'lunch at noon', true],
  ['"at no"', 'lunch at noon', false],
  ['lunch -noon', 'lunch at noon', false],
  ['dinner OR lunch', 'lunch', true],
  ['会議', '来週の会議室', true],
  ['会議 lunch', '来週の会議室', false],
  ['"no no yes"', 'no no no yes', true],
  ['abc', 'ＡＢＣ', true],
  ['ＡＢＣ', 'abc', true],
  ['ガラス', 'ｶﾞﾗｽの窓', true],
  ['ｶﾞﾗｽ', 'ガラスの窓', true],
  ['カラス', 'ｶﾞﾗｽ', false],
] as const)('%s in %j: %s', (query, text, expected) => {
  expect(fits(query, text)).toBe(expected);
});

test('long texts of repeated beginnings take no time to speak of', () => {
  const text = 'no '.repeat(20_000);
  expect(fits(`"${'no '.repeat(30)}yes"`, text)).toBe(false);
});
