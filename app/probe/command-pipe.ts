import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Clock } from '../events/clock.ts';
import { cleanText } from '../events/text.ts';
import type { Deadline } from './deadline.ts';
import { ProbeFailure } from './failure.ts';
import type { Pipe } from './pipe-link.ts';

/** Between closing its stdin, SIGTERM and SIGKILL; within the time of the probe, whose end leaves none. */
const GRACE_MS = 2000;
/** Between two looks for who is left of a group. */
const LOOK_MS = 20;
const MAX_NOTE = 500;

export interface CommandOptions {
  readonly file: string;
  readonly args: readonly string[];
  /** Without anything that is the probe's own. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly deadline: Deadline;
  /** What the server writes to stderr, a line at a time. */
  note(line: string): void;
}

/** Starts a server that speaks MCP over its stdio: the words as they are, without a shell. @throws ProbeFailure */
export function openCommand({ file, args, env, clock, deadline, note }: CommandOptions): Promise<Pipe> {
  return new Promise((resolve, reject) => {
    // A group of its own, so that what it started ends with it.
    const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...env }, detached: true });
    const exited = new Promise<void>((done) => {
      child.once('exit', () => done());
      child.once('error', () => done());
    });
    child.once('error', (error: NodeJS.ErrnoException) => reject(new ProbeFailure('COMMAND_NOT_STARTED', notStarted(file, error.code))));
    child.once('spawn', () => resolve(pipeTo(child, exited, clock, deadline)));
    createInterface({ input: child.stderr }).on('line', (line) => note(`server: ${cleanText(line, MAX_NOTE)}`));
  });
}

function pipeTo(child: ChildProcess, exited: Promise<void>, clock: Clock, deadline: Deadline): Pipe {
  const graced = async (work: Promise<void>) => (await deadline.soon(work.then(() => true), GRACE_MS)) === true;
  return {
    input: child.stdout!,
    output: child.stdin!,
    why: () => {
      const { exitCode, signalCode } = child;
      if (exitCode === null && signalCode === null) return null;
      return new ProbeFailure('CONNECTION_CLOSED', `The program of --command ended${exitCode === null ? ` by ${signalCode}` : ` with code ${exitCode}`}.`);
    },
    close: async () => {
      child.stdin!.end();
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        if (await graced(exited)) break;
        signalGroup(child, signal);
      }
      await exited;
      // What it started may go on and hold the pipes; nobody waits for what it still has to say.
      if (signalGroup(child, 'SIGTERM') && !(await graced(emptied(child, clock)))) signalGroup(child, 'SIGKILL');
      child.stdout!.destroy();
      child.stderr!.destroy();
    },
  };
}

/** @param signal 0 sends none. @returns whether somebody was there to get it */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-child.pid!, signal);
    return true;
  } catch {
    return false;
  }
}

/** Until nobody is left of its group: no event tells. */
function emptied(child: ChildProcess, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const end = clock.monotonic() + GRACE_MS;
    const look = () => {
      if (!signalGroup(child, 0)) resolve();
      else if (clock.monotonic() < end) clock.after(LOOK_MS, look);
    };
    look();
  });
}

function notStarted(file: string, code: string | undefined): string {
  const name = JSON.stringify(file.slice(0, 200));
  if (code === 'ENOENT') return `The program ${name} was not found.`;
  return code === 'EACCES' ? `The program ${name} may not be run.` : `The program ${name} could not be started.`;
}
