import { chmodSync, lstatSync, mkdirSync, unlinkSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import type { Clock } from '../events/clock.ts';
import { HANDSHAKE_MS, MAX_HANDSHAKE_BYTES, MAX_UNANSWERED, parseHello, type Hello } from './handshake.ts';

/** `sun_path` holds 104 bytes on macOS, one of them the final zero. */
export const MAX_SOCKET_PATH = 103;

/** The message is a whole sentence. */
export class EndpointError extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = 'EndpointError';
  }
}

export interface EndpointHandler {
  /** May this peer come in at all? A sentence if not. Called before its first line is read. */
  admit(socket: Socket): string | null;
  /** A peer said its first line. The socket is paused; `rest` is what came behind it. */
  peer(socket: Socket, hello: Hello, rest: Buffer): void;
  /** The socket file is no longer the one that was bound. */
  rebound(): void;
}

/**
 * The unix socket where shims and commands come in. It is bound under the folder's lock, 0600 in a 0700
 * folder; a file that was put in its place is noticed at the next look.
 */
export class Endpoint {
  readonly path: string;
  readonly #handler: EndpointHandler;
  readonly #clock: Clock;
  readonly #server: Server;
  readonly #unanswered = new Set<Socket>();
  readonly #sockets = new Set<Socket>();
  #inode: bigint | null = null;
  #look: (() => void) | null = null;

  constructor(path: string, handler: EndpointHandler, clock: Clock) {
    this.path = path;
    this.#handler = handler;
    this.#clock = clock;
    this.#server = createServer({ pauseOnConnect: false }, (socket) => this.#accept(socket));
  }

  /** @throws EndpointError */
  async listen(): Promise<void> {
    if (Buffer.byteLength(this.path) > MAX_SOCKET_PATH) {
      throw new EndpointError(
        `The socket path is ${Buffer.byteLength(this.path)} bytes long and may have at most ${MAX_SOCKET_PATH}: choose a shorter --data-dir.`,
      );
    }
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    chmodSync(dirname(this.path), 0o700);
    removeSocket(this.path);
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', () => reject(new EndpointError('The socket cannot be made in the data folder: check that the folder can be written to.')));
      this.#server.listen({ path: this.path, backlog: 256 }, resolve);
    });
    this.#server.on('error', () => undefined);
    chmodSync(this.path, 0o600);
    this.#inode = inodeOf(this.path);
    this.#look = this.#clock.every(1000, () => {
      if (inodeOf(this.path) !== this.#inode) this.#handler.rebound();
    });
  }

  async close(): Promise<void> {
    this.#look?.();
    this.#look = null;
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    // Closing the server unlinks its path, even if another socket stands there now: that one is not ours.
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    const refused = this.#handler.admit(socket);
    if (refused !== null) {
      socket.end(`error ${refused}\n`);
      return;
    }
    this.#sockets.add(socket);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#unanswered.delete(socket);
    });
    // Whoever says nothing must not keep out those who do: the one that waits longest goes.
    if (this.#unanswered.size >= MAX_UNANSWERED) this.#unanswered.values().next().value?.destroy();
    this.#unanswered.add(socket);
    const disarm = this.#clock.after(HANDSHAKE_MS, () => socket.destroy());
    socket.once('close', disarm);
    let chunks: Buffer = Buffer.alloc(0);
    const onData = (chunk: Buffer) => {
      chunks = chunks.length === 0 ? chunk : Buffer.concat([chunks, chunk]);
      const end = chunks.indexOf(10);
      if (end === -1 && chunks.length <= MAX_HANDSHAKE_BYTES) return;
      socket.off('data', onData);
      disarm();
      this.#unanswered.delete(socket);
      const hello = end === -1 ? { error: `The first line must be at most ${MAX_HANDSHAKE_BYTES} bytes.` } : parseHello(chunks.toString('utf8', 0, end));
      if ('error' in hello) socket.end(`error ${String(hello['error'])}\n`);
      else this.#handler.peer(socket, hello, chunks.subarray(end + 1));
    };
    socket.on('data', onData);
  }
}

function inodeOf(path: string): bigint | null {
  try {
    return lstatSync(path, { bigint: true }).ino;
  } catch {
    return null;
  }
}

/** Only ever a socket is removed, and only under the folder's lock. */
function removeSocket(path: string): void {
  try {
    if (!lstatSync(path).isSocket()) {
      throw new EndpointError('Something that is not a socket stands where the socket belongs; move it away.');
    }
    unlinkSync(path);
  } catch (error) {
    if (error instanceof EndpointError) throw error;
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new EndpointError('The old socket cannot be removed: check who owns the data folder.');
    }
  }
}
