import { setImmediate } from 'node:timers/promises';

/** Work between two turns of the loop, in bytes or characters gone through: some ten milliseconds where each costs most. */
const BETWEEN_TURNS = 256 * 1024;

/** Gives the loop a turn after each stretch of work, so that what a stranger sent stops nothing else. Small work never waits. */
export class Pace {
  #done = 0;

  /** @param amount bytes or characters that were gone through since the last call */
  async after(amount: number): Promise<void> {
    this.#done += amount;
    if (this.#done < BETWEEN_TURNS) return;
    this.#done = 0;
    await setImmediate();
  }
}
