import type { Slices } from '../contract/values.ts';
import type { Clock } from '../events/clock.ts';

/** Counts and times move with each arrival: told this often at most. */
const STIRRED_MS = 1000;

export type SlicesListener = (changed: Partial<Slices>) => void;

/** Tells those who look on which slices of the state differ from what was told before. Nothing is built while nobody looks. */
export class Changes {
  readonly #clock: Clock;
  readonly #build: () => Slices;
  readonly #listeners = new Set<SlicesListener>();
  #told = new Map<string, string>();
  #soon: (() => void) | null = null;
  #later: (() => void) | null = null;

  constructor(clock: Clock, build: () => Slices) {
    this.#clock = clock;
    this.#build = build;
  }

  listen(listener: SlicesListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The whole state, for one who begins to look. Whatever it saw before, the next change tells everything again. */
  snapshot(): Slices {
    this.#told.clear();
    return this.#build();
  }

  /** Something was decided: told as soon as this turn is over. */
  changed(): void {
    if (this.#listeners.size === 0) return;
    this.#soon ??= this.#clock.after(0, () => {
      this.#soon = null;
      this.#tell();
    });
  }

  /** Something arrived or was delivered. */
  stirred(): void {
    if (this.#listeners.size === 0) return;
    this.#later ??= this.#clock.after(STIRRED_MS, () => {
      this.#later = null;
      this.#tell();
    });
  }

  close(): void {
    this.#soon?.();
    this.#later?.();
    this.#listeners.clear();
  }

  #tell(): void {
    if (this.#listeners.size === 0) return;
    const different = Object.entries(this.#build()).filter(([name, slice]) => {
      const text = JSON.stringify(slice);
      if (this.#told.get(name) === text) return false;
      this.#told.set(name, text);
      return true;
    });
    if (different.length === 0) return;
    const changed = Object.fromEntries(different) as Partial<Slices>;
    for (const listener of this.#listeners) listener(changed);
  }
}
