import { StoreError } from '../apple/reader.ts';
import type { Hub } from '../events/hub.ts';
import type { EventType } from '../events/occurrence.ts';
import type { Entry } from './watch-entry.ts';

export interface Standing {
  /** By the watch's number; null: abreast of its type, so that it needs no position of its own. */
  readonly cursors: Map<number, string | null>;
  readonly positions: Map<EventType, string>;
}

/**
 * The positions that state.db does not have yet. A type without a watch needs none: nothing would begin there,
 * so an arrival that nobody keeps is not written for.
 * @param positions as state.db has them
 */
export function standingOf(hubs: ReadonlyMap<EventType, Hub>, entries: readonly Entry[], positions: ReadonlyMap<EventType, string>): Standing {
  const standing: Standing = { cursors: new Map(), positions: new Map() };
  for (const [type, hub] of hubs) {
    const own = entries.filter(({ watch }) => watch.type === type);
    const { tail } = hub;
    if (own.length === 0 || !tail.running || tail.trouble !== null) continue;
    try {
      const { watermark } = tail;
      const now = tail.cursorAt(watermark);
      const before = positions.get(type) ?? null;
      const moved = new Map<number, string | null>();
      for (const { n, cursor, subscription } of own) {
        const stands = subscription === null ? cursor ?? before
          : subscription.state === 'live' ? null
          : subscription.position >= watermark ? now : tail.cursorAt(subscription.position);
        if (stands !== cursor) moved.set(n, stands);
      }
      for (const [n, cursor] of moved) standing.cursors.set(n, cursor);
      if (now !== before) standing.positions.set(type, now);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
  }
  return standing;
}
