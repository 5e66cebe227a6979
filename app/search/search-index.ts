import Database from 'better-sqlite3-multiple-ciphers';
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { MailFiles, type MailboxPlace } from '../apple/mail/mail-files.ts';
import { activeMailFolder } from '../apple/mail/mail-folder.ts';
import { readText } from '../apple/mail/mail-texts.ts';
import { openForReading, type IndexKey } from './index-file.ts';
import { IndexReader, type Found, type Hit, type Narrowing } from './index-reader.ts';
import type { IndexOrder, IndexReport, IndexWorkerData } from './index-worker.ts';
import { parseQuery } from './query.ts';
import { windowOf, type SearchRequest } from './search-request.ts';
import { cutSnippet, needlesOf, type Snippet } from './snippet.ts';

export interface SearchIndexOptions {
  /** File of the index; its folder exists. */
  readonly path: string;
  /** `~/Library/Mail`, or a version's folder in it. */
  readonly mailDir: string;
  readonly key: IndexKey;
  /** Place of a physical mailbox, for snippets. */
  readonly place: (mailbox: number) => MailboxPlace | null;
  /** Called whenever the state changed. */
  readonly onState?: (state: IndexState) => void;
  /** The worker's script; of a bundle its own file. */
  readonly worker?: URL;
}

/** All that is to be known of the index, as one value. */
export interface IndexState {
  readonly phase: 'off' | 'opening' | 'comparing' | 'building' | 'paused' | 'ready' | 'failed';
  /** Mails taken in of those that were to be, in this run. */
  readonly done: number;
  readonly total: number;
  /** Mails in the index, and those of them that could not be read whole. */
  readonly mails: number;
  readonly failures: number;
  /** Bytes of the file, and of the text that it stands for. */
  readonly bytes: number;
  readonly textBytes: number;
  /** Unix ms of the last complete comparison with Mail, or null. */
  readonly syncedAt: number | null;
  /** Why it failed, a sentence, or null. */
  readonly trouble: string | null;
}

export interface SearchHit extends Hit {
  /** Null where none was asked for, or nothing of the body is on disk. */
  readonly snippet: Snippet | null;
}

export type SearchAnswer =
  | {
      readonly ok: true;
      readonly hits: readonly SearchHit[];
      readonly count: number;
      /** False if there are more than are counted. */
      readonly isExact: boolean;
      /** `newest`: too many to rank. */
      readonly order: 'best' | 'newest';
      /** True while mails are still missing from the index. */
      readonly isPartial: boolean;
    }
  | { readonly ok: false; readonly reason: string };

const NOTHING = { mails: 0, failures: 0, textBytes: 0, synced: null };
/** Young objects of the worker: texts die at once. */
const WORKER_LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 256 };

/** The full-text index of mail: kept by a thread of its own, searched here. */
export class SearchIndex {
  readonly #options: SearchIndexOptions;
  readonly #files: MailFiles;
  #worker: Worker | null = null;
  #reader: IndexReader | null = null;
  #phase: IndexState['phase'] = 'off';
  #done = 0;
  #total = 0;
  #trouble: string | null = null;
  #isPaused = false;
  #waiting: (() => void)[] = [];

  constructor(options: SearchIndexOptions) {
    this.#options = options;
    this.#files = new MailFiles(activeMailFolder(options.mailDir));
  }

