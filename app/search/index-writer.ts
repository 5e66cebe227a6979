import type Database from 'better-sqlite3-multiple-ciphers';
import { splitCjk } from './cjk.ts';
import { readMeta, writeMeta } from './index-file.ts';

/** A mail as the index takes it. */
export interface IndexedMail {
  /** ROWID in `messages`. */
  readonly mail: number;
  readonly mailbox: number;
  /** Unix seconds, 0 for none. */
  readonly date: number;
  /** What of it lies on disk: 0 nothing, 1 a partial file, 2 a whole one. */
  readonly file: FileState;
  readonly subject: string;
  readonly sender: string;
  readonly body: string;
  /** The sender's address, normalised; '' for none. */
  readonly address: string;
  /** Names of attachments. */
  readonly attachments: string;
}

export type FileState = 0 | 1 | 2;

export interface IndexFailures {
  readonly reason: string;
  readonly count: number;
  /** The newest rows, at most `SHOWN_FAILURES`. The date in Unix seconds. */
  readonly mails: readonly { readonly mail: number; readonly mailbox: number | null; readonly date: number | null }[];
}
export const SHOWN_FAILURES = 20;

export interface KnownMail {
  readonly doc: number;
  readonly mail: number;
  readonly mailbox: number;
  readonly file: FileState;
}

/** Row numbers are given by date with room between, so that `ORDER BY rowid DESC` is newest first without sorting and postings stay short. */
const GAP = 8;
const FIRST_DOC = 2 ** 30;
/** Bytes of postings held in memory before they are written as one segment. */
const HASH_SIZE = 12 * 1024 * 1024;
const CHUNK = 10_000;

/** The writing side of the index, one connection. Calls are synchronous; `add` and `remove` are one transaction each. */
export class IndexWriter {
  readonly #db: Database.Database;
  readonly #words: Database.Statement;
  readonly #cjk: Database.Statement;
  readonly #mail: Database.Statement;
  readonly #known: Database.Statement;
  readonly #sender: Database.Statement;
  readonly #newSender: Database.Statement;
  /** Mails in the index and bytes of their text: kept, since counting them would walk through all. */
  #mails: number;
  #textBytes: number;

