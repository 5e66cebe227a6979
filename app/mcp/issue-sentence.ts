/** What is wrong at one place of a value, as a schema says it. */
export interface Issue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** Of `unrecognized_keys`. */
  readonly keys?: readonly string[] | undefined;
}

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
  const rule = issue.message.replace(/^Invalid input: /, '').replace(/^Too (big|small): /, '');
  return `${place}: ${rule === 'Invalid input' ? 'has none of the forms that it may have' : rule}`;
}
