import { randomBytes } from 'node:crypto';
import { cleanText } from '../../events/text.ts';
import { withoutQuotes } from '../../text/quotes.ts';
import { MAX_NAME } from '../../policy/credentials.ts';
import type { Registration } from '../../policy/sign-ins.ts';
import type { OAuthError } from './oauth-error.ts';
import { MAX_REDIRECTS, placeOf, redirectFault } from './redirect-uri.ts';

export const GRANT_TYPES = ['authorization_code', 'refresh_token'] as const;
const CLIENT_ID_BYTES = 16;

/**
 * Reads a request to register (RFC 7591). One address that is refused fails the whole, by name. What a program says of
 * itself beyond its name (links, pictures, keys) is not kept and never fetched.
 */
export function readRegistration(text: string): Registration | OAuthError {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return metadata('The body is not JSON');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return metadata('The body must be one JSON object');
  const { redirect_uris: uris, grant_types: grants, response_types: responses, client_name: name } = body as Record<string, unknown>;
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_REDIRECTS) return redirect(`redirect_uris: must be a list of 1 to ${MAX_REDIRECTS} addresses`);
  for (const [at, uri] of uris.entries()) {
    const fault = redirectFault(uri);
    if (fault !== null) return redirect(`redirect_uris[${at}]: ${fault}`);
  }
  const grantFault = listFault('grant_types', grants, GRANT_TYPES);
  if (grantFault !== null) return metadata(grantFault);
  if (Array.isArray(grants) && !grants.includes('authorization_code')) return metadata('grant_types: must include authorization_code');
  const responseFault = listFault('response_types', responses, ['code']);
  if (responseFault !== null) return metadata(responseFault);
  if (name !== undefined && typeof name !== 'string') return metadata('client_name: must be text');
  const redirects = [...new Set(uris as string[])];
  const shown = cleanText(name ?? '', MAX_NAME).trim();
  return { clientId: randomBytes(CLIENT_ID_BYTES).toString('base64url'), name: withoutQuotes(shown) === '' ? placeOf(redirects[0]!) : shown, redirects };
}

/** What it was registered as, whatever it asked for: a program of this kind can keep no secret (RFC 8252, 8.4). */
export const registrationAnswer = ({ clientId, name, redirects }: Registration, now: number): object => ({
  client_id: clientId, client_id_issued_at: Math.floor(now / 1000), client_name: name, redirect_uris: redirects,
  token_endpoint_auth_method: 'none', grant_types: GRANT_TYPES, response_types: ['code'],
});

function listFault(field: string, value: unknown, known: readonly string[]): string | null {
  if (value === undefined) return null;
  if (!Array.isArray(value)) return `${field}: must be a list`;
  return value.every((each) => known.includes(each as string)) ? null : `${field}: only ${known.join(' and ')} ${known.length === 1 ? 'is' : 'are'} served here`;
}

const metadata = (description: string): OAuthError => ({ status: 400, error: 'invalid_client_metadata', description });
const redirect = (description: string): OAuthError => ({ status: 400, error: 'invalid_redirect_uri', description });
