import type { EventType } from '../events/occurrence.ts';
import { cleanText } from '../events/text.ts';
import { inQuotes } from '../text/quotes.ts';
import { holdsBack } from './sender-rules.ts';
import type { SettingKey } from '../contract/plain-settings.ts';
import type { ClientRecord, PausedUntil, SenderRule, Settings } from './settings.ts';

type RuleFor = SenderRule['for'];
export type GrantName = ClientRecord['grants'][number];

export interface SenderOptions {
  readonly for?: RuleFor;
  readonly subdomains?: boolean;
  readonly except?: readonly string[];
}
export interface SenderPatch {
  readonly on?: boolean;
  readonly for?: RuleFor;
  readonly subdomains?: boolean;
  readonly except?: readonly string[];
}
export interface AllowOptions {
  readonly once?: boolean;
  readonly events?: 'all' | readonly EventType[];
  readonly senders?: 'all' | readonly string[];
  readonly grants?: readonly GrantName[];
}

/** Everything that can change what the owner allows, as values: commands, the window and Waiting for you use the same. */
export type Change =
  | { readonly do: 'set-event'; readonly type: EventType; readonly on: boolean }
  | { readonly do: 'add-senders'; readonly senders: readonly string[]; readonly options: SenderOptions }
  | { readonly do: 'set-sender'; readonly sender: string; readonly patch: SenderPatch }
  | { readonly do: 'remove-senders'; readonly senders: readonly string[] }
  | { readonly do: 'undo-removal' }
  /** Chat guids. */
  | { readonly do: 'add-chats'; readonly chats: readonly string[] }
  | { readonly do: 'remove-chats'; readonly chats: readonly string[] }
  /** Null: every mailbox that can ring. */
  | { readonly do: 'set-mailboxes'; readonly mailboxes: readonly string[] | null }
  /** Accounts by id, mailboxes as `account id/path`. */
  | { readonly do: 'exclude'; readonly places: readonly string[] }
  | { readonly do: 'include'; readonly places: readonly string[] }
  /** Hosts that webhooks may go to. */
  | { readonly do: 'add-hosts'; readonly hosts: readonly string[] }
  | { readonly do: 'remove-hosts'; readonly hosts: readonly string[] }
  /** @param code of a sign-in that waits: what its page shows */
  | { readonly do: 'allow-client'; readonly id: string; readonly options: AllowOptions; readonly code?: string }
  /** Adds grants to a client that is allowed; the rest of its record stays. */
  | { readonly do: 'grant-client'; readonly id: string; readonly grants: readonly GrantName[] }
  | { readonly do: 'deny-client'; readonly id: string }
  | { readonly do: 'revoke-client'; readonly id: string }
  /** A bearer token with a client of its own. */
  | { readonly do: 'create-token'; readonly label: string; readonly options: AllowOptions }
  /** @param id of the client that shows it */
  | { readonly do: 'revoke-token'; readonly id: string }
  | { readonly do: 'pause'; readonly ms: number | null }
  | { readonly do: 'resume' }
  | { readonly do: 'set-setting'; readonly key: SettingKey; readonly value: unknown };

/** `invalid` and `unknown`: wrong use. `nothing`: nothing matched. `refused`: not possible for this client. */
export type ChangeFault = 'invalid' | 'unknown' | 'nothing' | 'refused' | 'not-written' | 'full';

export type Outcome =
  | { readonly ok: true; readonly changed: boolean; /** For whoever asked. */ readonly sentence: string; /** A new secret: shown to the person once, kept nowhere. */ readonly token?: string }
  | { readonly ok: false; readonly code: ChangeFault; readonly message: string };

/** The parts of what is held in memory that a change is compared with. */
export interface Held {
  readonly settings: Settings;
  readonly pausedUntil: PausedUntil;
  readonly now: number;
}

/**
 * Whether a change lets more through than now (architecture 3): then a program may only ask for it. A change
 * that changes nothing widens nothing.
 */
