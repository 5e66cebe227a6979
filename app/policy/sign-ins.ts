import { randomBytes } from 'node:crypto';
import { cleanText } from '../events/text.ts';
import { inQuotes } from '../text/quotes.ts';
import type { AllowOptions, GrantName, Outcome } from './change.ts';
import { MAX_NAME, type CredentialHost, type Credentials } from './credentials.ts';
import { MatchCodes } from './match-codes.ts';
import { clientIdOf, hashOf, newSecret, sameHash, SECRET_PREFIX } from './secret.ts';
import type { SignInRecord } from './settings.ts';
import { MAX_WAITING, type Waiting } from './waiting.ts';

/** How long a request to sign in waits for the owner, and how many do. */
export const ASK_MS = 600_000;
export const MAX_ASKS = 3;
export const ACCESS_MS = 3_600_000;
/** Of a refresh token since its last use. */
export const REFRESH_MS = 30 * 86_400_000;
const MAX_ACCESS = 4;
const FAMILY_BYTES = 16;
/** An id looks like that of a client: commands take either. */
const ASK_ID_BYTES = 4;

/** A program that registered itself, as it asks to be let in. */
export interface Registration {
  readonly clientId: string;
  /** What it calls itself: only ever quoted. */
  readonly name: string;
  readonly redirects: readonly string[];
}

export interface SignInAsk {
  /** Of this one request: what it says never changes, and another request of the same program has another. */
  readonly id: string;
  /** Of the client that it becomes. */
  readonly client: string;
  readonly name: string;
  /** Where the browser goes afterwards. */
  readonly host: string;
  /** Four digits that the page shows too. */
  readonly code: string;
  /** Unix ms. */
  readonly expiresAt: number;
  readonly grants: readonly GrantName[];
}

export type SignInEnd = 'allowed' | 'denied' | 'expired';

/** Why nothing was asked. `waits`: an earlier request of the same program does. `full`: as many as may. `often`: within this minute. */
export type SignInRefusal = 'waits' | 'full' | 'often';

interface OpenAsk {
  readonly ask: SignInAsk;
  readonly registration: Registration;
  readonly ended: (how: SignInEnd) => void;
  readonly disarm: () => void;
}

export interface TokenPair {
  readonly access: string;
  readonly refresh: string;
  readonly record: SignInRecord;
}

/** What sign-ins need of policy beside what tokens need. */
export interface SignInHost extends CredentialHost {
  /** Something new waits for the owner, or no longer does. */
  waits(isNew: boolean): void;
  /** A client that cannot come back is no longer shown. */
  forget(client: string): void;
}

/** Programs that the owner let in by the browser: their requests, and the tokens that they hold since. */
export class SignIns {
  readonly #host: SignInHost;
  readonly #waiting: Waiting;
  readonly #credentials: Credentials;
  readonly #codes: MatchCodes;
  /** By the id of the request. */
  readonly #open = new Map<string, OpenAsk>();

  constructor(host: SignInHost, waiting: Waiting, credentials: Credentials) {
    this.#host = host;
    this.#waiting = waiting;
    this.#credentials = credentials;
    this.#codes = new MatchCodes(() => host.clock.monotonic());
  }

  /** One that the owner allowed before and that is not over. */
  registered(clientId: string): SignInRecord | null {
    return this.#host.settings.signIns.find((each) => each.clientId === clientId) ?? null;
  }

  /** @param id of a request */
  waits(id: string): boolean {
    return this.#open.has(id);
  }

