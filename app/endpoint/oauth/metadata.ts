import { PATH } from '../http/gate.ts';
import { GRANT_TYPES } from './registration.ts';

export const PATHS = { authorize: '/oauth/authorize', wait: '/oauth/wait', token: '/oauth/token', revoke: '/oauth/revoke', register: '/oauth/register' } as const;

const RESOURCE_METADATA = '/.well-known/oauth-protected-resource';
/** Of RFC 8414, and of OpenID Connect for clients that look only there; also with the endpoint's path behind it. */
const SERVER_METADATA = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'];

/** The one scope: what a client may beyond it is chosen by the owner, whatever it asks for. */
export const SCOPE = 'events';

export const resourceOf = (origin: string): string => `${origin}${PATH}`;

/** RFC 9728, for `/mcp`. @param origin by which the client knows this machine */
const resourceMetadata = (origin: string): object => ({
  resource: resourceOf(origin), authorization_servers: [origin], scopes_supported: [SCOPE], bearer_methods_supported: ['header'], resource_name: 'Belfry',
});

/** RFC 8414. What is not named here is not offered: no secrets of clients, no device flow, no implicit answers. */
const serverMetadata = (issuer: string): object => ({
  issuer,
  authorization_endpoint: issuer + PATHS.authorize,
  token_endpoint: issuer + PATHS.token,
  registration_endpoint: issuer + PATHS.register,
  revocation_endpoint: issuer + PATHS.revoke,
  scopes_supported: [SCOPE],
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: GRANT_TYPES,
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: false,
  request_parameter_supported: false,
  request_uri_parameter_supported: false,
});

/** The document at a path, or null for one that is none of these. */
export function metadataAt(path: string, origin: string): object | null {
  if (path === RESOURCE_METADATA || path === RESOURCE_METADATA + PATH) return resourceMetadata(origin);
  return SERVER_METADATA.some((each) => path === each || path === each + PATH) ? serverMetadata(origin) : null;
}

/** `WWW-Authenticate` of a 401 (RFC 9728, 5.1). */
export function challengeOf(problem: 'missing' | 'invalid', origin: string): string {
  const error = problem === 'invalid' ? ', error="invalid_token", error_description="The token is unknown, revoked or over"' : '';
  return `Bearer realm="Belfry", resource_metadata="${origin}${RESOURCE_METADATA}${PATH}", scope="${SCOPE}"${error}`;
}
