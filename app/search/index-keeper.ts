import type { MessagePort } from 'node:worker_threads';
import { StoreError } from '../apple/reader.ts';
import { isDamage, openForWriting, removeIndex, type IndexKey } from './index-file.ts';
import { IndexWriter } from './index-writer.ts';
import { Indexer, type IndexProgress } from './indexer.ts';
import { MailSource } from './mail-source.ts';

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
}

export type IndexOrder =
  | { readonly kind: 'pause' | 'resume' | 'sync' | 'rebuild' | 'stop' }
  | { readonly kind: 'take'; readonly mails: readonly number[] }
  | { readonly kind: 'bound'; readonly bound: IndexBound };

/** What is in the index. */
export interface IndexCounts {
  readonly mails: number;
  readonly textBytes: number;
  readonly deadLetters: readonly { readonly reason: string; readonly count: number }[];
  /** Unix ms of the last complete comparison with Mail, or null. */
  readonly syncedAt: number | null;
}

export type IndexReport =
  | ({ readonly kind: 'progress' } & IndexProgress & { readonly counts: IndexCounts })
  | { readonly kind: 'taken'; readonly counts: IndexCounts }
  /** It is made anew: as was asked, or because the file could not be used, or Mail has another store. */
  | { readonly kind: 'renewed'; readonly why: 'asked' | 'unusable' | 'other-store' }
  /** Nothing outside this bound is in the index any more. */
  | { readonly kind: 'bounded'; readonly number: number }
  | { readonly kind: 'failed'; readonly reason: string };

/** Mails that came while something else was done, at most: more are found by a comparison. */
const MAX_QUEUE = 10_000;
const TAKEN = 500;
/** When a mail without a file is looked at once more. */
const LOOK_AGAIN_MS = [30_000, 600_000];

/** What the owner of the thread wants, as of its last message. */
interface Wishes {
  isPaused: boolean;
  isStopped: boolean;
  sync: boolean;
  rebuild: boolean;
  bound: IndexBound;
  /** The bound changed: what goes on is begun anew with it. */
  isRebound: boolean;
}

export function keep(port: MessagePort, { path, mailDir, key, bound, isPaused }: KeeperData): void {
  const wishes: Wishes = { isPaused, isStopped: false, sync: true, rebuild: false, bound, isRebound: false };
  const queue = new Set<number>();
  const timers = new Set<NodeJS.Timeout>();
  let wake: () => void = () => undefined;
  const report = (message: IndexReport): void => port.postMessage(message);
  const enqueue = (mails: readonly number[]): void => {
    for (const mail of mails) queue.add(mail);
    if (queue.size > MAX_QUEUE) {
      queue.clear();
      wishes.sync = true;
    }
    wake();
  };

  port.on('message', (order: IndexOrder) => {
    if (order.kind === 'take') return enqueue(order.mails);
    if (order.kind === 'bound') {
      wishes.bound = order.bound;
      wishes.isRebound = true;
      wishes.sync = true;
    } else if (order.kind === 'sync') wishes.sync = true;
    else if (order.kind === 'rebuild') wishes.rebuild = true;
    else if (order.kind === 'stop') wishes.isStopped = true;
    else wishes.isPaused = order.kind === 'pause';
    wake();
  });
  const woken = (): Promise<void> => new Promise((done) => { wake = done; });
  // Messages of the port are heard between two batches only.
  const breath = (): Promise<void> => new Promise((done) => { setImmediate(done); });
  const mayGoOn = async (): Promise<'go' | 'stop'> => {
    for (;;) {
      await breath();
      if (wishes.isStopped || wishes.rebuild || wishes.isRebound) return 'stop';
      if (!wishes.isPaused) return 'go';
      await woken();
    }
  };
  const taken = (): number[] => {
    const mails = [...queue].slice(0, TAKEN);
    for (const mail of mails) queue.delete(mail);
    return mails;
  };
  /** The row of a new mail is often there before its file (data-formats/envelope-index 6). */
  const lookAgain = (mails: readonly number[], times: readonly number[]): void => {
    const [first, ...rest] = times;
    if (mails.length === 0 || first === undefined) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      enqueue(mails);
      if (rest.length > 0) lookAgain(mails, rest);
    }, first);
    timers.add(timer);
  };

  const work = async (): Promise<void> => {
    let opened = openForWriting(path, key);
    let writer = new IndexWriter(opened.db);
    const renew = (why: (IndexReport & { kind: 'renewed' })['why']): void => {
      opened.db.close();
      removeIndex(path);
      opened = openForWriting(path, key);
      writer = new IndexWriter(opened.db);
      report({ kind: 'renewed', why });
    };
    if (opened.isReplaced) report({ kind: 'renewed', why: 'unusable' });
    let wasDamaged = false;
    const source = new MailSource(mailDir);
    const countsOf = (): IndexCounts => {
      const synced = writer.meta('synced');
      return { mails: writer.mails, textBytes: writer.textBytes, deadLetters: writer.failures(), syncedAt: typeof synced === 'number' ? synced : null };
    };
    const seen = new Set<number>();
    try {
      while (!wishes.isStopped) {
        try {
          if (wishes.rebuild) {
            renew('asked');
            wishes.rebuild = false;
            wishes.sync = true;
          }
          wishes.isRebound = false;
          const { number, mailboxes } = wishes.bound;
          source.bound(mailboxes);
          source.open();
          // Row ids of another store mean other mails.
          if (writer.meta('store') !== undefined && writer.meta('store') !== source.storeId()) renew('other-store');
          writer.setMeta('store', source.storeId());
          const indexer = new Indexer(writer, source, { now: Date.now, onProgress: (progress) => report({ kind: 'progress', ...progress, counts: countsOf() }), onCompared: () => report({ kind: 'bounded', number }), mayGoOn, urgent: taken });
          if (wishes.sync) {
            wishes.sync = false;
            if (await indexer.sync()) wasDamaged = false;
            else wishes.sync = true;
          } else if (queue.size > 0 && (await mayGoOn()) === 'go') {
            const bodiless = (await indexer.take(taken())).filter((mail) => !seen.has(mail));
            for (const mail of bodiless) seen.add(mail);
            if (seen.size > MAX_QUEUE) seen.clear();
            lookAgain(bodiless, LOOK_AGAIN_MS);
            report({ kind: 'taken', counts: countsOf() });
          }
        } catch (error) {
          // A copy of what Mail has: made anew once. A second time in a row it is not the file's fault.
          if (isDamage(error) && !wasDamaged) {
            wasDamaged = true;
            renew('unusable');
            wishes.sync = true;
            continue;
          }
          if (!(error instanceof StoreError)) throw error;
          // Told, and tried again when something is asked for.
          source.close();
          wishes.sync = true;
          report({ kind: 'failed', reason: error.message });
          if (!wishes.isStopped && !wishes.rebuild) await woken();
          continue;
        }
        if (!wishes.sync && !wishes.rebuild && queue.size === 0 && !wishes.isStopped) await woken();
      }
    } finally {
      for (const timer of timers) clearTimeout(timer);
      source.close();
      opened.db.close();
    }
  };
  work().then(
    () => port.close(),
    (error: unknown) => {
      // Neither path nor text of a mail: an error's own message may hold both. A wrong key is the caller's.
      if (error instanceof RangeError) report({ kind: 'failed', reason: error.message });
      else report({ kind: 'failed', reason: `The index could not be written: ${(error as { code?: string }).code === 'SQLITE_FULL' ? 'the disk is full' : ((error as { code?: string }).code ?? 'unknown error')}.` });
      port.close();
    },
  );
}
