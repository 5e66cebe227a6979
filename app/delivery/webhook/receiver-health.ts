import type { Clock } from '../../events/clock.ts';
import type { PostOutcome, ReceiverFault } from './https-post.ts';

/** How a receiver fares, from its answers of this run alone. Times are Unix ms. */
export class ReceiverHealth {
  readonly #clock: Clock;
  #lastError: ReceiverFault | null = null;
  #failedSince: number | null = null;
  #failures = 0;
  #suspendedSince: number | null = null;
  #lastDeliveryAt: number | null = null;
  /** Monotonic ms of the last 2xx. */
  #lastSuccess = -Infinity;
  #delivered = 0;
  #givenUp = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Null once it accepted something again. */
  get lastError(): ReceiverFault | null {
    return this.#lastError;
  }
  get failedSince(): number | null {
    return this.#failedSince;
  }
  /** Tries that failed since the last one that was accepted. */
  get failures(): number {
    return this.#failures;
  }
  get suspendedSince(): number | null {
    return this.#suspendedSince;
  }
  get lastDeliveryAt(): number | null {
    return this.#lastDeliveryAt;
  }
  get delivered(): number {
    return this.#delivered;
  }
  get givenUp(): number {
    return this.#givenUp;
  }

  /** @param since monotonic ms */
  acceptedSince(since: number): boolean {
    return this.#lastSuccess > since;
  }

  accepted(isEvent: boolean): void {
    this.#lastSuccess = this.#clock.monotonic();
    this.#lastError = null;
    this.#failedSince = null;
    this.#failures = 0;
    if (!isEvent) return;
    this.#lastDeliveryAt = this.#clock.now();
    this.#delivered += 1;
  }

  failed(outcome: PostOutcome): void {
    this.#lastError = faultOf(outcome);
    this.#failedSince ??= this.#clock.now();
    this.#failures += 1;
  }

  gaveUp(): void {
    this.#givenUp += 1;
  }
  suspended(): void {
    this.#suspendedSince = this.#clock.now();
  }
  resumed(): void {
    this.#suspendedSince = null;
  }
}

/** An answer that is neither 2xx nor an error (a redirect: none is followed) counts as the receiver's mistake. */
const faultOf = (outcome: PostOutcome): ReceiverFault => (!outcome.answered ? outcome.fault : outcome.status >= 500 ? 'http_5xx' : 'http_4xx');
