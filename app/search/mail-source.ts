import { MailFiles, type MailboxPlace } from '../apple/mail/mail-files.ts';
import { activeMailFolder, envelopeIndexPath } from '../apple/mail/mail-folder.ts';
import { MailList, type ListedRow } from '../apple/mail/mail-list.ts';
import { readText } from '../apple/mail/mail-texts.ts';
import { hideCodes } from '../events/one-time-code.ts';
import type { FileState, IndexedMail } from './index-writer.ts';

export interface SourceRow extends ListedRow {
  /** Null where nobody looked. */
  readonly file: FileState | null;
}

export interface SourceMail {
  readonly mail: IndexedMail;
  /** Why its text is not what it should be, or null. */
  readonly trouble: string | null;
}

/** Mail as the index sees it: the Envelope Index for what there is, the files for the text. Only reads. */
export class MailSource {
  readonly #mailDir: string;
  #list: MailList;
  #files: MailFiles;
  #mailboxes: readonly number[] | null = null;
  #places: ReadonlyMap<number, MailboxPlace> = new Map();
  /** One-time codes are left out of what is read. */
  hidesCodes = false;

  /** @param mailDir `~/Library/Mail`, or a version's folder in it. */
  constructor(mailDir: string) {
    this.#mailDir = mailDir;
    const folder = activeMailFolder(mailDir);
    this.#list = new MailList(envelopeIndexPath(folder));
    this.#files = new MailFiles(folder);
  }

  /** @param mailboxes ROWIDs of mailboxes and labels outside which nothing is seen; null: all. */
  bound(mailboxes: readonly number[] | null): void {
    this.#mailboxes = mailboxes;
    this.#list.bound(mailboxes);
  }

  /** Opens unless open; a store that was replaced, or that an upgrade of Mail left behind, is closed first. @throws StoreError */
  open(): void {
    const folder = activeMailFolder(this.#mailDir);
    const path = envelopeIndexPath(folder);
    if (path !== this.#list.path || this.#list.replaced()) {
      this.#list.close();
      this.#list = new MailList(path);
      this.#list.bound(this.#mailboxes);
      this.#files = new MailFiles(folder);
    }
    this.#list.open();
    this.#places = this.#list.places();
  }

  close(): void {
    this.#list.close();
  }

  /** `properties.UUID`: another one means other row ids. */
  storeId(): string {
    return this.#list.storeId();
  }

  /** All mails by row id, with what of them lies on disk. Two passes: names of files, then rows; nothing is opened. */
  *rows(): Generator<SourceRow> {
    this.#places = this.#list.places();
    const files = this.#fileStates();
    for (const row of this.#list.rows()) yield { ...row, file: (files[row.rowid] ?? 0) as FileState };
  }

  /** The same without a look at the disk: a tenth of the work. */
  *rowsAlone(): Generator<SourceRow> {
    for (const row of this.#list.rows()) yield { ...row, file: null };
  }

  /** Whether Mail has any of these still, within the bound or not. */
  hasAny(rowids: readonly number[]): boolean {
    return this.#list.hasAny(rowids);
  }

  /** Mails with their text. Those that left are missing. */
  async read(rowids: readonly number[]): Promise<SourceMail[]> {
    const mails: SourceMail[] = [];
    for (const { rowid, mailbox, date, subject, sender, address, attachments, summary } of this.#list.envelopes(rowids)) {
      const shown = (text: string, about?: string): string => (this.hidesCodes ? hideCodes(text, about) : text);
      const mail = { mail: rowid, mailbox, date, subject: shown(subject), sender, address, attachments };
      const place = this.#place(mailbox);
      let [body, file, trouble]: [string, FileState, string | null] = [summary, 0, null];
      try {
        const found = place === null ? null : await readText(this.#files, place, rowid);
        if (found !== null) {
          file = found.isPartial ? 1 : 2;
          // The file says that the body is still to come: Mail's preview is better than nothing.
          body = found.text === '' && found.missing.includes('not-downloaded') ? summary : found.text;
          // A body that is to come is no trouble, and a file that ends too early has no right count.
          const lost = found.missing.filter((what) => what !== 'not-downloaded' && what !== 'truncated');
          if (lost.length > 0) trouble = `not all was read: ${lost.join(', ')}`;
          else if (!found.isCounted) trouble = 'the file has no right byte count';
        }
      } catch (error) {
        trouble = `the file cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}`;
      }
      mails.push({ mail: { ...mail, file, body: shown(body, subject) }, trouble });
    }
    return mails;
  }

  #place(mailbox: number): MailboxPlace | null {
    if (!this.#places.has(mailbox)) this.#places = this.#list.places();
    return this.#places.get(mailbox) ?? null;
  }

  /** By row id: one byte a mail instead of an object, since a store may have a million. */
  #fileStates(): Uint8Array {
    const states = new Uint8Array(this.#list.head() + 1);
    for (const place of this.#places.values()) {
      // A file beyond the head has no row; a whole file counts more than a partial one beside it.
      for (const { rowid, isPartial } of this.#files.list(place)) if (rowid < states.length) states[rowid] = Math.max(states[rowid]!, isPartial ? 1 : 2);
    }
    return states;
  }
}
