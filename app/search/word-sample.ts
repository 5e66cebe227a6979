import { fold } from './snippet.ts';

/** One mail in so many is looked at, and no more than a sample needs. */
const EVERY = 17;
const MOST = 2000;
/** Fewer say nothing. */
const LEAST = 50;
/** Words of at least one mail in ten. */
const SHARE = 0.1;
/** Words of one mail that are looked at. */
const MAX_WORDS = 2000;

/** Which words many mails hold, from a sample of those that are taken in. */
export class WordSample {
  readonly #mails = new Map<string, number>();
  #offered = 0;
  #taken = 0;

  offer(text: string): void {
    this.#offered += 1;
    if (this.#offered % EVERY !== 1 || this.#taken >= MOST) return;
    this.#taken += 1;
    const words = new Set<string>();
    for (const [word] of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
      words.add(fold(word));
      if (words.size >= MAX_WORDS) break;
    }
    for (const word of words) this.#mails.set(word, (this.#mails.get(word) ?? 0) + 1);
  }

  /** JSON to be kept; null where too little was seen. */
  frequent(): string | null {
    if (this.#taken < LEAST) return null;
    return JSON.stringify([...this.#mails].filter(([, mails]) => mails >= this.#taken * SHARE).map(([word]) => word));
  }
}

/** @param kept what `frequent` gave */
export function frequentWords(kept: unknown): ReadonlySet<string> {
  return new Set(typeof kept === 'string' ? (JSON.parse(kept) as string[]) : []);
}
