import type { ShellState } from '../app/contract/shell.ts';

/** The shell's state as pages see it: whole when asked, then what changed. */
export class ShellStateKeeper {
  readonly #listeners = new Set<(changed: Partial<ShellState>) => void>();
  #state: ShellState;

  constructor(state: ShellState) {
    this.#state = state;
  }

  get state(): ShellState {
    return this.#state;
  }

  set(change: Partial<ShellState>): void {
    const changed = Object.fromEntries(
      Object.entries(change).filter(([key, value]) => !same(this.#state[key as keyof ShellState], value)),
    ) as Partial<ShellState>;
    if (Object.keys(changed).length === 0) return;
    this.#state = { ...this.#state, ...changed };
    for (const listener of this.#listeners) listener(changed);
  }

  onChange(listener: (changed: Partial<ShellState>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

const same = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);
