import { descriptorOf, isEventType, modesOf, type DeliveryMode } from '../events/catalogue.ts';
import { ErrorCode, eventNotFound, EventsError, invalidParams, unsupportedMode } from '../events/errors.ts';
import type { Hub } from '../events/hub.ts';
import type { EventType } from '../events/occurrence.ts';
import { parseArguments, type Filter, type NameLookup } from '../events/sender-filter.ts';
import type { Principal } from '../events/verdict.ts';
import type { EventsBackend, EventsPeer, Params } from './events-extension.ts';

/** The catalogue as this connection may use it: a webhook is for those who showed a credential. */
export function descriptorsFor(backend: EventsBackend, peer: Pick<EventsPeer, 'authenticated'>): Record<string, unknown>[] {
  return backend.types.filter((type) => backend.eventOn(type)).map((type) => descriptorOf(type, modesFor(backend, peer)));
}

/** The same as text, to tell whether it changed. Empty while no event is on. */
export const catalogueText = (backend: EventsBackend, peer: Pick<EventsPeer, 'authenticated'>): string => (backend.anyOn() ? JSON.stringify(descriptorsFor(backend, peer)) : '');

const modesFor = (backend: EventsBackend, peer: Pick<EventsPeer, 'authenticated'>) => modesOf(backend.webhooksOn && peer.authenticated);

/** Order of the checks: shape, name, mode, arguments, permission, quota, cursor (events-extension 8). */
export function onType(params: Params, backend: EventsBackend): EventType {
  const { name } = params;
  if (typeof name !== 'string') throw invalidParams('name: must be a string');
  if (!isEventType(name) || !backend.eventOn(name)) throw eventNotFound();
  return name;
}

export interface Opening {
  readonly type: EventType;
  readonly hub: Hub;
  readonly filter: Filter;
  readonly cursor: string | null;
  readonly maxAgeMs: number | null;
}

/** Which mailboxes and chats there are is for clients that the owner let in: others learn only that a name does not fit. */
export function namesFor(backend: EventsBackend, type: EventType, principal: Principal): NameLookup {
  const names = backend.names(type, principal);
  const gate = backend.gate(principal, type);
  if (gate === 'open' || gate === 'paused') return names;
  const unlisted = <T>(field: string, find: (name: string) => T) => (name: string): T => {
    try {
      return find(name);
    } catch (error) {
      if (!(error instanceof EventsError) || error.code !== ErrorCode.invalidParams) throw error;
      throw invalidParams(`arguments.${field}: a name does not fit exactly one; what exists is listed once the owner allows this client`);
    }
  };
  return {
    region: names.region,
    mailbox: unlisted('mailboxes', (name) => names.mailbox(name)),
    chat: unlisted('chats', (name) => names.chat(name)),
    ownAddresses: () => names.ownAddresses(),
  };
}

export function opening(params: Params, backend: EventsBackend, mode: DeliveryMode, peer: EventsPeer, principal: Principal): Opening {
  const type = onType(params, backend);
  if (!modesFor(backend, peer).includes(mode)) throw unsupportedMode(mode);
  const { cursor, maxAgeMs } = params;
  const filter = parseArguments(type, params['arguments'], namesFor(backend, type, principal));
  if (cursor !== undefined && cursor !== null && typeof cursor !== 'string') throw invalidParams('cursor: must be a string or null');
  if (maxAgeMs !== undefined && maxAgeMs !== null && !(Number.isSafeInteger(maxAgeMs) && (maxAgeMs as number) >= 0)) {
    throw invalidParams('maxAgeMs: must be an integer of at least 0');
  }
  return {
    type, filter, hub: backend.hub(type),
    cursor: (cursor as string | null | undefined) ?? null,
    maxAgeMs: (maxAgeMs as number | null | undefined) ?? null,
  };
}
