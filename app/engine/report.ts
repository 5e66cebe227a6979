import { accessSync, constants, statSync } from 'node:fs';
import type { StoreKind } from '../apple/occurrence.ts';
import { parseSender } from '../apple/sender.ts';
import { quotedName } from '../contract/health.ts';
import type { ClientRow, DiagnosticRow, EventRow, SenderRow, Slices, Status } from '../contract/values.ts';
import type { EventType } from '../events/occurrence.ts';
import type { TailTrouble } from '../events/tail.ts';
import type { Subscription } from '../events/subscription.ts';
import type { SenderRule } from '../policy/settings.ts';
import type { Engine } from './engine.ts';
import { shownMailboxes } from './mailbox-names.ts';
import { version } from './version.ts';
import { waitingRows } from './writing.ts';
import { watchRows } from './watch-calls.ts';
import { webhookRows, webhooksRow } from './webhook-calls.ts';

/** The engine's state as values of the contract. Built when asked for, from memory. */
export function statusOf(engine: Engine, { waiting, sentence } = engine.policy.snapshot()): Status {
  const { policy } = engine;
  const store = (type: EventType): Status['stores']['mail'] => {
    const { tail } = engine.hub(type);
    const on = policy.eventOn(type);
    return { on, state: on ? (tail.trouble ?? 'readable') : 'off', position: on && tail.trouble === null ? tail.position : null };
  };
  const counters: Record<string, number> = {};
  for (const { connection } of engine.connected) {
    for (const [emission, count] of connection.emitted) counters[emission.method] = (counters[emission.method] ?? 0) + count;
  }
  return {
    version,
    pid: process.pid,
    headless: engine.options.kind === 'serve',
    stores: { mail: store('mail.received'), messages: store('messages.received') },
    clients: new Set([...engine.connected].flatMap(({ identity }) => (identity ? [identity.id] : []))).size,
    waiting: waiting.length + engine.outgoing.waiting.length,
    streams: [...engine.hubs].reduce((sum, hub) => sum + hub.size, 0),
    pausedUntil: policy.pausedUntil,
    uptimeSeconds: Math.max(0, Math.round((engine.clock.now() - engine.startedAt) / 1000)),
    counters,
    settingsSentence: sentence,
    seal: policy.seal,
    lastEventAt: engine.seen.lastOfAll(),
    search: engine.search.state(),
  };
}

export function eventRows(engine: Engine, snapshot = engine.policy.snapshot(), users = clientRows(engine, snapshot)): EventRow[] {
  return snapshot.events.map(({ type, on }) => {
    const { tail } = engine.hub(type);
    const isMail = type === 'mail.received';
    const store = isMail ? 'mail' : 'messages';
    return {
      type,
      on,
      sourceOpen: engine.sourceApps.runs(store),
      accounts: isMail ? engine.accounts : null,
      readAt: on && tail.trouble === null ? tail.readAt : null,
      mailboxes: isMail && snapshot.mailboxes !== null ? shownMailboxes(engine.readable('mail'), snapshot.mailboxes) : null,
      allowed: snapshot.senders.filter((rule) => rule.on && countsFor(rule, store)).length + (isMail ? 0 : snapshot.chats.length),
      usedBy: users.filter((client) => client.subscriptions.some((subscription) => subscription.type === type)).map(quotedName),
      deliveredToday: engine.activity.deliveredToday(type),
      lastAt: engine.seen.lastOf(type),
    };
  });
}

/** Numbers send no mail, whatever the rule is for. */
const countsFor = (rule: SenderRule, store: 'mail' | 'messages') =>
  (rule.for === 'both' || rule.for === store) && (store === 'messages' || rule.kind === 'address' || rule.kind === 'domain');

