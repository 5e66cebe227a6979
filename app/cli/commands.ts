import type { AllowOptions, Change, SenderOptions } from '../contract/change.ts';
import { parseDuration } from '../contract/duration.ts';
import { kindOf, settingKeys, type SettingKey } from '../contract/plain-settings.ts';
import { eventType, grantName } from '../contract/values.ts';
import { quoted, readFlags, type FlagKind, type Flags } from './arguments.ts';

/** What a command line asks for. Everything that changes something is a Change. */
export type Command =
  | { readonly do: 'help' }
  | { readonly do: 'version' }
  | { readonly do: 'list'; readonly what: 'events' | 'senders' | 'clients' | 'tokens' | 'excluded' | 'hosts' }
  | { readonly do: 'settings'; readonly key: SettingKey | null }
  | { readonly do: 'status' }
  | { readonly do: 'doctor' }
  | { readonly do: 'test-client'; readonly id: string }
  | { readonly do: 'watches' }
  | { readonly do: 'waiting' }
  /** @param code of a sign-in: what its page shows */
  | { readonly do: 'answer'; readonly id: string; readonly accept: boolean; readonly code?: string }
  | { readonly do: 'stop-watch'; readonly id: string }
  | { readonly do: 'search-status' }
  | { readonly do: 'rebuild-search' }
  | { readonly do: 'webhooks' }
  | { readonly do: 'stop-webhook'; readonly id: string }
  | { readonly do: 'change'; readonly change: Change };

export type ParsedCommand =
  | { readonly ok: true; readonly command: Command; readonly json: boolean }
  | { readonly ok: false; readonly message: string; readonly json: boolean };

const GLOBAL: Readonly<Record<string, FlagKind>> = { '--json': 'flag', '--data-dir': 'value', '--socket': 'value' };
const SEE = 'See "belfry --help".';

type Parsed = Command | string;
type Action = { readonly flags?: Readonly<Record<string, FlagKind>>; parse(words: readonly string[], flags: Flags): Parsed };

/** By command, then by action; '' is a command without actions. The table is the grammar. */
const TABLE: Readonly<Record<string, Readonly<Record<string, Action>>>> = {
  events: {
    list: plain({ do: 'list', what: 'events' }),
    on: { parse: (words) => setEvent(words, true) },
    off: { parse: (words) => setEvent(words, false) },
  },
  senders: {
    list: plain({ do: 'list', what: 'senders' }),
    add: { flags: { '--for': 'value', '--subdomains': 'flag', '--except': 'list' }, parse: addSenders },
    remove: { parse: removeSenders },
  },
  clients: {
    list: plain({ do: 'list', what: 'clients' }),
    allow: { flags: { '--events': 'list', '--senders': 'list', '--grants': 'list', '--once': 'flag', '--code': 'value' }, parse: allowClient },
    deny: { parse: (words) => withId(words, (id) => changing({ do: 'deny-client', id })) },
    revoke: { parse: (words) => withId(words, (id) => changing({ do: 'revoke-client', id })) },
    test: { parse: (words) => withId(words, (id) => ({ do: 'test-client', id })) },
  },
  tokens: {
    list: plain({ do: 'list', what: 'tokens' }),
    create: { flags: { '--events': 'list', '--senders': 'list', '--grants': 'list' }, parse: createToken },
    revoke: { parse: revokeToken },
  },
  excluded: {
    list: plain({ do: 'list', what: 'excluded' }),
    add: { parse: (words) => namedPlaces(words, (places) => ({ do: 'exclude', places })) },
    remove: { parse: (words) => namedPlaces(words, (places) => ({ do: 'include', places })) },
  },
  hosts: {
    list: plain({ do: 'list', what: 'hosts' }),
    add: { parse: (words) => namedHosts(words, (hosts) => ({ do: 'add-hosts', hosts })) },
    remove: { parse: (words) => namedHosts(words, (hosts) => ({ do: 'remove-hosts', hosts })) },
  },
  webhooks: {
    list: plain({ do: 'webhooks' }),
    stop: { parse: stopWebhook },
  },
  watches: {
    list: plain({ do: 'watches' }),
    stop: { parse: stopWatch },
  },
  search: {
    status: plain({ do: 'search-status' }),
    rebuild: plain({ do: 'rebuild-search' }),
  },
  waiting: {
    list: plain({ do: 'waiting' }),
    allow: { flags: { '--code': 'value' }, parse: allowWaiting },
    deny: { parse: (words) => withRequest(words, (id) => ({ do: 'answer', id, accept: false })) },
  },
  settings: {
    get: { parse: getSetting },
    set: { parse: setSetting },
  },
  pause: { '': { parse: pause } },
  resume: { '': plain({ do: 'change', change: { do: 'resume' } }) },
  status: { '': plain({ do: 'status' }) },
  doctor: { '': plain({ do: 'doctor' }) },
};

