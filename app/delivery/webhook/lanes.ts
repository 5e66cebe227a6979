/** Requests at a time: in all, to one host, and to one host by those whose last try failed. */
const MAX_ALL = 64;
const MAX_HOST = 16;
const MAX_TROUBLED = 4;

interface Lane {
  running: number;
  troubled: number;
  readonly waiting: { readonly troubled: boolean; readonly start: () => void }[];
}

/**
 * Who may send now. A receiver that hangs keeps a place of its own host until its time is up; once it failed it shares four
 * places with the other failing ones, so that those that answer go on.
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  #running = 0;

  async run<T>(host: string, troubled: boolean, work: () => Promise<T>): Promise<T> {
    const lane = this.#lanes.get(host) ?? { running: 0, troubled: 0, waiting: [] };
    this.#lanes.set(host, lane);
    if (!this.#fits(lane, troubled) || lane.waiting.some((other) => other.troubled === troubled)) {
      await new Promise<void>((start) => void lane.waiting.push({ troubled, start }));
    } else this.#take(lane, troubled);
    try {
      return await work();
    } finally {
      this.#running -= 1;
      lane.running -= 1;
      if (troubled) lane.troubled -= 1;
      this.#next();
    }
  }

  #fits(lane: Lane, troubled: boolean): boolean {
    return this.#running < MAX_ALL && lane.running < MAX_HOST && (!troubled || lane.troubled < MAX_TROUBLED);
  }

  #take(lane: Lane, troubled: boolean): void {
    this.#running += 1;
    lane.running += 1;
    if (troubled) lane.troubled += 1;
  }

  /** A free place may be of use to any host: the one that waits longest in the list of hosts has it, then goes to its end. */
  #next(): void {
    for (const [host, lane] of [...this.#lanes]) {
      const at = lane.waiting.findIndex(({ troubled }) => this.#fits(lane, troubled));
      if (at !== -1) {
        const [next] = lane.waiting.splice(at, 1);
        this.#take(lane, next!.troubled);
        this.#lanes.delete(host);
        this.#lanes.set(host, lane);
        next!.start();
      } else if (lane.running === 0 && lane.waiting.length === 0) this.#lanes.delete(host);
    }
  }
}
