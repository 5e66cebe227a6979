import type { Database, Statement } from 'better-sqlite3';
import type { EventType, Occurrence } from '../events/occurrence.ts';
import { ITEM_STATE, MAX_UNREAD, type ItemRef, type ItemState, type Watch } from './watch.ts';

/** Confirmed items of a watch are remembered this far back, so that one event never waits twice. */
const REMEMBERED = 200;
/** Batches of a client that can still be confirmed. */
const BATCHES = 100;

/** A watch row: `arguments` null where settings hold them. */
export interface WatchRow {
  readonly n: number;
  readonly id: string;
  readonly client: string;
  readonly type: EventType;
  readonly arguments: string | null;
  readonly createdAt: number;
  readonly cursor: string | null;
  readonly dropped: number;
  readonly gap: number;
  readonly confirmed: number;
}

export interface Kept {
  readonly occurrence: Occurrence;
  readonly watches: readonly { readonly n: number; readonly client: string; readonly state: ItemState }[];
}

/** What goes in together. */
export interface Keeping {
  readonly kept: readonly Kept[];
  /** By watch: null where it is abreast of the tail and follows `positions`. */
  readonly cursors: ReadonlyMap<number, string | null>;
  readonly positions: ReadonlyMap<EventType, string>;
  /** Watches for which another store took the place of the one they were reading. */
  readonly gaps: readonly number[];
}

export interface KeptNow {
  readonly added: readonly { readonly watch: number; readonly event: number; readonly state: ItemState; readonly occurrence: Occurrence }[];
  /** Unread items that had to go because the watch was full. */
  readonly dropped: readonly { readonly watch: number; readonly state: ItemState; readonly count: number }[];
}

/** What one batch covers. */
export interface BatchItems {
  /** [event, watch] */
  readonly items: readonly (readonly [number, number])[];
  /** [watch, dropped, gap] as they were told. */
  readonly gaps: readonly (readonly [number, number, number])[];
  /** It left as a push of the channel: only a session that surfaced it can name it. */
  readonly channel: boolean;
}

/**
 * Watches and their items in state.db. An event stands once, however many watches it waits in; an item is a pair
 * of numbers. Items stand by client and arrival: what arrives is written at the end of a client's range, so that
 * an arrival for a thousand watches touches a few pages (with an index by watch it was a page for each). No names, addresses or subjects of what arrived. Every call is one transaction and may throw from SQLite.
 */
export class WatchStore {
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(db: Database) {
    this.#db = db;
    db.exec(`
      CREATE TABLE IF NOT EXISTS watch (
        n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, client TEXT NOT NULL, type TEXT NOT NULL, arguments TEXT,
        created_at INTEGER NOT NULL, cursor TEXT, dropped INTEGER NOT NULL DEFAULT 0, gap INTEGER NOT NULL DEFAULT 0, confirmed INTEGER NOT NULL DEFAULT 0
      );
      CREATE TABLE IF NOT EXISTS watch_position (type TEXT PRIMARY KEY, cursor TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS watch_event (n INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, event_id TEXT NOT NULL, store_row INTEGER NOT NULL, at INTEGER NOT NULL, UNIQUE (event_id, type));
      CREATE TABLE IF NOT EXISTS watch_item (client TEXT NOT NULL, event INTEGER NOT NULL, watch INTEGER NOT NULL, state INTEGER NOT NULL, PRIMARY KEY (client, event, watch)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS watch_confirmed (watch INTEGER NOT NULL, event INTEGER NOT NULL, PRIMARY KEY (watch, event)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS watch_batch (n INTEGER PRIMARY KEY AUTOINCREMENT, client TEXT NOT NULL, channel INTEGER NOT NULL, items TEXT NOT NULL, gaps TEXT NOT NULL);
      CREATE INDEX IF NOT EXISTS watch_batch_client ON watch_batch (client, n);
    `);
  }

