import type { Port } from '../contract/port.ts';
import { commandRunner } from './commands.ts';
import { serveUi } from './contract-handlers.ts';
import { engineOf, startTrouble, type EngineSettings } from './host.ts';
import type { Engine } from './engine.ts';

/** The first message of a host, and what comes back. Afterwards the port speaks the contract. */
export interface StartMessage {
  readonly start: EngineSettings;
  readonly kind: 'serve' | 'app';
}
export type ReadyMessage = { readonly ready: string } | { readonly failed: string } | { readonly fatal: string } | { readonly log: string };

interface ParentPort {
  on(event: 'message', listener: (event: { data: unknown }) => void): void;
  postMessage(value: unknown): void;
}

/**
 * The engine's entry under both hosts: Electron's utility process has `process.parentPort`, a forked Node
 * process has `process.send`. Which of them it is, is asked here once.
 */
function hostPort(): Port | null {
  const listeners = new Set<(value: unknown) => void>();
  const hear = (value: unknown) => {
    for (const listener of listeners) listener(value);
  };
  const onMessage = (listener: (value: unknown) => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const { parentPort } = process as unknown as { parentPort?: ParentPort };
  if (parentPort) {
    parentPort.on('message', ({ data }) => hear(data));
    return { onMessage, postMessage: (value) => parentPort.postMessage(value) };
  }
  if (!process.send) return null;
  process.on('message', hear);
  // A host that left cannot be told: with a callback the refusal is a value, without one it would end the process.
  return { onMessage, postMessage: (value) => {
    if (process.connected) process.send!(value, undefined, undefined, () => {});
  } };
}

function isStart(value: unknown): value is StartMessage {
  return typeof value === 'object' && value !== null && 'start' in value;
}

const port = hostPort();
let engine: Engine | null = null;

async function start(message: StartMessage, host: Port): Promise<void> {
  const say = (value: ReadyMessage) => host.postMessage(value);
  try {
    engine = engineOf(message.start, message.kind, (log) => say({ log }), (fatal) => {
      say({ fatal });
      void stop(3);
    });
    engine.command = commandRunner(engine, message.kind);
    await engine.start();
    serveUi(engine, host);
    say({ ready: engine.socketPath });
  } catch (error) {
    say({ failed: startTrouble(error) });
    process.exitCode = 3;
  }
}

async function stop(code: number): Promise<void> {
  await engine?.stop();
  process.exit(code);
}

if (port === null) {
  process.stderr.write('This file is started by Belfry, not by hand. Use "belfry serve".\n');
  process.exitCode = 3;
} else {
  const forget = port.onMessage((value) => {
    if (!isStart(value)) return;
    forget();
    void start(value, port);
  });
  // A host that died must not leave an engine behind that holds its folder.
  process.on('disconnect', () => void stop(0));
  process.on('SIGTERM', () => void stop(0));
}
