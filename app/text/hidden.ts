import { unitFinder, type UnitFinder, type UnitRange } from './units.ts';

/**
 * Characters that a person does not see, or that reorder what they see: with them a text can say one thing to its reader and
 * another to a program. By properties of Unicode and not by a list, so that the next ones are known too: controls, format
 * characters, what fonts leave out by default (tags, fillers, selectors), and code points that are no characters. Those of
 * `Cf` that show as signs of their own (Arabic, Syriac and Kaithi number signs) are none of them.
 */
const UNSEEN = /(?![\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/uy;

/** Units of which each of them has one: a look-up tells most texts. The table of the test holds it to the properties. */
export const MAY_HIDE: readonly UnitRange[] = [
  [0, 0x8], [0xb, 0x1f], [0x7f, 0x9f], [0xad, 0xad], [0x34f, 0x34f], [0x61c, 0x61c], [0x115f, 0x1160], [0x17b4, 0x17b5], [0x180b, 0x180f], [0x200b, 0x200f],
  [0x2028, 0x202e], [0x2060, 0x206f], [0x3164, 0x3164], [0xfdd0, 0xfdef], [0xfe00, 0xfe0f], [0xfeff, 0xfeff], [0xffa0, 0xffa0], [0xfff0, 0xfffb], [0xfffe, 0xffff],
  // Halves of those beyond U+FFFF: hieroglyph controls, shorthand, music, tags and selectors; no characters.
  [0xd80d, 0xd80d], [0xd82f, 0xd82f], [0xd834, 0xd834], [0xdb40, 0xdb43], [0xdffe, 0xdfff],
];
const mayHide = unitFinder([...MAY_HIDE, [0x9, 0xa]]);
const mayHideInLines = unitFinder(MAY_HIDE);

const EMOJI = '(?![\\x00-\\x7f])\\p{Emoji}';
/** Scripts whose spelling needs the joiners U+200C and U+200D (Unicode, chapters 9, 12, 13 and 16). */
const JOINING = '(?!\\p{Default_Ignorable_Code_Point})(?=[\\p{L}\\p{M}\\p{N}])'
  + `[${['Arab', 'Syrc', 'Mong', 'Nkoo', 'Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml', 'Telu', 'Knda', 'Mlym', 'Sinh', 'Khmr', 'Mymr', 'Tibt'].map((script) => `\\p{scx=${script}}`).join('')}]`;
/** Behind these a joiner at the end of a word shows: the signs that take a vowel away, and an Arabic heh as an abbreviation. */
const ENDING = '[\\u0647\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d4d\\u0dca]';
const MONGOLIAN = '(?=\\p{L})\\p{Script=Mongolian}';

/** Unseen by themselves, and part of how what stands beside them looks. One at each place: a row of them would hide something. */
const NEEDED = new RegExp([
  `(?<=${EMOJI})[\\ufe0e\\ufe0f]`,
  '(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
  `(?<=${EMOJI}\\ufe0f?)\\u200d(?=\\p{Extended_Pictographic})`,
  `(?<=${JOINING})[\\u200c\\u200d](?=[\\u200c\\u200d]*${JOINING})`,
  `(?<=${ENDING})\\u200d`,
  `(?<=${MONGOLIAN})[\\u180b-\\u180d\\u180f]`,
  `(?<=${MONGOLIAN})\\u180e(?=${MONGOLIAN})`,
].join('|'), 'uy');
const MAY_BE_NEEDED = new Set([0x180b, 0x180c, 0x180d, 0x180e, 0x180f, 0x200c, 0x200d, 0xfe0e, 0xfe0f]);

/** England, Scotland and Wales: the only sequences of tags that are in use. */
const FLAGS = ['eng', 'sct', 'wls'].map((place) => String.fromCodePoint(0x1f3f4, ...[...`gb${place}`].map((letter) => 0xe0000 + letter.charCodeAt(0)), 0xe007f));
const BLACK_FLAG = 2;

/** A text of visible ASCII has none. */
const PLAIN = /^[\x20-\x7e]*$/;
const PLAIN_LINES = /^[\n\t\x20-\x7e]*$/;

/** Well-formed, without what is hidden. @param shown what stands for each that is left out */
export const withoutHidden = (text: string, shown?: (character: string) => string): string => (PLAIN.test(text) ? text : seen(text, mayHide, shown));

/** The same of a text of several lines: line feeds and tabs stay. */
export const linesWithoutHidden = (text: string, shown?: (character: string) => string): string => (PLAIN_LINES.test(text) ? text : seen(text, mayHideInLines, shown));

export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** Where `linesWithoutHidden` leaves something out, in UTF-16 units, in order. */
export const hiddenIn = (text: string): Stretch[] => (PLAIN_LINES.test(text) ? [] : hiddenStretches(text.toWellFormed(), mayHideInLines));

function seen(text: string, next: UnitFinder, shown: (character: string) => string = () => ''): string {
  // First of all: two halves with something hidden between them would become one hidden character.
  const whole = text.toWellFormed();
  let [result, at] = ['', 0];
  for (const { start, end } of hiddenStretches(whole, next)) {
    result += whole.slice(at, start) + shown(whole.slice(start, end));
    at = end;
  }
  return at === 0 ? whole : result + whole.slice(at);
}

/** One character each. */
function hiddenStretches(text: string, next: UnitFinder): Stretch[] {
  const found: Stretch[] = [];
  for (let at = next(text, 0); at >= 0; at = next(text, at)) {
    const start = isLow(text, at) ? at - 1 : at;
    const flag = FLAGS.find((each) => text.startsWith(each, start - BLACK_FLAG));
    at = start + (flag === undefined ? (text.codePointAt(start)! > 0xffff ? 2 : 1) : flag.length - BLACK_FLAG);
    if (flag === undefined && isHidden(text, start)) found.push({ start, end: at });
  }
  return found;
}

function isHidden(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if ((code & 0xfc00) === 0xd800) {
    UNSEEN.lastIndex = at;
    return UNSEEN.test(text);
  }
  if (!MAY_BE_NEEDED.has(code)) return true;
  NEEDED.lastIndex = at;
  return !NEEDED.test(text);
}

const isLow = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00;

/** `\u200b`: as JSON escapes it, so that it stays the same text to a program. */
export const jsonEscape = (character: string): string => character.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

/** `[U+200B]`: how something hidden is shown where it has to be seen. */
export const codePointName = (character: string): string => `[U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`;
