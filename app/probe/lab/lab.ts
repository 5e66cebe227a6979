import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type JSONRPCMessage, type Server, type Transport } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Clock } from '../../events/clock.ts';
import { cleanText } from '../../events/text.ts';
import { ProbeFailure } from '../failure.ts';
import { isObject, type JsonObject } from '../link.ts';
import { labServer, type Lab } from './lab-server.ts';
import type { LabOptions } from './options.ts';
import { Review, REVIEW_URI, type ReviewListener } from './review.ts';
import { Ticks } from './ticks.ts';

const MAX_BODY_BYTES = 1024 * 1024;

export interface LabHost {
  readonly clock: Clock;
  readonly version: string;
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** One line for each message that came or went. */
  evidence(line: string): void;
  /** Ends it. */
  readonly interrupt: AbortSignal;
}

/** Runs the laboratory until it is interrupted; over stdio, until stdin ends. @throws ProbeFailure */
export async function runLab(options: LabOptions, host: LabHost): Promise<void> {
  await (options.port === null ? overStdio(options, host) : overHttp(options, options.port, host));
}

function labOf(options: LabOptions, { clock, version, evidence: write }: LabHost, listener: ReviewListener): Lab {
  const evidence = (line: string) => write(cleanText(`lab: ${line}`, 300));
  return {
    options, version, evidence, ticks: new Ticks(options.delayMs, clock),
    review: new Review(options, clock, {
      updated: (uri) => {
        evidence(`sent notifications/resources/updated uri=${uri}`);
        listener.updated(uri);
      },
      listChanged: () => {
        evidence('sent notifications/resources/list_changed');
        listener.listChanged();
      },
    }),
  };
}

/** What a client asked, in one line: proof that it did. */
function evidenceOf(message: unknown): string | null {
  if (!isObject(message) || typeof message['method'] !== 'string') return null;
  const params = isObject(message['params']) ? message['params'] : {};
  const named = ['name', 'uri', 'requestId'].filter((key) => ['string', 'number'].includes(typeof params[key])).map((key) => ` ${key}=${String(params[key])}`);
  return `got ${message['method']}${message['id'] === undefined ? '' : ` id=${String(message['id'])}`}${named.join('')}`;
}

function listensTo(message: unknown): boolean {
  if (!isObject(message) || message['method'] !== 'subscriptions/listen' || !isObject(message['params'])) return false;
  const { notifications } = message['params'];
  const uris = isObject(notifications) ? notifications['resourceSubscriptions'] : undefined;
  return Array.isArray(uris) && uris.includes(REVIEW_URI);
}

async function overStdio(options: LabOptions, host: LabHost): Promise<void> {
  let server: Server | null = null;
  const tell = (method: string, params: object) => void server?.notification({ method, params } as never).catch(() => undefined);
  const lab = labOf(options, host, {
    updated: (uri) => tell('notifications/resources/updated', { uri }),
    listChanged: () => tell('notifications/resources/list_changed', {}),
  });
  const transport = new WatchedStdio(host.stdin, host.stdout, lab);
  const ended = new Promise<void>((resolve) => {
    host.stdin.once('end', resolve).once('close', resolve);
    host.interrupt.addEventListener('abort', () => resolve(), { once: true });
  });
  const handle = serveStdio(() => (server = labServer(lab)), { transport, legacy: 'reject', onerror: () => undefined });
  await ended;
  transport.leave();
  lab.ticks.close();
  await handle.close();
}

/** The SDK's transport, with a look at each message that comes in. */
class WatchedStdio implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #inner: StdioServerTransport;
  readonly #lab: Lab;
  readonly #subscriptions = new Map<unknown, () => void>();

  constructor(stdin: Readable, stdout: Writable, lab: Lab) {
    this.#inner = new StdioServerTransport(stdin, stdout);
    this.#lab = lab;
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onmessage = (message) => this.#take(message);
  }

  start(): Promise<void> {
    return this.#inner.start();
  }
  close(): Promise<void> {
    return this.#inner.close();
  }
  send(message: JSONRPCMessage): Promise<void> {
    return this.#inner.send(message);
  }

  leave(): void {
    for (const end of this.#subscriptions.values()) end();
    this.#subscriptions.clear();
  }

  #take(message: JSONRPCMessage): void {
    const line = evidenceOf(message);
    if (line !== null) this.#lab.evidence(line);
    const { id, method, params } = message as unknown as JsonObject;
    if (listensTo(message)) this.#subscriptions.set(id, this.#lab.review.subscribe());
    if (method === 'notifications/cancelled' && isObject(params)) {
      this.#subscriptions.get(params['requestId'])?.();
      this.#subscriptions.delete(params['requestId']);
    }
    this.onmessage?.(message);
  }
}

