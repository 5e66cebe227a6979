import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';

/** A stand-in engine: says ok to the first line and hands over the socket. */
export class StandIn {
  readonly path: string;
  readonly hellos: Record<string, unknown>[] = [];
  readonly lines: string[] = [];
  socket: Socket | null = null;
  onLine: (line: string, socket: Socket) => void = () => undefined;
  greeting = 'ok\n';
  #server: Server | null = null;
  readonly #live = new Set<Socket>();
  readonly #waiters = new Set<() => void>();

  constructor(path: string) {
    this.path = path;
  }

  async listen(): Promise<this> {
    this.#server = createServer((socket) => {
      this.socket = socket;
      this.#live.add(socket);
      socket.on('close', () => this.#live.delete(socket));
      socket.on('error', () => undefined);
      let rest = '';
      let greeted = false;
      socket.setEncoding('utf8');
      socket.on('data', (chunk: string) => {
        const parts = (rest + chunk).split('\n');
        rest = parts.pop()!;
        for (const line of parts) {
          if (greeted) {
            this.lines.push(line);
            this.onLine(line, socket);
          } else {
            greeted = true;
            this.hellos.push(JSON.parse(line) as Record<string, unknown>);
            socket.write(this.greeting);
          }
        }
        for (const wake of this.#waiters) wake();
      });
    });
    this.#server.listen(this.path);
    await once(this.#server, 'listening');
    return this;
  }

  /** As a kill does: connections drop, the path is free again. */
  async die(): Promise<void> {
    for (const socket of this.#live) socket.destroy();
    await new Promise((resolve) => { this.#server?.close(resolve); });
  }

  async until(fits: () => boolean): Promise<void> {
    if (fits()) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`The engine got only ${JSON.stringify(this.lines)}`)), 60_000);
      const look = () => {
        if (!fits()) return;
        clearTimeout(timer);
        this.#waiters.delete(look);
        resolve();
      };
      this.#waiters.add(look);
    });
  }
}

/** A real shim whose stdio the test holds. */
export class Shim {
  readonly process: ChildProcess;
  readonly lines: string[] = [];
  stderr = '';
  out = '';
  readonly #waiters = new Set<() => void>();
  readonly #closed: Promise<[number | null]>;

  constructor(shim: string, args: readonly string[]) {
    this.process = spawn(shim, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      // A process that ends frees nothing; what it reads and writes is checked all the same.
      env: { ...process.env, ASAN_OPTIONS: 'detect_leaks=0' },
    });
    this.#closed = once(this.process, 'close') as Promise<[number | null]>;
    this.process.stdin!.on('error', () => undefined);
    let rest = '';
    this.process.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      this.out += chunk;
      const parts = (rest + chunk).split('\n');
      rest = parts.pop()!;
      this.lines.push(...parts);
      for (const wake of this.#waiters) wake();
    });
    this.process.stderr!.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
  }
  write(text: string): void {
    this.process.stdin!.write(text);
  }
  async line(index: number): Promise<string> {
    if (this.lines.length <= index) {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`The client got only ${JSON.stringify(this.lines)} ${this.stderr}`)), 60_000);
        const look = () => {
          if (this.lines.length <= index) return;
          clearTimeout(timer);
          this.#waiters.delete(look);
          resolve();
        };
        this.#waiters.add(look);
      });
    }
    return this.lines[index]!;
  }
  /** How it ended, once all that it said was read. */
  async code(): Promise<number | null> {
    return (await this.#closed)[0];
  }
}

/** Answers each request with its method. */
export const answerAll = (line: string, socket: Socket) => {
  const { id, method } = JSON.parse(line) as { id?: unknown; method: string };
  if (id !== undefined) socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: { method } })}\n`);
};

/** A line of `/proc/<pid>/status`, in KiB. */
export function statusOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
}

/** Processor time used so far, ms. */
export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
