import { CLIENT_STATES, EVENT_TITLES, many } from '../../app/contract/glance.ts';
import type { WiringRow } from '../../app/contract/shell.ts';
import type { ClientRow } from '../../app/contract/values.ts';
import type { BadgeKind } from '../parts/badge.tsx';

const STATE_KINDS: Readonly<Record<ClientRow['state'], BadgeKind>> = { listening: 'ok', connected: 'quiet', 'cant-tell': 'wait', asking: 'wait', away: 'quiet' };

/** A client that the owner refused says so, whatever it does. */
export function stateWords({ state, decision }: Pick<ClientRow, 'state' | 'decision'>): { readonly text: string; readonly kind: BadgeKind } {
  if (decision === 'denied') return { text: 'Not allowed', kind: 'problem' };
  return { text: CLIENT_STATES[state], kind: STATE_KINDS[state] };
}

export interface ClientGroups {
  /** Connected now, whatever it does. */
  readonly connected: readonly ClientRow[];
  /** Decided on and not running. */
  readonly away: readonly ClientRow[];
}

/** Clients, not connections: one client opens many. Those who ask stand in Waiting for you instead. */
export function clientGroups(clients: readonly ClientRow[]): ClientGroups {
  return {
    connected: clients.filter(({ state }) => state !== 'away' && state !== 'asking'),
    away: clients.filter(({ state, decision }) => state === 'away' && decision !== 'none'),
  };
}

/** `New mail - 2 senders - push - 3 delivered` */
export const subscriptionWords = ({ type, senders, mode, delivered }: ClientRow['subscriptions'][number]): string =>
  `${EVENT_TITLES[type]} - ${many(senders, 'sender')} - ${mode} - ${delivered} delivered`;

/** `New mail from 2 senders, New message`; without senders it is whoever is allowed. Null while it asks for nothing. */
export function asksWords({ asks }: Pick<ClientRow, 'asks'>): string | null {
  if (asks.length === 0) return null;
  return asks.map(({ type, senders }) => `${EVENT_TITLES[type]}${senders === 0 ? '' : ` from ${many(senders, 'sender')}`}`).join(', ');
}

/** What it got so far, over all its subscriptions. */
export const deliveredTo = ({ subscriptions }: Pick<ClientRow, 'subscriptions'>): number => subscriptions.reduce((sum, { delivered }) => sum + delivered, 0);

/** Senders that it asks for and that no rule allows, each once. */
export const notAllowedOf = ({ asks }: Pick<ClientRow, 'asks'>): readonly string[] => [...new Set(asks.flatMap(({ notAllowed }) => notAllowed))];

/** The settings entry that started it. The label comes from that entry and is no proof, so it decides nothing but which file is shown. */
export function wiringOf(client: Pick<ClientRow, 'label'>, wiring: readonly WiringRow[]): WiringRow | null {
  const label = client.label?.toLowerCase();
  return wiring.find(({ id, title }) => id === label || title.toLowerCase() === label) ?? null;
}

export interface WiringWords {
  readonly text: string;
  readonly kind: BadgeKind;
  readonly action: 'connect' | 'repair' | 'rename' | 'show' | 'copy' | 'remove' | null;
  readonly button: string | null;
}

const WIRING: Readonly<Record<WiringRow['state'], WiringWords>> = {
  'not-installed': { text: 'Not found on this Mac', kind: 'quiet', action: null, button: null },
  'not-set-up': { text: 'Not set up', kind: 'quiet', action: 'connect', button: 'Connect' },
  'set-up': { text: 'Set up', kind: 'ok', action: 'remove', button: 'Remove...' },
  'older-copy': { text: 'Points to an older copy', kind: 'wait', action: 'repair', button: 'Repair' },
  unreadable: { text: 'Unreadable settings', kind: 'problem', action: 'show', button: 'Show File' },
  'name-taken': { text: 'Same name used by another server', kind: 'wait', action: 'rename', button: 'Use Another Name' },
  'cant-write': { text: 'Settings can only be copied', kind: 'quiet', action: 'copy', button: 'Copy' },
};

/** @param running a client that this entry started is connected */
export function wiringWords({ state }: Pick<WiringRow, 'state'>, running: boolean): WiringWords {
  const words = WIRING[state];
  return state === 'set-up' && !running ? { ...words, text: 'Set up, not running', kind: 'quiet' } : words;
}

/** How a program that is set up and does not run gets started: by its own app, or by a command that the owner copies. Null: neither is known. */
export function startOf({ state, canOpen, startCommand, listenCommand }: Pick<WiringRow, 'state' | 'canOpen' | 'startCommand' | 'listenCommand'>, running: boolean): 'app' | { readonly command: string } | null {
  if (state !== 'set-up' || running) return null;
  if (canOpen) return 'app';
  const command = listenCommand ?? startCommand;
  return command === null ? null : { command };
}

/** A name for our entry that is not taken: ours with a number. */
export const otherNames = { fallback: 'belfry-2', pattern: /^[A-Za-z0-9_-]{1,32}$/ } as const;
