/** One hour: the window of the ceiling (architecture 5). */
const WINDOW_MS = 3_600_000;

/**
 * The owner's ceiling of rings for each client and rolling hour, so that no loop can run up a bill. Kept by the
 * monotonic clock. The same event again within the hour is free: a client that asks twice is not punished.
 */
export class RateLimit {
  readonly #monotonic: () => number;
  /** Client id -> event id -> when it rang, oldest first. */
  readonly #rings = new Map<string, Map<string, number>>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** False: the ceiling is reached and nothing was taken. */
  takeRing(client: string, eventId: string, ceiling: number): boolean {
    let rings = this.#current(client);
    if (rings?.has(eventId)) return true;
    if ((rings?.size ?? 0) >= ceiling) return false;
    if (!rings) this.#rings.set(client, (rings = new Map<string, number>()));
    rings.set(eventId, this.#monotonic());
    return true;
  }

  /** Monotonic ms at which a new event may ring; now or earlier if it may already. */
  nextFreeAt(client: string, ceiling: number): number {
    const rings = this.#current(client);
    if (!rings || rings.size < ceiling) return this.#monotonic();
    // With a lowered ceiling more than one has to leave first.
    const leaving = [...rings.values()][rings.size - ceiling];
    return (leaving ?? this.#monotonic()) + WINDOW_MS;
  }

  #current(client: string): Map<string, number> | undefined {
    const rings = this.#rings.get(client);
    if (!rings) return undefined;
    const floor = this.#monotonic() - WINDOW_MS;
    for (const [eventId, at] of rings) {
      if (at > floor) break;
      rings.delete(eventId);
    }
    if (rings.size > 0) return rings;
    this.#rings.delete(client);
    return undefined;
  }
}
