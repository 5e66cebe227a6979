import type { EventType } from '../events/occurrence.ts';
import { cleanText } from '../events/text.ts';
import { inQuotes } from '../text/quotes.ts';
import { eventTitle, grantTitle } from './change.ts';
import { widestOf, type Clients, type Decision } from './clients.ts';
import type { CredentialView } from './credentials.ts';
import { parsedEntry, type SenderRules } from './sender-rules.ts';
import type { LoadedSettings } from './settings-store.ts';
import { plainOf, type PlainSettings } from '../contract/plain-settings.ts';
import type { ClientRecord, PausedUntil, SenderRule, Settings } from './settings.ts';
import type { SignInAsk } from './sign-ins.ts';
import type { WaitingEntry } from './waiting.ts';

/** What a client asks for of one type. */
export interface Asked {
  readonly type: EventType;
  /** How many filter entries. */
  readonly senders: number;
  /** Those that the owner's rules don't cover, the first few: "asks for bob@x, not allowed". */
  readonly notAllowed: readonly string[];
}

export interface ClientView {
  readonly id: string;
  readonly display: string;
  readonly signed: boolean;
  readonly persistable: boolean;
  /** What it shows over HTTP; absent: it is known by its process. */
  readonly by?: 'token' | 'sign-in';
  /** What it calls itself: only ever quoted. */
  readonly label: string | null;
  readonly decision: Decision;
  readonly events: ClientRecord['events'];
  readonly senders: ClientRecord['senders'];
  readonly grants: ClientRecord['grants'];
  readonly asks: readonly Asked[];
  /** Unix ms of its last connection since the engine started, or null. */
  readonly seenAt: number | null;
}

interface WaitingBase {
  readonly id: string;
  /** Unix ms. */
  readonly since: number;
  readonly sentence: string;
}
/** An entry of Waiting for you; a client's details stand in `clients` under the same id. */
export type WaitingView = ChangeWaiting | (WaitingBase & Omit<SignInAsk, 'grants'> & { readonly kind: 'sign-in'; readonly grants: ClientRecord['grants'] });
export interface ChangeWaiting extends WaitingBase {
  readonly kind: 'client' | 'change';
  /** The client that it is about, or null. */
  readonly client: string | null;
  /** What a client asks to be granted. */
  readonly grants: ClientRecord['grants'];
}

export interface PolicySnapshot {
  readonly state: LoadedSettings['state'];
  /** What the owner has to know of the settings file, or null. */
  readonly sentence: string | null;
  readonly events: readonly { readonly type: EventType; readonly on: boolean }[];
  readonly senders: readonly SenderRule[];
  readonly chats: readonly string[];
  /** `account id/path`; null: every mailbox that can ring. */
  readonly mailboxes: readonly string[] | null;
  /** Account ids, and mailboxes as `account id/path`. */
  readonly excluded: readonly string[];
  /** Hosts that webhooks may go to; none: webhooks are off. */
  readonly hosts: readonly string[];
  readonly clients: readonly ClientView[];
  /** Tokens and sign-ins. */
  readonly tokens: readonly CredentialView[];
  readonly waiting: readonly WaitingView[];
  readonly pausedUntil: PausedUntil;
  readonly settings: PlainSettings;
  /** The region in force: the owner's, else that of the start. */
  readonly region: string | null;
  readonly trustLocalClients: boolean;
}

const SHOWN = 20;

