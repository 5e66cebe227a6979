import type { Duplex } from 'node:stream';
import { isJSONRPCRequest, type JSONRPCMessage } from '@modelcontextprotocol/server';
import { cleanText } from '../events/text.ts';
import { Batch } from './batch.ts';
import { emissionOf, Held, isDeclared, UnlicensedError, type Emission, type Licence, type MethodOf } from './emission.ts';
import type { Wire } from './wire.ts';

/** Client to engine: a longer line is answered -32600 and skipped (architecture 6). */
export const MAX_LINE_BYTES = 1024 * 1024;
/** Of an error: the SDK repeats in some what it was sent. */
export const MAX_SENTENCE = 1000;
/** Above this much unread output a connection takes no events; above the second, no requests either. */
const EVENTS_HIGH_WATER = 256 * 1024;
const REQUESTS_HIGH_WATER = 1024 * 1024;

/**
 * One peer's wire: whole lines of JSON-RPC each way over a socket. It is the transport under the SDK's server
 * and, for event notifications, the fast way past it: text that was rendered once is written as it is. All that
 * is pushed in one turn of the loop leaves in one write.
 */
export class Connection implements Wire {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** The peer took what was buffered. */
  ondrain?: () => void;
  /** A notification left, or (`sent` false) was held back because this connection never declared it. */
  onemit?: (emission: Emission, sent: boolean) => void;
  /** Looks at each request before the server; what it gives is the answer. */
  intercept?: (method: string, message: Readonly<Record<string, unknown>>) => { readonly code: number; readonly message: string } | null;
  /** The peer withdrew a request. */
  oncancel?: (id: unknown) => void;
  /** Looks at each notification of the server before it is written. */
  outgoing?: (message: JSONRPCMessage) => JSONRPCMessage | Promise<JSONRPCMessage>;
  readonly emitted = new Map<Emission, number>();
  readonly #socket: Duplex;
  readonly #licences = new Set<Licence>();
  /** Live requests, by the JSON text of their ids: `7` and `"7"` are two. */
  readonly #live = new Set<string>();
  readonly #out: Batch;
  #chunks: Buffer[] = [];
  #chunksLength = 0;
  #skipping = false;
  #closed = false;

  constructor(socket: Duplex) {
    this.#socket = socket;
    this.#out = new Batch((text) => this.#write(text));
  }

  /** @param rest What came behind the handshake line in the same chunk. */
  begin(rest: Buffer): void {
    this.#socket.on('data', (chunk: Buffer) => this.#data(chunk));
    this.#socket.on('drain', () => this.#drained());
    this.#socket.on('error', () => this.#close());
    this.#socket.on('end', () => this.#close());
    this.#socket.on('close', () => this.#close());
    if (rest.length > 0) this.#data(rest);
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  get writable(): boolean {
    return !this.#closed && this.#out.length + this.#socket.writableLength < EVENTS_HIGH_WATER;
  }

  get liveRequests(): number {
    return this.#live.size;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** This connection was told of it, in a handshake or by its own request. Null for what nothing declares. */
  license<L extends Licence>(licence: L): Held<L> | null {
    if (!isDeclared(licence)) return null;
    this.#licences.add(licence);
    return new Held(licence);
  }

  /** For the SDK: answers and notifications. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message)) {
      if (message.id !== undefined) this.#live.delete(JSON.stringify(message.id));
      return this.#push(`${JSON.stringify('error' in message ? { ...message, error: { ...message.error, message: cleanText(message.error.message, MAX_SENTENCE) } } : message)}\n`);
    }
    const emission = emissionOf(message.method);
    if (emission === null) throw new UnlicensedError('A notification');
    if (!this.#licences.has(emission.licence)) return this.onemit?.(emission, false);
    const looked = this.outgoing?.(message) ?? message;
    const outgoing = looked instanceof Promise ? await looked : looked;
    this.#count(emission);
    return this.#push(`${JSON.stringify(outgoing)}\n`);
  }

  /** One whole line that is already text, ending in a newline. Without the licence in hand there is nothing to call this with. */
  notify<L extends Licence>(_held: Held<L>, method: MethodOf<L>, line: string): void {
    this.#count(emissionOf(method)!);
    this.#push(line);
  }

  close(): Promise<void> {
    this.#out.flush();
    if (!this.#closed) {
      this.#socket.end();
      this.#close();
    }
    return Promise.resolve();
  }

  destroy(): void {
    this.#socket.destroy();
    this.#close();
  }

  #count(emission: Emission): void {
    this.onemit?.(emission, true);
    this.emitted.set(emission, (this.emitted.get(emission) ?? 0) + 1);
  }

  #push(line: string): void {
    if (!this.#closed) this.#out.add(line);
  }

  #write(text: string): void {
    if (this.#closed) return;
    this.#socket.write(text);
    // A peer that asks and never reads must not make us grow: its next requests wait in the kernel.
    if (this.#socket.writableLength > REQUESTS_HIGH_WATER) this.#socket.pause();
  }

  #drained(): void {
    this.#socket.resume();
    this.ondrain?.();
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#chunks = [];
    this.#socket.destroy();
    this.onclose?.();
  }

  #data(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      this.#piece(chunk.subarray(from, at));
      this.#endLine();
      from = at + 1;
      if (this.#closed) return;
    }
    if (from < chunk.length) this.#piece(chunk.subarray(from));
  }

