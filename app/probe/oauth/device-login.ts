import { cleanText } from '../../events/text.ts';
import type { Deadline } from '../deadline.ts';
import { ProbeFailure } from '../failure.ts';
import type { JsonObject } from '../link.ts';
import type { Authority } from './discovery.ts';
import type { OAuthAnswer, OAuthHttp } from './oauth-http.ts';
import type { StoredTokens } from './token-store.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** Where a server does not say (RFC 8628 section 3.2). */
const INTERVAL_S = 5;

export interface Client {
  readonly id: string;
  readonly secret: string | null;
}

export interface LoginOptions {
  readonly authority: Authority;
  readonly http: OAuthHttp;
  readonly deadline: Deadline;
  readonly now: () => number;
  /** For the person who logs in. */
  note(line: string): void;
  /** What must never be printed. */
  secret(value: string): void;
}

/** Asked before anything is registered. @throws ProbeFailure where there is none */
export function deviceEndpoint({ deviceEndpoint: endpoint }: Authority): URL {
  if (endpoint !== null) return endpoint;
  throw new ProbeFailure('AUTH_FAILED', 'The authorization server has no login by device code.', 'Put a token into MCP_PROBE_AUTH_TOKEN.');
}

/** Makes this program known to the authority (RFC 7591). @throws ProbeFailure */
export async function register({ authority, http, secret }: LoginOptions): Promise<Client> {
  if (authority.registrationEndpoint === null) {
    throw new ProbeFailure('AUTH_FAILED', 'The authorization server registers no new clients.', 'Put the id of a registered client into MCP_PROBE_CLIENT_ID.');
  }
  const { status, body } = await http.post(authority.registrationEndpoint, {
    json: { client_name: 'belfry probe', grant_types: [DEVICE_GRANT, 'refresh_token'], response_types: [], redirect_uris: [], token_endpoint_auth_method: 'none' },
  });
  const id = body?.['client_id'];
  if (status >= 300 || typeof id !== 'string') throw new ProbeFailure('AUTH_FAILED', `The authorization server refused the registration${reasonOf(body)}.`);
  const given = body?.['client_secret'];
  if (typeof given === 'string') secret(given);
  return { id, secret: typeof given === 'string' ? given : null };
}

/**
 * The device authorization grant (RFC 8628): a person opens a page and types a code, while this asks for the token
 * no more often than it may. @throws ProbeFailure; UnknownClient where it must be registered anew
 */
export async function deviceLogin(client: Client, options: LoginOptions): Promise<StoredTokens> {
  const { authority, http, deadline, note, secret } = options;
  const started = await http.post(deviceEndpoint(authority), { form: { client_id: client.id, client_secret: client.secret, scope: authority.scope, resource: authority.resource } });
  const { device_code: device, user_code: code, verification_uri: page, verification_uri_complete: whole, interval } = started.body ?? {};
  if (started.status !== 200 || typeof device !== 'string' || typeof code !== 'string' || typeof page !== 'string') throw refused(started, 'the login');
  secret(device);
  note(`verification-uri ${cleanText(page, 500)}`);
  note(`user-code ${cleanText(code, 100)}`);
  if (typeof whole === 'string') note(`verification-uri-complete ${cleanText(whole, 500)}`);
  let seconds = typeof interval === 'number' && interval > 0 ? interval : INTERVAL_S;
  for (;;) {
    if (!(await deadline.pause(seconds * 1000))) throw new ProbeFailure('AUTH_TIMEOUT', 'Nobody finished the login in time.');
    const answer = await http.post(authority.tokenEndpoint, {
      form: { grant_type: DEVICE_GRANT, device_code: device, client_id: client.id, client_secret: client.secret, resource: authority.resource },
    });
    const error = answer.body?.['error'];
    if (answer.status === 200) return tokensOf(answer.body ?? {}, client, null, options);
    if (error === 'slow_down') seconds += 5;
    else if (error === 'expired_token') throw new ProbeFailure('AUTH_TIMEOUT', 'The code was not used before it expired.');
    else if (error === 'access_denied') throw new ProbeFailure('AUTH_FAILED', 'The login was refused on the page.', null);
    // A server in trouble may be well again at the next time.
    else if (error !== 'authorization_pending' && answer.status < 500) throw refused(answer, 'the login');
  }
}

/** A new token for an old one. The refresh token may be used once: what comes is to be kept before it is used. @throws ProbeFailure */
export async function refresh(old: StoredTokens, options: LoginOptions): Promise<StoredTokens> {
  const { authority, http } = options;
  const answer = await http.post(authority.tokenEndpoint, {
    form: { grant_type: 'refresh_token', refresh_token: old.refreshToken, client_id: old.clientId, client_secret: old.clientSecret, resource: authority.resource },
  });
  if (answer.status === 200) return tokensOf(answer.body ?? {}, { id: old.clientId, secret: old.clientSecret }, old.refreshToken, options);
  if (answer.status >= 500 || answer.status === 429) throw new ProbeFailure('AUTH_REFRESH_FAILED', `The authorization server could not renew the token (HTTP ${answer.status}).`);
  throw refused(answer, 'to renew the token');
}

/** A client that the authority does not know any more: after it was set up anew. */
export class UnknownClient extends ProbeFailure {}

function refused({ status, body }: OAuthAnswer, what: string): ProbeFailure {
  const said = `The authorization server refused ${what}${reasonOf(body) || ` (HTTP ${status})`}.`;
  const error = body?.['error'];
  return error === 'invalid_client' || error === 'unauthorized_client' ? new UnknownClient('AUTH_LOGIN_REQUIRED', said) : new ProbeFailure(error === 'invalid_grant' ? 'AUTH_LOGIN_REQUIRED' : 'AUTH_FAILED', said);
}

/** `error` and its description, as the server words them. */
function reasonOf(body: JsonObject | null): string {
  const error = body?.['error'];
  const description = body?.['error_description'];
  if (typeof error !== 'string') return '';
  return `: ${cleanText(error, 100)}${typeof description === 'string' ? ` (${cleanText(description, 300)})` : ''}`;
}

function tokensOf(body: JsonObject, client: Client, oldRefresh: string | null, { authority, now, secret }: LoginOptions): StoredTokens {
  const { access_token: access, refresh_token: renewed, expires_in: seconds, token_type: type } = body;
  if (typeof access !== 'string' || access === '' || (typeof type === 'string' && type.toLowerCase() !== 'bearer')) {
    throw new ProbeFailure('AUTH_FAILED', 'The authorization server answered without a bearer token.');
  }
  const refreshToken = typeof renewed === 'string' ? renewed : oldRefresh;
  secret(access);
  if (refreshToken !== null) secret(refreshToken);
  const obtainedAt = now();
  return {
    version: 1, resource: authority.resource, issuer: authority.issuer, clientId: client.id, clientSecret: client.secret, accessToken: access, refreshToken, obtainedAt,
    expiresAt: typeof seconds === 'number' && seconds > 0 ? obtainedAt + seconds * 1000 : null,
  };
}