  /**
   * Puts a request into Waiting for you. One that waits is never put aside for a newer one: the owner may be about to
   * answer it.
   * @param ended called once, when somebody decided or time ran out
   */
  ask(registration: Registration, about: Pick<SignInAsk, 'host' | 'grants'>, ended: (how: SignInEnd) => void): SignInAsk | SignInRefusal {
    const { clock } = this.#host;
    const client = clientIdOf('sign-in', registration.clientId);
    if (this.#openOf(client) !== null) return 'waits';
    if (this.#open.size >= MAX_ASKS || this.#waiting.entries.length >= MAX_WAITING) return 'full';
    const code = this.#codes.give(registration.clientId);
    if (code === null) return 'often';
    const id = this.#newId();
    const ask: SignInAsk = { ...about, id, client, name: cleanText(registration.name, MAX_NAME), code, expiresAt: clock.now() + ASK_MS };
    this.#waiting.addSignIn(ask);
    this.#open.set(id, { ask, registration, ended, disarm: clock.after(ASK_MS, () => this.#end(id, 'expired')) });
    this.#host.waits(true);
    return ask;
  }

  /** Allows a request by command, where nobody sees whether the owner compared the code: they have to give it. */
  allowByCode(id: string, code: string | null, options: AllowOptions): Outcome {
    const open = this.#open.get(id);
    if (open === undefined) return GONE;
    if (code === null) return { ok: false, code: 'invalid', message: 'This is a sign-in: add --code and the four digits that its page in the browser shows.' };
    if (code !== open.ask.code) return { ok: false, code: 'refused', message: 'This request has another code, so nothing was allowed. Allow only the one whose code the page in your browser shows.' };
    return this.answer(id, true, options);
  }

  /** The owner's answer. Denying says nothing of what an earlier sign-in of the same program may. @param id of the request */
  answer(id: string, accept: boolean, options: AllowOptions): Outcome {
    const open = this.#open.get(id);
    if (open === undefined) return GONE;
    if (!accept) {
      this.#end(id, 'denied');
      return { ok: true, changed: true, sentence: 'Not allowed.' };
    }
    if (options.once === true) return { ok: false, code: 'refused', message: 'A sign-in has no process, so it cannot be allowed once. Revoke it when it is no longer needed.' };
    const senders = this.#host.senders(options.senders);
    if (typeof senders === 'string') return { ok: false, code: 'invalid', message: senders };
    const { ask: { client }, registration: { clientId, name, redirects } } = open;
    const label = cleanText(name, MAX_NAME);
    const { clients, signIns } = this.#host.settings;
    const before = this.registered(clientId);
    const record: SignInRecord = { refresh: null, access: [], usedOn: null, ...before, client, clientId, name: label, redirects: [...redirects], createdAt: this.#host.clock.now() };
    const failed = this.#host.save({
      clients: [...clients.filter(({ id }) => id !== client), this.#credentials.clientOf('sign-in', client, label, options)],
      signIns: [...signIns.filter((each) => each.client !== client), record],
    });
    if (failed !== null) return failed;
    this.#end(id, 'allowed');
    this.#host.changed('Sign-in allowed');
    return { ok: true, changed: true, sentence: `${inQuotes(label)} (${client}) is allowed.` };
  }

  /** The first tokens after an answer; earlier ones of the same program are over, and what they opened. Null: not allowed any more, or not written. */
  begin(client: string): TokenPair | null {
    const record = this.#host.settings.signIns.find((each) => each.client === client);
    if (record === undefined) return null;
    const pair = this.#issue({ ...record, access: [] }, randomBytes(FAMILY_BYTES).toString('base64url'));
    if (pair !== null && record.refresh !== null) this.#host.changed(null);
    return pair;
  }

  /**
   * New tokens for a refresh token, which is over then. One that was used before is in two hands: the sign-in ends.
   * @returns null where it is nobody's, another program's, or over
   */
  renew(refresh: string, clientId: string): TokenPair | null {
    const family = familyOf(refresh);
    const record = this.#ofFamily(family);
    if (family === null || record === null || record.clientId !== clientId || record.refresh!.until <= this.#host.clock.now()) return null;
    if (sameHash(hashOf(refresh), record.refresh!.hash)) return this.#issue(record, family);
    this.end(record.client, 'A sign-in was used twice and ended');
    return null;
  }

  /**
   * A program gives back what it holds (RFC 7009): an access token goes alone, with what it opened, a refresh token takes
   * the sign-in with it.
   */
  giveBack(token: string, clientId: string): void {
    const record = this.registered(clientId);
    if (record === null) return;
    if (this.#ofFamily(familyOf(token)) === record) return this.end(record.client, 'Signed out');
    const hash = hashOf(token);
    const access = record.access.filter((each) => !sameHash(hash, each.hash));
    const held = access.length < record.access.length;
    if (held ? !this.#save({ ...record, access }) : !token.startsWith(SECRET_PREFIX.access)) return;
    // One that ran out is kept no more, and may have opened something that is open still.
    this.#credentials.giveBack(record.client, hash, ACCESS_MS);
    this.#host.changed(held ? 'An access token was given back' : null);
  }

  /** The owner refused a client: what it still asks for is refused with it. */
  refuse(client: string): void {
    const open = this.#openOf(client);
    if (open !== null) this.#end(open.ask.id, 'denied');
  }

  /** The sign-in and its client are gone. @param sentence for Activity */
  end(client: string, sentence: string): void {
    const { clients } = this.#host.settings;
    if (!this.#credentials.standsFor(client)) return;
    if (this.#host.save({ ...this.#credentials.without(client), clients: clients.filter(({ id }) => id !== client) }) !== null) return;
    this.#host.forget(client);
    this.#host.changed(sentence);
  }

  close(): void {
    for (const { disarm } of this.#open.values()) disarm();
    this.#open.clear();
  }

  #openOf(client: string): OpenAsk | null {
    return [...this.#open.values()].find(({ ask }) => ask.client === client) ?? null;
  }

  /** None that stands for something else now. */
  #newId(): string {
    for (;;) {
      const id = randomBytes(ASK_ID_BYTES).toString('hex');
      if (!this.#waiting.has(id) && this.#host.settings.clients.every((each) => each.id !== id)) return id;
    }
  }

  #end(id: string, how: SignInEnd): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#open.delete(id);
    this.#waiting.remove(id);
    open.disarm();
    open.ended(how);
    this.#host.waits(false);
  }

  #issue(record: SignInRecord, family: string): TokenPair | null {
    const now = this.#host.clock.now();
    const access = newSecret('access');
    const refresh = `${SECRET_PREFIX.refresh}${family}.${newSecret('refresh').slice(SECRET_PREFIX.refresh.length)}`;
    const next: SignInRecord = {
      ...record,
      refresh: { family: hashOf(family), hash: hashOf(refresh), until: now + REFRESH_MS },
      access: [...record.access.filter((each) => each.until > now), { hash: hashOf(access), until: now + ACCESS_MS }].slice(-MAX_ACCESS),
    };
    return this.#save(next) ? { access, refresh, record: next } : null;
  }

  #ofFamily(family: string | null): SignInRecord | null {
    if (family === null) return null;
    const hash = hashOf(family);
    return this.#host.settings.signIns.find(({ refresh }) => refresh !== null && sameHash(hash, refresh.family)) ?? null;
  }

  #save(record: SignInRecord): boolean {
    const { signIns } = this.#host.settings;
    return this.#host.save({ signIns: signIns.map((each) => (each.client === record.client ? record : each)) }) === null;
  }
}

const GONE: Outcome = { ok: false, code: 'unknown', message: 'This request is no longer waiting.' };

/** The part that all refresh tokens of one sign-in share: by it an old one is known as such. */
function familyOf(refresh: string): string | null {
  return /^belfry_rt_([\w-]{22})\.[\w-]{43}$/.exec(refresh)?.[1] ?? null;
}

