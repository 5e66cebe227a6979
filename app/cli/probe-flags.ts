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

const COMMON: Readonly<Record<string, FlagKind>> = {
  '--json': 'flag', '--data-dir': 'value', '--socket': 'value', '--command': 'value', '--url': 'value', '--era': 'value', '--timeout-ms': 'value', '--skip-list': 'flag',
  '--login': 'flag', '--logout': 'flag',
};

const EVENT: Readonly<Record<string, FlagKind>> = { '--event': 'value', '--args': 'value', '--cursor': 'value', '--max-age': 'value', '--include-text': 'flag' };

const ACTIONS: Readonly<Record<string, { readonly flags: Readonly<Record<string, FlagKind>>; parse(flags: Flags, env: Env): Parsed<Action> }>> = {
  list: { flags: {}, parse: () => ({ do: 'list' }) },
  poll: { flags: { ...EVENT, '--max': 'value' }, parse: pollAction },
  wait: { flags: { ...EVENT, '--count': 'value', '--until': 'value', '--fail-on-gap': 'flag' }, parse: waitAction },
};

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * @param argv after `probe`
 * @param env only `MCP_PROBE_*` is looked at; a flag wins over its variable
 */
export function parseProbe(argv: readonly string[], env: Env): ParsedProbe {
  const parsed = parse(argv, env);
  return 'code' in parsed ? { ok: false, ...parsed } : { ok: true, request: parsed };
}

/** What follows `probe`, if that is the command; flags may stand before it. */
export function probeWords(argv: readonly string[]): readonly string[] | null {
  const at = argv.findIndex((word) => !word.startsWith('-'));
  return at !== -1 && argv[at] === 'probe' ? [...argv.slice(at + 1, at + 2), ...argv.slice(0, at), ...argv.slice(at + 2)] : null;
}

const wrong = (message: string, code: ErrorName = 'INVALID_ARGS') => ({ code, message });

function parse(argv: readonly string[], env: Env): Parsed<ProbeRequest> {
  const names = Object.keys(ACTIONS).join(', ');
  const [name, ...after] = argv;
  if (name === undefined || name.startsWith('-')) return wrong(`"belfry probe" needs an action: ${names}.`);
  const known = Object.hasOwn(ACTIONS, name) ? ACTIONS[name]! : null;
  if (known === null) return wrong(`"belfry probe" has no action ${quoted(name)}; it has ${names}.`);
  const flags = readFlags(after, { ...COMMON, ...known.flags });
  if (typeof flags === 'string') return wrong(flags);
  const target = targetOf(flags, env);
  if ('code' in target) return target;
  const action = known.parse(flags, env);
  if ('code' in action) return action;
  return common(action, target, flags, env);
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

function targetOf(flags: Flags, _env: Env): Parsed<Target> {
  if (flags.rest.length > 0) return wrong(`${quoted(flags.rest[0]!)} is one word too many.`);
  return { kind: 'belfry', socket: flags.value('--socket') };
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
  const count = whole(flags.value('--count') ?? '1', 1, MAX_COUNT);
  if (count === null) return wrong(`--count takes a whole number from 1 to ${MAX_COUNT}.`);
  const until = untilOf(flags.value('--until'));
  if (until !== null && 'code' in until) return until;
  return { do: 'wait', ...event, count, until, failOnGap: flags.has('--fail-on-gap') };
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
