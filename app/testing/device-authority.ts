import { httpPeer, json, type HttpPeer } from './http-peer.ts';
import { batch, descriptor, discovered } from './probe-kit.ts';

/** How the authority behaves; a test changes it as it goes. */
export interface AuthorityState {
  /** Answers to the questions for a token by device code, before it is given. */
  pending: string[];
  /** Status and error of a renewal; null: it is given. */
  refusesRefresh: { status: number; error: string } | null;
  /** Clients that it knows; a registration adds one. */
  readonly clients: Set<string>;
  /** Tokens that the resource takes. */
  readonly valid: Set<string>;
  /** The one refresh token that may be used next. */
  refreshToken: string;
  expiresIn: number | null;
  /** Members of the two metadata documents, over the usual ones. */
  resource: Record<string, unknown> | null;
  metadata: Record<string, unknown>;
  /** A path that is never answered. */
  silentPath: string | null;
  /** What the token endpoint was asked, without tokens. */
  readonly grants: string[];
}

export interface DeviceAuthority extends HttpPeer {
  readonly state: AuthorityState;
  paths(): string[];
}

/** An MCP server that asks for a token, and the authority for it, both at one origin (RFC 8628, 8414, 9728, 7591). */
export async function deviceAuthority(): Promise<DeviceAuthority> {
  const state: AuthorityState = {
    pending: [], refusesRefresh: null, clients: new Set(), valid: new Set(), refreshToken: '', expiresIn: 3600, resource: {}, metadata: {}, silentPath: null, grants: [],
  };
  let tokens = 0;
  const give = () => {
    tokens += 1;
    const access = `access-${tokens}-${'x'.repeat(20)}`;
    state.valid.add(access);
    state.refreshToken = `refresh-${tokens}-${'y'.repeat(20)}`;
    return { access_token: access, token_type: 'Bearer', refresh_token: state.refreshToken, ...(state.expiresIn !== null && { expires_in: state.expiresIn }) };
  };
  const peer: HttpPeer = await httpPeer((request, response) => {
    const { origin } = peer;
    const form = new URLSearchParams(request.body);
    if (request.path === state.silentPath) return undefined;
    switch (request.path) {
      case '/mcp': {
        if (!state.valid.has((request.headers.authorization ?? '').replace('Bearer ', ''))) {
          return json(response, { error: 'unauthorized' }, 401, { 'WWW-Authenticate': `Bearer resource_metadata="${origin}/metadata", scope="events:read"` });
        }
        const { id, method } = request.message;
        const result = { 'server/discover': discovered(), 'events/list': { events: [descriptor()] }, 'events/poll': batch([], 'c0') }[method as string];
        return json(response, result ? { jsonrpc: '2.0', id, result } : { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
      }
      case '/metadata':
        return state.resource === null ? void response.writeHead(404).end() : json(response, { resource: `${origin}/mcp`, authorization_servers: [origin], ...state.resource });
      case '/.well-known/oauth-authorization-server':
        return json(response, {
          issuer: origin, token_endpoint: `${origin}/token`, device_authorization_endpoint: `${origin}/device`, registration_endpoint: `${origin}/register`, revocation_endpoint: `${origin}/revoke`,
          ...state.metadata,
        });
      case '/register': {
        const id = `client-${state.clients.size + 1}`;
        state.clients.add(id);
        return json(response, { client_id: id, ...request.message }, 201);
      }
      case '/device':
        if (!state.clients.has(form.get('client_id') ?? '')) return json(response, { error: 'invalid_client' }, 401);
        return json(response, { device_code: 'device-code-0123456789', user_code: 'ABCD-EFGH', verification_uri: `${origin}/activate`, verification_uri_complete: `${origin}/activate?code=ABCD-EFGH`, expires_in: 600, interval: 0.05 });
      case '/token': {
        state.grants.push(form.get('grant_type') ?? '');
        if (!state.clients.has(form.get('client_id') ?? '')) return json(response, { error: 'invalid_client' }, 401);
        if (form.get('grant_type') !== 'refresh_token') {
          const error = state.pending.shift();
          return error === undefined ? json(response, give()) : json(response, { error, error_description: 'not \u001byet' }, 400);
        }
        if (state.refusesRefresh) return json(response, { error: state.refusesRefresh.error }, state.refusesRefresh.status);
        // A rotated token works once: who uses an old one loses all.
        if (form.get('refresh_token') !== state.refreshToken) {
          state.valid.clear();
          return json(response, { error: 'invalid_grant' }, 400);
        }
        return json(response, give());
      }
      case '/revoke':
        state.valid.clear();
        return void response.writeHead(200).end();
      default:
        return void response.writeHead(404).end();
    }
  });
  return { ...peer, state, paths: () => peer.requests.map(({ path }) => path), [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose]() };
}
