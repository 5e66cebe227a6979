import { healthOf, quotedName, type Health, type HealthFacts } from './health.ts';
import type { ClientRow, EventType, Slices } from './values.ts';

/** What panel and native menu both show: one model, so that they can't differ. No sender and no subject (ui.md, section 3). */
export interface Glance {
  readonly health: Health;
  readonly events: readonly GlanceEvent[];
  readonly clients: readonly GlanceClient[];
  /** Clients in all, connected or asking. */
  readonly clientCount: number;
  /** Clients left out of `clients`. */
  readonly moreClients: number;
  readonly pause: { readonly paused: boolean; readonly choices: readonly PauseChoice[] };
  /** Unix ms of the last arrival, or null. */
  readonly lastAt: number | null;
}

export interface GlanceEvent {
  readonly type: EventType;
  readonly title: string;
  readonly on: boolean;
  /** `14 senders - 3 delivered today`, or `Off`. */
  readonly line: string;
}

export interface GlanceClient {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  /** Waits for the owner. */
  readonly asks: boolean;
}

export interface PauseChoice {
  readonly label: string;
  /** Null: until resumed. */
  readonly ms: number | null;
}

export const EVENT_TITLES: Readonly<Record<EventType, string>> = { 'mail.received': 'New mail', 'messages.received': 'New message' };
const SHOWN_CLIENTS = 4;

export const CLIENT_STATES: Readonly<Record<ClientRow['state'], string>> = {
  listening: 'Listening',
  connected: 'Connected, not listening',
  'cant-tell': "Can't tell",
  asking: 'Wants events',
  away: 'Not running',
};

export function glanceOf(facts: HealthFacts & { readonly slices: Slices | null }, now: number, time: (at: number) => string): Glance {
  const { slices } = facts;
  const shown = (slices?.clients ?? []).filter((client) => client.state !== 'away').toSorted((a, b) => weight(a) - weight(b));
  return {
    health: healthOf(facts, time),
    events: (slices?.events ?? []).map((event) => ({
      type: event.type,
      title: EVENT_TITLES[event.type],
      on: event.on,
      line: event.on ? `${many(event.allowed, 'sender')} - ${event.deliveredToday} delivered today` : 'Off',
    })),
    clients: shown.slice(0, SHOWN_CLIENTS).map((client) => ({
      id: client.id, name: quotedName(client), state: CLIENT_STATES[client.state], asks: client.state === 'asking',
    })),
    clientCount: shown.length,
    moreClients: Math.max(0, shown.length - SHOWN_CLIENTS),
    pause: { paused: slices !== null && slices.pausedUntil !== null, choices: pauseChoices(now) },
    lastAt: slices?.status.lastEventAt ?? null,
  };
}

/** Those who wait for an answer come first, then those who listen. */
const weight = (client: ClientRow) => ['asking', 'listening', 'cant-tell', 'connected', 'away'].indexOf(client.state);

/** "Until tomorrow" ends with the local day (architecture 7). @param now Unix ms */
export function pauseChoices(now: number): readonly PauseChoice[] {
  const midnight = new Date(now);
  midnight.setHours(24, 0, 0, 0);
  return [
    { label: '15 minutes', ms: 15 * 60_000 },
    { label: '1 hour', ms: 3_600_000 },
    { label: 'Until tomorrow', ms: Math.max(1000, midnight.getTime() - now) },
    { label: 'Until I resume', ms: null },
  ];
}

export const many = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;
