import { ProbeFailure } from '../failure.ts';
import type { Json, JsonObject } from '../link.ts';
import type { OAuthHttp } from './oauth-http.ts';

/** Where tokens for a server come from. */
export interface Authority {
  /** Exactly as the server names itself (RFC 8707). */
  readonly resource: string;
  readonly issuer: string;
  readonly tokenEndpoint: URL;
  readonly deviceEndpoint: URL | null;
  readonly registrationEndpoint: URL | null;
  readonly revocationEndpoint: URL | null;
  /** What to ask for; null: the server does not say. */
  readonly scope: string | null;
}

/**
 * Finds the authorization server of a resource: by the metadata that the resource itself names or keeps at its
 * well-known places (RFC 9728), then by that of the authority (RFC 8414); where a resource says nothing, its own
 * origin is the authority.
 * @throws ProbeFailure
 */
export async function discoverAuthority(server: URL, http: OAuthHttp): Promise<Authority> {
  const challenge = await challengeOf(server, http);
  const described = await resourceMetadata(server, challenge.metadata, http);
  const named = described?.['authorization_servers'];
  const issuer = Array.isArray(named) && typeof named[0] === 'string' ? named[0] : server.origin;
  const metadata = await authorityMetadata(issuer, http);
  const tokenEndpoint = endpointOf(metadata, 'token_endpoint');
  if (tokenEndpoint === null) throw new ProbeFailure('AUTH_FAILED', 'The authorization server names no token endpoint.');
  const scopes = described?.['scopes_supported'];
  return {
    resource: typeof described?.['resource'] === 'string' ? described['resource'] : bare(server),
    issuer, tokenEndpoint,
    deviceEndpoint: endpointOf(metadata, 'device_authorization_endpoint'),
    registrationEndpoint: endpointOf(metadata, 'registration_endpoint'),
    revocationEndpoint: endpointOf(metadata, 'revocation_endpoint'),
    scope: challenge.scope ?? (Array.isArray(scopes) && scopes.length > 0 ? scopes.filter((each: Json) => typeof each === 'string').join(' ') : null),
  };
}

/** The address of a resource without what does not name it. */
export const bare = (url: URL): string => `${url.origin}${url.pathname}`;

/** What a server answers to somebody without a token. */
async function challengeOf(server: URL, http: OAuthHttp): Promise<{ readonly metadata: URL | null; readonly scope: string | null }> {
  const { status, headers } = await http.post(server, { json: { jsonrpc: '2.0', id: 1, method: 'ping' } });
  const challenge = status === 401 ? headers['www-authenticate'] ?? '' : '';
  const metadata = parameterOf(challenge, 'resource_metadata');
  return { metadata: metadata !== null && URL.canParse(metadata) ? new URL(metadata) : null, scope: parameterOf(challenge, 'scope') };
}

/** `name="value"` or `name=value` of a challenge (RFC 9110 section 11). */
export function parameterOf(challenge: string, name: string): string | null {
  for (const [, key, inQuotes, word] of challenge.matchAll(/([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/g)) {
    if (key!.toLowerCase() === name) return inQuotes === undefined ? word! : inQuotes.replace(/\\(.)/g, '$1');
  }
  return null;
}

async function resourceMetadata(server: URL, named: URL | null, http: OAuthHttp): Promise<JsonObject | null> {
  const path = server.pathname.replace(/\/$/, '');
  const places = [...(named === null ? [] : [named]), ...unique([`${server.origin}/.well-known/oauth-protected-resource${path}`, `${server.origin}/.well-known/oauth-protected-resource`]).map((place) => new URL(place))];
  for (const place of places) {
    const { status, body } = await http.get(place);
    if (status !== 200 || body === null) continue;
    if (!isFor(body['resource'], server)) throw new ProbeFailure('AUTH_FAILED', 'The metadata of the server speaks of another server, so its login is not trusted.');
    return body;
  }
  return null;
}

/** The resource itself, or one that holds it: the same origin and a path above. */
function isFor(resource: Json | undefined, server: URL): boolean {
  if (typeof resource !== 'string' || !URL.canParse(resource)) return false;
  const { origin, pathname } = new URL(resource);
  const above = pathname.endsWith('/') ? pathname : `${pathname}/`;
  return origin === server.origin && `${server.pathname}/`.startsWith(above);
}

async function authorityMetadata(issuer: string, http: OAuthHttp): Promise<JsonObject> {
  if (!URL.canParse(issuer)) throw new ProbeFailure('AUTH_FAILED', 'The server names an authorization server that is no address.');
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const places = unique([
    `${origin}/.well-known/oauth-authorization-server${path}`, `${origin}/.well-known/openid-configuration${path}`, `${origin}${path}/.well-known/openid-configuration`,
  ]);
  for (const place of places) {
    const { status, body } = await http.get(new URL(place));
    if (status !== 200 || body === null) continue;
    // Else one authority could pass for another (RFC 8414 section 3.3).
    if (body['issuer'] !== issuer && body['issuer'] !== `${issuer}/` && `${String(body['issuer'])}/` !== issuer) {
      throw new ProbeFailure('AUTH_FAILED', 'The metadata of the authorization server names another issuer.');
    }
    return body;
  }
  throw new ProbeFailure('AUTH_FAILED', 'The server offers no login: no authorization server was found.', 'Put a token into MCP_PROBE_AUTH_TOKEN.');
}

function endpointOf(metadata: JsonObject, name: string): URL | null {
  const value = metadata[name];
  return typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
}

const unique = (values: readonly string[]) => [...new Set(values)];
