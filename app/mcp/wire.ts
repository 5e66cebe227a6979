import type { Held, Licence, MethodOf } from './emission.ts';

/** What notifications are written to: one connection of the socket, or one exchange over HTTP. */
export interface Wire {
  /** False while the peer reads too slowly. */
  readonly writable: boolean;
  /** The peer was told of it, or asked for it in its own request. Null for what nothing declares. */
  license<L extends Licence>(licence: L): Held<L> | null;
  /** @param line one message as JSON, ending in a newline */
  notify<L extends Licence>(held: Held<L>, method: MethodOf<L>, line: string): void;
}
