import { z } from 'zod';
import { plainSettings } from './plain-settings.ts';
import { searchState } from './search.ts';

/** The values that cross between engine and UI or command line. Times are Unix ms. */

export const eventType = z.enum(['mail.received', 'messages.received']);
const at = z.number();
const count = z.int().min(0);
const clientId = z.string().regex(/^[0-9a-f]{8}$/, 'must be 8 hex digits');
const watchId = z.string().regex(/^[0-9a-f]{8}$/, 'must be 8 hex digits');
const shortText = z.string().max(512);
/** A paste may be long; entries are counted and cut by policy. */
/** Of a settings file, and of what is pasted. */
export const MAX_SETTINGS_BYTES = 1_000_000;
const pasted = z.string().max(MAX_SETTINGS_BYTES);


export const ruleFor = z.enum(['mail', 'messages', 'both']);
/** `reply`: each text is shown to the owner first. `reply:unasked`: not where the rules allow all who are written to. */
export const grantName = z.enum(['mail', 'mail:everything', 'messages', 'messages:everything', 'search', 'reply', 'reply:unasked']);
export const pausedUntil = z.union([at, z.literal('resumed')]).nullable();

export const senderRule = z.object({
  kind: z.enum(['address', 'domain', 'phone', 'code']),
  value: z.string(),
  subdomains: z.boolean(),
  for: ruleFor,
  on: z.boolean(),
  except: z.array(z.string()),
});
/** A rule as listed: in words (`Everyone at example.org`) with an IDN in both forms, and when it last rang in this run. */
export const senderRow = senderRule.extend({ display: z.string(), lastAt: at.nullable() });

export const senderOptions = z.strictObject({
  for: z.exactOptional(ruleFor),
  subdomains: z.exactOptional(z.boolean()),
  except: z.exactOptional(z.array(shortText).max(1000)),
});
export const senderPatch = senderOptions.extend({ on: z.exactOptional(z.boolean()) });
export const allowOptions = z.strictObject({
  once: z.exactOptional(z.boolean()),
  events: z.exactOptional(z.union([z.literal('all'), z.array(eventType)])),
  senders: z.exactOptional(z.union([z.literal('all'), z.array(shortText).max(10_000)])),
  grants: z.exactOptional(z.array(grantName)),
});

/** The endpoint over HTTP. `trouble`: it is wanted, and the sentence says why it does not listen. */
export const httpState = z.object({
  state: z.enum(['off', 'listening', 'trouble']),
  /** The one that it listens on, or would; null while it is off. */
  port: count.nullable(),
  /** What a client is given; null unless it listens. */
  url: z.string().nullable(),
  sentence: z.string().nullable(),
});

/** What became of a change: the same value that policy answers with. */
const refusal = z.object({ ok: z.literal(false), code: z.enum(['invalid', 'unknown', 'nothing', 'refused', 'not-written', 'full']), message: z.string() });
export const outcome = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true), changed: z.boolean(), sentence: z.string(),
    /** A bearer token that was made just now: shown to the owner once, kept nowhere and never told again. */
    token: z.exactOptional(z.string()),
  }),
  refusal,
]);
/** A settings file that the owner picked; null: they picked none. */
export const pickedSettings = z.discriminatedUnion('ok', [z.object({ ok: z.literal(true), json: z.string().nullable() }), refusal]);
export type PickedSettings = z.output<typeof pickedSettings>;
/** Why a file that was picked is not one. */
export const SETTINGS_TOO_LARGE: PickedSettings = { ok: false, code: 'invalid', message: 'This file is larger than 1 MB. A settings file is smaller.' };
export const SETTINGS_UNREADABLE: PickedSettings = { ok: false, code: 'refused', message: "This file can't be read." };

export const entryCheck = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), text: z.string(), kind: senderRule.shape.kind, value: z.string(), shared: z.boolean() }),
  z.object({ ok: z.literal(false), text: z.string(), reason: z.string() }),
]);

/** What the engine itself could read of a store: 16 bytes, whether or not the event is on. */
export const storeAccess = z.object({
  /** `unknown`: no look yet, neither store is there, or what is there is no database. */
  state: z.enum(['readable', 'denied', 'missing', 'unknown']),
  /** Read at least once, by this or an earlier run: tells lost access from access never given. */
  everRead: z.boolean(),
  /** `V10` and so on; Mail only. */
  version: z.string().nullable(),
});
export const access = z.object({ mail: storeAccess, messages: storeAccess, checkedAt: at.nullable() });