export function isWidening(change: Change, held: Held): boolean {
  const { settings } = held;
  switch (change.do) {
    case 'set-event':
      return change.on && !settings.events[change.type];
    case 'add-senders':
    case 'undo-removal':
    case 'allow-client':
    case 'grant-client':
    case 'create-token':
    case 'include':
      return true;
    case 'set-sender': {
      const { on, subdomains, ...rest } = change.patch;
      if (on === true || subdomains === true || Object.keys(rest).length > 0) return true;
      return liftsException(settings, (rule) => rule.value === change.sender);
    }
    case 'remove-senders':
      return liftsException(settings, (rule) => change.senders.includes(rule.value));
    case 'add-chats':
      return change.chats.some((chat) => !settings.chats.includes(chat));
    case 'set-mailboxes':
      return settings.mailboxes !== null && (change.mailboxes === null || change.mailboxes.some((mailbox) => !settings.mailboxes!.includes(mailbox)));
    case 'add-hosts':
      return change.hosts.some((host) => !settings.hosts.includes(host));
    case 'exclude':
    case 'remove-chats':
    case 'remove-hosts':
    case 'deny-client':
    case 'revoke-client':
    case 'revoke-token':
      return false;
    case 'pause': {
      // A shorter pause than the one in force is a resume in disguise.
      const { pausedUntil } = held;
      if (pausedUntil === null || change.ms === null) return false;
      return pausedUntil === 'resumed' || held.now + change.ms < pausedUntil;
    }
    case 'resume':
      return held.pausedUntil !== null;
    case 'set-setting':
      return widensSetting(change.key, change.value, settings);
  }
}

/** Exceptions hold for all rules, so a rule that goes takes with it what it held back from others. */
function liftsException(settings: Settings, goes: (rule: SenderRule) => boolean): boolean {
  const going = settings.senders.filter((rule) => rule.on && goes(rule));
  const staying = settings.senders.filter((rule) => !goes(rule));
  return going.some((gone) => staying.some((rule) => holdsBack(gone, rule)));
}

function widensSetting(key: SettingKey, value: unknown, settings: Settings): boolean {
  switch (key) {
    case 'subjects':
    case 'backfill':
    case 'fetchThroughMail':
      return value !== false && settings[key] !== value;
    case 'hideCodes':
      return value !== true && settings[key] !== value;
    case 'ratePerHour':
    case 'keepSendersDays':
      return !(typeof value === 'number' && value <= settings[key]);
    // It says when work is done, not what is read.
    case 'indexOnBattery':
      return false;
    case 'region':
      return value !== settings.region;
    case 'askNewClients':
      return value !== true && settings.askNewClients !== value;
    case 'http':
      return value !== false && !settings.http;
    // Whoever takes the old port would be sent the tokens of clients that know only that one.
    case 'httpPort':
      return value !== settings.httpPort;
  }
}

const TITLE: Readonly<Record<EventType, string>> = { 'mail.received': 'New mail', 'messages.received': 'New message' };
export const eventTitle = (type: EventType): string => TITLE[type];

const GRANT: Readonly<Record<GrantName, string>> = {
  mail: 'read mail from allowed senders', 'mail:everything': 'read all mail', messages: 'read messages from allowed senders',
  'messages:everything': 'read all messages', search: 'search', reply: 'write replies that the owner allows one by one', 'reply:unasked': 'write to allowed senders without asking, and to others when the owner allows it',
};
export const grantTitle = (grant: GrantName): string => GRANT[grant];
const grantsText = (grants: readonly GrantName[] = []) => (grants.length === 0 ? '' : `, to ${grants.map(grantTitle).join(' and ')}`);
const places = (list: readonly string[]) => (list.length === 1 ? 'An account or mailbox' : `${list.length} accounts or mailboxes`);

const many = (count: number, one: string) => `${count} ${one}${count === 1 ? '' : 's'}`;

/** Names that somebody else gave. */
const quotedList = (names: readonly string[]) => names.slice(0, 3).map((name) => inQuotes(name)).join(', ');

