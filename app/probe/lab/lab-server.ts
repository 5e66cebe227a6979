import { ProtocolError, Server } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ErrorCode } from '../../events/errors.ts';
import { SUBSCRIPTION_ID } from '../link.ts';
import { EVENTS } from '../session.ts';
import type { LabOptions } from './options.ts';
import { REVIEW_URI, type Review } from './review.ts';
import { FAULTS, TICK, type Fault, type Ticks } from './ticks.ts';

const MAX_BATCH = 50;

export interface Lab {
  readonly options: LabOptions;
  readonly review: Review;
  readonly ticks: Ticks;
  readonly version: string;
  /** One line for each message that came or went. */
  evidence(line: string): void;
}

const descriptor = {
  name: TICK, description: 'The clock of the laboratory ticked.', delivery: ['poll', 'push'],
  inputSchema: {
    type: 'object', additionalProperties: false,
    properties: {
      word: { type: 'string', description: 'Carried by each tick of this subscription.', maxLength: 200, examples: ['hello'] },
      fault: { enum: [...FAULTS], description: 'What the stream does after its first tick.' },
    },
  },
  payloadSchema: { type: 'object', required: ['number', 'word'], properties: { number: { type: 'integer' }, word: { type: 'string' } } },
};

const tools = [
  { name: 'get_review_status', description: 'The same as reading the resource.', inputSchema: { type: 'object', properties: {}, additionalProperties: false } },
  {
    name: 'echo_tool', description: 'Gives the message back, or fails on demand.',
    inputSchema: { type: 'object', properties: { message: { type: 'string' }, shouldError: { type: 'boolean' } }, additionalProperties: false },
  },
];

const subscription = z.strictObject({ word: z.string().max(200).default(''), fault: z.enum(FAULTS).optional() });
const echo = z.strictObject({ message: z.string().default(''), shouldError: z.boolean().default(false) });

/** A server of the newer revision for people who write clients: all of it made up, and nothing of this Mac in it. */
export function labServer(lab: Lab): Server {
  const server = new Server({ name: 'belfry-lab', version: lab.version }, {
    capabilities: { tools: {}, resources: { subscribe: true, listChanged: lab.options.listChanged }, extensions: { [EVENTS]: {} } },
  });
  registerCore(server, lab);
  registerEvents(server, lab);
  return server;
}

function registerCore(server: Server, { review }: Lab): void {
  server.setRequestHandler('resources/list', () => ({
    resources: [{ uri: REVIEW_URI, name: 'review', title: 'A review', description: 'Changes after each subscription.', mimeType: 'application/json' }],
  }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', ({ params }) => {
    if (params.uri !== REVIEW_URI) throw new ProtocolError(ErrorCode.invalidParams, 'uri: there is no such resource');
    return { contents: [{ uri: REVIEW_URI, mimeType: 'application/json', text: JSON.stringify(review.read()) }] };
  });
  server.setRequestHandler('tools/list', () => ({ tools: tools as never }));
  server.setRequestHandler('tools/call', ({ params }) => {
    if (params.name === 'get_review_status') return { content: [{ type: 'text', text: JSON.stringify(review.read()) }] };
    if (params.name !== 'echo_tool') throw new ProtocolError(ErrorCode.invalidParams, 'name: there is no such tool');
    const args = echo.safeParse(params.arguments ?? {});
    if (!args.success) return { isError: true, content: [{ type: 'text', text: 'echo_tool takes message (text) and shouldError (true or false).' }] };
    return { isError: args.data.shouldError, content: [{ type: 'text', text: args.data.shouldError ? 'It was asked to fail.' : args.data.message }] };
  });
}

const anything = z.unknown();

