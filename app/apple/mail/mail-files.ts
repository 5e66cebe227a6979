import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import type { Mailbox } from '../occurrence.ts';

/** Where the file of a mail lies. */
export interface MailFile {
  readonly path: string;
  /** True for `.partial.emlx`: attachments lie beside it, or on the server only. */
  readonly isPartial: boolean;
}

export interface OpenedMail<T> {
  readonly file: MailFile;
  readonly content: T;
}

export interface ListedMail {
  readonly rowid: number;
  readonly isPartial: boolean;
}

export type MailboxPlace = Pick<Mailbox, 'accountId' | 'path'>;

/** Folders below `Data` are single digits; a row id has at most 16. */
const MAX_DIGITS = 14;
const MAX_KNOWN = 10_000;
const PART_NUMBER = /^\d{1,5}(?:\.\d{1,5}){0,31}$/;
const FILE_NAME = /^(\d{1,16})(\.partial)?\.emlx$/;

/** `floor(ROWID / 1000)` in reverse, one folder a digit; none for 0 (data-formats/envelope-index 7). */
export function digitFolders(rowid: number): string[] {
  const thousands = Math.floor(rowid / 1000);
  return thousands === 0 ? [] : [...String(thousands)].toReversed();
}

/**
 * The files below one version folder of Mail (`.../Mail/V10`). Only names are looked at. What a link leads out of that folder
 * is refused: whoever can place a link there must not choose what is read with our disk access.
 */
export class MailFiles {
  readonly #mailDir: string;
  #root: string | null = null;
  /** `Data` folders of each mailbox. A mailbox may have several stores. */
  readonly #stores = new Map<string, readonly string[]>();
  /** Folders of messages that were found inside, by path, with device and inode. */
  readonly #known = new Map<string, string>();

  constructor(mailDir: string) {
    this.#mailDir = mailDir;
  }

  /**
   * The file of a mail, by opening it where it may lie: to look first takes as long as to read. Null if there is none: not
   * downloaded yet, or moved since the row was read.
   * @param read gives null where no plain file is; does not follow a link in the last place
   */
  open<T>(box: MailboxPlace, rowid: number, read: (path: string) => T | null): OpenedMail<T> | null {
    if (!Number.isSafeInteger(rowid) || rowid < 0) return null;
    return this.#openIn(this.#storesOf(box), rowid, read) ?? this.#openIn(this.#storesOf(box, true), rowid, read);
  }

  /** Every mail file of a mailbox, in no order. Folders that are links are not entered. */
  *list(box: MailboxPlace): Generator<ListedMail> {
    for (const data of this.#storesOf(box, true)) yield* listBelow(data, 0);
  }

  /**
   * The file of an attachment that is kept apart: `Attachments/<ROWID>/<part>/<name>` beside `Messages`. The exact name, else
   * the only file there. Null where there is none; a part number that is none finds nothing.
   */
  attachment(file: MailFile, rowid: number, part: string, name: string | null): { readonly path: string; readonly size: number } | null {
    if (!PART_NUMBER.test(part)) return null;
    const folder = this.#inside(join(dirname(dirname(file.path)), 'Attachments', String(rowid), part));
    if (folder === null) return null;
    const files = entries(folder).filter((entry) => entry.isFile() && entry.name !== '.DS_Store').map((entry) => entry.name);
    const wanted = name?.normalize('NFC');
    const found = files.find((each) => each.normalize('NFC') === wanted) ?? (files.length === 1 ? files[0] : undefined);
    if (found === undefined) return null;
    const path = join(folder, found);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true ? { path, size: stat.size } : null;
  }

  #openIn<T>(stores: readonly string[], rowid: number, read: (path: string) => T | null): OpenedMail<T> | null {
    const digits = digitFolders(rowid).map((digit) => `${digit}/`).join('');
    for (const data of stores) {
      const folder = `${data}/${digits}Messages`;
      if (!this.#isInside(folder)) continue;
      for (const isPartial of [false, true]) {
        const path = `${folder}/${rowid}${isPartial ? '.partial' : ''}.emlx`;
        const content = read(path);
        if (content !== null) return { file: { path, isPartial }, content };
      }
    }
    return null;
  }

  #storesOf(box: MailboxPlace, again = false): readonly string[] {
    const key = `${box.accountId}/${box.path}`;
    const kept = this.#stores.get(key);
    if (kept !== undefined && !again) return kept;
    const folder = this.#mailboxFolder(box);
    const stores = folder === null ? [] : entries(folder).filter((entry) => entry.isDirectory() && !entry.name.endsWith('.mbox')).flatMap((entry) => this.#inside(join(folder, entry.name, 'Data')) ?? []);
    this.#stores.set(key, stores);
    return stores;
  }

  /** The folders are named as the decoded path is; where they are not (normalisation, case), the listing decides. */
  #mailboxFolder(box: MailboxPlace): string | null {
    const levels = box.path.split('/');
    if (!isName(box.accountId) || !levels.every(isName)) return null;
    let folder = this.#inside(join(this.#mailDir, box.accountId));
    for (const level of levels) {
      if (folder === null) return null;
      const wanted = fold(`${level}.mbox`);
      const name: string | undefined =
        lstatSync(join(folder, `${level}.mbox`), { throwIfNoEntry: false })?.isDirectory() === true ? `${level}.mbox` : entries(folder).find((entry) => entry.isDirectory() && fold(entry.name) === wanted)?.name;
      folder = name === undefined ? null : this.#inside(join(folder, name));
    }
    return folder;
  }

  /** The same for a folder of messages, which is asked for often: where the path leads to a folder that was found inside, it is inside. */
  #isInside(folder: string): boolean {
    const stat = statSync(folder, { throwIfNoEntry: false });
    if (stat === undefined) return false;
    const identity = `${stat.dev}-${stat.ino}`;
    if (this.#known.get(folder) === identity) return true;
    if (this.#inside(folder) === null) return false;
    if (this.#known.size > MAX_KNOWN) this.#known.clear();
    this.#known.set(folder, identity);
    return true;
  }

  /** The path if it exists and, links resolved, lies below the Mail folder. */
  #inside(path: string): string | null {
    try {
      this.#root ??= realpathSync.native(this.#mailDir);
      const real = realpathSync.native(path);
      return real.startsWith(this.#root + sep) ? real : null;
    } catch {
      return null;
    }
  }
}

function* listBelow(folder: string, depth: number): Generator<ListedMail> {
  for (const entry of entries(folder)) {
    if (!entry.isDirectory()) continue;
    if (entry.name === 'Messages') yield* listMessages(join(folder, entry.name));
    else if (/^\d$/.test(entry.name) && depth < MAX_DIGITS) yield* listBelow(join(folder, entry.name), depth + 1);
  }
}

function* listMessages(folder: string): Generator<ListedMail> {
  for (const entry of entries(folder)) {
    const found = entry.isFile() ? FILE_NAME.exec(entry.name) : null;
    if (found !== null) yield { rowid: Number(found[1]), isPartial: found[2] !== undefined };
  }
}

/** Nothing for a folder that is gone or may not be listed. */
function entries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

const isName = (name: string): boolean => name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);
const fold = (name: string): string => name.normalize('NFC').toLowerCase();
