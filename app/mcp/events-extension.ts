import { ProtocolError, type Server } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { StoreError } from '../apple/reader.ts';
import type { DeliveryMode } from '../events/catalogue.ts';
import { ErrorCode, eventNotFound, EventsError, forbidden, invalidParams, limitReached, methodNotFound, storeUnreadable } from '../events/errors.ts';
import type { Hub } from '../events/hub.ts';
import { payloadOf, type EventType, type Occurrence, type Subjects } from '../events/occurrence.ts';
import type { Filter, NameLookup } from '../events/sender-filter.ts';
import type { Subscription } from '../events/subscription.ts';
import type { Gate, Principal } from '../events/verdict.ts';
import type { Held } from './emission.ts';
import { descriptorsFor, opening } from './events-request.ts';
import { EVENTS_LICENCE, StreamSink, SUBSCRIPTION_ID } from './stream.ts';
import { subscribe, unsubscribe, type WebhookBackend } from './webhook-methods.ts';
import type { Wire } from './wire.ts';

/** Streams a connection, or over HTTP a credential (architecture 5). */
export const MAX_STREAMS = 10;
const DEFAULT_PAGE = 50;
const MAX_PAGE = 200;
const NEXT_POLL_MS = 30_000;
/** When something waits for its joined rows, or an unreadable moment passes. */
const SOON_MS = 1000;
/** A poll that skips much of the owner's rules away looks at this many pages before it answers. */
const PAGES_A_POLL = 8;

/** What the extension asks of the engine. All answers come from memory but the hub's. */
export interface EventsBackend extends WebhookBackend {
  readonly types: readonly EventType[];
  anyOn(): boolean;
  eventOn(type: EventType): boolean;
  hub(type: EventType): Hub;
  names(type: EventType, principal: Principal): NameLookup;
  gate(principal: Principal, type: EventType): Gate;
  allows(occurrence: Occurrence, principal: Principal): boolean;
  takeRing(principal: Principal, eventId: string): boolean;
  nextFreeAt(principal: Principal): number;
  readonly subjects: Subjects;
  /** A client named what it wants: kept for the owner's screen and for the waiting list. */
  asks(principal: Principal, type: EventType, filter: Filter, mode: DeliveryMode): void;
  delivered(occurrence: Occurrence, principal: Principal): void;
  now(): number;
  /** A fault of ours; the text goes to the log, never to a peer. */
  fault(where: string, error: unknown): void;
}

/** Streams that count towards one quota. */
export interface OpenStreams {
  readonly size: number;
  add(subscription: Subscription): void;
  delete(subscription: Subscription): void;
}

export interface EventsPeer {
  readonly connection: Wire;
  /** Settles when the peer check is done; events wait for it, the first answer does not. */
  readonly principal: Promise<Principal>;
  /** Open streams of this connection, for heartbeats, drains and the quota. */
  readonly streams: OpenStreams;
  /** It was started with --channel. */
  readonly channel: boolean;
  /** It showed a credential. Whoever comes by the socket shows none: which program it is, is found out. */
  readonly authenticated: boolean;
}

/** A request of the extension, wherever it came in. */
interface Call {
  readonly request: { readonly id: string | number; readonly signal: AbortSignal };
  readonly backend: EventsBackend;
  readonly peer: EventsPeer;
  readonly held: Held<typeof EVENTS_LICENCE>;
}

export type Params = Readonly<Record<string, unknown>>;

const methods: Readonly<Record<string, (params: Params, call: Call) => object | Promise<object>>> = {
  'events/list': (params, { backend, peer }) => {
    if (params['cursor'] !== undefined && params['cursor'] !== null) throw invalidParams('cursor: there is only one page');
    return { events: descriptorsFor(backend, peer) };
  },
  'events/poll': poll,
  'events/stream': stream,
  'events/subscribe': (params, { backend, peer }) => subscribe(params, backend, peer),
  'events/unsubscribe': (params, { backend, peer }) => unsubscribe(params, backend, peer),
};

export const isEventsMethod = (method: string): boolean => Object.hasOwn(methods, method);

/**
 * Answers one of the five methods; policy is asked at each request. A stream's answer is its end.
 * @throws EventsError, and nothing else
 */
export async function answerEvents(method: string, params: unknown, request: Call['request'], backend: EventsBackend, peer: EventsPeer): Promise<object> {
  try {
    // Declared and served are one: what `server/discover` would not say now is not there.
    const held = backend.anyOn() ? peer.connection.license(EVENTS_LICENCE) : null;
    if (held === null) throw methodNotFound();
    return await methods[method]!((params ?? {}) as Params, { request, backend, peer, held });
  } catch (error) {
    if (error instanceof EventsError) throw error;
    if (error instanceof StoreError) throw storeUnreadable(error.kind);
    backend.fault(method, error);
    throw new EventsError(ErrorCode.internal, 'Belfry met an unexpected fault');
  }
}

const anything = z.unknown();

/** Registers the five methods on a `2026-07-28` server of the SDK. */
export function registerEvents(server: Server, backend: EventsBackend, peer: EventsPeer): void {
  for (const method of Object.keys(methods)) {
    server.setRequestHandler(method, { params: anything }, async (params, ctx) => {
      try {
        return (await answerEvents(method, params, ctx.mcpReq, backend, peer)) as Record<string, unknown>;
      } catch (error) {
        const { code, message, data } = error as EventsError;
        throw new ProtocolError(code, message, data);
      }
    });
  }
}

