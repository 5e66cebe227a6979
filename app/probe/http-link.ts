import type { IncomingMessage } from 'node:http';
import { ProbeFailure } from './failure.ts';
import { exchange, mediaType, readBody, type Network } from './http-exchange.ts';
import { shownUrl, statusFault } from './http-status.ts';
import { readMessage, replyTo, type Answer, type Exchange, type Json, type JsonObject, type Link, type Notification, type OnNotification, type Revision } from './link.ts';
import { networkFault } from './network-fault.ts';
import { ServerSentEvents } from './server-sent.ts';

/** Gives the token of each request, and a newer one after a refusal. */
export interface TokenSource {
  /** Null: there is none. */
  current(): Promise<string | null>;
  /** A server refused it. True: there is another one now. */
  renew(refused: string): Promise<boolean>;
}

export interface HttpLinkOptions {
  readonly url: URL;
  readonly version: string;
  readonly tokens: TokenSource;
  readonly network: Network;
}

/** Of which member of the params `Mcp-Name` is made. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri', 'events/poll': 'name', 'events/stream': 'name', 'events/subscribe': 'name', 'events/unsubscribe': 'name',
};

/** Streamable HTTP of both eras: a POST for each message, its answer as JSON or as a stream; on the older ones a GET for pushes. */
export class HttpLink implements Link {
  readonly url: string;
  revision: Revision = { version: '', isModern: true };
  onnotification: ((notification: Notification) => void) | null = null;
  readonly gone: Promise<never>;
  readonly #options: HttpLinkOptions;
  readonly #open = new Set<AbortController>();
  #lost: (failure: ProbeFailure) => void = () => undefined;
  #session: string | null = null;
  #nextId = 1;

  constructor(options: HttpLinkOptions) {
    this.#options = options;
    this.url = shownUrl(options.url);
    this.gone = new Promise((_, reject) => {
      this.#lost = reject;
    });
    this.gone.catch(() => undefined);
  }

  request(method: string, params: JsonObject, onNotification?: OnNotification): Exchange {
    const id = this.#nextId++;
    const abort = new AbortController();
    this.#open.add(abort);
    const answer = this.#post({ jsonrpc: '2.0', id, method, params }, method, params, abort).then((response) => this.#answer(response, id, onNotification));
    answer.catch(() => undefined);
    void answer.finally(() => this.#open.delete(abort)).catch(() => undefined);
    return { id, answer, cancel: () => abort.abort() };
  }

  async notify(method: string, params: JsonObject): Promise<void> {
    const abort = new AbortController();
    const response = await this.#post({ jsonrpc: '2.0', method, params }, method, params, abort);
    response.resume();
  }

  /** An answer is a message like a notification: it is taken, or the server will say so by itself. */
  #reply(answer: JsonObject): void {
    const abort = new AbortController();
    this.#open.add(abort);
    this.#post(answer, '', {}, abort).then((response) => response.resume(), () => undefined).finally(() => this.#open.delete(abort));
  }

  async listen(): Promise<boolean> {
    const abort = new AbortController();
    const response = await this.#send({ method: 'GET', headers: { Accept: 'text/event-stream', ...this.#revisionHeaders() }, abort });
    if (response.statusCode !== 200 || mediaType(response) !== 'text/event-stream') {
      response.destroy();
      if (response.statusCode === 405 || response.statusCode === 404) return false;
      throw statusFault(response.statusCode ?? 0, response.headers, this.#options.url.host, true);
    }
    this.#open.add(abort);
    void this.#stream(response, null, (notification) => this.onnotification?.(notification)).catch((error: unknown) => this.#lost(error as ProbeFailure));
    return true;
  }

  async close(): Promise<void> {
    for (const abort of this.#open) abort.abort();
    this.#open.clear();
    if (this.#session === null) return;
    // The server would otherwise keep the session of an older revision for its own time.
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), 1000);
    await this.#send({ method: 'DELETE', headers: this.#revisionHeaders(), abort }).then((response) => response.destroy(), () => undefined);
    clearTimeout(timer);
  }

  #post(message: JsonObject, method: string, params: JsonObject, abort: AbortController): Promise<IncomingMessage> {
    const headers = {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      // The handshake of the older revisions settles the version first.
      ...this.#revisionHeaders(method !== 'initialize'),
      ...(this.revision.isModern && routing(method, params)),
    };
    return this.#send({ method: 'POST', headers, body: JSON.stringify(message), abort });
  }

  #revisionHeaders(hasVersion = true): Record<string, string> {
    return {
      'User-Agent': `belfry-probe/${this.#options.version}`,
      ...(hasVersion && { 'MCP-Protocol-Version': this.revision.version }),
      ...(!this.revision.isModern && this.#session !== null && { 'Mcp-Session-Id': this.#session }),
    };
  }

