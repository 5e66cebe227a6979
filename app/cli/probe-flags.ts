import type { JsonObject } from '../probe/link.ts';
import type { Action, Era, ProbeRequest, Target, Until } from '../probe/request.ts';
import type { ErrorName } from '../probe/failure.ts';
import { quoted, readFlags, type FlagKind, type Flags } from './arguments.ts';

const DEFAULT_MS = 15_000;
/** A person has to find the page and type a code. */
const LOGIN_MS = 300_000;
/** A day. */
const MAX_MS = 86_400_000;
const MAX_COUNT = 1000;

export type ParsedProbe =
  | { readonly ok: true; readonly request: ProbeRequest }
  | { readonly ok: false; readonly code: ErrorName; readonly message: string };

type Parsed<T> = T | { readonly code: ErrorName; readonly message: string };

const TARGET: Readonly<Record<string, FlagKind>> = { '--data-dir': 'value', '--socket': 'value', '--command': 'value', '--url': 'value' };
const COMMON: Readonly<Record<string, FlagKind>> = {
  ...TARGET, '--json': 'flag', '--era': 'value', '--timeout-ms': 'value', '--skip-list': 'flag', '--login': 'flag', '--logout': 'flag',
};
const EVENT: Readonly<Record<string, FlagKind>> = { '--event': 'value', '--args': 'value', '--cursor': 'value', '--max-age': 'value', '--include-text': 'flag' };
const UNTIL: Readonly<Record<string, FlagKind>> = { '--count': 'value', '--until': 'value' };

const ACTIONS: Readonly<Record<string, { readonly flags: Readonly<Record<string, FlagKind>>; parse(flags: Flags, env: Env): Parsed<Action> }>> = {
  list: { flags: {}, parse: () => ({ do: 'list' }) },
  poll: { flags: { ...EVENT, '--max': 'value' }, parse: pollAction },
  wait: { flags: { ...EVENT, ...UNTIL, '--fail-on-gap': 'flag' }, parse: waitAction },
  watch: { flags: { ...UNTIL, '--uri': 'value' }, parse: watchAction },
  call: { flags: { '--tool': 'value', '--args': 'value' }, parse: callAction },
  channel: { flags: { '--count': 'value' }, parse: channelAction },
};
/** What is not for the helper: it would run or fetch with Belfry's disk access, or write files with it. */
const OUTSIDE = ['--command', '--url', '--login', '--logout', '--socket'];

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * @param argv after `probe`
 * @param env only `MCP_PROBE_*` is looked at; a flag wins over its variable
 * @param isHelper it runs in the engine, for the helper
 */
export function parseProbe(argv: readonly string[], env: Env, isHelper: boolean): ParsedProbe {
  const parsed = parse(argv, env, isHelper);
  return 'code' in parsed ? { ok: false, ...parsed } : { ok: true, request: parsed };
}

/** What follows `probe`, if that is the command; flags may stand before it. */
export function probeWords(argv: readonly string[]): readonly string[] | null {
  const at = argv.findIndex((word) => !word.startsWith('-'));
  if (at === -1 || argv[at] !== 'probe') return null;
  const [action, ...after] = argv.slice(at + 1);
  const before = argv.slice(0, at);
  return action === undefined || action.startsWith('-') ? [...before, ...argv.slice(at + 1)] : [action, ...before, ...after];
}

const wrong = (message: string, code: ErrorName = 'INVALID_ARGS') => ({ code, message });

