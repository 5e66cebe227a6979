import type { Statement } from 'better-sqlite3';
import type { MailRow } from '../occurrence.ts';
import type { Page, PageRequest, SenderSet } from '../reader.ts';
import { matches } from '../sender.ts';
import type { Store } from '../store.ts';
import { excludedByLabels, excludedByPlace, FLAG_MASK, hashOf, toMs, type FirstRows, type MailRowReader, type Shape } from './mail-rows.ts';
import type { MailboxDirectory } from './mailboxes.ts';
import { FEW_ROWS, SenderResolver, type SenderIds } from './sender-ids.ts';

/** Rows this near are read as they are, without resolving the senders. */
const NEAR_ROWS = 32;
/** Rows looked at first, in case that a filter is dense: finding all its rows only to sort them would cost more. */
const PROBE_ROWS = 2000;
/** Ids that are handed over as JSON, and rows that are sorted, at most (architecture 5). */
const MAX_IDS = 20_000;
const MAX_HITS = 20_000;
/** So few rows cost less than a probe. */
const FEW_HITS = 1000;
/** Rows of a scan by rowid, a call (architecture 5). */
const SCAN_ROWS = 25_000;
/** Candidates that turn out to be excluded, a call: what was looked at counts as accounted for. */
const MAX_LOOKED_AT = 5000;
/** How long the start of a floor is kept for the next pages: seeking far back reads many entries of the index. */
const FLOOR_KEPT_MS = 60_000;
/** A kept floor is good for later ones, but not for much later ones. */
const FLOOR_SLACK_S = 3600;
const MAX_UNDATED = 1000;

const SENDER_INDEX = 'messages_sender_index';
const DATE_INDEX = 'messages_date_received_index';

/** Dates as they narrow a search: `from` and `before` in Unix seconds. */
type Dated = { readonly from: number } | { readonly before: number } | null;

/** Judges one candidate; false stops the search. */
type Visit = (rowid: number) => boolean;

/** Rows of some senders in a stretch of the index: pages of catch-up, and backtests. Call within a transaction. */
export class Backlog {
  readonly #store: Store;
  readonly #shape: Shape;
  readonly #directory: MailboxDirectory;
  readonly #rows: MailRowReader;
  readonly #firstRows: FirstRows | null;
  readonly #resolver: SenderResolver;
  readonly #hasSenderIndex: boolean;
  readonly #hasDateIndex: boolean;
  readonly #look: Statement;
  #members: ReadonlySet<number> = new Set();
  #floor: { from: number; at: number; lowest: number } | null = null;