/** @param argv without the program's name. `--json` counts even where the rest is wrong, so that a script can read the refusal. */
export function parseCommand(argv: readonly string[]): ParsedCommand {
  const end = argv.indexOf('--');
  const json = argv.slice(0, end === -1 ? argv.length : end).includes('--json');
  const parsed = parse(argv);
  return typeof parsed === 'string' ? { ok: false, message: parsed, json } : { ok: true, command: parsed, json };
}

function parse(argv: readonly string[]): Parsed {
  const first = commandAt(argv);
  const [name, ...after] = first.words;
  const before = first.before;
  if (argv.includes('--help') || argv.includes('-h') || name === 'help') return { do: 'help' };
  if (name === undefined) return before.includes('--version') ? { do: 'version' } : `Say what to do. ${SEE}`;
  if (name === 'serve') return '"serve" starts an engine: it is run on its own, as "belfry serve".';
  const actions = Object.hasOwn(TABLE, name) ? TABLE[name]! : null;
  if (actions === null) return `Unknown command ${quoted(name)}. ${SEE}`;
  if (Object.hasOwn(actions, '')) return run(actions['']!, before, after);
  const next = commandAt(after);
  const [verb, ...words] = next.words;
  const names = Object.keys(actions).join(', ');
  if (verb === undefined) return `"belfry ${name}" needs an action: ${names}.`;
  const action = Object.hasOwn(actions, verb) ? actions[verb]! : null;
  if (action === null) return `"belfry ${name}" has no action ${quoted(verb)}; it has ${names}.`;
  return run(action, [...before, ...next.before], words);
}

function run(action: Action, before: readonly string[], words: readonly string[]): Parsed {
  const flags = readFlags([...before, ...words], { ...GLOBAL, ...action.flags });
  return typeof flags === 'string' ? flags : action.parse(flags.rest, flags);
}

/** The flags before the first word, and everything from it on. */
function commandAt(argv: readonly string[]): { before: readonly string[]; words: readonly string[] } {
  let at = 0;
  while (at < argv.length && argv[at]!.startsWith('-')) at += GLOBAL[argv[at]!] === 'value' ? 2 : 1;
  return { before: argv.slice(0, at), words: argv.slice(at) };
}

const changing = (change: Change): Command => ({ do: 'change', change });

function plain(command: Command): Action {
  return { parse: (words) => (words.length === 0 ? command : surplus(words[0]!)) };
}
const surplus = (word: string) => `${quoted(word)} is one word too many. ${SEE}`;

function setEvent(words: readonly string[], on: boolean): Parsed {
  const types = eventType.options.join(' or ');
  if (words.length !== 1) return words.length === 0 ? `Name the event: ${types}.` : surplus(words[1]!);
  const type = eventType.safeParse(words[0]);
  return type.success ? changing({ do: 'set-event', type: type.data, on }) : `There is no event ${quoted(words[0]!)}; there is ${types}.`;
}

/** `chat:` and a chat's id or exact name: everyone who writes there. */
const CHAT = 'chat:';

