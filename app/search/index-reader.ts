import type Database from 'better-sqlite3-multiple-ciphers';
import { readMeta } from './index-file.ts';
import { quoted, wordMatch, type Column, type Query, type Term } from './query.ts';

/** Weights of BM25: a subject names what a mail is about, a body mentions much. */
export const WEIGHTS = { subject: 4, sender: 2, body: 1 } as const;
/** Up to so many hits are ranked; of more the newest are shown, which is told. */
export const MAX_RANKED = 5000;
/** Hits that `accept` is asked about where there are too many to rank. */
const MAX_ASKED = 20_000;
const PAGE = 500;
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
  /** BM25, higher is better; null where the order is by date. */
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
  /** Which of these mails may be shown (labels, grants). Asked in order of rank, so that a page is full and the count right. */
  readonly accept: ((mails: readonly number[]) => ReadonlySet<number>) | null;
}

export interface Found {
  readonly hits: readonly Hit[];
  /** Hits in all; not exact above what is ranked. */
  readonly count: number;
  readonly isExact: boolean;
  readonly order: 'best' | 'newest';
}

type Row = [mail: number, mailbox: number, date: number, score: number | null];
type Value = string | number;

interface Sql {
  readonly from: string;
  readonly where: string;
  readonly values: readonly Value[];
  /** Table that BM25 ranks by, or null: newest first. */
  readonly ranks: 'words' | 'cjk' | null;
  readonly id: string;
  readonly needsMails: boolean;
}

/** The searching side, over one read-only connection. */
export class IndexReader {
  readonly #db: Database.Database;
  readonly #statements = new Map<string, Database.Statement>();

