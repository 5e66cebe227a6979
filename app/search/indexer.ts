import type { IndexWriter, KnownMail } from './index-writer.ts';
import type { MailSource, SourceRow } from './mail-source.ts';
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
  /** Mails that came meanwhile: they go in before the next batch of old ones. */
  urgent(): readonly number[];
}

/** Mails read and written together. One transaction, and one segment of the full-text tables. */
const BATCH = 500;

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
   * searchable meanwhile. False if it was stopped; the next run goes on from there.
   */
  async sync(): Promise<boolean> {
    this.#host.onProgress({ phase: 'comparing', done: 0, total: 0 });
    const { added, removed, placed } = compare(this.#source.rows(), this.#writer.known());
    for (let at = 0; at < removed.length; at += BATCH) this.#writer.remove(removed.slice(at, at + BATCH));
    if (removed.length > 0) this.#writer.forgetSenders();
    for (const row of placed) this.#writer.place(row.rowid, row.mailbox, row.file);
    this.#host.onCompared();
    added.sort((a, b) => b.date - a.date || b.rowid - a.rowid);
    const sample = new WordSample();
    for (let done = 0; done < added.length; done += BATCH) {
      if ((await this.#host.mayGoOn()) === 'stop') return false;
      this.#host.onProgress({ phase: 'building', done, total: added.length });
      const urgent = this.#host.urgent();
      if (urgent.length > 0) await this.take(urgent);
      await this.take(added.slice(done, done + BATCH).map((row) => row.rowid), sample);
    }
    while (added.length >= BATCH && this.#writer.merge()) if ((await this.#host.mayGoOn()) === 'stop') return false;
    const frequent = sample.frequent();
    if (frequent !== null) this.#writer.setMeta('frequent', frequent);
    this.#writer.setMeta('synced', this.#host.now());
    this.#host.onProgress({ phase: 'ready', done: added.length, total: added.length });
    return true;
  }

  /** Takes mails in as they are now: new ones, changed ones, and those that left. Gives those that have no file yet. */
  async take(rowids: readonly number[], sample?: WordSample): Promise<number[]> {
    const mails = await this.#source.read(rowids);
    this.#writer.add(mails.map(({ mail }) => mail));
    if (sample !== undefined) for (const { mail } of mails) sample.offer(`${mail.subject} ${mail.body}`);
    const found = new Set(mails.map(({ mail }) => mail.mail));
    const gone = rowids.filter((rowid) => !found.has(rowid));
    if (gone.length > 0) this.#writer.remove(gone);
    for (const { mail, trouble } of mails) if (trouble !== null) this.#writer.fail(mail.mail, trouble, this.#host.now());
    this.#writer.forgive([...gone, ...mails.filter(({ trouble }) => trouble === null).map(({ mail }) => mail.mail)]);
    return mails.filter(({ mail }) => mail.file === 0).map(({ mail }) => mail.mail);
  }
}

interface Difference {
  readonly added: SourceRow[];
  readonly removed: number[];
  readonly placed: SourceRow[];
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
    if (row.file > entry.value.file) difference.added.push(row);
    else if (row.mailbox !== entry.value.mailbox || row.file !== entry.value.file) difference.placed.push(row);
    entry = other.next();
  }
  for (; !entry.done; entry = other.next()) difference.removed.push(entry.value.mail);
  return difference;
}
