import { ProtocolError, type Server } from '@modelcontextprotocol/server';
import { ErrorCode } from '../events/errors.ts';
import type { Principal } from '../events/verdict.ts';
import { coverageFor } from './tools/search-tools.ts';
import { accessOf, type Backend, type Session } from './session.ts';

export const STATUS_URI = 'belfry://status';
const WATCH_URI = 'belfry://watch/';
const JSON_TYPE = 'application/json';
/** Items in one reading of a watch. */
const LIMIT = 50;
/** Resources that one connection may follow. */
const MAX_SUBSCRIPTIONS = 256;

const watchUri = (id: string) => `${WATCH_URI}${id}`;

/** What can be read, by whom: a watch is there for its own client only, and for others it is not there at all. */
function idOf(uri: string, backend: Backend, principal: Principal): string | null {
  const id = uri.startsWith(WATCH_URI) ? uri.slice(WATCH_URI.length) : '';
  return backend.watches.find(id, principal.id) === null ? null : id;
}
const exists = (uri: string, backend: Backend, principal: Principal) => uri === STATUS_URI || idOf(uri, backend, principal) !== null;
/** It is named as it was asked for: nothing is told of what there is. */
const unknown = (uri: string) => new ProtocolError(ErrorCode.invalidParams, 'uri: there is no such resource; resources/list shows yours', { uri });

export type ResourceChange = 'notifications/resources/updated' | 'notifications/resources/list_changed';

/** Change notices of one client's resources. The owner's word is asked again for each of them. */
export class ResourceNotices {
  readonly #backend: Backend;
  readonly #principal: Principal;
  readonly #uris: ReadonlySet<string>;
  readonly #tell: (method: ResourceChange, params: Readonly<Record<string, string>>) => void;
  readonly #ignore: () => void;
  #ids: string;

  /** @param uris what the peer asked to hear of; it changes as the peer asks. */
  constructor(backend: Backend, principal: Principal, uris: ReadonlySet<string>, tell: (method: ResourceChange, params: Readonly<Record<string, string>>) => void) {
    this.#backend = backend;
    this.#principal = principal;
    this.#uris = uris;
    this.#tell = tell;
    this.#ids = this.#list();
    this.#ignore = backend.watches.listen(principal.id, (changed) => this.#changed(changed));
  }

  close(): void {
    this.#ignore();
  }

  /** Policy changed: what the status says may differ. */
  statusChanged(): void {
    if (this.#uris.has(STATUS_URI)) this.#updated(STATUS_URI);
  }

  #list(): string {
    return this.#backend.watches.idsOf(this.#principal.id).join();
  }

  #changed(ids: ReadonlySet<string>): void {
    const list = this.#list();
    if (list !== this.#ids) {
      this.#ids = list;
      this.#send('notifications/resources/list_changed', {});
    }
    for (const id of ids) if (this.#uris.has(watchUri(id))) this.#updated(watchUri(id));
    this.statusChanged();
  }

  #updated(uri: string): void {
    this.#send('notifications/resources/updated', { uri });
  }

  #send(method: ResourceChange, params: Readonly<Record<string, string>>): void {
    if (accessOf(this.#backend, this.#principal) !== 'refused') this.#tell(method, params);
  }
}

/** @param uris on legacy connections, what `resources/subscribe` asked for */
export function registerResources(server: Server, session: Session, uris: Set<string>): void {
  const { backend, peer } = session;
  server.setRequestHandler('resources/list', async () => {
    const { id } = await peer.principal;
    return {
      resources: [
        { uri: STATUS_URI, name: 'status', title: 'Belfry', description: 'What is on for you, and how much is unread.', mimeType: JSON_TYPE },
        ...backend.watches.list(id).map((watch) => ({
          uri: watchUri(watch.id), name: `watch ${watch.id}`, title: `Watch of ${watch.type}`, description: 'Its unread items.', mimeType: JSON_TYPE,
        })),
      ],
    };
  });
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: `${WATCH_URI}{watch}`, name: 'watch', title: 'Unread items of a watch', description: 'By the id from watch_events or list_watches.', mimeType: JSON_TYPE }],
  }));
  server.setRequestHandler('resources/read', async (request) => {
    const { uri } = request.params;
    const principal = await peer.principal;
    const value = uri === STATUS_URI ? statusFor(session, principal) : watchFor(uri, session, principal);
    return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(value) }] };
  });
  // A stateless request cannot be told of a change afterwards.
  if (session.era === 'modern' || session.over === 'http') return;
  server.setRequestHandler('resources/subscribe', async (request) => {
    const { uri } = request.params;
    if (!exists(uri, backend, await peer.principal)) throw unknown(uri);
    if (uris.size >= MAX_SUBSCRIPTIONS) throw new ProtocolError(ErrorCode.resourceExhausted, 'ResourceExhausted', { limit: 'resourceSubscriptions', max: MAX_SUBSCRIPTIONS });
    uris.add(uri);
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', (request) => {
    uris.delete(request.params.uri);
    return {};
  });
}

/** The part of a listen filter that is honoured: resources that are there for this client. */
export const honouredUris = (uris: readonly string[], backend: Backend, principal: Principal): string[] =>
  uris.slice(0, MAX_SUBSCRIPTIONS).filter((uri) => exists(uri, backend, principal));

function statusFor({ backend }: Session, principal: Principal): object {
  const watches = backend.watches.list(principal.id);
  return {
    access: accessOf(backend, principal),
    paused: backend.paused,
    events: backend.types.filter((type) => !['off', 'refused'].includes(backend.gate(principal, type))),
    watches: watches.length,
    unread: watches.reduce((sum, watch) => sum + watch.waiting + watch.sent, 0),
    search: searchFor(backend, principal),
  };
}

/** The mail index, for a client that may search. How much lies there says something of senders that are not allowed. */
function searchFor({ reading }: Backend, principal: Principal): object | null {
  const reach = reading.reach(principal, 'mail');
  if (reach === null || !reading.search.maySearch(principal)) return null;
  const { state } = reading.search;
  return reach === 'everything' ? state : coverageFor(state, reach);
}

function watchFor(uri: string, session: Session, principal: Principal): object {
  const { backend } = session;
  const id = idOf(uri, backend, principal);
  if (id === null) throw unknown(uri);
  backend.pulled(principal);
  const taken = backend.inbox.take(principal.id, { watch: backend.watches.number(id), limit: LIMIT });
  if ('refused' in taken) throw new ProtocolError(ErrorCode.internal, taken.refused);
  const { items, batch, hasMore, gaps, unreadable } = taken;
  const view = backend.watches.find(id, principal.id)!;
  return {
    watch: id, event: view.type, arguments: view.arguments, waitingForOwner: !view.covered,
    // `confirm` of check_inbox takes it.
    batch, items, hasMore, gaps, unreadable,
  };
}