/** The chats that words name; null if they name senders; a sentence if they are mixed. */
function chatsOf(words: readonly string[]): readonly string[] | null | string {
  const chats = words.filter((word) => word.startsWith(CHAT)).map((word) => word.slice(CHAT.length).trim());
  if (chats.length === 0) return null;
  if (chats.length < words.length) return 'Name senders or chats, not both at once.';
  return chats.includes('') ? 'chat: takes the id or the exact name of a chat.' : chats;
}

function removeSenders(senders: readonly string[]): Parsed {
  if (senders.length === 0) return 'Name at least one sender to remove.';
  const chats = chatsOf(senders);
  if (typeof chats === 'string') return chats;
  return changing(chats === null ? { do: 'remove-senders', senders } : { do: 'remove-chats', chats });
}

const namedPlaces = (words: readonly string[], change: (places: readonly string[]) => Change): Parsed =>
  (words.length === 0 ? 'Name at least one account or mailbox.' : changing(change(words)));

const namedHosts = (words: readonly string[], change: (hosts: readonly string[]) => Change): Parsed =>
  (words.length === 0 ? 'Name at least one host, such as hooks.example.net or hooks.example.net:8443.' : changing(change(words)));

function addSenders(senders: readonly string[], flags: Flags): Parsed {
  if (senders.length === 0) return 'Name at least one sender: an address, a domain or a number.';
  const chats = chatsOf(senders);
  if (typeof chats === 'string') return chats;
  if (chats !== null) {
    const flag = ['--for', '--subdomains', '--except'].find((name) => flags.has(name));
    return flag === undefined ? changing({ do: 'add-chats', chats }) : `${flag} says nothing about a chat.`;
  }
  const target = flags.value('--for');
  if (target !== null && target !== 'mail' && target !== 'messages') return '--for takes mail or messages; without it a sender counts for both.';
  const except = flags.list('--except');
  if (except?.length === 0) return '--except needs a value.';
  const options: SenderOptions = {
    ...(target !== null && { for: target }),
    ...(flags.has('--subdomains') && { subdomains: true }),
    ...(except !== null && { except }),
  };
  return changing({ do: 'add-senders', senders, options });
}

function withId(words: readonly string[], then: (id: string) => Command): Parsed {
  if (words.length === 0) return 'Name the client by its id; "belfry clients list" shows them.';
  if (words.length > 1) return surplus(words[1]!);
  const id = words[0]!.toLowerCase();
  return /^[0-9a-f]{8}$/.test(id) ? then(id) : `${quoted(words[0]!)} is no client id: an id has 8 hex digits.`;
}

function stopWatch(words: readonly string[]): Parsed {
  if (words.length === 0) return 'Name the watch by its id; "belfry watches list" shows them.';
  if (words.length > 1) return surplus(words[1]!);
  const id = words[0]!.toLowerCase();
  return /^[0-9a-f]{8}$/.test(id) ? { do: 'stop-watch', id } : `${quoted(words[0]!)} is no watch id: an id has 8 hex digits.`;
}

function withRequest(words: readonly string[], then: (id: string) => Command): Parsed {
  if (words.length === 0) return 'Name the request by its id; "belfry waiting list" shows them.';
  if (words.length > 1) return surplus(words[1]!);
  return /^[\w-]{1,64}$/.test(words[0]!) ? then(words[0]!) : `${quoted(words[0]!)} is no id of a request.`;
}

function allowWaiting(words: readonly string[], flags: Flags): Parsed {
  const code = codeOf(flags);
  return typeof code === 'string' ? code : withRequest(words, (id) => ({ do: 'answer', id, accept: true, ...code }));
}

/** The code of a sign-in, where one is given. */
function codeOf(flags: Flags): { readonly code?: string } | string {
  const code = flags.value('--code');
  if (code === null) return {};
  return /^\d{4}$/.test(code) ? { code } : '--code takes the four digits that the page in the browser shows.';
}

function stopWebhook(words: readonly string[]): Parsed {
  if (words.length === 0) return 'Name the webhook by its id; "belfry webhooks list" shows them.';
  if (words.length > 1) return surplus(words[1]!);
  return { do: 'stop-webhook', id: words[0]! };
}

