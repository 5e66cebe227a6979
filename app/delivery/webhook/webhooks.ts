import type { Database } from 'better-sqlite3';
import { StoreError } from '../../apple/reader.ts';
import type { Clock } from '../../events/clock.ts';
import { ErrorCode, EventsError, eventNotFound, forbidden, limitReached, subscriptionNotFound } from '../../events/errors.ts';
import type { Hub } from '../../events/hub.ts';
import type { EventType } from '../../events/occurrence.ts';
import { parseArguments, type Filter, type NameLookup } from '../../events/sender-filter.ts';
import type { Principal } from '../../events/verdict.ts';
import type { StoredRef } from '../stored-occurrences.ts';
import { MAX_ARGUMENTS, canonical } from '../watch.ts';
import { HttpsPosts, type LoopbackReceivers, type PostOutcome, type ReceiverFault } from './https-post.ts';
import { Lanes } from './lanes.ts';
import { Verification } from './verification.ts';
import { Webhook } from './webhook.ts';
import type { Unsent, WebhookHost, WebhookPolicy, WebhookState } from './webhook-host.ts';
import { webhookIdOf, type Ending, type WebhookKey, type WebhookRecord } from './webhook-record.ts';
import { WebhookStore } from './webhook-store.ts';

/** Most subscriptions of one client, and of all. */
export const MAX_WEBHOOKS_OF_ONE = 100;
export const MAX_WEBHOOKS = 500;
/** Challenges of one client that are on their way. */
const MAX_VERIFYING = 8;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const MIN_TTL_MS = 5 * MINUTE_MS;
const DEFAULT_TTL_MS = HOUR_MS;
/** A grant that outlives this process needs a key to be kept under; without one it is short. */
const MAX_KEPT_TTL_MS = 24 * HOUR_MS;
const MAX_TTL_MS = HOUR_MS;
/** After another secret came, the old one signs too for so long. */
const BOTH_SIGN_MS = 10 * MINUTE_MS;
/** One that does not expire and whose receiver failed for so long goes. */
const MAX_SUSPENDED_MS = 3 * 24 * HOUR_MS;
/** Positions are written together. */
const KEEP_MS = 100;

export interface SubscribeRequest extends WebhookKey {
  readonly filter: Filter;
  /** Signs from now on. */
  readonly key: Buffer;
  readonly cursor: string | null;
  readonly maxAgeMs: number | null;
  /** Undefined: as we like. Null: no expiry, where that can be had. */
  readonly ttlMs: number | null | undefined;
}

/** As `events/subscribe` answers. */
export interface Granted {
  readonly id: string;
  readonly refreshBefore: string | null;
  readonly cursor: string;
  readonly truncated: boolean;
  readonly deliveryStatus?: DeliveryStatus;
}

export interface DeliveryStatus {
  readonly active: boolean;
  readonly lastDeliveryAt: string | null;
  readonly lastError: ReceiverFault | null;
  readonly failedSince?: string;
}

export interface WebhookView {
  readonly id: string;
  readonly client: string;
  readonly type: EventType;
  readonly senders: number;
  readonly host: string;
  readonly state: WebhookState;
  readonly lastError: ReceiverFault | null;
  readonly failedSince: number | null;
  readonly failures: number;
  readonly lastDeliveryAt: number | null;
  readonly delivered: number;
  readonly givenUp: number;
  readonly expiresAt: number | null;
  readonly createdAt: number;
}

export interface WebhooksListener {
  delivered(type: EventType, ref: StoredRef, client: string): void;
  /** It was tried as often as it is tried, or its receiver does not want it. */
  gaveUp(type: EventType, ref: StoredRef, client: string): void;
  /** Fixed words, without names. */
  happened(kind: 'subscribed' | 'unsubscribed' | 'suspended', type: EventType, client: string): void;
  changed(): void;
  fault(error: unknown): void;
}

export interface WebhooksOptions {
  readonly db: Database;
  /** Base64; null where no host keeps a key: then subscriptions live in memory only. */
  readonly hostKey: string | null;
  readonly hubs: ReadonlyMap<EventType, Hub>;
  readonly names: (type: EventType, principal: Principal) => NameLookup;
  readonly policy: WebhookPolicy;
  readonly clock: Clock;
  readonly listener: WebhooksListener;
  /** For development and tests; null: public receivers only. */
  readonly loopback: LoopbackReceivers | null;
  readonly random?: () => number;
}

