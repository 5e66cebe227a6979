import { hiddenIn, linesWithoutHidden, MAY_HIDE } from '../text/hidden.ts';
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
const digitFrom = unitFinder([[0x30, 0x39], ...OTHERS]);
const otherFrom = unitFinder(OTHERS);
const differenceFrom = unitFinder([...MAY_HIDE, ...OTHERS]);
const OTHER_SIGN = /[^\P{Nd}0-9]|[\uff0d\uff21-\uff3a\uff41-\uff5a]/gu;
const ASCII = /^[\t\n\r\x20-\x7e]*$/;
/** They hold numbers apart, however they are written. */
const LINE_END = /[\r\u2028\u2029]/;
const FULL_WIDTH = 0xfee0;

export const hasDigit = (text: string): boolean => digitFrom(text, 0) >= 0;

/** The text with digits, letters and hyphens of another width or script as ASCII has them, and without what is hidden between them. */
export function plainDigits(text: string): string {
  if (ASCII.test(text) || differenceFrom(text, 0) < 0) return text;
  const seen = linesWithoutHidden(text, (hidden) => (LINE_END.test(hidden) ? hidden : ''));
  return otherFrom(seen, 0) < 0 ? seen : seen.replace(OTHER_SIGN, asciiOf);
}

/** Where each unit of `plainDigits(text)` stands in the text, and how many units it was there. */
export function plainPlaces(text: string): { readonly start: number; readonly size: number }[] {
  const changes = [
    ...hiddenIn(text).filter(({ start }) => !LINE_END.test(text[start]!)).map((stretch) => ({ ...stretch, isGone: true })),
    ...[...text.matchAll(OTHER_SIGN)].map(({ 0: sign, index }) => ({ start: index, end: index + sign.length, isGone: false })),
  ];
  const places: { start: number; size: number }[] = [];
  let at = 0;
  const upTo = (end: number) => {
    for (; at < end; at += 1) places.push({ start: at, size: 1 });
  };
  for (const { start, end, isGone } of changes.sort((a, b) => a.start - b.start)) {
    upTo(start);
    if (!isGone) places.push({ start, size: end - start });
    at = end;
  }
  upTo(text.length);
  return places;
}

const known = new Map<string, string>();

function asciiOf(sign: string): string {
  const code = sign.codePointAt(0)!;
  if (code >= 0xff0d && code <= 0xff5a) return String.fromCodePoint(code - FULL_WIDTH);
  let digit = known.get(sign);
  if (digit === undefined) {
    // Digits stand in rows of ten, from nought on (Unicode, 4.6).
    let from = code;
    while (/\p{Nd}/u.test(String.fromCodePoint(from - 1))) from -= 1;
    known.set(sign, (digit = String((code - from) % 10)));
  }
  return digit;
}
