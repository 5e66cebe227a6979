import { ProbeFailure, type ErrorName } from './failure.ts';

/** Codes of Node and OpenSSL for what went wrong below HTTP. */
const NAMES: Readonly<Record<string, ErrorName>> = {
  ENOTFOUND: 'DNS_LOOKUP_FAILED', EAI_AGAIN: 'DNS_LOOKUP_FAILED', EAI_FAIL: 'DNS_LOOKUP_FAILED', EAI_NODATA: 'DNS_LOOKUP_FAILED', EAI_NONAME: 'DNS_LOOKUP_FAILED',
  ECONNREFUSED: 'CONNECTION_REFUSED',
  ECONNRESET: 'CONNECTION_RESET', EPIPE: 'CONNECTION_RESET', ECONNABORTED: 'CONNECTION_RESET',
  EHOSTUNREACH: 'HOST_UNREACHABLE', ENETUNREACH: 'HOST_UNREACHABLE', ENETDOWN: 'HOST_UNREACHABLE', EHOSTDOWN: 'HOST_UNREACHABLE', ETIMEDOUT: 'HOST_UNREACHABLE', EADDRNOTAVAIL: 'HOST_UNREACHABLE',
  SELF_SIGNED_CERT_IN_CHAIN: 'TLS_CERT_UNTRUSTED', DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS_CERT_UNTRUSTED', UNABLE_TO_GET_ISSUER_CERT: 'TLS_CERT_UNTRUSTED',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'TLS_CERT_UNTRUSTED', UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'TLS_CERT_UNTRUSTED', CERT_HAS_EXPIRED: 'TLS_CERT_UNTRUSTED',
  CERT_NOT_YET_VALID: 'TLS_CERT_UNTRUSTED', CERT_UNTRUSTED: 'TLS_CERT_UNTRUSTED', CERT_REVOKED: 'TLS_CERT_UNTRUSTED', CERT_REJECTED: 'TLS_CERT_UNTRUSTED', CERT_SIGNATURE_FAILURE: 'TLS_CERT_UNTRUSTED',
  CERT_CHAIN_TOO_LONG: 'TLS_CERT_UNTRUSTED', INVALID_CA: 'TLS_CERT_UNTRUSTED', INVALID_PURPOSE: 'TLS_CERT_UNTRUSTED', HOSTNAME_MISMATCH: 'TLS_CERT_UNTRUSTED', ERR_TLS_CERT_ALTNAME_INVALID: 'TLS_CERT_UNTRUSTED',
  EPROTO: 'TLS_FAILED', ERR_TLS_HANDSHAKE_TIMEOUT: 'TLS_FAILED',
};

const SENTENCES: Readonly<Partial<Record<ErrorName, (host: string) => string>>> = {
  DNS_LOOKUP_FAILED: (host) => `The name ${host} could not be looked up.`,
  CONNECTION_REFUSED: (host) => `${host} refused the connection.`,
  CONNECTION_RESET: (host) => `The connection to ${host} was broken off.`,
  HOST_UNREACHABLE: (host) => `${host} cannot be reached.`,
  TLS_FAILED: (host) => `No TLS connection to ${host} came about.`,
};

/** The name of a fault of the network. @param host as it is shown: name and port */
export function networkFault(error: unknown, host: string): ProbeFailure {
  const code = codeOf(error);
  const name: ErrorName = NAMES[code] ?? (code.startsWith('ERR_SSL') ? 'TLS_FAILED' : code.startsWith('HPE_') ? 'BAD_RESPONSE' : 'CONNECTION_RESET');
  if (name === 'TLS_CERT_UNTRUSTED') return new ProbeFailure(name, `The certificate of ${host} is not trusted (${code}).`);
  if (name === 'BAD_RESPONSE') return new ProbeFailure(name, `What answered at ${host} does not speak HTTP.`);
  return new ProbeFailure(name, SENTENCES[name]?.(host) ?? `The connection to ${host} failed.`);
}

/** Several addresses were tried: the first that says something. */
function codeOf(error: unknown): string {
  const { code, errors } = error as { readonly code?: unknown; readonly errors?: readonly unknown[] };
  if (Array.isArray(errors)) {
    const codes = errors.map(codeOf).filter((each) => each !== '');
    if (codes.length > 0) return codes[0]!;
  }
  return typeof code === 'string' ? code : '';
}
