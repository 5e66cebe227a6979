import { expect, test } from 'vitest';
import { fitting, pageNote, personNote, textPage } from './reading.ts';

test('a text in stretches: quoted ones are marked, hostile characters go, line ends stay', () => {
  const text = 'New\r\n\u202eline\u0000\n> old\nend';
  const from = text.indexOf('> old');
  expect(textPage(text, [{ start: from, end: from + 6 }], 0)).toEqual({
    parts: [{ text: 'New\nline\n', quoted: false }, { text: '> old\n', quoted: true }, { text: 'end', quoted: false }], length: 18, nextOffset: null,
  });
  expect(textPage('', [], 0)).toEqual({ parts: [], length: 0, nextOffset: null });
  expect(textPage('abc', [], 99)).toEqual({ parts: [], length: 3, nextOffset: null });
});

test.each([['long words', 'a'.repeat(50_000), 0], ['signs of two units', `x${'😀'.repeat(20_000)}`, 0], ['many stretches', 'ab'.repeat(500), 2]] as const)('pages of %s put together are the text', (_what, text, every) => {
  const quotes = every === 0 ? [] : Array.from({ length: 500 }, (_, at) => ({ start: at * 2, end: at * 2 + 1 }));
  let all = '';
  for (let offset: number | null = 0; offset !== null;) {
    const page = textPage(text, quotes, offset);
    expect(page.parts.length).toBeLessThanOrEqual(100);
    for (const part of page.parts) expect(part.text.isWellFormed()).toBe(true);
    all += page.parts.map((part) => part.text).join('');
    offset = page.nextOffset;
  }
  expect(all).toBe(text);
});

test('as many as fit, and one at least', () => {
  expect(fitting(['aa', 'bb', 'cc'], 10)).toEqual(['aa', 'bb']);
  expect(fitting(['a'.repeat(100)], 10)).toHaveLength(1);
  expect(fitting([], 10)).toEqual([]);
});

test('a page says where to go on, and one beyond the end says where the text ends', () => {
  const note = (text: string, offset: number) => pageNote(textPage(text, [], offset), offset);
  expect([note('abc', 0), note('abc', 2), note('', 0)]).toEqual(['', '', '']);
  expect(note('a'.repeat(20_000), 0)).toBe('This is a part of 20000 characters: pass offset 16000 for the next.');
  for (const offset of [3, 99]) expect(note('abc', offset)).toBe(`The text ends at 3: there is nothing from offset ${offset} on.`);
  expect(note('', 5)).toBe('The text ends at 0: there is nothing from offset 5 on.');
});

test('a person named by anything but a number with its country code or an address: the rule is said', () => {
  for (const person of [undefined, '+15550101234', ' +1 (555) 010-1234', 'ada@example.org']) expect(personNote(person)).toBe('');
  for (const person of ['ada', '(555) 010-1234', '39781', '']) expect(personNote(person)).toMatch(/^person takes a number with its country code, such as \+15550100000, an address, or/);
});
