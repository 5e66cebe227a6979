import type { ServerCapabilities } from '@modelcontextprotocol/server';

/** What a server may say of itself in `initialize` or `server/discover`, and how it stands there. */
export const declarations = {
  'extensions.io.modelcontextprotocol/events': { extensions: { 'io.modelcontextprotocol/events': {} } },
  'extensions.io.modelcontextprotocol/events.listChanged': { extensions: { 'io.modelcontextprotocol/events': { listChanged: true } } },
  'experimental.claude/channel': { experimental: { 'claude/channel': {} } },
  'tools.listChanged': { tools: { listChanged: true } },
  'resources.listChanged': { resources: { listChanged: true } },
  'resources.subscribe': { resources: { subscribe: true } },
} as const satisfies Readonly<Record<string, ServerCapabilities>>;

export type Declaration = keyof typeof declarations;
/** What a single request asks for, and so licenses while it is open. */
export type RequestLicence = 'subscriptions/listen' | '_meta.progressToken';
export type Licence = Declaration | RequestLicence;

/**
 * Every notification that the engine ever writes, with the declaration that licenses it. A closed table: a
 * method that is not here cannot be sent (peers.md: a notification without its declaration is thrown away).
 */
export const licences = {
  'notifications/events/active': 'extensions.io.modelcontextprotocol/events',
  'notifications/events/event': 'extensions.io.modelcontextprotocol/events',
  'notifications/events/heartbeat': 'extensions.io.modelcontextprotocol/events',
  'notifications/events/error': 'extensions.io.modelcontextprotocol/events',
  'notifications/events/terminated': 'extensions.io.modelcontextprotocol/events',
  'notifications/events/list_changed': 'extensions.io.modelcontextprotocol/events.listChanged',
  'notifications/claude/channel': 'experimental.claude/channel',
  'notifications/tools/list_changed': 'tools.listChanged',
  'notifications/resources/list_changed': 'resources.listChanged',
  'notifications/resources/updated': 'resources.subscribe',
  'notifications/subscriptions/acknowledged': 'subscriptions/listen',
  'notifications/progress': '_meta.progressToken',
} as const satisfies Readonly<Record<`notifications/${string}`, Licence>>;

export type OutgoingMethod = keyof typeof licences;
/** The methods that one licence covers. */
export type MethodOf<L extends Licence> = { [M in OutgoingMethod]: (typeof licences)[M] extends L ? M : never }[OutgoingMethod];

export interface Emission {
  readonly method: OutgoingMethod;
  readonly licence: Licence;
}

const emissions = new Map<string, Emission>(
  Object.entries(licences).map(([method, licence]) => [method, { method: method as OutgoingMethod, licence }]),
);

/** Null for a method that has no licence at all. */
export function emissionOf(method: string): Emission | null {
  return emissions.get(method) ?? null;
}

/** The right to send what a licence covers on one connection. Only the connection that declared it makes one. */
export class Held<L extends Licence = Licence> {
  readonly licence: L;
  // Makes `Held<A>` no `Held<B>`: the licence is part of the type, not only of the value.
  declare readonly covers: MethodOf<L>;
  constructor(licence: L) {
    this.licence = licence;
  }
}

/** Our own fault, never a peer's: something was about to be sent that the peer was not told of. */
export class UnlicensedError extends Error {
  constructor(what: string) {
    super(`${what} was about to be used without its declaration`);
    this.name = 'UnlicensedError';
  }
}

export const isDeclared = (licence: Licence): boolean => licence === 'subscriptions/listen' || licence === '_meta.progressToken' || Object.hasOwn(declarations, licence);

/** The capabilities in which these declarations stand. */
export function capabilitiesOf(names: readonly Declaration[]): ServerCapabilities {
  const capabilities: Record<string, Record<string, unknown>> = {};
  for (const name of names) {
    if (!isDeclared(name)) continue;
    for (const [group, settings] of Object.entries(declarations[name])) capabilities[group] = { ...capabilities[group], ...settings };
  }
  return capabilities;
}
