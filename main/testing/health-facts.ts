import { plainDefaults } from '../../app/contract/plain-settings.ts';
import type { HealthIcon, HealthId } from '../../app/contract/health.ts';
import { searchOff } from '../../app/contract/search.ts';
import { DEFAULT_PREFERENCES, type ShellState } from '../../app/contract/shell.ts';
import type { ClientRow, Slices } from '../../app/contract/values.ts';

export const shellFacts = (change: Partial<ShellState> = {}): ShellState => ({
  kind: 'app', version: '1.2.0', shim: '/Applications/Belfry.app/Contents/MacOS/belfry-mcp', shimWord: '/Applications/Belfry.app/Contents/MacOS/belfry-mcp', engine: 'running', restarts: 0, location: 'ok', otherCopy: false,
  signature: 'developer-id', team: 'ABCDE12345', needsReopen: false, needsAdministrator: false, settingsOpenedAt: null, iconOnScreen: true, loginItem: 'off',
  update: { state: 'none', version: null }, preferences: DEFAULT_PREFERENCES, wiring: [], ...change,
});

const store = (state: Slices['access']['mail']['state'], everRead = true): Slices['access']['mail'] => ({ state, everRead, version: null });

export const client = (change: Partial<ClientRow> = {}): ClientRow => ({
  id: '0a1b2c3d', display: '/usr/local/bin/agent', signed: false, persistable: true, label: 'my-agent', decision: 'always', events: 'all', senders: 'all', grants: [], seenAt: null,
  asks: [], state: 'listening', connections: 1, connectedAt: 0, subscriptions: [], lastEventAt: null, ...change,
});

/** Everything is on, one sender is allowed, one client listens. */
export const slices = (change: Partial<Slices> = {}): Slices => ({
  status: {
    version: '1.2.0', pid: 1, headless: false, stores: { mail: { state: 'readable', on: true, position: 1 }, messages: { state: 'readable', on: true, position: 1 } },
    clients: 1, waiting: 0, streams: 1, pausedUntil: null, uptimeSeconds: 1, counters: {}, settingsSentence: null, seal: 'ok', lastEventAt: null, search: searchOff,
  },
  events: (['mail.received', 'messages.received'] as const).map((type) => ({
    type, on: true, sourceOpen: true, accounts: null, readAt: null, mailboxes: null, allowed: 1, usedBy: [], deliveredToday: 3, lastAt: null,
  })),
  senders: [{ kind: 'address', value: 'ada@example.com', subdomains: false, for: 'both', on: true, except: [], display: 'ada@example.com', lastAt: null }],
  clients: [client()],
  tokens: [],
  waiting: [],
  settings: plainDefaults,
  pausedUntil: null,
  access: { mail: store('readable'), messages: store('readable'), checkedAt: 1 },
  chats: [],
  watches: [],
  http: { state: 'off', port: null, url: null, sentence: null },
  search: searchOff,
  hosts: [],
  webhooks: [],
  ...change,
});

interface Case {
  readonly id: HealthId;
  readonly icon: HealthIcon;
  readonly headline: string;
  readonly action: string | null;
  readonly shell: ShellState;
  readonly slices: Slices | null;
}

/** As where a Mac has neither store. */
const notThere: Slices['status'] = {
  ...slices().status, stores: { mail: { state: 'not_there', on: true, position: null }, messages: { state: 'not_there', on: true, position: null } },
};
const off = (all: Slices): Slices => ({ ...all, events: all.events.map((event) => ({ ...event, on: false })) });
export const draftWaits: Slices['waiting'][number] = {
  kind: 'draft', id: 'draft-0123456789ab', since: 0, expiresAt: 600_000, client: '0a1b2c3d', clientName: '"my-agent"', sentence: '"my-agent" would like to open a draft in Mail',
  to: ['ada@example.com'], cc: [], subject: 'Hello', text: 'Hello Ada', answers: null,
};
const waiting: Slices['waiting'] = [{ kind: 'client', id: '0a1b2c3d', since: 0, sentence: '"my-agent" wants events.', client: '0a1b2c3d', grants: [] }];

