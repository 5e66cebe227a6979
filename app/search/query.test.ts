import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { fuzz, FUZZ_TIMEOUT } from '../testing/fuzz.ts';
import { splitCjk } from './cjk.ts';
import { MAX_QUERY, MAX_TERMS, parseQuery, wordMatch, type Groups, type Term } from './query.ts';

/** A short form: groups by `&`, terms of a group by `|`, what is excluded behind `!`, what is told behind `//`. */
function brief(text: string, of?: 'messages'): string {
  const parsed = parseQuery(text, of);
  if (!parsed.ok) return parsed.reason;
  const term = ({ words, cjk, isPrefix, column }: Term): string => `${column === null ? '' : `${column}=`}${[words, ...cjk].filter((each) => each !== '').join('~')}${isPrefix ? '*' : ''}`;
  const all = (groups: Groups): string => groups.map((group) => group.map(term).join('|')).join(' & ');
  const { query: { groups, excluded }, notes } = parsed;
  return [all(groups), ...excluded.map((each) => (each.length === 1 ? `!${all(each)}` : `!(${all(each)})`)), ...notes.map((note) => `// ${note}`)].join(' ');
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

test.each([
  ['a blank after a field', 'subject: rota', 'subject=rota'],
  ['the field is of one word', 'from: ada rota', 'sender=ada & rota'],
  ['a blank, then a phrase', 'subject: "rota plan" x', 'subject=rota plan & x'],
  ['a field before brackets is of all in them', 'subject:(rota plan) x', 'subject=rota & subject=plan & x'],
  ['alternatives of a field', 'from: (ada OR bob)', 'sender=ada|sender=bob'],
  ['a field in brackets of another', 'subject:(rota from:ada)', 'subject=rota & sender=ada'],
  ['a field to exclude', 'x -subject:(rota OR plan) -from: ada', 'x !subject=rota|subject=plan !sender=ada'],
  ['a field with nothing after it', 'x subject:', 'x'],
  ['names of attachments', 'filename:invoice.pdf', 'attachments=invoice.pdf'],
  ['OR after an exclusion excludes more', 'rota -zebra OR gmail', 'rota !zebra|gmail'],
  ['and once more', 'rota OR plan NOT zebra OR gmail OR x', 'rota|plan !zebra|gmail|x'],
  ['a blank ends it', 'rota -zebra gmail', 'rota & gmail !zebra'],
  ['alternatives in brackets are all excluded', 'rota -(zebra OR gmail)', 'rota !zebra|gmail'],
  ['after NOT too', 'rota NOT (zebra OR gmail)', 'rota !zebra|gmail'],
  ['words in brackets are excluded where all are', 'rota -(zebra gmail)', 'rota !(zebra & gmail)'],
  ['both in one', 'rota NOT((a1 OR b1) "c d")', 'rota !(a1|b1 & c d)'],
  ['brackets beside OR', '(rota zebra) OR gmail', 'rota|gmail & zebra|gmail'],
  ['on both sides', '(a1 b1) OR (c1 d1) e1', 'a1|c1 & a1|d1 & b1|c1 & b1|d1 & e1'],
  ['inside of each other', '((a1 OR b1) c1) OR d1', 'a1|b1|d1 & c1|d1'],
  ['brackets that hold nothing or have no other', 'a1 () ) OR (b1 OR (c1', 'a1|b1|c1'],
  ['a call in a program is a word and brackets', 'open(file)', 'open & file'],
  ['where they hold nothing, a word', 'open() OR close()', 'open|close'],
  ['an exclusion alone in brackets', 'rota (-zebra) OR gmail', 'rota !zebra|gmail'],
  ['what is excluded twice is not', 'NOT (NOT a1)', 'a1'],
  ['an exclusion in brackets', '(a1 -b1) c1', 'a1 & c1 !b1'],
  ['signs of programs', 'a1 && b1 || c1', 'a1 & b1|c1'],
  ['a dash is none', 'rota - plan -!! x', 'rota & plan & x'],
  ['times, addresses of the web and replies are text', '10:30 https://a.example/b?c=d re:x', '10:30 & https://a.example/b?c=d & re:x'],
  ['no name of a program means anything', 'constructor:x1 __proto__:y1', 'constructor:x1 & __proto__:y1'],
  ['what is meant as text stands in quotes', '"to:me" x', 'to:me & x'],
])('as models write it: %s', (_name, text, expected) => {
  expect(brief(text)).toBe(expected);
});

describe('what cannot be read is told', () => {
  const known = 'Known in a query are subject:, from:, body: and attachment:; after, before, mailbox and exclude are arguments of their own.';
  const left = (...names: string[]): string => `Not known here and left out: ${names.join(', ')}. ${known}`;
  test.each([
    ['has:attachment report', `report // ${left('has:')}`],
    ['TO:me rota', `rota // ${left('to:')}`],
    ['date: 2026 rota to:"Ada L" to:bob', `rota // ${left('date:', 'to:')}`],
    ['rota -in:spam OR zebra', `rota !zebra // ${left('in:')}`],
    ['rota OR is:unread', `rota // ${left('is:')}`],
    ['rota OR -is:unread', `rota // ${left('is:')}`],
    ['older_than:2d label:(work home) rota', `rota // ${left('older_than:', 'label:')}`],
    ['has:attachment', `query: at least one word is needed. ${left('has:')}`],
    ['(rota -zebra) OR gmail', 'rota|gmail !zebra // What is excluded beside OR is left out of the whole search.'],
    ['gmail OR (rota -zebra)', 'gmail|rota !zebra // What is excluded beside OR is left out of the whole search.'],
    ['rota OR NOT zebra', 'rota !zebra // What is excluded beside OR is left out of the whole search.'],
    ['rota -(zebra -gmail)', 'rota !zebra // A - or NOT inside of what is excluded was not read.'],
  ])('%s', (text, expected) => {
    expect(brief(text)).toBe(expected);
  });

  test('messages are their text alone', () => {
    const arguments_ = 'after, before, chat and person are arguments of their own.';
    expect(brief('from:ada lunch', 'messages')).toBe(`lunch // Not known here and left out: from:. ${arguments_}`);
    expect(brief('body:(lunch noon) text: x', 'messages')).toBe('lunch & noon & x');
  });
});

test('brackets beside OR do not grow beyond the limit', () => {
  const many = (letter: string, count: number): string => `(${Array.from({ length: count }, (_, nth) => `${letter}${nth}`).join(' ')})`;
  expect(brief(`${many('a', 4)} OR ${many('b', 4)}`).split(' & ')).toHaveLength(16);
  for (const query of [`${many('a', 4)} OR ${many('b', 5)}`, Array.from({ length: 60 }, () => '(a b c)').join(' OR ')]) {
    expect(brief(query)).toBe('query: at most 32 words and phrases; a word in brackets beside OR counts once for each on the other side.');
  }
  expect(brief(`${'('.repeat(499)}a${')'.repeat(499)}`)).toBe('a');
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
  const seeds = ['a "b c" -d NOT e OR f*', 'NEAR(a b, 3) AND subject:x {a b}: c ^d', '"""\'* ( ) -"" +', 'body:"x" OR 会議 -東京', 'from: (a -(b OR c)) OR has:d NOT (e f)', 'a\0b \ud800 \u202e"'].map((text) => Buffer.from(text));
  await fuzz(seeds, (input) => {
    const parsed = parseQuery(input.toString('utf8').slice(0, MAX_QUERY));
    if (!parsed.ok) return;
    for (const term of [...parsed.query.groups.flat(), ...parsed.query.excluded.flat(2)]) if (term.words !== '') match.all(wordMatch(term));
  });
  db.close();
});
