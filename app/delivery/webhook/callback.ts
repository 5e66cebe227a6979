import { isIP } from 'node:net';
import { invalidParams } from '../../events/errors.ts';

/** Where a webhook goes, as its client named it. */
export interface Callback {
  /** In the one spelling of the URL standard: the same place is the same text. */
  readonly url: string;
  /** Name and, unless it is 443, port: what the owner lists. */
  readonly host: string;
}

const MAX_URL = 2048;

/**
 * `delivery.url` (events-extension 9.1): absolute, https. Names only, because an address would pass by the look at what the
 * name resolves to; no user name, because credentials do not belong in it; no fragment, because none is ever sent.
 * @throws EventsError -32602
 */
export function callbackOf(value: unknown): Callback {
  if (typeof value !== 'string') throw invalidParams('delivery.url: must be a string');
  if (value.length > MAX_URL) throw invalidParams(`delivery.url: must be at most ${MAX_URL} characters`);
  // The URL standard would take blanks and control characters out in silence.
  if (!/^https:\/\//i.test(value) || /[\s\p{Cc}]/u.test(value)) throw invalidParams('delivery.url: must be an absolute https URL');
  let url: URL;
  try {
    url = new URL(value);
  } catch {
    throw invalidParams('delivery.url: must be an absolute https URL');
  }
  if (url.username !== '' || url.password !== '') throw invalidParams('delivery.url: must not hold a user name');
  if (value.includes('#')) throw invalidParams('delivery.url: must not hold a fragment');
  if (url.hostname.startsWith('[') || isIP(url.hostname) !== 0) throw invalidParams('delivery.url: must name a host, not an address');
  return { url: url.href, host: url.host };
}
