import { z } from 'zod';
import type { Principal } from '../events/verdict.ts';
import type { Declaration, Held, MethodOf } from './emission.ts';
import type { Exchange } from './exchange.ts';
import { honouredUris } from './resources.ts';
import type { Backend } from './session.ts';
import { LIST_CHANGED_LICENCE, SUBSCRIPTION_ID } from './stream.ts';

/** URIs of one listen stream: the first ones are followed, the others are not acknowledged. */
export const MAX_URIS = 20;
/** Listen streams of one credential. */
export const MAX_LISTENS = 4;

const filter = z.looseObject({
  toolsListChanged: z.boolean().optional(),
  resourcesListChanged: z.boolean().optional(),
  eventsListChanged: z.boolean().optional(),
  resourceSubscriptions: z.array(z.string()).optional(),
});
const params = z.looseObject({ notifications: filter });
type Change = MethodOf<Declaration> & (`notifications/${'tools' | 'resources'}/${string}` | 'notifications/events/list_changed');

/** What is honoured of what was asked for: what is declared, and resources that are there for this client. */
interface Honoured {
  readonly toolsListChanged?: true;
  readonly resourcesListChanged?: true;
  readonly eventsListChanged?: true;
  readonly resourceSubscriptions?: readonly string[];
}

/** One `subscriptions/listen` over HTTP: it acknowledges first, and carries nothing that was not asked for. */
export class Listen {
  readonly #exchange: Exchange;
  readonly #backend: Backend;
  readonly #principal: Principal;
  #honoured: Honoured;

  constructor(exchange: Exchange, backend: Backend, principal: Principal, asked: z.output<typeof filter>) {
    this.#exchange = exchange;
    this.#backend = backend;
    this.#principal = principal;
    const uris = honouredUris([...new Set(asked.resourceSubscriptions ?? [])].slice(0, MAX_URIS), backend, principal);
    this.#honoured = {
      ...(asked.toolsListChanged === true && { toolsListChanged: true }),
      ...(asked.resourcesListChanged === true && { resourcesListChanged: true }),
      // Of the extension, and only while that is declared.
      ...(asked.eventsListChanged === true && backend.anyOn() && backend.webhooksOn && { eventsListChanged: true }),
      ...(uris.length > 0 && { resourceSubscriptions: uris }),
    };
    this.#tell('subscriptions/listen', 'notifications/subscriptions/acknowledged', { notifications: this.#honoured });
  }

  /** Null: the request has no filter, or one of another form. */
  static filterOf(request: unknown): z.output<typeof filter> | null {
    const parsed = params.safeParse(request);
    return parsed.success ? parsed.data.notifications : null;
  }

  get uris(): readonly string[] {
    return this.#honoured.resourceSubscriptions ?? [];
  }
  /** Nothing is left that it could ever tell. */
  get isEmpty(): boolean {
    return Object.keys(this.#honoured).length === 0;
  }

  /** Resources that went are dropped from it. */
  recheck(): void {
    const { resourceSubscriptions, ...rest } = this.#honoured;
    const left = honouredUris(resourceSubscriptions ?? [], this.#backend, this.#principal);
    this.#honoured = { ...rest, ...(left.length > 0 && { resourceSubscriptions: left }) };
  }

  changed(method: Change, about: Readonly<Record<string, string>>): void {
    const { toolsListChanged, resourcesListChanged, eventsListChanged } = this.#honoured;
    if (method === 'notifications/tools/list_changed') {
      if (toolsListChanged) this.#tell('tools.listChanged', method, about);
    } else if (method === 'notifications/resources/list_changed') {
      if (resourcesListChanged) this.#tell('resources.listChanged', method, about);
    } else if (method === 'notifications/events/list_changed') {
      if (eventsListChanged) this.#tell(LIST_CHANGED_LICENCE, method, about);
    } else if (this.uris.includes(about['uri']!)) this.#tell('resources.subscribe', method, about);
  }

  comment(): void {
    this.#exchange.comment();
  }
  /** Ends the stream with its result. */
  finish(): void {
    this.#exchange.finish();
  }

  #tell<L extends Declaration | 'subscriptions/listen'>(licence: L, method: MethodOf<L>, about: object): void {
    const held: Held<L> | null = this.#exchange.license(licence);
    if (held === null) return;
    const message = { jsonrpc: '2.0', method, params: { ...about, _meta: { [SUBSCRIPTION_ID]: this.#exchange.id } } };
    this.#exchange.notify(held, method, `${JSON.stringify(message)}\n`);
  }
}
