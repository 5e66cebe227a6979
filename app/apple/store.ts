import Database from 'better-sqlite3';
import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError, type FileIdentity, type StoreTrouble } from './reader.ts';

/** Shorter than a person or a timer notices: a checkpoint passes, and the caller tries again (architecture 4). */
const BUSY_MS = 20;
/** A file swapped between two stats is swapped again at most a few times. */
const OPEN_TRIES = 3;
const MAGIC = Buffer.from('SQLite format 3\0', 'latin1');

/** Sentences for the owner: no path, no SQL (architecture 7). */
const SENTENCES: Record<StoreTrouble, string> = {
  not_permitted: 'The store may not be read: Full Disk Access is missing.',
  not_there: 'There is no store at this place.',
  broken: 'The store is damaged or has a form that is not known.',
  busy: 'The store is busy.',
};

export function storeError(kind: StoreTrouble): StoreError {
  return new StoreError(kind, SENTENCES[kind]);
}

export interface StoreOptions {
  /** Tables without which the file is no such store. */
  readonly tables: readonly string[];
  /** Called with the name of a read and its milliseconds when it took longer than `slowMs` (default 50). */
  readonly onSlow?: (name: string, ms: number) => void;
  readonly slowMs?: number;
  /** Another connection of this process may have the file open: then it is looked at by SQLite alone. */
  readonly isShared?: boolean;
}

/** One read-only connection to one of Apple's stores, and what the file system says about its file. */
export class Store {
  readonly path: string;
  readonly #options: StoreOptions;
  #db: Database.Database | null = null;
  #identity: FileIdentity = { dev: '0', ino: '0' };
  #wal: string | null = null;
  #statements = new Map<string, Database.Statement>();
  #columns = new Map<string, ReadonlySet<string>>();
  #indexes: ReadonlySet<string> | null = null;
  #dataVersion: Database.Statement | null = null;

  constructor(path: string, options: StoreOptions) {
    this.path = path;
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#db !== null;
  }

