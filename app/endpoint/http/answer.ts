import type { ServerResponse } from 'node:http';

/** A header map as `writeHead` takes it. */
export type Headers = Readonly<Record<string, string>>;

/** Answers of this listener are for one client and one moment. */
export const COMMON_HEADERS: Headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Text that is JSON already. Nothing happens where the answer has begun. */
export function answerText(response: ServerResponse, status: number, json: string, headers: Headers = {}): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { ...COMMON_HEADERS, 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(json)), ...headers });
  response.end(json);
}

export const answerJson = (response: ServerResponse, status: number, value: object, headers: Headers = {}): void =>
  answerText(response, status, JSON.stringify(value), headers);

export function answerEmpty(response: ServerResponse, status: number, headers: Headers = {}): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { ...COMMON_HEADERS, ...(status !== 204 && { 'content-length': '0' }), ...headers });
  response.end();
}
