/** Where a browser may be sent after a sign-in, and when two such addresses are the same. */
export const MAX_REDIRECTS = 10;
const MAX_LENGTH = 2048;

/** Loopback as it is written, not as a parser may read it: `127.1`, `0x7f.1` and a name before an `@` are something else. */
const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)(?::\d{1,5})?(?:[/?].*)?$/;
/**
 * Schemes of programs that speak MCP, without a dot since they are older than that rule. All others could be somebody
 * else's: of a terminal, a mail program, a share of files, or of the system.
 */
export const PROGRAM_SCHEMES: ReadonlySet<string> = new Set(['antigravity', 'claude', 'codex', 'cursor', 'lmstudio', 'opencode', 'vscode', 'windsurf']);
/** A domain in reverse (RFC 8252, 7.1). Those of the system's own programs answer nobody's sign-in. */
const REVERSE_DOMAIN = /^(?!com\.apple\.)[a-z]{2,63}(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/;
/** What the answer adds, or could be taken for one. */
const ANSWERS = new Set(['code', 'state', 'iss', 'error', 'error_description', 'error_uri']);

/**
 * Why an address cannot be registered, as a rule, or null. Allowed are https, http to this machine, and the scheme of a
 * program (RFC 8252, 7): whatever it is, the browser opens it. It must stand as every parser writes it, so that nobody reads another host out of it.
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
  if (scheme !== 'https' && scheme !== 'http' && !PROGRAM_SCHEMES.has(scheme) && !REVERSE_DOMAIN.test(scheme)) {
    return `must not have the scheme ${scheme.slice(0, 40)}, but https, http to this machine, or a program's own such as com.example.agent`;
  }
  if (scheme === 'http' && !LOOPBACK.test(uri)) return 'must be https, unless it is 127.0.0.1, [::1] or localhost';
  if (scheme === 'https' && url.hostname === '') return 'must name a host';
  for (const name of url.searchParams.keys()) if (ANSWERS.has(name.toLowerCase())) return `must not hold ${name} in its query: the answer brings it`;
  return url.href === uri || (url.pathname === '/' && url.search === '' && url.href === `${uri}/`) ? null : `must be written as ${url.href.slice(0, 200)}`;
}

/**
 * Whether a request's address is the registered one: character by character, but for the port of http to this machine,
 * which a program gets anew at each start (RFC 8252, 7.3).
 */
export function sameRedirect(registered: string, given: string): boolean {
  // Also for one that was registered when the rules were others.
  if (redirectFault(given) !== null) return false;
  return registered === given || (LOOPBACK.test(registered) && LOOPBACK.test(given) && withoutPort(registered) === withoutPort(given));
}

const withoutPort = (uri: string): string => uri.replace(/^(http:\/\/(?:\[::1\]|[^:/?]+)):\d+/, '$1');

/** For people: the host, or the scheme of a program. */
export function placeOf(uri: string): string {
  const url = new URL(uri);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.host : url.protocol.slice(0, -1);
}

/** The address as it was registered, with an answer behind its query: what stands there is not ours to write anew (RFC 6749, 3.1.2). */
export function withAnswer(uri: string, answer: Readonly<Record<string, string | null>>): string {
  const added = new URLSearchParams(Object.entries(answer).filter((each): each is [string, string] => each[1] !== null)).toString();
  const between = !uri.includes('?') ? '?' : /[?&]$/.test(uri) ? '' : '&';
  return `${uri}${between}${added}`;
}
