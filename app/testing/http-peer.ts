import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecure } from 'node:https';
import type { AddressInfo } from 'node:net';
import { UNTRUSTED } from './tls-certificate.ts';

export interface HttpPeer extends AsyncDisposable {
  readonly origin: string;
  /** Of its endpoint. */
  readonly url: string;
  /** What was asked, in order. */
  readonly requests: { readonly method: string; readonly path: string; readonly headers: IncomingMessage['headers']; readonly body: string }[];
}

export type Answering = (request: { readonly method: string; readonly path: string; readonly headers: IncomingMessage['headers']; readonly body: string; readonly message: Record<string, any> }, response: ServerResponse) => void;

/** A server on loopback that keeps what it was asked and answers as it is told. */
export async function httpPeer(answer: Answering, isSecure = false): Promise<HttpPeer> {
  const requests: HttpPeer['requests'] = [];
  const listener: RequestListener = (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const asked = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
      requests.push(asked);
      answer({ ...asked, message: body.startsWith('{') ? (JSON.parse(body) as Record<string, any>) : {} }, response);
    });
  };
  const server = isSecure ? createSecure({ key: UNTRUSTED.key, cert: UNTRUSTED.cert }, listener) : createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `${isSecure ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin, url: `${origin}/mcp`, requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export const json = (response: ServerResponse, value: object, status = 200, headers: Record<string, string> = {}): void =>
  void response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(value));

/** Opens a stream of events; what it gives writes one. */
export function sse(response: ServerResponse): (message: object | string) => void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  return (message) => void response.write(`event: message\ndata: ${typeof message === 'string' ? message : JSON.stringify(message)}\n\n`);
}
