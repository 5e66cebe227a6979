import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy on loopback that lets nothing through: a client that honours proxies reaches no other computer. */
export interface ClosedDoor {
  readonly url: string;
  /** Where somebody wanted to go, as `host:port`. */
  readonly refused: readonly string[];
  close(): Promise<void>;
}

export async function closedDoor(): Promise<ClosedDoor> {
  const refused: string[] = [];
  const server = createServer((request, response) => {
    refused.push(request.url ?? '');
    response.writeHead(403).end();
  });
  server.on('connect', (request, socket) => {
    refused.push(request.url ?? '');
    socket.on('error', () => undefined);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refused,
    close: () => new Promise((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    }),
  };
}
