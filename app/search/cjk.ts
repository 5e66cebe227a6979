/**
 * Chinese, Japanese and Korean text has no blanks between words (or glues endings to them), so the word table would hold whole
 * sentences as single tokens. Its runs go into a trigram table of their own and are left out of the word table.
 */
const RUN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u30fc\uff70]+/gu;
/** Where the scripts begin: most texts are told by this alone. */
const MAY_HOLD = /[\u1100-\uffff]/;
/** Behind each run: so that a run's last character and last pair start a trigram too. */
const PAD = '  ';

/** Full-width ASCII, and half-width katakana with their voiced signs. */
const OTHER_WIDTH = /[\uff01-\uff5e]+|[\uff61-\uff9f]+/g;
const NARROW_PAIR = /[\uff66-\uff9d][\uff9e\uff9f]/g;

/** `ＡＢＣ` as `ABC` and `ｶﾞ` as `ガ`: which of them a sender's keyboard wrote does not count. */
export const plainWidth = (text: string): string => text.replace(OTHER_WIDTH, (run) => run.normalize('NFKC'));

/** Where each unit of `plainWidth(text)`, and its end, stood in the text; null: all where they were. */
export function widthPlaces(text: string): readonly number[] | null {
  const places: number[] = [];
  let at = 0;
  for (const { 0: pair, index } of text.matchAll(NARROW_PAIR)) {
    // Not every letter has a voiced form.
    if (pair.normalize('NFKC').length === pair.length) continue;
    while (at <= index) places.push(at++);
    at = index + pair.length;
  }
  if (at === 0) return null;
  while (at <= text.length) places.push(at++);
  return places;
}

export interface SplitText {
  /** The text without the runs. */
  readonly words: string;
  /** The runs, padded; '' where there are none. */
  readonly cjk: string;
}

export function splitCjk(text: string): SplitText {
  if (!MAY_HOLD.test(text)) return { words: text, cjk: '' };
  // Syllables and voiced signs as one character each, however the sender wrote them.
  const whole = plainWidth(text).normalize('NFC');
  const runs = whole.match(RUN);
  return runs === null ? { words: whole, cjk: '' } : { words: whole.replace(RUN, ' '), cjk: runs.map((run) => run + PAD).join('') };
}
