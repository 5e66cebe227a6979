import { createMcpHandler, type McpHttpHandler, type McpServer, type Server } from '@modelcontextprotocol/server';
import type { Subscription } from '../events/subscription.ts';
import { ErrorCode, EventsError, forbidden, invalidParams, limitReached } from '../events/errors.ts';
import type { Principal } from '../events/verdict.ts';
import { BelfryServer, type ServerIdentity } from './belfry-server.ts';
import type { Emission } from './emission.ts';
import { answerEvents, type EventsPeer } from './events-extension.ts';
import { catalogueText } from './events-request.ts';
import { Exchange, type ExchangeOptions } from './exchange.ts';
import { credentialInstructions } from './instructions.ts';
import { Listen, MAX_LISTENS } from './listen.ts';
import { registerResources, ResourceNotices } from './resources.ts';
import { accessOf, type Backend, type Session } from './session.ts';
import { listedTools, registerTools } from './tools/tools.ts';

const COMMENT_MS = 25_000;
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

/**
 * Serves one credential over HTTP, in both eras and without a session: each request has a server of its own, and what
 * has to outlive a request is here. Streams, waits and quotas belong to the credential, however many requests it makes.
 */
export class CredentialServer {
  readonly principal: Principal;
  readonly streams = new Set<Subscription>();
  readonly emitted = new Map<Emission, number>();
  readonly #identity: ServerIdentity;
  readonly #backend: Backend;
  readonly #onemit: (emission: Emission) => void;
  readonly #handler: McpHttpHandler;
  readonly #known: Promise<Principal>;
  readonly #exchanges = new Set<Exchange>();
  readonly #listens = new Map<Exchange, Listen>();
  readonly #byRequest = new WeakMap<Request, Exchange>();
  readonly #uris = new Set<string>();
  readonly #notices: ResourceNotices;
  readonly #quiet: () => void;
  #fault: Error | null = null;
  #waits = 0;
  /** Names of the tools that it was or could have been shown. */
  #tools: string;
  /** As it was told last. */
  #catalogue: string;

