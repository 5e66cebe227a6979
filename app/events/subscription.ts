import { EventsError, forbidden, limitReached, storeUnreadable } from './errors.ts';
import type { CatchUpPage } from './catch-up.ts';
import type { Filter } from './sender-filter.ts';
import type { Occurrence, Subjects } from './occurrence.ts';
import type { Gate, Principal } from './verdict.ts';

/** What a subscription writes to. Writes are ordered; `event` gets text that was rendered once for all. */
export interface SubscriptionSink {
  active(cursor: string, truncated: boolean): void;
  event(occurrence: Occurrence, cursor: string): void;
  /** An event that the owner asked for, marked as a test. */
  test(occurrence: Occurrence, cursor: string): void;
  heartbeat(cursor: string): void;
  error(error: EventsError): void;
  /** Ends the subscription; nothing is written afterwards. */
  terminated(error: EventsError): void;
  /** False while the peer reads too slowly: nothing more is taken until `drained`. */
  readonly writable: boolean;
  /** What comes here waits in a watch: it is kept and not yet delivered, and the same event twice is the watch's matter. */
  readonly keeps?: boolean;
}

/** What the hub lends to a subscription. */
export interface SubscriptionHost {
  readonly position: number;
  readonly watermark: number;
  readonly subjects: Subjects;
  readonly ratePerHour: number;
  cursorAt(rowid: number): string;
  page(filter: Filter, after: number, upTo: number, notBefore: number | null, since: number): CatchUpPage;
  allows(occurrence: Occurrence, principal: Principal): boolean;
  takeRing(principal: Principal, eventId: string): boolean;
  sent(occurrence: Occurrence, subscription: Subscription): void;
  /** Runs `pump` soon, once, after input and output had their turn. */
  later(subscription: Subscription): void;
}

/** `catching`: reads the store from its position. `live`: hears the tail. `held`: sends nothing, keeps its position. */
export type SubscriptionState = 'catching' | 'live' | 'held' | 'ended';
export type Hold = 'paused' | 'approval' | 'rate' | 'trouble';

/** Event ids are remembered this far back, so that a mail that reached two accounts rings once. */
const REMEMBERED = 2048;

/**
 * One open stream: one filter, one position. Whatever stopped it (a pause, an approval, a slow reader, a
 * ceiling, an unreadable store), it goes on by reading the store from its position: one way back for all.
 */
export class Subscription {
  readonly principal: Principal;
  readonly filter: Filter;
  readonly #sink: SubscriptionSink;
  readonly #host: SubscriptionHost;
  readonly #sentIds = new Set<string>();
  #state: SubscriptionState = 'catching';
  #hold: Hold | null = null;
  #told: Hold | null = null;
  #position: number;
  #notBefore: number | null;
  /** Where the stream was last abreast of the tail: what arrived since was not offered to it live. */
  #since: number;
  #heldBack = 0;
  #delivered = 0;

  constructor(options: { principal: Principal; filter: Filter; sink: SubscriptionSink; host: SubscriptionHost; position: number; notBefore: number | null }) {
    this.principal = options.principal;
    this.filter = options.filter;
    this.#sink = options.sink;
    this.#host = options.host;
    this.#position = options.position;
    this.#notBefore = options.notBefore;
    this.#since = options.position;
  }

  get state(): SubscriptionState {
    return this.#state;
  }
  get hold(): Hold | null {
    return this.#hold;
  }
  get delivered(): number {
    return this.#delivered;
  }
  /** True for a watch: see SubscriptionSink. */
  get keeps(): boolean {
    return this.#sink.keeps === true;
  }
  /** Everything at or below was sent, or does not match. While live, the tail's watermark stands for it. */
  get position(): number {
    return this.#position;
  }

