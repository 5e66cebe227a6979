import { plainWidth, splitCjk } from './cjk.ts';

export type Column = 'subject' | 'sender' | 'body' | 'attachments';

/** One thing to look for: a word or a phrase. */
export interface Term {
  /** Text for the word table, '' where there is none. */
  readonly words: string;
  /** Runs for the trigram table, without padding. */
  readonly cjk: readonly string[];
  /** The last word may go on. */
  readonly isPrefix: boolean;
  readonly column: Column | null;
}

/** All groups must match, each by any of its terms; no excluded term may. */
export interface Query {
  readonly groups: readonly (readonly Term[])[];
  readonly excluded: readonly Term[];
}

export type ParsedQuery = { readonly ok: true; readonly query: Query } | { readonly ok: false; readonly reason: string };

export const MAX_QUERY = 1000;
export const MAX_TERMS = 32;
/** A shorter prefix matches too much to be a question. */
export const MIN_PREFIX = 2;
const COLUMNS: Readonly<Record<string, Column>> = { subject: 'subject', from: 'sender', sender: 'sender', body: 'body', text: 'body', attachment: 'attachments', attachments: 'attachments' };
/** What the word table takes for a word (SQLite, FTS5, unicode61): letters, numbers, private use. */
const TOKEN = /[\p{L}\p{N}\p{Co}]/u;
const PIECE = /(-?)(?:([a-z]+):)?(?:"([^"]*)(?:"|$)(\*?)|([^\s"()]+))/giu;

/**
 * Reads what a person or a model wrote: words (all must match), `"a phrase"`, `OR` between terms, `-word` or `NOT word` to
 * exclude, `word*` for a beginning, `subject:`, `from:` and `body:` before a term. Everything else is text: brackets, `AND`,
 * `NEAR`, `^`, `+` and stray quotes mean nothing, so that no input is a syntax error. Never throws.
 */
export function parseQuery(text: string): ParsedQuery {
  if (text.length > MAX_QUERY) return refused(`query: at most ${MAX_QUERY} characters.`);
  const clean = plainWidth(text.toWellFormed()).replace(/[\p{Cc}\ufffd]/gu, ' ').replace(/[“”„«»「」『』]/g, '"').normalize('NFC');
  const groups: Term[][] = [];
  const excluded: Term[] = [];
  let [isOr, isNot, hasShort] = [false, false, false];
  for (const match of clean.matchAll(PIECE)) {
    const [, minus, field, phrase, phraseStar, bare] = match;
    if (field === undefined && phrase === undefined && minus === '') {
      if (bare === 'OR' || bare === '|') {
        isOr = groups.length > 0;
        continue;
      }
      if (bare === 'NOT') {
        isNot = true;
        continue;
      }
      if (bare === 'AND' || bare === '&') continue;
    }
    const column = field === undefined ? null : (COLUMNS[field.toLowerCase()] ?? null);
    // `https://...` or `re:` is no column: all of it is text.
    const content = (field !== undefined && column === null ? `${field}:` : '') + (phrase ?? bare ?? '');
    const term = termOf(content, phrase === undefined ? /\*+$/.test(content) : phraseStar === '*', column);
    if (term === null) continue;
    if (term === 'short') {
      hasShort = true;
      continue;
    }
    if (minus === '-' || isNot) excluded.push(term);
    else if (isOr) groups.at(-1)!.push(term);
    else groups.push([term]);
    [isOr, isNot] = [false, false];
  }
  if (groups.flat().length + excluded.length > MAX_TERMS) return refused(`query: at most ${MAX_TERMS} words and phrases.`);
  if (groups.length > 0) return { ok: true, query: { groups, excluded } };
  if (hasShort) return refused(`query: before \`*\`, at least ${MIN_PREFIX} characters are needed.`);
  return refused(excluded.length > 0 ? 'query: at least one word that must be there is needed beside those to exclude.' : 'query: at least one word is needed.');
}

function termOf(content: string, isPrefix: boolean, column: Column | null): Term | 'short' | null {
  const { words, cjk } = splitCjk(content.replaceAll('*', ' '));
  const runs = cjk === '' ? [] : cjk.trim().split(/ +/);
  const text = TOKEN.test(words) ? words.trim().replace(/\s+/g, ' ') : '';
  if (text === '' && runs.length === 0) return null;
  if (isPrefix && runs.length === 0 && [...(text.match(/[\p{L}\p{N}\p{Co}\p{M}]+/gu)?.at(-1) ?? '')].length < MIN_PREFIX) return 'short';
  return { words: text, cjk: runs, isPrefix, column };
}

const refused = (reason: string): ParsedQuery => ({ ok: false, reason });

/** A string of FTS5: all that is special stands inside it. */
export const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** The word part of a term for MATCH. */
export function wordMatch(term: Term): string {
  return `${term.column === null ? '' : `${term.column} : `}${quoted(term.words)}${term.isPrefix && term.cjk.length === 0 ? ' *' : ''}`;
}
