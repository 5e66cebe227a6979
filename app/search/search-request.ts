import type { Hit } from './index-reader.ts';
import type { Column } from './query.ts';
import type { SenderBound } from './sender-bound.ts';

/** Mails among those that were asked about. */
export interface Judged {
  readonly readable: ReadonlySet<number>;
  /** Those of them that the question is about. */
  readonly wanted: ReadonlySet<number>;
}

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
  /** Whose mail alone is found; left out: everybody's. */
  readonly senders?: SenderBound;
  /** Asked of the hits, newest first, before they count: then pages are full, and no figure depends on what may not be read. */
  readonly judge?: (hits: readonly Hit[]) => Judged;
  /** Which hits of the page may be shown as things are by now; those that may not are missing from it and from the count. */
  readonly check?: (hits: readonly Hit[]) => ReadonlySet<number>;
  /** Default true. */
  readonly snippets?: boolean;
}

export const MAX_LIMIT = 100;
export const MAX_OFFSET = 10_000;
const DEFAULT_LIMIT = 20;
const SCOPES = ['all', 'subject', 'sender', 'body', 'attachments'];

export interface Window {
  readonly limit: number;
  readonly offset: number;
}

/** The window, or a sentence that names the field and the rule. */
export function windowOf(request: SearchRequest): Window | string {
  const { limit = DEFAULT_LIMIT, offset = 0, after, before, scope = 'all' } = request;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) return `limit: a whole number from 1 to ${MAX_LIMIT}.`;
  if (!Number.isInteger(offset) || offset < 0 || offset > MAX_OFFSET) return `offset: a whole number from 0 to ${MAX_OFFSET}.`;
  if (!SCOPES.includes(scope)) return `scope: one of ${SCOPES.join(', ')}.`;
  for (const [name, value] of [['after', after], ['before', before]] as const) {
    if (value !== undefined && !Number.isSafeInteger(value)) return `${name}: a time in whole seconds since 1970.`;
  }
  return { limit, offset };
}
