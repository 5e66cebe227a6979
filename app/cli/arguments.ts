/** How a flag is given: alone, with a value, or with comma-separated values, also several times. */
export type FlagKind = 'flag' | 'value' | 'list';

export interface Flags {
  /** What stands beside the flags, in order. */
  readonly rest: readonly string[];
  has(name: string): boolean;
  value(name: string): string | null;
  /** Null if the flag was not given; it may be empty. */
  list(name: string): readonly string[] | null;
}

/** Reads `--name`, `--name value` and `--name=value`; `--` ends flags. A string is a sentence about wrong use. */
export function readFlags(argv: readonly string[], known: Readonly<Record<string, FlagKind>>): Flags | string {
  const found = new Map<string, string[]>();
  const rest: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!;
    if (word === '--') {
      rest.push(...argv.slice(at + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      rest.push(word);
      continue;
    }
    const equals = word.indexOf('=');
    const name = equals === -1 ? word : word.slice(0, equals);
    const kind = Object.hasOwn(known, name) ? known[name]! : null;
    if (kind === null) return `Unknown option ${quoted(name)}.${listed(known)}`;
    if (kind === 'flag') {
      if (equals !== -1) return `${name} takes no value.`;
      found.set(name, []);
      continue;
    }
    const value = equals === -1 ? argv[++at] : word.slice(equals + 1);
    if (value === undefined || (value === '' && kind !== 'list') || (equals === -1 && value.startsWith('--'))) return `${name} needs a value.`;
    if (kind === 'value' && found.has(name)) return `${name} was given twice.`;
    const values = kind === 'list' ? value.split(',').map((each) => each.trim()).filter((each) => each !== '') : [value];
    found.set(name, [...(found.get(name) ?? []), ...values]);
  }
  return {
    rest,
    has: (name) => found.has(name),
    value: (name) => found.get(name)?.[0] ?? null,
    list: (name) => found.get(name) ?? null,
  };
}

/** A word of the command line as it is repeated to its author: cut, control characters escaped. */
export const quoted = (word: string): string => JSON.stringify(word.slice(0, 64));

const listed = (known: Readonly<Record<string, FlagKind>>) => {
  const names = Object.keys(known);
  return names.length === 0 ? '' : ` Known here: ${names.join(', ')}.`;
};
