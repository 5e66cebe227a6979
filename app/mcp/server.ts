import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Connection } from './connection.ts';
import { EXTENSION, registerEvents, type EventsBackend, type EventsPeer } from './events-extension.ts';

export interface ServerIdentity {
  readonly name: string;
  readonly version: string;
}

/** `server/discover` is answered from the policy of this moment, not from that of the first request. */
class BelfryServer extends Server {
  readonly #backend: EventsBackend | null;

  constructor(identity: ServerIdentity, backend: EventsBackend | null) {
    super(identity, { capabilities: { tools: {} } });
    this.#backend = backend;
    this.setRequestHandler('tools/list', () => ({ tools: [] }));
  }

  override getCapabilities() {
    const capabilities = super.getCapabilities();
    return this.#backend?.anyOn() ? { ...capabilities, extensions: { [EXTENSION]: {} } } : capabilities;
  }
}

/**
 * Serves one connection in the era it opens with (SDK: one instance a connection). Events exist on
 * `2026-07-28` only; a connection that opens with `initialize` is never told of them.
 */
export function serveConnection(connection: Connection, identity: ServerIdentity, backend: EventsBackend, peer: EventsPeer): void {
  serveStdio(
    ({ era }) => {
      if (era === 'legacy') return new BelfryServer(identity, null);
      const server = new BelfryServer(identity, backend);
      registerEvents(server, backend, peer);
      return server;
    },
    { transport: connection, onerror: (error) => backend.fault('connection', error), maxSubscriptions: 4 },
  );
}

