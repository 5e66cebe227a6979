import { hideCodes, mayShowCode } from '../events/one-time-code.ts';
import { plainWidth, widthPlaces } from './cjk.ts';
import type { Query } from './query.ts';

export interface Snippet {
  /** One line; `…` where text was left out. */
  readonly text: string;
  /** Where words of the query stand, in UTF-16 units. */
  readonly marks: readonly { readonly start: number; readonly end: number }[];
}

const BEFORE = 60;
export const SNIPPET = 220;
/** Text that is looked through. */
const MAX_LOOKED = 200_000;
const MAX_MARKS = 20;
const WORD = /[\p{L}\p{N}\p{Co}\p{M}]/u;

/** What of a query can stand in a text: words and phrases as they are written, without those to exclude. */
export function needlesOf(query: Query): string[] {
  const terms = query.groups.flat().filter((term) => term.column === null || term.column === 'body');
  const needles = terms.flatMap((term) => [...(term.words.match(/[\p{L}\p{N}\p{Co}\p{M}]+/gu) ?? []), ...term.cjk]);
  return [...new Set(needles.map(fold))].filter((needle) => needle !== '');
}

/**
 * The stretch around the first word of the query, or the beginning where none is found.
 * @param about subject of a text whose one-time codes are hidden; null: they are shown
 */
export function cutSnippet(text: string, needles: readonly string[], about: (() => string) | null): Snippet {
  const looked = text.slice(0, MAX_LOOKED);
  const first = firstOf(looked, needles);
  let start = first < 0 ? 0 : Math.max(0, first - BEFORE);
  if (start > 0) {
    const blank = looked.indexOf(' ', start);
    if (blank >= 0 && blank < first) start = blank + 1;
    else if (isLow(looked, start)) start += 1;
  }
  let end = Math.min(text.length, start + SNIPPET);
  if (isLow(text, end)) end -= 1;
  const lead = start > 0 ? '…' : '';
  // What names a code may stand far from it, and the cut may go through it.
  const mayShow = about !== null && mayShowCode(text.slice(Math.max(0, start - BEFORE), end + BEFORE), text);
  const shown = mayShow ? hideCodes(text, about()) : text;
  const line = lead + shown.slice(start, end).replace(/\s+/g, ' ').trim() + (end < text.length ? '…' : '');
  return { text: line, marks: marksIn(line, needles) };
}

function firstOf(text: string, needles: readonly string[]): number {
  const folded = fold(text);
  let first = -1;
  for (const needle of needles) {
    const at = wordAt(folded, needle, 0);
    if (at >= 0 && (first < 0 || at < first)) first = at;
  }
  // Folding keeps the length of nearly every text; where it does not, the place is not exact and marks are found anew.
  return first < 0 ? first : Math.min((folded.length === text.length ? null : widthPlaces(text))?.[first] ?? first, text.length);
}

function marksIn(line: string, needles: readonly string[]): { start: number; end: number }[] {
  const folded = fold(line);
  const places = folded.length === line.length ? null : widthPlaces(line);
  if (folded.length !== (places === null ? line.length : places.length - 1)) return [];
  const place = (at: number) => places?.[at] ?? at;
  const marks: { start: number; end: number }[] = [];
  for (const needle of needles) {
    for (let at = wordAt(folded, needle, 0); at >= 0 && marks.length < MAX_MARKS; at = wordAt(folded, needle, at + needle.length)) marks.push({ start: place(at), end: place(at + needle.length) });
  }
  return marks.sort((a, b) => a.start - b.start || b.end - a.end).filter((mark, at, all) => at === 0 || mark.start >= all[at - 1]!.end);
}

/** The needle at the start of a word; within a run of characters without blanks anywhere. */
export function wordAt(text: string, needle: string, from: number): number {
  for (let at = text.indexOf(needle, from); at >= 0; at = text.indexOf(needle, at + 1)) {
    if (at === 0 || needle.charCodeAt(0) > 0x10ff || !WORD.test(text[at - 1]!)) return at;
  }
  return -1;
}

/** Case, width and diacritics do not count, as in the index; a letter stays one unit, or becomes one. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  // eslint-disable-next-line no-control-regex
  return /^[\x00-\x7f]*$/.test(lower) ? lower : plainWidth(lower).replace(/[\u00c0-\u024f\u0370-\u04ff\u1e00-\u1fff]/g, (sign) => sign.normalize('NFD')[0]!);
}

const isLow = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00;
