import type { Change, Outcome, PolicySnapshot } from '../contract/change.ts';
import type { DeadLetters } from '../contract/search.ts';
import type { ChatRow, ContractOutcome, DiagnosticRow, Status, TestHop, WaitingRow, WatchRow, WebhookRow } from '../contract/values.ts';
import { parseCommand, type Command } from './commands.ts';
import { HELP } from './help.ts';
import { allowedLine, clientLines, doctorLines, eventLines, senderLines, settingLines, statusLines, tokenLines, waitingLines, watchLines, webhookLines } from './output.ts';
import { searchLines } from './search-lines.ts';

/** What commands need of the engine. Implemented by `engine`; policy has the first four as they are. */
export interface EngineApi {
  snapshot(): PolicySnapshot;
  /** Whether a change lets more through. */
  widens(change: Change): boolean;
  change(change: Change): Outcome;
  /** Puts a change into the owner's Waiting for you. */
  request(change: Change): Outcome;
  /** All that waits for the owner. */
  waiting(): readonly WaitingRow[];
  /** The owner's answer. Resolves once what was allowed is done. */
  answer(id: string, accept: boolean): Promise<ContractOutcome>;
  watches(): readonly WatchRow[];
  /** Narrows, so it acts at once whoever asks. */
  stopWatch(id: string): ContractOutcome;
  /** Throws the search index away and makes it anew: a copy of what Mail has, so nothing is lost. */
  rebuildSearch(): ContractOutcome;
  /** Which mails the index could not read whole. */
  deadLetters(): readonly DeadLetters[];
  webhooks(): readonly WebhookRow[];
  /** Narrows. */
  stopWebhook(id: string): ContractOutcome;
  readonly version: string;
  /** Chats that are rules, with their names. */
  chats(): readonly ChatRow[];
  /** Accounts and mailboxes that are excluded, by name. */
  excluded(): readonly string[];
  status(): Status;
  doctor(): Promise<readonly DiagnosticRow[]>;
  /** Sends one event marked as a test; each hop with what came of it, null: can't tell. Null: no such client. */
  testClient(id: string): Promise<readonly TestHop[] | null>;
}

export interface CommandContext {
  /** `belfry serve`: no owner's window, so widening commands act at once. */
  readonly headless: boolean;
  /** The owner's own surface and not a peer of the socket. */
  readonly isOwnerConsole: boolean;
  /** JSON also without `--json`. */
  readonly json?: boolean;
}

export interface CommandResult {
  readonly code: 0 | 1 | 2 | 3;
  readonly stdout: string;
  readonly stderr: string;
}

/** `error.code` of `--json`, next to policy's own. */
type Fault = Extract<Outcome, { ok: false }>['code'] | 'usage' | 'waiting' | 'failed';

type Answer =
  | { readonly code: 0 | 1; readonly text: string; readonly json: Readonly<Record<string, unknown>> }
  | { readonly code: 1 | 2 | 3; readonly fault: Fault; readonly message: string };

/** Architecture 3: 1 no or nothing matched, 2 not permitted, 3 wrong use. */
const EXIT = { invalid: 3, unknown: 3, nothing: 1, refused: 2, 'not-written': 1, full: 1 } as const;

/**
 * Runs one command line inside the engine. Never throws.
 *
 * `--json` (ruling 16) prints one object, on success `{version: 1, ok: true, ...}` with
 * - events list: `events [{type, on}]`; senders list: `senders [{kind, value, subdomains, for, on, except}]`,
 *   `chats [{id, name, isGroup, participants, lastAt}]`
 * - excluded list: `excluded [name]`
 * - tokens list: `tokens [{kind, id, label, createdAt, usedOn}]`; tokens create: `changed`, `message`, `token`
 * - clients list: `clients [...]`, `waiting [{kind, id, since, sentence, client, grants}]`; of a sign-in also
 *   `name`, `host`, `expiresAt`, and `code` where there is no owner's window
 * - hosts list: `hosts [host]`
 * - webhooks list: `webhooks [{id, client, type, senders, host, state, lastError, failedSince, failures, lastDeliveryAt, delivered, givenUp, expiresAt, createdAt}]`
 * - watches list: `watches [{id, client, type, senders, source, state, waiting, sent, confirmed, dropped, gap, inbox, problem, createdAt}]`
 * - waiting list: `waiting [{kind, id, since, sentence, ...}]`; texts only where there is no owner's window
 * - settings get: `settings` with a value for each plain setting (`contract/plain-settings.ts`), or the one asked for
 * - status: `status {version, pid, headless, stores {mail {state, on, position}, messages}, clients, waiting,
 *   streams, pausedUntil (Unix ms | "resumed" | null), uptimeSeconds, counters, settingsSentence, seal, lastEventAt, search}`
 * - search status: `search {phase, since, pausedBy, sentence, encrypted, indexed, total, pending, perSecond,
 *   deadLetters [{reason, count, mails [{row, mailbox, date}]}], bytes, textBytes, syncedAt}`; of `status` without `mails`
 * - doctor: `checks [{id, title, state, evidence, fix}]`; clients test: `hops [{hop, ok, sentence}]`
 * - what changes something: `changed`, `message`
 * and on failure `{version: 1, ok: false, error: {code, message}}`.
 */
