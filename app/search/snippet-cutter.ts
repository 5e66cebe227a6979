import { MailFiles, type MailboxPlace } from '../apple/mail/mail-files.ts';
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

/** Where a thread begins. */
export type End = 'front' | 'back';

/**
 * Which hits of a page are taken, and by whom, in memory that two threads share: one goes from the front, the other from the back, and
 * where they meet, all is done, however fast each of them was.
 */
export type Taken = Int32Array<SharedArrayBuffer>;
export const noneTaken = (size: number): Taken => new Int32Array(new SharedArrayBuffer(size * Int32Array.BYTES_PER_ELEMENT));
const MARKS = { front: 1, back: 2, nobody: 3 } as const;

/** What is not taken is cut by nobody any more. */
export const letGo = (taken: Taken): void => {
  for (let nth = 0; nth < taken.length; nth += 1) Atomics.compareExchange(taken, nth, 0, MARKS.nobody);
};

/** Gives back what the other thread took and did not deliver. */
export const takeBack = (taken: Taken, from: End): void => {
  for (let nth = 0; nth < taken.length; nth += 1) Atomics.compareExchange(taken, nth, MARKS[from], 0);
};

/** Bytes of a file that a stretch is looked for in: what lies beyond is attachments, or nobody's first reading. */
const MAX_READ = 512 * 1024;

/** Cuts the stretches that hits are shown with out of the mails' own files. */
export class SnippetCutter {
  #files: MailFiles | null = null;
  #folder = '';
  #places: ReadonlyMap<number, MailboxPlace> = new Map();
  /** One for all: many short mails in a row are as long as a long one. */
  readonly #pace = new Pace();
  #last: Promise<unknown> = Promise.resolve();
  #round = 0;

  /** Where the files of mailboxes lie. @param folder of Mail's version: it has another one after an upgrade */
  places(places: ReadonlyMap<number, MailboxPlace>, folder: string): void {
    this.#places = places;
    if (folder !== this.#folder || this.#files === null) this.#files = new MailFiles(folder);
    this.#folder = folder;
  }

  /** What is cut now ends with the mail at hand. */
  stop(): void {
    this.#round += 1;
  }

  /**
   * Of each hit that nobody else has taken. Pages are cut one after the other, so that many at once leave as many turns to the rest of
   * the program as one does. Never throws.
   * @param mayGoOn asked before each mail; once it says no, neither thread takes another one
   */
  cut(hits: readonly Hit[], cut: Cut, taken: Taken, end: End, mayGoOn: () => boolean = () => true): Promise<Snippets> {
    const round = this.#round;
    const cutting = this.#last.then(() => this.#cut(hits, cut, taken, end, () => round === this.#round && mayGoOn()));
    this.#last = cutting;
    return cutting;
  }

  async #cut(hits: readonly Hit[], cut: Cut, taken: Taken, end: End, mayGoOn: () => boolean): Promise<Snippets> {
    const snippets: (Snippet | null)[] = hits.map(() => null);
    for (let step = 0; step < hits.length; step += 1) {
      const nth = end === 'front' ? step : hits.length - 1 - step;
      if (!mayGoOn()) letGo(taken);
      if (Atomics.compareExchange(taken, nth, 0, MARKS[end]) === 0) snippets[nth] = await this.#snippetOf(hits[nth]!, cut);
    }
    return snippets;
  }

  async #snippetOf({ mail, mailbox }: Hit, { needles, hidesCodes }: Cut): Promise<Snippet | null> {
    const place = this.#places.get(mailbox);
    if (place === undefined || this.#files === null) return null;
    try {
      const found = await readText(this.#files, place, mail, MAX_READ, this.#pace);
      await this.#pace.after(found?.text.length ?? 0);
      return found === null || found.text === '' ? null : cutSnippet(found.text, needles, hidesCodes ? found.subject : null);
    } catch {
      return null;
    }
  }
}