export function clientRows(engine: Engine, snapshot = engine.policy.snapshot()): ClientRow[] {
  return snapshot.clients.map((client) => {
    const peers = [...engine.connected].filter(({ identity }) => identity?.id === client.id);
    const decided = client.decision !== 'none' || engine.policy.trustLocalClients;
    const { subscriptions, state } = hearingOf(engine, client.id, peers, decided);
    return {
      ...client,
      events: client.events === 'all' ? 'all' : [...client.events],
      senders: client.senders === 'all' ? 'all' : [...client.senders],
      grants: [...client.grants],
      asks: client.asks.map((ask) => ({ ...ask, notAllowed: [...ask.notAllowed] })),
      state,
      connections: peers.length,
      connectedAt: peers.length === 0 ? null : Math.min(...peers.map((peer) => peer.connectedAt)),
      subscriptions,
      lastEventAt: engine.seen.lastOfClient(client.id),
    };
  });
}

type Subscriptions = ClientRow['subscriptions'];

/**
 * How a client hears, from what it does (ui.md, Clients): an open stream, a poll or pull of the last minutes, or a
 * channel that confirmed. A channel that never confirmed proves nothing, and a watch that nobody pulls neither.
 */
function hearingOf(engine: Engine, client: string, peers: readonly { readonly streams: ReadonlySet<Subscription> }[], decided: boolean): { subscriptions: Subscriptions; state: ClientRow['state'] } {
  const streams: Subscriptions = peers.flatMap((peer) => [...peer.streams].map((stream) => ({
    type: stream.filter.type, senders: stream.filter.senderCount, mode: 'push' as const, delivered: stream.delivered,
  })));
  const polls = peers.length === 0 ? [] : engine.pulls.polls(client).map((poll) => ({ ...poll, mode: 'poll' as const }));
  const channel = engine.channels.stateOf(client);
  const watches = engine.watches.list(client).map(({ type, senders, confirmed }) => ({
    type, senders, mode: channel === null ? 'poll' as const : 'channel' as const, delivered: confirmed,
  }));
  const webhooks = engine.webhooks.list().filter((webhook) => webhook.client === client && webhook.state !== 'ending');
  // A receiver accepts for its client, which need not be connected.
  const receives = webhooks.some((webhook) => webhook.state === 'ok');
  const hears = receives || streams.length > 0 || polls.length > 0 || channel === 'proven' || (watches.length > 0 && engine.pulls.isPulling(client));
  const state = peers.length === 0 && !receives ? 'away' : !decided ? 'asking' : hears ? 'listening' : channel === 'unproven' ? 'cant-tell' : 'connected';
  return { subscriptions: [...streams, ...polls, ...watches, ...webhooks.map(({ type, senders, delivered }) => ({ type, senders, mode: 'webhook' as const, delivered }))], state };
}

export function senderRows(engine: Engine, snapshot = engine.policy.snapshot()): SenderRow[] {
  return snapshot.senders.map((rule) => ({
    ...rule, except: [...rule.except], display: displayOf(rule), lastAt: engine.seen.lastOfRule(rule),
  }));
}

/** Thousands of rules are drawn anew with each change: read once each. */
const displays = new WeakMap<SenderRule, string>();

/** IDN in both forms (ui.md, Senders). */
function displayOf(rule: SenderRule): string {
  const known = displays.get(rule);
  if (known !== undefined) return known;
  const { kind, value } = rule;
  const parsed = parseSender(kind === 'domain' ? `@${value}` : value, null);
  const shown = parsed.ok ? parsed.display : value;
  const display = kind === 'domain' ? `Everyone at ${shown}` : shown;
  displays.set(rule, display);
  return display;
}

export function slicesOf(engine: Engine): Slices {
  const snapshot = engine.policy.snapshot();
  const clients = clientRows(engine, snapshot);
  return {
    status: statusOf(engine, snapshot),
    events: eventRows(engine, snapshot, clients),
    senders: senderRows(engine, snapshot),
    clients,
    tokens: [...snapshot.tokens],
    waiting: waitingRows(engine, snapshot.waiting),
    settings: snapshot.settings,
    pausedUntil: snapshot.pausedUntil,
    access: engine.access,
    chats: engine.chats.rows(snapshot.chats),
    watches: watchRows(engine),
    search: engine.search.state(),
    http: engine.http.state,
    hosts: [...snapshot.hosts],
    webhooks: webhookRows(engine),
  };
}

