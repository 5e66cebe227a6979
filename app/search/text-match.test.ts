import { expect, test } from 'vitest';
import { Random } from '../testing/random.ts';
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
  ['lunch -noon会議', 'lunch at noon', true],
  ['lunch -noon会議', 'lunch at noon, 会議', false],
  ['"no no yes"', 'no no no yes', true],
  ['abc', 'ＡＢＣ', true],
  ['ＡＢＣ', 'abc', true],
  ['ガラス', 'ｶﾞﾗｽの窓', true],
  ['ｶﾞﾗｽ', 'ガラスの窓', true],
  ['カラス', 'ｶﾞﾗｽ', false],
] as const)('%s in %j: %s', (query, text, expected) => {
  expect(fits(query, text)).toBe(expected);
});

/** A question of nested brackets and what it means, worked out by itself. */
type Meaning = readonly [text: string, holds: (words: ReadonlySet<string>) => boolean];
const WORDS = ['a1', 'b1', 'c1', 'd1'];

function nested(random: Random, depth: number): Meaning {
  if (depth === 0 || random.chance(0.4)) {
    const word = random.pick(WORDS);
    return [word, (words) => words.has(word)];
  }
  const parts = Array.from({ length: random.between(2, 3) }, () => nested(random, depth - 1));
  const isOr = random.chance(0.5);
  return [
    `(${parts.map(([text]) => text).join(isOr ? ' OR ' : random.pick([' ', ' AND ']))})`,
    (words) => (isOr ? parts.some(([, holds]) => holds(words)) : parts.every(([, holds]) => holds(words))),
  ];
}

test('brackets, alternatives and what is excluded mean what they say', () => {
  const seed = Date.now() >>> 0;
  const random = new Random(seed);
  const texts = Array.from({ length: 16 }, (_, bits) => new Set(WORDS.filter((_word, nth) => (bits & (1 << nth)) !== 0)));
  let read = 0;
  for (let run = 0; run < 2000; run += 1) {
    const [wanted, left] = [nested(random, 2), nested(random, 2)];
    const query = `${wanted[0]} ${random.pick(['-', 'NOT '])}${left[0]}`;
    const parsed = parseQuery(query);
    // Too many once multiplied out.
    if (!parsed.ok) continue;
    read += 1;
    expect(parsed.notes, query).toEqual([]);
    const matches = matcherOf(parsed.query);
    for (const words of texts) expect(matches([...words].join(' ')), `Seed ${seed}: ${query} in ${[...words].join(' ')}`).toBe(wanted[1](words) && !left[1](words));
  }
  expect(read).toBeGreaterThan(1000);
});

test('long texts of repeated beginnings take no time to speak of', () => {
  const text = 'no '.repeat(20_000);
  expect(fits(`"${'no '.repeat(30)}yes"`, text)).toBe(false);
});
