import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { nativeFile } from '../engine/host.ts';
import { FrameLog, subscriptionOf, type Frame } from './frame-log.ts';
import { licenceFault } from './licence-audit.ts';

export const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A client that speaks lines to the real shim, so that a test sees the very bytes. */
export class RawClient extends FrameLog {
  readonly process: ChildProcess;
  stderr = '';
  /** `initialize` was answered. */
  #legacy = false;
  /** Capabilities as `initialize` and `server/discover` gave them. */
  readonly handshakes: Record<string, any>[] = [];
  /** Notifications that this connection was never told it would get. Anything here also fails the test run, unless `lenient`. */
  readonly licenceFaults: string[] = [];
  readonly #lenient: boolean;
  #rest: Buffer = Buffer.alloc(0);
  #nextId = 1000;

  constructor(socketPath: string, options: { args?: readonly string[]; shim?: string; lenient?: boolean } = {}) {
    super();
    this.#lenient = options.lenient === true;
    this.process = spawn(options.shim ?? nativeFile('belfry-mcp'), ['--client=test', '--socket', socketPath, ...(options.args ?? [])], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.process.stdout!.on('data', (chunk: Buffer) => this.#read(chunk));
    this.process.stderr!.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.process.stdin!.on('error', () => undefined);
    this.process.on('exit', () => this.over(() => `The shim ended first. ${this.stderr}`));
  }

  /** Text as it is, without a newline added. */
  write(text: string): void {
    this.process.stdin!.write(text);
  }
  send(message: object): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
  notify(method: string, params: object = {}): void {
    this.send({ method, params });
  }

  /** A `2026-07-28` request; resolves with the whole answer, result or error. */
  async request(method: string, params: object = {}, id: string | number = this.#nextId++): Promise<Record<string, any>> {
    const from = this.frames.length;
    this.send({ id, method, params: { _meta: modernMeta, ...params } });
    return (await this.until((frame) => frame.message['id'] === id && !('method' in frame.message), from)).message;
  }

  /** A request of the older revisions: without `_meta`. */
  async ask(method: string, params: object = {}, id: string | number = this.#nextId++): Promise<Record<string, any>> {
    const from = this.frames.length;
    this.send({ id, method, params });
    return (await this.until((frame) => frame.message['id'] === id && !('method' in frame.message), from, 60_000)).message;
  }

  /** Opens by the older handshake; gives the answer to `initialize`. */
  async initialize(protocolVersion = '2025-11-25', name = 'test'): Promise<Record<string, any>> {
    const { result } = await this.ask('initialize', { protocolVersion, capabilities: {}, clientInfo: { name, version: '1' } });
    this.#legacy = true;
    this.notify('notifications/initialized');
    return result as Record<string, any>;
  }

  /** Calls a tool in the era of this connection; gives its result. */
  async tool(name: string, args: object = {}, more: object = {}): Promise<Record<string, any>> {
    const params = { name, arguments: args, ...more };
    const answer = this.#legacy ? await this.ask('tools/call', params) : await this.request('tools/call', params);
    if (!answer['result']) throw new Error(`A result was expected: ${JSON.stringify(answer)}`);
    return answer['result'] as Record<string, any>;
  }

  /** Opens `events/stream`; resolves with `active` or with the error answer. */
  async stream(name: string, args: object, params: object = {}, id: string | number = this.#nextId++): Promise<Record<string, any>> {
    const from = this.frames.length;
    this.send({ id, method: 'events/stream', params: { _meta: modernMeta, name, arguments: args, ...params } });
    return (await this.until(({ message }) => message['id'] === id || subscriptionOf(message) === id, from)).message;
  }

  /** Closes stdin; resolves with the exit code. */
  async end(): Promise<number | null> {
    if (this.process.exitCode !== null) return this.process.exitCode;
    const exit = once(this.process, 'exit');
    this.process.stdin!.end();
    const [code] = (await exit) as [number | null];
    return code;
  }

  #read(chunk: Buffer): void {
    const at = process.hrtime.bigint();
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let end = this.#rest.indexOf(10);
    while (end !== -1) {
      const text = this.#rest.toString('utf8', 0, end);
      const message = JSON.parse(text) as Record<string, any>;
      this.frames.push({ at, text, message });
      this.#audit(message);
      this.#rest = this.#rest.subarray(end + 1);
      end = this.#rest.indexOf(10);
    }
    this.wake();
  }

  #audit(message: Record<string, any>): void {
    const capabilities = message['result']?.capabilities as Record<string, any> | undefined;
    if (capabilities !== undefined) {
      this.handshakes.push(capabilities);
      this.#legacy ||= message['result'].protocolVersion !== undefined;
    }
    if (typeof message['method'] !== 'string') return;
    const fault = licenceFault(message['method'], this.#legacy ? 'legacy' : 'modern', this.handshakes);
    if (fault === null) return;
    this.licenceFaults.push(fault);
    if (!this.#lenient) throw new Error(fault);
  }
}

export { subscriptionOf, type Frame };
