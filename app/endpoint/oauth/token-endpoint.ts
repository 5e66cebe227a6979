import type { Clock } from '../../events/clock.ts';
import { ACCESS_MS, type SignIns, type TokenPair } from '../../policy/sign-ins.ts';
import { Bucket } from '../http/bucket.ts';
import type { Codes } from './codes.ts';
import { formOf, invalidRequest, required, type Form } from './form.ts';
import { SCOPE } from './metadata.ts';
import { tooOften, type OAuthError } from './oauth-error.ts';
import type { Registrations } from './registrations.ts';

const PER_HOUR = 60;
const MAX_BUCKETS = 300;
/** RFC 7636, 4.1. */
const VERIFIER = /^[\w.~-]{43,128}$/;
/** Whatever a secret of ours may look like; the rest is nobody's. */
const ANY = /^[\x21-\x7e]{1,512}$/;

/** Hands out tokens for codes and for refresh tokens, and takes them back. */
export class TokenEndpoint {
  readonly #signIns: SignIns;
  readonly #codes: Codes;
  readonly #registrations: Registrations;
  readonly #clock: Clock;
  readonly #isOurs: (resource: string) => boolean;
  /** By program; those that nobody knows share one. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: { signIns: SignIns; codes: Codes; registrations: Registrations; clock: Clock; isOurs: (resource: string) => boolean }) {
    this.#signIns = options.signIns;
    this.#codes = options.codes;
    this.#registrations = options.registrations;
    this.#clock = options.clock;
    this.#isOurs = options.isOurs;
  }

  /** @param authorization the header, which no program of ours has a reason to send */
  token(body: URLSearchParams, authorization: string | undefined): object | OAuthError {
    const read = this.#programOf(body, authorization);
    if ('error' in read) return read;
    const { form, clientId } = read;
    const resource = form.get('resource');
    if (resource !== undefined && !this.#isOurs(resource)) return { status: 400, error: 'invalid_target', description: 'resource: is not this server' };
    switch (form.get('grant_type')) {
      case undefined: return invalidRequest('grant_type: is missing');
      case 'authorization_code': return this.#first(form, clientId);
      case 'refresh_token': return this.#next(form, clientId);
      default: return { status: 400, error: 'unsupported_grant_type', description: 'grant_type: only authorization_code and refresh_token are served here' };
    }
  }

  /** RFC 7009: what is nobody's is as good as revoked. */
  revoke(body: URLSearchParams, authorization: string | undefined): OAuthError | null {
    const read = this.#programOf(body, authorization);
    if ('error' in read) return read;
    const token = required(read.form, 'token', ANY, 'is none of ours');
    if (typeof token !== 'string') return token;
    this.#signIns.giveBack(token, read.clientId);
    return null;
  }

  #first(form: Form, clientId: string): object | OAuthError {
    const code = required(form, 'code', ANY, 'is none of ours');
    if (typeof code !== 'string') return code;
    const redirectUri = required(form, 'redirect_uri', ANY, 'must be that of the request');
    if (typeof redirectUri !== 'string') return redirectUri;
    const verifier = required(form, 'code_verifier', VERIFIER, 'must be 43 to 128 letters, digits and -._~');
    if (typeof verifier !== 'string') return verifier;
    const redeemed = this.#codes.redeem(code, { clientId, redirectUri, verifier });
    if (redeemed.ok) return this.#answer(this.#signIns.begin(redeemed.granted.client));
    if (redeemed.why === 'again') this.#signIns.end(redeemed.granted.client, 'A code was used twice, and the sign-in ended');
    return grantFault(redeemed.why === 'differs' ? 'code: does not belong to this client_id, redirect_uri and code_verifier' : 'code: is unknown, used or over');
  }

  #next(form: Form, clientId: string): object | OAuthError {
    const refresh = required(form, 'refresh_token', ANY, 'is none of ours');
    return typeof refresh === 'string' ? this.#answer(this.#signIns.renew(refresh, clientId)) : refresh;
  }

  #answer(pair: TokenPair | null): object | OAuthError {
    if (pair === null) return grantFault('The sign-in is unknown, over or no longer allowed');
    return { access_token: pair.access, token_type: 'Bearer', expires_in: ACCESS_MS / 1000, refresh_token: pair.refresh, scope: SCOPE };
  }

  #programOf(body: URLSearchParams, authorization: string | undefined): { readonly form: Form; readonly clientId: string } | OAuthError {
    const form = formOf(body);
    const clientId = typeof form === 'string' ? undefined : form.get('client_id');
    const isKnown = clientId !== undefined && (this.#signIns.registered(clientId) ?? this.#registrations.find(clientId)) !== null;
    const wait = this.#bucketOf(isKnown ? clientId : '').take();
    if (wait > 0) return tooOften(wait);
    if (typeof form === 'string') return invalidRequest(form);
    if (authorization !== undefined) {
      return { status: 401, error: 'invalid_client', description: 'Programs have no secret here: client_id belongs into the body, and no Authorization header', headers: { 'www-authenticate': 'Basic realm="Belfry"' } };
    }
    if (form.has('client_secret') || form.has('client_assertion')) return { status: 401, error: 'invalid_client', description: 'client_secret: programs have none here' };
    if (clientId === undefined) return invalidRequest('client_id: is missing');
    return isKnown ? { form, clientId } : { status: 401, error: 'invalid_client', description: 'client_id: is not registered here, or no longer' };
  }

  #bucketOf(program: string): Bucket {
    const known = this.#buckets.get(program) ?? new Bucket(this.#clock, { perSecond: PER_HOUR / 3600, burst: PER_HOUR });
    this.#buckets.delete(program);
    if (this.#buckets.size >= MAX_BUCKETS) this.#buckets.delete(this.#buckets.keys().next().value!);
    this.#buckets.set(program, known);
    return known;
  }
}

const grantFault = (description: string): OAuthError => ({ status: 400, error: 'invalid_grant', description });
