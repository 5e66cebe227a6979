import { MailFiles, type MailboxPlace } from '../apple/mail/mail-files.ts';
import { activeMailFolder } from '../apple/mail/mail-folder.ts';
import { readText } from '../apple/mail/mail-texts.ts';
import { Pace } from '../apple/mail/pace.ts';
import type { Hit } from './index-reader.ts';
import { cutSnippet, type Snippet } from './snippet.ts';

/** Null where nothing of the text is on disk, or its file may not be read: the hit stands. */
export type Snippets = readonly (Snippet | null)[];

export interface Cut {
  /** What a stretch is cut around. */
  readonly needles: readonly string[];
  readonly hidesCodes: boolean;
}

/**
 * Which hits of a page are taken, in memory that two threads share: one goes from the front, the other from the back, and where they
 * meet, all is done, however fast each of them was.
 */
export type Taken = Int32Array<SharedArrayBuffer>;
export const noneTaken = (size: number): Taken => new Int32Array(new SharedArrayBuffer(size * Int32Array.BYTES_PER_ELEMENT));

/** Bytes of a file that a stretch is looked for in: what lies beyond is attachments, or nobody's first reading. */
const MAX_READ = 512 * 1024;

/** Cuts the stretches that hits are shown with out of the mails' own files. */
export class SnippetCutter {
  readonly #mailDir: string;
  /** Null until there is something to cut. */
  #files: MailFiles | null = null;
  #places: ReadonlyMap<number, MailboxPlace> = new Map();

  /** @param mailDir `~/Library/Mail`, or a version's folder in it */
  constructor(mailDir: string) {
    this.#mailDir = mailDir;
  }

  /** Where the files of mailboxes lie. */
  places(places: ReadonlyMap<number, MailboxPlace>): void {
    this.#places = places;
  }

  /** Mail may have another folder by now. */
  reopen(): void {
    this.#files = null;
  }

  /** Of each hit that nobody else has taken. Never throws. @param end where this thread begins */
  async cut(hits: readonly Hit[], cut: Cut, taken: Taken, end: 'front' | 'back'): Promise<Snippets> {
    const snippets: (Snippet | null)[] = hits.map(() => null);
    // One for all: many short mails in a row are as long as a long one.
    const pace = new Pace();
    for (let step = 0; step < hits.length; step += 1) {
      const nth = end === 'front' ? step : hits.length - 1 - step;
      if (Atomics.compareExchange(taken, nth, 0, 1) !== 0) break;
      snippets[nth] = await this.#snippetOf(hits[nth]!, cut, pace);
    }
    return snippets;
  }

  async #snippetOf({ mail, mailbox }: Hit, { needles, hidesCodes }: Cut, pace: Pace): Promise<Snippet | null> {
    const place = this.#places.get(mailbox);
    if (place === undefined) return null;
    try {
      this.#files ??= new MailFiles(activeMailFolder(this.#mailDir));
      const found = await readText(this.#files, place, mail, MAX_READ, pace);
      await pace.after(found?.text.length ?? 0);
      return found === null || found.text === '' ? null : cutSnippet(found.text, needles, hidesCodes ? found.subject : null);
    } catch {
      return null;
    }
  }
}