  watches(): readonly WatchRow[] {
    return this.#sql('SELECT n, id, client, type, arguments, created_at AS createdAt, cursor, dropped, gap, confirmed FROM watch ORDER BY n').all() as WatchRow[];
  }
  /** Unread items by watch and state. */
  counts(): readonly { readonly watch: number; readonly state: ItemState; readonly count: number }[] {
    return this.#sql('SELECT watch, state, count(*) AS count FROM watch_item WHERE watch > 0 GROUP BY watch, state').all() as { watch: number; state: ItemState; count: number }[];
  }
  /** Where everyone who is abreast of the tail stands. */
  position(type: EventType): string | null {
    return (this.#sql('SELECT cursor FROM watch_position WHERE type = ?').pluck().get(type) as string | undefined) ?? null;
  }

  /** Its number. */
  insert(watch: Watch, cursor: string | null): number {
    const { id, client, type, source, createdAt } = watch;
    const { lastInsertRowid } = this.#sql('INSERT INTO watch (id, client, type, arguments, created_at, cursor) VALUES (?, ?, ?, ?, ?, ?)')
      .run(id, client, type, source === 'owner' ? null : JSON.stringify(watch.arguments), createdAt, cursor);
    return Number(lastInsertRowid);
  }
  /** Settings hold its arguments from now on. */
  adopt(n: number): void {
    this.#sql('UPDATE watch SET arguments = NULL WHERE n = ?').run(n);
  }
  remove(n: number, client: string): void {
    this.#db.transaction(() => {
      this.#sql('DELETE FROM watch_item WHERE client = ? AND watch = ?').run(client, n);
      this.#sql('DELETE FROM watch_confirmed WHERE watch = ?').run(n);
      this.#sql('DELETE FROM watch WHERE n = ?').run(n);
    })();
  }

  /**
   * Items and positions together: a position never passes an item that is not there.
   * @param unread items of a watch before this call. Gives what was added, and dropped where a watch was full.
   */
  keep(what: Keeping, unread: (watch: number) => number, now: number): KeptNow {
    return this.#db.transaction(() => {
      const added: KeptNow['added'][number][] = [];
      const dropped: KeptNow['dropped'][number][] = [];
      const item = this.#sql(`
        INSERT OR IGNORE INTO watch_item (client, event, watch, state)
        SELECT ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM watch_confirmed WHERE watch = ? AND event = ?)
      `);
      const grown = new Map<number, { client: string; more: number }>();
      for (const { occurrence, watches } of what.kept) {
        const event = this.#event(occurrence.type, occurrence.eventId, occurrence.row.rowid, now);
        for (const { n, client, state } of watches) {
          if (item.run(client, event, n, state, n, event).changes === 0) continue;
          added.push({ watch: n, event, state, occurrence });
          grown.set(n, { client, more: (grown.get(n)?.more ?? 0) + 1 });
        }
      }
      for (const [watch, { client, more }] of grown) {
        const over = unread(watch) + more - MAX_UNREAD;
        if (over > 0) dropped.push(...this.#dropOldest(client, watch, over));
      }
      for (const [n, cursor] of what.cursors) this.#sql('UPDATE watch SET cursor = ? WHERE n = ?').run(cursor, n);
      for (const [type, cursor] of what.positions) this.#sql('INSERT OR REPLACE INTO watch_position (type, cursor) VALUES (?, ?)').run(type, cursor);
      for (const n of what.gaps) this.#sql('UPDATE watch SET gap = gap + 1 WHERE n = ?').run(n);
      return { added, dropped };
    })();
  }

  /** An item that nobody wrote, to see the way to a client. */
  keepTest(client: string, eventId: string, now: number): number {
    return this.#db.transaction(() => {
      const event = this.#event('test', eventId, 0, now);
      this.#sql('INSERT INTO watch_item (client, event, watch, state) VALUES (?, ?, 0, ?)').run(client, event, ITEM_STATE.waiting);
      return event;
    })();
  }

  /** Unread items of a client, or of one of its watches, oldest first, above `after`. */
  unread(client: string, watch: number | null, after: { readonly event: number; readonly watch: number }, limit: number): readonly ItemRef[] {
    return this.#sql(`
      SELECT i.event, i.watch, i.state, e.type, e.event_id AS eventId, e.store_row AS storeRow, e.at
      FROM watch_item i CROSS JOIN watch_event e ON e.n = i.event
      WHERE i.client = ? AND (i.event, i.watch) > (?, ?) AND (? IS NULL OR i.watch = ?) ORDER BY i.event, i.watch LIMIT ?
    `).all(client, after.event, after.watch, watch, watch, limit) as ItemRef[];
  }

  /** What was handed out: `sent`, under one name by which it can be confirmed. `gone` items may no longer be seen by the client and go. */
  handOut(client: string, items: readonly ItemRef[], gaps: BatchItems['gaps'], withheld: readonly ItemRef[], channel: boolean): string {
    return this.#db.transaction(() => {
      const sent = this.#sql('UPDATE watch_item SET state = ? WHERE client = ? AND event = ? AND watch = ? AND state != ?');
      for (const { event, watch } of items) sent.run(ITEM_STATE.sent, client, event, watch, ITEM_STATE.sent);
      this.#withhold(client, withheld);
      const { lastInsertRowid } = this.#sql('INSERT INTO watch_batch (client, channel, items, gaps) VALUES (?, ?, ?, ?)')
        .run(client, channel ? 1 : 0, JSON.stringify(items.map(({ event, watch }) => [event, watch])), JSON.stringify(gaps));
      this.#sql('DELETE FROM watch_batch WHERE client = ? AND n <= (SELECT n FROM watch_batch WHERE client = ? ORDER BY n DESC LIMIT 1 OFFSET ?)').run(client, client, BATCHES);
      return batchName(Number(lastInsertRowid));
    })();
  }
  withhold(client: string, items: readonly ItemRef[]): void {
    this.#db.transaction(() => this.#withhold(client, items))();
  }

  /** Null: no such batch of this client, or one that is too old. */
  batch(client: string, name: string): BatchItems | null {
    const n = batchNumber(name);
    if (n === null) return null;
    const row = this.#sql('SELECT channel, items, gaps FROM watch_batch WHERE n = ? AND client = ?').get(n, client) as { channel: number; items: string; gaps: string } | undefined;
    return row === undefined ? null : { channel: row.channel === 1, items: JSON.parse(row.items) as BatchItems['items'], gaps: JSON.parse(row.gaps) as BatchItems['gaps'] };
  }

  /** Gives what was still unread, with its state before: nothing is confirmed twice. */
  confirm(client: string, { items, gaps }: Pick<BatchItems, 'items' | 'gaps'>): readonly ItemRef[] {
    return this.#db.transaction(() => {
      const find = this.#sql(`
        SELECT i.event, i.watch, i.state, e.type, e.event_id AS eventId, e.store_row AS storeRow, e.at
        FROM watch_item i JOIN watch_event e ON e.n = i.event WHERE i.client = ? AND i.event = ? AND i.watch = ?
      `);
      const found: ItemRef[] = [];
      const watches = new Set<number>();
      for (const [event, watch] of items) {
        const item = find.get(client, event, watch) as ItemRef | undefined;
        if (item === undefined) continue;
        found.push(item);
        this.#sql('DELETE FROM watch_item WHERE client = ? AND event = ? AND watch = ?').run(client, event, watch);
        if (watch === 0) continue;
        this.#sql('INSERT OR IGNORE INTO watch_confirmed (watch, event) VALUES (?, ?)').run(watch, event);
        this.#sql('UPDATE watch SET confirmed = confirmed + 1 WHERE n = ?').run(watch);
        watches.add(watch);
      }
      for (const watch of watches) this.#forget(watch);
      for (const [watch, dropped, gap] of gaps) this.#sql('UPDATE watch SET dropped = max(0, dropped - ?), gap = max(0, gap - ?) WHERE n = ?').run(dropped, gap, watch);
      return found;
    })();
  }

  /** Removes what nothing points to any more. Cheap beside an arrival's way, so it runs by the hour. */
  sweep(): void {
    this.#sql('DELETE FROM watch_event WHERE n NOT IN (SELECT event FROM watch_item) AND n NOT IN (SELECT event FROM watch_confirmed)').run();
  }

  #event(type: EventType | 'test', eventId: string, row: number, now: number): number {
    return this.#sql(`
      INSERT INTO watch_event (type, event_id, store_row, at) VALUES (?, ?, ?, ?) ON CONFLICT (event_id, type) DO UPDATE SET at = at RETURNING n
    `).pluck().get(type, eventId, row, now) as number;
  }

  #withhold(client: string, items: readonly ItemRef[]): void {
    for (const { event, watch } of items) this.#sql('DELETE FROM watch_item WHERE client = ? AND event = ? AND watch = ?').run(client, event, watch);
  }

  #dropOldest(client: string, watch: number, count: number): { watch: number; state: ItemState; count: number }[] {
    const oldest = this.#sql('SELECT event, state FROM watch_item WHERE client = ? AND watch = ? ORDER BY event LIMIT ?').all(client, watch, count) as { event: number; state: ItemState }[];
    for (const { event } of oldest) this.#sql('DELETE FROM watch_item WHERE client = ? AND event = ? AND watch = ?').run(client, event, watch);
    this.#sql('UPDATE watch SET dropped = dropped + ? WHERE n = ?').run(oldest.length, watch);
    return Object.values(ITEM_STATE).map((state) => ({ watch, state, count: oldest.filter((item) => item.state === state).length })).filter(({ count }) => count > 0);
  }

  #forget(watch: number): void {
    this.#sql('DELETE FROM watch_confirmed WHERE watch = ? AND event <= (SELECT event FROM watch_confirmed WHERE watch = ? ORDER BY event DESC LIMIT 1 OFFSET ?)').run(watch, watch, REMEMBERED);
  }

  /** Kept: preparing costs several times what running does. */
  #sql(sql: string): Statement {
    let found = this.#statements.get(sql);
    if (found === undefined) this.#statements.set(sql, (found = this.#db.prepare(sql)));
    return found;
  }
}

const batchName = (n: number): string => `b${n}`;
const batchNumber = (name: string): number | null => (/^b\d{1,15}$/.test(name) ? Number(name.slice(1)) : null);
