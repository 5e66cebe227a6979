import type { Store } from '../store.ts';
import { hashOf, type FirstRows } from './mail-rows.ts';

/** As many mails as the tail remembers (architecture 4). */
const REMEMBERED = 200_000;

/**
 * Up to 10.15 the index has no global ids (data-formats/envelope-index 2). The first row that carried a Message-ID
 * stands in: it grows with time as global ids do, and a moved copy shares it as long as this process remembers.
 */
export class FirstRowMemory implements FirstRows {
  readonly #store: Store;
  readonly #first = new Map<string, number>();
  readonly #hashes = new Map<number, string>();

  constructor(store: Store) {
    this.#store = store;
    const known = store.statement('SELECT ROWID, CAST(message_id AS TEXT) FROM messages ORDER BY ROWID DESC LIMIT ?', 'raw').all(REMEMBERED) as [number, unknown][];
    for (const [rowid, hash] of known.toReversed()) this.of(rowid, hashOf(hash));
  }

  of(rowid: number, hash: string): number {
    if (hash === '0') return rowid;
    const known = this.#first.get(hash);
    if (known !== undefined && known <= rowid) return known;
    this.#first.set(hash, rowid);
    this.#hashes.set(rowid, hash);
    if (this.#first.size > REMEMBERED) this.#forgetOldest();
    return rowid;
  }

  /** Lowest rowid that now carries each of the ids. */
  lowest(ids: readonly number[]): Map<number, number> {
    const found = new Map<number, number>();
    const there = this.#store.statement('SELECT 1 FROM messages WHERE ROWID = ?', 'pluck');
    const byHash = this.#store.statement('SELECT MIN(ROWID) FROM messages WHERE message_id = ?', 'pluck');
    for (const id of ids) {
      const hash = this.#hashes.get(id);
      // A hash is compared as the integer that it is; a stored RFC id is found through its own row only.
      const row = there.get(id) === 1 ? id : hash === undefined ? null : (byHash.get(BigInt(hash)) as number | null);
      if (row !== null) found.set(id, row);
    }
    return found;
  }

  #forgetOldest(): void {
    const oldest = this.#first.entries().next().value;
    if (oldest === undefined) return;
    this.#first.delete(oldest[0]);
    this.#hashes.delete(oldest[1]);
  }
}
