import type { Access } from '../app/contract/values.ts';
import type { Clock } from './clock.ts';

/** What is known of Full Disk Access beyond the engine's own look (ui.md, Full Disk Access). */
export interface AccessFlow {
  /** By the engine's last look. A store that is missing takes nothing away from one that can be read. */
  readonly engine: 'unknown' | 'readable' | 'denied';
  /** The engine is being started again because a fresh process reads. */
  readonly restarting: boolean;
  /** That was done and did not help, or is under way. */
  readonly restarted: boolean;
  /** A fresh process reads and a restarted engine does not: only a restart of the app is left. */
  readonly needsReopen: boolean;
}
export const NO_ACCESS_YET: AccessFlow = { engine: 'unknown', restarting: false, restarted: false, needsReopen: false };

export type AccessSeen =
  | { readonly kind: 'engine'; readonly access: Access }
  /** A process that was started just now; null: it can't tell. */
  | { readonly kind: 'fresh'; readonly readable: boolean | null }
  | { readonly kind: 'engine-up' };

/** `fresh`: let a fresh process look. `restart`: start the engine again, and only the engine. */
export type AccessWish = 'fresh' | 'restart' | null;

/** macOS gives a process its access when it starts: the first thing to try is the engine, the last is the whole app. */
export function nextAccess(flow: AccessFlow, seen: AccessSeen): readonly [AccessFlow, AccessWish] {
  if (seen.kind === 'engine-up') return [{ ...flow, restarting: false }, null];
  if (flow.restarting) return [flow, null];
  if (seen.kind === 'engine') {
    const states = [seen.access.mail.state, seen.access.messages.state];
    if (states.includes('denied')) return [{ ...flow, engine: 'denied' }, 'fresh'];
    return [{ ...NO_ACCESS_YET, engine: states.includes('readable') ? 'readable' : 'unknown' }, null];
  }
  if (seen.readable === null || flow.engine !== 'denied') return [flow, null];
  // Turned off again, or never on.
  if (!seen.readable) return [{ ...flow, restarted: false, needsReopen: false }, null];
  if (!flow.restarted) return [{ ...flow, restarting: true, restarted: true }, 'restart'];
  return [{ ...flow, needsReopen: true }, null];
}

export interface AccessDelegate {
  /** Asks the engine to look now; null while there is none. */
  probeEngine(): Promise<Access | null>;
  /** Starts a process that looks and ends. */
  probeFresh(): Promise<boolean | null>;
  restartEngine(): void;
  /** The step that waits for the permission is on screen. */
  stepShows(): boolean;
  needsReopen(value: boolean): void;
}

const STEP_MS = 1000;
const REGULAR_MS = 600_000;
/** A process for each look of a page that looks every second would be too much. */
const FRESH_MS = 3000;

/** When to look, and what follows from it: every second while the step shows, on focus and wake, else every ten minutes. */
export class AccessWatch {
  readonly #delegate: AccessDelegate;
  readonly #clock: Clock;
  #flow = NO_ACCESS_YET;
  #looking: Promise<void> | null = null;
  #freshAt = -Infinity;
  #cancels: (() => void)[] = [];

  constructor(delegate: AccessDelegate, clock: Clock) {
    this.#delegate = delegate;
    this.#clock = clock;
  }

  start(): void {
    this.#cancels = [
      this.#clock.every(STEP_MS, () => {
        if (this.#delegate.stepShows()) void this.look();
      }),
      this.#clock.every(REGULAR_MS, () => void this.look()),
    ];
  }

  stop(): void {
    for (const cancel of this.#cancels) cancel();
  }

  engineUp(): void {
    this.#see({ kind: 'engine-up' });
    void this.look();
  }

  /** One look at a time: who asks meanwhile gets that one. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => { this.#looking = null; });
    return this.#looking;
  }

  /** As the page asks for it. */
  async fresh(): Promise<boolean | null> {
    this.#freshAt = this.#clock.monotonic();
    const readable = await this.#delegate.probeFresh();
    this.#see({ kind: 'fresh', readable });
    return readable;
  }

  async #look(): Promise<void> {
    const access = await this.#delegate.probeEngine();
    if (access === null) return;
    const wish = this.#see({ kind: 'engine', access });
    if (wish === 'fresh' && this.#clock.monotonic() - this.#freshAt >= FRESH_MS) await this.fresh();
  }

  #see(seen: AccessSeen): AccessWish {
    const before = this.#flow;
    const [flow, wish] = nextAccess(before, seen);
    this.#flow = flow;
    if (flow.needsReopen !== before.needsReopen) this.#delegate.needsReopen(flow.needsReopen);
    if (wish === 'restart') this.#delegate.restartEngine();
    return wish;
  }
}
