/**
 * Chinese, Japanese and Korean text has no blanks between words (or glues endings to them), so the word table would hold whole
 * sentences as single tokens. Its runs go into a trigram table of their own and are left out of the word table.
 */
const RUN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u30fc\uff70]+/gu;
/** Where the scripts begin: most texts are told by this alone. */
const MAY_HOLD = /[\u1100-\uffff]/;
/** Behind each run: so that a run's last character and last pair start a trigram too. */
const PAD = '  ';

export interface SplitText {
  /** The text without the runs. */
  readonly words: string;
  /** The runs, padded; '' where there are none. */
  readonly cjk: string;
}

export function splitCjk(text: string): SplitText {
  if (!MAY_HOLD.test(text)) return { words: text, cjk: '' };
  // Syllables and voiced signs as one character each, however the sender wrote them.
  const whole = text.normalize('NFC');
  const runs = whole.match(RUN);
  return runs === null ? { words: text, cjk: '' } : { words: whole.replace(RUN, ' '), cjk: runs.map((run) => run + PAD).join('') };
}
