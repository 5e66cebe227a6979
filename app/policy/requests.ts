import { askSentence, type Change, type GrantName } from './change.ts';
import { missingOf, type Clients } from './clients.ts';
import { canonical, outstanding, type RequestHost } from './outstanding.ts';
import type { Waiting } from './waiting.ts';

/** What requests need of policy. */
export interface RequestsHost extends Omit<RequestHost, 'record'> {
  clientName(id: string): string;
  /** Something new waits for the owner, or no longer does. */
  waits(isNew: boolean): void;
}

/** What clients and programs ask the owner for, kept in step with what the owner allows. */
export class Requests {
  readonly #host: RequestsHost;
  readonly #waiting: Waiting;
  readonly #clients: Clients;

  constructor(host: RequestsHost, waiting: Waiting, clients: Clients) {
    this.#host = host;
    this.#waiting = waiting;
    this.#clients = clients;
  }

  /** Null: full. */
  ask(change: Change): { readonly id: string; readonly added: boolean } | null {
    return this.#waiting.addChange(canonical(change), (each) => this.#sentenceOf(each), (id) => this.#clients.runs(id));
  }

  /** A client would like more than events. Of one that is not let in yet it is kept, and comes before the owner once they let it in. */
  wish(id: string, grants: readonly GrantName[]): void {
    if (this.#clients.decision(id) === 'denied' || !this.#clients.wish(id, grants)) return;
    if (this.#place(id)) this.#host.waits(true);
    // The entry of the client itself says what it would like.
    else if (this.#waiting.has(id)) this.#host.waits(false);
  }

  /** After each change: what is so already, or of a client that is not let in any more, no longer waits; what was wished for earlier does. */
  settle(): void {
    const { settings, region } = this.#host;
    const host: RequestHost = {
      settings, region, isIn: (id) => this.#host.isIn(id), record: (id) => this.#clients.record(id), widens: (change) => this.#host.widens(change),
    };
    const settled = this.#waiting.settle((change) => outstanding(change, host), (change) => this.#sentenceOf(change));
    const placed = this.#clients.wishing().filter((id) => this.#place(id));
    if (placed.length > 0 || settled) this.#host.waits(placed.length > 0);
  }

  /** True if the owner has something new to answer. Where too much waits already, the wish goes on waiting for a place. */
  #place(id: string): boolean {
    if (!this.#host.isIn(id)) return false;
    const grants = missingOf(this.#clients.record(id)?.grants ?? [], [...(this.#clients.known(id)?.wishes ?? [])]);
    const place = grants.length === 0 ? { added: false } : this.ask({ do: 'grant-client', id, grants });
    if (place !== null) this.#clients.forgetWishes(id);
    return place?.added === true;
  }

  #sentenceOf(change: Change): string {
    return askSentence(change, (id) => this.#host.clientName(id));
  }
}
