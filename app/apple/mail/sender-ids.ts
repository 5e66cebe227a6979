import type { SenderSet } from '../reader.ts';
import { matches, normaliseAddress } from '../sender.ts';
import type { Store } from '../store.ts';

/** Beyond this many domains judging each domain of the store once is faster than a pattern for each. */
const MAX_PATTERNS = 4;
/** Sets kept by content, for callers that build an equal one for each request. */
const MAX_KEPT = 64;
/** New rows after which it pays to look again who wrote. */
export const FEW_ROWS = 5000;

/** Address rows that belong to a set: one person has several (data-formats/envelope-index 3). */
export interface SenderIds {
  readonly ids: Set<number>;
  /** Highest address rowid looked at; address ids are never reused. */
  through: number;
  /** JSON of the ids that wrote at or below `writersHead`; ids that never wrote cost a look-up on each page. */
  writers: string;
  writerCount: number;
  /** Rowid in `messages`; -1: not looked yet. Rows above are found by membership. */
  writersHead: number;
  /** The last search by the sender index found few rows: it is the shortest way. */
  sparse: boolean;
}

/** Resolves sender sets to address rows and keeps the answers. Call within the transaction that uses them. */
export class SenderResolver {
  readonly #store: Store;
  #bySet = new WeakMap<SenderSet, SenderIds>();
  readonly #byContent = new Map<string, SenderIds>();
  /** Addresses that SQLite's NOCASE cannot compare as we do: not ASCII, or with spaces around. */
  readonly #odd = new Map<number, string>();
  #oddThrough = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** True if the set was resolved before, so that `resolve` only looks at new addresses. */
  knows(senders: SenderSet): boolean {
    return this.#bySet.has(senders);
  }

  resolve(senders: SenderSet): SenderIds {
    let found = this.#bySet.get(senders);
    if (found === undefined) this.#bySet.set(senders, (found = this.#keptByContent(senders)));
    const newest = (this.#store.statement('SELECT MAX(ROWID) FROM addresses', 'pluck').get() as number | null) ?? 0;
    if (newest > found.through) {
      this.#find(senders, found.through, found.ids);
      found.through = newest;
    }
    return found;
  }

  /** Looks who of them wrote, if that is not known or too many rows came since. `head`: of this transaction. */
  findWriters(found: SenderIds, head: number): void {
    if (found.writersHead >= 0 && head - found.writersHead <= FEW_ROWS) return;
    const wrote = this.#store
      .statement('SELECT value FROM json_each(?) WHERE EXISTS (SELECT 1 FROM messages WHERE sender = value)', 'pluck')
      .all(JSON.stringify([...found.ids])) as number[];
    found.writers = JSON.stringify(wrote);
    found.writerCount = wrote.length;
    found.writersHead = head;
  }

  #keptByContent(senders: SenderSet): SenderIds {
    const key = JSON.stringify([senders.addresses, senders.domains, senders.parents].map((set) => [...set].sort()));
    const found = this.#byContent.get(key) ?? { ids: new Set(), through: 0, writers: '[]', writerCount: 0, writersHead: -1, sparse: false };
    this.#byContent.delete(key);
    this.#byContent.set(key, found);
    if (this.#byContent.size > MAX_KEPT) this.#byContent.delete(this.#byContent.keys().next().value!);
    return found;
  }

  #find(senders: SenderSet, above: number, into: Set<number>): void {
    this.#findOdd();
    for (const [id, address] of this.#odd) if (id > above && matches(senders, address)) into.add(id);
    if (senders.addresses.size > 0) {
      // The column's NOCASE index: it is the first column of UNIQUE(address, comment).
      const sql = 'SELECT a.ROWID FROM json_each(?) j CROSS JOIN addresses a ON a.address = j.value WHERE a.ROWID > ?';
      this.#add(this.#store.statement(sql, 'pluck').all(JSON.stringify([...senders.addresses]), above), into);
    }
    const patterns = [...[...senders.domains, ...senders.parents].map((domain) => `%@${escapeLike(domain)}`), ...[...senders.parents].map((domain) => `%@%.${escapeLike(domain)}`)];
    if (patterns.length === 0) return;
    if (patterns.length > MAX_PATTERNS) {
      this.#add(this.#byDomains(senders, above), into);
      return;
    }
    const sql = `SELECT ROWID FROM addresses WHERE ROWID > ? AND (${patterns.map(() => `address LIKE ? ESCAPE '\\'`).join(' OR ')})`;
    this.#add(this.#store.statement(sql, 'pluck').all(above, ...patterns), into);
  }

  /** Judges each domain of the store once. Text with a second `@` stays whole, so that its last part decides. */
  #byDomains(senders: SenderSet, above: number): unknown[] {
    const domain = `lower(substr(address, instr(address, '@') + 1))`;
    const named = { addresses: new Set<string>(), domains: senders.domains, parents: senders.parents };
    const all = this.#store.statement(`SELECT DISTINCT ${domain} FROM addresses WHERE ROWID > ? AND instr(address, '@') > 0`, 'pluck').all(above) as string[];
    const fit = all.filter((text) => matches(named, normaliseAddress(`x@${text}`)));
    const sql = `SELECT ROWID FROM addresses WHERE ROWID > ? AND instr(address, '@') > 0 AND ${domain} IN (SELECT value FROM json_each(?))`;
    return fit.length === 0 ? [] : this.#store.statement(sql, 'pluck').all(above, JSON.stringify(fit));
  }

  /** What the first set would wait for: looks at every address once. */
  warm(): void {
    this.#findOdd();
  }

  #findOdd(): void {
    const sql = `SELECT ROWID, address FROM addresses WHERE ROWID > ? AND (octet_length(address) <> length(address) OR address < '!' OR substr(address, -1) < '!')`;
    const rows = this.#store.statement(sql, 'raw').all(this.#oddThrough) as [number, string][];
    for (const [id, address] of rows) this.#odd.set(id, normaliseAddress(address));
    this.#oddThrough = (this.#store.statement('SELECT MAX(ROWID) FROM addresses', 'pluck').get() as number | null) ?? 0;
  }

  #add(ids: readonly unknown[], into: Set<number>): void {
    for (const id of ids) into.add(id as number);
  }
}

const escapeLike = (text: string): string => text.replaceAll(/[\\%_]/g, String.raw`\$&`);
