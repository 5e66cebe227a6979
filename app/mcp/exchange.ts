import type { ServerResponse } from 'node:http';
import type { Subscription } from '../events/subscription.ts';
import { Batch } from './batch.ts';
import { emissionOf, Held, isDeclared, type Emission, type Licence, type MethodOf } from './emission.ts';
import { SUBSCRIPTION_ID } from './stream.ts';
import type { Wire } from './wire.ts';

/** Above this much unread output a stream takes no events. */
const HIGH_WATER = 256 * 1024;
/** Heartbeats and notices come on top of it; a peer that lets them pile up to here reads no more. */
const STUCK_BYTES = 1024 * 1024;

const ENDED = { code: -32603, message: 'Belfry ended this request before it was answered', data: { reason: 'ended' } };

/** Without a reason of ours an exception is made for each request that ends. */
const OVER = 'over';

export interface ExchangeOptions {
  readonly response: ServerResponse;
  /** Of the request, in its own JSON type; null for a notification. */
  readonly id: string | number | null;
  /** On every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** A notification was written. */
  onemit(emission: Emission): void;
}

/**
 * The wire of one request over HTTP. Its answer is JSON; once something was told before the answer, it is a stream
 * of server-sent events whose last one is the answer. All that is pushed in one turn of the loop leaves in one write.
 */
export class Exchange implements Wire {
  readonly id: string | number | null;
  /** What streams here, if anything does. */
  subscription: Subscription | null = null;
  /** The peer took what was buffered. */
  ondrain?: () => void;
  /** The peer went, or everything was said. */
  onclose?: () => void;
  readonly #response: ServerResponse;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #onemit: (emission: Emission) => void;
  readonly #abort = new AbortController();
  readonly #out: Batch;
  #streaming = false;
  #ended = false;
  #closed = false;

  constructor(options: ExchangeOptions) {
    this.id = options.id;
    this.#response = options.response;
    this.#headers = options.headers;
    this.#onemit = options.onemit;
    this.#out = new Batch((text) => {
      if (!this.#closed) this.#response.write(text);
    });
    this.#response.on('close', () => this.#close());
    this.#response.on('drain', () => this.ondrain?.());
    this.#response.on('error', () => this.#close());
  }

  /** Aborted when the peer is gone, or its stream was ended. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }
  /** Something was told already: the status line is out. */
  get streaming(): boolean {
    return this.#streaming;
  }
  get writable(): boolean {
    return !this.#ended && this.#out.length + this.#response.writableLength < HIGH_WATER;
  }
  get stuck(): boolean {
    return this.#out.length + this.#response.writableLength > STUCK_BYTES;
  }

  license<L extends Licence>(licence: L): Held<L> | null {
    return isDeclared(licence) ? new Held(licence) : null;
  }

  notify<L extends Licence>(_held: Held<L>, method: MethodOf<L>, line: string): void {
    if (this.#ended) return;
    this.#onemit(emissionOf(method)!);
    this.#push(`data: ${line}\n`);
  }

  /** Keeps what lies between from closing a quiet stream. Never on a stream of events: they have heartbeats (SEP-3415). */
  comment(): void {
    if (!this.#ended) this.#push(': \n\n');
  }

  /** Answers a request that was not streamed, or ends its stream. @param json one JSON-RPC message */
  reply(json: string, status = 200): void {
    if (this.#ended) return;
    if (this.#streaming) {
      this.#push(`data: ${json}\n\n`);
      return this.#end();
    }
    this.#ended = true;
    this.#response.writeHead(status, { ...this.#headers, 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(json)) });
    this.#response.end(json);
  }

  /** Writes what the SDK answers. Resolves when it is written, or nobody takes it any more. */
  async answer(response: Response): Promise<void> {
    if (this.#ended) return;
    const type = response.headers.get('content-type') ?? '';
    if (!type.startsWith('text/event-stream') || response.body === null) {
      const text = await response.text();
      if (text !== '' || this.#streaming) return this.reply(text, response.status);
      this.#ended = true;
      this.#response.writeHead(response.status, { ...this.#headers, 'content-length': '0' });
      this.#response.end();
      return;
    }
    this.#begin();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      if (this.#ended) return;
      this.#out.flush();
      if (!this.#response.write(chunk)) await this.#drained();
    }
    this.#end();
  }

  /** Ends it from our side: a stream with its result, what waits for its answer with an error. Nothing that is still under way for it is written. */
  finish(): void {
    const result = { resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: this.id } };
    if (this.#streaming) this.reply(JSON.stringify({ jsonrpc: '2.0', id: this.id, result }));
    else this.reply(JSON.stringify({ jsonrpc: '2.0', id: this.id, error: ENDED }), 503);
    this.#abort.abort(OVER);
  }

  destroy(): void {
    this.#response.destroy();
    this.#close();
  }

  #begin(): void {
    if (this.#streaming) return;
    this.#streaming = true;
    this.#response.writeHead(200, { ...this.#headers, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
  }

  #push(text: string): void {
    this.#begin();
    this.#out.add(text);
  }

  #end(): void {
    this.#out.flush();
    this.#ended = true;
    this.#response.end();
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#response.off('drain', done).off('close', done);
        resolve();
      };
      this.#response.on('drain', done).on('close', done);
    });
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#ended = true;
    this.#out.clear();
    this.#abort.abort(OVER);
    this.onclose?.();
  }
}
