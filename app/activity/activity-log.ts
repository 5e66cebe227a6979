import type { Database, Statement } from 'better-sqlite3';
import type { EventType } from '../events/occurrence.ts';

/** `sent`: told by a push that nobody confirms. `read`: a tool gave items of a store. `reply`, `draft`: what became of a text that a client wrote. */
export type ActivityKind = 'delivered' | 'sent' | 'not_sent' | 'subscribed' | 'unsubscribed' | 'changed' | 'woke' | 'gap' | 'client' | 'read' | 'reply' | 'draft';

/** What happened, without names and subjects (architecture 2). `reason` is a fixed word or sentence of ours. */
export interface Activity {
  readonly kind: ActivityKind;
  readonly type?: EventType;
  /** Client id. */
  readonly client?: string;
  readonly eventId?: string;
  readonly rowid?: number;
  readonly reason?: string;
  /** Kept only where the owner asked for it. */
  readonly sender?: string;
  /** Items read. */
  readonly count?: number;
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
  /** Null unless the owner asked for senders to be kept. */
  readonly sender: string | null;
  /** Items read; null for what is no reading. */
  readonly count: number | null;
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
const DAY_MS = 86_400_000;

/** Row, its share of two indexes, and the texts that stand in both: close to what the file grows by. */
const ROW_BYTES = `(80 + length(kind) + 2 * length(coalesce(client, '')) + 2 * length(coalesce(event_id, '')) + length(coalesce(type, '')) + length(coalesce(reason, '')) + length(coalesce(sender, '')))`;

type Values = [at: number, kind: string, type: string | null, client: string | null, eventId: string | null, rowid: number | null, reason: string | null, count: number | null, sender: string | null];
const COLUMNS = 'id, at, kind, type, client, event_id AS eventId, store_row AS rowid, reason, sender, count';

/**
 * What Activity shows, in state.db. One event counts once for each client and kind, however often it is sent
 * again. Senders are kept only for the days that the owner chose. A kill loses the last quarter of a second; nothing rests on it.
 */
export class ActivityLog {
  readonly #db: Database;
  readonly #options: ActivityOptions;
  readonly #insert: Statement<Values>;
  readonly #listeners = new Set<(rows: readonly ActivityRow[]) => void>();
  #held: Values[] = [];
  #cancel: (() => void) | null = null;
  #prunedAt = -Infinity;
  #keepDays = 0;
  #today: { readonly from: number; readonly ids: Map<string, Set<string>> } | null = null;
  #lost = 0;

  constructor(db: Database, options: ActivityOptions) {
    this.#db = db;
    this.#options = options;
    db.exec(`
      CREATE TABLE IF NOT EXISTS activity (
        id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, kind TEXT NOT NULL, type TEXT, client TEXT,
        event_id TEXT, store_row INTEGER, reason TEXT, sender TEXT, count INTEGER
      );
      CREATE UNIQUE INDEX IF NOT EXISTS activity_once ON activity (kind, client, event_id) WHERE event_id IS NOT NULL AND client IS NOT NULL;
      CREATE INDEX IF NOT EXISTS activity_at ON activity (at);
    `);
    // Tables of an earlier version lack these.
    const there = new Set((db.pragma('table_info(activity)') as { name: string }[]).map(({ name }) => name));
    for (const [name, type] of [['sender', 'TEXT'], ['count', 'INTEGER']] as const) if (!there.has(name)) db.exec(`ALTER TABLE activity ADD COLUMN ${name} ${type}`);
    this.#insert = db.prepare('INSERT OR IGNORE INTO activity (at, kind, type, client, event_id, store_row, reason, count, sender) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  }

  /** Entries that a full disk cost. */
  get lost(): number {
    return this.#lost;
  }

  record(activity: Activity): void {
    const { kind, type, client, eventId, rowid, reason, sender, count } = activity;
    this.#held.push([
      this.#options.now(), kind, type ?? null, client ?? null, eventId ?? null, rowid ?? null, reason?.slice(0, MAX_REASON) ?? null, count ?? null,
      this.#keepDays > 0 ? (sender ?? null) : null,
    ]);
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
    for (const row of rows) this.#countToday(row);
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
      SELECT ${COLUMNS} FROM activity
      ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''} ORDER BY id DESC LIMIT ?
    `).all(...values, limit) as ActivityRow[];
  }

  /** How many events were delivered on this local day, to whomever: "3 delivered today". Counted in memory, read from disk once a day. */
  deliveredToday(type: EventType): number {
    this.flush();
    return this.#idsOfToday().get(type)?.size ?? 0;
  }

  /** When each client was last sent an event (Unix ms), as far as that is kept. */
  lastDeliveries(): Map<string, number> {
    this.flush();
    return new Map(this.#db.prepare("SELECT client, max(at) FROM activity WHERE kind = 'delivered' AND client IS NOT NULL GROUP BY client").raw().all() as [string, number][]);
  }

  /** All that is kept as JSON lines, oldest first: the same data as on screen. */
  export(): string {
    this.flush();
    const rows = this.#db.prepare(`SELECT ${COLUMNS} FROM activity ORDER BY id`).all() as ActivityRow[];
    return rows.map((row) => `${JSON.stringify({ ...row, at: new Date(row.at).toISOString() })}\n`).join('');
  }

  /**
   * Senders are stored with new rows for so many days; 0 stores none and erases those that are there, at once.
   * Call it at the start and after each change of the setting.
   */
  keepSenders(days: number): void {
    this.#keepDays = days;
    if (days === 0) this.#held = this.#held.map((values) => [...values.slice(0, -1), null] as unknown as Values);
    this.flush();
    this.#forgetSenders();
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

  #countToday(row: ActivityRow): void {
    if (row.kind !== 'delivered' || row.type === null || row.eventId === null || this.#today === null) return;
    const ids = this.#idsOfToday();
    if (row.at < this.#today.from) return;
    const known = ids.get(row.type);
    if (known) known.add(row.eventId);
    else ids.set(row.type, new Set([row.eventId]));
  }

  #idsOfToday(): Map<string, Set<string>> {
    const midnight = new Date(this.#options.now());
    midnight.setHours(0, 0, 0, 0);
    const from = midnight.getTime();
    if (this.#today?.from !== from) {
      const ids = new Map<string, Set<string>>();
      this.#today = { from, ids };
      const rows = this.#db.prepare("SELECT DISTINCT type, event_id FROM activity WHERE at >= ? AND kind = 'delivered' AND type IS NOT NULL AND event_id IS NOT NULL")
        .raw().all(from) as [string, string][];
      for (const [type, id] of rows) ids.set(type, (ids.get(type) ?? new Set()).add(id));
    }
    return this.#today.ids;
  }

  #forgetSenders(): void {
    const before = this.#options.now() - this.#keepDays * DAY_MS;
    const erased = this.#db.prepare('UPDATE activity SET sender = NULL WHERE sender IS NOT NULL AND (? = 0 OR at < ?)').run(this.#keepDays, before).changes;
    // Also out of free pages (`secure_delete` of the connection) and of the write-ahead log.
    if (erased > 0) this.#db.pragma('wal_checkpoint(TRUNCATE)');
  }

  /** 30 days or 10 MB, whichever is less (ui.md, Activity). */
  #prune(): void {
    const now = this.#options.now();
    if (Math.abs(now - this.#prunedAt) < PRUNE_MS) return;
    this.#prunedAt = now;
    try {
      this.#forgetSenders();
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
  const [at, kind, type, client, eventId, rowid, reason, count, sender] = values;
  return { id, at, kind: kind as ActivityKind, type: type as EventType | null, client, eventId, rowid, reason, sender, count };
}
