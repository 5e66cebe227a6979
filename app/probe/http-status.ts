import type { IncomingHttpHeaders } from 'node:http';
import { HttpFailure, ProbeFailure } from './failure.ts';

/**
 * The name of a status that carries no answer of MCP.
 * @param host as it is shown
 * @param hasToken the request carried one
 */
export function statusFault(status: number, headers: IncomingHttpHeaders, host: string, hasToken: boolean): ProbeFailure {
  const said = `${host} answered with HTTP ${status}.`;
  if (status >= 300 && status < 400) {
    return new HttpFailure('HTTP_REDIRECTED', status, `${said} It points to ${placeOf(headers.location)}.`);
  }
  switch (status) {
    case 401:
      return hasToken ? new HttpFailure('AUTH_FAILED', status, `${host} refused the token (HTTP 401).`) : new HttpFailure('AUTH_LOGIN_REQUIRED', status, `${host} asks for a login (HTTP 401).`);
    case 403:
      return hasToken ? new HttpFailure('AUTH_FAILED', status, `The token may not do this at ${host} (HTTP 403).`) : new HttpFailure('FORBIDDEN', status, `${host} does not allow this (HTTP 403).`);
    case 404:
      return new HttpFailure('HTTP_NOT_FOUND', status, said);
    case 405:
      return new HttpFailure('HTTP_ERROR', status, `${said} It does not take this method.`);
    case 429:
      return new HttpFailure('RATE_LIMITED', status, `${said} Too many requests.`, waitHint(headers['retry-after']));
    default:
      return new HttpFailure('HTTP_ERROR', status, said);
  }
}

/** Where a redirect goes, without what may be secret. */
function placeOf(location: string | undefined): string {
  if (location === undefined) return 'nowhere';
  try {
    return shownUrl(new URL(location));
  } catch {
    return JSON.stringify(location.split(/[?#]/)[0]!.slice(0, 200));
  }
}

function waitHint(retryAfter: string | undefined): string | undefined {
  return retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter) ? `Wait ${retryAfter} s before the next try.` : undefined;
}

/** An address as it may be printed: query, fragment and credentials can be secrets. */
export const shownUrl = (url: URL): string => `${url.protocol}//${url.host}${url.pathname}${url.search === '' ? '' : '?...'}`;
