import { MAY_HIDE, withoutHidden } from '../text/hidden.ts';
import { unitFinder, type UnitRange } from '../text/units.ts';

/** Decimal digits of other scripts and widths, by units: by each nought within U+FFFF, and by a half of those beyond. */
const NOUGHTS = [
  0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0,
  0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
];
const OTHERS: readonly UnitRange[] = [
  ...NOUGHTS.map((nought): UnitRange => [nought, nought + 9]),
  [0xd801, 0xd801], [0xd803, 0xd807], [0xd818, 0xd81b], [0xd833, 0xd833], [0xd835, 0xd835], [0xd838, 0xd83a],
  // Of U+1FBF0, whose first half many emoji have as well.
  [0xdff0, 0xdff9],
];
/** Full-width letters and the hyphen. */
const WIDE: readonly UnitRange[] = [[0xff0d, 0xff0d], [0xff21, 0xff3a], [0xff41, 0xff5a]];
const FROM_FULL_WIDTH = 0xfee0;
const digitFrom = unitFinder([[0x30, 0x39], ...OTHERS]);
const differenceFrom = unitFinder([...MAY_HIDE, ...OTHERS, ...WIDE]);
const ASCII = /^[\t\n\r\x20-\x7e]*$/;
/** They hold numbers apart, however they are written. */
const LINE_ENDS = new Set(['\r', '\u2028', '\u2029']);

export const hasDigit = (text: string): boolean => digitFrom(text, 0) >= 0;

/** The text with digits, letters and hyphens of another width or script as ASCII has them, and without what is hidden, emoji's joiners too. */
export function plainDigits(text: string): string {
  if (ASCII.test(text)) return text;
  let [plain, at] = ['', 0];
  for (const { start, end, sign } of changesIn(text)) {
    plain += text.slice(at, start) + sign;
    at = end;
  }
  return at === 0 ? text : plain + text.slice(at);
}

/** Where each unit of `plainDigits(text)` stands in the text, and how many units it was there. */
export function plainPlaces(text: string): { readonly start: number; readonly size: number }[] {
  const places: { start: number; size: number }[] = [];
  let at = 0;
  const upTo = (end: number) => {
    for (; at < end; at += 1) places.push({ start: at, size: 1 });
  };
  for (const { start, end, sign } of changesIn(text)) {
    upTo(start);
    if (sign !== '') places.push({ start, size: end - start });
    at = end;
  }
  upTo(text.length);
  return places;
}

interface Difference {
  readonly start: number;
  readonly end: number;
  /** One character, or none. */
  readonly sign: string;
}

function changesIn(text: string): Difference[] {
  const changes: Difference[] = [];
  for (let at = differenceFrom(text, 0); at >= 0; at = differenceFrom(text, at)) {
    const start = at > 0 && text.codePointAt(at - 1)! > 0xffff ? at - 1 : at;
    const character = String.fromCodePoint(text.codePointAt(start)!);
    const end = start + character.length;
    let sign = known.get(character);
    if (sign === undefined) known.set(character, (sign = signOf(character)));
    if (sign !== null) changes.push({ start, end, sign });
    at = end;
  }
  return changes;
}

/** Null: it stays. Of the few thousand characters that a unit of the tables may belong to. */
const known = new Map<string, string | null>();

function signOf(character: string): string | null {
  const code = character.codePointAt(0)!;
  if (WIDE.some(([first, last]) => code >= first && code <= last)) return String.fromCodePoint(code - FROM_FULL_WIDTH);
  if (!/\p{Nd}/u.test(character)) return !LINE_ENDS.has(character) && withoutHidden(character) === '' ? '' : null;
  // Digits stand in rows of ten, from nought on (Unicode, 4.6).
  let from = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(from - 1))) from -= 1;
  return String((code - from) % 10);
}
