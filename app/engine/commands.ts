import type { Socket } from 'node:net';
import { runCommand, type EngineApi } from '../cli/run-command.ts';
import { describeFault } from './log.ts';
import type { Engine } from './engine.ts';
import { clientRows, doctor, statusOf } from './report.ts';
import { version } from './version.ts';
import { stopWatch, watchRows } from './watch-calls.ts';

/** What the command line may ask of an engine. */
export function engineApi(engine: Engine): EngineApi {
  const { policy } = engine;
  return {
    snapshot: () => policy.snapshot(),
    widens: (change) => policy.widens(change),
    change: (change) => policy.change(change),
    request: (change) => policy.request(change),
    version,
    status: () => statusOf(engine),
    doctor: () => Promise.resolve(doctor(engine)),
    watches: () => watchRows(engine),
    stopWatch: (id) => stopWatch(engine, id),
    testClient: (id) => Promise.resolve(testClient(engine, id)),
  };
}

/** The hops to a client as far as they can be seen without sending it anything. */
export function testClient(engine: Engine, id: string) {
  const row = clientRows(engine).find((client) => client.id === id);
  if (!row) return null;
  const connected = row.connections > 0;
  const allowed = row.decision === 'always' || row.decision === 'once' || (row.decision === 'none' && engine.policy.trustLocalClients);
  const streams = row.subscriptions.length;
  return [
    { hop: 'helper', ok: connected, sentence: connected ? `Helper: ${row.connections} connected.` : 'Helper: not connected. Start the client.' },
    { hop: 'app', ok: allowed, sentence: allowed ? 'Belfry: this client is allowed.' : `Belfry: this client is not allowed. "belfry clients allow ${id}" allows it.` },
    {
      hop: 'client', ok: streams > 0 ? null : false,
      sentence: streams > 0 ? `Client: ${streams} open ${streams === 1 ? 'stream' : 'streams'}; whether it reads them shows with the next event.` : 'Client: listens to nothing. It has to open a stream or poll.',
    },
  ];
}

/** Runs the command lines that come in by the socket and writes their frames (architecture 6). */
export function commandRunner(engine: Engine, host: 'serve' | 'app') {
  const api = engineApi(engine);
  return (socket: Socket, argv: readonly string[]): void => {
    void runCommand(argv, api, { headless: host === 'serve', isOwnerConsole: false }).then(
      ({ code, stdout, stderr }) => {
        socket.write(Buffer.concat([frame('o', stdout), frame('e', stderr)]));
        socket.end(`x ${code}\n`);
      },
      (error: unknown) => {
        engine.options.log(`command: ${describeFault(error)}`);
        socket.end('x 1\n');
      },
    );
  };
}

function frame(kind: 'o' | 'e', text: string): Buffer {
  const bytes = Buffer.from(text);
  return bytes.length === 0 ? bytes : Buffer.concat([Buffer.from(`${kind} ${bytes.length}\n`), bytes]);
}
