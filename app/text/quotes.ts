import { withoutHidden } from './hidden.ts';

/** All that looks like a mark that opens or closes a quotation: straight, curly, low, angle, corner, full-width, primes, ornaments. */
const DOUBLE = /["\u00ab\u00bb\u02ba\u02dd\u02ee\u02f6\u05f4\u201c-\u201f\u2033\u2034\u2036\u2037\u2039\u203a\u2057\u275d-\u2760\u276e\u276f\u2e42\u3003\u3008-\u300f\u301d-\u301f\ufe41-\ufe44\uff02\u{1f676}-\u{1f678}]/gu;
/** One alone is an apostrophe, as names have it; several look like a quotation mark. */
const SINGLES = /['`\u00b4\u02b9\u02bb\u02bc\u02c8\u2018-\u201b\u2032\u2035\u275b\u275c\uff07\uff40]{2,}/gu;

/** A name of a stranger that can stand between quotation marks: nothing in it can look like the end of them. */
export const withoutQuotes = (name: string): string => withoutHidden(name).replace(DOUBLE, '').replace(SINGLES, '\u2019').trim();

/** `"Claude Code"`: a name of a stranger within a sentence. @param otherwise what is said where nothing is left of it */
export const inQuotes = (name: string, otherwise = ''): string => `"${withoutQuotes(name) || otherwise}"`;
