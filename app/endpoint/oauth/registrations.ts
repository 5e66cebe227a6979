import type { Clock } from '../../events/clock.ts';
import type { Registration } from '../../policy/sign-ins.ts';
import { Bucket } from '../http/bucket.ts';

/** How long a registration waits for its first sign-in; one that was allowed is kept by policy. */
export const PENDING_MS = 600_000;
/** Twenty in an hour leave no more than this; it is a second fence. */
export const MAX_PENDING = 100;
const PER_HOUR = 20;

/** Programs that registered and that nobody has decided on. In memory: they register again after a restart. */
export class Registrations {
  readonly #clock: Clock;
  readonly #bucket: Bucket;
  /** Used longest ago first. */
  readonly #pending = new Map<string, { readonly registration: Registration; readonly until: number }>();

  constructor(clock: Clock, perHour = PER_HOUR) {
    this.#clock = clock;
    this.#bucket = new Bucket(clock, { perSecond: perHour / 3600, burst: perHour });
  }

  get size(): number {
    return this.#pending.size;
  }

  /** 0: there is room for one in this hour, and it is taken. Else the seconds until there is. */
  take(): number {
    return this.#bucket.take();
  }

  add(registration: Registration): void {
    this.#sweep();
    if (this.#pending.size >= MAX_PENDING) this.#pending.delete(this.#pending.keys().next().value!);
    this.#pending.set(registration.clientId, { registration, until: this.#clock.monotonic() + PENDING_MS });
  }

  find(clientId: string): Registration | null {
    this.#sweep();
    const found = this.#pending.get(clientId);
    if (found === undefined) return null;
    // What is in use goes last.
    this.#pending.delete(clientId);
    this.#pending.set(clientId, found);
    return found.registration;
  }

  #sweep(): void {
    for (const [id, { until }] of this.#pending) if (until <= this.#clock.monotonic()) this.#pending.delete(id);
  }
}
