import type { MessagePort } from 'node:worker_threads';
import { StoreError } from '../apple/reader.ts';
import { isDamage, openForWriting, removeIndex, type IndexKey, type OpenedIndex } from './index-file.ts';
import { IndexWriter, type IndexFailures } from './index-writer.ts';
import { Indexer, type IndexProgress } from './indexer.ts';
import { MailSource } from './mail-source.ts';
import { Remains } from './remains.ts';

/** Mailboxes and labels outside which nothing is indexed; null: none. `number` tells one wish from the next. */
export interface IndexBound {
  readonly number: number;
  readonly mailboxes: readonly number[] | null;
}

/** The thread that keeps the index: the only one that writes to it. */
export interface KeeperData {
  readonly role: 'keep';
  readonly path: string;
  readonly mailDir: string;
  readonly key: IndexKey;
  readonly bound: IndexBound;
  readonly isPaused: boolean;
  /** One-time codes are left out of it. */
  readonly hidesCodes: boolean;
}

export type IndexOrder =
  | { readonly kind: 'pause' | 'resume' | 'sync' | 'rebuild' | 'stop' }
  | { readonly kind: 'take'; readonly mails: readonly number[] }
  /** Mail's store changed; `number` tells one time from the next. */
  | { readonly kind: 'follow'; readonly number: number }
  | { readonly kind: 'bound'; readonly bound: IndexBound }
  | { readonly kind: 'codes'; readonly hidden: boolean };

/** What is in the index. */
export interface IndexCounts {
  readonly mails: number;
  readonly textBytes: number;
  readonly deadLetters: readonly IndexFailures[];
  /** Some of those mails, for a client that may not read all. */
  readonly deadMails: readonly number[];
  /** Unix ms of the last complete comparison with Mail, or null. */
  readonly syncedAt: number | null;
}

export type IndexReport =
  | ({ readonly kind: 'progress' } & IndexProgress & { readonly counts: IndexCounts })
  | { readonly kind: 'taken'; readonly counts: IndexCounts }
  /** What changed in Mail's store up to this order is in the index. */
  | { readonly kind: 'followed'; readonly number: number; readonly counts: IndexCounts }
  /** It is made anew: as was asked; the file could not be used; Mail has another store; codes are hidden from now on, or no more; most of it left. */
  | { readonly kind: 'renewed'; readonly why: 'asked' | 'unusable' | 'other-store' | 'codes' | 'left' }
  /** Nothing outside this bound is in the index any more. */
  | { readonly kind: 'bounded'; readonly number: number }
  | { readonly kind: 'failed'; readonly reason: string };

/** Mails that came while something else was done, at most: more are found by a comparison. */
const MAX_QUEUE = 10_000;
const TAKEN = 500;
const MOST_DEAD = 500;
/** When a mail without a file is looked at once more. */
const LOOK_AGAIN_MS = [5000, 30_000, 600_000];
/** Between two comparisons of the store alone lies so many times what one takes, and no more than the most. */
const REST = 50;
const MOST_REST_MS = 50_000;

/** A store that is busy or gone is tried again after this long, or as soon as something is asked for. */
const BUSY_MS = 500;
const GONE_MS = 30_000;
/** A search read the file just when the last of what left was to go out of it. */
const READ_MS = 1000;

type Why = (IndexReport & { kind: 'renewed' })['why'];

export function keep(port: MessagePort, data: KeeperData): void {
  const keeper = new IndexKeeper(data, (report) => port.postMessage(report));
  port.on('message', (order: IndexOrder) => keeper.hear(order));
  keeper.work().catch((error: unknown) => port.postMessage({ kind: 'failed', reason: writeTrouble(error) } satisfies IndexReport)).finally(() => port.close());
}

/** Neither path nor text of a mail: an error's own message may hold both. A wrong key is the caller's. */
function writeTrouble(error: unknown): string {
  if (error instanceof RangeError) return error.message;
  const { code } = error as { code?: string };
  return `The index could not be written: ${code === 'SQLITE_FULL' ? 'the disk is full' : (code ?? 'unknown error')}.`;
}

