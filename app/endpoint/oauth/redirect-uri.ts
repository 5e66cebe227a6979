/** Where a browser may be sent after a sign-in, and when two such addresses are the same. */
export const MAX_REDIRECTS = 10;
const MAX_LENGTH = 2048;

/** Loopback as it is written, not as a parser may read it: `127.1`, `0x7f.1` and a name before an `@` are something else. */
const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)(?::\d{1,5})?(?:[/?].*)?$/;
/** Run, read or open something on this machine, or belong to no program that could take an answer. */
const REFUSED_SCHEMES = new Set(['javascript', 'data', 'vbscript', 'file', 'blob', 'about', 'filesystem', 'view-source', 'ftp', 'ws', 'wss', 'mailto', 'tel', 'sms', 'chrome', 'resource']);

/**
 * Why an address cannot be registered, as a rule, or null. Allowed are https, http to this machine, and the scheme of a
 * program (RFC 8252, 7). It must stand as every parser writes it, so that nobody reads another host out of it.
 */
export function redirectFault(uri: unknown): string | null {
  if (typeof uri !== 'string') return 'must be text';
  if (uri.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`;
  if (!/^[\x21-\x7e]+$/.test(uri) || uri.includes('\\')) return 'must be plain ASCII without spaces and backslashes';
  if (uri.includes('#')) return 'must have no fragment';
  if (!URL.canParse(uri)) return 'is no absolute address';
  const url = new URL(uri);
  if (url.username !== '' || url.password !== '') return 'must hold no user name and no password';
  const scheme = url.protocol.slice(0, -1);
  if (REFUSED_SCHEMES.has(scheme)) return `must not have the scheme ${scheme}`;
  if (scheme === 'http' && !LOOPBACK.test(uri)) return 'must be https, unless it is 127.0.0.1, [::1] or localhost';
  if (scheme === 'https' && url.hostname === '') return 'must name a host';
  return url.href === uri || (url.pathname === '/' && url.search === '' && url.href === `${uri}/`) ? null : `must be written as ${url.href.slice(0, 200)}`;
}

/**
 * Whether a request's address is the registered one: character by character, but for the port of http to this machine,
 * which a program gets anew at each start (RFC 8252, 7.3).
 */
export function sameRedirect(registered: string, given: string): boolean {
  return registered === given || (LOOPBACK.test(registered) && redirectFault(given) === null && LOOPBACK.test(given) && withoutPort(registered) === withoutPort(given));
}

const withoutPort = (uri: string): string => uri.replace(/^(http:\/\/(?:\[::1\]|[^:/?]+)):\d+/, '$1');

/** For people: the host, or the scheme of a program. */
export function placeOf(uri: string): string {
  const url = new URL(uri);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.host : url.protocol.slice(0, -1);
}

/** The address with an answer in its query. */
export function withAnswer(uri: string, answer: Readonly<Record<string, string | null>>): string {
  const url = new URL(uri);
  for (const [name, value] of Object.entries(answer)) if (value !== null) url.searchParams.set(name, value);
  return url.href;
}