  constructor(options: { identity: ServerIdentity; backend: Backend; principal: Principal; onemit(emission: Emission): void }) {
    const { identity, backend, principal } = options;
    this.principal = principal;
    this.#identity = identity;
    this.#backend = backend;
    this.#onemit = options.onemit;
    this.#known = Promise.resolve(principal);
    this.#tools = this.#toolNames();
    this.#catalogue = catalogueText(backend, { authenticated: true });
    this.#handler = createMcpHandler(({ era, requestInfo }) => this.serverFor(era, this.#byRequest.get(requestInfo!)!), {
      // Streams are written by the exchange; what the SDK streams itself ends within a minute.
      keepAliveMs: 0,
      onerror: (error) => (this.#fault = error),
    });
    this.#notices = new ResourceNotices(backend, principal, this.#uris, (method, about) => {
      for (const listen of this.#listens.values()) listen.changed(method, about);
    });
    this.#quiet = backend.clock.every(COMMENT_MS, () => {
      for (const listen of this.#listens.values()) listen.comment();
    });
  }

  /** Requests that are not answered yet, open streams among them. */
  get liveRequests(): number {
    return this.#exchanges.size;
  }

  /** Those of them that somebody waits for. */
  get answering(): number {
    return this.#exchanges.size - this.streams.size - this.#listens.size;
  }

  /** Call it before anything of the request is waited for: its peer may go at any time. */
  begin(options: Pick<ExchangeOptions, 'response' | 'id' | 'headers'>): Exchange {
    const exchange = new Exchange({
      ...options,
      onemit: (emission) => {
        this.emitted.set(emission, (this.emitted.get(emission) ?? 0) + 1);
        this.#onemit(emission);
      },
    });
    this.#exchanges.add(exchange);
    exchange.ondrain = () => {
      const { subscription } = exchange;
      if (subscription !== null) this.#backend.hub(subscription.filter.type).drained([subscription]);
    };
    exchange.onclose = () => {
      this.#exchanges.delete(exchange);
      if (this.#listens.delete(exchange)) this.#followListens();
    };
    return exchange;
  }

  /** @param request with the exchange's signal, its headers checked against the message */
  async serve(exchange: Exchange, request: Request, message: object): Promise<void> {
    this.#byRequest.set(request, exchange);
    const response = await this.#handler.fetch(request, { parsedBody: message });
    if (response.status === 500 && this.#fault) this.#backend.fault('http', this.#fault);
    await exchange.answer(response);
  }

  /** One of the five methods of the events extension, whose headers and `_meta` were checked. */
  async events(exchange: Exchange, id: string | number, method: string, params: unknown): Promise<void> {
    try {
      const result = await answerEvents(method, params, { id, signal: exchange.signal }, this.#backend, this.#peerOf(exchange));
      const { _meta: meta } = result as { _meta?: object };
      exchange.reply(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...result, _meta: { ...meta, [SERVER_INFO]: this.#identity } } }));
    } catch (error) {
      if (!(error instanceof EventsError)) throw error;
      refuse(exchange, error, error.code === ErrorCode.methodNotFound ? 404 : 200);
    }
  }

  /** `subscriptions/listen`, whose headers and `_meta` were checked. */
  listen(exchange: Exchange, params: unknown): void {
    const asked = Listen.filterOf(params);
    if (asked === null) return refuse(exchange, invalidParams('notifications: must be an object that says what to be told of'));
    if (accessOf(this.#backend, this.principal) === 'refused') return refuse(exchange, forbidden('The owner does not allow this client'));
    if (this.#listens.size >= MAX_LISTENS) return refuse(exchange, limitReached('listens', MAX_LISTENS));
    const listen = new Listen(exchange, this.#backend, this.principal, asked);
    if (listen.isEmpty) return exchange.finish();
    this.#listens.set(exchange, listen);
    this.#followListens();
  }

  policyChanged(): void {
    const names = this.#toolNames();
    if (names !== this.#tools) {
      this.#tools = names;
      for (const listen of this.#listens.values()) listen.changed('notifications/tools/list_changed', {});
    }
    const catalogue = catalogueText(this.#backend, { authenticated: true });
    if (catalogue !== this.#catalogue) {
      this.#catalogue = catalogue;
      for (const listen of this.#listens.values()) listen.changed('notifications/events/list_changed', {});
    }
    this.#notices.statusChanged();
    this.recheck();
  }

  /** What may not go on is ended; who reads no more is let go. */
  recheck(): void {
    const refused = accessOf(this.#backend, this.principal) === 'refused';
    for (const listen of [...this.#listens.values()]) {
      listen.recheck();
      if (refused || listen.isEmpty) listen.finish();
    }
    this.#followListens();
    for (const exchange of [...this.#exchanges]) if (exchange.stuck) exchange.destroy();
  }

  /** Whose request this was may ask no more: its stream ends with that word. */
  revoke(exchange: Exchange, reason: string): void {
    exchange.subscription?.terminate(forbidden(reason));
    exchange.finish();
  }

  /** Ends every stream with its result, without a word against the client: it may come back. */
  close(): void {
    this.#notices.close();
    this.#quiet();
    for (const exchange of [...this.#exchanges]) exchange.finish();
    void this.#handler.close();
  }

  /** One request's server: what the SDK serves of it, which is all but events and listen streams. */
  protected serverFor(era: 'legacy' | 'modern', exchange: Exchange): Server | McpServer {
    const session = this.#session(era, exchange);
    const server = new BelfryServer(this.#identity, session, credentialInstructions(this.#backend, this.principal));
    registerTools(server, session);
    registerResources(server, session, this.#uris);
    return server;
  }

  #session(era: 'legacy' | 'modern', exchange: Exchange): Session {
    const credential = this;
    return {
      peer: this.#peerOf(exchange),
      backend: this.#backend, era, over: 'http', lastBatch: null, channel: null,
      get waits() { return credential.#waits; },
      set waits(waits) { credential.#waits = waits; },
    };
  }

  #peerOf(exchange: Exchange): EventsPeer {
    const { streams } = this;
    return {
      connection: exchange, principal: this.#known, channel: false, authenticated: true,
      streams: {
        get size() { return streams.size; },
        add: (subscription) => void streams.add((exchange.subscription = subscription)),
        delete: (subscription) => void streams.delete(subscription),
      },
    };
  }

  #toolNames(): string {
    return listedTools(this.#backend, this.principal).map(({ name }) => name).join(' ');
  }

  #followListens(): void {
    this.#uris.clear();
    for (const { uris } of this.#listens.values()) for (const uri of uris) this.#uris.add(uri);
  }
}

const refuse = (exchange: Exchange, error: EventsError, status = 200): void => exchange.reply(JSON.stringify({ jsonrpc: '2.0', id: exchange.id, error }), status);
