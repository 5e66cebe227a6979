/** @param changed ids of watches. @param from the first of the items that were kept just now; null: none was */
export type WatchListener = (changed: ReadonlySet<string>, from: number | null) => void;

/** Watches of one client that changed, and the first of the items that were kept just now. */
export interface Change {
  readonly ids: Set<string>;
  from: number | null;
}

/** Who waits for items of a client: told once for all that changed together. */
export class WatchListeners {
  readonly #listeners = new Map<string, Set<WatchListener>>();
  readonly #changed: () => void;

  /** @param changed after every telling, for whoever shows watches */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  listen(client: string, listener: WatchListener): () => void {
    const set = this.#listeners.get(client) ?? new Set();
    this.#listeners.set(client, set);
    set.add(listener);
    return () => {
      set.delete(listener);
      if (set.size === 0 && this.#listeners.get(client) === set) this.#listeners.delete(client);
    };
  }

  tellAll(changed: ReadonlyMap<string, Change>): void {
    for (const [client, { ids, from }] of changed) for (const listener of [...this.#listeners.get(client) ?? []]) listener(ids, from);
    this.#changed();
  }
  tell(client: string, ids: readonly string[], from: number | null = null): void {
    this.tellAll(new Map([[client, { ids: new Set(ids), from }]]));
  }

  clear(): void {
    this.#listeners.clear();
  }
}