export const eventRow = z.object({
  type: eventType,
  on: z.boolean(),
  /** Whether Mail or Messages itself runs; null: can't tell. */
  sourceOpen: z.boolean().nullable(),
  /** Mail: accounts in the index. Null: not read, or no such number. */
  accounts: count.nullable(),
  readAt: at.nullable(),
  /** The owner's narrowing: qualified mailbox names. Null: every mailbox that can ring. Mail only. */
  mailboxes: z.array(z.string()).nullable(),
  /** Rules that are on and count for this type. */
  allowed: count,
  /** Clients with a subscription now. */
  usedBy: z.array(z.string()),
  deliveredToday: count,
  lastAt: at.nullable(),
});

export const mailboxRow = z.object({ name: z.string(), account: z.string(), role: z.string() });
/** Accounts and mailboxes, and which of them no client hears of or reads. `place` is what `excluded` takes. */
export const excludedPlaces = z.object({
  /** False: Mail cannot be read now, so nothing can be added. */
  readable: z.boolean(),
  accounts: z.array(z.object({
    place: z.string(), name: z.string(), excluded: z.boolean(),
    /** Excluded by itself; a mailbox below an excluded one is so too. */
    mailboxes: z.array(z.object({ place: z.string(), name: z.string(), role: z.string(), excluded: z.boolean() })),
  })),
  /** Excluded, and not found now. */
  gone: z.array(z.object({ place: z.string(), name: z.string() })),
});
/** A chat whose members may all ring. */
export const chatRow = z.object({
  id: z.string(), name: z.string(), isGroup: z.boolean(), participants: count.nullable(), lastAt: at.nullable(),
});
/** Somebody whom the owner may want to allow. Never leaves the Mac, kept nowhere. */
export const suggestion = z.object({
  value: z.string(), name: z.string().nullable(), source: z.enum(['contacts', 'vip', 'recent']), for: ruleFor, lastAt: at.nullable(),
});

export const clientRow = z.object({
  id: clientId,
  display: z.string(),
  signed: z.boolean(),
  persistable: z.boolean(),
  /** It shows a bearer token, or what it signed in with, over HTTP; absent: it is known by its process. Such a client cannot be allowed once. */
  by: z.exactOptional(z.enum(['token', 'sign-in'])),
  /** What it calls itself: only ever quoted. */
  label: z.string().nullable(),
  decision: z.enum(['always', 'once', 'denied', 'none']),
  events: z.union([z.literal('all'), z.array(eventType)]),
  senders: z.union([z.literal('all'), z.array(z.string())]),
  grants: z.array(grantName),
  asks: z.array(z.object({ type: eventType, senders: count, notAllowed: z.array(z.string()) })),
  seenAt: at.nullable(),
  /** From what it does at run time (ui.md, Clients), never from a setting. */
  state: z.enum(['listening', 'connected', 'cant-tell', 'asking', 'away']),
  connections: count,
  connectedAt: at.nullable(),
  subscriptions: z.array(z.object({ type: eventType, senders: count, mode: z.enum(['poll', 'push', 'channel', 'webhook']), delivered: count })),
  lastEventAt: at.nullable(),
});

/** A bearer token, or a program that signed in. What it may do stands with the client of the same id. */
export const tokenRow = z.object({
  kind: z.enum(['token', 'sign-in']),
  id: clientId,
  label: z.string(),
  createdAt: at,
  /** The day of its last use, as the time of its beginning (UTC); null: never used. */
  usedOn: at.nullable(),
});

/** A standing watch of a client. Its arguments stay with the engine: what it asks for shows with the client. */
export const watchRow = z.object({
  id: watchId,
  client: clientId,
  type: eventType,
  senders: count,
  /** Who made it. The owner's are kept in settings. */
  source: z.enum(['tool', 'owner']),
  /** `ceiling`: the rings of this hour are used up. `problem`: see there. */
  state: z.enum(['watching', 'waiting-for-owner', 'paused', 'ceiling', 'off', 'unreadable', 'problem']),
  /** Unread: not handed out yet; handed out and not confirmed. */
  waiting: count,
  sent: count,
  confirmed: count,
  /** Unread items that had to go because the watch was full. */
  dropped: count,
  /** The store was replaced: arrivals may be missing. */
  gap: z.boolean(),
  /** Folder that items are written to as well. */
  inbox: z.string().nullable(),
  problem: z.string().nullable(),
  createdAt: at,
});

