import { randomBytes } from 'node:crypto';
import type { EventType } from '../events/occurrence.ts';

/** Most watches of one client, and of all; most unread items of one watch. */
export const MAX_WATCHES_OF_ONE = 200;
export const MAX_WATCHES = 2000;
export const MAX_UNREAD = 1000;
/** Longest arguments of a watch as JSON, in characters: 1,000 senders of usual length fit. */
export const MAX_ARGUMENTS = 65_536;

/** A standing subscription of one client identity. It survives restarts of client, engine and Mac. */
export interface Watch {
  /** 8 hex digits. */
  readonly id: string;
  /** Client id. */
  readonly client: string;
  readonly type: EventType;
  /** As they were given: checked when made, resolved against the store whenever it opens. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Who made it. The owner's are kept in settings, a tool's in state.db. */
  readonly source: 'tool' | 'owner';
  /** Unix ms. */
  readonly createdAt: number;
  /** Folder that items are written to as well, chosen by the owner; null: none. */
  readonly inbox: string | null;
}

/** A watch as the owner's settings keep it. */
export type KeptWatch = Omit<Watch, 'source'>;

/** Where an item stands. `quiet` waits too, but is never pushed: it came while the event was switched off (ruling 4). */
export const ITEM_STATE = { waiting: 0, sent: 1, quiet: 2 } as const;
export type ItemState = (typeof ITEM_STATE)[keyof typeof ITEM_STATE];

/** One item as state.db holds it: where its row is, never what it says. */
export interface ItemRef {
  /** Rises in the order of arrival, over all clients. */
  readonly event: number;
  /** Number of the watch in state.db; 0: an item made as a test, which belongs to none. */
  readonly watch: number;
  readonly state: ItemState;
  readonly type: EventType | 'test';
  readonly eventId: string;
  readonly storeRow: number;
  /** Unix ms at which it was kept. */
  readonly at: number;
}

export const newWatchId = (): string => randomBytes(4).toString('hex');

/** One text for the same arguments, whatever the order of keys: a client that asks again gets its watch again. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, each]) => each !== undefined).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(',')}}`;
}