/** What is asked of it is heard between two batches, and the last word counts. */
class IndexKeeper {
  readonly #data: KeeperData;
  readonly #report: (report: IndexReport) => void;
  readonly #queue = new Set<number>();
  /** Mails that had no file when they were taken in: they are looked for again, once. */
  readonly #seen = new Set<number>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #source: MailSource;
  #db: OpenedIndex['db'] | null = null;
  #writer!: IndexWriter;
  #wake: () => void = () => undefined;
  #isPaused: boolean;
  #isStopped = false;
  #wantsSync = true;
  #wantsRebuild = false;
  /** The last order to follow; what was followed; and from when on it may be again, ms of this process. */
  #follow = 0;
  #followed = 0;
  #followFrom = 0;
  #remains!: Remains;
  #remainsTimer: NodeJS.Timeout | null = null;
  #bound: IndexBound;
  /** The bound changed: what goes on is begun anew with it. */
  #isRebound = false;
  #wasDamaged = false;
  #hidesCodes: boolean;

  constructor(data: KeeperData, report: (report: IndexReport) => void) {
    this.#data = data;
    this.#report = report;
    this.#isPaused = data.isPaused;
    this.#bound = data.bound;
    this.#hidesCodes = data.hidesCodes;
    this.#source = new MailSource(data.mailDir);
  }

  hear(order: IndexOrder): void {
    switch (order.kind) {
      case 'take': return this.#enqueue(order.mails);
      case 'follow': {
        this.#follow = order.number;
        const rest = this.#followFrom - performance.now();
        if (rest <= 0) break;
        this.#after(rest, () => this.#wake());
        return;
      }
      case 'bound':
        this.#bound = order.bound;
        this.#isRebound = true;
        this.#wantsSync = true;
        break;
      case 'codes':
        this.#hidesCodes = order.hidden;
        this.#wantsSync = true;
        break;
      case 'sync': this.#wantsSync = true; break;
      case 'rebuild': this.#wantsRebuild = true; break;
      case 'stop': this.#isStopped = true; break;
      case 'pause': this.#isPaused = true; break;
      case 'resume': this.#isPaused = false; break;
    }
    this.#wake();
  }

