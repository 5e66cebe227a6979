import { request as overHttp, type IncomingMessage } from 'node:http';
import { request as overHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { ProbeFailure } from './failure.ts';
import { networkFault } from './network-fault.ts';

/** Of a whole answer; streams are bounded event by event. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

export interface HttpRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** The parts of the system that a test may stand in for. */
export interface Network {
  readonly lookup?: LookupFunction;
  /** PEM of authorities that are trusted besides the usual ones. */
  readonly ca?: string;
}

/**
 * One request; resolves with its head. Redirects are not followed, nothing is decompressed, no connection is kept.
 * Node's own client and not `fetch`: that one ends a stream that is silent for five minutes.
 * @throws ProbeFailure by the network's fault
 */
export function exchange({ url, method, headers, body, signal }: HttpRequest, network: Network = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const isSecure = url.protocol === 'https:';
    const options = {
      method, agent: false,
      headers: { ...headers, 'Accept-Encoding': 'identity', ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }) },
      ...(signal && { signal }), ...(network.lookup && { lookup: network.lookup }), ...(isSecure && network.ca !== undefined && { ca: network.ca }),
    };
    const request = (isSecure ? overHttps : overHttp)(url, options, resolve);
    request.on('error', (error) => reject(networkFault(error, url.host)));
    request.end(body);
  });
}

/** The whole body as text. @throws ProbeFailure for one that is too long or breaks off */
export async function readBody(response: IncomingMessage, host: string, limit = MAX_BODY_BYTES): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > limit) throw new ProbeFailure('BAD_RESPONSE', `${host} answered with more than ${limit} bytes.`);
      chunks.push(chunk);
    }
  } catch (error) {
    response.destroy();
    throw error instanceof ProbeFailure ? error : networkFault(error, host);
  }
  return Buffer.concat(chunks).toString();
}

/** `text/event-stream` of `text/event-stream; charset=utf-8`. */
export const mediaType = ({ headers }: IncomingMessage): string => (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