/** One for each row of ui.md, section 2, and the moment before the first look. Paused until 11:30 is a local time. */
export const PAUSED_UNTIL = new Date(2026, 10, 30, 11, 30).getTime();
export const healthCases: readonly Case[] = [
  { id: 'checking', icon: 'off', headline: 'Checking...', action: null, shell: shellFacts({ engine: 'starting' }), slices: null },
  { id: 'wrongPlace', icon: 'attention', headline: 'Belfry is running from a temporary copy.', action: 'Move and Reopen', shell: shellFacts({ location: 'translocated' }), slices: slices() },
  { id: 'otherCopy', icon: 'attention', headline: 'Another copy of Belfry is running.', action: 'Show It', shell: shellFacts({ otherCopy: true }), slices: null },
  { id: 'engineStopped', icon: 'stopped', headline: 'Belfry has stopped watching.', action: 'Restart', shell: shellFacts({ engine: 'stopped' }), slices: null },
  {
    id: 'tampered', icon: 'attention', headline: 'Settings were changed outside Belfry. Everything is off.', action: 'Review', shell: shellFacts(),
    slices: off({ ...slices(), status: { ...slices().status, seal: 'broken' } }),
  },
  {
    id: 'accessLost', icon: 'attention', headline: 'Belfry can no longer read Mail or Messages.', action: 'Open Full Disk Access', shell: shellFacts(),
    slices: slices({ access: { mail: store('denied'), messages: store('readable'), checkedAt: 1 } }),
  },
  {
    id: 'accessMissing', icon: 'attention', headline: "Belfry can't read Mail or Messages yet.", action: 'Open Full Disk Access', shell: shellFacts(),
    slices: slices({ access: { mail: store('denied', false), messages: store('denied', false), checkedAt: 1 } }),
  },
  {
    id: 'needsReopen', icon: 'attention', headline: 'Access is on. Reopen Belfry to use it.', action: 'Reopen', shell: shellFacts({ needsReopen: true }),
    slices: slices({ access: { mail: store('denied', false), messages: store('denied', false), checkedAt: 1 } }),
  },
  {
    id: 'sourceMissing', icon: 'attention', headline: "Messages isn't set up on this Mac.", action: 'Open Messages', shell: shellFacts(),
    slices: slices({ access: { mail: store('readable'), messages: store('missing', false), checkedAt: 1 } }),
  },
  {
    id: 'sourceMissing', icon: 'attention', headline: "Mail isn't set up on this Mac.", action: 'Open Mail', shell: shellFacts(),
    slices: slices({ access: { mail: store('unknown', false), messages: store('unknown', false), checkedAt: 1 }, status: notThere }),
  },
  { id: 'clientAsking', icon: 'attention', headline: '"my-agent" wants events.', action: 'Review', shell: shellFacts(), slices: slices({ waiting, clients: [client({ state: 'asking', decision: 'none' })] }) },
  { id: 'clientAsking', icon: 'attention', headline: '"my-agent" wants to open a draft in Mail.', action: 'Review', shell: shellFacts(), slices: slices({ waiting: [draftWaits] }) },
  { id: 'paused', icon: 'paused', headline: 'Paused until 11:30.', action: 'Resume', shell: shellFacts(), slices: slices({ pausedUntil: PAUSED_UNTIL }) },
  { id: 'allOff', icon: 'off', headline: 'Everything is off.', action: 'Choose Events', shell: shellFacts(), slices: off(slices()) },
  { id: 'noSenders', icon: 'off', headline: 'No sender is allowed yet, so nothing is sent.', action: 'Add Senders', shell: shellFacts(), slices: slices({ senders: [] }) },
  { id: 'noListener', icon: 'watching', headline: 'Watching. No client is listening.', action: 'Show How', shell: shellFacts(), slices: slices({ clients: [client({ state: 'connected' })] }) },
  { id: 'listening', icon: 'listening', headline: 'Watching. 1 client listening.', action: null, shell: shellFacts(), slices: slices() },
];
