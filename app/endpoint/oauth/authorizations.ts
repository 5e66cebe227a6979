import { randomBytes } from 'node:crypto';
import type { Clock } from '../../events/clock.ts';
import { FIRST_TOKEN_MS } from '../../policy/credentials.ts';
import type { Registration, SignInAsk, SignInEnd, SignInRefusal, SignIns } from '../../policy/sign-ins.ts';
import type { AuthorizeRequest } from './authorize-request.ts';
import type { Codes } from './codes.ts';
import { placeOf } from './redirect-uri.ts';

/** With answered ones that a page may still ask for. */
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
  /** `handed`: the browser was sent on with a code, once. `lapsed`: allowed, and no browser came for the code in time. */
  state: 'waiting' | 'handed' | 'lapsed' | SignInEnd;
}

interface Entry extends Authorization {
  /** Monotonic ms; 0 while it waits. */
  endedAt: number;
  readonly watchers: Set<() => void>;
}

/**
 * Requests to sign in as browsers hold them. A page that is loaded again is the same request; whatever differs in where it
 * goes back to, or who could redeem its code, is another one.
 */
export class Authorizations {
  readonly #signIns: SignIns;
  readonly #codes: Codes;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** By what the browser asked for, oldest first. */
  readonly #entries = new Map<string, Entry>();

  constructor(signIns: SignIns, codes: Codes, clock: Pick<Clock, 'monotonic'>) {
    this.#signIns = signIns;
    this.#codes = codes;
    this.#clock = clock;
  }

  /** The one that a browser comes back to, or null. */
  find(request: AuthorizeRequest, issuer: string): Authorization | null {
    const found = this.#entries.get(keyOf(request, issuer));
    if (found === undefined) return null;
    if (this.#isLapsed(found)) found.state = 'lapsed';
    return found;
  }

  /** A new one, into Waiting for you, or why not. */
  open(request: AuthorizeRequest, registration: Registration, issuer: string): Authorization | SignInRefusal {
    if (!this.#makeRoom()) return 'full';
    // The answer cannot come before it is kept: people are slower.
    let entry: Entry | null = null;
    const ask = this.#signIns.ask(registration, { host: placeOf(request.redirectUri), grants: request.grants }, (how) => entry !== null && this.#ended(entry, how));
    if (typeof ask === 'string') return ask;
    entry = { id: randomBytes(PAGE_ID_BYTES).toString('base64url'), request, registration, issuer, ask, state: 'waiting', endedAt: 0, watchers: new Set() };
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
    entry.endedAt = this.#clock.monotonic();
    for (const decided of entry.watchers) decided();
    entry.watchers.clear();
  }

  /** The oldest one that nothing more comes of goes. One that was allowed stays until its browser came, or time ran out. */
  #makeRoom(): boolean {
    if (this.#entries.size < MAX_KEPT) return true;
    for (const [key, entry] of this.#entries) {
      if (entry.state === 'waiting' || (entry.state === 'allowed' && !this.#isLapsed(entry))) continue;
      this.#entries.delete(key);
      return true;
    }
    return false;
  }

  /** As long as policy keeps a sign-in that fetches nothing: the code would be worth nothing afterwards. */
  #isLapsed({ state, endedAt }: Entry): boolean {
    return state === 'allowed' && this.#clock.monotonic() - endedAt >= FIRST_TOKEN_MS;
  }
}

const keyOf = (request: AuthorizeRequest, issuer: string): string => JSON.stringify([issuer, request]);