  constructor(store: Store, shape: Shape, directory: MailboxDirectory, rows: MailRowReader, firstRows: FirstRows | null) {
    this.#store = store;
    this.#shape = shape;
    this.#directory = directory;
    this.#rows = rows;
    this.#firstRows = firstRows;
    this.#look = store.statement(`SELECT m.mailbox, m.flags & ${FLAG_MASK}, ${shape.deleted}, m.sender FROM messages m WHERE m.ROWID = ?`, 'raw');
    this.#resolver = new SenderResolver(store);
    this.#hasSenderIndex = store.hasIndex(SENDER_INDEX);
    this.#hasDateIndex = store.hasIndex(DATE_INDEX);
    store.db.function('belfry_member', { directOnly: true }, (id: unknown) => (this.#members.has(id as number) ? 1 : 0));
  }

  /** At the opening, so that no client waits for it. */
  warm(): void {
    this.#resolver.warm();
  }

  /** @param head Of this transaction. */
  page(request: PageRequest, head: number): Page<MailRow> {
    const { senders, after, upTo, limit } = request;
    if (after >= upTo) return { rows: [], through: upTo };
    const from = request.notBefore === undefined ? null : request.notBefore / 1000;
    const keeps = (row: MailRow): boolean =>
      row.excluded === null && row.sender !== null && (request.notBefore === undefined || row.date === null || row.date >= request.notBefore);
    if (upTo - after <= NEAR_ROWS) {
      const near = this.#rows.between(after, upTo).filter((row) => keeps(row) && matches(senders, row.sender!));
      return near.length <= limit ? { rows: near, through: upTo } : { rows: near.slice(0, limit), through: near[limit - 1]!.rowid };
    }
    const found = this.#use(senders);
    if (found.ids.size === 0) return { rows: [], through: upTo };

    const rows: MailRow[] = [];
    let through = after;
    let lookedAt = 0;
    const visit: Visit = (rowid) => {
      const row = this.#candidate(rowid);
      if (row !== null && keeps(row)) rows.push(row);
      through = rowid;
      lookedAt += 1;
      return rows.length < limit && lookedAt < MAX_LOOKED_AT;
    };
    const { start, undated } = from === null ? { start: after, undated: [] } : this.#seek(after, upTo, from);
    const dated = from === null ? null : { from };
    if (!undated.every((rowid) => visit(rowid))) return { rows, through };
    const end = this.#search(found, start, upTo, dated, head, visit);
    return { rows, through: end ?? through };
  }

  /** True if a row that would ring is dated before the floor. Undated rows are never skipped (ruling 7). */
  skippedBefore(request: PageRequest & { readonly notBefore: number }, head: number): boolean {
    const { senders, after, upTo, notBefore } = request;
    if (after >= upTo) return false;
    const skips = (row: MailRow): boolean => row.excluded === null && row.sender !== null && row.date !== null && row.date < notBefore;
    if (upTo - after <= NEAR_ROWS) return this.#rows.between(after, upTo).some((row) => skips(row) && matches(senders, row.sender!));
    const found = this.#use(senders);
    if (found.ids.size === 0) return false;
    let skipped = false;
    const visit: Visit = (rowid) => {
      const row = this.#candidate(rowid);
      skipped = row !== null && skips(row);
      return !skipped;
    };
    let at = after;
    for (;;) {
      const end = this.#search(found, at, upTo, { before: notBefore / 1000 }, head, visit);
      if (end === null || end >= upTo) return skipped;
      at = end;
    }
  }

  /** @param since Unix ms. Examples are the newest by date, one for each event. */
  backtest(senders: SenderSet, since: number, examples: number, head: number): { count: number; examples: MailRow[] } {
    const found = this.#use(senders);
    if (found.ids.size === 0) return { count: 0, examples: [] };
    const raw = this.#datedSince(found, since / 1000, head);
    const doubtful = this.#labelledOut(raw);
    const newest = new Map<number, { rowid: number; date: number }>();
    for (const [rowid, box, flags, deleted, globalId, hash, received] of raw) {
      const date = toMs(received);
      if (date === null || date < since || excludedByPlace(this.#directory.get(box), flags, deleted === 1) !== null) continue;
      if (doubtful.has(rowid) && excludedByLabels(this.#rows.labelsOf(rowid)) !== null) continue;
      const event = globalId ?? this.#firstRows?.of(rowid, hashOf(hash)) ?? rowid;
      const known = newest.get(event);
      if (known === undefined || date > known.date || (date === known.date && rowid > known.rowid)) newest.set(event, { rowid, date });
    }
    const order = [...newest.values()].sort((a, b) => b.date - a.date || b.rowid - a.rowid);
    return { count: newest.size, examples: this.#rows.byId(order.slice(0, examples).map((entry) => entry.rowid)) };
  }

  #use(senders: SenderSet): SenderIds {
    const found = this.#resolver.resolve(senders);
    this.#members = found.ids;
    return found;
  }

  /** The row if its place lets it ring; the cheap look comes first, since some senders are all in the trash. */
  #candidate(rowid: number): MailRow | null {
    const seen = this.#look.get(rowid) as [number, number, number, number | null] | undefined;
    if (seen === undefined || seen[3] === null || !this.#members.has(seen[3])) return null;
    if (excludedByPlace(this.#directory.get(seen[0]), seen[1], seen[2] === 1) !== null) return null;
    return this.#rows.byId([rowid])[0] ?? null;
  }

  /**
   * Visits candidates by rowid. Gives the rowid up to which all was visited, or null if `visit` stopped. For the
   * senders at hand: a few rows are looked at as they come; a sparse filter then goes by the sender index.
   */
  #search(found: SenderIds, after: number, upTo: number, dated: Dated, head: number, visit: Visit): number | null {
    if (upTo - after <= FEW_ROWS || !this.#hasSenderIndex) return this.#scan(after, this.#scanEnd(after, upTo), dated, visit);
    const probed = found.sparse ? after : this.#scan(after, after + PROBE_ROWS, dated, visit);
    if (probed === null) return null;
    this.#resolver.findWriters(found, head);
    const indexed = Math.min(upTo, found.writersHead);
    if (found.writerCount > 0 && indexed > probed) {
      const hits = found.writerCount > MAX_IDS ? null : this.#hits(found, probed, indexed, dated);
      found.sparse = hits !== null && hits.length <= FEW_HITS;
      if (hits === null) return this.#scan(probed, this.#scanEnd(probed, upTo), dated, visit);
      for (const rowid of hits) if (!visit(rowid)) return null;
    }
    return this.#scan(Math.max(probed, indexed), upTo, dated, visit);
  }

  /** Rowids of the writers' rows in order; null if they are too many to sort. */
  #hits(found: SenderIds, after: number, upTo: number, dated: Dated): number[] | null {
    const sql = `SELECT m.ROWID FROM messages m INDEXED BY ${SENDER_INDEX}
      WHERE m.sender IN (SELECT value FROM json_each(?)) AND m.ROWID > ? AND m.ROWID <= ?${condition(dated)} LIMIT ${MAX_HITS + 1}`;
    const hits = this.#store.statement(sql, 'pluck').all(found.writers, after, upTo, ...bound(dated)) as number[];
    return hits.length > MAX_HITS ? null : hits.sort((a, b) => a - b);
  }

  #scan(after: number, upTo: number, dated: Dated, visit: Visit): number | null {
    const sql = `SELECT m.ROWID FROM messages m WHERE m.ROWID > ? AND m.ROWID <= ? AND belfry_member(m.sender)${condition(dated)} ORDER BY m.ROWID LIMIT ?`;
    const statement = this.#store.statement(sql, 'pluck');
    let at = after;
    for (let step = 64; at < upTo; step *= 4) {
      const rowids = statement.all(at, upTo, ...bound(dated), step) as number[];
      for (const rowid of rowids) if (!visit(rowid)) return null;
      if (rowids.length < step) break;
      at = rowids.at(-1)!;
    }
    return upTo;
  }

  /** End of a scan of at most SCAN_ROWS rows: rowids are sparse, so a stretch of them may hold few rows. */
  #scanEnd(after: number, upTo: number): number {
    if (upTo - after <= SCAN_ROWS) return upTo;
    const last = this.#store.statement(`SELECT ROWID FROM messages WHERE ROWID > ? ORDER BY ROWID LIMIT 1 OFFSET ${SCAN_ROWS - 1}`, 'pluck').get(after);
    return Math.min(upTo, (last as number | undefined) ?? upTo);
  }

  /** Where rows dated at or after the floor start, and the undated ones before that (ruling 7). */
  #seek(after: number, upTo: number, from: number): { start: number; undated: number[] } {
    const whole = { start: after, undated: [] };
    if (!this.#hasDateIndex || upTo - after <= FEW_ROWS) return whole;
    const start = Math.max(after, Math.min(upTo, this.#lowestSince(from) - 1));
    const undated = ['date_received IS NULL', 'date_received <= 0'].flatMap(
      (none) =>
        this.#store
          .statement(`SELECT ROWID FROM messages INDEXED BY ${DATE_INDEX} WHERE ${none} AND ROWID > ? AND ROWID <= ? LIMIT ${MAX_UNDATED + 1}`, 'pluck')
          .all(after, start) as number[],
    );
    return undated.length > MAX_UNDATED ? whole : { start, undated: undated.sort((a, b) => a - b) };
  }

  /**
   * A rowid below which nothing is dated at or after `from`. What holds for a floor holds for later ones, and rows
   * that come have higher rowids.
   */
  #lowestSince(from: number): number {
    const now = performance.now();
    const kept = this.#floor;
    if (kept !== null && from >= kept.from && from - kept.from < FLOOR_SLACK_S && now - kept.at < FLOOR_KEPT_MS) return kept.lowest;
    const lowest = this.#store.statement(`SELECT MIN(ROWID) FROM messages INDEXED BY ${DATE_INDEX} WHERE date_received >= ?`, 'pluck').get(from);
    const next = (this.#store.statement('SELECT MAX(ROWID) FROM messages', 'pluck').get() as number | null) ?? 0;
    this.#floor = { from, at: now, lowest: (lowest as number | null) ?? next + 1 };
    return this.#floor.lowest;
  }

  #datedSince(found: SenderIds, from: number, head: number): RawCandidate[] {
    const columns = `m.ROWID, m.mailbox, m.flags & ${FLAG_MASK}, ${this.#shape.deleted}, ${this.#shape.hasGlobal ? 'm.global_message_id, NULL' : `NULL, ${this.#shape.hash}`}, m.date_received`;
    const all = (sql: string, ...values: unknown[]): RawCandidate[] => this.#store.statement(sql, 'raw').all(...values) as RawCandidate[];
    const count = this.#hasDateIndex
      ? (this.#store.statement(`SELECT COUNT(*) FROM (SELECT 1 FROM messages INDEXED BY ${DATE_INDEX} WHERE date_received >= ? LIMIT ${MAX_HITS + 1})`, 'pluck').get(from) as number)
      : Infinity;
    if (count > MAX_HITS && this.#hasSenderIndex) {
      this.#resolver.findWriters(found, head);
      const hits = found.writerCount > MAX_IDS ? null : this.#hits(found, 0, found.writersHead, null);
      if (hits !== null) {
        this.#scan(found.writersHead, head, null, (rowid) => hits.push(rowid) > 0);
        return all(`SELECT ${columns} FROM json_each(?) j CROSS JOIN messages m ON m.ROWID = j.value WHERE m.date_received >= ?`, JSON.stringify(hits), from);
      }
    }
    const index = this.#hasDateIndex ? `INDEXED BY ${DATE_INDEX}` : '';
    return all(`SELECT ${columns} FROM messages m ${index} WHERE m.date_received >= ? AND belfry_member(m.sender)`, from);
  }

  /** Rows that carry a label by which they might not ring; all others need no look at their labels. */
  #labelledOut(raw: readonly RawCandidate[]): ReadonlySet<number> {
    const labels = this.#directory.all().filter((box) => box.source !== null && box.role !== 'inbox' && excludedByLabels([box]) !== null);
    const first = raw.reduce((least, row) => (this.#directory.hasLabels(row[1]) ? Math.min(least, row[0]) : least), Infinity);
    if (labels.length === 0 || first === Infinity || this.#shape.labels === null) return new Set();
    const statement = this.#store.statement('SELECT message_id FROM labels WHERE mailbox_id = ? AND message_id >= ?', 'pluck');
    return new Set(labels.flatMap((label) => statement.all(label.id, first) as number[]));
  }
}

type RawCandidate = readonly [rowid: number, box: number, flags: number, deleted: number, globalId: number | null, hash: unknown, received: unknown];

function condition(dated: Dated): string {
  if (dated === null) return '';
  if ('from' in dated) return ' AND (m.date_received >= ? OR m.date_received IS NULL OR m.date_received <= 0)';
  return ' AND m.date_received < ? AND m.date_received > 0';
}

const bound = (dated: Dated): number[] => (dated === null ? [] : ['from' in dated ? dated.from : dated.before]);