  /** First message of the stream, then whatever the gate lets through. */
  open(cursor: string, truncated: boolean, gate: Gate): void {
    this.#sink.active(cursor, truncated);
    this.gate(gate);
    if (this.#state === 'catching') this.#host.later(this);
  }

  /** The owner changed something (architecture 5, state table, column "open stream"). */
  gate(gate: Gate): void {
    if (this.#state === 'ended') return;
    if (gate === 'refused') return this.terminate(forbidden('The owner does not allow this client'));
    if (gate === 'paused' || gate === 'approval') this.holdFor(gate);
    else if (this.#hold === 'paused' || this.#hold === 'approval') this.release();
  }

  /** Stops sending; the position stays. Approval, ceiling and trouble are told once, as a recoverable error. */
  holdFor(reason: Hold, trouble?: string): void {
    if (this.#state === 'ended' || this.#hold === reason) return;
    // The ceiling stops before an occurrence that was offered: `#send` set the position to before it.
    if (this.#state === 'live' && reason !== 'rate') this.#since = this.#position = Math.max(this.#position, this.#host.watermark);
    this.#state = 'held';
    this.#hold = reason;
    if (this.#told === reason) return;
    this.#told = reason;
    if (reason === 'approval') this.#sink.error(new EventsError(forbidden('').code, 'Forbidden', { reason: 'approval' }));
    if (reason === 'trouble') this.#sink.error(storeUnreadable(trouble ?? 'busy'));
    if (reason === 'rate') this.#sink.error(limitReached('ratePerHour', this.#host.ratePerHour, { reason: 'rate' }));
  }

  release(): void {
    if (this.#state !== 'held') return;
    if (this.#hold === 'rate' && this.#heldBack > 0) {
      // The digest: one line for everything that the ceiling held back.
      this.#sink.error(limitReached('ratePerHour', this.#host.ratePerHour, { reason: 'digest', held: this.#heldBack }));
      this.#heldBack = 0;
    }
    this.#state = 'catching';
    this.#hold = null;
    this.#told = null;
    this.#host.later(this);
  }

  /** Another store is there: positions before it mean nothing. */
  gap(): void {
    if (this.#state === 'ended') return;
    this.#since = this.#position = this.#host.watermark;
    this.#notBefore = null;
    this.#sentIds.clear();
    this.#sink.active(this.#host.cursorAt(this.#position), true);
    if (this.#state === 'live') this.#state = 'catching';
    if (this.#state === 'catching') this.#host.later(this);
  }

  /** An arrival from the tail whose sender matches. Returns true if it was sent. The hub asked the judge before. */
  offer(occurrence: Occurrence): boolean {
    if (this.#state !== 'live') {
      // A page went past it while it waited for its joined rows: it is read again from the store.
      this.#position = Math.min(this.#position, occurrence.row.rowid - 1);
      if (this.#hold === 'rate') this.#heldBack += 1;
      return false;
    }
    if (!this.#sink.writable) {
      // A slow reader slows only itself: it reads the rest from the store once it has caught up.
      this.#since = this.#position = Math.min(this.#host.watermark, occurrence.row.rowid - 1);
      this.#state = 'catching';
      return false;
    }
    return this.#send(occurrence);
  }

  /** Reads one page and sends it; asks for another turn while there is more. */
  pump(): void {
    if (this.#state !== 'catching' || !this.#sink.writable) return;
    const upTo = this.#host.position;
    if (this.#position < upTo) {
      const page = this.#host.page(this.filter, this.#position, upTo, this.#notBefore, this.#since);
      for (const occurrence of page.occurrences) {
        if (!this.#host.allows(occurrence, this.principal)) continue;
        if (!this.#send(occurrence)) return;
        this.#position = occurrence.row.rowid;
      }
      this.#position = page.through;
    }
    if (this.#position >= upTo) {
      this.#state = 'live';
      this.#notBefore = null;
    } else {
      this.#host.later(this);
    }
  }

  heartbeat(): void {
    if (this.#state === 'ended') return;
    this.#sink.heartbeat(this.#cursorHere());
  }

  #cursorHere(): string {
    if (this.#state === 'live') this.#position = Math.max(this.#position, this.#host.watermark);
    return this.#host.cursorAt(Math.min(this.#position, this.#host.watermark));
  }

  /**
   * Writes a test event at the position that the client has anyway: no ring is taken, nothing is remembered as
   * delivered. False where nothing may be written now (held, ended, or the peer reads too slowly).
   */
  test(occurrence: Occurrence): boolean {
    if ((this.#state !== 'live' && this.#state !== 'catching') || !this.#sink.writable) return false;
    this.#sink.test(occurrence, this.#cursorHere());
    return true;
  }

  terminate(error: EventsError): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#sink.terminated(error);
  }

  /** The client went or cancelled: nothing is written. */
  end(): void {
    this.#state = 'ended';
  }

  /** False if the ceiling holds it back. An event that was sent before counts as sent. */
  #send(occurrence: Occurrence): boolean {
    const { keeps } = this;
    if (!keeps && this.#sentIds.has(occurrence.eventId)) return true;
    if (!this.#host.takeRing(this.principal, occurrence.eventId)) {
      this.#position = Math.min(this.#host.watermark, occurrence.row.rowid - 1);
      this.#since = this.#state === 'live' ? this.#position : Math.min(this.#since, this.#position);
      this.#heldBack = 1;
      this.holdFor('rate');
      return false;
    }
    if (!keeps) {
      this.#sentIds.add(occurrence.eventId);
      if (this.#sentIds.size > REMEMBERED) this.#sentIds.delete(this.#sentIds.values().next().value!);
    }
    const position = Math.min(Math.max(this.#position, occurrence.row.rowid), this.#host.watermark);
    this.#sink.event(occurrence, this.#host.cursorAt(position));
    this.#delivered += 1;
    if (!keeps) this.#host.sent(occurrence, this);
    return true;
  }
}
