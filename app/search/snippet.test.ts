import { expect, test } from 'vitest';
import { parseQuery } from './query.ts';
import { cutSnippet, needlesOf, SNIPPET } from './snippet.ts';

function snippet(text: string, query: string): { text: string; marked: string[] } {
  const parsed = parseQuery(query);
  if (!parsed.ok) throw new Error(parsed.reason);
  const { text: line, marks } = cutSnippet(text, needlesOf(parsed.query), null);
  return { text: line, marked: marks.map(({ start, end }) => line.slice(start, end)) };
}

const far = 'filler '.repeat(100);

test('the stretch around the first word, on one line, words marked', () => {
  const found = snippet(`${far}the\n Invoice  is here. ${far}`, 'invoice');
  expect(found.text).toContain('the Invoice is here.');
  expect(found.text.startsWith('…filler')).toBe(true);
  expect(found.text.endsWith('…')).toBe(true);
  expect(found.text.length).toBeLessThanOrEqual(SNIPPET + 2);
  expect(found.marked).toEqual(['Invoice']);
});

test('without the word, the beginning', () => {
  expect(snippet('Hello there', 'subject:x').text).toBe('Hello there');
});

test('case and diacritics do not count; words from their start; Japanese anywhere', () => {
  expect(snippet('nach Zürich', 'zurich').marked).toEqual(['Zürich']);
  expect(snippet('remeeting meeting', 'meeting').marked).toEqual(['meeting']);
  expect(snippet('来週の会議室です', '会議').marked).toEqual(['会議']);
  expect(snippet('a "two words" b two', '"two words" -b').marked).toEqual(['two', 'words', 'two']);
});

test.each<[text: string, query: string, marked: string[]]>([
  ['型番 ＡＢＣ です', 'abc', ['ＡＢＣ']],
  ['model abc here', 'ＡＢＣ', ['abc']],
  ['窓はｶﾞﾗｽです', 'ガラス', ['ｶﾞﾗｽ']],
  ['窓はガラスです', 'ｶﾞﾗｽ', ['ガラス']],
  ['ﾊﾟﾝとﾋﾞｰﾙ、Beer', 'beer パン ビール', ['ﾊﾟﾝ', 'ﾋﾞｰﾙ', 'Beer']],
  ['ｱﾞ Beer', 'beer', ['Beer']],
])('letters of another width are marked as they stand: %s', (text, query, marked) => {
  expect(snippet(text, query)).toEqual({ text, marked });
});

test('the stretch begins near the word, also behind many letters that fold into fewer', () => {
  const found = snippet(`${'ﾊﾟ '.repeat(300)}invoice ${far}`, 'invoice');
  expect([found.text.indexOf('invoice') < 100, found.marked]).toEqual([true, ['invoice']]);
});

test('codes that are hidden are dots in the stretch, also where only the subject names them or the cut goes through them', () => {
  const line = (text: string, query: string, about: string | null) => {
    const parsed = parseQuery(query);
    return parsed.ok ? cutSnippet(text, needlesOf(parsed.query), about === null ? null : () => about).text : '';
  };
  expect(line('592144 is for you', 'you', 'Your code')).toBe('592144 is for you');
  expect(line('Your code: 592144. You know', 'know', '')).toBe('Your code: ••••••. You know');
  expect(line('Your code: 592144. You know', 'know', null)).toBe('Your code: 592144. You know');
  expect(line(`${far}592144 and the walrus`, 'walrus', 'Code: 592144')).toContain('•••••• and the walrus');
  // The stretch begins 60 characters before the word.
  const cut = `Your code: 592144 ${'x'.repeat(56)} walrus ${far}`;
  expect(line(cut, 'walrus', '')).not.toMatch(/\d/);
});

test('no character is cut in half', () => {
  const text = '😀'.repeat(500);
  expect(snippet(`${text}x invoice ${text}`, 'invoice').text.isWellFormed()).toBe(true);
  expect(snippet(text, 'invoice').text.isWellFormed()).toBe(true);
});
