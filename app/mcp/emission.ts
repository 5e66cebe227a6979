/**
 * Every notification that the engine ever writes, with the declaration that licenses it. A closed union: a
 * method that is not here cannot be sent (peers.md: a notification without its declaration is thrown away).
 */
const licences = {
  'notifications/events/active': 'extensions.io.modelcontextprotocol/events',
  'notifications/events/event': 'extensions.io.modelcontextprotocol/events',
  'notifications/events/heartbeat': 'extensions.io.modelcontextprotocol/events',
  'notifications/events/error': 'extensions.io.modelcontextprotocol/events',
  'notifications/events/terminated': 'extensions.io.modelcontextprotocol/events',
  'notifications/subscriptions/acknowledged': 'subscriptions/listen',
} as const;

export type OutgoingMethod = keyof typeof licences;
export type Licence = (typeof licences)[OutgoingMethod];

export interface Emission {
  readonly method: OutgoingMethod;
  readonly licence: Licence;
}

const emissions = new Map<string, Emission>(
  Object.entries(licences).map(([method, licence]) => [method, { method: method as OutgoingMethod, licence }]),
);

/** @throws where a method has no licence: a fault of ours, never of a peer. */
export function emissionOf(method: OutgoingMethod): Emission {
  const emission = emissions.get(method);
  if (!emission) throw new Error('A notification without a licence was about to be sent');
  return emission;
}
