import { randomBytes } from 'node:crypto';
import type { Registration, SignInAsk, SignInEnd, SignIns } from '../../policy/sign-ins.ts';
import type { AuthorizeRequest } from './authorize-request.ts';
import type { Codes } from './codes.ts';
import { placeOf } from './redirect-uri.ts';

/** Answered ones that a page may still ask for. */
const MAX_KEPT = 32;
const MAX_WATCHERS = 8;
const PAGE_ID_BYTES = 16;

/** One request of a browser, from its first page to the answer. */
export interface Authorization {
  /** By which its page asks whether it was decided. */
  readonly id: string;
  readonly request: AuthorizeRequest;
  readonly registration: Registration;
  readonly issuer: string;
  readonly ask: SignInAsk;
  /** `handed`: the browser was sent on with a code, once. */
  state: 'waiting' | 'handed' | SignInEnd;
}

interface Entry extends Authorization {
  readonly watchers: Set<() => void>;
}

/**
 * Requests to sign in as browsers hold them. A page that is loaded again is the same request: only another one of the
 * program is a new one.
 */
export class Authorizations {
  readonly #signIns: SignIns;
  readonly #codes: Codes;
  /** By what the browser asked for, oldest first. */
  readonly #entries = new Map<string, Entry>();

  constructor(signIns: SignIns, codes: Codes) {
    this.#signIns = signIns;
    this.#codes = codes;
  }

  /** The one that a browser comes back to, or null. */
  find(request: AuthorizeRequest, issuer: string): Authorization | null {
    return this.#entries.get(keyOf(request, issuer)) ?? null;
  }

  /** A new one, into Waiting for you. Null: as many wait as may. */
  open(request: AuthorizeRequest, registration: Registration, issuer: string): Authorization | null {
    // The answer cannot come before it is kept: people are slower.
    let entry: Entry | null = null;
    const ask = this.#signIns.ask(registration, { host: placeOf(request.redirectUri), grants: request.grants }, (how) => entry !== null && this.#ended(entry, how));
    if (ask === null) return null;
    entry = { id: randomBytes(PAGE_ID_BYTES).toString('base64url'), request, registration, issuer, ask, state: 'waiting', watchers: new Set() };
    this.#makeRoom();
    this.#entries.set(keyOf(request, issuer), entry);
    return entry;
  }

  /** The code of an allowed one, for the browser to carry. Once. */
  hand(authorization: Authorization): string {
    authorization.state = 'handed';
    const { request: { clientId, redirectUri, challenge }, ask: { client } } = authorization;
    return this.#codes.issue({ client, clientId, redirectUri, challenge });
  }

  /**
   * Tells a page when its request was decided; at once where it was.
   * @returns how to look away; `unknown`: no such request; `full`: as many look on as may
   */
  watch(id: string, decided: () => void): (() => void) | 'unknown' | 'full' {
    const entry = [...this.#entries.values()].find((each) => each.id === id);
    if (entry === undefined) return 'unknown';
    if (entry.watchers.size >= MAX_WATCHERS) return 'full';
    if (entry.state !== 'waiting') {
      decided();
      return () => undefined;
    }
    entry.watchers.add(decided);
    return () => entry.watchers.delete(decided);
  }

  #ended(entry: Entry, how: SignInEnd): void {
    entry.state = how;
    for (const decided of entry.watchers) decided();
    entry.watchers.clear();
  }

  /** Those that wait are at most three, so one that does not is always found. */
  #makeRoom(): void {
    if (this.#entries.size < MAX_KEPT) return;
    for (const [key, { state }] of this.#entries) {
      if (state !== 'waiting') return void this.#entries.delete(key);
    }
  }
}

const keyOf = (request: AuthorizeRequest, issuer: string): string => JSON.stringify([issuer, request]);
