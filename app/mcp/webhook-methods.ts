import { forbidden, invalidParams, unsupportedMode } from '../events/errors.ts';
import { callbackOf } from '../delivery/webhook/callback.ts';
import { keyOf } from '../delivery/webhook/signature.ts';
import type { Granted, Webhooks } from '../delivery/webhook/webhooks.ts';
import type { Principal } from '../events/verdict.ts';
import type { EventsBackend, EventsPeer, Params } from './events-extension.ts';
import { onType, opening } from './events-request.ts';

/** What the webhook methods ask of the engine. */
export interface WebhookBackend {
  /** The owner listed at least one host. */
  readonly webhooksOn: boolean;
  readonly webhooks: Webhooks;
}

/** `events/subscribe`, in the order of checks that holds for every mode; the key is what the client sent, not what it came to mean. */
export async function subscribe(params: Params, backend: EventsBackend, peer: EventsPeer): Promise<Granted> {
  const principal = await permitted(params, backend, peer);
  const delivery = deliveryOf(params);
  const callback = callbackOf(delivery['url']);
  const key = keyOf(delivery['secret']);
  const ttlMs = ttlOf(params['ttlMs']);
  const { type, filter, cursor, maxAgeMs } = opening(params, backend, 'webhook', peer, principal);
  backend.asks(principal, type, filter, 'webhook');
  return backend.webhooks.subscribe({ client: principal.id, type, arguments: argumentsOf(params), callback, key, filter, cursor, maxAgeMs, ttlMs });
}

export async function unsubscribe(params: Params, backend: EventsBackend, peer: EventsPeer): Promise<object> {
  const { id: client } = await permitted(params, backend, peer);
  const callback = callbackOf(deliveryOf(params)['url']);
  backend.webhooks.unsubscribe({ client, type: onType(params, backend), arguments: argumentsOf(params), callback });
  return {};
}

/**
 * Who may ask at all. A webhook leaves this Mac and goes on after its client ended, so it is for those who showed a credential
 * (events-extension 9.1). Which program stands at the other end of the socket is found out and approved, yet nothing was shown
 * by it: whoever drives that program is taken for it.
 */
async function permitted(params: Params, backend: EventsBackend, peer: EventsPeer): Promise<Principal> {
  onType(params, backend);
  if (!backend.webhooksOn) throw unsupportedMode('webhook');
  if (!peer.authenticated) throw forbidden('authentication');
  return peer.principal;
}

function deliveryOf({ delivery }: Params): Record<string, unknown> {
  if (typeof delivery !== 'object' || delivery === null || Array.isArray(delivery)) throw invalidParams('delivery: must be an object');
  const given = delivery as Record<string, unknown>;
  if (given['mode'] !== undefined && given['mode'] !== 'webhook') throw invalidParams('delivery.mode: must be "webhook"');
  return given;
}

/** Absent and null differ here: null asks for no expiry. No value is refused for its size. */
function ttlOf(value: unknown): number | null | undefined {
  if (value === undefined || value === null) return value;
  if (typeof value !== 'number' || !Number.isFinite(value)) throw invalidParams('ttlMs: must be a number or null');
  return value;
}

function argumentsOf({ arguments: args }: Params): Record<string, unknown> {
  if (args === undefined) return {};
  if (typeof args !== 'object' || args === null || Array.isArray(args)) throw invalidParams('arguments: must be an object');
  return args as Record<string, unknown>;
}
