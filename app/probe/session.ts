import type { Deadline } from './deadline.ts';
import { HttpFailure, ProbeFailure } from './failure.ts';
import { isObject, type Answer, type Exchange, type Json, type JsonObject, type Link, type OnNotification, type Revision } from './link.ts';
import { refusalOf } from './refusal.ts';
import type { Era } from './request.ts';

const MODERN: Revision = { version: '2026-07-28', isModern: true };
const LEGACY: Revision = { version: '2025-11-25', isModern: false };
/** Of the older handshake, which a server may choose from. */
const LEGACY_VERSIONS = new Set(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']);
export const EVENTS = 'io.modelcontextprotocol/events';
/** A program that does not know `server/discover` may stay silent; then it is of the older kind. Or it takes so long to start. */
const SILENCE_MS = 10_000;

export interface SessionOptions {
  readonly era: Era;
  readonly deadline: Deadline;
  readonly client: { readonly name: string; readonly version: string };
  readonly isBelfry: boolean;
}

/** One server after the handshake of one era. */
export class Session {
  readonly link: Link;
  readonly options: SessionOptions;
  readonly version: string;
  readonly isModern: boolean;
  readonly capabilities: JsonObject;
  readonly instructions: string | null;

  constructor(link: Link, options: SessionOptions, isModern: boolean, version: string, handshake: JsonObject) {
    this.link = link;
    this.options = options;
    this.isModern = isModern;
    this.version = version;
    this.capabilities = isObject(handshake['capabilities']) ? handshake['capabilities'] : {};
    this.instructions = typeof handshake['instructions'] === 'string' ? handshake['instructions'] : null;
  }

  get deadline(): Deadline {
    return this.options.deadline;
  }

  /** Member of a declared capability: `has('resources', 'subscribe')`. */
  declares(...path: readonly string[]): boolean {
    let at: Json | undefined = this.capabilities;
    for (const key of path) at = isObject(at) ? at[key] : undefined;
    return at !== undefined && at !== false && at !== null;
  }

  /** Sends a request; notifications of a stream go to `onNotification`. */
  start(method: string, params: JsonObject, onNotification?: OnNotification): Exchange {
    return this.link.request(method, this.isModern ? { ...params, _meta: envelope(this.options) } : params, onNotification);
  }

  /** A request and its answer within the deadline. @throws ProbeFailure SERVER_TIMEOUT */
  async answer(method: string, params: JsonObject): Promise<Answer> {
    const exchange = this.start(method, params);
    try {
      return await this.deadline.within(exchange.answer, () => slow(method));
    } finally {
      exchange.cancel();
    }
  }

  /** The result of a request. @throws ProbeFailure for an error answer too, by its name. */
  async ask(method: string, params: JsonObject, event?: string): Promise<JsonObject> {
    return this.resultOf(await this.answer(method, params), method, event);
  }

  resultOf(answer: Answer, method: string, event?: string): JsonObject {
    if ('error' in answer) throw refusalOf(answer.error, { isBelfry: this.options.isBelfry, method, ...(event !== undefined && { event }) });
    return complete(answer.result, method, this.isModern);
  }
}

export const slow = (method: string) => new ProbeFailure('SERVER_TIMEOUT', `The server did not answer ${method} in time.`);

/** Servers of the newer revisions mark each result; what is not marked counts as complete. */
function complete(result: JsonObject, method: string, isModern: boolean): JsonObject {
  const type = result['resultType'];
  if (!isModern || type === undefined || type === 'complete') return result;
  if (type === 'input_required') throw new ProbeFailure('CALL_FAILED', `The server asks for more input before it answers ${method}, which a probe cannot give.`);
  throw new ProbeFailure('PROTOCOL_VIOLATION', `The result of ${method} has a resultType that the revision does not know.`);
}

const envelope = ({ client }: SessionOptions): JsonObject => ({
  'io.modelcontextprotocol/protocolVersion': MODERN.version,
  'io.modelcontextprotocol/clientCapabilities': { extensions: { [EVENTS]: {} } },
  'io.modelcontextprotocol/clientInfo': client,
});

/** Opens with the newest handshake that the server has and the caller lets it have. @throws ProbeFailure */
export async function openSession(link: Link, options: SessionOptions): Promise<Session> {
  if (options.era === 'legacy') return initialize(link, options);
  link.revision = MODERN;
  const asked = link.request('server/discover', { _meta: envelope(options) });
  const found = await discover(link, asked, options);
  if (found instanceof Session) return found;
  if (options.era === 'modern') throw found;
  try {
    return await initialize(link, options);
  } catch (error) {
    // One that was only slow has answered both by now, and the first of them well.
    const late = await options.deadline.soon(asked.answer.catch(() => null), 0);
    const session = late === null ? null : sessionOf(link, options, late);
    if (!(session instanceof Session)) throw error;
    link.revision = MODERN;
    return session;
  }
}

/** A session, or why there is none of this era. */
async function discover(link: Link, exchange: Exchange, options: SessionOptions): Promise<Session | ProbeFailure> {
  // Over HTTP silence says nothing of the era.
  const isPatient = options.era === 'modern' || link.url !== null;
  let answer: Answer | null;
  try {
    answer = await options.deadline.within(isPatient ? exchange.answer : options.deadline.soon(exchange.answer, SILENCE_MS), () => slow('server/discover'));
  } catch (error) {
    if (error instanceof HttpFailure && error.mayBeOlder) return error;
    throw error;
  }
  return answer === null ? slow('server/discover') : sessionOf(link, options, answer);
}

function sessionOf(link: Link, options: SessionOptions, answer: Answer): Session | ProbeFailure {
  if ('error' in answer) {
    return new ProbeFailure('PROTOCOL_UNSUPPORTED', `The server does not answer server/discover (${answer.error.code}: ${answer.error.message}), so it does not speak ${MODERN.version}.`);
  }
  const result = complete(answer.result, 'server/discover', true);
  const versions = result['supportedVersions'];
  if (!Array.isArray(versions) || !versions.includes(MODERN.version)) {
    return new ProbeFailure('PROTOCOL_UNSUPPORTED', `The server does not speak ${MODERN.version}.`);
  }
  return new Session(link, options, true, MODERN.version, result);
}

async function initialize(link: Link, options: SessionOptions): Promise<Session> {
  link.revision = LEGACY;
  const params = { protocolVersion: LEGACY.version, capabilities: {}, clientInfo: options.client };
  const answer = await options.deadline.within(link.request('initialize', params).answer, () => slow('initialize'));
  if ('error' in answer) {
    throw new ProbeFailure('PROTOCOL_UNSUPPORTED', `The server refused the older handshake with ${answer.error.code}: ${answer.error.message}`);
  }
  const version = answer.result['protocolVersion'];
  if (typeof version !== 'string' || !LEGACY_VERSIONS.has(version)) {
    throw new ProbeFailure('PROTOCOL_UNSUPPORTED', 'The server chose a revision that this probe does not speak.');
  }
  link.revision = { version, isModern: false };
  await link.notify('notifications/initialized', {});
  return new Session(link, options, false, version, answer.result);
}
