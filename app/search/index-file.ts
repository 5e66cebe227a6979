import Database from 'better-sqlite3-multiple-ciphers';
import { chmodSync, closeSync, existsSync, openSync, rmSync } from 'node:fs';

/** 32 bytes for the file's cipher, or `plain` where nothing keeps a key (headless). */
export const KEY_BYTES = 32;
export type IndexKey = { readonly key: Uint8Array } | { readonly plain: true };

/** Raised when tables or what stands in them changes: an index of another version is built anew. */
export const SCHEMA = 4;
const PAGE = 8192;

/**
 * Words without stemming: mail comes in many languages, often in one thread, and a stemmer of one damages the words of the
 * others. `word*` asks for endings. Diacritics do not count.
 *
 * The tables hold no text (`content=''`): snippets are cut from the mail's own file. Measured over 100,000 mails the index has 0.7
 * times the size of the text, a snippet takes a tenth of a millisecond, no second copy of the mail lies anywhere, and a snippet
 * shows what the mail holds now. With the text inside, the index would be 1.7 times the text.
 */
const TABLES = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
  CREATE TABLE mails (doc INTEGER PRIMARY KEY, mail INTEGER NOT NULL, mailbox INTEGER NOT NULL, file INTEGER NOT NULL, date INTEGER NOT NULL, bytes INTEGER NOT NULL, sender INTEGER NOT NULL);
  CREATE TABLE senders (id INTEGER PRIMARY KEY AUTOINCREMENT, address TEXT NOT NULL UNIQUE);
  CREATE UNIQUE INDEX mails_mail ON mails (mail, mailbox, file);
  CREATE INDEX mails_date ON mails (date, doc);
  CREATE INDEX mails_mailbox ON mails (mailbox, doc);
  CREATE TABLE failures (mail INTEGER PRIMARY KEY, reason TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, attempts INTEGER NOT NULL);
  CREATE VIRTUAL TABLE words USING fts5(subject, sender, body, attachments, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
  CREATE VIRTUAL TABLE cjk USING fts5(subject, sender, body, attachments, content='', contentless_delete=1, tokenize='trigram');
  CREATE VIRTUAL TABLE cjk_terms USING fts5vocab(cjk, row);
`;

export interface OpenedIndex {
  readonly db: Database.Database;
  /** True if a file was there that could not be used. */
  readonly isReplaced: boolean;
}

/**
 * Opens the index for writing, mode 0600. A file of another schema, with another key, or damaged, is only a copy of what Mail
 * has: it is removed and made anew.
 */
export function openForWriting(path: string, key: IndexKey): OpenedIndex {
  try {
    const db = connect(path, key, false);
    try {
      if (db.prepare(`SELECT COUNT(*) FROM sqlite_schema WHERE name = 'meta'`).pluck().get() === 1) {
        if (readMeta(db, 'schema') === SCHEMA) return { db: tuned(db), isReplaced: false };
      }
    } catch (error) {
      db.close();
      throw error;
    }
    db.close();
  } catch (error) {
    if (!(error instanceof Database.SqliteError) || (!isDamage(error) && !/^SQLITE_(?:CANTOPEN|ERROR)/.test(error.code))) throw error;
  }
  const isReplaced = existsSync(path);
  removeIndex(path);
  // Made here so that no moment shows it with the mode of the process; SQLite gives its sidecars the same.
  closeSync(openSync(path, 'wx', 0o600));
  const db = connect(path, key, false);
  db.pragma(`page_size = ${PAGE}`);
  db.pragma('journal_mode = WAL');
  db.exec(TABLES);
  db.prepare(`INSERT INTO meta VALUES ('schema', ?)`).run(SCHEMA);
  return { db: tuned(db), isReplaced };
}

/** Whether an error says that the file is damaged, or was written with another key: the cipher tells a page that is not whole. */
export const isDamage = (error: unknown): boolean => error instanceof Database.SqliteError && /^SQLITE_(?:NOTADB|CORRUPT)/.test(error.code);

/** Loads the native library, which else is loaded with the first file. */
export function loadLibrary(): void {
  new Database(':memory:').close();
}

/** Opens for searching. @throws SqliteError if the file is missing, or its key is another. */
export function openForReading(path: string, key: IndexKey): Database.Database {
  const db = connect(path, key, true);
  db.pragma('query_only = ON');
  db.pragma('cache_size = -24000');
  return db;
}

export function removeIndex(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true });
}

export function readMeta(db: Database.Database, key: string): unknown {
  return db.prepare('SELECT value FROM meta WHERE key = ?').pluck().get(key);
}

export function writeMeta(db: Database.Database, key: string, value: string | number): void {
  db.prepare('INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value').run(key, value);
}

function connect(path: string, key: IndexKey, readonly: boolean): Database.Database {
  const db = new Database(path, { readonly, fileMustExist: true, timeout: 2000 });
  try {
    if ('key' in key) {
      if (key.key.length !== KEY_BYTES) throw new RangeError('The key of the index has 32 bytes.');
      db.pragma(`cipher = 'chacha20'`);
      // A raw key: it is random already, so no derivation is needed.
      db.pragma(`key = 'raw:${Buffer.from(key.key).toString('hex')}'`);
    }
    db.prepare('SELECT COUNT(*) FROM sqlite_schema').get();
    if (!readonly) chmodSync(path, 0o600);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function tuned(db: Database.Database): Database.Database {
  // After a power cut the last mails may be missing; the next start finds them.
  db.pragma('synchronous = NORMAL');
  db.pragma('cache_size = -32000');
  db.pragma('temp_store = MEMORY');
  db.pragma('secure_delete = ON');
  return db;
}
