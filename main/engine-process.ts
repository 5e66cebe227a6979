import { spawn } from 'node:child_process';
import { utilityProcess, type MessagePortMain } from 'electron';
import type { Port } from '../app/contract/port.ts';

export interface EngineExit {
  readonly code: number | null;
  /** `exit 3`, `signal SIGKILL` or a fatal error of the runtime: for the log. */
  readonly reason: string;
}

/** One run of the engine, however it is hosted. */
export interface EngineProcess {
  /** Null until it was spawned. */
  readonly pid: number | null;
  readonly port: Port;
  /** Hands a page's port over. */
  link(page: MessagePortMain): void;
  /** Told once. */
  onExit(listener: (exit: EngineExit) => void): void;
  /** At once, without asking it. */
  kill(): void;
}

/** @param id names the run in the log */
export type StartEngineProcess = (id: string) => EngineProcess;

const UNWANTED = [/^NODE_/, /^ELECTRON_/, /^DYLD_/, /^LD_/, /^BELFRY_/, /^PLAYWRIGHT/, /^V8_/, /^UV_/, /^OPENSSL_/, /^SSL_/, /^MALLOC/];

/** The environment without what makes a runtime load, log or listen to something: the engine has our disk access. */
export function cleanEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && !UNWANTED.some((name) => name.test(entry[0]))));
}

/** Lines of a stream, for the log. */
function lines(stream: NodeJS.ReadableStream | null, log: (line: string) => void): void {
  stream?.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString('utf8').split('\n')) if (line !== '') log(line.slice(0, 512));
  });
}

/**
 * As a utility process of Electron. `disclaim` and `allowLoadingUnsignedLibraries` stay off: macOS would treat the
 * engine as a subject of its own without the app's disk access, or load anybody's code into it.
 */
export function utilityEngine(entry: string, env: NodeJS.ProcessEnv, log: (line: string) => void): StartEngineProcess {
  return (id) => {
    const child = utilityProcess.fork(entry, [], {
      env: cleanEnvironment(env), execArgv: [], serviceName: 'Belfry Engine', stdio: ['ignore', 'pipe', 'pipe'], disclaim: false, allowLoadingUnsignedLibraries: false,
    });
    lines(child.stdout, (line) => log(`${id}: ${line}`));
    lines(child.stderr, (line) => log(`${id}: ${line}`));
    let fatal: string | null = null;
    child.on('error', (type, location) => { fatal = `${type} in ${location}`; });
    return {
      get pid() { return child.pid ?? null; },
      port: {
        postMessage: (value) => child.postMessage(value),
        onMessage(listener) {
          child.on('message', listener);
          return () => child.off('message', listener);
        },
      },
      link: (page) => child.postMessage({ ui: true }, [page]),
      onExit: (listener) => child.once('exit', (code) => listener({ code, reason: fatal ?? `exit ${code}` })),
      kill() {
        // The child's own kill asks with SIGTERM; this is for one that does not answer.
        if (child.pid !== undefined) process.kill(child.pid, 'SIGKILL');
      },
    };
  };
}

/**
 * As a Node process, where Electron's Node is too old for the engine's SQLite. No port can be transferred to it, so
 * pages share the channel by numbered frames. @param node path of a Node 24
 */
export function nodeEngine(node: string, entry: string, env: NodeJS.ProcessEnv, log: (line: string) => void): StartEngineProcess {
  return (id) => {
    const child = spawn(node, [entry], { env: cleanEnvironment(env), stdio: ['ignore', 'pipe', 'pipe', 'ipc'], serialization: 'json' });
    lines(child.stdout, (line) => log(`${id}: ${line}`));
    lines(child.stderr, (line) => log(`${id}: ${line}`));
    const send = (value: unknown) => {
      if (child.connected) child.send(value as object, () => undefined);
    };
    const pages = new Map<number, MessagePortMain>();
    let last = 0;
    child.on('message', (value: { ui?: unknown; value?: unknown } | null) => {
      if (typeof value?.ui === 'number') pages.get(value.ui)?.postMessage(value.value);
    });
    return {
      get pid() { return child.pid ?? null; },
      port: {
        postMessage: send,
        onMessage(listener) {
          const hear = (value: { ui?: unknown }) => {
            if (value.ui === undefined) listener(value);
          };
          child.on('message', hear);
          return () => child.off('message', hear);
        },
      },
      link(page) {
        const ui = (last += 1);
        pages.set(ui, page);
        send({ ui });
        page.on('message', ({ data }) => send({ ui, value: data }));
        page.on('close', () => {
          pages.delete(ui);
          send({ ui, closed: true });
        });
        page.start();
      },
      onExit(listener) {
        child.once('exit', (code, signal) => listener({ code, reason: signal === null ? `exit ${code}` : `signal ${signal}` }));
        child.once('error', (error: NodeJS.ErrnoException) => {
          if (child.pid === undefined) listener({ code: null, reason: `not started: ${error.code ?? error.name}` });
        });
      },
      kill: () => void child.kill('SIGKILL'),
    };
  };
}
