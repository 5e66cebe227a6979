import type { Occurrence } from './occurrence.ts';

/** Why an arrival that a subscription asked for was not sent to it. Shown in Live and kept in Activity. */
export type NotSent = 'paused' | 'no-allowed-sender' | 'mailbox' | 'client-not-allowed' | 'rate';

export type Verdict = { readonly send: true } | { readonly send: false; readonly reason: NotSent };

/** What stands between a client and a type of event at this moment (architecture 5, state table). */
export type Gate = 'open' | 'paused' | 'approval' | 'refused' | 'off';

/** Who a subscription belongs to: the identity and the process, not the connection. */
export interface Principal {
  /** 8 hex digits; empty while the peer check is still running. */
  readonly id: string;
}

/**
 * What the hub and the extension ask of the owner's policy. Implemented in `policy`, joined in `engine`,
 * so that events imports no policy. Every question is answered from memory.
 */
export interface Judge {
  /** The owner's rules as a ceiling, and the client's own grant. Without side effects. */
  allows(occurrence: Occurrence, principal: Principal): boolean;
  /** Why `allows` said no: outside the owner's mailboxes, or no rule and no grant lets the sender through. */
  refusal(occurrence: Occurrence): NotSent;
  /**
   * Takes one ring of the client's hourly allowance. The same eventId again within the hour is free.
   * False: the ceiling is reached and nothing was taken.
   */
  takeRing(principal: Principal, eventId: string): boolean;
}