  #piece(piece: Buffer): void {
    if (this.#skipping || piece.length === 0) return;
    this.#chunks.push(piece);
    this.#chunksLength += piece.length;
    if (this.#chunksLength <= MAX_LINE_BYTES) return;
    this.#skipping = true;
    this.#chunks = [];
    this.#chunksLength = 0;
    this.#refuse(null, -32600, `A message must be at most ${MAX_LINE_BYTES} bytes`, { maxBytes: MAX_LINE_BYTES });
  }

  #endLine(): void {
    const skipped = this.#skipping;
    const text = this.#chunks.length === 1 ? this.#chunks[0]!.toString() : Buffer.concat(this.#chunks).toString();
    this.#skipping = false;
    this.#chunks = [];
    this.#chunksLength = 0;
    if (!skipped && text.trim() !== '') this.#line(text);
  }

  /** What is no JSON-RPC request, notification or answer gets a sentence here; the SDK would drop it in silence. */
  #line(text: string): void {
    let message: Record<string, unknown>;
    try {
      message = JSON.parse(text) as Record<string, unknown>;
    } catch {
      return this.#refuse(null, -32700, 'The line is not JSON');
    }
    if (Array.isArray(message)) return this.#refuse(null, -32600, 'A message must be one object: batches are not part of MCP');
    if (typeof message !== 'object' || message === null) return this.#refuse(null, -32600, 'A message must be an object');
    const hasId = Object.hasOwn(message, 'id');
    const { id } = message;
    const idFits = typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id));
    const answer = idFits ? id : null;
    if (!Object.hasOwn(message, 'method')) {
      // Answers: the engine asks clients nothing, so there is nothing to match.
      if (Object.hasOwn(message, 'result') || Object.hasOwn(message, 'error')) return;
      return this.#refuse(answer, -32600, 'method: must be a string');
    }
    if (message['jsonrpc'] !== '2.0') return this.#refuse(answer, -32600, 'jsonrpc: must be "2.0"');
    if (hasId && !idFits) return this.#refuse(null, -32600, 'id: must be a string or an integer');
    if (typeof message['method'] !== 'string') return this.#refuse(answer, -32600, 'method: must be a string');
    const { params } = message;
    if (params !== undefined && (typeof params !== 'object' || params === null || Array.isArray(params))) {
      return hasId ? this.#refuse(answer, -32600, 'params: must be an object') : undefined;
    }
    // The SDK would drop it without an answer.
    const rule = hasId && !isJSONRPCRequest(message) ? metaRule(params as Record<string, unknown> | undefined) : null;
    if (rule !== null) return this.#refuse(answer, -32602, rule);
    const refused = hasId ? this.intercept?.(message['method'], message) : null;
    if (refused) return this.#refuse(answer, refused.code, refused.message);
    if (hasId) {
      const key = JSON.stringify(id);
      if (this.#live.has(key)) return this.#refuse(answer, -32600, 'id: already used by a request that is still open');
      this.#live.add(key);
    } else if (message['method'] === 'notifications/cancelled') {
      const cancelled = (params as Record<string, unknown> | undefined)?.['requestId'];
      this.#live.delete(JSON.stringify(cancelled));
      this.oncancel?.(cancelled);
    }
    this.onmessage?.(message as unknown as JSONRPCMessage);
  }

  #refuse(id: string | number | null, code: number, sentence: string, data?: object): void {
    this.#push(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: sentence, ...(data && { data }) } })}\n`);
  }
}

/** What of the params of a request has a form at all, whatever its method: what is said about it. */
function metaRule(params: Record<string, unknown> | undefined): string {
  const meta = params?.['_meta'];
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta)) return '_meta: must be an object';
  const token = (meta as Record<string, unknown>)['progressToken'];
  return token === undefined || typeof token === 'string' || Number.isSafeInteger(token) ? '_meta: has none of the forms that it may have' : '_meta.progressToken: must be a string or an integer';
}
