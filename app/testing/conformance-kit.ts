import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { findCanary } from './canary.ts';
import { expect } from 'vitest';
import { subscriptionOf } from './frame-log.ts';
import type { HttpClient } from './http-client.ts';
import type { RawClient } from './raw-client.ts';
import { NUMBER, startWorld, type World, type WorldOptions } from './world.ts';

/** Numbers of the extension (events-extension 8) and of JSON-RPC. Not taken from the code under test. */
export const CODE = {
  parse: -32700, invalidRequest: -32600, methodNotFound: -32601, invalidParams: -32602, internal: -32603,
  notFound: -32023, forbidden: -32024, exhausted: -32025, unsupported: -32026,
} as const;
export const MAIL = 'mail.received';
export const MESSAGES = 'messages.received';
export const mailArgs = { domains: ['example.org'] };
export const messagesArgs = { from: [NUMBER] };
export const ADA = { address: 'ada@example.org', name: 'Ada' };
export const OTHER = { address: 'bob@other.example', name: 'Bob' };
export const EXTENSION = 'io.modelcontextprotocol/events';
export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

/** A client of either way in, as far as the rows need one. */
export type SuiteClient = RawClient | HttpClient;

/** How the rows reach the server. */
export interface Way {
  readonly name: 'socket' | 'http';
  world(options?: WorldOptions): Promise<World>;
  /** A client with a quota of its own. */
  client(world: World): SuiteClient;
  /** Withdraws a stream. Over HTTP the peer hangs up, which is not in line with its other requests: it is waited for. */
  cancel(world: World, client: SuiteClient, id: string | number): Promise<void>;
}

export const socketWay: Way = {
  name: 'socket',
  world: startWorld,
  client: (world) => world.client(),
  async cancel(_world, client, requestId) {
    (client as RawClient).notify('notifications/cancelled', { requestId, reason: 'user closed' });
  },
};

let tokens = 0;
export const httpWay: Way = {
  name: 'http',
  world: (options = {}) => startWorld({ ...options, http: true }),
  client: (world) => world.httpClient(`test-way-${(tokens += 1)}`),
  async cancel(world, client, id) {
    const open = () => world.engine.http.clients.reduce((sum, { streams }) => sum + streams.size, 0);
    const before = open();
    (client as HttpClient).streams.find((stream) => stream.id === id && !stream.ended)!.close();
    await expect.poll(open, { timeout: 20_000 }).toBe(before - 1);
  },
};

/** A mail that rings for `mailArgs`; gives its rowid. No file is written. */
export const ring = async (world: World, subject = 'Rota', more: object = {}): Promise<number> =>
  (await world.writer.mail.arrive({ from: ADA, subject, file: false, ...more })).result;
/** A message that rings for `messagesArgs`. */
export const text = async (world: World, more: object = {}): Promise<number> => (await world.writer.messages.arrive({ from: NUMBER, ...more })).result;

export const poll = async (client: SuiteClient, name: string, args: object, params: object = {}): Promise<Record<string, any>> => {
  const answer = await client.request('events/poll', { name, arguments: args, ...params });
  if (!answer['result']) throw new Error(`A result was expected: ${JSON.stringify(answer)}`);
  return answer['result'] as Record<string, any>;
};
/** Where "now" is. */
export const bootstrap = async (client: SuiteClient, name = MAIL, args: object = mailArgs): Promise<string> => (await poll(client, name, args))['cursor'] as string;
export const subjects = (events: readonly Record<string, any>[]): string[] => events.map((event) => event['data']['subject'] as string);
export const quiet = (ms = 400): Promise<void> => new Promise((done) => void setTimeout(done, ms));

/** Names every error that a client had as an answer. */
export const errorOf = (answer: Record<string, any>): { code: number; message: string; data?: any } => {
  if (!answer['error']) throw new Error(`An error was expected: ${JSON.stringify(answer)}`);
  return answer['error'] as { code: number; message: string };
};

