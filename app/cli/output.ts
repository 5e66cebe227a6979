import { answerFacts } from '../contract/answer-words.ts';
import type { PolicySnapshot } from '../contract/change.ts';
import type { ChatRow, DiagnosticRow, Status, WaitingRow, WatchRow, WebhookRow } from '../contract/values.ts';
import { inQuotes } from '../text/quotes.ts';
import { searchSummary } from './search-lines.ts';
import { table } from './table.ts';

export const eventLines = (events: PolicySnapshot['events']): string => table(events.map(({ type, on }) => [type, onOff(on)]));

export function senderLines(senders: PolicySnapshot['senders'], chats: readonly ChatRow[]): string {
  if (senders.length === 0 && chats.length === 0) return 'No senders yet. Until you add one, nothing is sent.';
  return table([...senders.map((rule) => [
    rule.kind === 'domain' ? `@${rule.value}` : rule.value,
    rule.kind,
    rule.for === 'both' ? 'mail and messages' : rule.for,
    onOff(rule.on),
    [rule.subdomains ? 'with subdomains' : '', rule.except.length > 0 ? `except ${rule.except.join(', ')}` : ''].filter(Boolean).join(', '),
  ]), ...chats.map((chat) => [`chat:${chat.id}`, 'chat', 'messages', 'on', chat.name === chat.id ? '' : inQuotes(chat.name)])]);
}

const DECISION = { always: 'allowed', once: 'allowed once', denied: 'not allowed', none: 'not decided' } as const;

/** @param waiting whole, or only what every program may see */
export function clientLines(clients: PolicySnapshot['clients'], waiting: readonly Pick<WaitingRow, 'id' | 'sentence'>[]): string {
  const known = clients.length === 0 ? 'No client has connected yet.' : table(clients.map((client) => [
    client.id,
    DECISION[client.decision],
    client.label === null ? '' : inQuotes(client.label),
    [
      client.display, ...(client.signed || client.by !== undefined ? [] : ['not signed']), ...(client.events === 'all' ? [] : [`events ${client.events.join(' ')}`]),
      ...(client.senders === 'all' ? [] : [`senders ${someSenders(client.senders, ' ')}`]), ...(client.grants.length === 0 ? [] : [`grants ${client.grants.join(' ')}`]),
    ].join(', '),
  ]));
  if (waiting.length === 0) return known;
  return `${known}\n\nWaiting for you:\n${table(waiting.map((entry) => [entry.id, sentenceOf(entry)]))}`;
}

/** All that an allowed client may now, in the words of the flags that set it. */
export function allowedLine({ events, senders, grants }: PolicySnapshot['clients'][number]): string {
  const parts = [
    `Events: ${events === 'all' ? 'all' : events.join(', ')}.`, `Senders: ${senders === 'all' ? 'all that are allowed' : someSenders(senders, ', ')}.`,
    `Grants: ${grants.length === 0 ? 'none' : grants.join(', ')}.`,
  ];
  return parts.join(' ');
}

const SHOWN_SENDERS = 5;
/** A client may have thousands. Domains as they are typed. */
function someSenders(senders: readonly string[], between: string): string {
  const shown = senders.slice(0, SHOWN_SENDERS).map((sender) => (sender.includes('.') && !sender.includes('@') ? `@${sender}` : sender)).join(between);
  return senders.length > SHOWN_SENDERS ? `${shown} and ${senders.length - SHOWN_SENDERS} more` : shown;
}

/** The code first, where nobody else's words stand before it. */
const sentenceOf = (entry: { readonly sentence: string; readonly code?: string }): string => (entry.code === undefined ? entry.sentence : `Code ${entry.code}: ${entry.sentence}`);

/** @param rows whole, or only what every program may see */
export function waitingLines(rows: readonly (WaitingRow | Pick<WaitingRow, 'kind' | 'id' | 'since' | 'sentence'>)[]): string {
  if (rows.length === 0) return 'Nothing waits for you.';
  return rows.map((row) => [`${row.id}  ${sentenceOf(row)}`, ...('text' in row ? detailsOf(row).map((line) => `  ${line}`) : [])].join('\n')).join('\n\n');
}