const asked = { id: z.string(), since: at, /** Without the text that would go out. */ sentence: z.string() };
/** What a client would like to write. It ends by itself, and then nothing was written. */
const outgoing = { ...asked, client: clientId, /** As quoted everywhere. */ clientName: z.string(), expiresAt: at, /** Every character that would go out. */ text: z.string() };
/** The first few of so many. */
const someAddresses = z.object({ shown: z.array(z.string()), count });
/** What waits for the owner; `clients.answer` takes the id of any. A `send` goes out by Messages, a `draft` is only opened in Mail. */
export const waitingRow = z.discriminatedUnion('kind', [
  z.object({
    kind: z.enum(['client', 'change']), ...asked,
    /** The client that it is about, or null. */
    client: clientId.nullable(),
    /** What a client asks to be granted. */
    grants: z.array(grantName),
  }),
  z.object({
    /**
     * A program asks in the browser to be let in over HTTP. Allowing it takes the same options as a client; once is not
     * among them. The id is that of this request alone, which never changes; another request of the program has another.
     */
    kind: z.literal('sign-in'), ...asked,
    /** Of the client that it becomes. In `clients` only if it was allowed before. */
    client: clientId,
    /** What the program calls itself: only ever quoted. */
    name: z.string(),
    /** Where the browser goes afterwards: the host with its port, or the scheme of a program. */
    host: z.string(),
    /** Four digits that the browser's page shows too: they tell one request from another. */
    code: z.string().regex(/^\d{4}$/),
    expiresAt: at,
    /** What it hinted at: nothing of it is chosen for it. */
    grants: z.array(grantName),
  }),
  z.object({
    kind: z.literal('send'), ...outgoing,
    chat: z.object({ id: z.string(), name: z.string(), isGroup: z.boolean(), /** Names where known; the first few. */ members: z.array(z.string()), memberCount: count, service: z.string().nullable() }),
  }),
  z.object({
    kind: z.literal('draft'), ...outgoing,
    to: z.array(z.string()), cc: z.array(z.string()), subject: z.string(),
    /** The mail that it answers, or null for a new one. Mail then fills in the recipients. */
    answers: z.object({
      from: z.string(), subject: z.string().nullable(), all: z.boolean(),
      /** `instead`: whom it goes to where that is not the sender alone. `to`, `cc`: whom else, if it goes to all. Null: not known, for the file is not on this Mac. */
      goesTo: z.object({ instead: someAddresses, to: someAddresses, cc: someAddresses }).nullable(),
    }).nullable(),
  }),
]);
/** A standing webhook subscription of a client: where it goes is shown as the host alone, since a path may be a secret. */
export const webhookRow = z.object({
  id: z.string(),
  client: clientId,
  type: eventType,
  senders: count,
  /** Name, with the port unless it is 443. */
  host: z.string(),
  /** `ok`: nothing stands in the way. `retrying`: the receiver failed and is tried again. `suspended`: it failed for so long that it waits for its client to ask again. `ending`: the receiver is being told that it is over. */
  state: z.enum(['ok', 'retrying', 'suspended', 'ending', 'waiting-for-owner', 'paused', 'ceiling', 'unreadable']),
  /** A category, never what a receiver said. */
  lastError: z.enum(['connection_refused', 'timeout', 'tls_error', 'http_4xx', 'http_5xx', 'challenge_failed']).nullable(),
  failedSince: at.nullable(),
  /** Tries that failed since the last one that was accepted. */
  failures: count,
  lastDeliveryAt: at.nullable(),
  /** In this run: accepted by the receiver; given up. */
  delivered: count,
  givenUp: count,
  /** Null: until it is stopped. */
  expiresAt: at.nullable(),
  createdAt: at,
});


const storeStatus = z.object({
  /** `off`: the type is off and nothing is read. `checking`: no look yet. */
  state: z.enum(['readable', 'not_permitted', 'not_there', 'broken', 'busy', 'off', 'checking']),
  on: z.boolean(),
  /** Highest row accounted for, or null before the first look. */
  position: count.nullable(),
});

