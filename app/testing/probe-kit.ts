import { duplexPair } from 'node:stream';
import { createInterface } from 'node:readline';
import { probeCommand } from '../cli/probe-command.ts';
import { systemClock, type Clock } from '../events/clock.ts';
import { VirtualClock } from './virtual-clock.ts';
import type { Network } from '../probe/http-exchange.ts';
import { outsideOf } from '../probe/outside.ts';
import { pipeOf, type Pipe } from '../probe/pipe-link.ts';

/** One message that came to a scripted server. */
export interface Call {
  readonly id: number | undefined;
  readonly method: string;
  readonly params: Record<string, any>;
  /** A notification with the id of this request as its subscription. */
  notify(method: string, params?: object): void;
  /** Whatever is to be sent, as it is. */
  send(message: object | string): void;
  answer(result: object): void;
  fail(code: number, message: string, data?: object): void;
  /** Ends the connection. */
  close(): void;
}

/** What a server does for each method. Undefined: it says nothing. */
export type Script = Readonly<Record<string, (call: Call) => void>>;

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
export const EVENTS = 'io.modelcontextprotocol/events';

export const discovered = (capabilities: object = { tools: {}, resources: { subscribe: true }, extensions: { [EVENTS]: {} } }) =>
  ({ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities, ttlMs: 0, cacheScope: 'private' });

export const descriptor = (name = 'job.done', delivery: readonly string[] = ['poll', 'push']) =>
  ({ name, description: 'A job is done.', delivery, inputSchema: { type: 'object' }, payloadSchema: { type: 'object' } });

export const occurrence = (number: number, data: object = {}) => ({ eventId: `e${number}`, name: 'job.done', timestamp: '2026-11-03T08:14:22Z', data: { id: `e${number}`, ...data } });

export const batch = (events: readonly object[], cursor: string | null, more: object = {}) => ({ resultType: 'complete', events, cursor, truncated: false, hasMore: false, nextPollMs: 1000, ...more });

/** What a well-behaved server answers; a script replaces parts of it. */
const usual: Script = {
  'server/discover': (call) => call.answer(discovered()),
  'events/list': (call) => call.answer({ resultType: 'complete', events: [descriptor()] }),
  'events/poll': (call) => call.answer(batch([], 'c0')),
  'events/stream': (call) => call.notify('notifications/events/active', { cursor: 'c0', truncated: false }),
};

/** A server in this process that does as its script says. `heard` keeps every message. */
export class ScriptedServer {
  readonly heard: Record<string, any>[] = [];
  readonly #script: Script;

  constructor(script: Script = {}) {
    this.#script = { ...usual, ...script };
  }

  methods(): string[] {
    return this.heard.map((message) => message['method'] as string);
  }

  open(): Promise<Pipe> {
    const [theirs, ours] = duplexPair();
    const lines = createInterface({ input: ours });
    lines.on('line', (line) => {
      const message = JSON.parse(line) as Record<string, any>;
      this.heard.push(message);
      const send = (value: object | string) => {
        if (ours.writable) ours.write(`${typeof value === 'string' ? value : JSON.stringify(value)}\n`);
      };
      const id = message['id'] as number | undefined;
      const call: Call = {
        id, method: message['method'] as string, params: (message['params'] ?? {}) as Record<string, any>, send,
        notify: (method, params = {}) => send({ jsonrpc: '2.0', method, params: { ...params, _meta: { [SUBSCRIPTION]: id } } }),
        answer: (result) => send({ jsonrpc: '2.0', id, result }),
        fail: (code, text, data) => send({ jsonrpc: '2.0', id, error: { code, message: text, ...(data && { data }) } }),
        close: () => ours.end(),
      };
      const does = this.#script[call.method];
      if (does) does(call);
      else if (id !== undefined) call.fail(-32601, 'Method not found');
    });
    return Promise.resolve(pipeOf(theirs));
  }
}

export interface ProbeOptions {
  readonly server?: ScriptedServer;
  readonly env?: Readonly<Record<string, string>>;
  readonly network?: Network;
  readonly tokenFolder?: string;
  readonly clock?: Clock;
  readonly interrupt?: AbortSignal;
  /** It runs in the engine, for the helper. */
  readonly isHelper?: boolean;
}

export interface Probed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Of `--json`. */
  readonly json: Record<string, any>;
  /** Names of the lines, in their order. */
  readonly keys: string[];
}

/** `belfry probe` with these words, whole, in this process. */
export async function probe(words: readonly string[], options: ProbeOptions = {}): Promise<Probed> {
  const { server = new ScriptedServer(), env = {}, network = {}, tokenFolder = '/nonexistent/belfry-probe', clock = systemClock, interrupt, isHelper = false } = options;
  let [stdout, stderr] = ['', ''];
  const code = await probeCommand(words, env, {
    clock, version: '0.0.0', openBelfry: () => server.open(), ...(interrupt && { interrupt }),
    outside: isHelper ? null : outsideOf({ env: process.env, tokenFolder, token: env['MCP_PROBE_AUTH_TOKEN'] ?? null, clientId: env['MCP_PROBE_CLIENT_ID'] ?? null, network }),
    lab: null,
  }, { out: (text) => (stdout += text), err: (text) => (stderr += text) });
  const isJson = words.includes('--json') && stdout.startsWith('{');
  return {
    code, stdout, stderr,
    json: isJson ? (JSON.parse(stdout) as Record<string, any>) : {},
    keys: isJson ? [] : stdout.split('\n').filter((line) => line !== '').map((line) => line.split(' ')[0]!),
  };
}

/** The same, with the time being up once the server has heard `method` so often and what it sent then was taken: however slow the machine is. */
export async function probeUntilLate(words: readonly string[], server: ScriptedServer, method: string, times = 1): Promise<Probed> {
  const clock = new VirtualClock();
  const run = probe(words, { server, clock });
  const turn = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));
  while (server.methods().filter((heard) => heard === method).length < times) await turn(5);
  await turn(100);
  clock.advance(15_000);
  return run;
}
