import type { SearchScope } from '../mcp/searching.ts';
import { MAX_QUERY, MAX_TERMS, parseQuery, type Groups, type Term } from '../search/query.ts';

export type SubjectlessQuery = { readonly ok: true; readonly query: string; readonly notes: readonly string[] } | { readonly ok: false; readonly reason: string };

/** What a term says of the columns that are left. */
const FIELDS = ['from', 'body', 'attachment'] as const;
const FIELD_OF = { sender: 'from', body: 'body', attachments: 'attachment' } as const;
const NOT_SENT = 'the owner does not let subjects be sent, so they are not searched';

/**
 * The same question for a client that subjects are not sent to: a word without a field is looked for everywhere else, and none
 * is looked for in a subject. Otherwise what is found would spell the subjects out.
 */
export function withoutSubject(query: string, scope: SearchScope): SubjectlessQuery {
  const parsed = parseQuery(query);
  if (!parsed.ok) return parsed;
  const { query: { groups, excluded }, notes } = parsed;
  if (scope === 'subject') return { ok: false, reason: `scope: ${NOT_SENT}.` };
  if ([...groups.flat(), ...excluded.flat(2)].some(({ column }) => column === 'subject')) return { ok: false, reason: `query: ${NOT_SENT}; leave subject: out.` };
  // It is read once more as it is, and its notes are made then.
  if (scope !== 'all') return { ok: true, query, notes: [] };
  const needed = elsewhere(groups);
  const left = excluded.map(elsewhere);
  const text = [...needed.map((terms) => terms.join(' OR ')), ...left.map(without)].join(' ');
  if (needed.flat().length + left.flat(2).length > MAX_TERMS || text.length > MAX_QUERY) {
    return { ok: false, reason: `query: ${NOT_SENT}, and what is left takes at most ${Math.floor(MAX_TERMS / FIELDS.length)} words and phrases without from:, body: or attachment: before them.` };
  }
  return { ok: true, query: text, notes };
}

/** Of a single term words and runs of other scripts must all be there; among alternatives each will do (as in `query`). */
const elsewhere = (groups: Groups): string[][] => groups
  .flatMap((group) => (group.length === 1 ? piecesOf(group[0]!).map((piece) => [piece]) : [group.flatMap(piecesOf)])).map((pieces) => pieces.flatMap(written));

const without = (groups: readonly (readonly string[])[]): string =>
  groups.length === 1 ? groups[0]!.map((term) => `-${term}`).join(' ') : `-(${groups.map((terms) => terms.join(' OR ')).join(' ')})`;

const piecesOf = (term: Term): Term[] => [term.words, ...term.cjk].filter((text) => text !== '')
  .map((words) => ({ ...term, words, cjk: [], isPrefix: term.isPrefix && term.cjk.length === 0 }));

function written({ words, isPrefix, column }: Term): string[] {
  const fields = column === null || column === 'subject' ? FIELDS : [FIELD_OF[column]];
  return fields.map((field) => `${field}:"${words}"${isPrefix ? '*' : ''}`);
}
