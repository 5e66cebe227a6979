import type { Clock } from '../../events/clock.ts';
import type { Hub } from '../../events/hub.ts';
import type { Occurrence, Subjects } from '../../events/occurrence.ts';
import type { Gate, Principal } from '../../events/verdict.ts';
import type { StoredRef } from '../stored-occurrences.ts';
import type { PostOutcome } from './https-post.ts';
import type { Webhook } from './webhook.ts';

export type WebhookState = 'ok' | 'retrying' | 'suspended' | 'ending' | 'waiting-for-owner' | 'paused' | 'ceiling' | 'unreadable';

/** What webhooks ask of the owner's policy, at each try again. Implemented in `policy`, joined in `engine`; answered from memory. */
export interface WebhookPolicy {
  /** Name with the port unless it is 443. */
  isWebhookHost(host: string): boolean;
  gate(principal: Principal, type: Occurrence['type']): Gate;
  allows(occurrence: Occurrence, principal: Principal): boolean;
  readonly subjects: Subjects;
}

/** What one subscription needs of all of them. */
export interface WebhookHost {
  readonly clock: Clock;
  readonly policy: WebhookPolicy;
  hub(webhook: Webhook): Hub;
  /** Takes its turn among the others and sends; what is sent is made once the turn has come. */
  send(webhook: Webhook, request: () => SignedRequest | Unsent): Promise<PostOutcome | Unsent>;
  /** 0 to 1. */
  random(): number;
  delivered(webhook: Webhook, ref: StoredRef): void;
  gaveUp(webhook: Webhook, ref: StoredRef): void;
  /** Its receiver fails for so long that its client has to ask again. */
  suspended(webhook: Webhook): void;
  /** Its record or its position differs from what is kept. */
  moved(webhook: Webhook, isRecord: boolean): void;
  /** Its receiver was told that it is over, or could not be told. */
  over(webhook: Webhook): void;
  fault(error: unknown): void;
}

export interface SignedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** `gone`: the row left, or the owner no longer allows it. `not-now`: it was withdrawn, or the owner paused. */
export type Unsent = 'gone' | 'unreadable' | 'not-now';
