import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { authority } from './certificates.ts';

/** One request as it came in. */
export interface Received {
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The very bytes, for the signature. */
  readonly raw: string;
  readonly body: Record<string, any>;
  /** Monotonic ms at which it was read; the same as ns of `process.hrtime`. */
  readonly at: number;
  readonly heardAt: bigint;
  readonly remotePort: number;
}

/** Answers one request; what it does not end stays open. */
export type Answer = (received: Received, response: ServerResponse) => void;

/** A receiver of webhooks over real https, under names that only the tests' resolver knows. */
export interface Receiver extends AsyncDisposable {
  readonly ca: string;
  readonly port: number;
  readonly received: Received[];
  /** `https://hooks.example.net:<port><path>` */
  url(path?: string): string;
  /** Of `url`, as the owner lists it. */
  readonly host: string;
  /** By path; else the receiver is a right one. */
  answer(path: string, answer: Answer): void;
  deliveries(path?: string): Received[];
  envelopes(type: string, path?: string): Received[];
  /** The first requests that fit, once there are so many. */
  until(fits: (received: Received) => boolean, count?: number, ms?: number): Promise<Received[]>;
  connections(): number;
  /** Closes every connection on which no request is. */
  dropIdle(): void;
}

export const HOOKS = 'hooks.example.net';

/** Agrees when it is asked, takes what comes. */
export const right: Answer = ({ body }, response) => {
  if (body['type'] === 'verification') response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ challenge: body['challenge'] }));
  else response.writeHead(204).end();
};
/** Agrees, and answers everything else so. */
export const agreeing = (status: number, headers: Record<string, string> = {}): Answer => (received, response) => {
  if (received.body['type'] === 'verification') right(received, response);
  else response.writeHead(status, headers).end();
};

export async function startReceiver(options: { names?: readonly string[]; issuedFor?: readonly string[]; validity?: { from: Date; to: Date } } = {}): Promise<Receiver> {
  const issuer = authority();
  const names = options.names ?? [HOOKS, 'other.example.net'];
  const received: Received[] = [];
  const answers = new Map<string, Answer>();
  const waiters = new Set<() => void>();
  let connections = 0;
  const server: Server = createServer(issuer.issue(options.issuedFor ?? names, options.validity), (request, response) => {
    void readAll(request).then((raw) => {
      const { url = '/', method = '', headers, socket } = request;
      const one: Received = { path: url, method, headers: headers as Record<string, string>, raw, body: parsed(raw), at: performance.now(), heardAt: process.hrtime.bigint(), remotePort: socket.remotePort ?? 0 };
      received.push(one);
      (answers.get(url) ?? right)(one, response);
      for (const look of [...waiters]) look();
    });
  });
  server.on('connection', () => (connections += 1));
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const ofPath = (path: string | undefined) => (each: Received) => path === undefined || each.path === path;
  return {
    ca: issuer.ca, port, received, host: `${names[0]!}:${port}`,
    url: (path = '/') => `https://${names[0]!}:${port}${path}`,
    answer: (path, answer) => void answers.set(path, answer),
    deliveries: (path) => received.filter(ofPath(path)).filter(({ body }) => body['type'] === undefined),
    envelopes: (type, path) => received.filter(ofPath(path)).filter(({ body }) => body['type'] === type),
    until: (fits, count = 1, ms = 30_000) => new Promise((resolve, reject) => {
      const look = () => {
        const found = received.filter(fits);
        if (found.length < count) return;
        clearTimeout(timer);
        waiters.delete(look);
        resolve(found);
      };
      const timer = setTimeout(() => {
        waiters.delete(look);
        reject(new Error(`Only ${received.filter(fits).length} of ${count} requests came within ${ms} ms; all: ${received.map(({ path, body }) => `${path} ${String(body['type'] ?? body['eventId'])}`).slice(-20).join(', ')}`));
      }, ms);
      waiters.add(look);
      look();
    }),
    connections: () => connections,
    dropIdle: () => server.closeIdleConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => void server.close(done));
    },
  };
}

/** Resolves the tests' names to this machine. */
export const toLoopback = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function parsed(raw: string): Record<string, any> {
  try {
    return JSON.parse(raw) as Record<string, any>;
  } catch {
    return {};
  }
}
