import type { EventType, Occurrence } from '../events/occurrence.ts';
import type { RuleMatch } from '../policy/sender-rules.ts';
import type { SenderRule } from '../policy/settings.ts';

/** When what was seen last in this run: for "last" columns. In memory only; times are Unix ms. */
export class Sightings {
  readonly #types = new Map<EventType, number>();
  readonly #rules = new Map<string, number>();
  readonly #clients: Map<string, number>;

  /** @param clients last deliveries of earlier runs */
  constructor(clients: ReadonlyMap<string, number>) {
    this.#clients = new Map(clients);
  }

  /** @param rule which of the owner's rules it passes, or null */
  arrived(occurrence: Occurrence, rule: RuleMatch | null, at: number): void {
    this.#types.set(occurrence.type, at);
    if (rule !== null && 'rule' in rule) this.#rules.set(keyOf(rule.rule), at);
  }

  delivered(client: string, at: number): void {
    this.#clients.set(client, at);
  }

  lastOf(type: EventType): number | null {
    return this.#types.get(type) ?? null;
  }
  lastOfAll(): number | null {
    return this.#types.size === 0 ? null : Math.max(...this.#types.values());
  }
  lastOfRule(rule: Pick<SenderRule, 'kind' | 'value'>): number | null {
    return this.#rules.get(keyOf(rule)) ?? null;
  }
  lastOfClient(client: string): number | null {
    return this.#clients.get(client) ?? null;
  }
}

const keyOf = ({ kind, value }: Pick<SenderRule, 'kind' | 'value'>) => `${kind} ${value}`;
