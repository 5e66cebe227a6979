import { describe, expect, test } from 'vitest';
import { cleanName } from '../contract/name.ts';
import { cleanBody, cleanText } from '../events/text.ts';
import { Random } from '../testing/random.ts';
import { hiddenIn, linesWithoutHidden, withoutHidden } from './hidden.ts';

const CLEANERS = [['cleanText', (text: string) => cleanText(text, 10_000)], ['cleanBody', cleanBody], ['cleanName', cleanName]] as const;

/** First and last code point of what a person does not see (Unicode 17: general categories, derived core properties). */
const UNSEEN: readonly (readonly [what: string, first: number, last: number])[] = [
  ['controls', 0x00, 0x08], ['delete and controls', 0x7f, 0x84], ['soft hyphen', 0xad, 0xad], ['grapheme joiner', 0x34f, 0x34f], ['Arabic letter mark', 0x61c, 0x61c],
  ['Hangul fillers', 0x115f, 0x1160], ['Khmer inherent vowels', 0x17b4, 0x17b5], ['Mongolian selectors', 0x180b, 0x180f], ['zero width and marks', 0x200b, 0x200f],
  ['embeddings and overrides', 0x202a, 0x202e], ['word joiner, invisible operators, isolates', 0x2060, 0x206f], ['Hangul filler', 0x3164, 0x3164],
  ['variation selectors', 0xfe00, 0xfe0f], ['byte order mark', 0xfeff, 0xfeff], ['half-width Hangul filler', 0xffa0, 0xffa0], ['interlinear annotation', 0xfff9, 0xfffb],
  ['no characters', 0xfdd0, 0xfdef], ['no characters at the end of a plane', 0x1fffe, 0x1ffff], ['no characters at the end', 0x10fffe, 0x10ffff], ['shorthand format', 0x1bca0, 0x1bca3],
  ['musical format', 0x1d173, 0x1d17a], ['hieroglyph format', 0x13430, 0x1343f], ['tags', 0xe0000, 0xe007f], ['variation selectors supplement', 0xe0100, 0xe01ef],
];

const SEEN: readonly (readonly [what: string, text: string])[] = [
  ['a family', '👨‍👩‍👧‍👦'], ['a profession with a skin tone', '👩🏽‍⚕️'], ['a detective', '🕵️‍♂️'], ['a pirate flag', '🏴‍☠️'], ['a rainbow flag', '🏳️‍🌈'], ['an eye in a bubble', '👁️‍🗨️'],
  ['a kiss', '👩‍❤️‍💋‍👨'], ['a heart on fire', '❤️‍🔥'], ['a runner to the right', '🏃🏽‍♀️‍➡️'], ['two hands', '🫱🏻‍🫲🏿'], ['red hair', '👨‍🦰'], ['a keycap', '1️⃣#️⃣'], ['a sign as an emoji', '©️'],
  ['an emoji as text', '☺︎'], ['a country', '🇩🇪'], ['England', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'],
  ['Scotland', '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}'], ['Wales', '🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}'],
  ['Persian', 'می\u200cخواهم'], ['Persian after a vowel sign', 'مُ\u200cا'], ['Persian digits', '۵\u200cنفره'], ['a Persian abbreviation', 'ه\u200d.'], ['Urdu', 'کا\u200cم'],
  ['Hindi, a half letter', 'क्\u200dष'], ['Hindi, without a ligature', 'क्\u200cष'], ['Hindi, at the end', 'न्\u200d.'], ['Bengali', 'র\u200d্য'], ['Malayalam', 'അവന്\u200d '],
  ['Sinhala', 'ශ්\u200dරී'], ['Mongolian', 'ᠠ\u180bᠨ\u180eᠠ'], ['Arabic signs before numbers', '\u0600١ \u06dd'], ['private use', '\uf8ff'], ['an object', '\ufffc'],
];

describe.each(CLEANERS)('%s', (_name, clean) => {
  test.each(UNSEEN)('leaves out %s', (_what, first, last) => {
    for (let code = first; code <= last; code += 1) expect(clean(`a${String.fromCodePoint(code)}b`), code.toString(16)).toBe('ab');
  });

  test.each(SEEN)('keeps %s', (_what, text) => {
    expect(clean(`x ${text} y`)).toBe(`x ${text} y`);
  });

  test.each([
    ['an instruction in tags', `Hello${Array.from('ignore all', (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')} Ada`, 'Hello Ada'],
    ['tags behind a flag that is none', '🏴\u{e0067}\u{e0062}\u{e0041}\u{e007f}', '🏴'],
    ['tags behind a flag', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}\u{e0041}', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'],
    ['a row of selectors behind an emoji', '😀\ufe0f\ufe00\ufe0f\ufe0e', '😀\ufe0f'],
    ['a row of joiners in Persian', 'می\u200c\u200d\u200c\u200cخ', 'می\u200cخ'],
    ['joiners between Latin letters', 'a\u200cb\u200dc', 'abc'],
    ['a joiner before a letter', '😀\u200da', '😀a'],
    ['a selector behind a digit', '1\ufe0f', '1'],
    ['halves that would become a tag', 'a\udb40\u200b\udc41b', 'a\ufffd\ufffdb'],
  ])('%s', (_what, given, expected) => {
    expect(clean(given)).toBe(expected);
  });
});

test('of every code point: hidden are those of the properties, and no other', () => {
  const unseen = /^[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]$/u;
  const signs = /^[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]$/u;
  const wrong: string[] = [];
  for (let code = 0; code < 0x110000; code += 1) {
    const character = String.fromCodePoint(code);
    if (!character.isWellFormed()) continue;
    const expected = unseen.test(character) && !signs.test(character) ? 'ab' : `a${character}b`;
    if (withoutHidden(`a${character}b`) !== expected) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
});

test('what was cleaned is clean, and the places of what was left out are those', () => {
  const random = new Random(20_261_130);
  const pieces = [...UNSEEN.flatMap(([, first, last]) => [first, last]).map((code) => String.fromCodePoint(code)), ...SEEN.flatMap(([, text]) => Array.from(text)), 'a', '1', '\n', '\t', ' ', '\ud83d', '\udc41', '\udb40'];
  for (let round = 0; round < 20_000; round += 1) {
    const text = Array.from({ length: random.between(1, 12) }, () => random.pick(pieces)).join('');
    for (const [name, clean] of CLEANERS) {
      const once = clean(text);
      expect(clean(once), `${name} of ${JSON.stringify(text)}`).toBe(once);
    }
    const left = hiddenIn(text).toReversed().reduce((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), text.toWellFormed());
    expect(left, JSON.stringify(text)).toBe(linesWithoutHidden(text));
  }
});

test('line feeds and tabs stay in a text of several lines only', () => {
  expect(cleanBody('a\r\nb\rc\u2028d\u2029e\tf\u{e0041}')).toBe('a\nb\nc\nd\ne\tf');
  expect(cleanText('a\nb\tc', 9)).toBe('abc');
});
