import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server in front of the endpoint that puts a token on what comes without one: for a suite that has no way to carry it. */
export interface BearerProxy extends AsyncDisposable {
  readonly url: string;
}

/** Everything else passes as it came, Host and Origin too. @param url of the endpoint */
export async function startBearerProxy(url: string, token: string): Promise<BearerProxy> {
  const { hostname, port } = new URL(url);
  const server: Server = createServer((request, response) => {
    const headers = [...request.rawHeaders];
    if (request.headers.authorization === undefined) headers.push('Authorization', `Bearer ${token}`);
    const onwards = httpRequest({ hostname, port, path: request.url, method: request.method, headers, setHost: false, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    onwards.on('error', () => response.destroy());
    response.on('close', () => onwards.destroy());
    request.pipe(onwards);
  });
  await new Promise<void>((resolve) => void server.listen({ host: '127.0.0.1', port: 0 }, resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${new URL(url).pathname}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