  /** Until it is told to stop. @throws what the index itself cannot do: a disk that is full, a key that is none */
  async work(): Promise<void> {
    try {
      if (this.#open()) this.#report({ kind: 'renewed', why: 'unusable' });
      while (!this.#isStopped) {
        try {
          await this.#turn();
        } catch (error) {
          await this.#recover(error);
          continue;
        }
        if (!this.#wantsSync && !this.#wantsRebuild && !this.#isStopped && !this.#hasPiece()) await this.#woken();
      }
    } finally {
      for (const timer of this.#timers) clearTimeout(timer);
      this.#source.close();
      this.#db?.close();
    }
  }

  /** Brings the index up to what is wanted now. @throws StoreError, and errors of the index */
  async #turn(): Promise<void> {
    if (this.#wantsRebuild) {
      this.#wantsRebuild = false;
      this.#renew('asked');
    }
    this.#isRebound = false;
    const { number, mailboxes } = this.#bound;
    this.#source.bound(mailboxes);
    this.#source.open();
    // Row ids of another store mean other mails.
    const store = this.#source.storeId();
    if (this.#writer.meta('store') !== undefined && this.#writer.meta('store') !== store) this.#renew('other-store');
    const codes = this.#hidesCodes ? 'hidden' : 'shown';
    if (this.#writer.meta('codes') !== codes && this.#writer.meta('synced') !== undefined) this.#renew('codes');
    this.#writer.setMeta('store', store);
    this.#writer.setMeta('codes', codes);
    this.#source.hidesCodes = this.#hidesCodes;
    const indexer = new Indexer(this.#writer, this.#source, {
      now: Date.now,
      onProgress: (progress) => this.#report({ kind: 'progress', ...progress, counts: this.#counts() }),
      onCompared: () => this.#report({ kind: 'bounded', number }),
      onLeft: (why) => this.#remains.note(why),
      mayGoOn: () => this.#mayGoOn(),
      urgent: () => this.#taken(),
    });
    if (this.#wantsSync) {
      this.#wantsSync = false;
      const outcome = await indexer.sync();
      if (outcome === 'done') this.#wasDamaged = false;
      else this.#wantsSync = true;
      if (outcome === 'anew') this.#renew('left');
    } else if (this.#hasPiece() && (await this.#mayGoOn()) === 'go') await this.#goOn(indexer);
    this.#remind();
  }

  #hasPiece(): boolean {
    return this.#queue.size > 0 || this.#mayFollow() || this.#remains.dueIn() === 0;
  }

  #mayFollow(): boolean {
    return this.#follow !== this.#followed && performance.now() >= this.#followFrom;
  }

  /** One piece of what is to be done beside comparing all: what came first. */
  async #goOn(indexer: Indexer): Promise<void> {
    if (this.#queue.size > 0) {
      this.#lookAgain(await indexer.take(this.#taken()));
      this.#report({ kind: 'taken', counts: this.#counts() });
    } else if (this.#mayFollow()) {
      const [number, from] = [this.#follow, performance.now()];
      if (!(await indexer.follow())) this.#wantsSync = true;
      this.#followed = number;
      this.#followFrom = performance.now() + Math.min(MOST_REST_MS, REST * (performance.now() - from));
      this.#report({ kind: 'followed', number, counts: this.#counts() });
    } else if (this.#remains.dueIn() === 0 && !this.#remains.step()) await new Promise<void>((done) => this.#after(READ_MS, done));
  }

  /** What left is to go out of the file in a while. */
  #remind(): void {
    const due = this.#remains.dueIn();
    if (due === null || due === 0 || this.#remainsTimer !== null) return;
    this.#remainsTimer = this.#after(due, () => {
      this.#remainsTimer = null;
      this.#wake();
    });
  }

  async #recover(error: unknown): Promise<void> {
    this.#wantsSync = true;
    // A copy of what Mail has: made anew once. A second time in a row it is not the file's fault.
    if (isDamage(error) && !this.#wasDamaged) {
      this.#wasDamaged = true;
      return this.#renew('unusable');
    }
    if (!(error instanceof StoreError)) throw error;
    this.#source.close();
    const isBusy = error.kind === 'busy';
    if (!isBusy) this.#report({ kind: 'failed', reason: error.message });
    if (this.#isStopped || this.#wantsRebuild) return;
    this.#after(isBusy ? BUSY_MS : GONE_MS, () => this.#wake());
    await this.#woken();
  }

  /** @returns whether a file was there that could not be used */
  #open(): boolean {
    const { db, isReplaced } = openForWriting(this.#data.path, this.#data.key);
    this.#db = db;
    this.#writer = new IndexWriter(db);
    this.#remains = new Remains(db, this.#writer);
    return isReplaced;
  }

  #renew(why: Why): void {
    this.#db?.close();
    this.#db = null;
    removeIndex(this.#data.path);
    this.#open();
    this.#wantsSync = true;
    this.#report({ kind: 'renewed', why });
  }

  #counts(): IndexCounts {
    const synced = this.#writer.meta('synced');
    return { mails: this.#writer.mails, textBytes: this.#writer.textBytes, deadLetters: this.#writer.failures(), deadMails: this.#writer.failed(MOST_DEAD), syncedAt: typeof synced === 'number' ? synced : null };
  }

  async #mayGoOn(): Promise<'go' | 'stop'> {
    for (;;) {
      // Orders are heard here.
      await new Promise<void>((done) => { setImmediate(done); });
      if (this.#isStopped || this.#wantsRebuild || this.#isRebound) return 'stop';
      if (!this.#isPaused) return 'go';
      await this.#woken();
    }
  }

  #woken(): Promise<void> {
    return new Promise((done) => { this.#wake = done; });
  }

  #enqueue(mails: readonly number[]): void {
    for (const mail of mails) this.#queue.add(mail);
    if (this.#queue.size > MAX_QUEUE) {
      this.#queue.clear();
      this.#wantsSync = true;
    }
    this.#wake();
  }

  #taken(): number[] {
    const mails = [...this.#queue].slice(0, TAKEN);
    for (const mail of mails) this.#queue.delete(mail);
    return mails;
  }

  /** The row of a new mail is often there before its file (data-formats/envelope-index 6). */
  #lookAgain(bodiless: readonly number[]): void {
    const mails = bodiless.filter((mail) => !this.#seen.has(mail));
    for (const mail of mails) this.#seen.add(mail);
    if (this.#seen.size > MAX_QUEUE) this.#seen.clear();
    if (mails.length > 0) for (const ms of LOOK_AGAIN_MS) this.#after(ms, () => this.#enqueue(mails));
  }

  #after(ms: number, work: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms);
    this.#timers.add(timer);
    return timer;
  }
}