async function poll(params: Params, { backend, peer }: Call): Promise<object> {
  const principal = await peer.principal;
  const { type, hub, filter, cursor, maxAgeMs } = opening(params, backend, 'poll', peer, principal);
  const limit = pageSize(params['maxEvents']);
  backend.asks(principal, type, filter, 'poll');
  const gate = backend.gate(principal, type);
  if (gate === 'off') throw eventNotFound();
  if (gate === 'refused') throw forbidden('The owner does not allow this client');
  if (gate === 'approval') throw forbidden('approval');
  hub.ready();
  const start = hub.startFrom(cursor, maxAgeMs, filter);
  if (gate === 'paused') {
    // Ruling 3: the cursor stays where it is.
    return batch([], start.truncated || cursor === null ? hub.tail.cursorAt(start.position) : cursor, start.truncated, false, NEXT_POLL_MS);
  }
  const upTo = hub.tail.watermark;
  let found = new Map<string, Occurrence>();
  let { position } = start;
  let ceiling = false;
  for (let pages = 0; pages < PAGES_A_POLL && position < upTo && found.size < limit && !ceiling; pages += 1) {
    const page = hub.page(filter, position, upTo, start.notBefore, limit - found.size, start.position);
    position = page.through;
    for (const occurrence of page.occurrences) {
      if (found.has(occurrence.eventId) || !backend.allows(occurrence, principal)) continue;
      if (!backend.takeRing(principal, occurrence.eventId)) {
        position = occurrence.row.rowid - 1;
        ceiling = true;
        break;
      }
      found.set(occurrence.eventId, occurrence);
    }
  }
  // The next poll knows only its cursor: what was moved ahead of it meanwhile has to be told now, at its first place.
  const ahead = hub.movedAhead(filter, start.position, position, upTo, start.notBefore);
  if (ahead.length > 0) {
    const places = [...found.values()].map((occurrence) => ({ occurrence, place: occurrence.row.rowid }));
    const fits = ahead.filter(({ occurrence }) => !found.has(occurrence.eventId) && backend.allows(occurrence, principal));
    const inOrder = [...places, ...fits].sort((a, b) => a.place - b.place);
    found = new Map();
    for (const { occurrence, place } of inOrder) {
      const full = found.size === limit;
      if (!full && backend.takeRing(principal, occurrence.eventId)) found.set(occurrence.eventId, occurrence);
      else {
        position = place - 1;
        ceiling ||= !full;
        break;
      }
    }
  }
  const hasMore = position < upTo && !ceiling;
  const waits = ceiling ? Math.max(SOON_MS, backend.nextFreeAt(principal) - backend.now()) : upTo < hub.tail.position ? SOON_MS : NEXT_POLL_MS;
  for (const occurrence of found.values()) backend.delivered(occurrence, principal);
  const events = [...found.values()].map((occurrence) => ({
    eventId: occurrence.eventId,
    name: occurrence.type,
    timestamp: occurrence.timestamp,
    data: payloadOf(occurrence, backend.subjects),
  }));
  return batch(events, hub.tail.cursorAt(Math.max(position, Math.min(start.position, upTo))), start.truncated, hasMore, waits);
}

const batch = (events: readonly object[], cursor: string, truncated: boolean, hasMore: boolean, nextPollMs: number) =>
  ({ events, cursor, truncated, hasMore, nextPollMs });

function pageSize(value: unknown): number {
  if (value === undefined || value === null) return DEFAULT_PAGE;
  if (!Number.isSafeInteger(value) || (value as number) < 1) throw invalidParams('maxEvents: must be an integer of at least 1');
  return Math.min(value as number, MAX_PAGE);
}

async function stream(params: Params, { request, held, backend, peer }: Call): Promise<object> {
  const principal = await peer.principal;
  const { type, hub, filter, cursor, maxAgeMs } = opening(params, backend, 'push', peer, principal);
  const result = { _meta: { [SUBSCRIPTION_ID]: request.id } };
  if (request.signal.aborted) return result;
  backend.asks(principal, type, filter, 'push');
  const gate = backend.gate(principal, type);
  if (gate === 'off') throw eventNotFound();
  if (gate === 'refused') throw forbidden('The owner does not allow this client');
  if (peer.streams.size >= MAX_STREAMS) throw limitReached('streams', MAX_STREAMS);
  hub.ready();
  const start = hub.startFrom(cursor, maxAgeMs, filter);
  return new Promise((resolve) => {
    let opened: Subscription | null = null;
    const finish = () => {
      if (opened !== null) peer.streams.delete(opened);
      resolve(result);
    };
    const sink = new StreamSink({
      connection: peer.connection, held, signal: request.signal, id: request.id, subjects: () => backend.subjects, done: finish,
    });
    const subscription = hub.subscribe(principal, filter, start, sink);
    if (subscription.state !== 'ended') peer.streams.add((opened = subscription));
    request.signal.addEventListener('abort', () => {
      hub.unsubscribe(subscription);
      finish();
    }, { once: true });
  });
}