/** `belfry status --json` prints `{version: 1, ok: true, status: <this>}`; see run-command.ts. */
export const status = z.object({
  version: z.string(),
  pid: z.int(),
  headless: z.boolean(),
  stores: z.object({ mail: storeStatus, messages: storeStatus }),
  /** Clients with a connection; entries in Waiting for you; open streams. */
  clients: count,
  waiting: count,
  streams: count,
  pausedUntil,
  uptimeSeconds: count,
  /** Emitted methods with their number, over all connections. */
  counters: z.record(z.string(), count),
  /** What is wrong with the settings file, or null. */
  settingsSentence: z.string().nullable(),
  /** `none`: no host gave a key (headless). `broken`: the file was changed outside, so everything is off. */
  seal: z.enum(['ok', 'none', 'broken']),
  /** An arrival of any kind, delivered or not. */
  lastEventAt: at.nullable(),
  search: searchState,
});

export const diagnosticRow = z.object({
  id: z.string(),
  title: z.string(),
  state: z.enum(['ok', 'warning', 'problem', 'cant-check']),
  /** No names, addresses, subjects or file contents. */
  evidence: z.string(),
  fix: z.string().nullable(),
});

/** What became of an arrival, the best over all clients (ui.md, Live). */
export const liveStatus = z.enum(['delivered', 'sent', 'waiting', 'not-sent', 'missed']);
export const liveRow = z.object({
  /** Rises with each row of this run. A row that is told again under its id has changed. */
  id: z.int(),
  at,
  type: eventType,
  eventId: z.string(),
  sender: z.string(),
  name: z.string().nullable(),
  subject: z.string().nullable(),
  /** Mailbox, or chat's name. */
  place: z.string().nullable(),
  /** iMessage, SMS, RCS; null for mail. */
  service: z.string().nullable(),
  attachments: count,
  status: liveStatus,
  /** Why it was not sent: a reason of NotSent (`mailbox`: outside the owner's mailboxes) or NotArrival, `no-listener`, or null. */
  reason: z.string().nullable(),
  /** For `missed`: how many, if known. For `waiting`: unread items. */
  number: count.nullable(),
  /** Why the row is no arrival, or null. */
  notArrival: z.string().nullable(),
  verdicts: z.array(z.object({ client: z.string(), sent: z.boolean(), confirmed: z.boolean(), reason: z.string().nullable() })),
  /** The owner asked for it: nobody wrote. */
  test: z.boolean(),
  /** Exactly what was sent, or null where nothing was. */
  json: z.record(z.string(), z.unknown()).nullable(),
});

/** One step of a test event's way; null: can't tell. */
export const testHop = z.object({ hop: z.enum(['helper', 'engine', 'client', 'confirmed']), ok: z.boolean().nullable(), sentence: z.string() });

/** `read`: a client read `count` items by a tool. `reply`, `draft`: what became of a text that a client wrote. */
export const activityKind = z.enum(['delivered', 'sent', 'not_sent', 'subscribed', 'unsubscribed', 'changed', 'woke', 'gap', 'client', 'read', 'reply', 'draft']);
export const activityRow = z.object({
  id: z.int(),
  at,
  kind: activityKind,
  type: eventType.nullable(),
  client: z.string().nullable(),
  eventId: z.string().nullable(),
  rowid: z.int().nullable(),
  reason: z.string().nullable(),
  /** Kept only while the owner asked for it (`keepSendersDays`); else null. */
  sender: z.string().nullable(),
  /** How many items were read; null for what is no reading. */
  count: count.nullable(),
});
export const activityFilter = z.strictObject({
  kind: z.exactOptional(activityKind),
  type: z.exactOptional(eventType),
  client: z.exactOptional(z.string().max(64)),
  /** Only rows below this id: the next page. */
  before: z.exactOptional(z.int()),
});

export const backtest = z.object({
  type: eventType,
  count,
  examples: z.array(z.object({ at: at.nullable(), sender: z.string(), name: z.string().nullable(), subject: z.string().nullable() })),
});

