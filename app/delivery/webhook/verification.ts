import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../events/clock.ts';
import { callbackFailed, limitReached } from '../../events/errors.ts';
import type { Callback } from './callback.ts';
import type { PostOutcome } from './https-post.ts';
import { signedHeaders } from './signature.ts';
import { controlIdOf } from './webhook-record.ts';

/** Challenges to one host within a minute: a client must not make us knock at a stranger's door. */
const MAX_A_MINUTE = 60;
const MINUTE_MS = 60_000;
/** Verified places are remembered this far back. */
const REMEMBERED = 2000;

/** Takes its turn and posts. */
export type Send = (callback: Callback, headers: Readonly<Record<string, string>>, body: Buffer) => Promise<PostOutcome>;

export interface Challenge {
  /** Client id: what one client verified serves no other. */
  readonly client: string;
  readonly callback: Callback;
  readonly key: Buffer;
  /** Id of the subscription that is being made. */
  readonly id: string;
}

/**
 * Asks a receiver whether it wants what is about to come (events-extension 9.5): a nonce that it has to give back, once for a
 * client and a URL, inside the call that subscribes.
 */
export class Verification {
  readonly #clock: Clock;
  readonly #send: Send;
  readonly #verified = new Set<string>();
  readonly #asking = new Map<string, Promise<void>>();
  readonly #asked = new Map<string, number[]>();

  constructor(clock: Clock, send: Send) {
    this.#clock = clock;
    this.#send = send;
  }

  /** It said yes in an earlier run. */
  remember(client: string, callback: Callback): void {
    const key = placeOf(client, callback);
    this.#verified.delete(key);
    this.#verified.add(key);
    if (this.#verified.size > REMEMBERED) this.#verified.delete(this.#verified.values().next().value!);
  }

  isVerified(client: string, callback: Callback): boolean {
    return this.#verified.has(placeOf(client, callback));
  }

  /** The owner took a host out of the list: whoever is there has to agree again. */
  forget(host: string): void {
    for (const key of [...this.#verified]) if (new URL(JSON.parse(key)[1] as string).host === host) this.#verified.delete(key);
  }

  /** @throws EventsError CallbackEndpointError, ResourceExhausted */
  async verify(challenge: Challenge): Promise<void> {
    const { client, callback } = challenge;
    if (this.isVerified(client, callback)) return;
    const place = placeOf(client, callback);
    const asking = this.#asking.get(place) ?? this.#ask(challenge).finally(() => this.#asking.delete(place));
    this.#asking.set(place, asking);
    await asking;
  }

  async #ask({ client, callback, key, id }: Challenge): Promise<void> {
    this.#count(callback.host);
    const nonce = randomBytes(24).toString('base64url');
    const body = Buffer.from(JSON.stringify({ type: 'verification', challenge: nonce }));
    const headers = { ...signedHeaders([key], controlIdOf('verification'), this.#clock.now(), body), 'x-mcp-subscription-id': id };
    const outcome = await this.#send(callback, headers, body);
    if (!outcome.answered) throw callbackFailed(outcome.fault);
    const { status } = outcome;
    if (status >= 500) throw callbackFailed('http_5xx');
    if (status >= 400) throw callbackFailed('http_4xx');
    if (status < 200 || status >= 300 || !isEcho(outcome.body, nonce)) throw callbackFailed('challenge_failed');
    this.remember(client, callback);
  }

  #count(host: string): void {
    const now = this.#clock.monotonic();
    for (const [other, times] of this.#asked) if (times.at(-1)! <= now - MINUTE_MS) this.#asked.delete(other);
    const recent = (this.#asked.get(host) ?? []).filter((at) => at > now - MINUTE_MS);
    if (recent.length >= MAX_A_MINUTE) throw limitReached('verifications', MAX_A_MINUTE, { retryAfterMs: Math.ceil(recent[0]! + MINUTE_MS - now) });
    this.#asked.set(host, [...recent, now]);
  }
}

const placeOf = (client: string, { url }: Callback): string => JSON.stringify([client, url]);

function isEcho(body: Buffer, nonce: string): boolean {
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    return false;
  }
  const echoed = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)['challenge'] : null;
  if (typeof echoed !== 'string') return false;
  const [given, wanted] = [Buffer.from(echoed), Buffer.from(nonce)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