  constructor(db: Database.Database) {
    this.#db = db;
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  find(query: Query, narrowing: Narrowing, offset: number, limit: number): Found {
    // One state for counting and reading.
    return this.#db.transaction(() => this.#find(query, narrowing, offset, limit))();
  }

  counts(): { readonly mails: number; readonly failures: number; readonly textBytes: number; readonly synced: number | null } {
    const failures = this.#statement('SELECT COUNT(*) FROM failures').pluck().get() as number;
    const synced = readMeta(this.#db, 'synced');
    return { mails: Number(readMeta(this.#db, 'mails') ?? 0), failures, textBytes: Number(readMeta(this.#db, 'textBytes') ?? 0), synced: typeof synced === 'number' ? synced : null };
  }

  /** Mails that could not be read as they should, the latest first. Times are Unix ms. */
  failures(limit: number): readonly { readonly mail: number; readonly reason: string; readonly first: number; readonly last: number; readonly attempts: number }[] {
    return this.#db.prepare('SELECT mail, reason, first, last, attempts FROM failures ORDER BY last DESC, mail DESC LIMIT ?').all(limit) as never;
  }

  #find(query: Query, narrowing: Narrowing, offset: number, limit: number): Found {
    const sql = this.#compile(query, narrowing);
    if (sql === null) return { hits: [], count: 0, isExact: true, order: 'best' };
    const bare = sql.needsMails ? sql.from : sql.from.replace(JOIN.replace('$', sql.id), '');
    const count = this.#statement(`SELECT COUNT(*) FROM (SELECT 1 FROM ${bare} WHERE ${sql.where} LIMIT ${MAX_RANKED + 1})`).pluck().get(...sql.values) as number;
    if (count === 0) return { hits: [], count: 0, isExact: true, order: 'best' };
    return count <= MAX_RANKED ? this.#best(sql, narrowing, offset, limit, count) : this.#newest(sql, narrowing, offset, limit, count);
  }

  #best(sql: Sql, narrowing: Narrowing, offset: number, limit: number, count: number): Found {
    const score = sql.ranks === null ? 'NULL' : `-bm25(${sql.ranks}, ${WEIGHTS.subject}.0, ${WEIGHTS.sender}.0, ${WEIGHTS.body}.0)`;
    // Equal scores newest first, so that pages do not overlap. Mails are looked up for those that are shown alone.
    const ranked = (take: string): string => sql.needsMails
      ? `SELECT m.mail, m.mailbox, m.date, ${score} AS score FROM ${sql.from} WHERE ${sql.where} ORDER BY score DESC, ${sql.id} DESC ${take}`
      : `SELECT m.mail, m.mailbox, m.date, r.score FROM (SELECT ${sql.id} AS doc, ${score} AS score FROM ${sql.from.replace(JOIN.replace('$', sql.id), '')} WHERE ${sql.where} ORDER BY score DESC, ${sql.id} DESC ${take}) r
          CROSS JOIN mails m ON m.doc = r.doc ORDER BY r.score DESC, r.doc DESC`;
    if (narrowing.accept === null) {
      const rows = this.#statement(ranked('LIMIT ? OFFSET ?')).raw().all(...sql.values, limit, offset) as Row[];
      return { hits: rows.map(hitOf), count, isExact: true, order: sql.ranks === null ? 'newest' : 'best' };
    }
    const rows = this.#statement(ranked('')).raw().all(...sql.values) as Row[];
    const accepted = narrowing.accept(rows.map(([mail]) => mail));
    const kept = rows.filter(([mail]) => accepted.has(mail));
    return { hits: kept.slice(offset, offset + limit).map(hitOf), count: kept.length, isExact: true, order: sql.ranks === null ? 'newest' : 'best' };
  }

  #newest(sql: Sql, narrowing: Narrowing, offset: number, limit: number, count: number): Found {
    const statement = this.#statement(`SELECT m.mail, m.mailbox, m.date, NULL FROM ${sql.from} WHERE ${sql.where} ORDER BY ${sql.id} DESC LIMIT ? OFFSET ?`).raw();
    if (narrowing.accept === null) return { hits: (statement.all(...sql.values, limit, offset) as Row[]).map(hitOf), count, isExact: false, order: 'newest' };
    const kept: Row[] = [];
    let asked = 0;
    while (kept.length < offset + limit && asked < MAX_ASKED) {
      const rows = statement.all(...sql.values, PAGE, asked) as Row[];
      const accepted = narrowing.accept(rows.map(([mail]) => mail));
      kept.push(...rows.filter(([mail]) => accepted.has(mail)));
      asked += rows.length;
      if (rows.length < PAGE) break;
    }
    return { hits: kept.slice(offset, offset + limit).map(hitOf), count: kept.length, isExact: false, order: 'newest' };
  }

  /** Null if a term cannot match anything. */
  #compile(query: Query, narrowing: Narrowing): Sql | null {
    const inColumn = (term: Term): Term => (term.column === null && narrowing.column !== null ? { ...term, column: narrowing.column } : term);
    const groups = query.groups.map((group) => group.map(inColumn)).flatMap(apart);
    const wordGroups: string[] = [];
    const cjkGroups: string[] = [];
    const mixed: (readonly (readonly ['words' | 'cjk', string])[])[] = [];
    for (const group of groups) {
      if (group.every(isWord)) wordGroups.push(group.map(wordMatch).join(' OR '));
      else {
        const terms = group.flatMap((term) => this.#matches(term));
        if (terms.length === 0) return null;
        if (terms.every(([table]) => table === 'cjk')) cjkGroups.push(terms.map(([, match]) => match).join(' OR '));
        else mixed.push(terms);
      }
    }
    const excluded = query.excluded.map(inColumn).flatMap((term) => this.#matches(term));
    const all = (expressions: readonly string[]): string => expressions.map((each) => `(${each})`).join(' AND ');
    const table = wordGroups.length > 0 ? 'words' : cjkGroups.length > 0 ? 'cjk' : null;
    const id = table === null ? 'm.doc' : `${table}.rowid`;
    const conditions: string[] = [];
    const values: Value[] = [];
    const add = (condition: string, ...more: Value[]): void => {
      conditions.push(condition);
      values.push(...more);
    };
    if (table === 'words') {
      const without = excluded.filter(([from]) => from === 'words').map(([, match]) => match);
      add('words MATCH ?', without.length === 0 ? all(wordGroups) : `(${all(wordGroups)}) NOT (${without.join(' OR ')})`);
      if (cjkGroups.length > 0) add(`${id} IN (SELECT rowid FROM cjk WHERE cjk MATCH ?)`, all(cjkGroups));
    } else if (table === 'cjk') add('cjk MATCH ?', all(cjkGroups));
    for (const terms of mixed) add(`(${terms.map(([from]) => `${id} IN (SELECT rowid FROM ${from} WHERE ${from} MATCH ?)`).join(' OR ')})`, ...terms.map(([, match]) => match));
    for (const [from, match] of excluded) if (from !== table || from === 'cjk') add(`${id} NOT IN (SELECT rowid FROM ${from} WHERE ${from} MATCH ?)`, match);
    const textConditions = conditions.length;
    if (narrowing.mailboxes !== null) add('m.mailbox IN (SELECT value FROM json_each(?))', JSON.stringify(narrowing.mailboxes));
    if (narrowing.exceptMailboxes.length > 0) add('m.mailbox NOT IN (SELECT value FROM json_each(?))', JSON.stringify(narrowing.exceptMailboxes));
    if (narrowing.after !== null || narrowing.before !== null) {
      const [after, before] = [narrowing.after ?? 0, narrowing.before ?? Number.MAX_SAFE_INTEGER];
      const [low, high] = this.#statement('SELECT MIN(doc), MAX(doc) FROM mails WHERE date >= ? AND date < ?').raw().get(after, before) as [number | null, number | null];
      if (low === null || high === null) return null;
      // The numbers of rows follow the date, so the table is entered at the right place; the date itself decides.
      add(`${id} BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER) AND m.date >= ? AND m.date < ?`, low, high, after, before);
    }
    const isWide = table === 'cjk' && all(cjkGroups).split(' OR ').length > MAX_WEIGHED;
    return { from: table === null ? 'mails m' : table + JOIN.replace('$', id), where: conditions.join(' AND '), values, ranks: isWide ? null : table, id, needsMails: table === null || conditions.length > textConditions };
  }

  /** What a term asks of each table. Nothing where no such characters are in the index. */
  #matches(term: Term): (readonly ['words' | 'cjk', string])[] {
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

const JOIN = ' CROSS JOIN mails m ON m.doc = $';
const isWord = (term: Term): boolean => term.words !== '' && term.cjk.length === 0;
const hitOf = ([mail, mailbox, date, score]: Row): Hit => ({ mail, mailbox, date, score });

/** A lone term of both scripts is two groups: each table answers for its own. */
function apart(group: readonly Term[]): (readonly Term[])[] {
  const [only] = group;
  if (group.length > 1 || only === undefined || (only.words === '' ? only.cjk.length < 2 : only.cjk.length === 0)) return [group];
  return [...(only.words === '' ? [] : [[{ ...only, cjk: [] }]]), ...only.cjk.map((run) => [{ ...only, words: '', cjk: [run] }])];
}
