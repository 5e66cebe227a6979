import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { toWebRequest } from '@modelcontextprotocol/node';
import type { Clock } from '../../events/clock.ts';
import type { CredentialServer } from '../../mcp/credential-server.ts';
import { isEventsMethod } from '../../mcp/events-extension.ts';
import { EndpointError } from '../endpoint.ts';
import { answerEmpty, answerJson, COMMON_HEADERS, type Headers } from './answer.ts';
import { readBody } from './body.ts';
import { Bucket } from './bucket.ts';
import type { Credential, Credentials } from './credential.ts';
import { admit, bearerOf, corsOf, formFault, isPreflight, originOf, PATH, preflightHeaders, targetOf, type Refusal } from './gate.ts';
import { guarded, LIMITS } from './guard.ts';
import { readMessage } from './message.ts';
import type { HttpRoutes } from './routes.ts';

export const MAX_BODY_BYTES = 1024 * 1024;
/** Requests of one credential, open streams and waiting calls among them. */
const MAX_LIVE = 64;
const REQUESTS = { perSecond: 200, burst: 400 };
/** Requests that name nobody, of everyone together. */
const UNKNOWN = { perSecond: 5, burst: 50 };
/** Connections in all, and of those nobody was named on yet: half, since many clients may come at once after a restart. */
const MAX_SOCKETS = 512;
const MAX_UNNAMED = MAX_SOCKETS / 2;
const RECHECK_MS = 60_000;
/** For the last words of streams to be taken. */
const GOODBYE_MS = 500;
/** A credential that asks nothing for so long is away. */
const AWAY_MS = 120_000;

/** One credential that is in use. */
export interface HttpPeer {
  readonly credential: Credential;
  readonly server: CredentialServer;
  readonly connectedAt: number;
}

interface Peer extends HttpPeer {
  readonly bucket: Bucket;
  /** Requests that are not answered yet. */
  live: number;
  /** Monotonic ms. */
  askedAt: number;
}

/** Whose a request is, and by which token. */
interface Caller {
  readonly peer: Peer;
  readonly credential: Credential;
}

export interface HttpHandler {
  /** A credential comes in for the first time, or after it was away. */
  serve(credential: Credential): CredentialServer;
  /** It asked nothing for a while and nothing of it is open. */
  away(credential: Credential): void;
  /** A fault of ours, for the log. */
  fault(error: unknown): void;
}

/**
 * `http://127.0.0.1:PORT/mcp`: one stateless endpoint for both eras. What a request may do is its credential's; where it
 * comes from proves nothing, since every program and every web page of this machine can reach the port.
 */
export class HttpEndpoint {
  readonly #handler: HttpHandler;
  readonly #credentials: Credentials;
  readonly #routes: HttpRoutes;
  readonly #clock: Clock;
  readonly #server: Server;
  readonly #unknown: Bucket;
  /** By client. */
  readonly #peers = new Map<string, Peer>();
  /** Streams and waiting calls, with whose they are. */
  readonly #open = new Map<ReturnType<CredentialServer['begin']>, Caller>();
  readonly #unnamed = new Set<Socket>();
  readonly #cancels: (() => void)[] = [];
  #origin = '';
  #closing = false;

