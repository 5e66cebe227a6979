import type { IncomingHttpHeaders } from 'node:http';
import { ProbeFailure } from '../failure.ts';
import { exchange, readBody, type Network } from '../http-exchange.ts';
import { isObject, type JsonObject } from '../link.ts';

const MAX_BYTES = 256 * 1024;

export interface OAuthAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Null where the body is no JSON object. */
  readonly body: JsonObject | null;
}

export type Body = { readonly form: Readonly<Record<string, string | null>> } | { readonly json: JsonObject };

/** What OAuth sends and gets. Tokens go over https or to this computer, and nowhere else. */
export class OAuthHttp {
  readonly #network: Network;
  readonly #signal: AbortSignal;

  constructor(network: Network, signal: AbortSignal) {
    this.#network = network;
    this.#signal = signal;
  }

  get(url: URL): Promise<OAuthAnswer> {
    return this.#send(url, 'GET', {});
  }

  /** Members that are null are left out. */
  post(url: URL, body: Body): Promise<OAuthAnswer> {
    if ('json' in body) return this.#send(url, 'POST', { 'Content-Type': 'application/json' }, JSON.stringify(body.json));
    const form = new URLSearchParams(Object.entries(body.form).filter((pair): pair is [string, string] => pair[1] !== null));
    return this.#send(url, 'POST', { 'Content-Type': 'application/x-www-form-urlencoded' }, form.toString());
  }

  async #send(url: URL, method: 'GET' | 'POST', headers: Record<string, string>, body?: string): Promise<OAuthAnswer> {
    requireSafe(url);
    const response = await exchange({ url, method, headers: { Accept: 'application/json', ...headers }, ...(body !== undefined && { body }), signal: this.#signal }, this.#network);
    const text = await readBody(response, url.host, MAX_BYTES);
    return { status: response.statusCode ?? 0, headers: response.headers, body: objectOf(text) };
  }
}

/** @throws ProbeFailure INVALID_URL */
export function requireSafe(url: URL): void {
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))) return;
  throw new ProbeFailure('INVALID_URL', `A token goes over https or to this computer only, and not to ${url.protocol}//${url.host}.`, 'Use the https address of the server.');
}

/** Names that stand for this computer by their own text; a name that only resolves to it is not one. */
export const isLoopback = ({ hostname }: URL): boolean => hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);

function objectOf(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
