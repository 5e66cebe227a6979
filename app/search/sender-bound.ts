import type Database from 'better-sqlite3-multiple-ciphers';
import type { SenderSet } from '../apple/reader.ts';
import { matches } from '../apple/sender.ts';

/** Whose mail may be found: who is allowed, and not excepted, and (unless null) among the client's own. */
export interface SenderBound {
  readonly allowed: SenderSet;
  readonly excepted: SenderSet;
  readonly own: SenderSet | null;
}

interface Resolved {
  /** Highest row of `senders` that was looked at. */
  through: number;
  readonly ids: number[];
  json: string;
}

/** Bounds kept by their content: each client has one, until the owner changes a rule. */
const MAX_KEPT = 16;

/** Resolves bounds to rows of `senders`. What was judged once is not judged again: rows are never reused. */
export class SenderBounds {
  readonly #db: Database.Database;
  readonly #kept = new Map<string, Resolved>();

  constructor(db: Database.Database) {
    this.#db = db;
  }

  /** JSON of the ids. */
  idsOf(bound: SenderBound): string {
    const key = JSON.stringify([bound.allowed, bound.excepted, bound.own].map((set) => (set === null ? null : [[...set.addresses], [...set.domains], [...set.parents]])));
    const found = this.#kept.get(key) ?? { through: 0, ids: [], json: '[]' };
    this.#kept.delete(key);
    this.#kept.set(key, found);
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    const rows = this.#db.prepare('SELECT id, address FROM senders WHERE id > ? ORDER BY id').raw().all(found.through) as [number, string][];
    if (rows.length === 0) return found.json;
    for (const [id, address] of rows) if (isWithin(bound, address)) found.ids.push(id);
    found.through = rows.at(-1)![0];
    found.json = JSON.stringify(found.ids);
    return found.json;
  }
}

const isWithin = ({ allowed, excepted, own }: SenderBound, address: string): boolean =>
  address !== '' && matches(allowed, address) && !matches(excepted, address) && (own === null || matches(own, address));