function parse(argv: readonly string[], env: Env, isHelper: boolean): Parsed<ProbeRequest> {
  const [name, ...after] = argv;
  const isAlone = name === undefined || name.startsWith('-');
  const known = isAlone ? null : Object.hasOwn(ACTIONS, name) ? ACTIONS[name]! : undefined;
  const names = [...Object.keys(ACTIONS), 'lab'].join(', ');
  if (known === undefined) return wrong(`"belfry probe" has no action ${quoted(name!)}; it has ${names}.`);
  const flags = readFlags(known === null ? argv : after, { ...COMMON, ...known?.flags });
  if (typeof flags === 'string') return wrong(flags);
  const outside = isHelper ? OUTSIDE.find((flag) => flags.has(flag)) : undefined;
  if (outside !== undefined) return notThroughHelper(outside);
  const target = targetOf(flags, env);
  if ('code' in target) return target;
  const login = loginOf(flags, env, target);
  if (typeof login !== 'boolean') return login;
  const action = flags.has('--logout') ? { do: 'logout' as const } : known?.parse(flags, env) ?? (login ? { do: 'login' as const } : null);
  if (action === null) return wrong(`"belfry probe" needs an action: ${names}.`);
  if ('code' in action) return action;
  if (action.do === 'logout' && known !== null) return wrong('--logout stands alone: belfry probe --logout --url URL.');
  return common(action, target, flags, env);
}

/** @param what a flag or an action */
export const notThroughHelper = (what: string) =>
  wrong(`${what} is not for the helper: it would run or fetch with Belfry's disk access. Run "node dist/belfry.js probe" for it.`);

/** Whether a login is wanted and possible. */
function loginOf(flags: Flags, env: Env, target: Target): Parsed<boolean> {
  const flag = ['--login', '--logout'].find((name) => flags.has(name));
  if (flag === undefined) return false;
  if (target.kind !== 'http') return wrong(`${flag} needs the server: give --url.`, 'SERVER_URL_UNKNOWN');
  if (flags.has('--login') && flags.has('--logout')) return wrong('--login and --logout exclude each other.');
  if (flag === '--login' && (env['MCP_PROBE_AUTH_TOKEN'] ?? '') !== '') return wrong('MCP_PROBE_AUTH_TOKEN is set and would win: unset it to log in.');
  return flag === '--login';
}

function common(action: Action, target: Target, flags: Flags, env: Env): Parsed<ProbeRequest> {
  const era = flags.value('--era') ?? 'auto';
  if (!isEra(era)) return wrong('--era takes auto, modern or legacy.');
  const login = flags.has('--login');
  const timeoutMs = whole(flags.value('--timeout-ms') ?? env['MCP_PROBE_TIMEOUT_MS'] ?? String(login ? LOGIN_MS : DEFAULT_MS), 1, MAX_MS);
  if (timeoutMs === null) return wrong(`--timeout-ms takes a whole number of milliseconds from 1 to ${MAX_MS}.`);
  return {
    action, target, era, timeoutMs, login, json: flags.has('--json'), includeText: flags.has('--include-text'),
    skipList: flags.has('--skip-list') || isYes(env['MCP_PROBE_SKIP_LIST']),
  };
}

/** A flag wins over the variable; of the flags one at most. Words behind `--` are arguments of the program of `--command`. */
function targetOf(flags: Flags, env: Env): Parsed<Target> {
  const [command, url] = [flags.value('--command'), flags.value('--url')];
  if (command !== null && url !== null) return wrong('--command and --url exclude each other.');
  const address = url ?? (command === null && flags.value('--socket') === null ? env['MCP_PROBE_URL'] || null : null);
  if ((command !== null || url !== null) && (flags.value('--socket') !== null)) return wrong('--socket names Belfry; it does not go with --command or --url.');
  if (command !== null) return { kind: 'command', file: command, args: flags.rest };
  if (flags.rest.length > 0) return wrong(`${quoted(flags.rest[0]!)} is one word too many.`);
  return address === null ? { kind: 'belfry', socket: flags.value('--socket') } : urlTarget(address);
}

function urlTarget(text: string): Parsed<Target> {
  if (!URL.canParse(text)) return wrong('The address of the server is no whole URL.', 'INVALID_URL');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return wrong('The address of the server must start with https:// or http://.', 'INVALID_URL');
  if (url.username !== '' || url.password !== '') return wrong('The address holds a name or a password, which others can see: put a token into MCP_PROBE_AUTH_TOKEN.', 'INVALID_URL');
  url.hash = '';
  return { kind: 'http', url };
}

