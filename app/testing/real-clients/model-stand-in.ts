import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the model calls next; the input may follow from what the calls before it gave. */
export interface Call {
  readonly tool: string;
  readonly input: object | ((results: readonly string[]) => object);
}

export type Reply = { readonly id: string; readonly tool: string; readonly input: object } | { readonly text: string };

/** A request for the model's next words, in whatever API it came. */
export interface Question {
  /** Tools that the client lets its model call. */
  readonly offered: readonly string[];
  /** Text of what came back for a call of the stand-in, by the call's id. */
  readonly results: ReadonlyMap<string, string>;
}

/** One model API on the wire. */
export interface Dialect {
  readonly path: string;
  read(body: any): Question;
  write(response: ServerResponse, body: any, reply: Reply): void;
}

/**
 * Answers in place of a model, on loopback: it makes the calls of its script one after the other, each only if the
 * client offers the tool, and ends with a word. Where it is in the script follows from the conversation, so that a
 * repeated request gets the same answer.
 */
export class ModelStandIn implements AsyncDisposable {
  readonly #script: readonly Call[];
  readonly #dialect: Dialect;
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();
  #calls = 0;
  /** What came back for the calls, in their order. */
  results: readonly string[] = [];
  /** Requests that it does not know, and calls that the client did not offer. */
  readonly troubles: string[] = [];
  /** Everything that the client sent. */
  heard = '';

  private constructor(dialect: Dialect, script: readonly Call[]) {
    this.#dialect = dialect;
    this.#script = script;
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => void chunks.push(chunk));
      request.on('end', () => this.#answer(`${request.method} ${request.url}`, Buffer.concat(chunks).toString('utf8'), response));
    });
  }

  static async listen(dialect: Dialect, script: readonly Call[]): Promise<ModelStandIn> {
    const standIn = new ModelStandIn(dialect, script);
    await new Promise<void>((listening) => void standIn.#server.listen(0, '127.0.0.1', listening));
    return standIn;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves once the script's first `count` calls were made. */
  async called(count: number): Promise<void> {
    while (this.#calls < count) await new Promise<void>((wake) => void this.#waiting.add(wake));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((done) => void this.#server.close(done));
    this.#server.closeAllConnections();
    await closed;
  }

  #answer(line: string, text: string, response: ServerResponse): void {
    this.heard += text;
    if (!line.startsWith(`POST ${this.#dialect.path}`)) {
      this.troubles.push(`unknown: ${line}`);
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    const body = JSON.parse(text) as unknown;
    this.#dialect.write(response, body, this.#reply(this.#dialect.read(body)));
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  #reply({ offered, results }: Question): Reply {
    // Titles and the like are asked for without tools.
    if (offered.length === 0) return { text: 'A word.' };
    const own = this.#script.map((_, index) => results.get(idOf(index)));
    const done = own.indexOf(undefined);
    const had = own.slice(0, done === -1 ? own.length : done) as string[];
    if (had.length >= this.results.length) this.results = had;
    const next = this.#script[had.length];
    if (!next) return { text: 'That is all.' };
    if (!offered.includes(next.tool)) {
      this.troubles.push(`not offered: ${next.tool}; offered are ${offered.join(', ')}`);
      return { text: 'A tool is missing.' };
    }
    this.#calls = Math.max(this.#calls, had.length + 1);
    return { id: idOf(had.length), tool: next.tool, input: typeof next.input === 'function' ? next.input(had) : next.input };
  }
}

const idOf = (index: number) => `call_${index}`;

/** Server-sent events: each is named in its own data too. */
export function sendEvents(response: ServerResponse, events: readonly (readonly [type: string, fields: object])[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(events.map(([type, fields]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`).join(''));
}

/** The text of content that is a string or a list of blocks; a block without text is given as it is. */
export const textOf = (content: any): string =>
  typeof content === 'string' ? content : (content as readonly any[]).map((block) => (typeof block.text === 'string' ? block.text as string : JSON.stringify(block))).join('\n');
