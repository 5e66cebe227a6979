/** Writes that the disk may refuse: told once when it begins to, and once when it takes them again. */
export class GuardedWrites {
  readonly #told: (sentence: string | null) => void;
  #troubled = false;

  /** @param told why nothing can be written at the moment, or (null) that it can again */
  constructor(told: (sentence: string | null) => void) {
    this.#told = told;
  }

  /** Null where SQLite refuses (full, locked, damaged). */
  write<T>(work: () => T): T | null {
    try {
      const result = work();
      if (this.#troubled) {
        this.#troubled = false;
        this.#told(null);
      }
      return result;
    } catch (error) {
      const code = (error as { code?: unknown }).code;
      if (typeof code !== 'string' || !code.startsWith('SQLITE_')) throw error;
      if (!this.#troubled) {
        this.#troubled = true;
        this.#told(code === 'SQLITE_FULL' ? 'The disk is full: new items of watches wait in memory and are tried again.' : `state.db takes no changes (${code}): new items of watches wait in memory and are tried again.`);
      }
      return null;
    }
  }
}
