import { createHmac, randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import type { Writing } from './writing.ts';

export interface JournalEntry {
  readonly request: string;
  readonly client: string;
  readonly kind: Writing['kind'];
  /** Keyed hash of what is written. */
  readonly content: string;
  /** Unix ms. */
  readonly at: number;
  readonly state: 'running' | 'done' | 'unknown';
}

/** How long a repeated request is known again. */
const KEEP_MS = 24 * 3_600_000;
const COLUMNS = 'request, client, kind, content, at, state';

/**
 * What was begun, in state.db before it begins: so that after a kill the same request is answered and not sent again.
 * Neither texts nor chats: hashes with a secret of this folder.
 */
export class OutgoingJournal {
  readonly #db: Database;
  readonly #secret: Buffer;

  constructor(db: Database) {
    this.#db = db;
    db.exec(`
      CREATE TABLE IF NOT EXISTS outgoing (
        mark TEXT PRIMARY KEY, request TEXT NOT NULL UNIQUE, client TEXT NOT NULL, kind TEXT NOT NULL, content TEXT NOT NULL, at INTEGER NOT NULL, state TEXT NOT NULL
      ) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS outgoing_secret (one INTEGER PRIMARY KEY CHECK (one = 1), secret BLOB NOT NULL);
    `);
    db.prepare('INSERT OR IGNORE INTO outgoing_secret VALUES (1, ?)').run(randomBytes(32));
    this.#secret = db.prepare('SELECT secret FROM outgoing_secret').pluck().get() as Buffer;
    // Whoever ran these was killed.
    db.prepare("UPDATE outgoing SET state = 'unknown' WHERE state = 'running'").run();
  }

  hash(...parts: readonly string[]): string {
    return createHmac('sha256', this.#secret).update(JSON.stringify(parts)).digest('hex').slice(0, 32);
  }

  find(mark: string): JournalEntry | null {
    return (this.#db.prepare(`SELECT ${COLUMNS} FROM outgoing WHERE mark = ?`).get(mark) as JournalEntry | undefined) ?? null;
  }
  byRequest(request: string): JournalEntry | null {
    return (this.#db.prepare(`SELECT ${COLUMNS} FROM outgoing WHERE request = ?`).get(request) as JournalEntry | undefined) ?? null;
  }

  /** @throws from SQLite: then nothing may begin */
  begin(mark: string, entry: Omit<JournalEntry, 'state'>): void {
    const { request, client, kind, content, at } = entry;
    this.#db.transaction(() => {
      this.#db.prepare('DELETE FROM outgoing WHERE at < ?').run(at - KEEP_MS);
      this.#db.prepare("INSERT OR REPLACE INTO outgoing VALUES (?, ?, ?, ?, ?, ?, 'running')").run(mark, request, client, kind, content, at);
    })();
  }

  /** @param state `failed`: nothing went out, and it may be asked for again */
  settle(mark: string, state: 'done' | 'failed' | 'unknown'): void {
    if (state === 'failed') this.#db.prepare('DELETE FROM outgoing WHERE mark = ?').run(mark);
    else this.#db.prepare('UPDATE outgoing SET state = ? WHERE mark = ?').run(state, mark);
  }
}
