import type Database from 'better-sqlite3';
import type { Clock } from '../events/clock.ts';
import type { EventType } from '../events/occurrence.ts';

export type ActivityKind = 'delivered' | 'not_sent' | 'subscribed' | 'changed' | 'gap' | 'woke';

/** What happened, by ids and reasons. Names, addresses and subjects have no place here (architecture 2). */
export interface Activity {
  readonly kind: ActivityKind;
  readonly type?: EventType;
  /** Identity of the client, 8 hex digits. */
  readonly client?: string;
  readonly eventId?: string;
  readonly rowid?: number;
  readonly reason?: string;
}

export interface ActivityEntry extends Activity {
  /** Unix ms. */
  readonly at: number;
}

const FLUSH_MS = 250;
const KEEP_MS = 30 * 86_400_000;
/** About 10 MB at roughly 120 bytes an entry. */
const KEEP_ROWS = 80_000;
/** Entries that wait for the flush; in a flood the oldest of them are dropped and counted. */
const MAX_WAITING = 20_000;

/** Kept in state.db for 30 days or 10 MB. Written in batches, so that an event never waits for it. */
export class ActivityLog {
  readonly #db: Database.Database;
  readonly #clock: Clock;
  #waiting: ActivityEntry[] = [];
  /** `client eventId` of the deliveries not yet written: one eventId counts once for a client. */
  #fresh = new Set<string>();
  #armed = false;
  #dropped = 0;
  #flushes = 0;

  constructor(db: Database.Database, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
    db.exec(`
      CREATE TABLE IF NOT EXISTS activity (n INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER, kind TEXT, type TEXT, client TEXT, event_id TEXT, row INTEGER, reason TEXT);
      CREATE UNIQUE INDEX IF NOT EXISTS activity_delivered ON activity (client, event_id) WHERE kind = 'delivered';
      CREATE INDEX IF NOT EXISTS activity_at ON activity (at);
    `);
  }

  record(activity: Activity): void {
    if (activity.kind === 'delivered') {
      const key = `${activity.client ?? ''} ${activity.eventId ?? ''}`;
      if (this.#fresh.has(key)) return;
      this.#fresh.add(key);
    }
    if (this.#waiting.length >= MAX_WAITING) {
      this.#waiting.shift();
      this.#dropped += 1;
    }
    this.#waiting.push({ at: this.#clock.now(), ...activity });
    if (this.#armed) return;
    this.#armed = true;
    this.#clock.after(FLUSH_MS, () => {
      this.#armed = false;
      this.flush();
    });
  }

  /** Newest first, with what is not written yet. */
  recent(limit: number): readonly ActivityEntry[] {
    this.flush();
    const rows = this.#db
      .prepare('SELECT at, kind, type, client, event_id AS eventId, row AS rowid, reason FROM activity ORDER BY n DESC LIMIT ?')
      .all(limit) as Record<string, unknown>[];
    return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as unknown as ActivityEntry);
  }

  /** Deliveries since a time (Unix ms), one for each event and client. */
  delivered(since: number): number {
    this.flush();
    const row = this.#db.prepare("SELECT count(*) AS n FROM activity WHERE kind = 'delivered' AND at >= ?").get(since) as { n: number };
    return row.n;
  }

  get dropped(): number {
    return this.#dropped;
  }

  flush(): void {
    if (this.#waiting.length === 0 || !this.#db.open) return;
    const entries = this.#waiting;
    this.#waiting = [];
    this.#fresh.clear();
    const insert = this.#db.prepare('INSERT OR IGNORE INTO activity (at, kind, type, client, event_id, row, reason) VALUES (?, ?, ?, ?, ?, ?, ?)');
    this.#db.transaction(() => {
      for (const e of entries) {
        insert.run(e.at, e.kind, e.type ?? null, e.client ?? null, e.eventId ?? null, e.rowid ?? null, e.reason ?? null);
      }
      if (this.#flushes++ % 64 === 0) this.#trim();
    })();
  }

  close(): void {
    this.flush();
  }

  #trim(): void {
    this.#db.prepare('DELETE FROM activity WHERE at < ?').run(this.#clock.now() - KEEP_MS);
    this.#db.prepare('DELETE FROM activity WHERE n <= (SELECT max(n) FROM activity) - ?').run(KEEP_ROWS);
  }
}
