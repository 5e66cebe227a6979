import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { welcomeOf, type Hello } from '../endpoint/handshake.ts';
import type { ClientIdentity, PeerIdentifier } from '../endpoint/peer-identity.ts';
import type { Subscription } from '../events/subscription.ts';
import type { Principal } from '../events/verdict.ts';
import { Connection } from '../mcp/connection.ts';
import type { Emission } from '../mcp/emission.ts';
import { serveConnection, type Served } from '../mcp/server.ts';
import type { Backend } from '../mcp/session.ts';
import { version } from './version.ts';

/** Connections in all, and of one identity (architecture 5). */
const MAX_CONNECTIONS = 200;
const MAX_OF_ONE = 50;
/** Of the helper's signature, as build/sign.mjs gives it. */
const HELPER_ID = 'dev.belfry.belfry-mcp';
const NOT_OUR_HELPER = 'Belfry serves its own helper only: start belfry-mcp from the installed app.';

export interface Peer {
  readonly connection: Connection;
  readonly streams: Set<Subscription>;
  readonly label: string | null;
  /** Unix ms. */
  readonly connectedAt: number;
  identity: ClientIdentity | null;
  served: Served | null;
}

export interface PeersOptions {
  readonly identifier: PeerIdentifier;
  /** The team whose signed helper alone may connect; null or absent where nothing is signed. */
  readonly helperTeam: string | null | undefined;
  readonly backend: Backend;
  readonly now: () => number;
  readonly listener: PeersListener;
}

export interface PeersListener {
  identified(peer: Peer, identity: ClientIdentity): void;
  /** @param wasLast no other connection of its client is left */
  left(peer: Peer, wasLast: boolean): void;
  /** There is room again for what was held back. */
  drained(peer: Peer): void;
  /** @param number of the connection since the start */
  emitted(number: number, emission: Emission, sent: boolean): void;
  /** The helper was told to run a command line. */
  command(socket: Socket, argv: readonly string[]): void;
}

/** Who is connected by the socket: admitted, identified and served. */
export class Peers {
  readonly #options: PeersOptions;
  readonly #peers = new Set<Peer>();
  #connections = 0;

  constructor(options: PeersOptions) {
    this.#options = options;
  }

  [Symbol.iterator](): Iterator<Peer> {
    return this.#peers.values();
  }

  /** Requests of clients that wait for an answer: a stream is answered for as long as it is open. */
  get answering(): number {
    let all = 0;
    for (const { connection, streams } of this.#peers) all += Math.max(0, connection.liveRequests - streams.size);
    return all;
  }

  /** Null: let in; else the sentence that says why not. */
  admit(socket: Socket): string | null {
    if (!this.#options.identifier.isSameUser(socket)) return 'Belfry serves programs of its own user only.';
    return this.#peers.size >= MAX_CONNECTIONS ? `Belfry serves at most ${MAX_CONNECTIONS} connections at once.` : null;
  }

  /** @param rest what came behind the first line */
  serve(socket: Socket, hello: Hello, rest: Buffer): void {
    if (hello.mode === 'command') return this.#command(socket, hello.argv);
    socket.write(welcomeOf(version));
    this.attach(socket, socket, hello, rest);
  }

  /**
   * Serves one client: the program behind `socket`.
   * @param stream where its lines come and go: the socket itself, or what a command that runs here in its name speaks through
   */
  attach(socket: Socket, stream: Duplex, hello: Pick<Extract<Hello, { mode: 'mcp' }>, 'label' | 'channel'>, rest: Buffer = Buffer.alloc(0)): void {
    // Those that only run a command were let in without counting.
    if (this.#peers.size >= MAX_CONNECTIONS) return void stream.destroy();
    const { listener, backend, now } = this.#options;
    const connection = new Connection(stream);
    const peer: Peer = { connection, streams: new Set(), label: hello.label ?? null, connectedAt: now(), identity: null, served: null };
    this.#peers.add(peer);
    const number = (this.#connections += 1);
    connection.onemit = (emission, sent) => listener.emitted(number, emission, sent);
    connection.ondrain = () => listener.drained(peer);
    const principal = this.#identify(socket, peer);
    // Nobody may be waiting for it when it fails: the peer is gone then.
    principal.catch(() => undefined);
    const served = serveConnection(connection, { name: 'belfry', version }, backend, { connection, principal, streams: peer.streams, channel: hello.channel === true, authenticated: false });
    peer.served = served;
    const onclose = connection.onclose;
    connection.onclose = () => {
      this.#peers.delete(peer);
      served.close();
      onclose?.();
      const { identity } = peer;
      listener.left(peer, identity !== null && ![...this.#peers].some((other) => other.identity?.id === identity.id));
    };
    connection.begin(rest);
  }

  policyChanged(): void {
    for (const peer of this.#peers) peer.served?.policyChanged();
  }

  async close(): Promise<void> {
    for (const peer of [...this.#peers]) await peer.connection.close();
  }

  #command(socket: Socket, argv: readonly string[]): void {
    void this.#isOurHelper(socket).then((ours) => {
      if (!ours) return socket.end(`error ${NOT_OUR_HELPER}\n`);
      socket.write(welcomeOf(version));
      return this.#options.listener.command(socket, argv);
    });
  }

  /** In a signed app only our own signed helper is a peer: it is what looks for the client behind it. */
  async #isOurHelper(socket: Socket): Promise<boolean> {
    const { helperTeam, identifier } = this.#options;
    return !helperTeam || identifier.isSignedBy(socket, helperTeam, HELPER_ID);
  }

  async #identify(socket: Socket, peer: Peer): Promise<Principal> {
    if (!(await this.#isOurHelper(socket))) {
      peer.connection.destroy();
      throw new Error(NOT_OUR_HELPER);
    }
    const identity = await this.#options.identifier.identify(socket);
    peer.identity = identity;
    let same = 0;
    for (const other of this.#peers) if (other.identity?.id === identity.id) same += 1;
    if (same > MAX_OF_ONE) {
      peer.connection.destroy();
      throw new Error('Too many connections of one client');
    }
    this.#options.listener.identified(peer, identity);
    return { id: identity.id };
  }
}
