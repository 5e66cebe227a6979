import type { Missing } from '../../apple/mail/mail-content.ts';

/** What each code of `missing` says to a client. */
const WORDS: Readonly<Record<Missing, string>> = {
  'not-downloaded': 'A part of its text is not on this Mac: Mail has not downloaded it.',
  truncated: 'The file of this mail on this Mac ends too early, so the end of the mail is missing.',
  size: 'The mail is larger than is read (72 MB), so what stands at its end is left out.',
  headers: 'Its headers are longer than is read (128 KB of one part, 512 KB in all, 32 KB of one list of addresses), so what stands at their end is left out.',
  depth: 'Its parts lie in one another deeper than is read (16 levels), so the innermost are left out.',
  parts: 'It has more parts than are read (500 in all, 50 of text), so the rest is left out.',
  text: 'Its text is longer than is read (2 million characters), so the end is left out.',
  html: 'Its HTML is longer or deeper than is read (1 million characters, 200,000 tags, 256 levels), so the text behind that is left out.',
  links: 'It has more HTML than is read for links, so some links are left out.',
  charset: 'Some letters may be wrong: the mail names a charset that is not known, or that does not fit its bytes.',
};
const IN_MAIL = 'Open it in Mail to see it whole.';

/** For the description of `missing`: each code with its sentence. */
export const MISSING_CODES = `What could not be read in full. ${Object.entries(WORDS).map(([code, words]) => `${code}: ${words}`).join(' ')}`;

/** The same in sentences, and what to do; '' where nothing is missing. */
export const missingSentence = (missing: readonly Missing[]): string => (missing.length === 0 ? '' : [...missing.map((code) => WORDS[code]), IN_MAIL].join(' '));
