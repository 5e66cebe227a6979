import { StoreError, type MailReader, type MessagesReader, type StoreReader } from '../apple/reader.ts';
import type { NotArrival, StoreKind } from '../apple/occurrence.ts';
import type { StoreWatcher } from '../apple/watch.ts';
import { domainOf } from '../apple/sender.ts';
import { CatchUp, type CatchUpPage, type MovedAhead } from './catch-up.ts';
import type { Clock } from './clock.ts';
import { belongsTo, parseCursor } from './cursor.ts';
import { eventNotFound, forbidden, invalidParams, storeUnreadable } from './errors.ts';
import { eventTypeOf, occurrenceOf, type EventType, type Occurrence, type Subjects } from './occurrence.ts';
import { narrows, type Filter } from './sender-filter.ts';
import { Subscription, type SubscriptionHost, type SubscriptionSink } from './subscription.ts';
import { Tail, type TailTrouble } from './tail.ts';
import type { TailState } from './tail-state.ts';
import type { Gate, Judge, NotSent, Principal } from './verdict.ts';

/** What the hub needs to know of the owner's choices. Implemented by policy. */
export interface HubPolicy extends Judge {
  eventOn(type: EventType): boolean;
  anyOn(): boolean;
  gate(principal: Principal, type: EventType): Gate;
  readonly subjects: Subjects;
  readonly backfill: boolean;
  /** Most rings a client and hour, for the sentence. */
  readonly ratePerHour: number;
  /** Unix ms at which a client under the ceiling may be rung again. */
  nextFreeAt(principal: Principal): number;
}

/** Who was told of an occurrence, or why not; for Live and Activity. */
export interface Outcome {
  readonly occurrence: Occurrence;
  /** Why it is no arrival, or null. */
  readonly notArrival: NotArrival | null;
  readonly sentTo: readonly Principal[];
  /** Those who read it from the store in a moment: they are still catching up, or read too slowly. */
  readonly later: readonly Principal[];
  /** For whom it waits in a watch. */
  readonly keptFor: readonly Principal[];
  readonly notSent: readonly { readonly principal: Principal; readonly reason: NotSent }[];
}

export interface HubListener {
  outcome(outcome: Outcome): void;
  /** A subscription was sent an occurrence, live or from catch-up. */
  delivered(occurrence: Occurrence, principal: Principal): void;
  /** All of one look at a store was handed out: buffers may be written. */
  settled(): void;
  trouble(type: EventType, kind: TailTrouble | null): void;
  gap(type: EventType): void;
  /** Something in the store changed, rows or not; called after what is new was handed out. */
  committed(type: EventType): void;
  /** A subscription came or went. */
  counted(type: EventType): void;
}

/** A cursor made ready: where to start, and whether something lies before it that cannot be served. */
export interface Start {
  readonly position: number;
  readonly truncated: boolean;
  readonly notBefore: number | null;
}

/**
 * One event type: its tail and everyone who listens. An arrival finds its subscriptions by address and domain
 * through maps; each is then judged. Nothing re-reads the store for a client that is live.
 */
export class Hub {
  readonly type: EventType;
  readonly tail: Tail;
  readonly #reader: StoreReader;
  readonly #catchUp: CatchUp;
  readonly #policy: HubPolicy;
  readonly #clock: Clock;
  readonly #listener: HubListener;
  readonly #all = new Set<Subscription>();
  readonly #byAddress = new Map<string, Set<Subscription>>();
  readonly #byDomain = new Map<string, Set<Subscription>>();
  readonly #byParent = new Map<string, Set<Subscription>>();
  readonly #waiting = new Set<Subscription>();
  readonly #host: SubscriptionHost;
  #pumping = false;
  #rateTimer: (() => void) | null = null;

