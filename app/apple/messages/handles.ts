import type { SenderSet } from '../reader.ts';
import { matches, normaliseHandle } from '../sender.ts';
import type { Store } from '../store.ts';

/** ROWIDs of `handle` that a set of senders names. */
export interface HandleIds {
  readonly ids: ReadonlySet<number>;
  /** The same as a JSON array for `json_each`. */
  readonly json: string;
}

interface Kept {
  readonly ids: Set<number>;
  /** How many entries of the table were compared. */
  compared: number;
  json: string;
}

/**
 * The handle table, read once and then only its new rows. A number has a row for each service and for each filter suffix
 * (UNIQUE(id, service), data-formats/chat-db 6), so a sender is several ids. Rowids are never reused; rows that were
 * deleted match no message.
 */
export class Handles {
  readonly #store: Store;
  readonly #region: string | null;
  readonly #entries: { readonly id: number; readonly sender: string }[] = [];
  #kept = new WeakMap<SenderSet, Kept>();
  #highest = 0;

  constructor(store: Store, region: string | null) {
    this.#store = store;
    this.#region = region;
  }

  forget(): void {
    this.#entries.length = 0;
    this.#kept = new WeakMap();
    this.#highest = 0;
  }

  /** Within a transaction, so that no message has a handle that is missing here. */
  idsOf(senders: SenderSet): HandleIds {
    this.#catchUp();
    let kept = this.#kept.get(senders);
    if (kept === undefined) this.#kept.set(senders, (kept = { ids: new Set(), compared: 0, json: '[]' }));
    if (kept.compared < this.#entries.length) {
      const before = kept.ids.size;
      for (let at = kept.compared; at < this.#entries.length; at += 1) {
        const entry = this.#entries[at]!;
        if (matches(senders, entry.sender)) kept.ids.add(entry.id);
      }
      kept.compared = this.#entries.length;
      if (kept.ids.size !== before) kept.json = JSON.stringify([...kept.ids]);
    }
    return kept;
  }

  #catchUp(): void {
    const rows = this.#store.statement('SELECT ROWID, id FROM handle WHERE ROWID > ? ORDER BY ROWID', 'raw').all(this.#highest) as [number, string][];
    for (const [id, text] of rows) {
      this.#entries.push({ id, sender: normaliseHandle(String(text), this.#region) });
      this.#highest = id;
    }
  }
}
