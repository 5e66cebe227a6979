import type { Change } from './change.ts';
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

  /** The same change twice is one entry. Null: full. */
  addChange(change: Change, sentence: string, runs: (id: string) => boolean): { readonly id: string; readonly added: boolean } | null {
    const text = JSON.stringify(change);
    for (const entry of this.#entries.values()) {
      if (entry.kind === 'change' && JSON.stringify(entry.change) === text) return { id: entry.id, added: false };
    }
    if (!this.#makeRoom(runs)) return null;
    const id = `request-${this.#next++}`;
    this.#entries.set(id, { kind: 'change', id, since: this.#now(), change, sentence });
    return { id, added: true };
  }

  /** Whoever asks has made sure that there is a place. */
  addSignIn(ask: SignInAsk): void {
    this.#entries.set(ask.id, { kind: 'sign-in', id: ask.id, since: this.#now(), ask });
  }

  remove(id: string): boolean {
    return this.#entries.delete(id);
  }

  /** True if the owner may be told of a new entry now; counts as told. */
  takeNotice(): boolean {
    if (this.#monotonic() - this.#noticed < NOTICE_MS) return false;
    this.#noticed = this.#monotonic();
    return true;
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
