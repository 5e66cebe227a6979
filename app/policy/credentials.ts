import type { Clock } from '../events/clock.ts';
import { cleanText } from '../events/text.ts';
import { inQuotes } from '../text/quotes.ts';
import { widestOf, type ClientIdentity } from './clients.ts';
import type { AllowOptions, Outcome } from './change.ts';
import { clientIdOf, hashOf, HashIndex, newSecret } from './secret.ts';
import type { ClientRecord, Settings, SignInRecord } from './settings.ts';

const DAY_MS = 86_400_000;
/** A name is shown beside others: longer ones are cut. */
export const MAX_NAME = 64;

/** Whose a bearer token is. */
export interface Holder {
  readonly identity: ClientIdentity;
  readonly label: string | null;
  /** Which token it was, so that what it opened can be told from what others of the client did. */
  readonly shown: Shown;
}

/** Hashes of a token, and of what all tokens of its sign-in share; null for a token that the owner made. */
export interface Shown {
  readonly hash: string;
  readonly family: string | null;
}

/** What the owner sees of a token or a sign-in. Its grants stand with the client of the same id. */
export interface CredentialView {
  readonly kind: 'token' | 'sign-in';
  /** Of the client that it is bound to. */
  readonly id: string;
  readonly label: string;
  /** Unix ms. */
  readonly createdAt: number;
  /** The day of its last use, as Unix ms of its beginning; null: never. */
  readonly usedOn: number | null;
}

/** What the keeper of credentials needs of policy. */
export interface CredentialHost {
  readonly settings: Settings;
  readonly clock: Clock;
  /** Null: written and in force. */
  save(part: Partial<Settings>): Extract<Outcome, { ok: false }> | null;
  /** Normalised, or a sentence why not. */
  senders(senders: AllowOptions['senders']): { senders?: 'all' | readonly string[] } | string;
  /** Clients, or what they hold, are others than before. @param sentence for Activity, without names; null: nothing to tell */
  changed(sentence: string | null): void;
}

type Records = Pick<Settings, 'tokens' | 'signIns'>;

/** Bearer tokens, and access tokens of sign-ins: who holds which, as hashes under the seal of the settings. */
export class Credentials {
  readonly #host: CredentialHost;
  #bearers = new HashIndex<{ readonly client: string; readonly until: number; readonly family: string | null }>([]);
  #clients: ReadonlyMap<string, ClientRecord> = new Map();
  /** Client -> the day that was written for it. */
  #marked = new Map<string, number>();
  /** Access tokens that their programs gave back, by client and hash, with the monotonic ms until which that is known. */
  readonly #givenBack = new Map<string, number>();

  constructor(host: CredentialHost) {
    this.#host = host;
  }