/** Checks with evidence and one fix each. No names, addresses, subjects or file contents. */
export function doctor(engine: Engine): DiagnosticRow[] {
  const { policy } = engine;
  const snapshot = policy.snapshot();
  const ages = Math.round((engine.clock.now() - engine.startedAt) / 60_000);
  const rows: DiagnosticRow[] = [
    { id: 'engine', title: 'Engine', state: 'ok', evidence: `version ${version}, process ${process.pid}, running ${ages} min`, fix: null },
    settingsRow(snapshot.state, snapshot.sentence),
    sealRow(engine),
    folderRow(engine),
    ...accessRows(engine),
  ];
  for (const hub of engine.hubs) rows.push(storeRow(engine, hub.type));
  rows.push(
    policy.anyOn()
      ? { id: 'events', title: 'Events', state: 'ok', evidence: snapshot.events.filter((event) => event.on).map((event) => event.type).join(', '), fix: null }
      : { id: 'events', title: 'Events', state: 'warning', evidence: 'every event is off, so clients are told of none', fix: 'belfry events on mail.received' },
    snapshot.senders.some((rule) => rule.on) || snapshot.chats.length > 0
      ? { id: 'senders', title: 'Senders', state: 'ok', evidence: `${snapshot.senders.filter((rule) => rule.on).length} of ${snapshot.senders.length} rules on`, fix: null }
      : { id: 'senders', title: 'Senders', state: 'warning', evidence: 'no sender is allowed, so nothing is sent', fix: 'belfry senders add ada@example.com' },
    clientsRow(engine),
    watchesRow(engine),
    httpRow(engine),
    webhooksRow(engine),
  );
  return rows;
}

function settingsRow(state: string, sentence: string | null): DiagnosticRow {
  if (sentence === null) return { id: 'settings', title: 'Settings', state: 'ok', evidence: state === 'fresh' ? 'none written yet: everything is off' : 'read', fix: null };
  return { id: 'settings', title: 'Settings', state: state === 'migrated' || state === 'ok' ? 'warning' : 'problem', evidence: sentence, fix: null };
}

function sealRow(engine: Engine): DiagnosticRow {
  const row = { id: 'seal', title: 'Seal' };
  switch (engine.policy.seal) {
    case 'ok':
      return { ...row, state: 'ok', evidence: 'settings are as Belfry wrote them', fix: null };
    case 'none':
      return { ...row, state: 'cant-check', evidence: 'a headless engine has none: any program of this user can change its settings', fix: null };
    case 'broken':
      return { ...row, state: 'problem', evidence: 'settings were changed outside Belfry, so everything is off', fix: 'Open Belfry and choose Review.' };
  }
}

/** 16 bytes of each store, whether or not its event is on (ui.md, Diagnostics). */
function accessRows(engine: Engine): DiagnosticRow[] {
  const access = engine.probeAccess();
  return (['mail', 'messages'] as const).map((store) => {
    const { state, everRead, version } = access[store];
    const row = { id: `access-${store}`, title: `Disk access: ${APPS[store].name}` };
    switch (state) {
      case 'readable':
        return { ...row, state: 'ok', evidence: `read 16 bytes${version === null ? '' : ` of index ${version}`}`, fix: null };
      case 'denied':
        return { ...row, state: 'problem', evidence: everRead ? 'could be read before and cannot be now' : 'cannot be read', fix: FULL_DISK_ACCESS };
      case 'missing':
        return { ...row, state: 'warning', evidence: 'file not found', fix: openOnce(store) };
      case 'unknown':
        return { ...row, state: 'cant-check', evidence: 'no store was found, or it is no database', fix: null };
    }
  });
}

