import type { FileState, IndexWriter, KnownMail } from './index-writer.ts';
import type { MailSource, SourceRow } from './mail-source.ts';
import type { Departure } from './remains.ts';
import { WordSample } from './word-sample.ts';

/** How far the index is. Counts of mails. */
export interface IndexProgress {
  readonly phase: 'comparing' | 'building' | 'ready';
  readonly done: number;
  readonly total: number;
}

export interface IndexerHost {
  /** Unix ms. */
  now(): number;
  onProgress(progress: IndexProgress): void;
  /** Resolves at once, or once work may go on; `stop` ends the run after what is in hand. */
  mayGoOn(): Promise<'go' | 'stop'>;
  /** What left the store, or is no longer to be in the index, is out of it. */
  onCompared(): void;
  /** Mails were taken out of the index. */
  onLeft(why: Departure): void;
  /** Mails that came meanwhile: they go in before the next batch of old ones. */
  urgent(): readonly number[];
}

/** Mails read and written together. One transaction, and one segment of the full-text tables. */
const BATCH = 500;
/** Of an index of so many mails, where more than this share is to go, making it anew for the rest is quicker, and nothing of the others remains. */
const ANEW_MAILS = 1000;
const ANEW_SHARE = 0.8;

/** Keeps an index like Mail's store. One run at a time. */
export class Indexer {
  readonly #writer: IndexWriter;
  readonly #source: MailSource;
  readonly #host: IndexerHost;

  constructor(writer: IndexWriter, source: MailSource, host: IndexerHost) {
    this.#writer = writer;
    this.#source = source;
    this.#host = host;
  }

  /**
   * Compares the store and the files with the index and makes up the difference, newest first. What is in the index stays
   * searchable meanwhile. `stopped`: the next run goes on from there. `anew`: most of it is to go, so it is to be made anew.
   */
  async sync(): Promise<'done' | 'stopped' | 'anew'> {
    this.#host.onProgress({ phase: 'comparing', done: 0, total: 0 });
    const { added, removed, placed } = compare(this.#source.rows(), this.#writer.known());
    if (this.#writer.mails >= ANEW_MAILS && removed.length > this.#writer.mails * ANEW_SHARE) return 'anew';
    this.#drop(removed);
    this.#place(placed);
    this.#host.onCompared();
    added.sort((a, b) => b.date - a.date || b.rowid - a.rowid);
    const sample = new WordSample();
    for (let done = 0; done < added.length; done += BATCH) {
      if ((await this.#host.mayGoOn()) === 'stop') return 'stopped';
      this.#host.onProgress({ phase: 'building', done, total: added.length });
      const urgent = this.#host.urgent();
      if (urgent.length > 0) await this.take(urgent);
      await this.take(added.slice(done, done + BATCH).map((row) => row.rowid), sample);
    }
    while (added.length >= BATCH && this.#writer.merge()) if ((await this.#host.mayGoOn()) === 'stop') return 'stopped';
    const frequent = sample.frequent();
    if (frequent !== null) this.#writer.setMeta('frequent', frequent);
    this.#writer.setMeta('synced', this.#host.now());
    this.#host.onProgress({ phase: 'ready', done: added.length, total: added.length });
    return 'done';
  }

  /**
   * Makes up what changed in the store alone: labels, marks, moves, mails that came or went. Without a look at the disk, so that it may
   * be done often. False: much is new, which `sync` is for.
   */
  async follow(): Promise<boolean> {
    const { added, removed, placed } = compare(this.#source.rowsAlone(), this.#writer.known());
    this.#drop(removed);
    this.#place(placed);
    if (added.length > BATCH) return false;
    await this.take(added.map(({ rowid }) => rowid));
    return true;
  }

  /** Takes mails in as they are now: new ones, changed ones, and those that left. Gives those that have no file yet. */
  async take(rowids: readonly number[], sample?: WordSample): Promise<number[]> {
    const mails = await this.#source.read(rowids);
    this.#writer.add(mails.map(({ mail }) => mail));
    if (sample !== undefined) for (const { mail } of mails) sample.offer(`${mail.subject} ${mail.body}`);
    const found = new Set(mails.map(({ mail }) => mail.mail));
    const gone = rowids.filter((rowid) => !found.has(rowid));
    this.#drop(gone);
    for (const { mail, trouble } of mails) if (trouble !== null) this.#writer.fail(mail.mail, trouble, this.#host.now());
    this.#writer.forgive(mails.filter(({ trouble }) => trouble === null).map(({ mail }) => mail.mail));
    return mails.filter(({ mail }) => mail.file === 0).map(({ mail }) => mail.mail);
  }

  #drop(mails: readonly number[]): void {
    const before = this.#writer.mails;
    for (let at = 0; at < mails.length; at += BATCH) {
      const batch = mails.slice(at, at + BATCH);
      this.#writer.remove(batch);
      this.#writer.forgive(batch);
    }
    if (this.#writer.mails === before) return;
    this.#writer.forgetSenders();
    this.#host.onLeft(this.#source.hasAny(mails) ? 'excluded' : 'gone');
  }

  #place(rows: readonly PlacedRow[]): void {
    for (const row of rows) this.#writer.place(row.rowid, row.mailbox, row.file);
  }
}

interface PlacedRow extends SourceRow {
  readonly file: FileState;
}

interface Difference {
  readonly added: SourceRow[];
  readonly removed: number[];
  readonly placed: PlacedRow[];
}

/** Both sides come by row id, so one walk through both tells them apart. */
export function compare(rows: Iterable<SourceRow>, known: Iterable<Pick<KnownMail, 'mail' | 'mailbox' | 'file'>>): Difference {
  const difference: Difference = { added: [], removed: [], placed: [] };
  const other = known[Symbol.iterator]();
  let entry = other.next();
  for (const row of rows) {
    while (!entry.done && entry.value.mail < row.rowid) {
      difference.removed.push(entry.value.mail);
      entry = other.next();
    }
    if (entry.done || entry.value.mail > row.rowid) {
      difference.added.push(row);
      continue;
    }
    // More on disk than was indexed: the text may have come. Less, or another place: the text is the same.
    const file = row.file ?? entry.value.file;
    if (file > entry.value.file) difference.added.push(row);
    else if (row.mailbox !== entry.value.mailbox || file !== entry.value.file) difference.placed.push({ ...row, file });
    entry = other.next();
  }
  for (; !entry.done; entry = other.next()) difference.removed.push(entry.value.mail);
  return difference;
}
