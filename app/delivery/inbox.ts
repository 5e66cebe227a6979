import { StoreError } from '../apple/reader.ts';
import type { Clock } from '../events/clock.ts';
import type { Hub } from '../events/hub.ts';
import { payloadOf, type EventType, type Occurrence } from '../events/occurrence.ts';
import { readAgain } from './stored-occurrences.ts';
import { ITEM_STATE, type ItemRef } from './watch.ts';
import type { WatchPolicy } from './watch-entry.ts';
import { CANNOT_KEEP, type Watches } from './watches.ts';

/** An item as a client gets it. */
export interface InboxItem {
  /** Null for a test, which belongs to no watch. */
  readonly watch: string | null;
  readonly event: EventType | 'test';
  readonly eventId: string;
  /** When it was written or sent; null where the row left. ISO 8601, UTC. */
  readonly timestamp: string | null;
  /** When it came in here. */
  readonly receivedAt: string;
  /** The mail or message is no longer there: deleted, or moved where it does not ring. */
  readonly gone: boolean;
  /** The owner asked for it: nobody wrote. */
  readonly test: boolean;
  /** The envelope by the event's payload schema; null where the row left. */
  readonly data: Readonly<Record<string, unknown>> | null;
}

export interface Gap {
  readonly watch: string;
  /** Unread items that had to go because the watch was full. */
  readonly dropped: number;
  /** True: the store was replaced, so that arrivals may be missing. */
  readonly storeReplaced: boolean;
}

export interface Taken {
  readonly items: readonly InboxItem[];
  readonly refs: readonly ItemRef[];
  readonly gaps: readonly Gap[];
  /** Names what was handed out; null where that is nothing. */
  readonly batch: string | null;
  /** Types whose store cannot be read now: their items stay. */
  readonly unreadable: readonly EventType[];
  /** True if more is unread than was handed out. */
  readonly hasMore: boolean;
}

export interface TakeOptions {
  /** Number of a watch, or null for all of the client. */
  readonly watch: number | null;
  readonly limit: number;
  /** Only items from this event on: what lies before was looked at already. */
  readonly from?: number;
  /** Items that are passed over, and stay. */
  readonly skip?: (item: ItemRef) => boolean;
  /** It leaves unasked: by a channel, or as a file. */
  readonly push?: 'channel' | 'file';
}

/** Most bytes of items in one answer: it stands twice in it, and the helper passes lines of 256 KiB. */
const MAX_BYTES = 90_000;
const PAGE = 100;

/** Why nothing was handed out. */
export interface Refused {
  readonly refused: string;
}

export interface InboxListener {
  /** Told to a client, by a push or as an answer. */
  sent(item: ItemRef, client: string): void;
  /** Pulled, confirmed or receipted by a client. */
  delivered(item: ItemRef, client: string): void;
}

/** What waits for a client: rendered when it is read, confirmed by what the client does next. */
export class Inbox {
  readonly #watches: Watches;
  readonly #hubs: ReadonlyMap<EventType, Hub>;
  readonly #policy: WatchPolicy;
  readonly #clock: Clock;
  readonly #listener: InboxListener;

  constructor(options: { watches: Watches; hubs: ReadonlyMap<EventType, Hub>; policy: WatchPolicy; clock: Clock; listener: InboxListener }) {
    this.#watches = options.watches;
    this.#hubs = options.hubs;
    this.#policy = options.policy;
    this.#clock = options.clock;
    this.#listener = options.listener;
  }

