import type { Change } from './change.ts';
import { widestOf } from './clients.ts';
import { canonical } from './outstanding.ts';
import type { SignInAsk } from './sign-ins.ts';

/** At most 20 wait, one notice in 10 minutes (architecture 6). */
export const MAX_WAITING = 20;
const NOTICE_MS = 600_000;

export type WaitingEntry =
  | { readonly kind: 'client'; /** The client's id. */ readonly id: string; /** Unix ms. */ readonly since: number }
  | { readonly kind: 'change'; readonly id: string; readonly since: number; readonly change: Change; readonly sentence: string }
  /** The id is that of the request: another one of the same program has another. */
  | { readonly kind: 'sign-in'; readonly id: string; readonly since: number; readonly ask: SignInAsk };

/** What waits for the owner: clients that want events, and changes that a program asked for. Closing is no answer. */
export class Waiting {
  readonly #now: () => number;
  readonly #monotonic: () => number;
  readonly #entries = new Map<string, WaitingEntry>();
  #noticed = -Infinity;
  #next = 1;

  constructor(now: () => number, monotonic: () => number) {
    this.#now = now;
    this.#monotonic = monotonic;
  }

  get entries(): readonly WaitingEntry[] {
    return [...this.#entries.values()];
  }
  has(id: string): boolean {
    return this.#entries.has(id);
  }
  find(id: string): WaitingEntry | null {
    return this.#entries.get(id) ?? null;
  }

  /** `full`: nothing was added; the client asks again with its next request. @param runs frees places of ended clients */
  addClient(id: string, runs: (id: string) => boolean): 'added' | 'known' | 'full' {
    if (this.#entries.has(id)) return 'known';
    if (!this.#makeRoom(runs)) return 'full';
    this.#entries.set(id, { kind: 'client', id, since: this.#now() });
    return 'added';
  }

  /**
   * The same change twice is one entry, and so is all that one client would like to be granted. Where that grows, the entry
   * has a new id: a yes to the old one must not allow more than was shown.
   * @param change canonical
   * @returns null: full
   */
  addChange(change: Change, sentenceOf: (change: Change) => string, runs: (id: string) => boolean): { readonly id: string; readonly added: boolean } | null {
    const old = this.#same(change);
    const next = old === null ? change : united(old.change, change);
    if (old !== null && JSON.stringify(old.change) === JSON.stringify(next)) return { id: old.id, added: false };
    if (old !== null) this.#entries.delete(old.id);
    else if (!this.#makeRoom(runs)) return null;
    const id = `request-${this.#next++}`;
    this.#entries.set(id, { kind: 'change', id, since: this.#now(), change: next, sentence: sentenceOf(next) });
    return { id, added: true };
  }

  /** Brings changes up to date. True if any differs. @param left what of a change is still to be asked for; null: nothing */
  settle(left: (change: Change) => Change | null, sentenceOf: (change: Change) => string): boolean {
    let differs = false;
    for (const entry of this.#entries.values()) {
      if (entry.kind !== 'change') continue;
      const change = left(entry.change);
      if (change !== null && JSON.stringify(change) === JSON.stringify(entry.change)) continue;
      differs = true;
      if (change === null) this.#entries.delete(entry.id);
      else this.#entries.set(entry.id, { ...entry, change, sentence: sentenceOf(change) });
    }
    return differs;
  }

  /** Whoever asks has made sure that there is a place. */
  addSignIn(ask: SignInAsk): void {
    this.#entries.set(ask.id, { kind: 'sign-in', id: ask.id, since: this.#now(), ask });
  }

  remove(id: string): boolean {
    return this.#entries.delete(id);
  }

  /** A client and all that was asked for in its favour. True if there was anything. */
  removeClient(id: string): boolean {
    let removed = this.#entries.delete(id);
    for (const entry of this.#entries.values()) {
      if (entry.kind === 'change' && 'id' in entry.change && entry.change.id === id) removed = this.#entries.delete(entry.id);
    }
    return removed;
  }

  /** True if the owner may be told of a new entry now; counts as told. */
  takeNotice(): boolean {
    if (this.#monotonic() - this.#noticed < NOTICE_MS) return false;
    this.#noticed = this.#monotonic();
    return true;
  }

  #same(change: Change): Extract<WaitingEntry, { kind: 'change' }> | null {
    const key = keyOf(change);
    for (const entry of this.#entries.values()) if (entry.kind === 'change' && keyOf(entry.change) === key) return entry;
    return null;
  }

  #makeRoom(runs: (id: string) => boolean): boolean {
    if (this.#entries.size < MAX_WAITING) return true;
    for (const entry of this.#entries.values()) {
      if (entry.kind !== 'client' || runs(entry.id)) continue;
      this.#entries.delete(entry.id);
      return true;
    }
    return false;
  }
}

const keyOf = (change: Change): string => (change.do === 'grant-client' ? `${change.do} ${change.id}` : JSON.stringify(change));

const united = (old: Change, change: Change): Change =>
  (old.do === 'grant-client' && change.do === 'grant-client' ? canonical({ ...change, grants: widestOf([...old.grants, ...change.grants]) }) : change);
