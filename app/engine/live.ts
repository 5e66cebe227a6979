import type { EventType } from '../events/occurrence.ts';
import type { Outcome } from '../events/hub.ts';
import type { Policy } from '../policy/policy.ts';

/** What a page that looks on hears. Nothing is built while nobody looks. */
export interface LiveListener {
  outcome?(outcome: Outcome, policy: Policy): void;
  changed?(): void;
}

/** Fan-out of outcomes and changes to those who look on: the UI's port, the demo's page. */
export class Live {
  readonly #listeners = new Set<LiveListener>();

  listen(listener: LiveListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  outcome(outcome: Outcome, policy: Policy): void {
    for (const listener of this.#listeners) listener.outcome?.(outcome, policy);
  }

  changed(): void {
    for (const listener of this.#listeners) listener.changed?.();
  }

  storeChanged(_type: EventType): void {
    this.changed();
  }
}