export async function runCommand(argv: readonly string[], api: EngineApi, context: CommandContext): Promise<CommandResult> {
  const parsed = parseCommand(argv);
  const json = parsed.json || context.json === true;
  let answer: Answer;
  try {
    answer = parsed.ok ? await run(parsed.command, api, context) : { code: 3, fault: 'usage', message: parsed.message };
  } catch {
    // The engine's log has the details; a sentence with a path or an address in it must not go to a peer.
    answer = { code: 1, fault: 'failed', message: 'Belfry could not do this. The log says more.' };
  }
  if ('fault' in answer) {
    const { fault, message } = answer;
    if (!json) return { code: answer.code, stdout: '', stderr: `belfry: ${message}\n` };
    return { code: answer.code, stdout: line({ ok: false, error: { code: fault, message } }), stderr: '' };
  }
  return { code: answer.code, stdout: json ? line({ ok: true, ...answer.json }) : withEnd(answer.text), stderr: '' };
}

/** The code of a sign-in tells requests apart for the owner: a program that knew it could call itself by it. */
const withoutCode = (entry: PolicySnapshot['waiting'][number]) => ('code' in entry ? { ...entry, code: undefined } : entry);
const brief = ({ kind, id, since, sentence }: WaitingRow) => ({ kind, id, since, sentence });
const line = (value: object) => `${JSON.stringify({ version: 1, ...value })}\n`;
const withEnd = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

async function run(command: Command, api: EngineApi, context: CommandContext): Promise<Answer> {
  switch (command.do) {
    case 'help':
      return { code: 0, text: HELP, json: { help: HELP } };
    case 'version':
      return { code: 0, text: api.version, json: { belfry: api.version } };
    case 'list':
      return list(command.what, api, context.headless || context.isOwnerConsole);
    case 'settings': {
      const { settings } = api.snapshot();
      const shown = command.key === null ? settings : { [command.key]: settings[command.key] };
      return { code: 0, text: settingLines(shown), json: { settings: shown } };
    }
    case 'status': {
      const status = api.status();
      return { code: 0, text: statusLines(status), json: { status } };
    }
    case 'doctor': {
      const checks = await api.doctor();
      return { code: checks.some((check) => check.state === 'problem') ? 1 : 0, text: doctorLines(checks), json: { checks } };
    }
    case 'watches': {
      const watches = api.watches();
      return { code: 0, text: watchLines(watches), json: { watches } };
    }
    case 'search-status': {
      const { search, stores } = api.status();
      const deadLetters = api.deadLetters();
      return { code: 0, text: searchLines(search, deadLetters, stores.mail.on), json: { search: { ...search, deadLetters } } };
    }
    case 'rebuild-search':
      return outcomeAnswer(api.rebuildSearch());
    case 'waiting': {
      // What a client wrote may quote mail: where there is a window, it is shown there and not to every program.
      const rows = api.waiting().map((row) => (context.headless || context.isOwnerConsole ? row : brief(row)));
      return { code: 0, text: waitingLines(rows), json: { waiting: rows } };
    }
    case 'answer':
      if (command.accept && !context.headless && !context.isOwnerConsole) return { code: 2, fault: 'refused', message: 'Only the owner can allow this, in Belfry\'s window.' };
      // A sign-in is allowed by its code, whichever list its id was taken from.
      if (command.accept && (command.code !== undefined || api.waiting().some(({ id, kind }) => id === command.id && kind === 'sign-in'))) {
        return changeAnswer({ do: 'allow-client', id: command.id, options: {}, ...(command.code !== undefined && { code: command.code }) }, api);
      }
      return answered(command.id, command.accept, api);
    case 'stop-watch':
      return outcomeAnswer(api.stopWatch(command.id));
    case 'webhooks': {
      const webhooks = api.webhooks();
      return { code: 0, text: webhookLines(webhooks), json: { webhooks } };
    }
    case 'stop-webhook':
      return outcomeAnswer(api.stopWebhook(command.id));
    case 'test-client': {
      const hops = await api.testClient(command.id);
      if (hops === null) return { code: 3, fault: 'unknown', message: `No client has the id "${command.id}". "belfry clients list" shows the ids.` };
      return { code: hops.some((hop) => hop.ok === false) ? 1 : 0, text: hops.map((hop) => hop.sentence).join('\n'), json: { hops } };
    }
    case 'change':
      return change(command.change, api, context);
  }
}

