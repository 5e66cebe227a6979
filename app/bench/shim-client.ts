import { spawn, type ChildProcess } from 'node:child_process';
import { nativeFile } from '../engine/host.ts';
import { modernMeta } from '../testing/raw-client.ts';

/** One notification of an arrival as the client got it. */
export interface Heard {
  /** Monotonic ns at which its last byte was read. */
  readonly at: bigint;
  readonly stream: number;
  readonly rowid: number;
  readonly eventId: string;
}

interface Line {
  /** Monotonic ns at which it was read. */
  readonly at: bigint;
  readonly text: string;
}

const ID = /"id":(\d+)[,}]/;
const TAIL = 48;
const EVENT = Buffer.from('{"jsonrpc":"2.0","method":"notifications/events/event"');
const ACTIVE = Buffer.from('{"jsonrpc":"2.0","method":"notifications/events/active"');

/** A client behind the shim that reads as little of each line as it can, so that it is not what is measured. */
export class ShimClient {
  readonly process: ChildProcess;
  readonly heard: Heard[] = [];
  /** Lines that are neither an event, an `active` nor a heartbeat: answers and complaints. */
  readonly others: Line[] = [];
  readonly #answers = new Map<number, Line>();
  active = 0;
  #rest: Buffer = Buffer.alloc(0);
  #wake: (() => void) | null = null;

  constructor(socketPath: string, command: readonly [string, ...string[]] = [nativeFile('belfry-mcp'), '--client=bench', '--socket']) {
    const [file, ...args] = command;
    this.process = spawn(file, [...args, socketPath], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.process.stdin!.on('error', () => undefined);
    this.process.stdout!.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  send(method: string, params: object, id: number): void {
    this.process.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: { _meta: modernMeta, ...params } })}\n`);
  }

  /** A message as it is: for the older revisions, and notifications. */
  sendAs(message: object): void {
    this.process.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /** The answer to `id`, with the time at which it was read. */
  async answer(id: number, ms = 60_000): Promise<Line> {
    if (!(await this.until(() => this.#answers.has(id), ms))) throw new Error(`No answer to ${id}`);
    return this.#answers.get(id)!;
  }

  /** Waits until `done` holds; looks again after each chunk. Gives false after `ms`. */
  async until(done: () => boolean, ms = 10_000): Promise<boolean> {
    const end = performance.now() + ms;
    while (!done()) {
      const left = end - performance.now();
      if (left <= 0) return false;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return true;
  }

  #read(chunk: Buffer): void {
    const at = process.hrtime.bigint();
    const all = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let from = 0;
    for (let end = all.indexOf(10); end !== -1; end = all.indexOf(10, from)) {
      this.#line(at, all.subarray(from, end));
      from = end + 1;
    }
    this.#rest = all.subarray(from);
    this.#wake?.();
  }

  #line(at: bigint, line: Buffer): void {
    if (startsWith(line, EVENT)) {
      const text = line.toString('latin1', EVENT.length);
      const cursor = text.slice(text.lastIndexOf('"cursor":"') + 10);
      this.heard.push({ at, stream: Number(/subscriptionId":(\d+)/.exec(cursor)?.[1]), rowid: Number(cursor.split('.', 3)[2]), eventId: /"eventId":"([^"]+)"/.exec(text)?.[1] ?? '' });
    } else if (startsWith(line, ACTIVE)) this.active += 1;
    else if (!line.includes('notifications/events/heartbeat')) this.#other({ at, text: line.toString() });
  }

  /** What stands in its head or its tail is its own id: looking through all of a long answer would be measured with the next one. */
  #other(line: Line): void {
    this.others.push(line);
    const [, id] = ID.exec(line.text.slice(-TAIL)) ?? ID.exec(line.text.slice(0, TAIL)) ?? [];
    if (id !== undefined) this.#answers.set(Number(id), line);
  }
}

const startsWith = (line: Buffer, start: Buffer): boolean => line.length > start.length && line.compare(start, 0, start.length, 0, start.length) === 0;
