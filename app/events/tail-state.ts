import type Database from 'better-sqlite3';
import type { NotArrival, StoreKind } from '../apple/occurrence.ts';

/** Moved mails are recognised among this many first rows; the oldest go first (architecture 4). */
export const SEEN_LIMIT = 200_000;

export interface TailPosition {
  readonly storeId: string;
  readonly position: number;
  /** Head and time (Unix ms) when this store was first seen: rows up to there were never judged. */
  readonly baseline: number;
  readonly startedAt: number;
  /** Check and inode at the position, to know the store again after a restart. */
  readonly check: string;
  readonly ino: string;
}

/**
 * What a tail must remember over restarts, in state.db: positions, verdicts, row ids, hashes. No names,
 * addresses or subjects. Writes are collected and go out in one transaction by `flush`.
 */
export class TailState {
  readonly #db: Database.Database;
  readonly #store: StoreKind;
  readonly #statements = new Map<string, Database.Statement>();
  readonly #seen = new Map<string, number>();
  readonly #highest = new Map<string, number>();
  readonly #notArrivals = new Map<number, NotArrival>();
  readonly #newest = new Map<number, { seenAt: number; date: number }>();
  #position: TailPosition | null = null;
  #dirty = false;
  #seenCount: number;

  constructor(db: Database.Database, store: StoreKind) {
    this.#db = db;
    this.#store = store;
    db.exec(`
      CREATE TABLE IF NOT EXISTS tail (store TEXT PRIMARY KEY, store_id TEXT, position INTEGER, baseline INTEGER, started_at INTEGER, check_text TEXT, ino TEXT);
      CREATE TABLE IF NOT EXISTS tail_seen (n INTEGER PRIMARY KEY AUTOINCREMENT, store TEXT, account TEXT, key TEXT, first_row INTEGER);
      CREATE UNIQUE INDEX IF NOT EXISTS tail_seen_key ON tail_seen (store, key, account);
      CREATE TABLE IF NOT EXISTS tail_highest (store TEXT, account TEXT, global_id INTEGER, PRIMARY KEY (store, account)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS tail_not_arrival (store TEXT, row INTEGER, reason TEXT, PRIMARY KEY (store, row)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS tail_newest (store TEXT, box INTEGER, seen_at INTEGER, date INTEGER, PRIMARY KEY (store, box, seen_at)) WITHOUT ROWID;
    `);
    const row = db.prepare('SELECT store_id, position, baseline, started_at, check_text, ino FROM tail WHERE store = ?').get(store) as Record<string, never> | undefined;
    if (row) {
      this.#position = {
        storeId: row['store_id']!, position: row['position']!, baseline: row['baseline']!,
        startedAt: row['started_at']!, check: row['check_text']!, ino: row['ino']!,
      };
    }
    for (const entry of db.prepare('SELECT account, global_id FROM tail_highest WHERE store = ?').all(store) as { account: string; global_id: number }[]) {
      this.#highest.set(entry.account, entry.global_id);
    }
    this.#seenCount = (db.prepare('SELECT count(*) AS n FROM tail_seen WHERE store = ?').get(store) as { n: number }).n;
  }

  get position(): TailPosition | null {
    return this.#position;
  }
  set position(position: TailPosition) {
    this.#position = position;
    this.#dirty = true;
  }

  /** Forgets the store before (another UUID, another file): its row ids mean nothing now. */
  reset(): void {
    this.#seen.clear();
    this.#highest.clear();
    this.#notArrivals.clear();
    this.#newest.clear();
    this.#position = null;
    this.#seenCount = 0;
    this.#db.transaction(() => {
      for (const table of ['tail', 'tail_seen', 'tail_highest', 'tail_not_arrival', 'tail_newest']) {
        this.#statement(`DELETE FROM ${table} WHERE store = ?`).run(this.#store);
      }
    })();
  }

  highest(account: string): number {
    return this.#highest.get(account) ?? 0;
  }
  setHighest(account: string, globalId: number): void {
    this.#highest.set(account, globalId);
    this.#dirty = true;
  }

  /** First row of this message in this account, or in any account if `account` is null. */
  seen(key: string, account: string | null): number | null {
    if (account !== null) {
      const fresh = this.#seen.get(`${key} ${account}`);
      if (fresh !== undefined) return fresh;
    } else {
      for (const [entry, row] of this.#seen) if (entry.startsWith(`${key} `)) return row;
    }
    const row = this.#statement(`SELECT first_row AS row FROM tail_seen WHERE store = ? AND key = ?${account === null ? '' : ' AND account = ?'} LIMIT 1`)
      .get(...(account === null ? [this.#store, key] : [this.#store, key, account])) as { row: number } | undefined;
    return row?.row ?? null;
  }
  recordSeen(key: string, account: string, row: number): void {
    this.#seen.set(`${key} ${account}`, row);
    this.#dirty = true;
  }

  recordNotArrival(row: number, reason: NotArrival): void {
    this.#notArrivals.set(row, reason);
    this.#dirty = true;
  }
  notArrivals(rows: readonly number[]): ReadonlyMap<number, NotArrival> {
    const found = new Map<number, NotArrival>();
    if (rows.length === 0) return found;
    const stored = this.#statement('SELECT row, reason FROM tail_not_arrival WHERE store = ? AND row IN (SELECT value FROM json_each(?))')
      .all(this.#store, JSON.stringify(rows)) as { row: number; reason: NotArrival }[];
    for (const entry of stored) found.set(entry.row, entry.reason);
    for (const row of rows) {
      const fresh = this.#notArrivals.get(row);
      if (fresh) found.set(row, fresh);
    }
    return found;
  }

  /** Rows recorded as moved in (after, upTo], in their order. */
  moved(after: number, upTo: number): readonly number[] {
    const rows = new Set(this.#statement(`SELECT row FROM tail_not_arrival WHERE store = ? AND row > ? AND row <= ? AND reason = 'moved'`).pluck().all(this.#store, after, upTo) as number[]);
    for (const [row, reason] of this.#notArrivals) if (reason === 'moved' && row > after && row <= upTo) rows.add(row);
    return [...rows].sort((a, b) => a - b);
  }

  newest(box: number): readonly { seenAt: number; date: number }[] {
    return this.#statement('SELECT seen_at AS seenAt, date FROM tail_newest WHERE store = ? AND box = ? ORDER BY seen_at')
      .all(this.#store, box) as { seenAt: number; date: number }[];
  }
  recordNewest(box: number, seenAt: number, date: number): void {
    this.#newest.set(box, { seenAt, date });
    this.#dirty = true;
  }

  /** Kept: preparing costs several times what running does. */
  #statement(sql: string): Database.Statement {
    let found = this.#statements.get(sql);
    if (found === undefined) this.#statements.set(sql, (found = this.#db.prepare(sql)));
    return found;
  }

  /** One transaction for everything since the last flush. A crash before it only means that rows are judged again. */
  flush(): void {
    if (!this.#dirty) return;
    const store = this.#store;
    this.#db.transaction(() => {
      const seen = this.#statement('INSERT OR IGNORE INTO tail_seen (store, account, key, first_row) VALUES (?, ?, ?, ?)');
      for (const [entry, row] of this.#seen) {
        const [key, account] = entry.split(' ') as [string, string];
        this.#seenCount += seen.run(store, account, key, row).changes;
      }
      const highest = this.#statement('INSERT OR REPLACE INTO tail_highest (store, account, global_id) VALUES (?, ?, ?)');
      for (const [account, id] of this.#highest) highest.run(store, account, id);
      const notArrival = this.#statement('INSERT OR REPLACE INTO tail_not_arrival (store, row, reason) VALUES (?, ?, ?)');
      for (const [row, reason] of this.#notArrivals) notArrival.run(store, row, reason);
      const newest = this.#statement('INSERT OR REPLACE INTO tail_newest (store, box, seen_at, date) VALUES (?, ?, ?, ?)');
      const older = this.#statement(
        // Of the settled rows of a box only the newest date counts: at most a handful of rows a box stay.
        'DELETE FROM tail_newest WHERE store = ? AND box = ? AND seen_at < ? AND date <= (SELECT max(date) FROM tail_newest WHERE store = ? AND box = ? AND seen_at < ?) AND seen_at < (SELECT max(seen_at) FROM tail_newest WHERE store = ? AND box = ? AND seen_at < ?)',
      );
      for (const [box, { seenAt, date }] of this.#newest) {
        newest.run(store, box, seenAt, date);
        const settled = seenAt - 15 * 60_000;
        older.run(store, box, settled, store, box, settled, store, box, settled);
      }
      const p = this.#position;
      if (p) {
        this.#statement('INSERT OR REPLACE INTO tail (store, store_id, position, baseline, started_at, check_text, ino) VALUES (?, ?, ?, ?, ?, ?, ?)').run(store, p.storeId, p.position, p.baseline, p.startedAt, p.check, p.ino);
      }
      if (this.#seenCount > SEEN_LIMIT * 1.05) {
        this.#seenCount -= this.#statement('DELETE FROM tail_seen WHERE store = ? AND n <= (SELECT n FROM tail_seen WHERE store = ? ORDER BY n DESC LIMIT 1 OFFSET ?)')
          .run(store, store, SEEN_LIMIT).changes;
      }
    })();
    this.#seen.clear();
    this.#notArrivals.clear();
    this.#newest.clear();
    this.#dirty = false;
  }
}