  /**
   * Unread items, oldest first. What the owner no longer allows goes unseen; what is paused, off or unreadable
   * stays. Nothing is confirmed by it.
   */
  take(client: string, options: TakeOptions): Taken | Refused {
    const { watch, limit } = options;
    const principal = { id: client };
    const refs: ItemRef[] = [];
    const items: InboxItem[] = [];
    const withheld: ItemRef[] = [];
    const unreadable = new Set<EventType>();
    let bytes = 0;
    let hasMore = false;
    let after = { event: options.from ?? 0, watch: -1 };
    pages: for (;;) {
      const page = this.#watches.store.unread(client, watch, after, PAGE);
      const wanted = page.filter((ref) => options.skip?.(ref) !== true && this.#isOpen(client, ref));
      const rendered = this.#occurrences(wanted.slice(0, limit - items.length + 1), unreadable);
      for (const ref of wanted) {
        if (ref.type !== 'test' && unreadable.has(ref.type)) continue;
        if (items.length === limit) {
          hasMore = true;
          break pages;
        }
        // The page was rendered as far as it was wanted; withheld ones may make more room.
        const occurrence = rendered.has(ref.event) ? rendered.get(ref.event)! : this.#occurrences([ref], unreadable).get(ref.event) ?? null;
        if (occurrence !== null && !this.#policy.allows(occurrence, principal)) {
          withheld.push(ref);
          continue;
        }
        const item = this.#item(ref, occurrence);
        const size = Buffer.byteLength(JSON.stringify(item));
        if (items.length > 0 && bytes + size > MAX_BYTES) {
          hasMore = true;
          break pages;
        }
        bytes += size;
        refs.push(ref);
        items.push(item);
      }
      if (page.length < PAGE) break;
      after = page.at(-1)!;
    }
    const gaps = options.push ? [] : this.#watches.gapsOf(client, watch);
    if (items.length === 0 && gaps.length === 0) {
      if (withheld.length > 0) this.#watches.withhold(client, withheld);
      return { items, refs, gaps: [], batch: null, unreadable: [...unreadable], hasMore };
    }
    const batch = this.#watches.handOut(client, refs, gaps, withheld, options.push === 'channel');
    if (batch === null) return { refused: CANNOT_KEEP };
    for (const ref of refs) {
      if (options.push) this.#listener.sent(ref, client);
      else this.#listener.delivered(ref, client);
    }
    const told = gaps.map(({ id, dropped, gap }) => ({ watch: id, dropped, storeReplaced: gap > 0 }));
    return { items, refs, gaps: told, batch, unreadable: [...unreadable], hasMore };
  }

  /**
   * Null: no such batch of this client, or one that is too old.
   * @returns how many items are confirmed by it, and whether the name could only be known from a push
   */
  confirm(client: string, batch: string): { readonly confirmed: number; readonly channel: boolean } | Refused | null {
    const done = this.#watches.confirm(client, batch);
    if (done === null) return null;
    if (typeof done === 'string') return { refused: done };
    for (const ref of done.items) this.#listener.delivered(ref, client);
    return { confirmed: done.items.length, channel: done.channel };
  }

  /** Resolves once something may be there for the client, at the time-out, or when `signal` ends the wait. */
  wait(client: string, watch: string | null, ms: number, signal: AbortSignal): Promise<'changed' | 'timeout' | 'aborted'> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve('aborted');
      const end = (how: 'changed' | 'timeout' | 'aborted') => {
        disarm();
        ignore();
        signal.removeEventListener('abort', aborted);
        resolve(how);
      };
      const aborted = () => end('aborted');
      const disarm = this.#clock.after(ms, () => end('timeout'));
      const ignore = this.#watches.listen(client, (ids) => {
        if (watch === null || ids.has(watch)) end('changed');
      });
      signal.addEventListener('abort', aborted, { once: true });
      return undefined;
    });
  }

  #isOpen(client: string, { type }: ItemRef): boolean {
    return type === 'test' || this.#policy.gate({ id: client }, type) === 'open';
  }

  #item(ref: ItemRef, occurrence: Occurrence | null): InboxItem {
    const test = ref.type === 'test';
    return {
      watch: test ? null : this.#watches.byNumber(ref.watch)?.id ?? null,
      event: ref.type,
      eventId: ref.eventId,
      timestamp: test ? new Date(ref.at).toISOString() : occurrence?.timestamp ?? null,
      receivedAt: new Date(ref.at).toISOString(),
      gone: !test && occurrence === null,
      test,
      data: test ? { id: ref.eventId, test: true } : occurrence === null ? null : payloadOf(occurrence, this.#policy.subjects),
    };
  }

  /** The rows as they are now, by event; null for those that left. Types whose store cannot be read are put down. */
  #occurrences(refs: readonly ItemRef[], unreadable: Set<EventType>): ReadonlyMap<number, Occurrence | null> {
    const found = new Map<number, Occurrence | null>();
    for (const [type, hub] of this.#hubs) {
      const wanted = refs.filter((ref) => ref.type === type);
      const stale = wanted.filter((ref) => {
        const fresh = this.#watches.fresh(ref.event);
        if (fresh) found.set(ref.event, fresh);
        return !fresh;
      });
      if (stale.length === 0) continue;
      if (hub.tail.trouble !== null) {
        unreadable.add(type);
        continue;
      }
      try {
        for (const [{ event }, occurrence] of readAgain(hub, stale, this.#clock.now())) found.set(event, occurrence);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        unreadable.add(type);
      }
    }
    return found;
  }
}

export const isPushed = ({ state }: ItemRef): boolean => state !== ITEM_STATE.quiet;