/** What a request in Waiting for you asks for, with its names: only the owner sees it. */
export function askSentence(change: Change, clientName: (id: string) => string): string {
  switch (change.do) {
    case 'set-event':
      return `Turn on ${TITLE[change.type]}`;
    case 'add-senders':
      return `Allow ${change.senders.slice(0, 3).join(', ')}${change.senders.length > 3 ? ` and ${change.senders.length - 3} more` : ''}`;
    case 'set-sender':
      return `Change the rule for ${change.sender}`;
    case 'remove-senders':
      return `Remove ${many(change.senders.length, 'sender')} whose exceptions hold back others`;
    case 'undo-removal':
      return 'Put back the senders removed last';
    case 'add-chats':
      return `Allow everyone in ${many(change.chats.length, 'chat')}: ${quotedList(change.chats)}`;
    case 'remove-chats':
      return `Remove ${many(change.chats.length, 'chat')}`;
    case 'set-mailboxes':
      return change.mailboxes === null ? 'Let every mailbox ring' : `Let other mailboxes ring: ${quotedList(change.mailboxes)}`;
    case 'allow-client':
      return `Allow the client ${clientName(change.id)}${change.options.once === true ? ' once' : ''}${grantsText(change.options.grants)}`;
    case 'grant-client':
      return `Let the client ${clientName(change.id)} ${change.grants.map(grantTitle).join(' and ')}`;
    case 'add-hosts':
      return `Let webhooks go to ${change.hosts.slice(0, 3).join(', ')}${change.hosts.length > 3 ? ` and ${change.hosts.length - 3} more` : ''}`;
    case 'remove-hosts':
      return `Remove ${many(change.hosts.length, 'webhook host')}`;
    case 'exclude':
      return `Exclude ${quotedList(change.places)}`;
    case 'include':
      return `No longer exclude ${quotedList(change.places)}`;
    case 'deny-client':
    case 'revoke-client':
    case 'revoke-token':
      return `Don't allow the client ${clientName(change.id)}`;
    case 'create-token':
      return `Make a token ${inQuotes(cleanText(change.label, 64))}${grantsText(change.options.grants)}`;
    case 'pause':
      return 'Shorten the pause';
    case 'resume':
      return 'Resume';
    case 'set-setting':
      if (change.key === 'askNewClients') return change.value === false ? 'Let new clients in without asking' : 'Ask before a new client gets events';
      return `Set ${change.key} to ${settingText(change.value)}`;
  }
}

/** What Activity keeps of a change: no names and no addresses (architecture 2). */
export function activitySentence(change: Change): string {
  switch (change.do) {
    case 'set-event':
      return `${TITLE[change.type]} turned ${change.on ? 'on' : 'off'}`;
    case 'add-senders':
      return `${many(change.senders.length, 'sender')} added`;
    case 'set-sender':
      return 'A sender rule changed';
    case 'remove-senders':
      return `${many(change.senders.length, 'sender')} removed`;
    case 'undo-removal':
      return 'Removed senders put back';
    case 'add-chats':
      return `${many(change.chats.length, 'chat')} added`;
    case 'remove-chats':
      return `${many(change.chats.length, 'chat')} removed`;
    case 'set-mailboxes':
      return change.mailboxes === null ? 'Every mailbox can ring' : `Narrowed to ${many(change.mailboxes.length, 'mailbox').replace('mailboxs', 'mailboxes')}`;
    case 'allow-client':
      return `Client allowed${change.options.once === true ? ' once' : ''}`;
    case 'grant-client':
      return 'Client granted more';
    case 'add-hosts':
      return `${many(change.hosts.length, 'webhook host')} added`;
    case 'remove-hosts':
      return `${many(change.hosts.length, 'webhook host')} removed`;
    case 'exclude':
      return `${places(change.places)} excluded`;
    case 'include':
      return `${places(change.places)} no longer excluded`;
    case 'deny-client':
      return 'Client not allowed';
    case 'revoke-client':
      return 'Client revoked';
    case 'create-token':
      return 'Token made';
    case 'revoke-token':
      return 'Token revoked';
    case 'pause':
      return 'Paused';
    case 'resume':
      return 'Resumed';
    case 'set-setting':
      return `${change.key} set to ${settingText(change.value)}`;
  }
}

export function settingText(value: unknown): string {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return String(value).slice(0, 16);
}