function pollAction(flags: Flags, env: Env): Parsed<Action> {
  const event = eventOf(flags, env);
  if ('code' in event) return event;
  const max = flags.value('--max');
  if (max !== null && whole(max, 1, MAX_COUNT) === null) return wrong(`--max takes a whole number from 1 to ${MAX_COUNT}.`);
  return { do: 'poll', ...event, max: max === null ? null : Number(max) };
}

function waitAction(flags: Flags, env: Env): Parsed<Action> {
  const event = eventOf(flags, env);
  if ('code' in event) return event;
  const until = untilFlags(flags);
  return 'code' in until ? until : { do: 'wait', ...event, ...until, failOnGap: flags.has('--fail-on-gap') };
}

function watchAction(flags: Flags, env: Env): Parsed<Action> {
  const uri = flags.value('--uri') ?? env['MCP_PROBE_URI'] ?? '';
  if (uri === '') return wrong('Name the resource with --uri, such as belfry://status.');
  const until = untilFlags(flags);
  return 'code' in until ? until : { do: 'watch', uri, ...until };
}

function callAction(flags: Flags): Parsed<Action> {
  const tool = flags.value('--tool');
  if (tool === null) return wrong('Name the tool with --tool.', 'TOOL_NAME_REQUIRED');
  const args = objectOf(flags.value('--args') ?? '{}');
  return args === null ? wrong('--args takes a JSON object, such as \'{"limit":5}\'.') : { do: 'call', tool, args };
}

function channelAction(flags: Flags): Parsed<Action> {
  const until = untilFlags(flags);
  return 'code' in until ? until : { do: 'channel', count: until.count };
}

function untilFlags(flags: Flags): Parsed<{ readonly count: number; readonly until: Until | null }> {
  const count = whole(flags.value('--count') ?? '1', 1, MAX_COUNT);
  if (count === null) return wrong(`--count takes a whole number from 1 to ${MAX_COUNT}.`);
  const until = untilOf(flags.value('--until'));
  return until !== null && 'code' in until ? until : { count, until };
}

interface EventFlags {
  readonly event: string;
  readonly args: JsonObject;
  readonly cursor: string | null;
  readonly maxAgeMs: number | null;
}

function eventOf(flags: Flags, env: Env): Parsed<EventFlags> {
  const event = flags.value('--event') ?? env['MCP_PROBE_EVENT'] ?? '';
  if (event === '') return wrong('Name the event with --event; "belfry probe list" shows the names.');
  const args = objectOf(flags.value('--args') ?? env['MCP_PROBE_ARGS'] ?? '{}');
  if (args === null) return wrong('--args takes a JSON object, such as \'{"from":["ada@example.com"]}\'.');
  const age = flags.value('--max-age');
  if (age !== null && whole(age, 0, Number.MAX_SAFE_INTEGER) === null) return wrong('--max-age takes a whole number of milliseconds.');
  return { event, args, cursor: flags.value('--cursor'), maxAgeMs: age === null ? null : Number(age) };
}

function untilOf(text: string | null): Parsed<Until> | null {
  if (text === null) return null;
  const equals = text.indexOf('=');
  if (equals < 1) return wrong('--until takes FIELD=VALUE, such as mailbox=INBOX or from.address=ada@example.com.');
  return { path: text.slice(0, equals).split('.'), value: text.slice(equals + 1) };
}

function objectOf(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

function whole(text: string, from: number, to: number): number | null {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : -1;
  return value >= from && value <= to ? value : null;
}

const isEra = (text: string): text is Era => text === 'auto' || text === 'modern' || text === 'legacy';
const isYes = (text: string | undefined) => text === 'true' || text === '1' || text === 'yes';