  constructor(options: { reader: StoreReader; state: TailState; watcher: StoreWatcher; clock: Clock; policy: HubPolicy; listener: HubListener }) {
    this.type = eventTypeOf[options.reader.kind];
    this.#reader = options.reader;
    this.#policy = options.policy;
    this.#clock = options.clock;
    this.#listener = options.listener;
    this.tail = new Tail({
      ...options,
      listener: {
        judged: (occurrence, reason) => this.#judged(occurrence, reason),
        settled: () => this.#listener.settled(),
        committed: () => this.#listener.committed(this.type),
        gap: () => this.#gap(),
        trouble: (kind) => this.#troubled(kind),
      },
    });
    this.#catchUp = new CatchUp(options.reader, options.state, this.tail);
    const hub = this;
    this.#host = {
      get position() { return hub.tail.position; },
      get watermark() { return hub.tail.watermark; },
      get subjects() { return hub.#policy.subjects; },
      get ratePerHour() { return hub.#policy.ratePerHour; },
      cursorAt: (rowid) => this.tail.cursorAt(rowid),
      page: (filter, after, upTo, notBefore, since) => this.page(filter, after, upTo, notBefore, 50, since),
      allows: (occurrence, principal) => this.#policy.allows(occurrence, principal),
      takeRing: (principal, eventId) => this.#policy.takeRing(principal, eventId),
      sent: (occurrence, subscription) => this.#listener.delivered(occurrence, subscription.principal),
      later: (subscription) => this.#later(subscription),
    };
  }

  /** Open streams; watches are none. */
  get size(): number {
    let streams = 0;
    for (const subscription of this.#all) if (!subscription.keeps) streams += 1;
    return streams;
  }
  get subscriptions(): Iterable<Subscription> {
    return this.#all;
  }
  get reader(): MailReader | MessagesReader {
    return this.#reader as MailReader | MessagesReader;
  }
  get kind(): StoreKind {
    return this.tail.kind;
  }

  /** Starts or stops the tail as the owner's switch says; called after each change of policy. */
  refresh(): void {
    if (!this.#policy.eventOn(this.type)) {
      const error = this.#policy.anyOn() ? eventNotFound() : forbidden('Every event is switched off');
      for (const subscription of [...this.#all]) this.#end(subscription, () => subscription.terminate(error));
      if (this.tail.running) this.tail.stop();
      this.#listener.settled();
      return;
    }
    if (!this.tail.running) this.tail.start();
    for (const subscription of [...this.#all]) {
      subscription.gate(this.#policy.gate(subscription.principal, this.type));
      if (subscription.state === 'ended') this.#remove(subscription);
      // A ceiling that was raised lets out at once what it held.
      else if (subscription.hold === 'rate' && this.#policy.nextFreeAt(subscription.principal) <= this.#clock.now()) subscription.release();
    }
    this.#listener.settled();
  }

  /** @throws EventsError -32603 while the store cannot be read (ruling 19). Reads what is committed. */
  ready(): void {
    this.tail.check();
    const trouble = this.tail.trouble;
    if (trouble !== null) throw storeUnreadable(trouble);
  }

  /**
   * Where a cursor starts (events-extension 7). Null: now. A cursor of another store or above the head: now,
   * with `truncated`. `maxAgeMs` moves the start up by the date index; `truncated` if a match was skipped.
   * @throws EventsError -32602 for text that is no cursor.
   */
  startFrom(cursor: string | null, maxAgeMs: number | null, filter: Filter): Start {
    const now = this.tail.watermark;
    if (cursor === null) return { position: now, truncated: false, notBefore: null };
    const parsed = parseCursor(cursor);
    if (parsed === null) throw invalidParams('cursor: not a cursor of this server');
    if (!belongsTo(parsed, this.tail.storeAt(parsed))) return { position: now, truncated: true, notBefore: null };
    if (maxAgeMs === null) return { position: parsed.rowid, truncated: false, notBefore: null };
    const notBefore = this.#clock.now() - maxAgeMs;
    const truncated = this.#catchUp.skips(filter, parsed.rowid, this.tail.position, notBefore);
    return { position: parsed.rowid, truncated, notBefore };
  }

  /** One page of arrivals; the owner's rules are not applied yet. */
  page(filter: Filter, after: number, upTo: number, notBefore: number | null, limit: number, since = after): CatchUpPage {
    return this.#catchUp.page({ filter, after, upTo, limit, notBefore, since, ...this.#wishes() });
  }

  /** What arrived in (after, through] and was moved above `through` since: for a reader that stops there. */
  movedAhead(filter: Filter, after: number, through: number, upTo: number, notBefore: number | null): readonly MovedAhead[] {
    return this.#catchUp.movedAhead({ filter, after, upTo, notBefore, ...this.#wishes() }, through);
  }

  #wishes() {
    return { subjects: this.#policy.subjects, backfill: this.#policy.backfill, now: this.#clock.now() };
  }

  /** Opens a subscription: `active` first, then what lies between the cursor and now, then the tail. */
  subscribe(principal: Principal, filter: Filter, start: Start, sink: SubscriptionSink): Subscription {
    const { position, truncated, notBefore } = start;
    const subscription = new Subscription({ principal, filter, sink, host: this.#host, position, notBefore });
    this.#all.add(subscription);
    this.#listener.counted(this.type);
    this.#index(filter, (map, key) => {
      const set = map.get(key);
      if (set) set.add(subscription);
      else map.set(key, new Set([subscription]));
    });
    subscription.open(this.tail.cursorAt(position), truncated, this.#policy.gate(principal, this.type));
    return subscription;
  }

  /** The client went or cancelled: nothing is written for it any more. */
  unsubscribe(subscription: Subscription): void {
    this.#end(subscription, () => subscription.end());
  }

  /** The peer took what was buffered: those that fell behind go on. */
  drained(subscriptions: Iterable<Subscription>): void {
    for (const subscription of subscriptions) if (subscription.state === 'catching') this.#later(subscription);
  }

  heartbeat(): void {
    for (const subscription of this.#all) subscription.heartbeat();
  }

  /** How many arrivals of the last days a rule would have rung for; read only when asked. */
  backtest(filter: Pick<Filter, 'senders'>, sinceMs: number, examples: number): { count: number; examples: readonly Occurrence[] } {
    this.ready();
    const found = this.#reader.backtest(filter.senders, sinceMs, examples);
    const now = this.#clock.now();
    return { count: found.count, examples: found.examples.map((row) => occurrenceOf(row, this.tail.storeId, now)) };
  }

  #judged(occurrence: Occurrence, reason: NotArrival | null): void {
    const sentTo: Principal[] = [];
    const later: Principal[] = [];
    const keptFor: Principal[] = [];
    const notSent: { principal: Principal; reason: NotSent }[] = [];
    if (reason === null || (reason === 'backfill' && this.#policy.backfill)) {
      for (const subscription of this.#candidates(occurrence.sender)) {
        if (!narrows(subscription.filter, occurrence.row, this.#policy.subjects)) continue;
        const { principal } = subscription;
        if (!this.#policy.allows(occurrence, principal)) notSent.push({ principal, reason: this.#policy.refusal(occurrence) });
        else if (subscription.offer(occurrence)) (subscription.keeps ? keptFor : sentTo).push(principal);
        else {
          const why = whyHeld(subscription);
          if (why) notSent.push({ principal, reason: why });
          else later.push(principal);
        }
        if (subscription.hold === 'rate') this.#armRate(principal);
      }
    }
    this.#listener.outcome({ occurrence, notArrival: reason, sentTo, keptFor, later, notSent });
  }

  /** By address, by domain, and by each domain above it. */
  *#candidates(sender: string): Iterable<Subscription> {
    const address = this.#byAddress.get(sender);
    if (this.#byDomain.size === 0 && this.#byParent.size === 0) {
      if (address) yield* address;
      return;
    }
    const found = new Set(address);
    const domain = domainOf(sender);
    if (domain !== null) {
      for (const each of this.#byDomain.get(domain) ?? []) found.add(each);
      if (this.#byParent.size > 0) {
        for (let at = domain; ; at = at.slice(at.indexOf('.') + 1)) {
          for (const each of this.#byParent.get(at) ?? []) found.add(each);
          if (!at.includes('.')) break;
        }
      }
    }
    yield* found;
  }

  #index(filter: Filter, visit: (map: Map<string, Set<Subscription>>, key: string) => void): void {
    for (const address of filter.senders.addresses) visit(this.#byAddress, address);
    for (const domain of filter.senders.domains) visit(this.#byDomain, domain);
    for (const parent of filter.senders.parents) visit(this.#byParent, parent);
  }

  #end(subscription: Subscription, finish: () => void): void {
    this.#remove(subscription);
    finish();
  }

  #remove(subscription: Subscription): void {
    if (!this.#all.delete(subscription)) return;
    this.#waiting.delete(subscription);
    this.#listener.counted(this.type);
    this.#index(subscription.filter, (map, key) => {
      const set = map.get(key);
      set?.delete(subscription);
      if (set?.size === 0) map.delete(key);
    });
  }

  #gap(): void {
    for (const subscription of this.#all) subscription.gap();
    this.#listener.gap(this.type);
    this.#listener.settled();
  }

  #troubled(kind: TailTrouble | null): void {
    for (const subscription of this.#all) {
      if (kind !== null) subscription.holdFor('trouble', kind);
      else if (subscription.hold === 'trouble') {
        subscription.release();
        subscription.gate(this.#policy.gate(subscription.principal, this.type));
      } else if (subscription.state === 'catching') this.#later(subscription);
    }
    this.#listener.trouble(this.type, kind);
    this.#listener.settled();
  }

  #later(subscription: Subscription): void {
    this.#waiting.add(subscription);
    if (this.#pumping) return;
    this.#pumping = true;
    this.#clock.after(0, () => {
      this.#pumping = false;
      const turn = [...this.#waiting];
      this.#waiting.clear();
      for (const each of turn) this.#pump(each);
      this.#listener.settled();
    });
  }

  #pump(subscription: Subscription): void {
    if (this.tail.trouble !== null) return;
    try {
      subscription.pump();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      // The store went in this very moment: the tail's next look says so and holds the subscription.
      this.#clock.after(250, () => this.#later(subscription));
    }
    if (subscription.hold === 'rate') this.#armRate(subscription.principal);
  }

  /** One timer for all that the ceiling holds; at least a second, so that a release is a batch and not a drip. */
  #armRate(principal: Principal): void {
    if (this.#rateTimer !== null) return;
    const wait = Math.max(1000, this.#policy.nextFreeAt(principal) - this.#clock.now());
    this.#rateTimer = this.#clock.after(Math.min(wait, 60_000), () => {
      this.#rateTimer = null;
      for (const each of this.#all) {
        if (each.hold !== 'rate') continue;
        if (this.#policy.nextFreeAt(each.principal) <= this.#clock.now()) each.release();
        else this.#armRate(each.principal);
      }
      this.#listener.settled();
    });
  }
}

function whyHeld(subscription: Subscription): NotSent | null {
  if (subscription.hold === 'paused') return 'paused';
  if (subscription.hold === 'approval') return 'client-not-allowed';
  return subscription.hold === 'rate' ? 'rate' : null;
}