function createToken(words: readonly string[], flags: Flags): Parsed {
  if (words.length === 0) return 'Give the token a name by which you will know it, such as CI.';
  if (words.length > 1) return surplus(words[1]!);
  const options = allowOptionsOf(flags);
  return typeof options === 'string' ? options : changing({ do: 'create-token', label: words[0]!, options });
}

function revokeToken(words: readonly string[]): Parsed {
  if (words.length === 0) return 'Name the token by its id; "belfry tokens list" shows them.';
  if (words.length > 1) return surplus(words[1]!);
  const id = words[0]!.toLowerCase();
  return /^[0-9a-f]{8}$/.test(id) ? changing({ do: 'revoke-token', id }) : `${quoted(words[0]!)} is no token id: an id has 8 hex digits.`;
}

function allowClient(words: readonly string[], flags: Flags): Parsed {
  const options = allowOptionsOf(flags);
  if (typeof options === 'string') return options;
  const code = codeOf(flags);
  return typeof code === 'string' ? code : withId(words, (id) => changing({ do: 'allow-client', id, options, ...code }));
}

function allowOptionsOf(flags: Flags): AllowOptions | string {
  const events = flags.list('--events');
  const senders = flags.list('--senders');
  const grants = flags.list('--grants');
  const type = events && (events.length === 1 && events[0] === 'all' ? 'all' as const : eventType.array().safeParse(events));
  if (type !== null && type !== 'all' && !type.success) return `--events takes ${eventType.options.join(', ')} or all.`;
  if (grants?.length === 0) return '--grants needs a value; none takes all of them back.';
  const granted = grants && grantName.array().safeParse(grants.length === 1 && grants[0] === 'none' ? [] : grants);
  if (granted && !granted.success) return `--grants takes ${grantName.options.join(', ')}, or none alone.`;
  for (const [name, list] of [['--events', events], ['--senders', senders]] as const) {
    if (list?.length === 0) return `${name} needs a value.`;
  }
  return {
    ...(flags.has('--once') && { once: true }),
    ...(type !== null && { events: type === 'all' ? type : type.data }),
    ...(senders !== null && { senders: senders.length === 1 && senders[0] === 'all' ? 'all' as const : senders }),
    ...(granted && { grants: granted.data }),
  };
}

function getSetting(words: readonly string[]): Parsed {
  if (words.length > 1) return surplus(words[1]!);
  if (words.length === 0) return { do: 'settings', key: null };
  const key = keyOf(words[0]!);
  return key === null ? noSetting(words[0]!) : { do: 'settings', key };
}

function setSetting(words: readonly string[]): Parsed {
  if (words.length < 2) return `Name a setting and its value. Settings: ${settingKeys.join(', ')}.`;
  if (words.length > 2) return surplus(words[2]!);
  const key = keyOf(words[0]!);
  if (key === null) return noSetting(words[0]!);
  const text = words[1]!;
  const set = (value: boolean | number | string | null) => changing({ do: 'set-setting', key, value });
  switch (kindOf(key)) {
    case 'switch':
      return text === 'on' || text === 'off' ? set(text === 'on') : `${key} takes on or off.`;
    case 'number':
      return /^\d{1,9}$/.test(text) ? set(Number(text)) : `${key} takes a whole number.`;
    case 'region':
      if (text === 'none') return set(null);
      return /^[a-z]{2}$/i.test(text) ? set(text.toUpperCase()) : `${key} takes a country code of two letters, such as NL, or none.`;
  }
}

const keyOf = (word: string): SettingKey | null => settingKeys.find((key) => key === word) ?? null;
const noSetting = (word: string) => `There is no setting ${quoted(word)}; there is ${settingKeys.join(', ')}.`;

function pause(words: readonly string[]): Parsed {
  if (words.length > 1) return surplus(words[1]!);
  if (words.length === 0) return changing({ do: 'pause', ms: null });
  const ms = parseDuration(words[0]!);
  return ms === null ? `${quoted(words[0]!)} is no duration: write 90s, 15m, 2h or 1d, or nothing for until resumed.` : changing({ do: 'pause', ms });
}
