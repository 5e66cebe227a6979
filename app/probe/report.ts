import { cleanText } from '../events/text.ts';
import { jsonEscape, withoutHidden } from '../text/hidden.ts';
import { failures, type Exit, type ProbeFailure } from './failure.ts';
import type { Json, JsonObject } from './link.ts';
import type { Action } from './request.ts';

type Text = string | null;
type Maybe = boolean | null;
const text = null as Text;
const maybe = null as Maybe;
const object = null as JsonObject | null;
const array = null as readonly Json[] | null;
const none: readonly JsonObject[] = [];
const number = null as number | null;

/** How every report starts. */
const opening = { era: text, capabilities: object };
/** How every report ends, after what is its own. */
const closing = { recommendedNextAction: text, errorCode: text };

/**
 * What each action reports, in the order of its lines. Every member is there on success and on failure, in lines
 * and in JSON, so that a script never asks whether one exists. Additive only.
 */
const blanks = {
  list: { ...opening, serverUrl: text, eventCount: number, ...closing, events: none, phaseSummary: text },
  poll: {
    ...opening, eventFound: maybe, eventName: text, argumentsHonored: maybe, initialCursor: text, route: text, eventReceived: false, eventCount: 0, truncated: maybe,
    hasMore: maybe, nextPollMs: number, ...closing, events: none, finalCursor: text, serverUrl: text, phaseSummary: text,
  },
  wait: {
    ...opening, eventFound: maybe, eventName: text, argumentsHonored: maybe, initialCursor: text, route: text, streamActive: false, eventReceived: false, eventCount: 0,
    truncated: maybe, closeReason: text, ...closing, earlierEvents: none, event: object, finalCursor: text, serverUrl: text, phaseSummary: text,
  },
  watch: {
    ...opening, resourceFound: maybe, resourceUri: text, serverUrl: text, initialText: text, route: text, listenAcknowledged: false, honoredUris: [] as readonly string[],
    notificationReceived: false, notificationCount: 0, closeReason: text, ...closing, notifications: none, finalText: text, phaseSummary: text,
  },
  call: { ...opening, serverUrl: text, tool: text, isError: maybe, ...closing, content: array, structuredContent: null as Json, phaseSummary: text },
  channel: {
    ...opening, serverUrl: text, channelDeclared: maybe, hasInstructions: maybe, route: text, notificationReceived: false, notificationCount: 0, closeReason: text, ...closing,
    notifications: none, phaseSummary: text,
  },
  login: { serverUrl: text, loggedIn: false, ...closing, phaseSummary: text },
  logout: { serverUrl: text, loggedOut: false, ...closing, phaseSummary: text },
} as const;

export type Command = Action['do'];
type Loose<T> = { -readonly [K in keyof T]: T[K] extends boolean ? boolean : T[K] extends number ? number : T[K] };
/** What is known so far; an action fills it in as it goes, so that a failure shows how far it came. */
export type Draft<C extends Command> = Loose<(typeof blanks)[C]>;

export const blank = <C extends Command>(command: C): Draft<C> => ({ ...blanks[command] }) as Draft<C>;

/** Members that have no line of their own. */
const IN_JSON_ONLY: Readonly<Partial<Record<Command, readonly string[]>>> = { wait: ['serverUrl'], poll: ['serverUrl'] };
/** A line for each element, under the singular. */
const ONE_BY_ONE: Readonly<Record<string, string>> = { events: 'event', earlierEvents: 'event', notifications: 'notification' };
/** Words of a server, possibly several lines of them: always shown as a JSON string. */
const QUOTED = new Set(['initialText', 'finalText']);
/** Shown only where there is one. */
const IF_ANY = new Set(['recommendedNextAction']);
const MAX_WORD = 4096;

export interface Finished {
  readonly exit: Exit;
  readonly stdout: string;
}

/** Closes a report: the failure's name and next step, the summary, and the text for stdout. */
export function finish<C extends Command>(command: C, draft: Draft<C>, failure: ProbeFailure | null, json: boolean): Finished {
  const members = draft as Record<string, Json>;
  if (failure !== null) {
    members['errorCode'] = failure.code;
    members['recommendedNextAction'] = failure.hint ?? members['recommendedNextAction'] ?? null;
  }
  members['phaseSummary'] = summary(members);
  const exit = failure === null ? 0 : failures[failure.code].exit;
  if (!json) return { exit, stdout: linesOf(command, members) };
  const error = failure === null ? null : { code: failure.code, message: cleanText(failure.message, MAX_WORD) };
  return { exit, stdout: `${safeJson({ version: 1, ok: failure === null, command, error, ...members })}\n` };
}

const SUMMARY = ['route', 'serverUrl', 'eventName', 'resourceUri', 'tool', 'eventCount', 'notificationCount', 'closeReason', 'errorCode'];

function summary(members: Record<string, Json>): string {
  return SUMMARY.filter((key) => members[key] !== undefined).map((key) => `${kebab(key)}=${wordOf(members[key]!).replaceAll(' ', '%20')}`).join(' ');
}

function linesOf(command: Command, members: Record<string, Json>): string {
  const lines: string[] = [];
  const hidden = IN_JSON_ONLY[command] ?? [];
  for (const [key, value] of Object.entries(members)) {
    if (hidden.includes(key) || (IF_ANY.has(key) && value === null)) continue;
    if (Object.hasOwn(ONE_BY_ONE, key)) for (const each of value as readonly Json[]) lines.push(`${ONE_BY_ONE[key]} ${safeJson(each)}`);
    else lines.push(`${kebab(key)} ${QUOTED.has(key) && value !== null ? safeJson(value) : wordOf(value)}`);
  }
  return `${lines.join('\n')}\n`;
}

const wordOf = (value: Json): string => (typeof value === 'string' ? cleanText(value, MAX_WORD) : safeJson(value));
const kebab = (key: string): string => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The same value to whoever parses it, and inert to a terminal: what is hidden, or turns the direction, is escaped as JSON does. */
export const safeJson = (value: Json): string => withoutHidden(JSON.stringify(value), jsonEscape);

/** The report of a command line that could not be understood: the shape of its action where that much is known. */
export function usage(action: string | undefined, failure: ProbeFailure): string {
  const command = action !== undefined && Object.hasOwn(blanks, action) ? (action as Command) : 'list';
  const draft = blank(command);
  if ('route' in draft) draft.route = 'failed';
  return finish(command, draft, failure, true).stdout;
}
