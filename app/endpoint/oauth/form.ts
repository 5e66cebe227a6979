import type { OAuthError } from './oauth-error.ts';

/** Parameters by name, each there once (RFC 6749, 3.1 and 3.2); what is empty is as if it was left out. */
export type Form = ReadonlyMap<string, string>;

/**
 * @param many may be there several times (RFC 8707 has it of `resource`); each has to say the same
 * @returns a sentence where one is there twice: two readers could take different ones
 */
export function formOf(parameters: URLSearchParams, many = 'resource'): Form | string {
  const form = new Map<string, string>();
  for (const [name, value] of parameters) {
    if (value === '') continue;
    if (form.has(name) && (name !== many || form.get(name) !== value)) return `${name.slice(0, 40)}: must be there only once`;
    form.set(name, value);
  }
  return form;
}

/** A parameter that has to be there. @param rule of its text @param words the rule for people */
export function required(form: Form, name: string, rule: RegExp, words: string): string | OAuthError {
  const value = form.get(name);
  if (value === undefined) return invalidRequest(`${name}: is missing`);
  return rule.test(value) ? value : invalidRequest(`${name}: ${words}`);
}

export const invalidRequest = (description: string): OAuthError => ({ status: 400, error: 'invalid_request', description });
