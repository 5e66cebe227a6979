import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { MailReader } from '../apple/reader.ts';
import { searchOff, type DeadLetters, type SearchState } from '../contract/search.ts';
import type { ContractOutcome } from '../contract/values.ts';
import type { Clock } from '../events/clock.ts';
import type { Policy } from '../policy/policy.ts';
import { removeIndex, type IndexKey } from '../search/index-file.ts';
import { SearchIndex, type IndexState } from '../search/search-index.ts';
import { describeFault } from './log.ts';
import { mailboxNames } from './mailbox-names.ts';

export interface SearchHostOptions {
  readonly dataDir: string;
  readonly mailDir: string;
  /** Null: nothing keeps a key, and the owner did not ask for an index without one. */
  readonly key: IndexKey | null;
  readonly kind: 'serve' | 'app';
  readonly policy: Pick<Policy, 'searched' | 'settings' | 'pausedUntil' | 'hides' | 'excludesMail'>;
  readonly clock: Clock;
  /** Mail's index while it is read: not for an event that is off. */
  readonly mail: () => MailReader | null;
  /** The threads' script. */
  readonly worker: URL;
  readonly changed: () => void;
  readonly log: (sentence: string) => void;
}

/** Arrivals are handed over together, this long after the first of them: their events went out before. */
const HAND_OVER_MS = 100;
/** Labels, marks, moves and removals make no row that the tail would hand over: the index follows the store so long after it changed. */
const FOLLOW_MS = 2000;
/** If it has not followed by then, it is not said to be ready. */
const LATE_MS = 60_000;
/** Files come without a change of the store. */
const COMPARE_MS = 3_600_000;
const RETRY_MS = 600_000;
const NOWHERE: readonly never[] = [];

const NO_KEY = {
  serve: 'There is no search index: a headless engine keeps no key to encrypt it with. "belfry serve --plain-index" makes one that is not encrypted.',
  app: 'There is no search index: the keychain gave no key to encrypt it with.',
} as const;
const NOBODY = 'There is no search index: no client may search mail.';

/**
 * Whether there is an index of mail at all, and when it works. It is there only while a client may search mail: the last such grant
 * takes the file along. While Belfry is paused or Mail is not read, nothing runs and the file stays.
 */
export class SearchHost {
  readonly #options: SearchHostOptions;
  readonly #path: string;
  readonly #cancels: readonly (() => void)[];
  #index: SearchIndex | null = null;
  #last: IndexState | null = null;
  #standing: { readonly phase: SearchState['phase']; readonly at: number };
  #onBattery = false;
  #stopped = false;
  #turn: Promise<void> = Promise.resolve();
  #arrived: number[] = [];
  /** When the store changed first since the index followed it, Unix ms; null: it is up to date. */
  #changedAt: number | null = null;
  #cancelFollow: (() => void) | null = null;