export function snapshotOf(from: {
  readonly settings: Settings;
  readonly loaded: LoadedSettings;
  readonly region: string | null;
  readonly pausedUntil: PausedUntil;
  readonly trustLocalClients: boolean;
  readonly clients: Clients;
  readonly waiting: readonly WaitingEntry[];
  readonly rules: SenderRules;
  readonly tokens: readonly CredentialView[];
}): PolicySnapshot {
  const { settings, clients, rules } = from;
  return {
    state: from.loaded.state,
    sentence: from.loaded.sentence ?? null,
    events: [
      { type: 'mail.received', on: settings.events['mail.received'] },
      { type: 'messages.received', on: settings.events['messages.received'] },
    ],
    senders: settings.senders,
    chats: settings.chats,
    mailboxes: settings.mailboxes,
    excluded: [...settings.excluded.accounts, ...settings.excluded.mailboxes],
    hosts: settings.hosts,
    clients: clients.ids().map((id) => clientView(clients, rules, id)),
    tokens: from.tokens,
    waiting: from.waiting.map((entry) => waitingView(clients, entry)),
    pausedUntil: from.pausedUntil,
    settings: plainOf(settings),
    region: from.region,
    trustLocalClients: from.trustLocalClients,
  };
}

function clientView(clients: Clients, rules: SenderRules, id: string): ClientView {
  const known = clients.known(id);
  const record = clients.record(id);
  const by = known?.identity.by ?? record?.identity.by;
  return {
    id,
    display: cleanText(known?.identity.display ?? record?.identity.display ?? '', 512),
    signed: known?.identity.signed ?? record?.identity.signed ?? false,
    persistable: known?.identity.persistable ?? true,
    ...(by !== undefined && by !== 'process' && { by }),
    label: known?.label ?? record?.label ?? null,
    decision: clients.decision(id),
    events: record?.events ?? 'all',
    senders: record?.senders ?? 'all',
    grants: record?.grants ?? [],
    asks: [...(known?.asks ?? [])].map(([type, senders]) => ({
      type, senders: senders.length, notAllowed: notAllowed(rules, type, senders),
    })),
    seenAt: known?.seenAt ?? null,
  };
}

function notAllowed(rules: SenderRules, type: EventType, senders: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (const sender of senders) {
    const entry = parsedEntry(sender, false);
    if (entry !== null && rules.covers(type, entry)) continue;
    found.push(sender);
    if (found.length === SHOWN) break;
  }
  return found;
}

function waitingView(clients: Clients, entry: WaitingEntry): WaitingView {
  const { id, since } = entry;
  if (entry.kind === 'sign-in') {
    // The name is a stranger's: it must not look like the end of itself.
    return { ...entry.ask, kind: 'sign-in', since, sentence: `${inQuotes(entry.ask.name, entry.ask.client)} asks to sign in.`, grants: [...entry.ask.grants] };
  }
  return { kind: entry.kind, id, since, sentence: entry.kind === 'change' ? cleanText(entry.sentence, 512) : wants(clients, id), ...about(clients, entry) };
}

/** Whom an entry is about, and what that client would like to do beyond hearing of arrivals. */
function about(clients: Clients, entry: Exclude<WaitingEntry, { kind: 'sign-in' }>): Pick<ChangeWaiting, 'client' | 'grants'> {
  if (entry.kind === 'client') return { client: entry.id, grants: wishesOf(clients, entry.id) };
  const { change } = entry;
  if (change.do === 'grant-client') return { client: change.id, grants: [...change.grants] };
  return { client: 'id' in change ? change.id : null, grants: [] };
}

const wishesOf = (clients: Clients, id: string): ClientRecord['grants'] => widestOf([...(clients.known(id)?.wishes ?? [])]).sort();

/** "Wants New mail from 2 senders. It would also like to search." (ui.md, Clients). Without senders: whoever is allowed. */
function wants(clients: Clients, id: string): string {
  const parts = [...(clients.known(id)?.asks ?? [])].map(([type, senders]) =>
    `${eventTitle(type)}${senders.length === 0 ? '' : ` from ${senders.length} sender${senders.length === 1 ? '' : 's'}`}`);
  const wishes = wishesOf(clients, id).map(grantTitle);
  return `Wants ${parts.length === 0 ? 'events' : parts.join(' and ')}.${wishes.length === 0 ? '' : ` It would also like to ${wishes.join(' and ')}.`}`;
}