/** All webhook subscriptions (SEP-3415, webhook mode): granted, kept, renewed, ended. */
export class Webhooks {
  readonly #options: WebhooksOptions;
  readonly #clock: Clock;
  readonly #policy: WebhookPolicy;
  readonly #store: WebhookStore | null;
  readonly #posts: HttpsPosts;
  readonly #lanes = new Lanes();
  readonly #verification: Verification;
  readonly #host: WebhookHost;
  readonly #byId = new Map<string, Webhook>();
  readonly #verifying = new Map<string, number>();
  /** Their positions differ from what is kept. */
  readonly #moved = new Set<Webhook>();
  #keep: (() => void) | null = null;

  constructor(options: WebhooksOptions) {
    const { clock, policy, listener } = options;
    this.#options = options;
    this.#clock = clock;
    this.#policy = policy;
    this.#store = options.hostKey === null ? null : new WebhookStore(options.db, options.hostKey);
    this.#posts = new HttpsPosts(clock, options.loopback);
    this.#verification = new Verification(clock, (callback, headers, body) => this.#lanes.run(callback.host, true, () => this.#posts.post(callback.url, headers, body)));
    this.#host = {
      clock, policy,
      random: options.random ?? Math.random,
      hub: ({ record }) => this.#hub(record.type),
      send: ({ record, isTroubled }, request) => this.#lanes.run<PostOutcome | Unsent>(record.callback.host, isTroubled, async () => {
        const made = request();
        return typeof made === 'string' ? made : this.#posts.post(record.callback.url, made.headers, made.body);
      }),
      delivered: ({ record }, ref) => listener.delivered(record.type, ref, record.client),
      gaveUp: ({ record }, ref) => listener.gaveUp(record.type, ref, record.client),
      suspended: ({ record }) => listener.happened('suspended', record.type, record.client),
      moved: (webhook, isRecord) => this.#hasMoved(webhook, isRecord),
      over: (webhook) => this.#remove(webhook),
      fault: (error) => listener.fault(error),
    };
    for (const { id, record, cursor } of this.#store?.load() ?? []) {
      const webhook = record === null ? null : new Webhook(record, cursor, this.#host);
      if (webhook === null || webhook.isExpired) this.#write(() => this.#store?.remove(id));
      else this.#enter(webhook);
    }
  }

  get size(): number {
    return this.#byId.size;
  }

  /**
   * The same key again is the same subscription, with another secret and more time. Asks the receiver first whether it agrees.
   * @throws EventsError Forbidden, ResourceExhausted, CallbackEndpointError, InvalidParams for a cursor; -32603 while the store cannot be read
   */
  async subscribe(request: SubscribeRequest): Promise<Granted> {
    const id = webhookIdOf(request);
    const hub = this.#hub(request.type);
    this.#mayAsk(request, id);
    hub.ready();
    const { cursor, maxAgeMs, filter } = request;
    // From the time of the call, not of the receiver's answer.
    const start = hub.startFrom(cursor, maxAgeMs, filter);
    const from = hub.tail.cursorAt(start.position);
    await this.#verify(request, id);
    this.#mayAsk(request, id);
    const known = this.#byId.get(id);
    if (known !== undefined && !known.isEnding && !known.isExpired) return this.#renew(known, request);
    if (known !== undefined) this.#remove(known);
    hub.ready();
    const again = hub.startFrom(from, maxAgeMs, filter);
    const truncated = start.truncated || again.truncated;
    const { client, type, arguments: args, callback } = request;
    const now = this.#clock.now();
    const record: WebhookRecord = {
      id, client, type, arguments: args, callback, createdAt: now, key: request.key.toString('base64'), previous: null,
      expiresAt: this.#expiryOf(request.ttlMs), gap: false, ending: null,
    };
    const position = hub.tail.cursorAt(again.position);
    this.#put(record, position);
    const webhook = new Webhook(record, position, this.#host);
    this.#enter(webhook);
    // What cannot be served was told in the answer to this call: no envelope says it again.
    webhook.opened(hub.subscribe(webhook.principal, filter, { ...again, truncated: false }, webhook), filter);
    this.#options.listener.happened('subscribed', type, client);
    this.#options.listener.changed();
    return { id, refreshBefore: isoOf(record.expiresAt), cursor: webhook.cursor, truncated };
  }

  /** @throws EventsError NotFound */
  unsubscribe(key: WebhookKey): void {
    const webhook = this.#byId.get(webhookIdOf(key));
    if (webhook === undefined || webhook.isEnding || webhook.isExpired) throw subscriptionNotFound();
    this.#remove(webhook);
    this.#options.listener.happened('unsubscribed', key.type, key.client);
  }

  /** The owner's word: it ends, and its receiver is told. False: there is none of this id. */
  stop(id: string): boolean {
    const webhook = this.#byId.get(id);
    if (webhook === undefined || webhook.isEnding) return false;
    webhook.end(forbidden('The owner stopped this webhook').toJSON());
    return true;
  }

  list(): readonly WebhookView[] {
    return [...this.#byId.values()].map((webhook) => {
      const { record, filter, state, health: { lastError, failedSince, failures, lastDeliveryAt, delivered, givenUp } } = webhook;
      const { id, client, type, callback, expiresAt, createdAt } = record;
      return { id, client, type, senders: filter?.senderCount ?? sendersIn(record), host: callback.host, state, lastError, failedSince, failures, lastDeliveryAt, delivered, givenUp, expiresAt, createdAt };
    });
  }

  /** After each change of policy, and when a store came or went; the hubs had their turn before. */
  refresh(): void {
    for (const webhook of [...this.#byId.values()]) {
      if (webhook.isEnding) webhook.resume();
      else this.#follow(webhook);
    }
  }

  /** By the heartbeat: positions move while nothing matches, and time passes. */
  settle(): void {
    for (const webhook of [...this.#byId.values()]) {
      const { health: { suspendedSince }, record } = webhook;
      if (webhook.isExpired && !webhook.isEnding) this.#remove(webhook);
      else if (record.expiresAt === null && suspendedSince !== null && suspendedSince <= this.#clock.now() - MAX_SUSPENDED_MS && !webhook.isEnding) webhook.end(failedFor(webhook));
    }
    this.#keepPositions();
  }

  close(): void {
    this.#keepPositions();
    for (const webhook of this.#byId.values()) webhook.close();
    this.#posts.close();
  }

  #hub(type: EventType): Hub {
    return this.#options.hubs.get(type)!;
  }

  /** Permission and quota, before anything is taken (events-extension 8). */
  #mayAsk({ client, type, callback, arguments: args }: SubscribeRequest, id: string): void {
    const gate = this.#policy.gate({ id: client }, type);
    if (gate === 'off') throw eventNotFound();
    if (gate === 'refused') throw forbidden('The owner does not allow this client');
    if (gate === 'approval') throw forbidden('approval');
    if (!this.#policy.isWebhookHost(callback.host)) throw forbidden('host');
    if (this.#byId.has(id)) return;
    if (canonical(args).length > MAX_ARGUMENTS) throw limitReached('argumentCharacters', MAX_ARGUMENTS);
    const own = [...this.#byId.values()].filter(({ record }) => record.client === client).length;
    if (own >= MAX_WEBHOOKS_OF_ONE) throw limitReached('subscriptions', MAX_WEBHOOKS_OF_ONE);
    if (this.#byId.size >= MAX_WEBHOOKS) throw limitReached('subscriptions', MAX_WEBHOOKS);
  }

  async #verify({ client, callback, key }: SubscribeRequest, id: string): Promise<void> {
    if (this.#verification.isVerified(client, callback)) return;
    const asking = this.#verifying.get(client) ?? 0;
    if (asking >= MAX_VERIFYING) throw limitReached('verifications', MAX_VERIFYING);
    this.#verifying.set(client, asking + 1);
    try {
      await this.#verification.verify({ client, callback, key, id });
    } finally {
      const left = this.#verifying.get(client)! - 1;
      if (left === 0) this.#verifying.delete(client);
      else this.#verifying.set(client, left);
    }
  }

  #renew(webhook: Webhook, request: SubscribeRequest): Granted {
    const { record } = webhook;
    const key = request.key.toString('base64');
    const truncated = record.gap;
    const previous = key === record.key ? record.previous : { key: record.key, until: this.#clock.now() + BOTH_SIGN_MS };
    webhook.renew({ key, previous, expiresAt: this.#expiryOf(request.ttlMs) });
    this.#follow(webhook);
    this.#options.listener.changed();
    return { id: record.id, refreshBefore: isoOf(webhook.record.expiresAt), cursor: webhook.cursor, truncated, deliveryStatus: statusOf(webhook) };
  }

  /** @returns Unix ms, or null. No wish is refused; one that cannot be had is answered with what can. */
  #expiryOf(ttlMs: number | null | undefined): number | null {
    if (ttlMs === null && this.#store !== null) return null;
    const most = this.#store === null ? MAX_TTL_MS : MAX_KEPT_TTL_MS;
    return this.#clock.now() + Math.min(most, Math.max(MIN_TTL_MS, ttlMs ?? DEFAULT_TTL_MS));
  }

  #enter(webhook: Webhook): void {
    this.#byId.set(webhook.record.id, webhook);
    this.#verification.remember(webhook.record.client, webhook.record.callback);
  }

  /** Opens it where it stood, or ends it, as the owner's word is now. */
  #follow(webhook: Webhook): void {
    const { record } = webhook;
    if (!this.#policy.isWebhookHost(record.callback.host)) {
      this.#verification.forget(record.callback.host);
      // The host hears once that it is over, and nothing else.
      return webhook.end(forbidden('host').toJSON(), 1);
    }
    const gate = this.#policy.gate(webhook.principal, record.type);
    if (gate === 'refused') return webhook.end(forbidden('The owner does not allow this client').toJSON());
    if (gate === 'off') return webhook.end(eventNotFound().toJSON());
    if (webhook.subscription === null && !webhook.isSuspended) this.#open(webhook);
    return webhook.resume();
  }

  #open(webhook: Webhook): void {
    const { type, arguments: args } = webhook.record;
    const hub = this.#hub(type);
    if (!hub.tail.running || hub.tail.trouble !== null) return;
    try {
      const filter = parseArguments(type, args, this.#options.names(type, webhook.principal));
      const start = hub.startFrom(webhook.cursor, null, filter);
      webhook.opened(hub.subscribe(webhook.principal, filter, start, webhook), filter);
    } catch (error) {
      // A name in its arguments fits nothing any more: what it asked for is no longer there.
      if (error instanceof EventsError && error.code === ErrorCode.invalidParams) webhook.end(error.toJSON());
      // The store went in this moment: its coming back opens it.
      else if (!(error instanceof StoreError) && !(error instanceof EventsError)) throw error;
    }
  }

  #remove(webhook: Webhook): void {
    webhook.close();
    this.#byId.delete(webhook.record.id);
    this.#moved.delete(webhook);
    this.#write(() => this.#store?.remove(webhook.record.id));
    this.#options.listener.changed();
  }

  /** A grant that cannot be kept is not given: it would have to outlive this process. */
  #put(record: WebhookRecord, cursor: string): void {
    if (!this.#write(() => this.#store?.put(record, cursor))) throw new EventsError(ErrorCode.internal, 'Belfry cannot write its state at the moment', { reason: 'not_written' });
  }

  #hasMoved(webhook: Webhook, isRecord: boolean): void {
    // One that was not entered yet is written by who enters it.
    if (this.#byId.get(webhook.record.id) !== webhook) return;
    if (isRecord) this.#write(() => this.#store?.put(webhook.record, webhook.cursor));
    this.#options.listener.changed();
    if (this.#store === null) return;
    this.#moved.add(webhook);
    this.#keep ??= this.#clock.after(KEEP_MS, () => {
      this.#keep = null;
      this.#keepPositions();
    });
  }

  #keepPositions(): void {
    this.#keep?.();
    this.#keep = null;
    if (this.#moved.size === 0) return;
    const cursors = new Map([...this.#moved].map((webhook) => [webhook.record.id, webhook.cursor]));
    // Where the disk refuses they are written with the next ones: until then a restart sends some again.
    if (this.#write(() => this.#store?.move(cursors))) this.#moved.clear();
  }

  /** False where SQLite refuses. */
  #write(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      if (!String((error as { code?: unknown }).code).startsWith('SQLITE_')) throw error;
      this.#options.listener.fault(error);
      return false;
    }
  }
}

const isoOf = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

function statusOf({ isSuspended, health: { lastDeliveryAt, lastError, failedSince } }: Webhook): DeliveryStatus {
  return { active: !isSuspended, lastDeliveryAt: isoOf(lastDeliveryAt), lastError, ...(failedSince !== null && { failedSince: new Date(failedSince).toISOString() }) };
}

const failedFor = ({ health: { lastError } }: Webhook): Ending => ({ code: ErrorCode.callbackEndpoint, message: 'CallbackEndpointError', data: { reason: lastError ?? 'timeout' } });

const sendersIn = ({ arguments: { from, domains } }: WebhookRecord): number => [from, domains].flatMap((list) => (Array.isArray(list) ? list : [])).length;
