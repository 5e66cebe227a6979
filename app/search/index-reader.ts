import type Database from 'better-sqlite3-multiple-ciphers';
import { readMeta } from './index-file.ts';
import { quoted, wordMatch, type Column, type Groups, type Query, type Term } from './query.ts';
import { SenderBounds, type SenderBound } from './sender-bound.ts';
import { fold } from './snippet.ts';
import { frequentWords } from './word-sample.ts';

/** Weights of BM25: a subject names what a mail is about, a body mentions much. */
export const WEIGHTS = { subject: 4, sender: 2, body: 1, attachments: 2 } as const;
/** Up to so many hits are ranked; of more the newest are shown, which is told. */
export const MAX_RANKED = 5000;
/** Candidates handed out at once. */
const STEP = MAX_RANKED + 1;
/** Words of a query by whose places candidates are ranked. */
const MAX_PLACED = 8;
/**
 * A phrase of words that many mails hold is compared place by place in each of them: once to count, once to weigh and once to rank. So
 * the newest of its hits are shown, and no more of them are counted than this.
 */
export const MAX_FREQUENT = 1000;
/**
 * Trigrams that a word of one or two Chinese, Japanese or Korean characters is widened to, the most frequent first. Many of them
 * say nothing about rank and are slow to weigh, so beyond a few the newest hits come first.
 */
const MAX_WIDENED = 200;
const MAX_WEIGHED = 4;

export interface Hit {
  /** ROWID in `messages`. */
  readonly mail: number;
  readonly mailbox: number;
  /** Unix seconds, 0 for none. */
  readonly date: number;
  /** Higher is better; null where the order is by date. Of a search BM25; of a candidate by where the words stand alone. */
  readonly score: number | null;
}

export interface Narrowing {
  readonly column: Column | null;
  /** ROWIDs of physical mailboxes to look in, or not to look in. */
  readonly mailboxes: readonly number[] | null;
  readonly exceptMailboxes: readonly number[];
  /** Unix seconds: from, inclusive, and up to, exclusive. */
  readonly after: number | null;
  readonly before: number | null;
  /** Whose mail alone is looked at, or null. */
  readonly senders: SenderBound | null;
}

export interface Found {
  readonly hits: readonly Hit[];
  /** Hits in all; not exact above what is ranked. */
  readonly count: number;
  readonly isExact: boolean;
  readonly order: 'best' | 'newest';
}

/** Hits to be judged by the caller, the newest first; `next` where there are more. */
export interface Candidates {
  readonly hits: readonly Hit[];
  readonly next: number | null;
}

type Row = [mail: number, mailbox: number, date: number, score: number | null, doc: number];
type Value = string | number;

interface Sql {
  readonly from: string;
  readonly where: string;
  readonly values: readonly Value[];
  /** Table that BM25 ranks by, or null: newest first. */
  readonly ranks: 'words' | 'cjk' | null;
  readonly id: string;
  readonly needsMails: boolean;
  readonly isFrequent: boolean;
  readonly groups: Groups;
}

interface Scoring {
  readonly sql: string;
  readonly values: readonly Value[];
}

const UNSCORED: Scoring = { sql: 'NULL', values: [] };
const PLACED = ['subject', 'sender', 'attachments'] as const;

/** What is asked of which table. */
type Matches = readonly (readonly ['words' | 'cjk', string])[];

type Counted = Pick<Found, 'count' | 'isExact' | 'order'>;
const NOTHING: Counted = { count: 0, isExact: true, order: 'best' };