function folderRow(engine: Engine): DiagnosticRow {
  const row = { id: 'folder', title: 'Data folder' };
  try {
    accessSync(engine.options.dataDir, constants.W_OK);
    const open = (statSync(engine.options.dataDir).mode & 0o077) !== 0;
    return open
      ? { ...row, state: 'warning', evidence: 'other users can look into the data folder', fix: 'chmod 700 on the data folder' }
      : { ...row, state: 'ok', evidence: 'writable, for this user only', fix: null };
  } catch {
    return { ...row, state: 'problem', evidence: 'the data folder cannot be written to', fix: 'Check its owner and mode.' };
  }
}

const APPS = { mail: { name: 'Mail', flag: '--mail-dir' }, messages: { name: 'Messages', flag: '--messages-db' } } as const;
const FULL_DISK_ACCESS = 'On a Mac, turn on Full Disk Access for Belfry in System Settings > Privacy & Security.';
const openOnce = (kind: StoreKind) => `Open ${APPS[kind].name} once, or name its store by ${APPS[kind].flag}.`;

function fixOf(trouble: TailTrouble, kind: StoreKind): string {
  switch (trouble) {
    case 'not_permitted':
      return FULL_DISK_ACCESS;
    case 'not_there':
      return openOnce(kind);
    case 'broken':
      return `Let ${APPS[kind].name} rebuild its store; Belfry goes on by itself.`;
    case 'busy':
      return 'Another program holds the store locked; Belfry goes on once it lets go.';
  }
}

function storeRow(engine: Engine, type: EventType): DiagnosticRow {
  const { tail, kind } = engine.hub(type);
  const title = APPS[kind].name;
  if (!engine.policy.eventOn(type)) return { id: type, title, state: 'cant-check', evidence: 'off: nothing is read for this event', fix: null };
  if (tail.trouble === null) return { id: type, title, state: 'ok', evidence: `readable, at row ${tail.position}`, fix: null };
  return { id: type, title, state: 'problem', evidence: `cannot be read (${tail.trouble.replaceAll('_', ' ')})`, fix: fixOf(tail.trouble, kind) };
}

function watchesRow(engine: Engine): DiagnosticRow {
  const row = { id: 'watches', title: 'Watches' };
  const rows = watchRows(engine);
  const unread = rows.reduce((sum, watch) => sum + watch.waiting + watch.sent, 0);
  const evidence = `${rows.length} set, ${unread} unread`;
  if (engine.watchTrouble !== null) return { ...row, state: 'problem', evidence: engine.watchTrouble, fix: 'Make room on the disk.' };
  if (engine.stateSentence !== null) return { ...row, state: 'warning', evidence: engine.stateSentence, fix: null };
  const stuck = rows.filter((watch) => watch.problem !== null);
  if (stuck.length > 0) return { ...row, state: 'warning', evidence: `${evidence}, ${stuck.length} with a problem`, fix: 'belfry watches list' };
  return { ...row, state: 'ok', evidence, fix: null };
}

function httpRow(engine: Engine): DiagnosticRow {
  const row = { id: 'http', title: 'HTTP' };
  const { state, url, sentence } = engine.http.state;
  if (state === 'trouble') return { ...row, state: 'problem', evidence: sentence!, fix: 'belfry settings set httpPort' };
  return { ...row, state: 'ok', evidence: state === 'off' ? 'off: clients come by the socket only' : `listening at ${url}, ${engine.http.clients.length} connected`, fix: null };
}

function clientsRow(engine: Engine): DiagnosticRow {
  const rows = clientRows(engine);
  const asking = rows.filter((row) => row.state === 'asking');
  const connected = rows.filter((row) => row.state !== 'away');
  if (asking.length > 0) {
    return { id: 'clients', title: 'Clients', state: 'warning', evidence: `${asking.length} of ${connected.length} connected wait for approval`, fix: `belfry clients allow ${asking[0]!.id}` };
  }
  return { id: 'clients', title: 'Clients', state: 'ok', evidence: `${connected.length} connected, ${connected.filter((row) => row.state === 'listening').length} listening`, fix: null };
}
