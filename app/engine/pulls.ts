import type { Clock } from '../events/clock.ts';
import type { EventType } from '../events/occurrence.ts';

/** A client that asked within this time still listens: polls come each 30 s, waits each 50 s, with slack for the work between. */
const RECENT_MS = 120_000;
/** Clients remembered; the one that asked longest ago goes. */
const MAX_CLIENTS = 300;

interface Poll {
  at: number;
  senders: number;
  delivered: number;
}

/** Who polls and pulls: a client listens by what it does, never by what it says (ui.md, Clients). Kept by the monotonic clock. */
export class Pulls {
  readonly #clock: Clock;
  readonly #clients = new Map<string, { pulledAt: number; readonly polls: Map<EventType, Poll> }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** It looked into its inbox, or waits at it. */
  pulled(client: string): void {
    this.#of(client).pulledAt = this.#clock.monotonic();
  }

  /** It polled an event. */
  polled(client: string, type: EventType, senders: number): void {
    const { polls } = this.#of(client);
    const poll = polls.get(type) ?? { at: 0, senders, delivered: 0 };
    polls.set(type, poll);
    poll.at = this.#clock.monotonic();
    poll.senders = senders;
  }
  delivered(client: string, type: EventType): void {
    const poll = this.#clients.get(client)?.polls.get(type);
    if (poll) poll.delivered += 1;
  }

  /** The client's last connection went: it asks no more. */
  left(client: string): void {
    this.#clients.delete(client);
  }

  isPulling(client: string): boolean {
    return this.#isRecent(this.#clients.get(client)?.pulledAt);
  }
  polls(client: string): readonly { readonly type: EventType; readonly senders: number; readonly delivered: number }[] {
    return [...this.#clients.get(client)?.polls ?? []]
      .filter(([, poll]) => this.#isRecent(poll.at))
      .map(([type, { senders, delivered }]) => ({ type, senders, delivered }));
  }

  #isRecent(at: number | undefined): boolean {
    return at !== undefined && this.#clock.monotonic() - at < RECENT_MS;
  }

  #of(client: string): { pulledAt: number; readonly polls: Map<EventType, Poll> } {
    const known = this.#clients.get(client) ?? { pulledAt: -Infinity, polls: new Map<EventType, Poll>() };
    // Asked last is last in the map.
    this.#clients.delete(client);
    this.#clients.set(client, known);
    if (this.#clients.size > MAX_CLIENTS) this.#clients.delete(this.#clients.keys().next().value!);
    return known;
  }
}