/** The state that the UI draws, by slices; `changed` carries those that differ. */
export const slices = z.object({
  status,
  events: z.array(eventRow),
  senders: z.array(senderRow),
  clients: z.array(clientRow),
  tokens: z.array(tokenRow),
  waiting: z.array(waitingRow),
  settings: plainSettings,
  pausedUntil,
  access,
  /** Chats that are rules. */
  chats: z.array(chatRow),
  watches: z.array(watchRow),
  search: searchState,
  http: httpState,
  /** Hosts that webhooks may go to; none: webhooks are off. */
  hosts: z.array(z.string()),
  webhooks: z.array(webhookRow),
});

export const params = {
  none: z.strictObject({}),
  setEvent: z.strictObject({ type: eventType, on: z.boolean() }),
  paste: z.strictObject({ text: pasted }),
  addSenders: z.strictObject({ senders: z.array(pasted).min(1).max(10_000), options: senderOptions }),
  setSender: z.strictObject({ sender: shortText, patch: senderPatch }),
  removeSenders: z.strictObject({ senders: z.array(shortText).min(1).max(10_000) }),
  backtest: z.strictObject({ sender: shortText, subdomains: z.boolean(), for: ruleFor, examples: z.int().min(0).max(200) }),
  suggest: z.strictObject({ text: shortText, limit: z.int().min(1).max(100) }),
  mailboxes: z.strictObject({ mailboxes: z.array(shortText).min(1).max(1000).nullable() }),
  findChats: z.strictObject({ text: shortText, limit: z.int().min(1).max(200) }),
  places: z.strictObject({ /** Accounts and mailboxes by name. */ places: z.array(shortText).min(1).max(1000) }),
  chats: z.strictObject({ ids: z.array(shortText).min(1).max(1000) }),
  importSettings: z.strictObject({ json: pasted }),
  seal: z.strictObject({ /** True: what the file says holds. False: everything stays off and is sealed so. */ accept: z.boolean() }),
  client: z.strictObject({ id: clientId }),
  watch: z.strictObject({ id: watchId }),
  hosts: z.strictObject({ /** Names, with a port unless it is 443. */ hosts: z.array(shortText).min(1).max(1000) }),
  webhook: z.strictObject({ id: z.string().max(64) }),
  addWatch: z.strictObject({ client: clientId, type: eventType, arguments: z.record(z.string().max(64), z.unknown()) }),
  setInbox: z.strictObject({ id: watchId, /** Absolute; null: off. */ directory: z.string().min(1).max(4096).nullable() }),
  allowClient: z.strictObject({ id: clientId, options: allowOptions }),
  createToken: z.strictObject({ label: shortText, options: allowOptions }),
  answer: z.strictObject({ id: z.string().max(64), accept: z.boolean(), options: allowOptions }),
  live: z.strictObject({ /** Also rows that match no allowed sender; they never leave the Mac. */ notMatched: z.boolean() }),
  activity: z.strictObject({ limit: z.int().min(1).max(1000), filter: activityFilter }),
  setSetting: z.strictObject({ key: plainSettings.keyof(), value: z.union([z.boolean(), z.number(), z.string().max(64)]).nullable() }),
  pause: z.strictObject({ /** Null: until resumed. */ ms: z.number().nullable() }),
};

export type EventType = z.output<typeof eventType>;
export type EventRow = z.output<typeof eventRow>;
export type Access = z.output<typeof access>;
export type MailboxRow = z.output<typeof mailboxRow>;
export type ExcludedPlaces = z.output<typeof excludedPlaces>;
export type GrantName = z.output<typeof grantName>;
export type ChatRow = z.output<typeof chatRow>;
export type Suggestion = z.output<typeof suggestion>;
export type EntryCheck = z.output<typeof entryCheck>;
export type LiveStatus = z.output<typeof liveStatus>;
export type Backtest = z.output<typeof backtest>;
export type TestHop = z.output<typeof testHop>;
export type Status = z.output<typeof status>;
export type DiagnosticRow = z.output<typeof diagnosticRow>;
export type Slices = z.output<typeof slices>;
export type SenderRow = z.output<typeof senderRow>;
export type ClientRow = z.output<typeof clientRow>;
export type HttpState = z.output<typeof httpState>;
export type TokenRow = z.output<typeof tokenRow>;
export type WatchRow = z.output<typeof watchRow>;
export type WebhookRow = z.output<typeof webhookRow>;
export type WaitingRow = z.output<typeof waitingRow>;
export type LiveRow = z.output<typeof liveRow>;
export type ActivityRow = z.output<typeof activityRow>;
export type ContractOutcome = z.output<typeof outcome>;
