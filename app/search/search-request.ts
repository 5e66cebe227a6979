import type { Column } from './query.ts';

/** What is asked of the index, by whoever may ask. */
export interface SearchRequest {
  readonly query: string;
  readonly scope?: 'all' | Column;
  readonly mailboxes?: readonly number[];
  readonly exceptMailboxes?: readonly number[];
  /** Unix seconds. */
  readonly after?: number;
  readonly before?: number;
  /** 1 to 100; default 20. */
  readonly limit?: number;
  /** 0 to 10,000; default 0. */
  readonly offset?: number;
  /** Default true. */
  readonly snippets?: boolean;
  readonly accept?: (mails: readonly number[]) => ReadonlySet<number>;
}

export const MAX_LIMIT = 100;
export const MAX_OFFSET = 10_000;
const DEFAULT_LIMIT = 20;
const SCOPES = new Set(['all', 'subject', 'sender', 'body']);

export interface Window {
  readonly limit: number;
  readonly offset: number;
}

/** The window, or a sentence that names the field and the rule. */
export function windowOf(request: SearchRequest): Window | string {
  const { limit = DEFAULT_LIMIT, offset = 0, after, before, scope = 'all' } = request;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) return `limit: a whole number from 1 to ${MAX_LIMIT}.`;
  if (!Number.isInteger(offset) || offset < 0 || offset > MAX_OFFSET) return `offset: a whole number from 0 to ${MAX_OFFSET}.`;
  if (!SCOPES.has(scope)) return 'scope: one of all, subject, sender, body.';
  for (const [name, value] of [['after', after], ['before', before]] as const) {
    if (value !== undefined && !Number.isSafeInteger(value)) return `${name}: a time in whole seconds since 1970.`;
  }
  return { limit, offset };
}
