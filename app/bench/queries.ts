import { corpusWord, MARKERS, markerWord } from '../testing/mail-corpus.ts';

/**
 * Fifty questions: names and numbers, rare and frequent words, phrases, exclusions, beginnings, columns, Japanese. The corpus has
 * two dozen words that most mails hold, as `the` is in English; phrases of two such words are measured apart.
 */
export const QUERIES: readonly string[] = [
  ...MARKERS.map(markerWord),
  ...[900, 1500, 2500, 4000, 6000, 8000, 10_000, 12_000, 14_000, 17_000, 19_000].map(corpusWord),
  ...[30, 60, 120, 300].map(corpusWord),
  'meeting', 'invoice', 'Zürich', 'cafe',
  `${corpusWord(400)} ${corpusWord(900)}`, `invoice ${corpusWord(5000)}`, `${markerWord(100)} meeting`, `${markerWord(1000)} report`, `project ${corpusWord(150)}`,
  '"the project"', `"${corpusWord(50)} the"`, `"${corpusWord(30)} ${corpusWord(26)}"`, `"${corpusWord(40)} ${corpusWord(28)}"`,
  `${corpusWord(700)} -invoice`, `${markerWord(20)} -meeting`, `${corpusWord(3000)} OR ${corpusWord(7000)}`, `${markerWord(1000)} OR ${corpusWord(11_000)}`,
  `${corpusWord(5000).slice(0, 6)}*`, `${corpusWord(9000).slice(0, 5)}*`, `${markerWord(100)} ${corpusWord(200).slice(0, 4)}*`,
  'subject:0015328', 'subject:"Subject 0001234"', 'from:person12', 'from:quiet3', `body:${corpusWord(2200)}`,
  '請求書', '打ち合わせ', '会議', '来週 会議', '東京配送',
];

if (QUERIES.length !== 50) throw new Error(`The mix has ${QUERIES.length} queries`);

/** Both words stand in most mails: all their places must be compared. Side by side in one of twenty, and in none. */
export const FREQUENT_PHRASES: readonly string[] = ['"please meeting"', '"meeting the invoice project order"'];
