import { createSecretKey, type KeyObject } from 'node:crypto';
import { StoreError } from '../../apple/reader.ts';
import type { EventsError } from '../../events/errors.ts';
import { payloadOf, type Occurrence } from '../../events/occurrence.ts';
import type { Filter } from '../../events/sender-filter.ts';
import type { Subscription, SubscriptionSink } from '../../events/subscription.ts';
import type { Principal } from '../../events/verdict.ts';
import { readAgain, type StoredRef } from '../stored-occurrences.ts';
import type { PostOutcome } from './https-post.ts';
import { ReceiverHealth } from './receiver-health.ts';
import { waitAfter } from './retries.ts';
import { signedHeaders } from './signature.ts';
import type { SignedRequest, Unsent, WebhookHost, WebhookState } from './webhook-host.ts';
import { controlIdOf, messageIdOf, type Ending, type WebhookRecord } from './webhook-record.ts';

/** Events that are out or wait for another try. More stay in the store: the position says where. */
const WINDOW = 16;
/** Accepted events are remembered this far back: those behind one that failed come again when the position is read again. */
const REMEMBERED = 512;
/** While the store cannot be read, or a kept connection had been closed. */
const SOON_MS = 1000;
const ENDING_TRIES = 3;

interface Item extends StoredRef {
  /** As it arrived; null once a try failed: what is sent then is read again. */
  occurrence: Occurrence | null;
  failed: number;
  /** Monotonic ms. */
  dueAt: number;
  firstTriedAt: number | null;
}

/** An envelope that says something of the subscription itself. */
interface Control {
  readonly type: 'gap' | 'terminated';
  readonly id: string;
  failed: number;
  dueAt: number;
  firstTriedAt: number | null;
  tries: number;
}

/**
 * One webhook subscription: where it stands in its store and what of it is on its way. References are held, never bodies: each
 * try reads, asks the owner's policy and signs anew. One request at a time; what fails waits aside, so that it holds up nobody,
 * until the window is full of it.
 */
export class Webhook implements SubscriptionSink {
  readonly keeps = true;
  readonly #host: WebhookHost;
  readonly #items = new Map<string, Item>();
  readonly #accepted = new Set<string>();
  readonly health: ReceiverHealth;
  #record: WebhookRecord;
  /** As the record has them, the newer first. */
  #keys: readonly KeyObject[];
  #cursor: string;
  #filter: Filter | null = null;
  #subscription: Subscription | null = null;
  #control: Control | null = null;
  #busy = false;
  #timer: (() => void) | null = null;
  #isClosed = false;
  #wasStale = false;

  constructor(record: WebhookRecord, cursor: string, host: WebhookHost) {
    this.#record = record;
    this.#keys = keysOf(record);
    this.#cursor = cursor;
    this.#host = host;
    this.health = new ReceiverHealth(host.clock);
    if (record.ending) this.#control = this.#newControl('terminated', ENDING_TRIES);
    else if (record.gap) this.#control = this.#newControl('gap', Infinity);
  }

