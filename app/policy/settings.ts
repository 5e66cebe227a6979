import { z } from 'zod';
import { ownToMac, plainDefaults, plainSettings, settingKeys, type SettingKey } from '../contract/plain-settings.ts';

/** What settings.json holds (architecture 2), checked by hand-edit-proof schemas. Everything is off by default (ruling 1). */
export const SETTINGS_VERSION = 2;

const LIMITS = { senders: 10_000, except: 1000, chats: 1000, mailboxes: 1000, clients: 500, tokens: 200, signIns: 200, watches: 2000, text: 320, mailbox: 1024 } as const;

const text = z.string().min(1).max(LIMITS.text);
const eventType = z.enum(['mail.received', 'messages.received']);

const senderRule = z.strictObject({
  kind: z.enum(['address', 'domain', 'phone', 'code']),
  /** Normalised. */
  value: text,
  /** Only for domains: everything below counts too. */
  subdomains: z.boolean().default(false),
  for: z.enum(['mail', 'messages', 'both']).default('both'),
  on: z.boolean().default(true),
  /** Senders that this rule would match and that never ring. Normalised. */
  except: z.array(text).max(LIMITS.except).default([]),
});

/** What a client may do beyond hearing of arrivals. Reading is bounded by the owner's rules unless `everything` is said; what it writes is shown first unless `unasked` is, and the rules allow all whom it answers. */
export const grantNames = ['mail', 'mail:everything', 'messages', 'messages:everything', 'search', 'reply', 'reply:unasked'] as const;

const clientRecord = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{8}$/, 'must be 8 hex digits'),
  identity: z.strictObject({
    display: z.string().max(1024),
    signed: z.boolean().default(false),
    /** How it shows who it is: the process at the other end of the socket, a bearer token, or a sign-in. */
    by: z.enum(['process', 'token', 'sign-in']).default('process'),
    /** For `once`: the processes that it was given to. It ends with the last of them, also across our own restart. */
    processes: z.array(z.strictObject({ pid: z.int().positive(), startTime: z.string().max(64) })).max(64).default([]),
  }),
  decision: z.enum(['always', 'once', 'denied']),
  events: z.union([z.literal('all'), z.array(eventType).max(2)]).default('all'),
  senders: z.union([z.literal('all'), z.array(text).max(LIMITS.senders)]).default('all'),
  grants: z.array(z.enum(grantNames)).max(grantNames.length).default([]),
  label: z.string().max(64).nullable().default(null),
});

/** SHA-256 of a secret, base64url: the secret itself is kept nowhere. */
const secretHash = z.string().regex(/^[\w-]{43}$/, 'must be a SHA-256 hash');
const time = z.number().min(0).max(8.64e15);
/** The day on which it was used last, as Unix ms of its beginning. */
const usedOn = time.nullable().default(null);

/** A bearer token that the owner made. Its client is in `clients`, with the grants. */
const token = z.strictObject({ client: clientRecord.shape.id, hash: secretHash, createdAt: time, usedOn });

/** A program that registered itself and whose sign-in the owner allowed. Its client is in `clients`, with the grants. */
const signIn = z.strictObject({
  client: clientRecord.shape.id,
  /** What it was registered as (RFC 7591). */
  clientId: text,
  name: z.string().max(64),
  redirects: z.array(z.string().min(1).max(2048)).min(1).max(10),
  createdAt: time,
  usedOn,
  /** Of the refresh token: the part that all of one sign-in share, and the whole of the one that holds. Null before the first. */
  refresh: z.strictObject({ family: secretHash, hash: secretHash, until: time }).nullable().default(null),
  access: z.array(z.strictObject({ hash: secretHash, until: time })).max(4).default([]),
});

/** A watch that the owner made, or of which the owner chose something. Arguments are checked by `events` when it opens. */
const keptWatch = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{8}$/, 'must be 8 hex digits'),
  client: clientRecord.shape.id,
  type: eventType,
  arguments: z.record(z.string().max(64), z.unknown()).default({}),
  createdAt: z.number().min(0).max(8.64e15),
  /** Folder for a client that reads files; an absolute path. */
  inbox: z.string().min(1).max(4096).nullable().default(null),
});

/** An absent plain setting is as before any choice. */
const plain = Object.fromEntries(
  settingKeys.map((key) => [key, (plainSettings.shape[key] as z.ZodType).default(plainDefaults[key])]),
) as unknown as { [K in SettingKey]: z.ZodDefault<(typeof plainSettings.shape)[K]> };

const settingsSchema = z.strictObject({
  version: z.literal(SETTINGS_VERSION),
  events: z.strictObject({
    'mail.received': z.boolean().default(false),
    'messages.received': z.boolean().default(false),
  }).prefault({}),
  senders: z.array(senderRule).max(LIMITS.senders).default([]),
  /** Chat guids: whoever writes there. */
  chats: z.array(text).max(LIMITS.chats).default([]),
  /** Mailboxes outside which no mail rings, as `account id/path`; null: every mailbox that can ring. Only narrows. */
  mailboxes: z.array(z.string().min(1).max(LIMITS.mailbox)).min(1).max(LIMITS.mailboxes).nullable().default(null),
  /** Accounts by their id, and mailboxes as `account id/path`, that no client hears of or reads. */
  excluded: z.strictObject({
    accounts: z.array(text).max(LIMITS.mailboxes).default([]),
    mailboxes: z.array(z.string().min(1).max(LIMITS.mailbox)).max(LIMITS.mailboxes).default([]),
  }).prefault({}),
  ...plain,
  /** Unix ms, `resumed` = until the owner resumes, null = not paused. */
  pausedUntil: z.union([z.literal('resumed'), z.number().min(0).max(8.64e15)]).nullable().default(null),
  clients: z.array(clientRecord).max(LIMITS.clients).default([]),
  watches: z.array(keptWatch).max(LIMITS.watches).default([]),
  /** Hashes lie under the seal: whoever could write one here would have a grant. */
  tokens: z.array(token).max(LIMITS.tokens).default([]),
  signIns: z.array(signIn).max(LIMITS.signIns).default([]),
  hosts: z.array(text).max(LIMITS.chats).default([]),
  /** HMAC and counter, put on by the app (architecture 2). Headless has none. */
  seal: z.strictObject({ mac: z.string().max(128), counter: z.int().min(0) }).nullable().default(null),
});

