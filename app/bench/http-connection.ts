import { connect, type Socket } from 'node:net';
import { modernMeta } from '../testing/raw-client.ts';

/** A request of the revision that describes itself, as the bytes of HTTP. */
export function requestBytes(url: string, token: string, method: string, params: { readonly name?: string }, id: number): Buffer {
  const { host, pathname } = new URL(url);
  const body = JSON.stringify({ jsonrpc: '2.0', id, method, params: { _meta: modernMeta, ...params } });
  const head = [
    `POST ${pathname} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${token}`, 'Content-Type: application/json', 'Accept: application/json, text/event-stream',
    'MCP-Protocol-Version: 2026-07-28', `Mcp-Method: ${method}`, ...(params.name === undefined ? [] : [`Mcp-Name: ${params.name}`]), `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** One kept connection that sends bytes and hears answers: as little as a client can cost. */
export class HttpConnection {
  readonly #socket: Socket;
  #chunks: Buffer = Buffer.alloc(0);
  #answered: ((text: string) => void) | null = null;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.on('data', (chunk) => this.#read(chunk));
    this.#socket.on('error', () => undefined);
  }

  /** Resolves with the body of the answer. One at a time. */
  ask(bytes: Buffer): Promise<string> {
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.#socket.write(bytes);
    });
  }

  /** Hears a stream: each chunk as it comes, without the marks of its transfer. */
  stream(bytes: Buffer, heard: (text: string, at: bigint) => void): void {
    this.#socket.removeAllListeners('data');
    this.#socket.on('data', (chunk: Buffer) => heard(chunk.toString('latin1'), process.hrtime.bigint()));
    this.#socket.write(bytes);
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#chunks = this.#chunks.length === 0 ? chunk : Buffer.concat([this.#chunks, chunk]);
    const head = this.#chunks.indexOf('\r\n\r\n');
    if (head === -1) return;
    const length = Number(/content-length: (\d+)/i.exec(this.#chunks.toString('latin1', 0, head))?.[1] ?? 0);
    const end = head + 4 + length;
    if (this.#chunks.length < end) return;
    const body = this.#chunks.toString('utf8', head + 4, end);
    this.#chunks = this.#chunks.subarray(end);
    this.#answered?.(body);
  }
}
