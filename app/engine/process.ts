import { commandRunner } from './commands.ts';
import { serveUi } from './contract-handlers.ts';
import { FolderHeldError } from '../endpoint/lock.ts';
import { nodeHost, utilityHost, type Host, type UiPort } from './host-port.ts';
import { canRead } from './access.ts';
import { engineOf, startTrouble, storesOf, type EngineSettings } from './host.ts';
import type { Engine } from './engine.ts';

/** The first message of a host, and what comes back. Afterwards the port speaks the contract. */
export interface StartMessage {
  readonly start: EngineSettings;
  readonly kind: 'serve' | 'app';
}
/** Instead of a start: look at the stores once, say what was found, and end. */
export interface ProbeMessage {
  readonly probe: EngineSettings;
}
/** The Mac runs on battery, or no longer. */
export interface PowerMessage {
  readonly onBattery: boolean;
}
/** Ends the engine cleanly. */
export interface StopMessage {
  readonly stop: true;
}
export type ReadyMessage =
  | { readonly ready: string }
  /** `held`: another engine holds the data folder. */
  | { readonly failed: string; readonly held: boolean }
  | { readonly fatal: string }
  | { readonly log: string }
  /** Answers ProbeMessage. Null: neither store is there, so nothing can be told. */
  | { readonly probed: boolean | null };

/**
 * The engine's entry under both hosts: Electron's utility process has `process.parentPort`, a forked Node
 * process has `process.send`. Which of them it is, is asked here once.
 */
function hostOf(): Host | null {
  const { parentPort } = process as unknown as { parentPort?: Parameters<typeof utilityHost>[0] };
  if (parentPort) return utilityHost(parentPort);
  return process.send ? nodeHost(process) : null;
}

function isStart(value: unknown): value is StartMessage {
  return typeof value === 'object' && value !== null && 'start' in value;
}
function isProbe(value: unknown): value is ProbeMessage {
  return typeof value === 'object' && value !== null && 'probe' in value;
}
function isPower(value: unknown): value is PowerMessage {
  return typeof value === 'object' && value !== null && 'onBattery' in value && typeof value.onBattery === 'boolean';
}
function isStop(value: unknown): value is StopMessage {
  return typeof value === 'object' && value !== null && 'stop' in value;
}

const port = hostOf();
let engine: Engine | null = null;

async function start(message: StartMessage, host: Host): Promise<void> {
  const say = (value: ReadyMessage) => host.postMessage(value);
  try {
    engine = engineOf(message.start, message.kind, (log) => say({ log }), (fatal) => {
      say({ fatal });
      void stop(3);
    });
    engine.command = commandRunner(engine, message.kind);
    engine.search.onBattery(message.start.onBattery === true);
    await engine.start();
    serveUi(engine, host);
    host.onUi((ui) => look(engine!, ui));
    say({ ready: engine.socketPath });
  } catch (error) {
    say({ failed: startTrouble(error), held: error instanceof FolderHeldError });
    process.exitCode = 3;
  }
}

/** A page looks on by its own port: what it sees does not pass through the host. */
function look(engine: Engine, ui: UiPort): void {
  const server = serveUi(engine, ui);
  ui.onClose(() => server.close());
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
  port.onMessage((value) => {
    if (isStop(value)) void stop(0);
    else if (isPower(value)) engine?.search.onBattery(value.onBattery);
    else if (isProbe(value)) {
      port.postMessage({ probed: canRead(storesOf(value.probe)) } satisfies ReadyMessage);
      // An answer on its way is lost if the process ends at once.
      setTimeout(() => void stop(0), 100);
    }
  });
  // A host that died must not leave an engine behind that holds its folder.
  process.on('disconnect', () => void stop(0));
  process.on('SIGTERM', () => void stop(0));
}
