/** What is wrong at one place of a value, as a schema says it. What a code has beyond these may be absent: some come as JSON. */
export interface Issue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** Of `unrecognized_keys`. */
  readonly keys?: readonly string[] | undefined;
  /** Of `invalid_type`. */
  readonly expected?: string | undefined;
  /** Of `invalid_value`. */
  readonly values?: readonly unknown[] | undefined;
  /** Of `too_small` and `too_big`: the kind of value, and its bound. */
  readonly origin?: string | undefined;
  readonly minimum?: number | bigint | undefined;
  readonly maximum?: number | bigint | undefined;
  readonly inclusive?: boolean | undefined;
  readonly exact?: boolean | undefined;
  /** Of `invalid_format`. */
  readonly format?: string | undefined;
  /** Of `not_multiple_of`. */
  readonly divisor?: number | bigint | undefined;
  /** Of `invalid_key` and `invalid_element`. */
  readonly issues?: readonly Issue[] | undefined;
  /** Of `invalid_union`: what each form finds. */
  readonly errors?: readonly (readonly Issue[])[] | undefined;
}

/** The library's own messages begin so; any other was written for its place and says the rule. */
const LIBRARY = /^(?:Invalid|Too (?:big|small)|Unrecognized)\b/;
const DOES_NOT_FIT = 'does not have the form that it must have';
const TYPES: Readonly<Record<string, string>> = {
  string: 'must be a string', number: 'must be a number', int: 'must be an integer', boolean: 'must be true or false', array: 'must be an array',
  object: 'must be an object', record: 'must be an object', null: 'must be null', never: 'must be left out',
};
const FORMATS: Readonly<Record<string, string>> = {
  datetime: 'must be a time such as 2026-11-30T08:00:00Z', date: 'must be a day such as 2026-11-30', url: 'must be a URL', email: 'must be an e-mail address', uuid: 'must be a UUID',
};
const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item', set: 'item', map: 'entry' };

/**
 * An issue as `place: rule`; values are never repeated.
 * @param whole name of the place that is the value itself
 * @param known fields that there are, for one that there is not
 */
export function issueSentence(issue: Issue, whole: string, known: readonly string[] = []): string {
  const place = issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part).slice(0, 64)}`)).join('').replace(/^\./, '') || whole;
  if (issue.code === 'unrecognized_keys') {
    return `${place}: unknown field ${JSON.stringify(String(issue.keys?.[0]).slice(0, 64))}; known are ${known.join(', ') || 'none'}`;
  }
  return `${place}: ${ruleOf(issue)}`;
}

function ruleOf(issue: Issue): string {
  if (isMissing(issue)) return 'is missing';
  if (!LIBRARY.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type': return named(TYPES, issue.expected);
    case 'invalid_value': return issue.values === undefined ? DOES_NOT_FIT : `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'invalid_format': return named(FORMATS, issue.format);
    case 'too_small': return boundOf(issue, issue.minimum, 'at least', 'more than');
    case 'too_big': return boundOf(issue, issue.maximum, 'at most', 'less than');
    case 'not_multiple_of': return issue.divisor === undefined ? DOES_NOT_FIT : `must be a multiple of ${issue.divisor}`;
    case 'invalid_key': return issue.issues?.[0] === undefined ? DOES_NOT_FIT : `its name ${ruleOf(issue.issues[0])}`;
    case 'invalid_element': return issue.issues?.[0] === undefined ? DOES_NOT_FIT : `one of its items ${ruleOf(issue.issues[0])}`;
    case 'invalid_union': return 'has none of the forms that it may have';
    default: return DOES_NOT_FIT;
  }
}

/** Only the library's words tell nothing from something of another type. */
const isMissing = ({ code, message, errors }: Issue): boolean =>
  code === 'invalid_union' ? errors !== undefined && errors.length > 0 && errors.every(([first]) => first !== undefined && isMissing(first)) : code === 'invalid_type' && message.endsWith(', received undefined');

const named = (words: Readonly<Record<string, string>>, name: string | undefined): string => (name !== undefined && Object.hasOwn(words, name) ? words[name]! : DOES_NOT_FIT);

function boundOf({ origin = '', inclusive, exact }: Issue, bound: number | bigint | undefined, within: string, beyond: string): string {
  if (bound === undefined) return DOES_NOT_FIT;
  const how = exact === true ? 'exactly' : inclusive === false ? beyond : within;
  if (!Object.hasOwn(UNITS, origin)) return `must be ${how} ${bound}`;
  const unit = UNITS[origin]!;
  return `must have ${how} ${bound} ${Number(bound) === 1 ? unit : `${unit.replace(/y$/, 'ie')}s`}`;
}
