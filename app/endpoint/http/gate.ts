import type { IncomingMessage } from 'node:http';
import { isJsonContentType, localhostAllowedHostnames, localhostAllowedOrigins, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';
import type { Headers } from './answer.ts';

/** The one endpoint. */
export const PATH = '/mcp';

/** An answer that is a refusal: its status, a whole sentence, and headers that go with it. */
export interface Refusal {
  readonly status: number;
  readonly sentence: string;
  readonly headers?: Headers;
}

/** Headers that decide something: said twice, two readers of one request could take different ones. */
const SINGLE = ['host', 'origin', 'authorization', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];
/** What a page of this machine may send along. */
const ALLOWED_HEADERS = 'authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name';
const EXPOSED_HEADERS = 'www-authenticate, retry-after';

/**
 * Whether a request may be looked at at all. A name of another machine in `Host`, or a page of another in `Origin`, is
 * how a website reaches a port of this machine through the browser (DNS rebinding).
 */
export function admit(request: IncomingMessage): Refusal | null {
  const { headersDistinct, httpVersion } = request;
  // A line without a version would be a request of a time before headers.
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return { status: 400, sentence: 'The request line must name its version of HTTP' };
  for (const name of SINGLE) {
    if ((headersDistinct[name]?.length ?? 0) > 1) return { status: 400, sentence: `${name}: the header may be there only once` };
  }
  if (!validateHostHeader(request.headers.host, localhostAllowedHostnames()).ok) {
    return { status: 403, sentence: 'Host: must be a name of this machine, such as 127.0.0.1' };
  }
  if (!validateOriginHeader(request.headers.origin, localhostAllowedOrigins()).ok) {
    return { status: 403, sentence: 'Origin: only pages of this machine may ask' };
  }
  return null;
}

/** The address that was asked for. Null for a target that is no path of ours: other forms of it are for proxies. */
export function targetOf({ url = '' }: IncomingMessage, origin: string): URL | null {
  return url.startsWith('/') && !url.startsWith('//') && URL.canParse(url, origin) ? new URL(url, origin) : null;
}

/**
 * The listener as the client knows it: a client takes a resource and an issuer only under the name that it used itself.
 * Call it only after `admit`. @returns without a slash at the end
 */
export function originOf(request: IncomingMessage, port: number | string): string {
  const name = (request.headers.host ?? '').replace(/:\d*$/, '').toLowerCase();
  return `http://${localhostAllowedHostnames().includes(name) ? name : '127.0.0.1'}:${port}`;
}

/** For a page of this machine; nothing for programs, which send no Origin. Call it only after `admit`. */
export function corsOf(request: IncomingMessage): Headers {
  const { origin } = request.headers;
  return origin === undefined ? {} : { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED_HEADERS, vary: 'Origin' };
}

/** Whether a browser asks what a page may do. */
export const isPreflight = (request: IncomingMessage): boolean =>
  request.method === 'OPTIONS' && request.headers.origin !== undefined && request.headers['access-control-request-method'] !== undefined;

/** The answer to it. @param methods as `Access-Control-Allow-Methods` takes them */
export const preflightHeaders = (request: IncomingMessage, methods: string): Headers => ({
  ...corsOf(request), 'access-control-allow-methods': methods, 'access-control-allow-headers': ALLOWED_HEADERS, 'access-control-max-age': '600',
});

/** What a request to the endpoint must be before anybody is asked who sends it. */
export function formFault(request: IncomingMessage, url: URL): Refusal | null {
  if (request.method !== 'POST') return { status: 405, sentence: 'This endpoint takes POST only', headers: { allow: 'POST' } };
  if (url.searchParams.has('access_token') || url.searchParams.has('token')) {
    return { status: 400, sentence: 'A token belongs into the Authorization header: addresses are written into logs' };
  }
  if (!isJsonContentType(request.headers['content-type'] ?? null)) {
    return { status: 415, sentence: 'Content-Type: must be application/json' };
  }
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') {
    return { status: 415, sentence: 'Content-Encoding: the body must come as it is' };
  }
  return null;
}

/** The token of `Authorization: Bearer`, or null where there is none. */
export const bearerOf = (request: IncomingMessage): string | null => /^bearer +([\w.~+/-]{1,1024}=*) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;
