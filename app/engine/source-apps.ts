import type { StoreKind } from '../apple/occurrence.ts';
import type { Clock } from '../events/clock.ts';

/** Looking through all processes takes a millisecond, and this is a note beside a switch. */
const FRESH_MS = 10_000;

/** Whether Mail and Messages run: new mail arrives only while Mail does (ui.md, Events). Asked only while somebody looks. */
export class SourceApps {
  readonly #runs: ((kind: StoreKind) => boolean) | undefined;
  readonly #clock: Clock;
  readonly #seen = new Map<StoreKind, { readonly at: number; readonly runs: boolean }>();

  /** @param runs asks the system; undefined where it cannot be told */
  constructor(runs: ((kind: StoreKind) => boolean) | undefined, clock: Clock) {
    this.#runs = runs;
    this.#clock = clock;
  }

  /** Null: can't tell. */
  runs(kind: StoreKind): boolean | null {
    if (!this.#runs) return null;
    const now = this.#clock.monotonic();
    const known = this.#seen.get(kind);
    if (known && now - known.at < FRESH_MS) return known.runs;
    const runs = this.#runs(kind);
    this.#seen.set(kind, { at: now, runs });
    return runs;
  }
}