function list(what: 'events' | 'senders' | 'clients' | 'tokens' | 'excluded' | 'hosts', api: EngineApi, isOwner: boolean): Answer {
  const { events, senders, clients, tokens, waiting, hosts } = api.snapshot();
  const shown = isOwner ? waiting : waiting.map(withoutCode);
  switch (what) {
    case 'events':
      return { code: 0, text: eventLines(events), json: { events } };
    case 'senders':
      return { code: 0, text: senderLines(senders, api.chats()), json: { senders, chats: api.chats() } };
    case 'excluded': {
      const excluded = api.excluded();
      return { code: 0, text: excluded.length === 0 ? 'Nothing is excluded.' : excluded.join('\n'), json: { excluded } };
    }
    case 'tokens':
      return { code: 0, text: tokenLines(tokens), json: { tokens } };
    case 'hosts':
      return { code: 0, text: hosts.length === 0 ? 'No hosts, so webhooks are off.' : hosts.join('\n'), json: { hosts } };
    case 'clients':
      return { code: 0, text: clientLines(clients, shown), json: { clients, waiting: shown } };
  }
}

/** Every agent with a shell can run commands: in the app they may narrow, and only ask for more (architecture 3). */
function change(wanted: Change, api: EngineApi, context: CommandContext): Answer {
  if (!context.headless && !context.isOwnerConsole && api.widens(wanted)) {
    const asked = api.request(wanted);
    if (asked.ok) return { code: 2, fault: 'waiting', message: asked.sentence };
    return { code: asked.code === 'full' ? 2 : EXIT[asked.code], fault: asked.code, message: asked.message };
  }
  return changeAnswer(wanted, api);
}

function changeAnswer(change: Change, api: EngineApi): Answer {
  const client = change.do === 'allow-client' ? clientOf(change.id, api) : null;
  return outcomeAnswer(withAllowed(api.change(change), client, api));
}

async function answered(id: string, accept: boolean, api: EngineApi): Promise<Answer> {
  const client = accept ? clientOf(id, api) : null;
  return outcomeAnswer(withAllowed(await api.answer(id, accept), client, api));
}

/** The client that an id stands for, or whom a request is about. */
function clientOf(id: string, api: EngineApi): string | null {
  const entry = api.snapshot().waiting.find((each) => each.id === id);
  return entry === undefined ? id : entry.client;
}

/** Whoever allows replaces all that was allowed before: they read what holds now. */
function withAllowed<T extends Outcome | ContractOutcome>(outcome: T, id: string | null, api: EngineApi): T {
  const client = id === null || !outcome.ok ? undefined : api.snapshot().clients.find((each) => each.id === id);
  if (client === undefined || client.decision === 'denied' || client.decision === 'none' || !outcome.ok) return outcome;
  return { ...outcome, sentence: `${outcome.sentence} ${allowedLine(client)}` };
}

function outcomeAnswer(outcome: Outcome): Answer {
  if (!outcome.ok) return { code: EXIT[outcome.code], fault: outcome.code, message: outcome.message };
  const { changed, sentence, token } = outcome;
  return { code: 0, text: token === undefined ? sentence : `${sentence}\n${token}`, json: { changed, message: sentence, ...(token !== undefined && { token }) } };
}
