import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Principal } from '../events/verdict.ts';
import { BelfryServer, channelText, type ServerIdentity } from './belfry-server.ts';
import { CHANNEL_LICENCE } from './channel.ts';
import type { Connection } from './connection.ts';
import type { Held } from './emission.ts';
import { registerEvents, type EventsPeer } from './events-extension.ts';
import { catalogueText } from './events-request.ts';
import { honouredUris, registerResources, ResourceNotices } from './resources.ts';
import { accessOf, type Backend, type Session } from './session.ts';
import { LIST_CHANGED_LICENCE, SUBSCRIPTION_ID } from './stream.ts';
import { listedTools, registerTools } from './tools/tools.ts';

/** A connection that is served, for what the engine has to tell it. */
export interface Served {
  /** The owner changed something: lists are told of, held pushes go out, streams of refused clients end. */
  policyChanged(): void;
  close(): void;
}

/**
 * Serves one connection in the era it opens with (SDK: one instance a connection). Events exist on
 * `2026-07-28` only, the channel on `initialize` only: a client registers it on the older handshake alone.
 */
export function serveConnection(connection: Connection, identity: ServerIdentity, backend: Backend, peer: EventsPeer): Served {
  let current: ConnectionServer | null = null;
  /** Listen requests that would like to hear when the catalogue changes: a field of the extension, which the SDK does not know. */
  const wantsCatalogue = new Set<string>();
  connection.intercept = (method, { id, params }) => {
    // A client that is answered here would never open by the handshake that a channel needs.
    if (method === 'server/discover' && peer.channel) return { code: -32601, message: 'Method not found' };
    if (method === 'subscriptions/listen') {
      connection.license('subscriptions/listen');
      const { notifications } = (params ?? {}) as { notifications?: { eventsListChanged?: unknown } };
      if (notifications?.eventsListChanged === true) wantsCatalogue.add(JSON.stringify(id));
    }
    return null;
  };
  serveStdio(
    ({ era }) => {
      current?.close();
      current = new ConnectionServer(identity, connection, { era, over: 'socket', peer, backend, lastBatch: null, waits: 0, channel: null }, wantsCatalogue);
      return current.server;
    },
    { transport: connection, onerror: (error) => backend.fault('connection', error), maxSubscriptions: 4 },
  );
  return { policyChanged: () => current?.policyChanged(), close: () => current?.close() };
}

interface Listen {
  readonly id: string | number;
  readonly uris: readonly string[];
  /** Set if it hears when the catalogue changes. */
  readonly catalogue: Held<typeof LIST_CHANGED_LICENCE> | null;
}

/** One instance of the server, with what it tells without being asked. */
class ConnectionServer {
  readonly server: BelfryServer;
  readonly #session: Session;
  readonly #connection: Connection;
  /** Resources that this connection hears of; on `2026-07-28` by listen stream. */
  readonly #uris = new Set<string>();
  readonly #listens = new Map<string, Listen>();
  readonly #wantsCatalogue: Set<string>;
  /** As it was told last. */
  #catalogue: string;
  #notices: ResourceNotices | null = null;
  #principal: Principal | null = null;
  /** Names of the tools that it was or could have been shown. */
  #tools = '';
  #initialized: boolean;
  #closed = false;