const cursor = { type: ['string', 'null'] };
const instant = { type: 'string', pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$` };
const meta = { type: 'object', required: [SUBSCRIPTION_ID], properties: { [SUBSCRIPTION_ID]: { type: ['string', 'integer'] } } };
const anError = { type: 'object', required: ['code', 'message'], properties: { code: { type: 'integer' }, message: { type: 'string' }, data: {} }, additionalProperties: false };
const occurrence = {
  type: 'object',
  required: ['eventId', 'name', 'timestamp', 'data'],
  properties: { eventId: { type: 'string', minLength: 1 }, name: { enum: [MAIL, MESSAGES] }, timestamp: instant, data: { type: 'object' }, cursor, _meta: { type: 'object' } },
  additionalProperties: false,
};
const params = (required: string[], properties: object) => ({ type: 'object', required: [...required, '_meta'], properties: { ...properties, _meta: meta }, additionalProperties: false });

/** The wire of events-extension 3 to 8, written from its tables. */
const wire: Record<string, object> = {
  list: {
    type: 'object', required: ['resultType', 'events'],
    properties: {
      resultType: { const: 'complete' }, nextCursor: { type: 'string' }, _meta: { type: 'object' },
      events: {
        type: 'array',
        items: {
          type: 'object', required: ['name', 'description', 'delivery', 'inputSchema', 'payloadSchema'], additionalProperties: false,
          properties: {
            name: { type: 'string', minLength: 1 }, description: { type: 'string', minLength: 1 },
            delivery: { type: 'array', items: { enum: ['poll', 'push', 'webhook'] }, minItems: 1, uniqueItems: true },
            inputSchema: { type: 'object' }, payloadSchema: { type: 'object' }, _meta: { type: 'object' },
          },
        },
      },
    },
    additionalProperties: false,
  },
  poll: {
    type: 'object', required: ['resultType', 'events', 'truncated', 'hasMore', 'nextPollMs'],
    properties: { resultType: { const: 'complete' }, events: { type: 'array', items: occurrence }, cursor, truncated: { type: 'boolean' }, hasMore: { type: 'boolean' }, nextPollMs: { type: 'number', minimum: 0 }, _meta: { type: 'object' } },
    additionalProperties: false,
  },
  end: { type: 'object', required: ['resultType', '_meta'], properties: { resultType: { const: 'complete' }, _meta: meta }, additionalProperties: false },
  occurrence,
  active: params(['truncated'], { cursor, truncated: { type: 'boolean' } }),
  event: { ...occurrence, properties: { ...occurrence.properties, _meta: meta }, required: [...occurrence.required, '_meta'] },
  heartbeat: params([], { cursor }),
  error: params(['error'], { error: anError }),
  terminated: params(['error'], { error: anError }),
  failure: { type: 'object', required: ['jsonrpc', 'id', 'error'], properties: { jsonrpc: { const: '2.0' }, id: { type: ['string', 'integer', 'null'] }, error: anError }, additionalProperties: false },
  success: { type: 'object', required: ['jsonrpc', 'id', 'result'], properties: { jsonrpc: { const: '2.0' }, id: { type: ['string', 'integer'] }, result: { type: 'object' } }, additionalProperties: false },
};

/** JSON Schema 2020-12, all formats that the catalogue may name checked here. */
export function schemaChecker(): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, strict: false });
  ajv.addFormat('date-time', new RegExp(instant.pattern));
  return ajv;
}
const ajv = schemaChecker();
const wireChecks = new Map<string, ValidateFunction>(Object.entries(wire).map(([name, schema]) => [name, ajv.compile(schema)]));

export function faultsOf(shape: string, value: unknown): string[] {
  const check = wireChecks.get(shape);
  if (!check) throw new Error(`No shape ${shape}`);
  return check(value) ? [] : (check.errors ?? []).map((error) => `${shape}${error.instancePath} ${error.message ?? ''}`);
}

/**
 * Everything a client ever received: one JSON-RPC message a line, valid against the extension's shapes, each `data`
 * valid against its published `payloadSchema`, no canary. Gives the faults.
 */
export function trafficFaults(client: SuiteClient, descriptors: readonly Record<string, any>[]): string[] {
  const payloads = new Map(descriptors.map((descriptor) => [descriptor['name'] as string, schemaChecker().compile(descriptor['payloadSchema'] as object)]));
  const faults: string[] = [];
  const data = (event: Record<string, any>): void => {
    const check = payloads.get(event['name'] as string);
    if (!check?.(event['data'])) faults.push(`data of ${String(event['eventId'])}: ${JSON.stringify(check?.errors ?? 'unknown type')}`);
  };
  for (const { text: line, message } of client.frames) {
    if (findCanary(line) !== null) faults.push(`a canary in ${line.slice(0, 200)}`);
    if ('method' in message) {
      const kind = /^notifications\/events\/(active|event|heartbeat|error|terminated)$/.exec(message['method'] as string)?.[1];
      if (kind === undefined) {
        if (message['method'] !== 'notifications/subscriptions/acknowledged') faults.push(`a notification ${String(message['method'])}`);
        continue;
      }
      faults.push(...faultsOf(kind, message['params']));
      if ('id' in message || message['jsonrpc'] !== '2.0' || subscriptionOf(message) === undefined) faults.push(`a frame of wrong form: ${line.slice(0, 200)}`);
      if (kind === 'event') data(message['params'] as Record<string, any>);
      continue;
    }
    faults.push(...faultsOf('error' in message ? 'failure' : 'success', message));
    const result = message['result'] as Record<string, any> | undefined;
    if (result && 'nextPollMs' in result) {
      faults.push(...faultsOf('poll', result));
      for (const event of (result['events'] ?? []) as Record<string, any>[]) data(event);
    } else if (result && 'events' in result) faults.push(...faultsOf('list', result));
    else if (result?.['_meta']?.[SUBSCRIPTION_ID] !== undefined) faults.push(...faultsOf('end', result));
  }
  return faults;
}

export const descriptorsOf = async (client: SuiteClient): Promise<Record<string, any>[]> => (await client.request('events/list'))['result']['events'] as Record<string, any>[];
