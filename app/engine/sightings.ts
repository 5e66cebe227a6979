import type { EventType, Occurrence } from '../events/occurrence.ts';
import type { RuleMatch } from '../policy/sender-rules.ts';
import type { SenderRule } from '../policy/settings.ts';

/** How recent a poll must be for its client to count as listening: three times what it is told to wait. */
const POLLS_MS = 90_000;

/** What a client asks for by polling. */
export interface Polling {
  readonly type: EventType;
  readonly senders: number;
  readonly delivered: number;
}

/** When what was seen last in this run: for "last" columns, and for who listens by polling. In memory only; times are Unix ms. */
export class Sightings {
  readonly #types = new Map<EventType, number>();
  readonly #rules = new Map<string, number>();
  readonly #clients: Map<string, number>;
  readonly #polls = new Map<string, Map<EventType, { at: number; senders: number; delivered: number }>>();

  /** @param clients last deliveries of earlier runs */
  constructor(clients: ReadonlyMap<string, number>) {
    this.#clients = new Map(clients);
  }

  /** @param rule which of the owner's rules it passes, or null */
  arrived(occurrence: Occurrence, rule: RuleMatch | null, at: number): void {
    this.#types.set(occurrence.type, at);
    if (rule !== null && 'rule' in rule) this.#rules.set(keyOf(rule.rule), at);
  }

  delivered(client: string, type: EventType, mode: 'push' | 'poll', at: number): void {
    this.#clients.set(client, at);
    const poll = mode === 'poll' ? this.#polls.get(client)?.get(type) : undefined;
    if (poll) poll.delivered += 1;
  }

  polled(client: string, type: EventType, senders: number, at: number): void {
    const polls = this.#polls.get(client) ?? new Map<EventType, { at: number; senders: number; delivered: number }>();
    this.#polls.set(client, polls);
    polls.set(type, { at, senders, delivered: polls.get(type)?.delivered ?? 0 });
  }

  pollsOf(client: string, now: number): readonly Polling[] {
    return [...(this.#polls.get(client) ?? [])].flatMap(([type, { at, senders, delivered }]) => (now - at < POLLS_MS ? [{ type, senders, delivered }] : []));
  }

  /** The client's last connection went: it polls no more. */
  left(client: string): void {
    this.#polls.delete(client);
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
