import type { Database, Statement } from 'better-sqlite3';
import type { EventType } from '../events/occurrence.ts';

/** `sent`: told by a push that nobody confirms. */
export type ActivityKind = 'delivered' | 'sent' | 'not_sent' | 'subscribed' | 'unsubscribed' | 'changed' | 'woke' | 'gap' | 'client';

/** What happened, without names, addresses and subjects (architecture 2). `reason` is a fixed word or sentence of ours. */
export interface Activity {
  readonly kind: ActivityKind;
  readonly type?: EventType;
  /** Client id. */
  readonly client?: string;
  readonly eventId?: string;
  readonly rowid?: number;
  readonly reason?: string;
}

export interface ActivityRow {
  readonly id: number;
  /** Unix ms. */
  readonly at: number;
  readonly kind: ActivityKind;
  readonly type: EventType | null;
  readonly client: string | null;
  readonly eventId: string | null;
  readonly rowid: number | null;
  readonly reason: string | null;
}

export interface ActivityFilter {
  readonly kind?: ActivityKind;
  readonly type?: EventType;
  readonly client?: string;
  /** Only rows below this id: the next page. */
  readonly before?: number;
}

export interface ActivityOptions {
  now(): number;
  /** Returns its own cancel. */
  setTimer(ms: number, work: () => void): () => void;
}

/** Written together, so that a burst costs one transaction. */
const FLUSH_MS = 250;
/** What is held while the disk refuses; beyond it the oldest go. */
const MAX_HELD = 10_000;
const KEEP_MS = 30 * 86_400_000;
const MAX_BYTES = 10 * 1024 * 1024;
const PRUNE_MS = 3_600_000;
const MAX_REASON = 200;

/** Row, its share of two indexes, and the texts that stand in both: close to what the file grows by. */
const ROW_BYTES = `(80 + length(kind) + 2 * length(coalesce(client, '')) + 2 * length(coalesce(event_id, '')) + length(coalesce(type, '')) + length(coalesce(reason, '')))`;

type Values = [at: number, kind: string, type: string | null, client: string | null, eventId: string | null, rowid: number | null, reason: string | null];

/**
 * What Activity shows, in state.db. One event counts once for each client and kind, however often it is sent
 * again. A kill loses the last quarter of a second; nothing rests on it.
 */
export class ActivityLog {
  readonly #db: Database;
  readonly #options: ActivityOptions;
  readonly #insert: Statement<Values>;
  readonly #listeners = new Set<(rows: readonly ActivityRow[]) => void>();
  #held: Values[] = [];
  #cancel: (() => void) | null = null;
  #prunedAt = -Infinity;
  #lost = 0;

  constructor(db: Database, options: ActivityOptions) {
    this.#db = db;
    this.#options = options;
    db.exec(`
      CREATE TABLE IF NOT EXISTS activity (
        id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, kind TEXT NOT NULL, type TEXT, client TEXT,
        event_id TEXT, store_row INTEGER, reason TEXT
      );
      CREATE UNIQUE INDEX IF NOT EXISTS activity_once ON activity (kind, client, event_id) WHERE event_id IS NOT NULL AND client IS NOT NULL;
      CREATE INDEX IF NOT EXISTS activity_at ON activity (at);
    `);
    this.#insert = db.prepare('INSERT OR IGNORE INTO activity (at, kind, type, client, event_id, store_row, reason) VALUES (?, ?, ?, ?, ?, ?, ?)');
  }

  /** Entries that a full disk cost. */
  get lost(): number {
    return this.#lost;
  }

  record(activity: Activity): void {
    const { kind, type, client, eventId, rowid, reason } = activity;
    this.#held.push([this.#options.now(), kind, type ?? null, client ?? null, eventId ?? null, rowid ?? null, reason?.slice(0, MAX_REASON) ?? null]);
    if (this.#held.length > MAX_HELD) {
      this.#held.shift();
      this.#lost += 1;
    }
    this.#arm();
  }

  /** Writes what is held. A disk that refuses is tried again; it never stops an event. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = null;
    if (this.#held.length === 0) return;
    const rows: ActivityRow[] = [];
    try {
      this.#db.transaction(() => {
        for (const values of this.#held) {
          const { changes, lastInsertRowid } = this.#insert.run(...values);
          if (changes > 0) rows.push(rowOf(Number(lastInsertRowid), values));
        }
      })();
    } catch {
      this.#arm();
      return;
    }
    this.#held = [];
    if (rows.length > 0) for (const listener of this.#listeners) listener(rows);
    this.#prune();
  }

  /** Newest first, also what was not written yet. */
  recent(limit: number, filter: ActivityFilter = {}): readonly ActivityRow[] {
    this.flush();
    const where: string[] = [];
    const values: (string | number)[] = [];
    for (const [column, value] of [['kind = ?', filter.kind], ['type = ?', filter.type], ['client = ?', filter.client], ['id < ?', filter.before]] as const) {
      if (value === undefined) continue;
      where.push(column);
      values.push(value);
    }
    return this.#db.prepare(`
      SELECT id, at, kind, type, client, event_id AS eventId, store_row AS rowid, reason FROM activity
      ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''} ORDER BY id DESC LIMIT ?
    `).all(...values, limit) as ActivityRow[];
  }

  /** How many were delivered since `since` (Unix ms): "3 delivered today". */
  deliveredSince(since: number, type: EventType): number {
    this.flush();
    return this.#db.prepare("SELECT count(DISTINCT event_id) FROM activity WHERE at >= ? AND kind = 'delivered' AND type = ?").pluck().get(since, type) as number;
  }

  /** Rows as they are written. */
  onRows(listener: (rows: readonly ActivityRow[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Writes what is held, once; call before the database is closed. */
  close(): void {
    this.flush();
    this.#cancel?.();
    this.#cancel = null;
    this.#listeners.clear();
  }

  #arm(): void {
    this.#cancel ??= this.#options.setTimer(FLUSH_MS, () => {
      this.#cancel = null;
      this.flush();
    });
  }

  /** 30 days or 10 MB, whichever is less (ui.md, Activity). */
  #prune(): void {
    const now = this.#options.now();
    if (Math.abs(now - this.#prunedAt) < PRUNE_MS) return;
    this.#prunedAt = now;
    try {
      this.#deleteOld(now);
    } catch {
      // The next hour tries again.
    }
  }

  #deleteOld(now: number): void {
    this.#db.prepare('DELETE FROM activity WHERE at < ?').run(now - KEEP_MS);
    this.#db.prepare(`
      DELETE FROM activity WHERE id <= (
        SELECT id FROM (SELECT id, sum(${ROW_BYTES}) OVER (ORDER BY id DESC) AS bytes FROM activity) WHERE bytes > ? ORDER BY id DESC LIMIT 1
      )
    `).run(MAX_BYTES);
  }
}

function rowOf(id: number, values: Values): ActivityRow {
  const [at, kind, type, client, eventId, rowid, reason] = values;
  return { id, at, kind: kind as ActivityKind, type: type as EventType | null, client, eventId, rowid, reason };
}
