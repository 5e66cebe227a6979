import { expect, test } from 'vitest';
import { unflowed } from './flowed-text.ts';

// RFC 3676: 4.1 flowed and fixed, 4.2 DelSp, 4.3 the line before a signature, 4.4 stuffing, 4.5 quotes.
test.each<[string, string, string, string]>([
  ['a blank at the end of a line: it goes on', 'one \ntwo \nthree', 'one two three', 'onetwothree'],
  ['two of them', 'one  \ntwo', 'one  two', 'one two'],
  ['no blank: it does not', 'one\ntwo', 'one\ntwo', 'one\ntwo'],
  ['line ends of mail', 'one \r\ntwo\r\nthree\r\n', 'one two\nthree', 'onetwo\nthree'],
  ['a tab is no blank', 'one\t\ntwo', 'one\t\ntwo', 'one\t\ntwo'],
  ['a paragraph ends in an empty line', 'one \n\ntwo', 'one \ntwo', 'one\ntwo'],
  ['and at the end of the text', 'one \ntwo ', 'one two ', 'onetwo'],
  ['stuffing goes before the line is looked at', ' From one \n  two', 'From one  two', 'From one two'],
  ['a line of one blank is empty, of two it goes on', 'a\n \n  \nb', 'a\n\n b', 'a\n\nb'],
  ['a stuffed mark is no quote, and becomes none', 'a\n > b', 'a\n > b', 'a\n > b'],
  ['quotes of one depth', '> one \n> two\n> three', '> one two\n> three', '> onetwo\n> three'],
  ['the blank behind marks is stuffing', '>one \n> two \n>  three', '> one two  three', '> onetwo three'],
  ['marks are counted without blanks between them', '>> one \n>> two\n> > three', '>> one two\n> > three', '>> onetwo\n> > three'],
  ['a change of depth ends a paragraph', '>> one \n> two \nthree', '>> one \n> two \nthree', '>> one\n> two\nthree'],
  ['an empty quoted line', '> one\n>\n> two', '> one\n>\n> two', '> one\n>\n> two'],
  ['a signature is no line that goes on', 'one\n-- \nAda', 'one\n-- \nAda', 'one\n-- \nAda'],
  ['nor the end of one', 'one \n-- \nAda \nL.', 'one \n-- \nAda L.', 'one\n-- \nAdaL.'],
  ['quoted and stuffed too', '> one \n> -- \n> Ada', '> one \n> -- \n> Ada', '> one\n> -- \n> Ada'],
  ['with more it is none', '---  \nx -- \ny', '---  x -- y', '--- x --y'],
  ['nothing', '', '', ''],
  ['line ends alone', '\n\n', '\n', '\n'],
])('%s', (_name, text, kept, deleted) => {
  expect([unflowed(text, false), unflowed(text, true)]).toEqual([kept, deleted]);
});

test('no character but line ends, stuffing and marks is lost, whatever the lines', () => {
  const lines = Array.from({ length: 4000 }, (_, nth) => `${'>'.repeat(nth % 4)}${' '.repeat(nth % 3)}w${nth}${' '.repeat(nth % 2)}`);
  expect(unflowed(lines.join('\r\n'), false).match(/w\d+/g)).toEqual(lines.map((_, nth) => `w${nth}`));
});