async function overHttp(options: LabOptions, port: number, host: LabHost): Promise<void> {
  const lab = labOf(options, host, { updated: (uri) => handler.notify.resourceUpdated(uri), listChanged: () => handler.notify.resourcesChanged() });
  const handler = createMcpHandler(() => labServer(lab), { legacy: 'reject', keepAliveMs: 0, maxRequestBodySize: MAX_BODY_BYTES });
  const serve = toNodeHandler(handler);
  const [isHost, isOrigin] = [localhostHostValidation(), localhostOriginValidation()];
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    // Until its body was read: what nobody wants is not read to hear the next request behind it.
    response.setHeader('Connection', 'close');
    if (isHost(request, response) && isOrigin(request, response)) await answer(request, response, lab, serve);
  };
  const http = createServer((request, response) => {
    response.on('error', () => undefined);
    // Whatever a request makes fail is the end of that request alone. That its peer went is no fault.
    respond(request, response).catch((error: unknown) => {
      if (response.destroyed) return;
      lab.evidence(`a request failed: ${error instanceof Error ? error.name : typeof error}`);
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  });
  await new Promise<void>((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) => reject(new ProbeFailure('INVALID_ARGS', error.code === 'EADDRINUSE' ? `Port ${port} is taken: give another --port, or 0 for any.` : `Port ${port} cannot be used.`)));
    http.listen(port, '127.0.0.1', resolve);
  });
  host.stdout.write(`listening http://127.0.0.1:${(http.address() as AddressInfo).port}${options.path}\n`);
  await new Promise<void>((resolve) => {
    if (host.interrupt.aborted) resolve();
    else host.interrupt.addEventListener('abort', () => resolve(), { once: true });
  });
  lab.ticks.close();
  await handler.close();
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
}

async function answer(request: IncomingMessage, response: ServerResponse, lab: Lab, serve: ReturnType<typeof toNodeHandler>): Promise<void> {
  const path = (request.url ?? '').split('?')[0];
  if (path === '/healthz') return void response.writeHead(200, { 'Content-Type': 'text/plain' }).end('ok\n');
  if (path !== lab.options.path && path !== '/mcp') return void response.writeHead(404).end();
  if (request.method !== 'POST') return void response.writeHead(405, { Allow: 'POST' }).end();
  const body = await bodyOf(request);
  if (body === null) return void response.writeHead(413).end();
  response.removeHeader('Connection');
  let message: unknown;
  try {
    message = JSON.parse(body);
  } catch {
    return refuse(response, null, -32700, 'The body is not JSON');
  }
  const line = evidenceOf(message);
  if (line !== null) lab.evidence(line);
  const mismatch = nameMismatch(request, message);
  if (mismatch !== null) return refuse(response, mismatch.id, -32020, 'Mcp-Name: must be the name of the event');
  if (listensTo(message)) response.once('close', lab.review.subscribe());
  // The adapter reads no body that is given to it.
  return serve(request as never, response as never, message);
}

/** For the event methods, which the SDK does not know (events-extension section 12). */
function nameMismatch(request: IncomingMessage, message: unknown): { readonly id: unknown } | null {
  if (!isObject(message) || !/^events\/(?:poll|stream|subscribe|unsubscribe)$/.test(String(message['method'])) || !isObject(message['params'])) return null;
  const given = request.headers['mcp-name'];
  const word = /^=\?base64\?(.*)\?=$/.exec(String(given ?? ''))?.[1];
  const name = word === undefined ? given : Buffer.from(word, 'base64').toString();
  return name === message['params']['name'] ? null : { id: message['id'] ?? null };
}

function refuse(response: ServerResponse, id: unknown, code: number, message: string): void {
  response.writeHead(400, { 'Content-Type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }));
}

async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
