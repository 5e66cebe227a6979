import type { IncomingMessage, ServerResponse } from 'node:http';

/** A header map as `writeHead` takes it. */
export type Headers = Readonly<Record<string, string>>;

/** Answers of this listener are for one client and one moment. */
export const COMMON_HEADERS: Headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** As much of an unwanted body is read for the sake of the next request behind it. */
const MAX_DRAINED_BYTES = 16_384;
/** A peer that is still sending has so long to see its answer: a connection that closes over unread bytes may take the answer along. */
const LINGER_MS = 500;

/**
 * Answers with a whole body. Where the request's own body was not read, and is long or of unknown length, nothing more of
 * it is read either: the connection ends with the answer. Nothing happens where an answer has begun.
 */
export function answerBytes(response: ServerResponse, status: number, body: string | Buffer, headers: Headers = {}): void {
  if (response.headersSent || response.destroyed) return;
  const length: Headers = status === 204 ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  if (!isLeftUnread(response.req)) return void response.writeHead(status, { ...length, ...headers }).end(body);
  response.writeHead(status, { ...length, ...headers, connection: 'close' });
  // To end the answer is to read on: the SDK of HTTP looks for the next request.
  if (body.length > 0) response.write(body);
  else response.flushHeaders();
  setTimeout(() => response.destroy(), LINGER_MS).unref();
}

/** Text that is JSON already. */
export function answerText(response: ServerResponse, status: number, json: string, headers: Headers = {}): void {
  answerBytes(response, status, json, { ...COMMON_HEADERS, 'content-type': 'application/json', ...headers });
}

export const answerJson = (response: ServerResponse, status: number, value: object, headers: Headers = {}): void =>
  answerText(response, status, JSON.stringify(value), headers);

export function answerEmpty(response: ServerResponse, status: number, headers: Headers = {}): void {
  answerBytes(response, status, '', { ...COMMON_HEADERS, ...headers });
}

function isLeftUnread({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > MAX_DRAINED_BYTES);
}
