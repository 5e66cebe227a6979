import type { Duplex, Readable, Writable } from 'node:stream';
import { ProbeFailure } from './failure.ts';
import { readMessage, replyTo, subscriptionOf, type Answer, type Exchange, type JsonObject, type Link, type Notification, type OnNotification, type Revision } from './link.ts';

/** A server that sends longer lines is not worth the memory. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;

const MAX_EARLY = 100;

export interface Pipe {
  readonly input: Readable;
  readonly output: Writable;
  /** Lets go of what is behind it. */
  close(): Promise<void>;
  /** Why it ended, where more is known than that it did. */
  why?(): ProbeFailure | null;
}

/** What a peer that does not read gets to take the last lines. */
const FLUSH_MS = 500;

/** Both ways over one stream. */
export const pipeOf = (stream: Duplex): Pipe => ({
  input: stream,
  output: stream,
  close: async () => {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, FLUSH_MS);
      stream.once('close', resolve).end(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    stream.destroy();
  },
});

interface Open {
  readonly take: (answer: Answer) => void;
  readonly fail: (failure: ProbeFailure) => void;
  readonly onNotification: OnNotification | undefined;
}

/** Whole lines of JSON-RPC both ways: the engine's socket, or a program's stdio. */
export class PipeLink implements Link {
  readonly url: string | null = null;
  revision: Revision = { version: '', isModern: true };
  readonly gone: Promise<never>;
  readonly #pipe: Pipe;
  readonly #open = new Map<number, Open>();
  #listener: ((notification: Notification) => void) | null = null;
  /** What came before anybody listened: a server may push with its first answer. */
  #early: Notification[] = [];
  #lost: (failure: ProbeFailure) => void = () => undefined;
  #failure: ProbeFailure | null = null;
  #nextId = 1;
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(pipe: Pipe) {
    this.#pipe = pipe;
    this.gone = new Promise((_, reject) => {
      this.#lost = reject;
    });
    this.gone.catch(() => undefined);
    pipe.input.on('data', (chunk: Buffer) => this.#data(chunk));
    pipe.input.resume();
    for (const event of ['end', 'close', 'error']) pipe.input.on(event, () => this.#end());
    for (const event of ['close', 'error']) pipe.output.on(event, () => this.#end());
  }

  get onnotification(): ((notification: Notification) => void) | null {
    return this.#listener;
  }
  set onnotification(listener: ((notification: Notification) => void) | null) {
    this.#listener = listener;
    if (listener !== null) for (const notification of this.#early.splice(0)) listener(notification);
  }

  request(method: string, params: JsonObject, onNotification?: OnNotification): Exchange {
    const id = this.#nextId++;
    const answer = new Promise<Answer>((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      this.#open.set(id, { take: resolve, fail: reject, onNotification });
      this.#write({ jsonrpc: '2.0', id, method, params });
    });
    answer.catch(() => undefined);
    return {
      id,
      answer,
      cancel: () => {
        if (this.#open.delete(id)) this.#write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
      },
    };
  }

  notify(method: string, params: JsonObject): Promise<void> {
    this.#write({ jsonrpc: '2.0', method, params });
    return Promise.resolve();
  }

  listen(): Promise<boolean> {
    return Promise.resolve(true);
  }

  close(): Promise<void> {
    return this.#pipe.close();
  }

  #write(message: JsonObject): void {
    if (this.#pipe.output.writable) this.#pipe.output.write(`${JSON.stringify(message)}\n`);
  }

  #data(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      this.#chunks.push(chunk.subarray(from, at));
      const line = Buffer.concat(this.#chunks).toString();
      this.#chunks = [];
      this.#length = 0;
      from = at + 1;
      if (line.trim() !== '') this.#line(line);
      if (this.#failure) return;
    }
    this.#chunks.push(chunk.subarray(from));
    this.#length += chunk.length - from;
    if (this.#length > MAX_LINE_BYTES) this.#fail(new ProbeFailure('BAD_RESPONSE', `The server sent a line of more than ${MAX_LINE_BYTES} bytes.`));
  }

  #line(line: string): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return this.#fail(new ProbeFailure('BAD_RESPONSE', 'The server wrote a line to stdout that is not JSON.'));
    }
    const message = readMessage(value);
    if (message === null) return this.#fail(new ProbeFailure('BAD_RESPONSE', 'The server wrote a line that is no JSON-RPC message.'));
    if ('answer' in message) return this.#answered(message.id, message.answer);
    if ('request' in message) return this.#write(replyTo(message.request, message.method));
    const { notification } = message;
    const subscription = subscriptionOf(notification);
    const open = typeof subscription === 'number' ? this.#open.get(subscription) : undefined;
    if (open?.onNotification) open.onNotification(notification, subscription as number);
    else if (this.#listener) this.#listener(notification);
    else if (this.#early.length < MAX_EARLY) this.#early.push(notification);
  }

  #answered(id: unknown, answer: Answer): void {
    // An error without an id is about a message that could not be read at all: about one of ours.
    if (id === null && 'error' in answer) {
      for (const open of this.#open.values()) open.take(answer);
      this.#open.clear();
      return;
    }
    const open = typeof id === 'number' ? this.#open.get(id) : undefined;
    if (!open) return;
    this.#open.delete(id as number);
    open.take(answer);
  }

  #end(): void {
    this.#fail(this.#pipe.why?.() ?? new ProbeFailure('CONNECTION_CLOSED', 'The server closed the connection.'));
  }

  #fail(failure: ProbeFailure): void {
    if (this.#failure) return;
    this.#failure = failure;
    for (const open of this.#open.values()) open.fail(failure);
    this.#open.clear();
    this.#lost(failure);
  }
}
