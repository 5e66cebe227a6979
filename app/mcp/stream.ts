import type { EventsError } from '../events/errors.ts';
import { payloadOf, type Occurrence, type Subjects } from '../events/occurrence.ts';
import type { SubscriptionSink } from '../events/subscription.ts';
import type { Held, MethodOf } from './emission.ts';
import type { Wire } from './wire.ts';

export const EVENTS_LICENCE = 'extensions.io.modelcontextprotocol/events';
/** The catalogue may change while a client looks on. Declared while webhooks are switched on. */
export const LIST_CHANGED_LICENCE = 'extensions.io.modelcontextprotocol/events.listChanged';
type EventsLicence = typeof EVENTS_LICENCE;

export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
/** In `_meta` of an event that nobody wrote: the owner asked for it (`_meta` is free for a server's own keys, SEP-3415). */
export const TEST_MARK = 'dev.belfry/test';

/**
 * The part of an event that is the same for everyone, rendered once. A change of the subjects switch makes
 * another text; the old one goes with its occurrence.
 */
const rendered = new WeakMap<Occurrence, { subjects: Subjects; text: string }>();

export function renderEvent(occurrence: Occurrence, subjects: Subjects): string {
  const known = rendered.get(occurrence);
  if (known?.subjects === subjects) return known.text;
  const { eventId, type, timestamp } = occurrence;
  const whole = JSON.stringify({ eventId, name: type, timestamp, data: payloadOf(occurrence, subjects) });
  // Without its braces: the cursor and the subscription id follow, different for each stream.
  const text = whole.slice(1, -1);
  rendered.set(occurrence, { subjects, text });
  return text;
}

/** Writes one subscription's frames. Nothing is written after `done` or an abort. */
export class StreamSink implements SubscriptionSink {
  readonly #connection: Wire;
  readonly #held: Held<EventsLicence>;
  readonly #signal: AbortSignal;
  readonly #tail: string;
  readonly #subjects: () => Subjects;
  readonly #done: () => void;
  #ended = false;

  /** @param id The request's id, in its own JSON type. `done` is called once, after `terminated`. */
  constructor(options: { connection: Wire; held: Held<EventsLicence>; signal: AbortSignal; id: string | number; subjects: () => Subjects; done: () => void }) {
    this.#connection = options.connection;
    this.#held = options.held;
    this.#signal = options.signal;
    this.#subjects = options.subjects;
    this.#done = options.done;
    this.#tail = `"${SUBSCRIPTION_ID}":${JSON.stringify(options.id)}}}}\n`;
  }

  get writable(): boolean {
    return this.#connection.writable;
  }

  active(cursor: string, truncated: boolean): void {
    this.#write('notifications/events/active', `"cursor":"${cursor}","truncated":${truncated},`);
  }
  event(occurrence: Occurrence, cursor: string): void {
    this.#write('notifications/events/event', `${renderEvent(occurrence, this.#subjects())},"cursor":"${cursor}",`);
  }
  test(occurrence: Occurrence, cursor: string): void {
    this.#write('notifications/events/event', `${renderEvent(occurrence, this.#subjects())},"cursor":"${cursor}",`, `"${TEST_MARK}":true,`);
  }
  heartbeat(cursor: string): void {
    this.#write('notifications/events/heartbeat', `"cursor":"${cursor}",`);
  }
  error(error: EventsError): void {
    this.#write('notifications/events/error', `"error":${JSON.stringify(error)},`);
  }
  terminated(error: EventsError): void {
    this.#write('notifications/events/terminated', `"error":${JSON.stringify(error)},`);
    this.#ended = true;
    this.#done();
  }

  #write(method: MethodOf<EventsLicence>, params: string, mark = ''): void {
    if (this.#ended || this.#signal.aborted) return;
    this.#connection.notify(this.#held, method, `{"jsonrpc":"2.0","method":"${method}","params":{${params}"_meta":{${mark}${this.#tail}`);
  }
}