  constructor(options: SearchHostOptions) {
    this.#options = options;
    this.#path = join(options.dataDir, 'search', 'mail.db');
    this.#standing = { phase: 'off', at: options.clock.now() };
    this.#cancels = [
      options.clock.every(COMPARE_MS, () => this.#index?.sync()),
      options.clock.every(RETRY_MS, () => this.#retry()),
    ];
  }

  /** The index while it can be asked, else a sentence. */
  get index(): SearchIndex | string {
    if (this.#index !== null) return this.#index;
    return this.state().sentence ?? 'The search index is not read at the moment.';
  }

  state(): SearchState {
    const { key, kind } = this.#options;
    const wish = this.#wish();
    if (wish === 'off') return searchOff;
    const { at } = this.#standing;
    if (wish === 'unavailable') return { ...searchOff, phase: wish, since: at, sentence: NO_KEY[kind] };
    const state = this.#index?.state() ?? this.#last;
    const encrypted = key !== null && 'key' in key;
    const isHeld = wish !== 'run';
    const known = state?.phase === 'ready' ? this.#readiness : state?.phase;
    const phase = isHeld ? wish : known === undefined || known === 'off' ? 'opening' : known;
    const pausedBy = wish === 'paused' ? 'owner' : phase === 'paused' ? 'battery' : null;
    if (state === null) return { ...searchOff, phase, pausedBy, since: at, encrypted };
    const { counts: { mails, textBytes, deadLetters, syncedAt }, pending, perSecond, since, trouble } = state;
    return {
      phase, pausedBy, since: isHeld ? at : since, sentence: isHeld ? null : trouble, encrypted, indexed: mails, total: mails + pending, pending, perSecond: isHeld ? null : perSecond,
      deadLetters: deadLetters.map(({ reason, count }) => ({ reason, count })), get bytes() { return state.bytes; }, textBytes, syncedAt,
    };
  }

  /** Which mails could not be read whole. */
  deadLetters(): DeadLetters[] {
    const names = mailboxNames(this.#options.mail());
    return (this.#index?.state() ?? this.#last)?.counts.deadLetters.map(({ reason, count, mails }) => ({
      reason, count,
      mails: mails.map(({ mail, mailbox, date }) => ({ row: mail, mailbox: (mailbox === null ? null : names.get(mailbox)) ?? null, date: date === null ? null : date * 1000 })),
    })) ?? [];
  }

  /** After each change of policy, of the store and of power. */
  refresh(): void {
    this.#turn = this.#turn.then(() => this.#become()).catch((error: unknown) => this.#options.log(`search: ${describeFault(error)}`));
  }

  onBattery(isOn: boolean): void {
    this.#onBattery = isOn;
    this.refresh();
  }

  /** A row of mail was judged, and its event went out if it has one. */
  arrived(rowid: number): void {
    if (this.#index === null) return;
    if (this.#arrived.length === 0) this.#options.clock.after(HAND_OVER_MS, () => this.#handOver());
    this.#arrived.push(rowid);
  }

  /** Something was committed to Mail's store. Called for each commit, so it is cheap. */
  changed(): void {
    if (this.#index === null || this.#cancelFollow !== null) return;
    this.#changedAt ??= this.#options.clock.now();
    this.#cancelFollow = this.#options.clock.after(FOLLOW_MS, () => {
      this.#cancelFollow = null;
      if (this.#rebound()) this.#index?.follow();
    });
  }

  /** Another store is there. */
  compare(): void {
    this.#index?.sync();
  }

  rebuild(): ContractOutcome {
    const { index } = this;
    if (typeof index === 'string') return { ok: false, code: 'nothing', message: this.#wish() === 'off' ? NOBODY : index };
    index.rebuild();
    return { ok: true, changed: true, sentence: 'The search index is made anew.' };
  }

  /** Resolves once what was asked for so far is so. */
  async settled(): Promise<void> {
    await this.#turn;
    await this.#index?.settled();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const cancel of this.#cancels) cancel();
    this.refresh();
    await this.#turn;
  }

  #wish(): 'off' | 'unavailable' | 'paused' | 'waiting' | 'run' {
    const { policy, key, mail } = this.#options;
    if (!policy.searched('mail')) return 'off';
    if (key === null) return 'unavailable';
    if (policy.pausedUntil !== null) return 'paused';
    return mail() === null ? 'waiting' : 'run';
  }

  async #become(): Promise<void> {
    const wish = this.#stopped ? 'stopped' : this.#wish();
    if (wish !== 'stopped' && wish !== this.#standing.phase) this.#standing = { phase: wish === 'run' ? 'opening' : wish, at: this.#options.clock.now() };
    const mail = this.#options.mail();
    if (wish === 'run' && mail !== null) this.#run(mail);
    else if (this.#index !== null) {
      this.#last = this.#index.state();
      const index = this.#index;
      this.#index = null;
      this.#cancelFollow?.();
      this.#cancelFollow = null;
      this.#changedAt = null;
      await index.stop();
    }
    if ((wish === 'off' || wish === 'unavailable') && existsSync(this.#path)) {
      removeIndex(this.#path);
      this.#last = null;
    }
    if (wish !== 'stopped') this.#options.changed();
  }

  #run(mail: MailReader): void {
    const { dataDir, mailDir, key, clock, worker, log } = this.#options;
    const isNew = this.#index === null;
    if (isNew) {
      mkdirSync(join(dataDir, 'search'), { recursive: true, mode: 0o700 });
      this.#index = new SearchIndex({ path: this.#path, mailDir, key: key!, clock, worker, places: () => this.#options.mail()?.mailboxes() ?? NOWHERE, folder: () => dirname(dirname(mail.path)), onState: () => this.#heard(), onAnew: log });
    }
    const index = this.#index!;
    index.bound(this.#bound(mail));
    index.hideCodes(this.#options.policy.settings.hideCodes);
    index.pause(this.#isPaused);
    if (isNew) index.start();
    else this.#retry();
  }

  get #isPaused(): boolean {
    return this.#onBattery && !this.#options.policy.settings.indexOnBattery;
  }

  /** An index that is ready as far as it knows. */
  get #readiness(): 'ready' | 'paused' | 'comparing' {
    if (this.#changedAt === null) return 'ready';
    if (this.#isPaused) return 'paused';
    return this.#options.clock.now() - this.#changedAt > LATE_MS ? 'comparing' : 'ready';
  }

  #heard(): void {
    if (this.#cancelFollow === null && this.#index?.isFollowed === true) this.#changedAt = null;
    this.#options.changed();
  }

  #retry(): void {
    if (this.#index?.state().phase !== 'failed') return;
    this.#index.start();
    this.#index.sync();
  }

  #handOver(): void {
    const rows = this.#arrived;
    this.#arrived = [];
    if (this.#rebound()) this.#index?.take(rows);
  }

  /** A mailbox that is new counts as excluded until it is known not to be. False: what comes while Mail is not read is found by a comparison afterwards. */
  #rebound(): boolean {
    const mail = this.#options.mail();
    if (this.#index === null || mail === null) return false;
    this.#index.bound(this.#bound(mail));
    return true;
  }

  /** Mailboxes and labels that are not excluded; null: nothing is. */
  #bound(mail: MailReader): number[] | null {
    const { policy } = this.#options;
    if (!policy.excludesMail) return null;
    return mail.mailboxes().filter((mailbox) => !policy.hides(mailbox)).map(({ id }) => id);
  }
}
