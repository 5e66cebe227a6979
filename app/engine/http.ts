import type { HttpState } from '../contract/values.ts';
import { EndpointError } from '../endpoint/endpoint.ts';
import type { Credential, Credentials } from '../endpoint/http/credential.ts';
import { HttpEndpoint } from '../endpoint/http/http-endpoint.ts';
import { PATH } from '../endpoint/http/gate.ts';
import type { HttpRoutes } from '../endpoint/http/routes.ts';
import type { Clock } from '../events/clock.ts';
import type { Subscription } from '../events/subscription.ts';
import { CredentialServer } from '../mcp/credential-server.ts';
import type { Emission } from '../mcp/emission.ts';
import type { Backend } from '../mcp/session.ts';
import type { ClientIdentity } from '../policy/clients.ts';
import type { Engine } from './engine.ts';
import { describeFault } from './log.ts';
import { oauthOf } from './oauth.ts';
import { version } from './version.ts';

/** A port that somebody else has may be free again. */
const RETRY_MS = 10_000;

/** A client that is connected, whichever way it came in. */
export interface ConnectedClient {
  readonly connection: { readonly emitted: ReadonlyMap<Emission, number>; readonly liveRequests: number };
  readonly streams: ReadonlySet<Subscription>;
  readonly label: string | null;
  /** Unix ms. */
  readonly connectedAt: number;
  readonly identity: ClientIdentity | null;
}

export interface HttpListener {
  identified(identity: ClientIdentity, label: string | null): void;
  left(identity: ClientIdentity): void;
  emitted(client: string, emission: Emission): void;
  fault(where: string, error: unknown): void;
  /** Whether it listens, or where, is not what it was. */
  changed(): void;
}

/** What the owner wants of it. */
interface Wanted {
  readonly on: boolean;
  readonly port: number;
}

/** The endpoint over HTTP as the owner switched it: open, closed, or wanted and not possible. */
export class HttpSwitch {
  readonly #backend: Backend;
  readonly #credentials: Credentials;
  readonly #routes: HttpRoutes;
  readonly #clock: Clock;
  readonly #listener: HttpListener;
  readonly #flag: number | null;
  #wanted: Wanted = { on: false, port: 0 };
  #endpoint: HttpEndpoint | null = null;
  /** Of the endpoint that is open, as it was asked for. */
  #openPort = 0;
  #sentence: string | null = null;
  #retry: (() => void) | null = null;
  /** One step at a time: a port must be free before it is taken again. */
  #steps: Promise<void> = Promise.resolve();

  /** @param options.port given at start: it is open on this one whatever settings say; 0 is any */
  constructor(options: { backend: Backend; credentials: Credentials; routes: HttpRoutes; clock: Clock; listener: HttpListener; port: number | null }) {
    this.#backend = options.backend;
    this.#credentials = options.credentials;
    this.#routes = options.routes;
    this.#clock = options.clock;
    this.#listener = options.listener;
    this.#flag = options.port;
  }

  get state(): HttpState {
    const port = this.#endpoint?.port ?? null;
    return {
      state: port !== null ? 'listening' : this.#sentence !== null ? 'trouble' : 'off',
      port: port ?? (this.#wanted.on ? this.#wanted.port : null),
      url: port === null ? null : `${this.#endpoint!.origin}${PATH}`,
      sentence: this.#sentence,
    };
  }

  /** Requests of clients that wait for an answer: a stream is answered for as long as it is open. */
  get answering(): number {
    let all = 0;
    for (const { server } of this.#endpoint?.peers ?? []) all += server.answering;
    return all;
  }

  get clients(): readonly ConnectedClient[] {
    return [...this.#endpoint?.peers ?? []].map(({ credential: { identity, label }, server, connectedAt }) => ({ connection: server, streams: server.streams, label, connectedAt, identity }));
  }

  /** Settings may say otherwise than before. Resolves once it is so, or cannot be. */
  follow(wanted: Wanted): Promise<void> {
    this.#wanted = this.#flag === null ? wanted : { on: true, port: this.#flag };
    return this.#step(() => this.#settle());
  }

  policyChanged(): void {
    this.#endpoint?.policyChanged();
  }
  /** A token was revoked or ran out: what was opened with it ends. */
  tokensChanged(): void {
    this.#endpoint?.recheck();
  }

  /** The engine stops. Clients may come back to the next one. */
  close(): Promise<void> {
    this.#wanted = { on: false, port: 0 };
    return this.#step(() => this.#shut(null));
  }

  #step(work: () => Promise<void>): Promise<void> {
    this.#steps = this.#steps.then(work).catch((error: unknown) => this.#listener.fault('http', error));
    return this.#steps;
  }

  async #settle(): Promise<void> {
    const { on, port } = this.#wanted;
    this.#retry?.();
    this.#retry = null;
    if (this.#endpoint !== null && (!on || port !== this.#openPort)) await this.#shut(on ? null : 'The owner switched HTTP off');
    if (on && this.#endpoint === null) await this.#open(port);
    else if (!on) this.#say(null);
  }

  async #open(port: number): Promise<void> {
    const endpoint = new HttpEndpoint({
      credentials: this.#credentials, routes: this.#routes, clock: this.#clock,
      handler: { serve: (credential) => this.#serve(credential), away: ({ identity }) => this.#listener.left(identity), fault: (error) => this.#listener.fault('http', error) },
    });
    try {
      await endpoint.listen(port);
    } catch (error) {
      if (!(error instanceof EndpointError)) throw error;
      this.#say(`${error.message} Choose another port for HTTP, or quit what uses it.`);
      this.#retry = this.#clock.after(RETRY_MS, () => void this.#step(() => this.#settle()));
      return;
    }
    this.#endpoint = endpoint;
    this.#openPort = port;
    this.#sentence = null;
    this.#listener.changed();
  }

  async #shut(reason: string | null): Promise<void> {
    this.#retry?.();
    const endpoint = this.#endpoint;
    this.#endpoint = null;
    await endpoint?.close(reason);
    if (endpoint) this.#listener.changed();
  }

  #serve({ identity, label }: Credential): CredentialServer {
    const { id } = identity;
    this.#listener.identified(identity, label);
    return new CredentialServer({
      identity: { name: 'belfry', version }, backend: this.#backend, principal: { id }, onemit: (emission) => this.#listener.emitted(id, emission),
    });
  }

  #say(sentence: string | null): void {
    if (sentence === this.#sentence) return;
    this.#sentence = sentence;
    this.#listener.changed();
  }
}

/** The endpoint of an engine. Its settings are followed by the engine. */
export function httpOf(engine: Engine, backend: Backend): HttpSwitch {
  const { options, clock, policy, changes } = engine;
  return new HttpSwitch({
    backend, clock, port: options.httpPort ?? null, credentials: options.credentials ?? policy.credentials, routes: options.routes ?? oauthOf(engine),
    listener: {
      identified: (identity, label) => {
        policy.seen(identity, label);
        changes.changed();
      },
      left: ({ id }) => {
        if (!engine.connected.some(({ identity }) => identity?.id === id)) engine.pulls.left(id);
        changes.changed();
      },
      emitted: (client, emission) => engine.emitted(`credential ${client}`, emission, true),
      fault: (where, error) => options.log(`${where}: ${describeFault(error)}`),
      changed: () => changes.changed(),
    },
  });
}