  /** After each change of settings. */
  load({ tokens, signIns, clients }: Settings): void {
    this.#bearers = new HashIndex([
      ...tokens.map(({ hash, client }) => [hash, { client, until: Infinity, family: null }] as const),
      ...signIns.flatMap(({ client, access, refresh }) => access.map(({ hash, until }) => [hash, { client, until, family: refresh?.family ?? null }] as const)),
    ]);
    this.#marked = new Map([...this.#marked].filter(([client]) => clients.some(({ id }) => id === client)));
    this.#clients = new Map(clients.filter((record) => record.identity.by !== 'process').map((record) => [record.id, record]));
  }

  get views(): readonly CredentialView[] {
    const { tokens, signIns } = this.#host.settings;
    const label = (id: string) => this.#clients.get(id)?.label ?? id;
    return [
      ...tokens.map(({ client, createdAt, usedOn }) => ({ kind: 'token' as const, id: client, label: label(client), createdAt, usedOn })),
      ...signIns.map(({ client, createdAt, usedOn }) => ({ kind: 'sign-in' as const, id: client, label: label(client), createdAt, usedOn })),
    ];
  }

  /** Null: unknown, revoked or over. Marks the day. @param secret as it was handed out */
  credentialOf(secret: string): Holder | null {
    const now = this.#host.clock.now();
    const hash = hashOf(secret);
    const held = this.#bearers.find(hash);
    if (held === null || held.until <= now) return null;
    const record = this.#clients.get(held.client);
    if (record === undefined || record.decision === 'denied') return null;
    this.#mark(held.client, now);
    return { identity: { ...bare, id: record.id, display: record.identity.display, by: byOf(record) }, label: record.label, shown: { hash, family: held.family } };
  }

  /**
   * Whether what a token opened goes on. It outlives the token's hour, also where newer ones have taken its place, and ends
   * with the sign-in, with the next sign-in of the same program, and where this very token was given back.
   */
  holds({ identity: { id }, shown: { hash, family } }: Holder): boolean {
    const { tokens, signIns } = this.#host.settings;
    if (family === null) return tokens.some((each) => each.client === id && each.hash === hash);
    return !this.#givenBack.has(keyOf(id, hash)) && signIns.some((each) => each.client === id && each.refresh?.family === family);
  }

  /** A client gave one of its access tokens back. @param ms how long none of its requests can still come in */
  giveBack(client: string, hash: string, ms: number): void {
    const now = this.#host.clock.monotonic();
    for (const [key, until] of this.#givenBack) if (until <= now) this.#givenBack.delete(key);
    this.#givenBack.set(keyOf(client, hash), now + ms);
  }

  /** Keeps the day of the last use. One that could not be written is no reason to refuse, and is not tried with each request. */
  #mark(client: string, now: number): void {
    const today = now - (now % DAY_MS);
    if (this.#marked.get(client) === today) return;
    this.#marked.set(client, today);
    const marked = usedOn(today, client, this.#host.settings);
    if (marked !== null) this.#host.save(marked);
  }

  /** Why a token cannot be made, or null. */
  tokenFault(label: string, options: AllowOptions): Extract<Outcome, { ok: false }> | null {
    if (nameOf(label) === null) return invalid('A token needs a name of letters or digits, by which you will know it.');
    if (options.once === true) return invalid('A token has no process, so it cannot be allowed once. Revoke it when it is no longer needed.');
    const senders = this.#host.senders(options.senders);
    return typeof senders === 'string' ? invalid(senders) : null;
  }

  /** A token and the client that it is bound to. `token` of the outcome is the only place where the secret ever stands. */
  createToken(label: string, options: AllowOptions): Outcome {
    const fault = this.tokenFault(label, options);
    if (fault !== null) return fault;
    const { settings, clock } = this.#host;
    const secret = newSecret('token');
    const hash = hashOf(secret);
    const client = clientIdOf('token', hash);
    // One in four thousand million: another try is simpler than two clients of one id.
    if (settings.clients.some(({ id }) => id === client)) return this.createToken(label, options);
    const name = nameOf(label)!;
    const record = this.clientOf('token', client, name, options);
    const failed = this.#host.save({
      clients: [...settings.clients, record], tokens: [...settings.tokens, { client, hash, createdAt: clock.now(), usedOn: null }],
    });
    if (failed !== null) return failed;
    this.#host.changed('Token made');
    return { ok: true, changed: true, sentence: `Token ${inQuotes(name)} (${client}) is made. This is the only time that it is shown.`, token: secret };
  }

  /** The record of a client that shows a credential, as the owner allows it. */
  clientOf(by: 'token' | 'sign-in', id: string, name: string, options: AllowOptions): ClientRecord {
    const { senders } = this.#host.senders(options.senders) as { senders?: 'all' | readonly string[] };
    return {
      id,
      identity: { display: `${by === 'token' ? 'Token' : 'Sign-in'} ${inQuotes(name)}`, signed: false, by, processes: [] },
      decision: 'always',
      events: options.events === undefined || options.events === 'all' ? 'all' : [...new Set(options.events)],
      senders: senders === undefined || senders === 'all' ? 'all' : [...senders],
      grants: widestOf(options.grants ?? []),
      label: name,
    };
  }

  /** Whether a client holds a token or a sign-in. */
  standsFor(client: string): boolean {
    return [...this.#host.settings.tokens, ...this.#host.settings.signIns].some((each) => each.client === client);
  }

  /** Why a client cannot be allowed so, or null: one that shows a credential is nobody without it, and runs nowhere. */
  allowFault(client: string, options: AllowOptions): string | null {
    const record = this.#clients.get(client);
    if (record === undefined) return null;
    if (options.once === true) return 'A client with a token has no process, so it cannot be allowed once.';
    return this.standsFor(client) ? null : 'What this client signed in with is gone. Make a new token, or sign in again.';
  }

  /** Nothing that a client could show is left. */
  without(client: string): Records {
    const { tokens, signIns } = this.#host.settings;
    return { tokens: tokens.filter((token) => token.client !== client), signIns: signIns.filter((each) => each.client !== client) };
  }

  /** Sign-ins that are over, and clients that have nothing to show any more. Null: none. @param atStart also clients whose credential went before */
  over(atStart: boolean): (Records & Pick<Settings, 'clients'>) | null {
    const { tokens, signIns, clients } = this.#host.settings;
    const now = this.#host.clock.now();
    const left = signIns.filter((each) => !isOver(each, now));
    const gone = new Set(signIns.filter((each) => isOver(each, now)).map(({ client }) => client));
    const shown = new Set([...tokens, ...left].map(({ client }) => client));
    const staying = clients.filter(({ id, identity }) => identity.by === 'process' || shown.has(id) || (!atStart && !gone.has(id)));
    return gone.size === 0 && staying.length === clients.length ? null : { tokens, signIns: left, clients: staying };
  }
}

/** How long an allowed sign-in waits for its first token: the life of a code. */
export const FIRST_TOKEN_MS = 600_000;

const isOver = ({ refresh, createdAt }: SignInRecord, now: number): boolean => (refresh === null ? createdAt + FIRST_TOKEN_MS : refresh.until) <= now;

const bare = { persistable: true, signed: false, process: null } as const;
const byOf = ({ identity }: ClientRecord) => (identity.by === 'sign-in' ? 'sign-in' : 'token');
const keyOf = (client: string, hash: string) => `${client} ${hash}`;
const invalid = (message: string) => ({ ok: false, code: 'invalid', message }) as const;

/** What a credential is called: shown to people, and in no log. Null: nothing is left of it. */
export function nameOf(text: string): string | null {
  const name = cleanText(text, MAX_NAME).trim();
  return name === '' ? null : name;
}

/** The records with a day at one client's; null where it, or a later one, stands there already. */
function usedOn(day: number, client: string, { tokens, signIns }: Records): Records | null {
  const isStale = (each: { readonly client: string; readonly usedOn: number | null }) => each.client === client && (each.usedOn ?? 0) < day;
  if (!tokens.some(isStale) && !signIns.some(isStale)) return null;
  const mark = <T extends Records['tokens'][number] | SignInRecord>(each: T): T => (isStale(each) ? { ...each, usedOn: day } : each);
  return { tokens: tokens.map(mark), signIns: signIns.map(mark) };
}
