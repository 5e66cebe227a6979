/** What one connection emitted: by method, with the declaration that licenses it. */
export interface Emitted {
  readonly method: string;
  readonly licence: string;
  readonly count: number;
}

/**
 * Counts every emitted method by connection and licence (architecture 6). A connection that closed stays in the
 * totals. Methods are a closed union of ours, so the maps stay small.
 */
export class Counters<Connection extends object = object> {
  readonly #open = new Map<Connection, Map<string, { licence: string; count: number }>>();
  readonly #totals = new Map<string, number>();

  count(connection: Connection, method: string, licence: string): void {
    let own = this.#open.get(connection);
    if (!own) this.#open.set(connection, (own = new Map<string, { licence: string; count: number }>()));
    const entry = own.get(method);
    if (entry) entry.count += 1;
    else own.set(method, { licence, count: 1 });
    this.#totals.set(method, (this.#totals.get(method) ?? 0) + 1);
  }

  of(connection: Connection): readonly Emitted[] {
    return [...(this.#open.get(connection) ?? [])].map(([method, { licence, count }]) => ({ method, licence, count }));
  }

  closed(connection: Connection): void {
    this.#open.delete(connection);
  }

  /** By method, over all connections since the start. */
  totals(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#totals);
  }
}