  /** The open connection. Throws StoreError `not_there` if the store is not open. */
  get db(): Database.Database {
    if (this.#db === null) throw storeError('not_there');
    return this.#db;
  }

  /** Opens unless open. Throws StoreError. */
  open(): void {
    if (this.#db !== null) return;
    for (let attempt = 1; ; attempt += 1) {
      const before = this.#options.isShared === true ? identityOf(this.path) : inspect(this.path);
      if (before === null) throw storeError('not_there');
      const db = connect(this.path);
      const after = identityOf(this.path);
      if (after !== null && after.dev === before.dev && after.ino === before.ino) {
        this.#db = db;
        this.#identity = after;
        this.#wal = identityOf(`${this.path}-wal`)?.ino ?? null;
        break;
      }
      db.close();
      if (attempt === OPEN_TRIES) throw storeError('busy');
    }
    try {
      this.guard(() => {
        for (const table of this.#options.tables) if (!this.has(table)) throw storeError('broken');
      });
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    this.#statements.clear();
    this.#columns.clear();
    this.#indexes = null;
    this.#dataVersion = null;
    this.#db?.close();
    this.#db = null;
  }

  identity(): FileIdentity {
    return this.#identity;
  }

  /** True if the path names another file than the open one, or none, or its `-wal` became another (ruling 20). */
  replaced(): boolean {
    if (this.#db === null) return false;
    const now = identityOf(this.path);
    if (now === null || now.dev !== this.#identity.dev || now.ino !== this.#identity.ino) return true;
    const wal = identityOf(`${this.path}-wal`)?.ino ?? null;
    // A first `-wal` belongs to the open connection as well; only an exchanged or removed one leaves it blind.
    this.#wal ??= wal;
    return this.#wal !== wal;
  }

  /** `PRAGMA data_version`: moves when another connection committed. */
  dataVersion(): number {
    return this.guard(() => (this.#dataVersion ??= this.db.prepare('PRAGMA data_version').pluck()).get() as number);
  }

  /** Highest rowid ever given (`sqlite_sequence`); `MAX(ROWID)` where the table does not count. */
  head(table: string): number {
    const counted = this.statement('SELECT seq FROM sqlite_sequence WHERE name = ?', 'pluck').get(table) as number | undefined;
    return counted ?? (this.statement(`SELECT MAX(ROWID) FROM "${table}"`, 'pluck').get() as number | null) ?? 0;
  }

  /** Column names of a table; empty where this version has no such table. */
  columns(table: string): ReadonlySet<string> {
    let found = this.#columns.get(table);
    if (found === undefined) {
      const rows = this.db.pragma(`table_info("${table}")`) as { name: string }[];
      this.#columns.set(table, (found = new Set(rows.map((row) => row.name))));
    }
    return found;
  }

  has(table: string, column?: string): boolean {
    const columns = this.columns(table);
    return column === undefined ? columns.size > 0 : columns.has(column);
  }

  hasIndex(name: string): boolean {
    this.#indexes ??= new Set(this.db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'index'`).pluck().all() as string[]);
    return this.#indexes.has(name);
  }

  /**
   * A kept statement. `raw` gives arrays, `pluck` the first column. Parameters are written `+?` to SQLite: with STAT4
   * its planner reads a bare one and prepares the statement again at each new value (measured 25 against 2 microseconds
   * for a row with four joins). So the SQL holds no question mark but those.
   */
  statement(sql: string, shape: 'rows' | 'raw' | 'pluck' = 'rows'): Database.Statement {
    const key = shape === 'rows' ? sql : `${shape} ${sql}`;
    let found = this.#statements.get(key);
    if (found === undefined) {
      found = this.db.prepare(sql.replaceAll('?', '+?'));
      if (shape === 'raw') found.raw();
      else if (shape === 'pluck') found.pluck();
      this.#statements.set(key, found);
    }
    return found;
  }

  /** Runs `work` in one short read transaction, so that its statements see one state. Throws StoreError. */
  transaction<T>(name: string, work: () => T): T {
    const db = this.db;
    if (db.inTransaction) return work();
    const started = performance.now();
    return this.guard(() => {
      this.statement('BEGIN').run();
      try {
        return work();
      } finally {
        if (db.inTransaction) this.statement('COMMIT').run();
        const ms = performance.now() - started;
        if (ms > (this.#options.slowMs ?? 50)) this.#options.onSlow?.(name, ms);
      }
    });
  }

  /** Runs `work` and turns SQLite's errors into StoreError; other errors pass. */
  guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw error instanceof Database.SqliteError ? storeError(troubleOf(error.code)) : error;
    }
  }
}

/** What an error code of SQLite says (data-formats/tcc). `SQLITE_CANTOPEN` says nothing: `inspect` decides. */
export function troubleOf(code: string): StoreTrouble {
  if (/^SQLITE_(BUSY|LOCKED|PROTOCOL|SCHEMA|READONLY)/.test(code)) return 'busy';
  if (/^SQLITE_(AUTH|PERM)/.test(code)) return 'not_permitted';
  return 'broken';
}

/**
 * Opens the file plainly and looks at its first bytes: `stat` succeeds without permission, and SQLite has one
 * code for absent and denied (data-formats/tcc). Never called while a connection is open: closing a second
 * descriptor drops the process's POSIX locks. Throws StoreError.
 */
function inspect(path: string): FileIdentity {
  let file: number;
  const identity = identityOf(path);
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw storeError(troubleOfOpen(error));
  }
  try {
    const head = Buffer.alloc(MAGIC.length);
    // An empty file is a valid empty database to SQLite, and no store to us.
    if (readSync(file, head, 0, head.length, 0) < head.length || !head.equals(MAGIC)) throw storeError('broken');
  } catch (error) {
    throw error instanceof StoreError ? error : storeError(troubleOfOpen(error));
  } finally {
    closeSync(file);
  }
  if (identity === null) throw storeError('busy');
  return identity;
}

function connect(path: string): Database.Database {
  let db: Database.Database | null = null;
  try {
    db = new Database(path, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
    db.pragma('query_only = ON');
    // The first read opens the WAL and shows whether this is a database at all.
    db.prepare('SELECT COUNT(*) FROM sqlite_schema').get();
    return db;
  } catch (error) {
    db?.close();
    if (!(error instanceof Database.SqliteError)) throw error;
    // The file itself opened: the sidecars did not, or may not be made.
    if (error.code.startsWith('SQLITE_CANTOPEN')) throw storeError(identityOf(path) === null ? 'not_there' : isDenied(path) ? 'not_permitted' : 'busy');
    throw storeError(troubleOf(error.code));
  }
}

function isDenied(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    accessSync(dirname(path), constants.W_OK);
    for (const end of ['-wal', '-shm']) if (identityOf(path + end) !== null) accessSync(path + end, constants.R_OK);
    return false;
  } catch {
    return true;
  }
}

function troubleOfOpen(error: unknown): StoreTrouble {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EPERM':
    case 'EACCES':
      return 'not_permitted';
    case 'ENOENT':
    case 'ENOTDIR':
      return 'not_there';
    case 'EMFILE':
    case 'ENFILE':
    case 'EINTR':
    case 'EAGAIN':
      return 'busy';
    default:
      return 'broken';
  }
}

/** Device and inode of what the path names; null if nothing, or if even `stat` is denied. */
export function identityOf(path: string): FileIdentity | null {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? null : { dev: String(stat.dev), ino: String(stat.ino) };
  } catch {
    return null;
  }
}
