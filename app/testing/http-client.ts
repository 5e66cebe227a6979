import { request as httpRequest, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { licenceFault } from './licence-audit.ts';
import { FrameLog, type Frame } from './frame-log.ts';
import { modernMeta } from './raw-client.ts';

/** An answer as it came. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Undefined where the text is no JSON. */
  readonly message: Record<string, any> | undefined;
}

export interface Asked {
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Of the request line; the client's own else. */
  readonly path?: string;
  readonly method?: string;
}

/** A stream of server-sent events, as its bytes came. */
export class HttpStream extends FrameLog {
  /** Of its request. */
  readonly id: string | number;
  /** Lines that are comments. */
  readonly comments: string[] = [];
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  ended = false;
  readonly #request: ClientRequest;
  readonly #response: IncomingMessage;
  readonly #heard: (frame: Frame) => void;
  #rest = '';

  constructor(id: string | number, request: ClientRequest, response: IncomingMessage, heard: (frame: Frame) => void) {
    super();
    this.id = id;
    this.#request = request;
    this.#response = response;
    this.#heard = heard;
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.#read(text));
    response.on('close', () => {
      this.ended = true;
      this.over(() => 'The stream ended first');
    });
    response.on('error', () => undefined);
    request.on('error', () => undefined);
  }

  /** Hangs up. */
  close(): void {
    this.#request.destroy();
  }
  pause(): void {
    this.#response.pause();
  }
  resume(): void {
    this.#response.resume();
  }

  /** Resolves once the peer ended it. */
  async untilEnd(ms = 30_000): Promise<void> {
    await this.until(() => false, this.frames.length, ms).catch((error: unknown) => {
      if (!this.ended) throw error;
    });
  }

  #read(text: string): void {
    const at = process.hrtime.bigint();
    this.#rest += text;
    for (let end = this.#rest.indexOf('\n\n'); end !== -1; end = this.#rest.indexOf('\n\n')) {
      const lines = this.#rest.slice(0, end).split('\n');
      this.#rest = this.#rest.slice(end + 2);
      this.comments.push(...lines.filter((line) => line.startsWith(':')));
      const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trimStart()).join('\n');
      if (data === '') continue;
      const frame: Frame = { at, text: data, message: JSON.parse(data) as Record<string, any> };
      this.frames.push(frame);
      this.#heard(frame);
    }
    this.wake();
  }
}

/** A client over HTTP that sends what a test says and shows what came, byte for byte. */
export class HttpClient extends FrameLog {
  readonly url: string;
  readonly token: string | null;
  /** Where a shim would complain. */
  readonly stderr = '';
  /** Capabilities as `initialize` and `server/discover` gave them. */
  readonly handshakes: Record<string, any>[] = [];
  /** Notifications that no handshake had declared. */
  readonly licenceFaults: string[] = [];
  readonly streams: HttpStream[] = [];
  #nextId = 1000;

  constructor(url: string, token: string | null = 'test-client') {
    super();
    this.url = url;
    this.token = token;
  }

  /** Sends a body as it is. Resolves with the answer's head; the body is still to come. */
  open(body: string | Buffer | null, asked: Asked = {}): Promise<{ request: ClientRequest; response: IncomingMessage }> {
    const headers: Record<string, string> = {};
    const given = {
      'content-type': 'application/json', accept: 'application/json, text/event-stream', ...(this.token !== null && { authorization: `Bearer ${this.token}` }), ...asked.headers,
    };
    for (const [name, value] of Object.entries(given)) if (value !== undefined) headers[name] = value;
    const { hostname, port, pathname } = new URL(this.url);
    return new Promise((resolve, reject) => {
      const request = httpRequest({ hostname, port, path: asked.path ?? pathname, method: asked.method ?? 'POST', headers, agent: false });
      request.on('response', (response) => resolve({ request, response }));
      request.on('error', reject);
      request.end(body ?? undefined);
    });
  }

  async post(body: string | Buffer | null, asked: Asked = {}): Promise<HttpAnswer> {
    const { response } = await this.open(body, asked);
    return this.#answer(response);
  }

  async #answer(response: IncomingMessage): Promise<HttpAnswer> {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const framed = /^data: *(.*)$/m.exec(text)?.[1];
    let message: Record<string, any> | undefined;
    try {
      message = JSON.parse(framed ?? text) as Record<string, any>;
      if (message['jsonrpc'] === '2.0') this.#heard({ at: process.hrtime.bigint(), text: framed ?? text, message });
    } catch {
      message = undefined;
    }
    return { status: response.statusCode ?? 0, headers: response.headers, text, message };
  }

  /** A `2026-07-28` request, whole. */
  async ask(method: string, params: Record<string, any> = {}, asked: Asked & { readonly id?: string | number } = {}): Promise<HttpAnswer> {
    const id = asked.id ?? this.#nextId++;
    return this.post(JSON.stringify({ jsonrpc: '2.0', id, method, params: { _meta: modernMeta, ...params } }), { ...asked, headers: { ...headersOf(method, params), ...asked.headers } });
  }

  /** The same; gives the JSON-RPC message. */
  async request(method: string, params: Record<string, any> = {}, id?: string | number): Promise<Record<string, any>> {
    const { message, text } = await this.ask(method, params, id === undefined ? {} : { id });
    if (message === undefined) throw new Error(`A message was expected: ${text.slice(0, 300)}`);
    return message;
  }

  /** A request whose answer is a stream. An answer that is none is given instead. */
  async listen(method: string, params: Record<string, any>, asked: Asked & { readonly id?: string | number } = {}): Promise<HttpStream | HttpAnswer> {
    const id = asked.id ?? this.#nextId++;
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params: { _meta: modernMeta, ...params } });
    const { request, response } = await this.open(body, { ...asked, headers: { ...headersOf(method, params), ...asked.headers } });
    if (response.headers['content-type'] !== 'text/event-stream') return this.#answer(response);
    const stream = new HttpStream(id, request, response, (frame) => this.#heard(frame));
    this.streams.push(stream);
    return stream;
  }

  /** Opens `events/stream`; resolves with `active` or with the error answer. */
  async stream(name: string, args: object, params: object = {}, id?: string | number): Promise<Record<string, any>> {
    const answer = await this.listen('events/stream', { name, arguments: args, ...params }, id === undefined ? {} : { id });
    return answer instanceof HttpStream ? (await answer.until(() => true)).message : answer.message!;
  }

  close(): void {
    for (const stream of this.streams) stream.close();
  }

  #heard(frame: Frame): void {
    this.frames.push(frame);
    this.wake();
    const { message } = frame;
    const capabilities = message['result']?.capabilities as Record<string, any> | undefined;
    if (capabilities !== undefined) this.handshakes.push(capabilities);
    if (typeof message['method'] !== 'string') return;
    const fault = licenceFault(message['method'], 'modern', this.handshakes);
    if (fault !== null) this.licenceFaults.push(fault);
  }
}

export const streamOf = (answer: HttpStream | HttpAnswer): HttpStream => {
  if (answer instanceof HttpStream) return answer;
  throw new Error(`A stream was expected: ${answer.status} ${answer.text.slice(0, 300)}`);
};

/** The headers that repeat a `2026-07-28` message. What no header can hold stands there as a base64 word. */
export function headersOf(method: string, params: Record<string, any>): Record<string, string> {
  const name = method === 'resources/read' ? params['uri'] : params['name'];
  return { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(typeof name === 'string' && { 'mcp-name': wordOf(name) }) };
}

export const wordOf = (text: string): string => (/^[!-~](?:[ -~]*[!-~])?$/.test(text) && !text.startsWith('=?') ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`);
