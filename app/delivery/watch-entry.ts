import type { EventType, Subjects } from '../events/occurrence.ts';
import type { Filter } from '../events/sender-filter.ts';
import type { Hold, Subscription } from '../events/subscription.ts';
import type { Gate, Judge, Principal } from '../events/verdict.ts';
import { ITEM_STATE, type ItemState, type Watch } from './watch.ts';

/** What watches ask of the owner's policy. Implemented in `policy`, joined in `engine`; answered from memory. */
export interface WatchPolicy extends Judge {
  eventOn(type: EventType): boolean;
  gate(principal: Principal, type: EventType): Gate;
  /** Whether the owner's rules and the client's own grant let all of these senders pass. */
  covers(principal: Principal, type: EventType, entries: readonly string[]): boolean;
  /** The owner said no to this client, or took back a yes: its watches end. */
  isDenied(principal: Principal): boolean;
  /** Unix ms. */
  nextFreeAt(principal: Principal): number;
  readonly subjects: Subjects;
}

export interface WatchView extends Watch {
  readonly senders: number;
  /** Unread: not handed out yet; handed out and not confirmed. */
  readonly waiting: number;
  readonly sent: number;
  readonly confirmed: number;
  /** Unread items that had to go, and stores that were replaced, since that was last confirmed as read. */
  readonly dropped: number;
  readonly gap: number;
  /** Why it takes nothing now, or null. */
  readonly held: Hold | 'off' | 'refused' | null;
  /** A name in its arguments fits nothing any more: a sentence. */
  readonly problem: string | null;
  /** False: the owner's rules, or the client's grant, hold back some of what it asks for. */
  readonly covered: boolean;
}

/** A watch at work. */
export interface Entry {
  watch: Watch;
  readonly n: number;
  /** As state.db has it. Null: it follows the position of its type. */
  cursor: string | null;
  filter: Filter | null;
  problem: string | null;
  subscription: Subscription | null;
  /** Its type was off: what lies up to where it comes on again is history. */
  wasOff: boolean;
  quietUpTo: number;
  readonly counts: [waiting: number, sent: number, quiet: number];
  dropped: number;
  gap: number;
  confirmed: number;
}

/** @param cursor as state.db has it */
export function entryOf(watch: Watch, n: number, cursor: string | null): Entry {
  return { watch, n, cursor, filter: null, problem: null, subscription: null, wasOff: false, quietUpTo: -1, counts: [0, 0, 0], dropped: 0, gap: 0, confirmed: 0 };
}

/** An item goes from one state to another, or away. */
export function countItem(entry: Entry | undefined, state: ItemState, by: number, to?: ItemState): void {
  if (!entry) return;
  entry.counts[state] += by;
  if (to !== undefined) entry.counts[to] -= by;
}

export function viewOf(entry: Entry, policy: WatchPolicy): WatchView {
  const { watch, subscription, problem, dropped, gap, confirmed } = entry;
  const principal = { id: watch.client };
  const gate = policy.gate(principal, watch.type);
  const held = gate === 'off' || gate === 'refused' ? gate
    : subscription === null ? 'trouble' : subscription.hold ?? (gate === 'open' ? null : gate);
  const entries = entry.filter?.entries ?? [];
  return {
    ...watch, problem, held, dropped, gap, confirmed,
    senders: entries.length,
    waiting: entry.counts[ITEM_STATE.waiting] + entry.counts[ITEM_STATE.quiet],
    sent: entry.counts[ITEM_STATE.sent],
    covered: gate === 'open' || gate === 'paused' ? policy.covers(principal, watch.type, entries) : false,
  };
}