  /** Starts the thread: it opens the index, makes it where there is none, and makes it like Mail's store. */
  start(): void {
    if (this.#worker !== null) return;
    const { path, mailDir, key } = this.#options;
    const workerData: IndexWorkerData = { path, mailDir, key };
    const worker = new Worker(this.#options.worker ?? new URL('./index-worker.ts', import.meta.url), { workerData, resourceLimits: WORKER_LIMITS });
    this.#worker = worker;
    this.#change('opening');
    worker.on('message', (report: IndexReport) => this.#hear(report));
    worker.on('error', () => this.#fail('The index stopped with an error.'));
    worker.on('exit', () => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      if (this.#phase !== 'failed') this.#fail('The index stopped.');
    });
    if (this.#isPaused) this.#tell({ kind: 'pause' });
  }

  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    this.#closeReader();
    if (worker !== null) {
      const gone = new Promise((done) => worker.once('exit', done));
      worker.postMessage({ kind: 'stop' } satisfies IndexOrder);
      await gone;
    }
    this.#change('off');
  }

  /** Work stops after the batch in hand; searching goes on. */
  pause(): void {
    this.#isPaused = true;
    this.#tell({ kind: 'pause' });
    this.#announce();
  }

  resume(): void {
    this.#isPaused = false;
    this.#tell({ kind: 'resume' });
    this.#announce();
  }

  /** Mails that are new or changed, as the tail sees them. */
  take(mails: readonly number[]): void {
    if (mails.length > 0) this.#tell({ kind: 'take', mails });
  }

  /** Compares with Mail's store once more. */
  sync(): void {
    this.#tell({ kind: 'sync' });
  }

  /** Throws the index away and makes it anew. */
  rebuild(): void {
    this.#closeReader();
    this.#change('opening');
    this.#tell({ kind: 'rebuild' });
  }

  /** Resolves once the index is ready, failed or off. */
  async settled(): Promise<void> {
    while (this.#phase !== 'ready' && this.#phase !== 'failed' && this.#phase !== 'off') await new Promise<void>((done) => this.#waiting.push(done));
  }

  state(): IndexState {
    const { mails, failures, textBytes, synced } = this.#counts();
    const isHeld = this.#isPaused && (this.#phase === 'comparing' || this.#phase === 'building');
    return {
      phase: isHeld ? 'paused' : this.#phase, done: this.#done, total: this.#total, mails, failures, bytes: sizeOf(this.#options.path), textBytes, syncedAt: synced,
      trouble: this.#trouble,
    };
  }

  /** Dead letters: mails of which not all could be read. */
  failures(limit = 100): ReturnType<IndexReader['failures']> {
    return this.#open()?.failures(limit) ?? [];
  }

  /** Never throws for what was asked: a refusal is a sentence that names the field. */
  async search(request: SearchRequest): Promise<SearchAnswer> {
    const window = windowOf(request);
    if (typeof window === 'string') return { ok: false, reason: window };
    const parsed = parseQuery(request.query);
    if (!parsed.ok) return parsed;
    const reader = this.#open();
    if (reader === null) return { ok: false, reason: this.#trouble ?? 'The search index is not ready yet.' };
    const { scope = 'all' } = request;
    const narrowing: Narrowing = {
      column: scope === 'all' ? null : scope, mailboxes: request.mailboxes ?? null, exceptMailboxes: request.exceptMailboxes ?? [], after: request.after ?? null,
      before: request.before ?? null, accept: request.accept ?? null,
    };
    let found: Found;
    try {
      found = reader.find(parsed.query, narrowing, window.offset, window.limit);
    } catch (error) {
      if (!(error instanceof Database.SqliteError)) throw error;
      // Locked, damaged, or removed meanwhile: opened anew the next time.
      this.#closeReader();
      return { ok: false, reason: 'The search index cannot be read at the moment.' };
    }
    const needles = request.snippets === false ? null : needlesOf(parsed.query);
    const hits: SearchHit[] = [];
    for (const hit of found.hits) hits.push({ ...hit, snippet: needles === null ? null : await this.#snippet(hit, needles) });
    return { ok: true, hits, count: found.count, isExact: found.isExact, order: found.order, isPartial: this.#phase !== 'ready' };
  }

  async #snippet(hit: Hit, needles: readonly string[]): Promise<Snippet | null> {
    const place = this.#options.place(hit.mailbox);
    if (place === null) return null;
    try {
      const found = await readText(this.#files, place, hit.mail);
      return found === null || found.text === '' ? null : cutSnippet(found.text, needles);
    } catch {
      // A file that may not be read has no snippet; the hit stands.
      return null;
    }
  }

  #hear(report: IndexReport): void {
    if (report.kind === 'progress') {
      this.#done = report.done;
      this.#total = report.total;
      this.#trouble = null;
      this.#change(report.phase);
    } else if (report.kind === 'failed') this.#fail(report.reason);
    else {
      // The file that is open is no longer the one at its path.
      if (report.kind === 'renewed') this.#closeReader();
      this.#announce();
    }
  }

  #fail(reason: string): void {
    this.#trouble = reason;
    this.#change('failed');
  }

  #change(phase: IndexState['phase']): void {
    this.#phase = phase;
    this.#announce();
  }

  #announce(): void {
    for (const done of this.#waiting.splice(0)) done();
    this.#options.onState?.(this.state());
  }

  #tell(order: IndexOrder): void {
    this.#worker?.postMessage(order);
  }

  #counts(): ReturnType<IndexReader['counts']> {
    try {
      return this.#open()?.counts() ?? NOTHING;
    } catch {
      return NOTHING;
    }
  }

  /** Null until the thread has made or opened the file. */
  #open(): IndexReader | null {
    if (this.#reader !== null) return this.#reader;
    if (this.#phase === 'off' || this.#phase === 'opening') return null;
    try {
      this.#reader = new IndexReader(openForReading(this.#options.path, this.#options.key));
    } catch {
      return null;
    }
    return this.#reader;
  }

  #closeReader(): void {
    this.#reader?.close();
    this.#reader = null;
  }
}

function sizeOf(path: string): number {
  return ['', '-wal'].reduce((sum, suffix) => sum + (statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0), 0);
}