/** The searching side, over one read-only connection. */
export class IndexReader {
  readonly #db: Database.Database;
  readonly #statements = new Map<string, Database.Statement>();
  readonly #senders: SenderBounds;
  /** One state for all that is asked within. */
  readonly #together: <T>(work: () => T) => T;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#senders = new SenderBounds(db);
    this.#together = db.transaction((work: () => unknown) => work()) as <T>(work: () => T) => T;
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  find(query: Query, narrowing: Narrowing, offset: number, limit: number): Found {
    return this.#together(() => {
      const sql = this.#compile(query, narrowing);
      const counted = sql === null ? NOTHING : this.#count(sql);
      if (sql === null || counted.count === 0) return { hits: [], ...NOTHING };
      const rows = counted.order === 'best' ? this.#best(sql, limit, offset) : this.#newest(sql, null, limit, offset);
      return { hits: rows.map(hitOf), ...counted };
    });
  }

  /**
   * No figure of these depends on other mail, as BM25 does: a caller that may read some of the mail alone learns nothing of the rest.
   * @param after `next` of the call before, or null
   */
  candidates(query: Query, narrowing: Narrowing, after: number | null): Candidates {
    return this.#together(() => {
      const sql = this.#compile(query, narrowing);
      if (sql === null) return { hits: [], next: null };
      const rows = this.#newest(sql, after, STEP, 0, this.#placing(sql));
      return { hits: rows.map(hitOf), next: rows.length < STEP ? null : rows.at(-1)![4] };
    });
  }

  /** A score by the columns that the words stand in. */
  #placing({ groups, id }: Sql): Scoring {
    const sums: string[] = [];
    const values: Value[] = [];
    for (const group of groups.slice(0, MAX_PLACED)) {
      const matches = group.flatMap((term) => this.#matches(term));
      for (const column of PLACED) {
        const inside = matches.map(([table]) => `${id} IN (SELECT rowid FROM ${table} WHERE ${table} MATCH ?)`);
        if (inside.length > 0) sums.push(`${WEIGHTS[column] - WEIGHTS.body} * (${inside.join(' OR ')})`);
        values.push(...matches.map(([, match]) => `${column} : (${match})`));
      }
    }
    return { sql: sums.join(' + ') || '0', values };
  }

  #count({ from, where, values, ranks, id, needsMails, isFrequent }: Sql): Counted {
    const most = isFrequent ? MAX_FREQUENT : MAX_RANKED;
    const bare = needsMails ? from : from.replace(JOIN.replace('$', id), '');
    const count = this.#statement(`SELECT COUNT(*) FROM (SELECT 1 FROM ${bare} WHERE ${where} LIMIT ${most + 1})`).pluck().get(...values) as number;
    return { count: Math.min(count, most), isExact: count <= most, order: count <= most && ranks !== null && !isFrequent ? 'best' : 'newest' };
  }

  #best({ from, where, values, ranks, id, needsMails }: Sql, limit: number, offset: number): Row[] {
    const score = SCORE(ranks!);
    // Equal scores newest first, so that pages do not overlap. Mails are looked up for those that are shown alone.
    const take = `ORDER BY score DESC, ${id} DESC LIMIT ? OFFSET ?`;
    const sql = needsMails
      ? `SELECT m.mail, m.mailbox, m.date, ${score} AS score, ${id} FROM ${from} WHERE ${where} ${take}`
      : `SELECT m.mail, m.mailbox, m.date, r.score, r.doc FROM (SELECT ${id} AS doc, ${score} AS score FROM ${from.replace(JOIN.replace('$', id), '')} WHERE ${where} ${take}) r
          CROSS JOIN mails m ON m.doc = r.doc ORDER BY r.score DESC, r.doc DESC`;
    return this.#statement(sql).raw().all(...values, limit, offset) as Row[];
  }

  /** @param after only what is older than this row of the index, or null */
  #newest({ from, where, values, id }: Sql, after: number | null, limit: number, offset: number, score: Scoring = UNSCORED): Row[] {
    const older = after === null ? '' : `AND ${id} < CAST(? AS INTEGER)`;
    const sql = `SELECT m.mail, m.mailbox, m.date, ${score.sql}, ${id} FROM ${from} WHERE ${where} ${older} ORDER BY ${id} DESC LIMIT ? OFFSET ?`;
    return this.#statement(sql).raw().all(...score.values, ...values, ...(after === null ? [] : [after]), limit, offset) as Row[];
  }

  /** Whether a phrase is made of words that many mails hold. */
  #isFrequent(groups: Groups): boolean {
    const phrases = groups.flat().filter((term) => isWord(term) && wordsOf(term).length > 1);
    if (phrases.length === 0) return false;
    const frequent = frequentWords(readMeta(this.#db, 'frequent'));
    return phrases.some((term) => wordsOf(term).every((word) => frequent.has(fold(word))));
  }

  /** Null if a term cannot match anything. */
  #compile(query: Query, narrowing: Narrowing): Sql | null {
    const inColumn = (term: Term): Term => (term.column === null && narrowing.column !== null ? { ...term, column: narrowing.column } : term);
    const placed = (all: Groups): Groups => all.map((group) => group.map(inColumn)).flatMap(apart);
    const groups = placed(query.groups);
    const wordGroups: string[] = [];
    const cjkGroups: string[] = [];
    const mixed: Matches[] = [];
    for (const group of groups) {
      if (group.every(isWord)) wordGroups.push(group.map(wordMatch).join(' OR '));
      else {
        const terms = group.flatMap((term) => this.#matches(term));
        if (terms.length === 0) return null;
        if (terms.every(([table]) => table === 'cjk')) cjkGroups.push(terms.map(([, match]) => match).join(' OR '));
        else mixed.push(terms);
      }
    }
    const all = (expressions: readonly string[]): string => expressions.map((each) => `(${each})`).join(' AND ');
    const table = wordGroups.length > 0 ? 'words' : cjkGroups.length > 0 ? 'cjk' : null;
    const left = query.excluded.map(placed);
    const isWords = (each: Groups): boolean => each.every((group) => group.every(isWord));
    const id = table === null ? 'm.doc' : `${table}.rowid`;
    const conditions: string[] = [];
    const values: Value[] = [];
    const add = (condition: string, ...more: Value[]): void => {
      conditions.push(condition);
      values.push(...more);
    };
    if (table === 'words') {
      const without = left.filter(isWords).map((each) => all(each.map((group) => group.map(wordMatch).join(' OR '))));
      add('words MATCH ?', without.length === 0 ? all(wordGroups) : `(${all(wordGroups)}) NOT (${without.join(' OR ')})`);
      if (cjkGroups.length > 0) add(`${id} IN (SELECT rowid FROM cjk WHERE cjk MATCH ?)`, all(cjkGroups));
    } else if (table === 'cjk') add('cjk MATCH ?', all(cjkGroups));
    const any = (terms: Matches): string => `(${terms.map(([from]) => `${id} IN (SELECT rowid FROM ${from} WHERE ${from} MATCH ?)`).join(' OR ')})`;
    for (const terms of mixed) add(any(terms), ...terms.map(([, match]) => match));
    for (const each of table === 'words' ? left.filter((groups) => !isWords(groups)) : left) {
      const asked = each.map((group) => group.flatMap((term) => this.#matches(term)));
      // What nothing can match excludes nothing.
      if (asked.every((terms) => terms.length > 0)) add(`NOT (${asked.map(any).join(' AND ')})`, ...asked.flat().map(([, match]) => match));
    }
    const textConditions = conditions.length;
    if (narrowing.mailboxes !== null) add('m.mailbox IN (SELECT value FROM json_each(?))', JSON.stringify(narrowing.mailboxes));
    if (narrowing.exceptMailboxes.length > 0) add('m.mailbox NOT IN (SELECT value FROM json_each(?))', JSON.stringify(narrowing.exceptMailboxes));
    if (narrowing.senders !== null) add('m.sender IN (SELECT value FROM json_each(?))', this.#senders.idsOf(narrowing.senders));
    if (narrowing.after !== null || narrowing.before !== null) {
      const [after, before] = [narrowing.after ?? 0, narrowing.before ?? Number.MAX_SAFE_INTEGER];
      const [low, high] = this.#statement('SELECT MIN(doc), MAX(doc) FROM mails WHERE date >= ? AND date < ?').raw().get(after, before) as [number | null, number | null];
      if (low === null || high === null) return null;
      // The numbers of rows follow the date, so the table is entered at the right place; the date itself decides.
      add(`${id} BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER) AND m.date >= ? AND m.date < ?`, low, high, after, before);
    }
    const isWide = table === 'cjk' && all(cjkGroups).split(' OR ').length > MAX_WEIGHED;
    return { from: table === null ? 'mails m' : table + JOIN.replace('$', id), where: conditions.join(' AND '), values, ranks: isWide ? null : table, id, needsMails: table === null || conditions.length > textConditions, isFrequent: this.#isFrequent(wordGroups.length > 0 ? groups : []), groups };
  }

  /** What a term asks of each table. Nothing where no such characters are in the index. */
  #matches(term: Term): Matches {
    const words = term.words === '' ? [] : [['words', wordMatch(term)] as const];
    const cjk = term.cjk.map((run) => this.#cjkMatch(run));
    return cjk.includes(null) ? [] : [...words, ...cjk.map((match) => ['cjk', term.column === null ? match! : `${term.column} : (${match!})`] as const)];
  }

  #cjkMatch(run: string): string | null {
    if ([...run].length >= 3) return quoted(run);
    const widened = this.#statement(`SELECT term FROM cjk_terms WHERE term >= ? AND term < ? ORDER BY doc DESC LIMIT ${MAX_WIDENED}`).pluck().all(run, `${run}\u{10ffff}`) as string[];
    return widened.length === 0 ? null : widened.map(quoted).join(' OR ');
  }

  #statement(sql: string): Database.Statement {
    let found = this.#statements.get(sql);
    if (found === undefined) {
      // Texts of statements are few: they depend on the shape of a query, not on its words.
      if (this.#statements.size > 200) this.#statements.clear();
      this.#statements.set(sql, (found = this.#db.prepare(sql)));
    }
    return found;
  }
}

const SCORE = (table: string): string => `-bm25(${table}, ${WEIGHTS.subject}.0, ${WEIGHTS.sender}.0, ${WEIGHTS.body}.0, ${WEIGHTS.attachments}.0)`;
const JOIN = ' CROSS JOIN mails m ON m.doc = $';
const wordsOf = (term: Term): string[] => term.words.match(/[\p{L}\p{N}\p{Co}\p{M}]+/gu) ?? [];
const isWord = (term: Term): boolean => term.words !== '' && term.cjk.length === 0;
const hitOf = ([mail, mailbox, date, score]: Row): Hit => ({ mail, mailbox, date, score });

/** A lone term of both scripts is two groups: each table answers for its own. */
function apart(group: readonly Term[]): (readonly Term[])[] {
  const [only] = group;
  if (group.length > 1 || only === undefined || (only.words === '' ? only.cjk.length < 2 : only.cjk.length === 0)) return [group];
  return [...(only.words === '' ? [] : [[{ ...only, cjk: [] }]]), ...only.cjk.map((run) => [{ ...only, words: '', cjk: [run] }])];
}