  get record(): WebhookRecord {
    return this.#record;
  }
  get principal(): Principal {
    return { id: this.#record.client };
  }
  get filter(): Filter | null {
    return this.#filter;
  }
  get subscription(): Subscription | null {
    return this.#subscription;
  }
  get isSuspended(): boolean {
    return this.health.suspendedSince !== null;
  }
  get isEnding(): boolean {
    return this.#record.ending !== null;
  }
  get isTroubled(): boolean {
    return this.health.failedSince !== null;
  }
  get isExpired(): boolean {
    const { expiresAt } = this.#record;
    return expiresAt !== null && expiresAt <= this.#host.clock.now();
  }
  get state(): WebhookState {
    if (this.isEnding) return 'ending';
    if (this.isSuspended) return 'suspended';
    const gate = this.#host.policy.gate(this.principal, this.#record.type);
    if (gate === 'paused') return 'paused';
    if (gate !== 'open') return 'waiting-for-owner';
    if (this.#subscription === null || this.#subscription.hold === 'trouble') return 'unreadable';
    if (this.isTroubled) return 'retrying';
    return this.#subscription.hold === 'rate' ? 'ceiling' : 'ok';
  }

  /** The safe watermark: everything at or before it was accepted, was given up, or does not match (events-extension 9.3). */
  get cursor(): string {
    const subscription = this.#subscription;
    const { tail } = this.#host.hub(this);
    if (subscription === null || !tail.running || tail.trouble !== null) return this.#cursor;
    let at = subscription.state === 'live' ? tail.watermark : Math.min(subscription.position, tail.watermark);
    for (const { storeRow } of this.#items.values()) at = Math.min(at, storeRow - 1);
    try {
      this.#cursor = tail.cursorAt(Math.max(0, at));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
    return this.#cursor;
  }

  /** It hears of arrivals from here on. */
  opened(subscription: Subscription, filter: Filter): void {
    this.#filter = filter;
    if (subscription.state !== 'ended') this.#subscription = subscription;
  }

  /** The same wish again: another secret, more time, and whatever was suspended goes on. */
  renew(changes: Pick<WebhookRecord, 'key' | 'previous' | 'expiresAt'>): void {
    this.#change({ ...changes, gap: false });
    if (this.#control?.type === 'gap') this.#control = null;
    this.health.resumed();
    for (const item of this.#items.values()) item.dueAt = 0;
    this.resume();
  }

  /** The owner or time changed something: what may go now, goes. */
  resume(): void {
    this.#timer?.();
    this.#timer = null;
    void this.#work();
  }

  /** Its receiver is told why, once what is on its way came back; nothing else goes there any more. */
  end(ending: Ending, tries = ENDING_TRIES): void {
    if (this.#isClosed || this.isEnding) return;
    this.#detach();
    this.#items.clear();
    this.health.resumed();
    this.#control = this.#newControl('terminated', tries);
    this.#change({ ending, gap: false });
    this.resume();
  }

  /** Nothing is sent any more, and nobody is told. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.();
    this.#timer = null;
    this.#detach();
    this.#items.clear();
  }

  // What the hub has to say.

  get writable(): boolean {
    return this.#items.size < WINDOW;
  }
  active(cursor: string, truncated: boolean): void {
    if (!truncated) return;
    // Rows of another store: what was on its way means nothing any more.
    this.#items.clear();
    this.#cursor = cursor;
    this.gap();
  }
  event(occurrence: Occurrence): void {
    const { eventId, row } = occurrence;
    if (this.#accepted.has(eventId) || this.#items.has(eventId)) return;
    this.#items.set(eventId, { eventId, storeRow: row.rowid, occurrence, failed: 0, dueAt: 0, firstTriedAt: null });
    void this.#work();
  }
  /** A receiver is no place to look whether a way works: what goes there is acted upon. */
  test(): void {}
  heartbeat(): void {
    this.#host.moved(this, false);
  }
  error(): void {}
  terminated(error: EventsError): void {
    this.#subscription = null;
    this.end(error.toJSON());
  }

  /** Arrivals may be missing: told before anything else that follows. */
  gap(): void {
    if (this.isEnding) return;
    this.#control = this.#newControl('gap', Infinity);
    if (!this.#record.gap) this.#change({ gap: true });
    void this.#work();
  }

  #newControl(type: Control['type'], tries: number): Control {
    return { type, id: controlIdOf(type), failed: 0, dueAt: 0, firstTriedAt: null, tries };
  }

  #change(changes: Partial<WebhookRecord>): void {
    this.#record = { ...this.#record, ...changes };
    if (changes.key !== undefined) this.#keys = keysOf(this.#record);
    this.#host.moved(this, true);
  }

  #detach(): void {
    const subscription = this.#subscription;
    if (subscription === null) return;
    void this.cursor;
    this.#subscription = null;
    this.#host.hub(this).unsubscribe(subscription);
  }

  /** One request after the other, for as long as one is due. */
  async #work(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    // Events of one look at the store are all put down before the first of them leaves.
    await Promise.resolve();
    try {
      for (let next = this.#due(); next !== null; next = this.#due()) await this.#try(next);
    } catch (error) {
      this.#host.fault(error);
    } finally {
      this.#busy = false;
    }
  }

  /** What may be sent now. Arms the timer for what is due later. */
  #due(): Item | Control | null {
    const { clock } = this.#host;
    if (!this.#mayGo()) return null;
    const now = clock.monotonic();
    let soonest = Infinity;
    // A gap is told before what follows it.
    for (const each of this.#control ? [this.#control] : this.#items.values()) {
      if (each.dueAt <= now) return each;
      soonest = Math.min(soonest, each.dueAt);
    }
    if (soonest < Infinity && this.#timer === null) {
      this.#timer = clock.after(Math.max(1, soonest - now), () => {
        this.#timer = null;
        void this.#work();
      });
    }
    return null;
  }

  #mayGo(): boolean {
    const { policy } = this.#host;
    if (this.#isClosed || this.isSuspended) return false;
    return this.isEnding || (!this.isExpired && policy.gate(this.principal, this.#record.type) === 'open' && policy.isWebhookHost(this.#record.callback.host));
  }

  /** Still what is to be sent: not withdrawn, accepted or replaced meanwhile. */
  #isWanted(next: Item | Control): boolean {
    return !this.#isClosed && ('type' in next ? this.#control === next : this.#items.get(next.eventId) === next);
  }

  async #try(next: Item | Control): Promise<void> {
    const { clock } = this.#host;
    const outcome = await this.#host.send(this, () => {
      if (!this.#mayGo() || !this.#isWanted(next)) return 'not-now';
      const occurrence = 'type' in next ? null : this.#occurrenceOf(next);
      if (typeof occurrence === 'string') return occurrence;
      next.firstTriedAt ??= clock.monotonic();
      return this.#request(next, occurrence);
    });
    if (outcome === 'not-now' || !this.#isWanted(next)) return undefined;
    if (outcome === 'unreadable') {
      next.dueAt = clock.monotonic() + SOON_MS;
      return undefined;
    }
    if (outcome === 'gone') return this.#settle(next as Item);
    if (outcome.answered && outcome.status >= 200 && outcome.status < 300) return this.#accept(next);
    if (!outcome.answered && outcome.stale && !this.#wasStale) {
      // Once: a connection that was kept open may have been closed under it.
      this.#wasStale = true;
      return undefined;
    }
    this.#wasStale = false;
    return this.#fail(next, outcome);
  }

  /** The event as it may be sent now. */
  #occurrenceOf(item: Item): Occurrence | Unsent {
    const { clock, policy } = this.#host;
    const hub = this.#host.hub(this);
    if (item.occurrence === null && (!hub.tail.running || hub.tail.trouble !== null)) return 'unreadable';
    try {
      const occurrence = item.occurrence ?? readAgain(hub, [item], clock.now()).get(item) ?? null;
      return occurrence !== null && policy.allows(occurrence, this.principal) ? occurrence : 'gone';
    } catch (error) {
      if (error instanceof StoreError) return 'unreadable';
      throw error;
    }
  }

  #request(next: Item | Control, occurrence: Occurrence | null): SignedRequest {
    const { clock, policy } = this.#host;
    const { id, previous } = this.#record;
    const now = clock.now();
    const keys = previous !== null && previous.until > now ? this.#keys : this.#keys.slice(0, 1);
    const body = Buffer.from(JSON.stringify(
      occurrence !== null ? { eventId: occurrence.eventId, name: occurrence.type, timestamp: occurrence.timestamp, data: payloadOf(occurrence, policy.subjects), cursor: this.cursor }
        : (next as Control).type === 'gap' ? { type: 'gap', cursor: this.cursor } : { type: 'terminated', error: this.#record.ending },
    ));
    const message = 'type' in next ? next.id : messageIdOf(id, next.eventId);
    return { headers: { ...signedHeaders(keys, message, now, body), 'x-mcp-subscription-id': id }, body };
  }

  #accept(next: Item | Control): void {
    this.#wasStale = false;
    this.health.accepted(!('type' in next));
    if ('type' in next) {
      this.#control = null;
      if (next.type === 'terminated') return this.#host.over(this);
      return this.#change({ gap: false });
    }
    this.#accepted.add(next.eventId);
    if (this.#accepted.size > REMEMBERED) this.#accepted.delete(this.#accepted.values().next().value!);
    this.#settle(next);
    this.#host.delivered(this, next);
  }

  /** It was accepted, given up, or left: the position may pass it. */
  #settle(item: Item): void {
    const wasFull = !this.writable;
    this.#items.delete(item.eventId);
    this.#host.moved(this, false);
    if (wasFull && this.#subscription) this.#host.hub(this).drained([this.#subscription]);
  }

  #fail(next: Item | Control, outcome: PostOutcome): void {
    const { clock } = this.#host;
    this.health.failed(outcome);
    next.failed += 1;
    if ('type' in next) {
      if (next.type === 'terminated' && next.failed >= next.tries) return this.#host.over(this);
    } else {
      next.occurrence = null;
      // Not retried (events-extension 9.3): this delivery is not wanted or too large; the subscription goes on.
      if (outcome.answered && (outcome.status === 410 || outcome.status === 413)) return this.#giveUp(next);
    }
    const wait = waitAfter(next.failed, this.#host.random());
    if (wait !== null) {
      next.dueAt = clock.monotonic() + wait;
      this.#host.moved(this, false);
      return undefined;
    }
    // Other deliveries were accepted meanwhile: it is this one. None was: it is the receiver, and nothing is given up for it.
    if (!('type' in next) && next.firstTriedAt !== null && this.health.acceptedSince(next.firstTriedAt)) return this.#giveUp(next);
    return this.#suspend();
  }

  #giveUp(item: Item): void {
    this.health.gaveUp();
    this.#settle(item);
    this.#host.gaveUp(this, item);
  }

  /** The position stays before what failed: once the client asks again, it is read from there. */
  #suspend(): void {
    this.#detach();
    this.#items.clear();
    this.health.suspended();
    if (this.#control) this.#control = this.#newControl(this.#control.type, Infinity);
    this.#host.moved(this, false);
    this.#host.suspended(this);
  }
}

const keysOf = ({ key, previous }: WebhookRecord): readonly KeyObject[] =>
  [key, ...(previous === null ? [] : [previous.key])].map((each) => createSecretKey(each, 'base64'));