function detailsOf(row: Extract<WaitingRow, { text: string }>): string[] {
  const about = row.kind === 'send'
    ? [`To      ${row.chat.isGroup ? `a group of ${row.chat.memberCount} others: ` : ''}${row.chat.members.join(', ')}${row.chat.service === null ? '' : ` (${row.chat.service})`}`]
    : row.answers === null
      ? [`To      ${row.to.join(', ')}`, ...(row.cc.length === 0 ? [] : [`Cc      ${row.cc.join(', ')}`]), `Subject ${row.subject}`]
      : answerFacts(row.answers).map(({ name, text }) => `${name.padEnd(7)} ${text}`);
  return [...about, ...row.text.split('\n').map((line) => `| ${line}`)];
}

const dayOf = (at: number | null): string => (at === null ? 'never' : new Date(at).toISOString().slice(0, 10));

export function tokenLines(tokens: PolicySnapshot['tokens']): string {
  if (tokens.length === 0) return 'No tokens. "belfry tokens create LABEL" makes one.';
  return table(tokens.map(({ id, kind, label, createdAt, usedOn }) => [id, kind, inQuotes(label), `made ${dayOf(createdAt)}, last used ${dayOf(usedOn)}`]));
}

export function watchLines(watches: readonly WatchRow[]): string {
  if (watches.length === 0) return 'No watches. A client sets one with its tool watch_events.';
  return table(watches.map((watch) => [
    watch.id, watch.client, watch.type, `${watch.senders} ${watch.senders === 1 ? 'sender' : 'senders'}`, watch.state.replaceAll('-', ' '),
    `${watch.waiting} waiting, ${watch.sent} sent, not confirmed`,
    [watch.dropped > 0 ? `${watch.dropped} missed` : '', watch.inbox === null ? '' : 'also as files', watch.problem ?? ''].filter(Boolean).join(', '),
  ]));
}

export function webhookLines(webhooks: readonly WebhookRow[]): string {
  if (webhooks.length === 0) return 'No webhooks. A client with a token makes one by events/subscribe, to a host that is listed.';
  return table(webhooks.map((webhook) => [
    webhook.id, webhook.client, webhook.type, `${webhook.senders} ${webhook.senders === 1 ? 'sender' : 'senders'}`, webhook.host, webhook.state.replaceAll('-', ' '),
    `${webhook.delivered} delivered${webhook.lastError === null ? '' : `, ${webhook.lastError}`}`,
  ]));
}

export const settingLines = (settings: Partial<PolicySnapshot['settings']>): string =>
  table(Object.entries(settings).map(([key, value]) => [key, typeof value === 'boolean' ? onOff(value) : String(value ?? 'none')]));

export function statusLines(status: Status): string {
  const store = ({ state, on, position }: Status['stores']['mail']) =>
    `${state === 'off' ? 'off' : `${onOff(on)}, ${state.replaceAll('_', ' ')}`}${position === null ? '' : `, at row ${position}`}`;
  return table([
    ['Belfry', `${status.version}, process ${status.pid}${status.headless ? ', headless' : ''}, up ${uptime(status.uptimeSeconds)}`],
    ['Mail', store(status.stores.mail)],
    ['Messages', store(status.stores.messages)],
    ['Clients', `${status.clients} connected, ${status.waiting} waiting for you, ${status.streams} streams`],
    ['Search', searchSummary(status.search, status.stores.mail.on)],
    ['Paused', pauseText(status.pausedUntil)],
    ...(status.settingsSentence === null ? [] : [['Settings', status.settingsSentence]]),
  ]);
}

const MARK = { ok: '(ok)', warning: '(!)', problem: '(x)', 'cant-check': '(--)' } as const;

export const doctorLines = (checks: readonly DiagnosticRow[]): string =>
  table(checks.map((check) => [MARK[check.state], check.title, check.fix === null ? check.evidence : `${check.evidence.replace(/\.?$/, '.')} ${check.fix}`]));

const onOff = (on: boolean) => (on ? 'on' : 'off');

function pauseText(until: Status['pausedUntil']): string {
  if (until === null) return 'no';
  return until === 'resumed' ? 'until resumed' : `until ${new Date(until).toISOString()}`;
}

function uptime(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} m` : `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
}
