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

/** All must match, each by any of its terms. */
export type Groups = readonly (readonly Term[])[];

/** What fits any of `excluded` whole is left out. */
export interface Query {
  readonly groups: Groups;
  readonly excluded: readonly Groups[];
}

export type ParsedQuery =
  /** `notes`: sentences on what was not read as it was written. */
  | { readonly ok: true; readonly query: Query; readonly notes: readonly string[] }
  | { readonly ok: false; readonly reason: string };

export const MAX_QUERY = 1000;
export const MAX_TERMS = 32;
/** A shorter prefix matches too much to be a question. */
export const MIN_PREFIX = 2;

type Field = Column | 'any' | 'unknown';
const COLUMNS: readonly (readonly [string, Column])[] = [
  ['subject', 'subject'], ['from', 'sender'], ['sender', 'sender'], ['body', 'body'], ['text', 'body'],
  ['attachment', 'attachments'], ['attachments', 'attachments'], ['filename', 'attachments'],
];
/** What mail programs read before a term, and this one does not. Words that texts often have before a colon are not among them. */
const FOREIGN = [
  'has', 'is', 'in', 'to', 'cc', 'bcc', 'date', 'after', 'before', 'since', 'until', 'older', 'newer', 'older_than', 'newer_than', 'received', 'sent',
  'label', 'mailbox', 'folder', 'category', 'larger', 'smaller', 'deliveredto', 'rfc822msgid', 'hasattachment', 'hasattachments',
].map((name) => [name, 'unknown'] as const);
/** Maps, as names such as `constructor` are asked for too. */
const FIELDS: Readonly<Record<'mail' | 'messages', ReadonlyMap<string, Field>>> = {
  mail: new Map<string, Field>([...FOREIGN, ...COLUMNS]),
  // A message is its text alone.
  messages: new Map<string, Field>([...FOREIGN, ...COLUMNS.map(([name, column]) => [name, column === 'body' ? 'any' : 'unknown'] as const)]),
};
const KNOWN = {
  mail: 'Known in a query are subject:, from:, body: and attachment:; after, before, mailbox and exclude are arguments of their own.',
  messages: 'after, before, chat and person are arguments of their own.',
} as const;
const BESIDE_OR = 'What is excluded beside OR is left out of the whole search.';
const IN_EXCLUSION = 'A - or NOT inside of what is excluded was not read.';

/** What the word table takes for a word (SQLite, FTS5, unicode61): letters, numbers, private use. */
const TOKEN = /[\p{L}\p{N}\p{Co}]/u;
const PIECE = /(-?)(?:([a-z0-9_]+):)?(?:"([^"]*)(?:"|$)(\*?)|(\()|([^\s"()]+))|(\))/giu;
const FIELD_ALONE = /^([a-z0-9_]+):$/i;

/**
 * Reads what a person or a model wrote: words (all must match), `"a phrase"`, `OR` between two of them, `-word` or `NOT word` to
 * exclude, `word*` for a beginning, `subject:`, `from:`, `body:` and `attachment:` before one of them; brackets hold several
 * together. `OR` binds closer than a blank; behind what is excluded it excludes more. What mail programs know and this does not,
 * such as `has:`, is left out and told. Everything else is text: `NEAR`, `^`, `+`, stray quotes and brackets mean nothing, so that
 * no input is a syntax error. Never throws.
 */
export function parseQuery(text: string, of: 'mail' | 'messages' = 'mail'): ParsedQuery {
  if (text.length > MAX_QUERY) return refused(`query: at most ${MAX_QUERY} characters.`);
  const clean = plainWidth(text.toWellFormed()).replace(/[\p{Cc}\ufffd]/gu, ' ').replace(/[“”„«»「」『』]/g, '"').normalize('NFC');
  const reader = new Reader(clean, FIELDS[of]);
  const { groups, excluded } = reader.part(null, false);
  const { unknown, notes } = reader;
  if (unknown.size > 0) notes.add(`Not known here and left out: ${[...unknown].map((name) => `${name}:`).join(', ')}. ${KNOWN[of]}`);
  if (reader.isWide) return refused(`query: at most ${MAX_TERMS} words and phrases; a word in brackets beside OR counts once for each on the other side.`);
  if (groups.flat().length + excluded.flat(2).length > MAX_TERMS) return refused(`query: at most ${MAX_TERMS} words and phrases.`);
  if (groups.length > 0) return { ok: true, query: { groups, excluded }, notes: [...notes] };
  if (reader.hasShort) return refused(`query: before \`*\`, at least ${MIN_PREFIX} characters are needed.`);
  const why = excluded.length > 0 ? 'query: at least one word that must be there is needed beside those to exclude.' : 'query: at least one word is needed.';
  return refused([why, ...notes].join(' '));
}

/** Terms and brackets that OR joins. */
interface Run {
  groups: Groups;
  readonly isNot: boolean;
  /** Something in it is excluded by itself. */
  excludes: boolean;
}