  constructor(options: { handler: HttpHandler; credentials: Credentials; routes: HttpRoutes; clock: Clock }) {
    this.#handler = options.handler;
    this.#credentials = options.credentials;
    this.#routes = options.routes;
    this.#clock = options.clock;
    this.#unknown = new Bucket(options.clock, UNKNOWN);
    this.#server = createServer(LIMITS, guarded((request, response) => this.#handle(request, response), {
      fault: (error) => this.#handler.fault(error),
      say: (response, sentence) => refuse(response, { status: 500, sentence }, {}),
    }));
    this.#server.maxConnections = MAX_SOCKETS;
    // Their bytes are limited. A limit of their count would leave some out unsaid, and a check with them.
    this.#server.maxHeadersCount = 0;
    this.#server.on('connection', (socket) => this.#accept(socket));
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuseBytes(error, socket));
  }

  get peers(): Iterable<HttpPeer> {
    return this.#peers.values();
  }
  /** Null while it does not listen. */
  get port(): number | null {
    return (this.#server.address() as AddressInfo | null)?.port ?? null;
  }
  /** Without a slash at the end. */
  get origin(): string {
    return this.#origin;
  }

  /** On this machine only. @param port 0: any @throws EndpointError */
  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) => reject(new EndpointError(
        error.code === 'EADDRINUSE' ? `Port ${port} is taken by another program.`
          : error.code === 'EACCES' ? `Port ${port} may not be used by this user.`
          : `Port ${port} cannot be listened on.`,
      )));
      this.#server.listen({ host: '127.0.0.1', port, backlog: 256 }, resolve);
    });
    this.#server.on('error', () => undefined);
    this.#origin = `http://127.0.0.1:${this.port}`;
    this.#cancels.push(this.#clock.every(RECHECK_MS, () => this.recheck()));
  }

  /** @param reason said to every open stream as the end of its right to be told; null: it may come back. */
  async close(reason: string | null): Promise<void> {
    this.#closing = true;
    for (const cancel of this.#cancels) cancel();
    if (reason !== null) for (const [exchange, { peer }] of [...this.#open]) peer.server.revoke(exchange, reason);
    for (const peer of [...this.#peers.values()]) this.#leave(peer);
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeIdleConnections();
    // What was just said is on its way; who does not take it is not waited for.
    const calm = this.#clock.after(GOODBYE_MS, () => this.#server.closeAllConnections());
    await closed;
    calm();
  }

  policyChanged(): void {
    for (const { server } of this.#peers.values()) server.policyChanged();
  }

  /** Once a minute, and whenever tokens changed: what a token opened that was taken or given back ends. */
  recheck(): void {
    for (const [exchange, { peer, credential }] of [...this.#open]) {
      if (!this.#holds(credential)) peer.server.revoke(exchange, 'The token is over');
    }
    for (const peer of [...this.#peers.values()]) {
      peer.server.recheck();
      if (peer.live === 0 && this.#clock.monotonic() - peer.askedAt > AWAY_MS) this.#leave(peer);
    }
  }

  /** A check that fails for a moment changes nothing for who is in. */
  #holds(credential: Credential): boolean {
    try {
      return this.#credentials.holds(credential);
    } catch (error) {
      this.#handler.fault(error);
      return true;
    }
  }

  #accept(socket: Socket): void {
    // Whoever says nothing must not keep out those who are known: the one that waits longest goes.
    if (this.#unnamed.size >= MAX_UNNAMED) this.#unnamed.values().next().value?.destroy();
    this.#unnamed.add(socket);
    socket.on('close', () => this.#unnamed.delete(socket));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = admit(request);
    if (refusal !== null) return refuse(response, refusal, {});
    const cors = corsOf(request);
    const url = targetOf(request, this.origin);
    if (url === null || this.#closing) return refuse(response, NOT_THERE, cors);
    if (url.pathname !== PATH) {
      if (!this.#routes.handle(request, response, url)) refuse(response, NOT_THERE, cors);
      return undefined;
    }
    if (isPreflight(request)) return answerEmpty(response, 204, preflightHeaders(request, 'POST'));
    const fault = formFault(request, url);
    if (fault !== null) return refuse(response, fault, cors);
    const token = bearerOf(request);
    const credential = token === null ? null : this.#credentials.credentialOf(token);
    if (token === null || credential === null) return this.#challenge(response, token, originOf(request, this.port ?? 0), cors);
    this.#unnamed.delete(request.socket);
    const peer = this.#peerOf(credential);
    const wait = peer.live >= MAX_LIVE ? 1 : peer.bucket.take();
    if (wait > 0) return refuse(response, tooMany(wait), cors);
    peer.askedAt = this.#clock.monotonic();
    peer.live += 1;
    response.on('close', () => (peer.live -= 1));
    return this.#message(request, response, { peer, credential }, cors);
  }

  async #message(request: IncomingMessage, response: ServerResponse, caller: Caller, cors: Headers): Promise<void> {
    const { peer } = caller;
    const body = await readBody(request, MAX_BODY_BYTES);
    if ('fault' in body) {
      if (body.fault === 'aborted') return undefined;
      return refuse(response, body.fault === 'too-large'
        ? { status: 413, sentence: `A message must be at most ${MAX_BODY_BYTES} bytes` }
        : { status: 400, sentence: 'The body is not UTF-8' }, cors);
    }
    const message = readMessage(body.text, request.headers);
    const { id } = message;
    if (!message.ok) {
      const { status, ...error } = message.fault;
      return answerJson(response, status, { jsonrpc: '2.0', id, error }, cors);
    }
    const exchange = peer.server.begin({ response, id, headers: { ...COMMON_HEADERS, ...cors } });
    this.#open.set(exchange, caller);
    exchange.signal.addEventListener('abort', () => this.#open.delete(exchange), { once: true });
    if (message.modern && id !== null) {
      // What the SDK does not know, or would not keep to the credential, is served past it.
      if (message.method === 'subscriptions/listen') return peer.server.listen(exchange, message.body.params);
      if (isEventsMethod(message.method)) return peer.server.events(exchange, id, message.method, message.body.params);
    }
    return peer.server.serve(exchange, await toWebRequest(request as never, message.body, { signal: exchange.signal }), message.body);
  }

  /** Requests that name nobody are few in the life of a client. */
  #challenge(response: ServerResponse, token: string | null, origin: string, cors: Headers): void {
    const wait = this.#unknown.take();
    if (wait > 0) return refuse(response, tooMany(wait), cors);
    const problem = token === null ? 'missing' : 'invalid';
    const description = token === null ? 'A bearer token of Belfry is needed' : 'The token is unknown, revoked or over';
    answerJson(response, 401, { error: 'invalid_token', error_description: description }, { ...cors, 'www-authenticate': this.#routes.challenge(problem, origin) });
  }

  #peerOf(credential: Credential): Peer {
    const { id } = credential.identity;
    let peer = this.#peers.get(id);
    if (!peer) {
      peer = {
        credential, server: this.#handler.serve(credential), connectedAt: this.#clock.now(), bucket: new Bucket(this.#clock, REQUESTS), live: 0, askedAt: this.#clock.monotonic(),
      };
      this.#peers.set(id, peer);
    }
    return peer;
  }

  #leave(peer: Peer): void {
    this.#peers.delete(peer.credential.identity.id);
    peer.server.close();
    this.#handler.away(peer.credential);
  }
}

const NOT_THERE: Refusal = { status: 404, sentence: 'There is nothing here' };
const tooMany = (seconds: number): Refusal => ({ status: 429, sentence: 'Too many requests at once', headers: { 'retry-after': String(seconds) } });

function refuse(response: ServerResponse, { status, sentence, headers }: Refusal, cors: Headers): void {
  answerJson(response, status, { jsonrpc: '2.0', id: null, error: { code: -32600, message: sentence } }, { ...cors, ...headers });
}

/** What is no HTTP, or is HTTP in two ways at once, ends its connection: what follows on it cannot be told apart any more. */
function refuseBytes(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, sentence] = error.code === 'HPE_HEADER_OVERFLOW' ? ['431 Request Header Fields Too Large', 'The headers are too long']
    : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? ['408 Request Timeout', 'The request did not come in time']
    : ['400 Bad Request', 'This is not one HTTP request'];
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message: sentence } });
  socket.end(`HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
}
