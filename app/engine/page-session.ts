import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import type { BridgeFrame } from '../contract/bridge.ts';
import { serveContract, type Port } from '../contract/port.ts';
import { shell, type ShellHandlers } from '../contract/shell.ts';
import { serveUi } from './contract-handlers.ts';
import type { Engine } from './engine.ts';
import { describeFault } from './log.ts';

/** What a page may leave unread: ten thousand rows of Live are a few megabytes. One that reads slower is dropped and connects again. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

const frame = z.strictObject({ port: z.enum(['shell', 'engine']), value: z.unknown() });

/** What a page posts, or null for what is no frame. */
export function frameOf(text: string): BridgeFrame | null {
  try {
    return frame.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** One open page: a stream of server-sent events to it, frames from it, and both schemas on top (contract/bridge.ts). */
export class PageSession {
  readonly id = randomBytes(24).toString('base64url');
  readonly #response: ServerResponse;
  readonly #listeners = { shell: new Set<(value: unknown) => void>(), engine: new Set<(value: unknown) => void>() };
  readonly #servers: readonly { close(): void }[];

  /** @param response with its head written */
  constructor(engine: Engine, response: ServerResponse, handlers: (notify: ShellNotify) => ShellHandlers) {
    this.#response = response;
    const shellServer = serveContract(shell, this.#port('shell'), handlers((name, value) => shellServer.notify(name, value)), (call, error) => {
      engine.options.log(`${call}: ${describeFault(error)}`);
    });
    this.#servers = [shellServer, serveUi(engine, this.#port('engine'))];
    this.#send('hello', { session: this.id });
    this.#send('engine', { up: true });
  }

  heard({ port, value }: BridgeFrame): void {
    for (const listener of this.#listeners[port]) listener(value);
  }

  /** The stream ended: so does the session. */
  close(): void {
    for (const server of this.#servers) server.close();
    this.#response.destroy();
  }

  #port(port: BridgeFrame['port']): Port {
    const listeners = this.#listeners[port];
    return {
      postMessage: (value) => this.#send('value', { port, value }),
      onMessage: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
  }

  #send(event: string, data: object): void {
    if (this.#response.destroyed) return;
    const fits = this.#response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    if (!fits && this.#response.writableLength > MAX_UNREAD_BYTES) this.#response.destroy();
  }
}

export type ShellNotify = <N extends keyof typeof shell.notifications>(name: N, value: z.output<(typeof shell.notifications)[N]>) => void;
