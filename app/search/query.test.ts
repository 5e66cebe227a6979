import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { fuzz, FUZZ_TIMEOUT } from '../testing/fuzz.ts';
import { splitCjk } from './cjk.ts';
import { MAX_QUERY, MAX_TERMS, parseQuery, wordMatch, type Term } from './query.ts';

/** A short form: groups by `&`, terms of a group by `|`, excluded behind `!`. */
function brief(text: string): string {
  const parsed = parseQuery(text);
  if (!parsed.ok) return parsed.reason;
  const term = ({ words, cjk, isPrefix, column }: Term): string => `${column === null ? '' : `${column}=`}${[words, ...cjk].filter((each) => each !== '').join('~')}${isPrefix ? '*' : ''}`;
  const { groups, excluded } = parsed.query;
  return [groups.map((group) => group.map(term).join('|')).join(' & '), ...excluded.map((each) => `!${term(each)}`)].join(' ');
}

test.each([
  ['words must all match', 'a1 b1  c1', 'a1 & b1 & c1'],
  ['a phrase', 'x "two words" y', 'x & two words & y'],
  ['typographic quotes', '“two words” „drei vier“', 'two words & drei vier'],
  ['a quote that nothing closes', 'x "two words', 'x & two words'],
  ['exclude', 'x -y -"z z" NOT w', 'x !y !z z !w'],
  ['or', 'x OR y z', 'x|y & z'],
  ['or at the edge', 'OR x OR', 'x'],
  ['prefix', 'invo* "two wor"*', 'invo* & two wor*'],
  ['columns', 'subject:x from:"Ada L" body:z text:w', 'subject=x & sender=Ada L & body=z & body=w'],
  ['what is no column is text', 're:x https://a.example/b', 're:x & https://a.example/b'],
  ['syntax of FTS5 is text', 'NEAR(a1 b1, 5) AND ^c1 + {subject} : d1', 'NEAR & a1 & b1, & 5 & ^c1 & {subject} & d1'],
  ['signs alone are nothing', 'x !!! *** "" -', 'x'],
  ['addresses', 'ada@example.org', 'ada@example.org'],
  ['Japanese', '会議 東京-report', '会議 & -report~東京'],
  ['other widths', 'ＡＢＣ　ｶﾞﾗｽ －ｘ subject：ｙ ＂ｔｗｏ words＂', 'ABC & ガラス & subject=y & two words !x'],
  ['excluding alone', '-x', 'query: at least one word that must be there is needed beside those to exclude.'],
  ['nothing', ' !? ', 'query: at least one word is needed.'],
  ['a prefix too short', 'a*', 'query: before `*`, at least 2 characters are needed.'],
])('%s', (_name, text, expected) => {
  expect(brief(text)).toBe(expected);
});

test('limits are told', () => {
  expect(brief('x'.repeat(MAX_QUERY + 1))).toBe('query: at most 1000 characters.');
  expect(brief('ab '.repeat(MAX_TERMS + 1))).toBe('query: at most 32 words and phrases.');
});

test('runs of characters without blanks are kept apart, padded', () => {
  expect(splitCjk('See 会議室 at 10時')).toEqual({ words: 'See   at 10 ', cjk: '会議室  時  ' });
  expect(splitCjk('Zürich €')).toEqual({ words: 'Zürich €', cjk: '' });
  // Voiced signs written apart are one character.
  expect(splitCjk('か\u3099').cjk).toBe('が  ');
  // As are letters of another width, also where both are mixed.
  expect(splitCjk('ｶﾞﾗｽ ＡＢＣ')).toEqual({ words: '  ABC', cjk: 'ガラス  ' });
  expect(splitCjk('カﾞ').cjk).toBe('ガ  ');
  expect(splitCjk('１２ ｺｰﾋｰ').cjk).toBe('コーヒー  ');
});

test('fuzz: no text is a syntax error of SQLite', { timeout: FUZZ_TIMEOUT }, async () => {
  const db = new Database(':memory:');
  db.exec(`CREATE VIRTUAL TABLE words USING fts5(subject, sender, body)`);
  const match = db.prepare('SELECT rowid FROM words WHERE words MATCH ?');
  const seeds = ['a "b c" -d NOT e OR f*', 'NEAR(a b, 3) AND subject:x {a b}: c ^d', '"""\'* ( ) -"" +', 'body:"x" OR 会議 -東京', 'a\0b \ud800 \u202e"'].map((text) => Buffer.from(text));
  await fuzz(seeds, (input) => {
    const parsed = parseQuery(input.toString('utf8').slice(0, MAX_QUERY));
    if (!parsed.ok) return;
    for (const term of [...parsed.query.groups.flat(), ...parsed.query.excluded]) if (term.words !== '') match.all(wordMatch(term));
  });
  db.close();
});
