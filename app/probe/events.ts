import { ProbeFailure } from './failure.ts';
import { isObject, type Json, type JsonObject, type Notification } from './link.ts';
import type { Until } from './request.ts';
import { EVENTS, type Session } from './session.ts';

/** Pages of a list that are turned at most. */
const MAX_PAGES = 50;

export interface Descriptor {
  readonly name: string;
  readonly delivery: readonly string[];
  readonly whole: JsonObject;
}

/** What a poll gave. */
export interface Batch {
  readonly events: readonly Occurrence[];
  readonly cursor: string | null;
  readonly truncated: boolean;
  readonly hasMore: boolean;
  readonly nextPollMs: number | null;
}

export interface Occurrence {
  readonly eventId: string;
  readonly whole: JsonObject;
}

/** @throws ProbeFailure unless the server declares the extension on a revision that has it */
export function requireEvents(session: Session): void {
  const { isBelfry } = session.options;
  if (!session.isModern) throw new ProbeFailure('PROTOCOL_UNSUPPORTED', `The server speaks ${session.version} only; events need 2026-07-28.`);
  if (session.declares('extensions', EVENTS)) return;
  if (isBelfry) throw new ProbeFailure('EVENT_DISABLED', 'No event is turned on in Belfry.');
  throw new ProbeFailure('EXTENSION_NOT_DECLARED', `The server does not declare ${EVENTS}.`);
}

/** Every page of a list. @param key member of the result that holds it */
export async function listAll(session: Session, method: string, key: string): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const result: JsonObject = await session.ask(method, cursor === null ? {} : { cursor });
    const items = result[key];
    if (!Array.isArray(items) || !items.every(isObject)) throw violation(`The result of ${method} has no list "${key}".`);
    all.push(...items);
    const next = result['nextCursor'];
    if (typeof next !== 'string') return all;
    cursor = next;
  }
  throw violation(`${method} goes on for more than ${MAX_PAGES} pages.`);
}

export async function listEvents(session: Session): Promise<Descriptor[]> {
  return (await listAll(session, 'events/list', 'events')).map((whole) => {
    const { name, delivery } = whole;
    if (typeof name !== 'string' || !isStrings(delivery)) throw violation('An event of events/list has no name or no delivery.');
    return { name, delivery, whole };
  });
}

/** @throws ProbeFailure EVENT_NOT_FOUND, or for Belfry's own EVENT_DISABLED */
export async function findEvent(session: Session, event: string): Promise<Descriptor> {
  const found = (await listEvents(session)).find(({ name }) => name === event);
  if (found) return found;
  // Asked by name, so that a type which is off is told from one that never was.
  const known = session.options.isBelfry && /^(?:mail|messages)\.received$/.test(event);
  throw known ? new ProbeFailure('EVENT_DISABLED', `${event} is not turned on in Belfry.`) : new ProbeFailure('EVENT_NOT_FOUND', 'The server has no event of this name.');
}

/** One `events/poll`. Null members are left out: absent is null on the wire. */
export async function poll(session: Session, event: string, args: JsonObject, more: { cursor?: string | null; maxEvents?: number | null; maxAgeMs?: number | null }): Promise<Batch> {
  const given = Object.entries(more).filter(([, value]) => value !== null && value !== undefined);
  const result = await session.ask('events/poll', { name: event, arguments: args, ...(Object.fromEntries(given) as JsonObject) }, event);
  const { events, hasMore, truncated, nextPollMs } = result;
  if (!Array.isArray(events)) throw violation('The result of events/poll has no list "events".');
  return {
    events: events.map((each: Json) => occurrenceOf(each, event)),
    cursor: cursorOf(result),
    truncated: truncated === true,
    hasMore: hasMore === true,
    nextPollMs: typeof nextPollMs === 'number' ? nextPollMs : null,
  };
}

/** Absent is null (events-extension 7.1). */
export const cursorOf = (value: JsonObject): string | null => (typeof value['cursor'] === 'string' ? value['cursor'] : null);

/** @throws ProbeFailure for what is no occurrence of this event (events-extension 4) */
export function occurrenceOf(value: Json, event: string): Occurrence {
  if (!isObject(value)) throw violation('An event is no object.');
  const { eventId, name, timestamp, data } = value;
  if (typeof eventId !== 'string' || typeof timestamp !== 'string' || !isObject(data)) throw violation('An event lacks its eventId, its timestamp or its data.');
  if (name !== event) throw violation('An event has the name of another type.');
  const { _meta, cursor: _cursor, ...whole } = value;
  return { eventId, whole };
}

export const violation = (sentence: string) => new ProbeFailure('PROTOCOL_VIOLATION', sentence);

const isStrings = (value: Json | undefined): value is readonly string[] => Array.isArray(value) && value.every((each: Json) => typeof each === 'string');

/** Whether a value has at a path the text that was asked for. Numbers, booleans and null compare by their JSON. */
export function fits(value: Json, until: Until | null): boolean {
  if (until === null) return true;
  let at: Json | undefined = value;
  for (const key of until.path) at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  if (at === undefined) return false;
  return (typeof at === 'string' ? at : JSON.stringify(at)) === until.value;
}

/** `error` of a stream's notification. */
export function errorOf({ params }: Notification): { readonly code: number; readonly message: string; readonly data: JsonObject | null } {
  const { error } = params;
  if (!isObject(error)) return { code: 0, message: 'no reason given', data: null };
  return {
    code: typeof error['code'] === 'number' ? error['code'] : 0,
    message: typeof error['message'] === 'string' ? error['message'] : 'no reason given',
    data: isObject(error['data']) ? error['data'] : null,
  };
}

/** Members whose name says that they hold words of a message, and the longest string that an envelope needs. */
const WORDS = new Set(['text', 'body', 'html', 'content', 'snippet', 'preview', 'summary']);
const MAX_ENVELOPE_STRING = 512;

/** An event as it is shown: words of messages stay out unless they were asked for. */
export function shown({ whole }: Occurrence, includeText: boolean): JsonObject {
  return includeText ? whole : { ...whole, data: withoutWords(whole['data']!) };
}

function withoutWords(value: Json): Json {
  if (typeof value === 'string') return value.length > MAX_ENVELOPE_STRING ? leftOut(value) : value;
  if (Array.isArray(value)) return value.map(withoutWords);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, typeof each === 'string' && each !== '' && WORDS.has(key.toLowerCase()) ? leftOut(each) : withoutWords(each)]));
}

const leftOut = (words: string) => `(${words.length} characters, shown with --include-text)`;
