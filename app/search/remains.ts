import type Database from 'better-sqlite3-multiple-ciphers';
import type { IndexWriter } from './index-writer.ts';
import { quoted } from './query.ts';

/** Why a mail left the index: it is excluded, or Mail has it no more. */
export type Departure = 'excluded' | 'gone';

/** Pages of segments written anew in one step: some 2 MB, so that nothing waits long. */
const PAGES = 500;
/** All segments are written anew for what left, so what Mail deleted is collected: longer, the larger the file is. */
const GONE_BYTES_PER_MS = 40;
const GONE_LEAST_MS = 10_000;
const GONE_MOST_MS = 3_600_000;

/**
 * What is left of mails that left: a full-text table marks a row as deleted and keeps its words in its segments until they are
 * merged. Here they are, and what the write-ahead log holds goes too. Where it was stopped it begins anew at the next start.
 */
export class Remains {
  readonly #db: Database.Database;
  readonly #writer: IndexWriter;
  /** When the first mail was noted that is not cleared away yet: ms of this process. */
  #since: number | null = null;
  #isBegun = false;
  /** More left while it was cleared away. */
  #isAgain = false;

  constructor(db: Database.Database, writer: IndexWriter) {
    this.#db = db;
    this.#writer = writer;
    if (this.#kind !== null) this.#since = performance.now();
  }

  note(why: Departure): void {
    this.#isAgain = this.#isBegun;
    this.#since ??= performance.now();
    if (this.#kind !== 'excluded') this.#writer.setMeta('remains', why);
  }

  /** Milliseconds until there is something to do, 0: now; null: there is nothing. */
  dueIn(): number | null {
    const kind = this.#kind;
    if (kind === null || this.#since === null) return null;
    if (kind === 'excluded' || this.#isBegun) return 0;
    const bytes = (this.#db.pragma('page_count', { simple: true }) as number) * (this.#db.pragma('page_size', { simple: true }) as number);
    const wait = Math.min(GONE_MOST_MS, Math.max(GONE_LEAST_MS, bytes / GONE_BYTES_PER_MS));
    return Math.max(0, this.#since + wait - performance.now());
  }

  /** Does a part of it. False: a search reads what is to go; to be tried again in a moment. */
  step(): boolean {
    const pages = this.#isBegun ? PAGES : -PAGES;
    this.#isBegun = true;
    if (this.#writer.merge(pages) || pages < 0) return true;
    if (this.#isAgain) {
      [this.#isBegun, this.#isAgain] = [false, false];
      return true;
    }
    this.#forgetFrequent();
    const [{ busy }] = this.#db.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
    if (busy !== 0) return false;
    this.#isBegun = false;
    this.#since = null;
    this.#writer.setMeta('remains', '');
    return true;
  }

  /** Words that no mail holds any more. */
  #forgetFrequent(): void {
    const kept = this.#writer.meta('frequent');
    if (typeof kept !== 'string') return;
    const holds = this.#db.prepare('SELECT 1 FROM words WHERE words MATCH ? LIMIT 1');
    this.#writer.setMeta('frequent', JSON.stringify((JSON.parse(kept) as string[]).filter((word) => holds.get(quoted(word)) !== undefined)));
  }

  get #kind(): Departure | null {
    const kept = this.#writer.meta('remains');
    return kept === 'excluded' || kept === 'gone' ? kept : null;
  }
}
