import type { Slices } from '../app/contract/values.ts';
import type { EngineClient } from './engine-host.ts';

/** The engine's state as main draws it in the menu bar: a snapshot, then what changed. Null while no engine runs. */
export class EngineState {
  readonly #listeners = new Set<(slices: Slices | null) => void>();
  #slices: Slices | null = null;
  #of: EngineClient | null = null;

  get slices(): Slices | null {
    return this.#slices;
  }

  onChange(listener: (slices: Slices | null) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  follow(engine: EngineClient | null): void {
    this.#of = engine;
    this.#set(null);
    if (engine === null) return;
    const mine = () => this.#of === engine;
    engine.on('changed', (changed) => {
      // Before the snapshot there is nothing to merge into, and the snapshot will carry it.
      if (mine() && this.#slices !== null) this.#set({ ...this.#slices, ...changed } as Slices);
    });
    void engine.call.app.snapshot({}).then(
      (slices) => {
        if (mine()) this.#set(slices);
      },
      // An engine that went is told by its host.
      () => undefined,
    );
  }

  #set(slices: Slices | null): void {
    this.#slices = slices;
    for (const listener of this.#listeners) listener(slices);
  }
}
