import { join } from 'node:path';
import type { ShellState } from '../app/contract/shell.ts';
import type { ContractOutcome } from '../app/contract/values.ts';
import type { Clock } from './clock.ts';

/** Where newer versions come from. */
export interface UpdateSource {
  /** Looks for a newer version and fetches it. @returns its version once it is here whole, or null. Rejects where that fails. */
  fetch(): Promise<string | null>;
  /** Puts the fetched version in place: the app quits and opens again. */
  install(): void;
}

export interface UpdatesDelegate {
  /** Whether to look without being asked. */
  automatic(): boolean;
  /** Requests of clients that the engine has not answered yet; 0 without an engine. */
  answering(): Promise<number>;
  changed(update: ShellState['update']): void;
  /** Before the app is replaced: the engine ends cleanly. */
  prepare(): Promise<void>;
}

/** Where the updater and macOS's installer keep what was fetched: named by package and bundle id. */
export const updateCaches = (home: string): readonly string[] => ['belfry-updater', 'dev.belfry.Belfry.ShipIt'].map((name) => join(home, 'Library', 'Caches', name));

const FIRST_LOOK_MS = 60_000;
const LOOK_MS = 6 * 3_600_000;
/** Between two questions whether a client still waits. */
const RETRY_MS = 1000;

/**
 * Updates of the app: off without a source. What is newer is fetched, and put in place only when the owner says so and no
 * client waits for an answer.
 */
export class Updates {
  readonly #source: UpdateSource | null;
  readonly #delegate: UpdatesDelegate;
  readonly #clock: Clock;
  #update: ShellState['update'];
  #looking: Promise<void> | null = null;
  #restarting = false;
  #cancels: (() => void)[] = [];

  constructor(source: UpdateSource | null, delegate: UpdatesDelegate, clock: Clock) {
    this.#source = source;
    this.#delegate = delegate;
    this.#clock = clock;
    this.#update = { state: source === null ? 'off' : 'none', version: null };
  }

  get update(): ShellState['update'] {
    return this.#update;
  }

  start(): void {
    if (this.#source === null) return;
    const look = () => {
      if (this.#delegate.automatic()) void this.check();
    };
    this.#cancels = [this.#clock.after(FIRST_LOOK_MS, look), this.#clock.every(LOOK_MS, look)];
  }

  stop(): void {
    for (const cancel of this.#cancels) cancel();
  }

  /** One look at a time: who asks meanwhile gets that one. */
  async check(): Promise<ContractOutcome> {
    const source = this.#source;
    if (source === null) return OFF;
    if (this.#update.state !== 'ready') {
      this.#looking ??= this.#look(source).finally(() => { this.#looking = null; });
      await this.#looking;
    }
    switch (this.#update.state) {
      case 'ready':
        return { ok: true, changed: true, sentence: `Belfry ${this.#update.version ?? ''} is ready. Restart to update.` };
      case 'failed':
        return { ok: false, code: 'refused', message: "Couldn't check for updates. Belfry tries again later." };
      default:
        return { ok: true, changed: false, sentence: 'Belfry is up to date.' };
    }
  }

  /** At once, or as soon as no client waits for an answer. */
  async restart(): Promise<ContractOutcome> {
    const source = this.#source;
    if (source === null) return OFF;
    if (this.#update.state !== 'ready') return { ok: false, code: 'refused', message: 'No update is ready.' };
    const free = await this.#free();
    if (!this.#restarting) {
      this.#restarting = true;
      void this.#install(source, free);
    }
    return free ? { ok: true, changed: true, sentence: 'Belfry is restarting.' }
      : { ok: true, changed: false, sentence: 'A client waits for an answer. Belfry restarts once it has it.' };
  }

  async #look(source: UpdateSource): Promise<void> {
    this.#set({ state: 'checking', version: null });
    try {
      const version = await source.fetch();
      this.#set(version === null ? { state: 'none', version: null } : { state: 'ready', version });
    } catch {
      this.#set({ state: 'failed', version: null });
    }
  }

  async #free(): Promise<boolean> {
    return (await this.#delegate.answering().catch(() => 0)) === 0;
  }

  async #install(source: UpdateSource, free: boolean): Promise<void> {
    if (!free) {
      this.#cancels.push(this.#clock.after(RETRY_MS, () => void this.#free().then((now) => this.#install(source, now))));
      return;
    }
    await this.#delegate.prepare();
    source.install();
  }

  #set(update: ShellState['update']): void {
    this.#update = update;
    this.#delegate.changed(update);
  }
}

const OFF: ContractOutcome = { ok: false, code: 'refused', message: "This build doesn't update itself." };