/** What an export holds: rules, events and plain settings; no clients, no hosts, no seal. What is excluded, and what lets clients in or read more, stays with the Mac: an import never lifts it. */
const portableSchema = settingsSchema.pick({ version: true, events: true, senders: true, chats: true, mailboxes: true }).extend(plain).omit(ownToMac);
export type PortableSettings = Readonly<z.output<typeof portableSchema>>;

export const portableOf = (settings: Settings): PortableSettings => {
  const carried = Object.keys(portableSchema.shape) as (keyof PortableSettings)[];
  return Object.fromEntries(carried.map((key) => [key, settings[key]])) as PortableSettings;
};

export type Settings = Readonly<z.output<typeof settingsSchema>>;
export type SenderRule = Settings['senders'][number];
export type ClientRecord = Settings['clients'][number];
export type SignInRecord = Settings['signIns'][number];
export type ClientProcess = ClientRecord['identity']['processes'][number];
export type PausedUntil = Settings['pausedUntil'];

export const defaultSettings: Settings = settingsSchema.parse({ version: SETTINGS_VERSION });

/** One step each: settings of version n to n + 1, a pure function over the parsed JSON. Version 1 is the first. */
export type MigrationSteps = Readonly<Record<number, (old: Record<string, unknown>) => Record<string, unknown>>>;
export const migrationSteps: MigrationSteps = {
  // `reading` said nothing of how far: it becomes the narrower of what there is now.
  1: (old) => (Array.isArray(old['clients']) ? { ...old, clients: old['clients'].map(withGrantsOf2) } : old),
};

function withGrantsOf2(client: unknown): unknown {
  if (typeof client !== 'object' || client === null || !('grants' in client) || !Array.isArray(client.grants)) return client;
  return { ...client, grants: client.grants.flatMap((grant: unknown) => (grant === 'reading' ? ['mail', 'messages'] : [grant])) };
}

export type ReadSettings = ReadAs<Settings>;

/** Parses the text of a settings file. `reason` names the place and the rule, never a value. */
export function readSettings(json: string, steps: MigrationSteps = migrationSteps): ReadSettings {
  return readAs(settingsSchema, json, steps);
}

/** The same for an export. */
export function readPortable(json: string): { readonly ok: true; readonly settings: PortableSettings } | { readonly ok: false; readonly reason: string } {
  const read = readAs(portableSchema, json, migrationSteps);
  if (read.state === 'newer') return { ok: false, reason: `it was written by a newer Belfry (version ${read.version})` };
  return read.state === 'broken' ? { ok: false, reason: read.reason } : { ok: true, settings: read.settings };
}

type ReadAs<S> =
  | { readonly state: 'ok'; readonly settings: S }
  | { readonly state: 'migrated'; readonly settings: S; readonly from: number }
  | { readonly state: 'newer'; readonly version: number }
  | { readonly state: 'broken'; readonly reason: string };

function readAs<S extends z.ZodType>(schema: S, json: string, steps: MigrationSteps): ReadAs<z.output<S>> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return { state: 'broken', reason: 'it is not JSON' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { state: 'broken', reason: 'it is not a JSON object' };
  let current = value as Record<string, unknown>;
  const from = current['version'];
  if (typeof from !== 'number' || !Number.isSafeInteger(from) || from < 0) return { state: 'broken', reason: 'version: must be a whole number' };
  if (from > SETTINGS_VERSION) return { state: 'newer', version: from };
  try {
    for (let version = from; version < SETTINGS_VERSION; version++) {
      const step = steps[version];
      if (!step) return { state: 'broken', reason: `version: ${version} never was one` };
      current = { ...step(current), version: version + 1 };
    }
  } catch {
    return { state: 'broken', reason: `it could not be brought up from version ${from}` };
  }
  const parsed = schema.safeParse(current);
  if (!parsed.success) return { state: 'broken', reason: issueSentence(parsed.error) };
  if (from < SETTINGS_VERSION) return { state: 'migrated', settings: parsed.data, from };
  return { state: 'ok', settings: parsed.data };
}

/** The whole again, before it is written: a change may reach a limit that only the schema knows. Null: fine. */
export function settingsFault(settings: Settings): string | null {
  const parsed = settingsSchema.safeParse(settings);
  return parsed.success ? null : issueSentence(parsed.error);
}

/** The first issue as `place: rule`. Keys are cut; values are never shown. */
export function issueSentence(error: z.ZodError): string {
  const issue = error.issues[0];
  if (!issue) return 'it does not fit';
  const place = issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part).slice(0, 64)}`)).join('').replace(/^\./, '');
  if (issue.code === 'unrecognized_keys') {
    return `${place ? `${place}: ` : ''}unknown key ${JSON.stringify(String(issue.keys[0]).slice(0, 64))}`;
  }
  return `${place || 'it'}: ${issue.message.replace(/^Invalid input: /, '').replace(/^Too (big|small): /, '')}`;
}
