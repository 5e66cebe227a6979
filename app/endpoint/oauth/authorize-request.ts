import type { GrantName } from '../../policy/change.ts';
import { grantNames } from '../../policy/settings.ts';
import { formOf } from './form.ts';

const MAX_STATE = 2048;

/** What a browser brings to the authorization endpoint, checked as far as it can be without knowing the program. */
export interface AuthorizeRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  /** S256 of the verifier (RFC 7636). */
  readonly challenge: string;
  readonly state: string | null;
  readonly resource: string | null;
  /** A hint: nothing of it is granted by itself. */
  readonly grants: readonly GrantName[];
}

/** A sentence for what is refused. It is shown on our own page: an address that is not checked yet is not gone to. */
export function readAuthorize(parameters: URLSearchParams): AuthorizeRequest | string {
  const form = formOf(parameters);
  if (typeof form === 'string') return form;
  const get = (name: string) => form.get(name) ?? null;
  const [clientId, redirectUri, challenge, state] = [get('client_id'), get('redirect_uri'), get('code_challenge'), get('state')];
  if (clientId === null || !/^[\w-]{1,64}$/.test(clientId)) return 'client_id: is missing or is none of ours';
  if (redirectUri === null) return 'redirect_uri: is missing';
  if (get('request') !== null || get('request_uri') !== null) return 'request: the parameters must stand in the address itself';
  if (get('response_type') !== 'code') return 'response_type: must be code';
  if ((get('response_mode') ?? 'query') !== 'query') return 'response_mode: must be query';
  if (get('code_challenge_method') !== 'S256') return 'code_challenge_method: must be S256';
  if (challenge === null || !/^[\w-]{43}$/.test(challenge)) return 'code_challenge: must be the SHA-256 of the verifier, in 43 characters of base64url';
  if (state !== null && state.length > MAX_STATE) return `state: must be at most ${MAX_STATE} characters`;
  const scopes = new Set((get('scope') ?? '').split(' '));
  return { clientId, redirectUri, challenge, state, resource: get('resource'), grants: grantNames.filter((grant) => scopes.has(grant)) };
}
