import Database from 'better-sqlite3';
import { existsSync } from 'node:fs';
import type { SchemaObject } from './schema.ts';

export type Synchronous = 'NORMAL' | 'FULL' | 'OFF';
export type SqlValue = string | number | bigint | Uint8Array | null;
export type Row = { readonly [column: string]: SqlValue | undefined };

export interface StoreOptions {
  readonly synchronous?: Synchronous;
  /** SQLite's automatic checkpoint in pages (default 1000); 0: never. */
  readonly walAutocheckpoint?: number;
}

/**
 * A store file held open for writing as Mail, Messages and Contacts hold theirs: WAL, foreign keys on, one connection.
 * Every operation is one transaction; `committedAt` is the monotonic clock just before its COMMIT.
 */
export class SqliteStore {
  readonly path: string;
  /** `process.hrtime.bigint()` just before the last COMMIT; 0 before the first. */
  committedAt = 0n;
  protected readonly options: StoreOptions;
  #db: Database.Database;
  #statements = new Map<string, Database.Statement>();
  #columns = new Map<string, ReadonlySet<string>>();

  constructor(path: string, options: StoreOptions = {}) {
    this.path = path;
    this.options = options;
    this.#db = this.#connect();
  }

  /** Makes the file with its schema; `autoVacuum` must be set before the first table. */
  static build(path: string, schema: readonly SchemaObject[], autoVacuum: 0 | 2 = 0): void {
    if (existsSync(path)) throw new Error('A store stands there already.');
    const db = new Database(path);
    try {
      db.pragma('page_size = 4096');
      db.pragma(`auto_vacuum = ${autoVacuum}`);
      db.pragma('journal_mode = WAL');
      db.transaction(() => {
        for (const object of schema) db.exec(object.sql);
      })();
    } finally {
      db.close();
    }
  }

  /** The writing connection; use it for what no operation covers. */
  get db(): Database.Database {
    return this.#db;
  }

  get isOpen(): boolean {
    return this.#db.open;
  }

  close(): void {
    this.#forget();
    this.#db.close();
  }

  /** Opens what now stands at the path: after a replacement, the new file. */
  reopen(): void {
    if (this.#db.open) this.close();
    this.#db = this.#connect();
  }

  /** Runs `work` as one transaction; inside another one it joins that. */
  transaction<T>(work: () => T): T {
    if (this.#db.inTransaction) return work();
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.beforeCommit();
      const commit = this.statement('COMMIT');
      this.committedAt = process.hrtime.bigint();
      commit.run();
      return result;
    } catch (error) {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  /** A kept statement. */
  statement(sql: string): Database.Statement {
    let found = this.#statements.get(sql);
    if (found === undefined) this.#statements.set(sql, (found = this.#db.prepare(sql)));
    return found;
  }

  get<T = Row>(sql: string, ...values: SqlValue[]): T | undefined {
    return this.statement(sql).get(...values) as T | undefined;
  }

  /** First column of the first row. */
  value<T extends SqlValue>(sql: string, ...values: SqlValue[]): T | undefined {
    const row = this.statement(sql).get(...values) as { [column: string]: T } | undefined;
    return row === undefined ? undefined : Object.values(row)[0];
  }

  all<T = Row>(sql: string, ...values: SqlValue[]): T[] {
    return this.statement(sql).all(...values) as T[];
  }

  run(sql: string, ...values: SqlValue[]): number {
    return this.statement(sql).run(...values).changes;
  }

  /** Columns of a table in their order; empty where the version has no such table. */
  columns(table: string): ReadonlySet<string> {
    let found = this.#columns.get(table);
    if (found === undefined) {
      found = new Set((this.#db.pragma(`table_info(${table})`) as { name: string }[]).map((column) => column.name));
      this.#columns.set(table, found);
    }
    return found;
  }

  has(table: string, column?: string): boolean {
    const columns = this.columns(table);
    return column === undefined ? columns.size > 0 : columns.has(column);
  }

  /** Inserts what this version of the table can hold and gives the rowid (0 without such a table, or if OR IGNORE kept the row out). */
  insert(table: string, row: Row, mode: 'INSERT' | 'INSERT OR IGNORE' = 'INSERT'): number {
    const columns = this.columns(table);
    if (columns.size === 0) return 0;
    const entries = Object.entries(row).filter((entry): entry is [string, SqlValue] => columns.has(entry[0]) && entry[1] !== undefined);
    const names = entries.map(([column]) => `"${column}"`);
    const sql = `${mode} INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
    const done = this.statement(sql).run(...entries.map(([, value]) => value));
    return done.changes === 0 ? 0 : Number(done.lastInsertRowid);
  }

  /** Updates one row by rowid with what this version can hold. */
  update(table: string, rowid: number, row: Row): void {
    const columns = this.columns(table);
    const entries = Object.entries(row).filter((entry): entry is [string, SqlValue] => columns.has(entry[0]) && entry[1] !== undefined);
    if (entries.length === 0) return;
    this.run(`UPDATE ${table} SET ${entries.map(([column]) => `"${column}" = ?`).join(', ')} WHERE ROWID = ?`, ...entries.map(([, value]) => value), rowid);
  }

  /** Copies a row under a new rowid, with changes. Values pass through SQL only, so 64-bit integers stay exact. */
  copyRow(table: string, rowid: number, changes: Row): number {
    const names = [...this.columns(table)].filter((column) => column.toUpperCase() !== 'ROWID');
    const values: SqlValue[] = [];
    const sources = names.map((column) => {
      const change = changes[column];
      if (change === undefined) return `"${column}"`;
      values.push(change);
      return '?';
    });
    const done = this.statement(
      `INSERT INTO ${table} (${names.map((column) => `"${column}"`).join(', ')}) SELECT ${sources.join(', ')} FROM ${table} WHERE ROWID = ?`,
    ).run(...values, rowid);
    if (done.changes === 0) throw new Error(`No row ${rowid} in ${table}.`);
    return Number(done.lastInsertRowid);
  }

  /** Highest rowid ever given in a table (sqlite_sequence). */
  sequence(table: string): number {
    return this.value<number>('SELECT seq FROM sqlite_sequence WHERE name = ?', table) ?? 0;
  }

  /** Leaves a hole in the rowids: counters of real stores are sparse. */
  skipRowids(table: string, count: number): void {
    this.transaction(() => {
      const changed = this.run('UPDATE sqlite_sequence SET seq = seq + ? WHERE name = ?', count, table);
      if (changed === 0) this.run('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)', table, count);
    });
  }

  /** Hook for what a store writes at the end of each of its transactions. */
  protected beforeCommit(): void {}

  /** Hook for functions that the store's triggers call. */
  protected register(_db: Database.Database): void {}

  #connect(): Database.Database {
    const db = new Database(this.path, { fileMustExist: true, timeout: 5000 });
    db.pragma('journal_mode = WAL');
    db.pragma(`synchronous = ${this.options.synchronous ?? 'NORMAL'}`);
    db.pragma('foreign_keys = ON');
    if (this.options.walAutocheckpoint !== undefined) db.pragma(`wal_autocheckpoint = ${this.options.walAutocheckpoint}`);
    this.register(db);
    // A first read opens the WAL, so that the sidecars stand there as soon as the program runs.
    db.prepare('SELECT COUNT(*) FROM sqlite_schema').get();
    return db;
  }

  #forget(): void {
    this.#statements.clear();
    this.#columns.clear();
  }
}
