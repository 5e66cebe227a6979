/** One JSON-RPC message as it came. */
export interface Frame {
  /** Monotonic ns at which the last byte of it was read. */
  readonly at: bigint;
  readonly text: string;
  readonly message: Record<string, any>;
}

export function subscriptionOf(message: Record<string, any>): string | number | undefined {
  return message['params']?.['_meta']?.['io.modelcontextprotocol/subscriptionId'];
}

/** Everything that a client was sent, in its order, and ways to wait for what is still to come. */
export abstract class FrameLog {
  readonly frames: Frame[] = [];
  readonly #waiters = new Set<() => void>();
  #over: (() => string) | null = null;

  /** Notifications of one stream, or of all. */
  of(id?: string | number, method?: string): Frame[] {
    return this.frames.filter(({ message }) => 'method' in message && (id === undefined || subscriptionOf(message) === id) && (method === undefined || message['method'] === `notifications/events/${method}`));
  }
  events(id?: string | number): Record<string, any>[] {
    return this.of(id, 'event').map(({ message }) => message['params']);
  }

  /** The first frame from index `from` on that fits; waits for it, at most `ms`. */
  until(fits: (frame: Frame) => boolean, from = 0, ms = 60_000): Promise<Frame> {
    return new Promise((resolve, reject) => {
      let next = from;
      const look = () => {
        for (; next < this.frames.length; next += 1) {
          if (fits(this.frames[next]!)) return done(() => resolve(this.frames[next]!));
        }
        if (this.#over !== null) done(() => reject(new Error(this.#over!())));
        return undefined;
      };
      const timer = setTimeout(() => done(() => reject(new Error(`Nothing fitting came within ${ms} ms; last: ${this.frames.at(-1)?.text.slice(0, 300)}`))), ms);
      const done = (finish: () => void) => {
        clearTimeout(timer);
        this.#waiters.delete(look);
        finish();
        return undefined;
      };
      this.#waiters.add(look);
      look();
    });
  }

  /** Waits until a stream has had `count` events. */
  async untilEvents(count: number, id?: string | number, ms = 60_000): Promise<Record<string, any>[]> {
    await this.until(() => this.events(id).length >= count, Math.max(0, this.frames.length - 1), ms).catch((error: unknown) => {
      if (this.events(id).length < count) throw error;
    });
    return this.events(id);
  }

  protected wake(): void {
    for (const look of [...this.#waiters]) look();
  }
  /** Nothing more will come. @param why for whoever still waits */
  protected over(why: () => string): void {
    this.#over = why;
    this.wake();
  }
}
