import { createHash, randomBytes } from 'node:crypto';
import type { EventType } from '../../events/occurrence.ts';
import { canonical } from '../watch.ts';
import type { Callback } from './callback.ts';

/** What makes a subscription the one that it is: another value of any of them is another subscription (events-extension 9.1). */
export interface WebhookKey {
  /** Client id. */
  readonly client: string;
  readonly type: EventType;
  /** As they were given: checked when made, resolved against the store whenever it opens. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly callback: Callback;
}

/** Why it is over, as its receiver is told. */
export interface Ending {
  readonly code: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** One subscription, all that a restart needs but its position. */
export interface WebhookRecord extends WebhookKey {
  readonly id: string;
  /** Unix ms. */
  readonly createdAt: number;
  /** Base64 of the key that signs. */
  readonly key: string;
  /** The key before it, which signs beside it for a while. Unix ms. */
  readonly previous: { readonly key: string; readonly until: number } | null;
  /** Unix ms; null: until it is stopped. */
  readonly expiresAt: number | null;
  /** Arrivals may be missing, and nobody was told yet. */
  readonly gap: boolean;
  /** Set once it is over and its receiver has to be told. */
  readonly ending: Ending | null;
}

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Made from the key, so that it is the same after a refresh and a restart. It is no secret and is taken as input nowhere. */
export const webhookIdOf = ({ client, callback, type, arguments: args }: WebhookKey): string =>
  `sub_${digest(canonical([client, callback.url, type, args])).toString('hex').slice(0, 32)}`;

/** Of a delivery: the same for each try of it, also after a restart, so that a receiver knows it again. */
export const messageIdOf = (subscription: string, eventId: string): string =>
  `msg_${digest(canonical([subscription, eventId])).toString('base64url').slice(0, 27)}`;

/** Of a control envelope. */
export const controlIdOf = (type: 'gap' | 'terminated' | 'verification'): string => `msg_${type}_${randomBytes(12).toString('base64url')}`;