  constructor(db: Database.Database) {
    this.#db = db;
    for (const table of ['words', 'cjk']) db.exec(`INSERT INTO ${table} (${table}, rank) VALUES ('hashsize', ${HASH_SIZE})`);
    this.#words = db.prepare('INSERT INTO words (rowid, subject, sender, body, attachments) VALUES (CAST(? AS INTEGER), ?, ?, ?, ?)');
    this.#cjk = db.prepare('INSERT INTO cjk (rowid, subject, sender, body, attachments) VALUES (CAST(? AS INTEGER), ?, ?, ?, ?)');
    this.#mail = db.prepare('INSERT INTO mails (doc, mail, mailbox, file, date, bytes, sender) VALUES (?, ?, ?, ?, ?, ?, ?)');
    this.#known = db.prepare('SELECT doc, bytes FROM mails WHERE mail = ?').raw();
    this.#sender = db.prepare('SELECT id FROM senders WHERE address = ?').pluck();
    this.#newSender = db.prepare('INSERT INTO senders (address) VALUES (?)');
    [this.#mails, this.#textBytes] = [Number(readMeta(db, 'mails') ?? 0), Number(readMeta(db, 'textBytes') ?? 0)];
  }

  /** Adds mails, in place of what was known of them. Fast if a batch is of one time: newest batch first, or later ones. */
  add(mails: readonly IndexedMail[]): void {
    if (mails.length === 0) return;
    const sorted = [...mails].sort((a, b) => a.date - b.date || a.mail - b.mail);
    this.#transaction(() => {
      for (const mail of sorted) this.#forget(mail.mail);
      const docs = this.#docsFor(sorted);
      sorted.forEach((mail, at) => {
        const doc = docs[at]!;
        const texts = [mail.subject, mail.sender, mail.body, mail.attachments];
        const split = texts.map(splitCjk);
        this.#words.run(doc, ...split.map(({ words }) => words));
        if (split.some(({ cjk }) => cjk !== '')) this.#cjk.run(doc, ...split.map(({ cjk }) => cjk));
        const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
        this.#mail.run(doc, mail.mail, mail.mailbox, mail.file, mail.date, bytes, this.#senderOf(mail.address));
        this.#mails += 1;
        this.#textBytes += bytes;
      });
    });
  }

  remove(mails: readonly number[]): void {
    this.#transaction(() => {
      for (const mail of mails) this.#forget(mail);
    });
  }

  /** Forgets those who wrote nothing that is in the index any more. */
  forgetSenders(): void {
    this.#db.prepare('DELETE FROM senders WHERE id NOT IN (SELECT sender FROM mails)').run();
  }

  /** The mail lies in another mailbox, or more of it came without another text. */
  place(mail: number, mailbox: number, file: FileState): void {
    this.#db.prepare('UPDATE mails SET mailbox = ?, file = ? WHERE mail = ?').run(mailbox, file, mail);
  }

  /** Everything that is in the index, by mail. */
  *known(): Generator<KnownMail> {
    const statement = this.#db.prepare(`SELECT mail, mailbox, file, doc FROM mails WHERE mail > ? ORDER BY mail LIMIT ${CHUNK}`).raw();
    for (let after = -1; ; ) {
      const rows = statement.all(after) as [number, number, FileState, number][];
      for (const [mail, mailbox, file, doc] of rows) yield { mail, mailbox, file, doc };
      if (rows.length < CHUNK) return;
      after = rows.at(-1)![0];
    }
  }

  /** A mail that could not be read as it should: counted and kept until it can be. `at` is Unix ms. */
  fail(mail: number, reason: string, at: number): void {
    this.#db.prepare(`INSERT INTO failures VALUES (?, ?, ?, ?, 1) ON CONFLICT (mail) DO UPDATE SET reason = excluded.reason, last = excluded.last, attempts = attempts + 1`).run(mail, reason.slice(0, 500), at, at);
  }

  forgive(mails: readonly number[]): void {
    const statement = this.#db.prepare('DELETE FROM failures WHERE mail = ?');
    this.#transaction(() => {
      for (const mail of mails) statement.run(mail);
    });
  }

  /** Mails that could not be read as they should, by the kind of trouble. */
  failures(): IndexFailures[] {
    const kinds = this.#db.prepare('SELECT reason, COUNT(*) AS count FROM failures GROUP BY reason ORDER BY count DESC, reason').all() as { reason: string; count: number }[];
    const newest = this.#db.prepare(`SELECT f.mail, m.mailbox, NULLIF(m.date, 0) AS date FROM failures f LEFT JOIN mails m ON m.mail = f.mail WHERE f.reason = ? ORDER BY f.mail DESC LIMIT ${SHOWN_FAILURES}`);
    return kinds.map((kind) => ({ ...kind, mails: newest.all(kind.reason) as IndexFailures['mails'] }));
  }

  /** ROWIDs of such mails, those tried last first. */
  failed(limit: number): readonly number[] {
    return this.#db.prepare('SELECT mail FROM failures ORDER BY last DESC, mail DESC LIMIT ?').pluck().all(limit) as number[];
  }

  get mails(): number {
    return this.#mails;
  }
  get textBytes(): number {
    return this.#textBytes;
  }

  meta(key: string): unknown {
    return readMeta(this.#db, key);
  }

  setMeta(key: string, value: string | number): void {
    writeMeta(this.#db, key, value);
  }

  /** Joins segments a little: at most some hundred pages; negative: begins to join all into one. False once there is nothing left to join. */
  merge(pages = 500): boolean {
    let changed = false;
    for (const table of ['words', 'cjk']) {
      const before = this.#db.prepare('SELECT total_changes()').pluck().get() as number;
      this.#db.exec(`INSERT INTO ${table} (${table}, rank) VALUES ('merge', ${pages})`);
      changed ||= (this.#db.prepare('SELECT total_changes()').pluck().get() as number) - before >= 2;
    }
    return changed;
  }

  #senderOf(address: string): number {
    const known = this.#sender.get(address) as number | undefined;
    return known ?? Number(this.#newSender.run(address).lastInsertRowid);
  }

  #forget(mail: number): void {
    const known = this.#known.get(mail) as [number, number] | undefined;
    if (known === undefined) return;
    const [doc, bytes] = known;
    this.#db.prepare('DELETE FROM words WHERE rowid = CAST(? AS INTEGER)').run(doc);
    this.#db.prepare('DELETE FROM cjk WHERE rowid = CAST(? AS INTEGER)').run(doc);
    this.#db.prepare('DELETE FROM mails WHERE doc = ?').run(doc);
    this.#mails -= 1;
    this.#textBytes -= bytes;
  }

  /** A row number for each mail of a batch that is sorted by date. */
  #docsFor(mails: readonly IndexedMail[]): number[] {
    const [lowest, highest] = this.#db.prepare('SELECT MIN(doc), MAX(doc) FROM mails').raw().get() as [number | null, number | null];
    if (lowest === null || highest === null) return mails.map((_, at) => FIRST_DOC + at * GAP);
    const edge = this.#db.prepare('SELECT date FROM mails WHERE doc = ?').pluck();
    if (mails.at(-1)!.date <= (edge.get(lowest) as number) && lowest > mails.length * GAP) return mails.map((_, at) => lowest - (mails.length - at) * GAP);
    if (mails[0]!.date >= (edge.get(highest) as number)) return mails.map((_, at) => highest + (at + 1) * GAP);
    const taken = new Set<number>();
    return mails.map((mail) => this.#between(mail.date, taken));
  }

  /** A free number right after the mails that are as old; the next free one where the room is used up. */
  #between(date: number, taken: Set<number>): number {
    const before = (this.#db.prepare('SELECT MAX(doc) FROM mails WHERE date = (SELECT MAX(date) FROM mails WHERE date <= ?)').pluck().get(date) as number | null) ?? 0;
    const isFree = this.#db.prepare('SELECT 1 FROM mails WHERE doc = ?').pluck();
    let doc = before + 1;
    while (taken.has(doc) || isFree.get(doc) !== undefined) doc += 1;
    taken.add(doc);
    return doc;
  }

  #transaction(work: () => void): void {
    const before = [this.#mails, this.#textBytes] as const;
    try {
      this.#db.transaction(() => {
        work();
        writeMeta(this.#db, 'mails', this.#mails);
        writeMeta(this.#db, 'textBytes', this.#textBytes);
      }).immediate();
    } catch (error) {
      [this.#mails, this.#textBytes] = before;
      throw error;
    }
  }
}
