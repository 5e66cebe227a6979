import { createHash } from 'node:crypto';
import type { Clock } from '../../events/clock.ts';
import { hashOf, newSecret, sameHash } from '../../policy/secret.ts';

/** Of a code (RFC 6749, 4.1.2: at most ten minutes). */
export const CODE_MS = 600_000;
const MAX_KEPT = 64;

/** What a code stands for. */
export interface Granted {
  /** Of the client that it becomes. */
  readonly client: string;
  readonly clientId: string;
  readonly redirectUri: string;
  /** S256 of the verifier. */
  readonly challenge: string;
}

/** `again`: it was taken before, so two hands hold it. */
export type Redeemed = { readonly ok: true; readonly granted: Granted } | { readonly ok: false; readonly why: 'unknown' | 'differs' } | { readonly ok: false; readonly why: 'again'; readonly granted: Granted };

/** Authorization codes: each is taken once, by whoever asked for it, and remembered as taken for as long as it could have held. */
export class Codes {
  readonly #clock: Clock;
  readonly #kept = new Map<string, { readonly granted: Granted; readonly until: number; taken: boolean }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  issue(granted: Granted): string {
    this.#sweep();
    if (this.#kept.size >= MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    const code = newSecret('code');
    this.#kept.set(hashOf(code), { granted, until: this.#clock.monotonic() + CODE_MS, taken: false });
    return code;
  }

  /** Whatever does not fit uses the code up: one try is what an honest program needs. @param verifier RFC 7636 */
  redeem(code: string, by: { readonly clientId: string; readonly redirectUri: string; readonly verifier: string }): Redeemed {
    this.#sweep();
    const kept = this.#kept.get(hashOf(code));
    if (kept === undefined) return { ok: false, why: 'unknown' };
    const { granted } = kept;
    if (kept.taken) return { ok: false, why: 'again', granted };
    kept.taken = true;
    const fits = by.clientId === granted.clientId && by.redirectUri === granted.redirectUri && sameHash(s256(by.verifier), granted.challenge);
    return fits ? { ok: true, granted } : { ok: false, why: 'differs' };
  }

  #sweep(): void {
    for (const [hash, { until }] of this.#kept) if (until <= this.#clock.monotonic()) this.#kept.delete(hash);
  }
}

const s256 = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');