/** One pass over the pieces of a query. */
class Reader {
  readonly #pieces: Iterator<RegExpExecArray>;
  readonly #fields: ReadonlyMap<string, Field>;
  readonly unknown = new Set<string>();
  readonly notes = new Set<string>();
  hasShort = false;
  isWide = false;

  constructor(text: string, fields: ReadonlyMap<string, Field>) {
    this.#pieces = text.matchAll(PIECE);
    this.#fields = fields;
  }

  /** What stands before the closing bracket, or the end. */
  part(column: Column | null, isInside: boolean): Query {
    const runs: Run[] = [];
    const excluded: Groups[] = [];
    let [isOr, isNot, ahead] = [false, false, undefined as Field | undefined];
    for (let next = this.#pieces.next(); next.done !== true; next = this.#pieces.next()) {
      const [, minus, name, phrase, star, open, bare = '', close] = next.value;
      if (close !== undefined) {
        if (isInside) break;
        continue;
      }
      if (name === undefined && minus === '') {
        if (bare === 'OR' || bare === '|' || bare === '||') isOr = runs.length > 0;
        if (bare === 'NOT') isNot = true;
        if (SIGNS.has(bare)) continue;
      }
      const without = isNot || minus === '-';
      // `subject: rota` is meant as `subject:rota`.
      const alone = name === undefined ? this.#fieldOf(FIELD_ALONE.exec(bare)?.[1]) : undefined;
      if (alone !== undefined) {
        [ahead, isNot] = [alone, without];
        continue;
      }
      const own = this.#fieldOf(name);
      const field = own ?? ahead;
      const inColumn = field === undefined || field === 'unknown' ? column : field === 'any' ? null : field;
      // `https://...` or `re:` is no field: all of it is text.
      const content = (name !== undefined && own === undefined ? `${name}:` : '') + (phrase ?? bare);
      const term = this.#term(content, phrase === undefined ? /\*+$/.test(content) : star === '*', inColumn);
      const inner = open === undefined ? NOTHING : this.part(inColumn, true);
      const found = { groups: [...term, ...inner.groups], excluded: inner.excluded };
      if (found.groups.length + found.excluded.length === 0) continue;
      this.#add(runs, excluded, field === 'unknown' ? NOTHING : found, isOr, without);
      [isOr, isNot, ahead] = [false, false, undefined];
    }
    const left = runs.filter((run) => run.isNot && run.groups.length > 0).map((run) => run.groups);
    return { groups: runs.filter((run) => !run.isNot).flatMap((run) => run.groups), excluded: [...excluded, ...left] };
  }

  #term(content: string, isPrefix: boolean, column: Column | null): Groups {
    const term = termOf(content, isPrefix, column);
    if (term === 'short') this.hasShort = true;
    return term === null || term === 'short' ? [] : [[term]];
  }

  /** Takes in a term or a bracket. An exclusion among alternatives cannot be said in groups: it holds for the whole, which is told. */
  #add(runs: Run[], excluded: Groups[], found: Query, isOr: boolean, isNot: boolean): void {
    // Without a and without b is not (a or b).
    const isTurned = found.groups.length === 0 && found.excluded.length > 0;
    const groups = isTurned ? found.excluded.reduce((all, each) => this.#either(all, each)) : found.groups;
    const inner = isTurned ? [] : found.excluded;
    const without = isNot !== isTurned;
    const last = isOr ? runs.at(-1) : undefined;
    const excludes = inner.length > 0;
    if (excludes && (isNot || last?.isNot === true)) this.notes.add(IN_EXCLUSION);
    else excluded.push(...inner);
    if (last === undefined) runs.push({ groups, isNot: without, excludes });
    else {
      if (!last.isNot && ((without && groups.length > 0) || excludes || last.excludes)) this.notes.add(BESIDE_OR);
      if (!without) last.groups = this.#either(last.groups, groups);
      else if (groups.length > 0) excluded.push(groups);
    }
  }

  /** (a b) OR c is (a OR c) (b OR c). */
  #either(some: Groups, others: Groups): Groups {
    if (some.length === 0 || others.length === 0) return some.length === 0 ? others : some;
    if (some.length * others.length > 1 && some.length * others.flat().length + others.length * some.flat().length > MAX_TERMS) {
      this.isWide = true;
      return some;
    }
    return some.flatMap((one) => others.map((other) => [...one, ...other]));
  }

  /** Undefined where it is text. */
  #fieldOf(name: string | undefined): Field | undefined {
    if (name === undefined) return undefined;
    const key = name.toLowerCase();
    const field = this.#fields.get(key);
    if (field === 'unknown') this.unknown.add(key);
    return field;
  }
}

const NOTHING: Query = { groups: [], excluded: [] };
const SIGNS: ReadonlySet<string> = new Set(['OR', '|', '||', 'NOT', 'AND', '&', '&&']);

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