function registerEvents(server: Server, lab: Lab): void {
  const { ticks } = lab;
  server.setRequestHandler('events/list', { params: anything }, () => ({ events: [descriptor] }));
  server.setRequestHandler('events/poll', { params: anything }, (params) => {
    const { start, word } = opening(params, ticks);
    const max = (params as Record<string, unknown>)['maxEvents'] ?? MAX_BATCH;
    if (!Number.isSafeInteger(max) || (max as number) < 1) throw invalid('maxEvents: must be an integer of at least 1');
    const events = ticks.between(start.after, Math.min(max as number, MAX_BATCH), word);
    const at = start.after + events.length;
    return { events, cursor: ticks.cursorAt(at), truncated: start.truncated, hasMore: at < ticks.last, nextPollMs: lab.options.delayMs };
  });
  server.setRequestHandler('events/stream', { params: anything }, (params, ctx) => {
    const { start, word, fault } = opening(params, ticks);
    return stream(lab, { start, word, fault, id: ctx.mcpReq.id, signal: ctx.mcpReq.signal, notify: (message) => ctx.mcpReq.notify(message as never) });
  });
  for (const method of ['events/subscribe', 'events/unsubscribe']) {
    server.setRequestHandler(method, { params: anything }, () => {
      throw new ProtocolError(ErrorCode.unsupported, 'Unsupported', { feature: 'deliveryMode', value: 'webhook' });
    });
  }
}

const invalid = (sentence: string) => new ProtocolError(ErrorCode.invalidParams, sentence);

function opening(params: unknown, ticks: Ticks) {
  const { name, arguments: args, cursor } = (params ?? {}) as Record<string, unknown>;
  if (typeof name !== 'string') throw invalid('name: must be a string');
  if (name !== TICK) throw new ProtocolError(ErrorCode.notFound, 'NotFound', { kind: 'event' });
  const parsed = subscription.safeParse(args ?? {});
  if (!parsed.success) throw invalid(`arguments: takes word (text of at most 200 characters) and fault (${FAULTS.join(', ')})`);
  if (cursor !== undefined && cursor !== null && typeof cursor !== 'string') throw invalid('cursor: must be a string or null');
  const start = ticks.startOf(cursor ?? null);
  if (start === null) throw invalid('cursor: is none of this server');
  return { start, word: parsed.data.word, fault: parsed.data.fault ?? null };
}

interface StreamOptions {
  readonly start: { readonly after: number; readonly truncated: boolean };
  readonly word: string;
  readonly fault: Fault | null;
  readonly id: string | number;
  readonly signal: AbortSignal;
  notify(message: object): Promise<void>;
}

/** One subscription until it is withdrawn, or until the fault that it asked for ends it. */
function stream(lab: Lab, { start, word, fault, id, signal, notify }: StreamOptions): Promise<Record<string, unknown>> {
  const { ticks } = lab;
  const result = { _meta: { [SUBSCRIPTION_ID]: id } };
  return new Promise((resolve) => {
    let at = start.after;
    let pending: Fault | null = fault;
    const send = (name: string, params: object) => {
      if (signal.aborted) return;
      lab.evidence(`sent notifications/events/${name} id=${id}`);
      notify({ method: `notifications/events/${name}`, params: { ...params, _meta: { [SUBSCRIPTION_ID]: id } } }).catch(() => end());
    };
    const end = () => {
      for (const stop of stops) stop();
      resolve(result);
    };
    const onTick = () => {
      for (const tick of ticks.between(at, Infinity, word)) {
        at += 1;
        send('event', { ...tick, cursor: ticks.cursorAt(at) });
        if (pending === null) continue;
        const now = pending;
        pending = null;
        if (now === 'error') send('error', { error: { code: ErrorCode.internal, message: 'The laboratory was asked for an error', data: { reason: 'on_demand' } } });
        if (now === 'gap') send('active', { cursor: ticks.cursorAt(at), truncated: true });
        if (now === 'terminated') send('terminated', { error: { code: ErrorCode.forbidden, message: 'Forbidden', data: { reason: 'on_demand' } } });
        if (now === 'terminated' || now === 'close') return end();
      }
    };
    const stops = [ticks.listen(onTick), ticks.heartbeats(() => send('heartbeat', { cursor: ticks.cursorAt(at) }))];
    signal.addEventListener('abort', end, { once: true });
    send('active', { cursor: ticks.cursorAt(at), truncated: start.truncated });
    onTick();
  });
}