  constructor(identity: ServerIdentity, connection: Connection, session: Session, wantsCatalogue: Set<string>) {
    this.#session = session;
    this.#connection = connection;
    this.#wantsCatalogue = wantsCatalogue;
    this.#catalogue = catalogueText(session.backend, session.peer);
    this.#initialized = session.era === 'modern';
    this.server = new BelfryServer(identity, session, channelText(session));
    registerTools(this.server, session);
    registerResources(this.server, session, this.#uris);
    const { peer, backend } = session;
    if (session.era === 'modern') {
      registerEvents(this.server, backend, peer);
      connection.outgoing = (message) => ('method' in message && message.method === 'notifications/subscriptions/acknowledged' ? this.#acknowledged(message as never) : message);
      connection.oncancel = (id) => this.#unlisten(JSON.stringify(id));
    } else {
      this.server.oninitialized = () => {
        this.#initialized = true;
        this.#join();
      };
    }
    peer.principal.then((principal) => {
      if (this.#closed) return;
      this.#principal = principal;
      this.#tools = this.#toolNames();
      this.#notices = new ResourceNotices(session.backend, principal, this.#uris, (method, params) => {
        this.server.notification({ method, params }).catch((error: unknown) => session.backend.fault('resources', error));
      });
      this.#join();
    }, () => undefined);
  }

  policyChanged(): void {
    if (this.#closed) return;
    this.#catalogueChanged();
    if (this.#principal === null) return;
    const { backend } = this.#session;
    const names = this.#toolNames();
    if (names !== this.#tools && this.#initialized) {
      this.#tools = names;
      this.server.notification({ method: 'notifications/tools/list_changed' }).catch((error: unknown) => backend.fault('tools', error));
    }
    this.#notices?.statusChanged();
    if (accessOf(backend, this.#principal) !== 'refused') return;
    for (const { id } of this.#listens.values()) this.#endListen(id);
    this.#listens.clear();
    this.#uris.clear();
  }

  close(): void {
    this.#closed = true;
    this.#notices?.close();
    const { channel, backend } = this.#session;
    this.#session.channel = null;
    if (channel) backend.channels.leave(channel);
  }

  /** Those that were acknowledged hear of it, also of the change by which it is no longer declared. */
  #catalogueChanged(): void {
    const { backend, peer } = this.#session;
    const now = catalogueText(backend, peer);
    if (now === this.#catalogue) return;
    this.#catalogue = now;
    for (const { id, catalogue } of this.#listens.values()) {
      if (catalogue === null) continue;
      const params = { _meta: { [SUBSCRIPTION_ID]: id } };
      this.#connection.notify(catalogue, 'notifications/events/list_changed', `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/events/list_changed', params })}\n`);
    }
  }

  #toolNames(): string {
    return listedTools(this.#session.backend, this.#principal!).map(({ name }) => name).join(' ');
  }

  /** The handshake is done and the peer is known: its channel may be written to. */
  #join(): void {
    const { peer, backend } = this.#session;
    if (this.#closed || this.#session.channel !== null || !this.#initialized || this.#principal === null || this.#session.era !== 'legacy' || !peer.channel) return;
    const held = peer.connection.license(CHANNEL_LICENCE);
    if (held) this.#session.channel = backend.channels.join(this.#principal.id, peer.connection, held);
  }

  /** The honoured subset is what there is for this client, which is known only once the peer is. */
  async #acknowledged(message: { params: { notifications: { resourceSubscriptions?: string[] }; _meta: Record<string, string | number> } }) {
    const { notifications, _meta } = message.params;
    const id = _meta[SUBSCRIPTION_ID]!;
    const { resourceSubscriptions, ...rest } = notifications;
    const key = JSON.stringify(id);
    const { peer, backend } = this.#session;
    const catalogue = this.#wantsCatalogue.delete(key) && backend.anyOn() && backend.webhooksOn ? peer.connection.license(LIST_CHANGED_LICENCE) : null;
    this.#listens.set(key, { id, uris: [], catalogue: null });
    const principal = await peer.principal;
    const uris = honouredUris(resourceSubscriptions ?? [], backend, principal);
    // It may have been withdrawn meanwhile.
    if (this.#listens.has(key)) this.#listens.set(key, { id, uris, catalogue });
    this.#followListens();
    const honoured = { ...rest, ...(uris.length > 0 && { resourceSubscriptions: uris }), ...(catalogue !== null && { eventsListChanged: true }) };
    return { ...message, params: { ...message.params, notifications: honoured } } as never;
  }

  #unlisten(key: string): void {
    if (this.#listens.delete(key)) this.#followListens();
  }

  #followListens(): void {
    this.#uris.clear();
    for (const { uris } of this.#listens.values()) for (const uri of uris) this.#uris.add(uri);
  }

  /** The owner took the client's leave: the stream ends with its result, and nothing comes on it any more. */
  #endListen(id: string | number): void {
    this.#connection.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
    void this.#connection.send({ jsonrpc: '2.0', id, result: { resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: id } } });
  }
}