  /** With the token of the moment; once more with another one, where it was refused and there is another. */
  async #send(request: { method: 'GET' | 'POST' | 'DELETE'; headers: Record<string, string>; body?: string; abort: AbortController }): Promise<IncomingMessage> {
    const { url, tokens, network } = this.#options;
    for (let attempt = 0; ; attempt += 1) {
      const token = await tokens.current();
      const { method, headers, body, abort } = request;
      const response = await exchange({
        url, method, headers: { ...headers, ...(token !== null && { Authorization: `Bearer ${token}` }) }, ...(body !== undefined && { body }), signal: abort.signal,
      }, network);
      if (response.statusCode !== 401) return response;
      response.resume();
      if (attempt > 0 || token === null || !(await tokens.renew(token))) throw statusFault(401, response.headers, url.host, token !== null);
    }
  }

  async #answer(response: IncomingMessage, id: number, onNotification: OnNotification | undefined): Promise<Answer> {
    const status = response.statusCode ?? 0;
    const type = mediaType(response);
    const { host } = this.#options.url;
    if (!this.revision.isModern) this.#session = (response.headers['mcp-session-id'] as string | undefined) ?? this.#session;
    if (status === 200 && type === 'text/event-stream') {
      const answer = await this.#stream(response, id, (notification) => (onNotification ? onNotification(notification, id) : this.onnotification?.(notification)));
      if (answer) return answer;
      throw new ProbeFailure('CONNECTION_CLOSED', `${host} ended the stream without an answer.`);
    }
    const isJson = type === 'application/json' || type.endsWith('+json');
    if (!isJson) {
      response.destroy();
      if (status !== 200) throw statusFault(status, response.headers, host, await this.#hasToken());
      throw new ProbeFailure('BAD_RESPONSE', `${host} answered with ${type === '' ? 'no content type' : `the content type ${JSON.stringify(type.slice(0, 100))}`}, not with JSON or a stream of events.`);
    }
    return this.#json(await readBody(response, host), status, response, id);
  }

  async #json(text: string, status: number, response: IncomingMessage, id: number): Promise<Answer> {
    const { host } = this.#options.url;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      if (status !== 200) throw statusFault(status, response.headers, host, await this.#hasToken());
      throw new ProbeFailure('BAD_RESPONSE', `${host} answered with text that is not JSON.`);
    }
    const message = readMessage(value);
    // A refusal may come before the id was read.
    if (message !== null && 'answer' in message && (message.id === id || (message.id === null && 'error' in message.answer))) {
      // These two speak of who asks, whatever else the body says.
      if (status === 403 || status === 429) throw statusFault(status, response.headers, host, await this.#hasToken());
      return message.answer;
    }
    if (status !== 200) throw statusFault(status, response.headers, host, await this.#hasToken());
    throw new ProbeFailure('BAD_RESPONSE', `${host} answered with JSON that is no answer to the request.`);
  }

  /** Reads to the answer of `id`, or to the end. */
  async #stream(response: IncomingMessage, id: number | null, onNotification: (notification: Notification) => void): Promise<Answer | null> {
    const { host } = this.#options.url;
    let answer: Answer | null = null;
    const events = new ServerSentEvents((data) => {
      const message = readMessage(parsed(data, host));
      if (message === null) throw new ProbeFailure('BAD_RESPONSE', `${host} sent an event that is no JSON-RPC message.`);
      if ('answer' in message) {
        if (message.id === id) answer = message.answer;
      } else if ('notification' in message) onNotification(message.notification);
      else this.#reply(replyTo(message.request, message.method));
    });
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        if (!events.push(chunk)) throw new ProbeFailure('BAD_RESPONSE', `${host} sent an event that is too long.`);
        if (answer !== null) break;
      }
    } catch (error) {
      if (error instanceof ProbeFailure) throw error;
      throw networkFault(error, host);
    } finally {
      response.destroy();
    }
    return answer;
  }

  async #hasToken(): Promise<boolean> {
    return (await this.#options.tokens.current()) !== null;
  }
}

function parsed(data: string, host: string): Json {
  try {
    return JSON.parse(data) as Json;
  } catch {
    throw new ProbeFailure('BAD_RESPONSE', `${host} sent an event that is not JSON.`);
  }
}

/** The headers by which a proxy routes (mcp-2026-07-28 section 7). */
function routing(method: string, params: JsonObject): Record<string, string> {
  const name = Object.hasOwn(NAMED, method) ? params[NAMED[method]!] : undefined;
  return { 'Mcp-Method': method, ...(typeof name === 'string' && { 'Mcp-Name': headerWord(name) }) };
}

/** As it is where a header can carry it, else in base64. */
const headerWord = (text: string): string =>
  (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?') ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`);

