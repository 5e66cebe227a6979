import { spawn, type ChildProcess } from 'node:child_process';
import { homedir } from 'node:os';

/**
 * Why a script did not do its work. `timed-out` and `interrupted` (it ended without a word, or was killed for its flood of
 * words): what it had asked of the app may still happen.
 * `other-members`, `other-mail`: our own scripts found something else than they were told to expect.
 */
export type ScriptFault =
  | 'not-permitted' | 'not-running' | 'not-found' | 'other-members' | 'other-mail' | 'timed-out' | 'interrupted' | 'too-long' | 'busy' | 'unavailable' | 'failed';

/** @param nothingWritten proven: the script said itself that it had not come to its writing statement, or it never ran */
export type ScriptAnswer = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly fault: ScriptFault; readonly nothingWritten: boolean };

/** Runs our fixed scripts. Values go in as arguments only. */
export interface ScriptRunner {
  /** @param ms after which it is killed */
  run(script: string, args: readonly string[], ms: number): Promise<ScriptAnswer>;
  /** Kills what runs. */
  close(): void;
}

/** The one program of the system that is started for this (architecture 2). */
const OSASCRIPT = '/usr/bin/osascript';
export const MAX_ARGUMENT_BYTES = 100_000;
/** Of what a script says: a mail's text is the longest. More is killed. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const MAX_ERROR_BYTES = 4096;
const MAX_RUNNING = 4;

/** Numbers of errors that our own scripts raise. */
export const OTHER_MEMBERS = 9001;
export const OTHER_MAIL = 9002;
/** By a script that writes, with the number of the error itself before it: before it told the app to write, and from then on. */
export const BEFORE_WRITING = 9003;
export const SINCE_WRITING = 9004;

/** Apple's numbers: -1743 and -1744 by the owner's Automation settings, -600, -609 and -10810 without the app, -1712 late, -1728 and -1719 no such object. */
const FAULTS: Readonly<Record<number, ScriptFault>> = {
  [-1743]: 'not-permitted', [-1744]: 'not-permitted', [-600]: 'not-running', [-609]: 'not-running', [-10810]: 'not-running', [-1712]: 'timed-out',
  [-1728]: 'not-found', [-1719]: 'not-found', [OTHER_MEMBERS]: 'other-members', [OTHER_MAIL]: 'other-mail',
};

/**
 * `osascript -`: the script on stdin, so that no value ever stands in it; the values behind the dash, where nothing is
 * taken for an option. It inherits our disk access, so it gets nothing else: no folder, no environment but a language.
 */
export class Osascript implements ScriptRunner {
  readonly #program: string;
  readonly #running = new Set<ChildProcess>();

  /** @param program another one in tests only */
  constructor(program: string = OSASCRIPT) {
    this.#program = program;
  }

  run(script: string, args: readonly string[], ms: number): Promise<ScriptAnswer> {
    if (args.reduce((sum, each) => sum + Buffer.byteLength(each) + 1, 0) > MAX_ARGUMENT_BYTES) return Promise.resolve(failed('too-long', true));
    if (this.#running.size >= MAX_RUNNING) return Promise.resolve(failed('busy', true));
    return new Promise((resolve) => {
      const child = spawn(this.#program, ['-', ...args], { cwd: '/', env: { HOME: homedir(), LANG: 'en_US.UTF-8' }, stdio: ['pipe', 'pipe', 'pipe'] });
      this.#running.add(child);
      let [said, complaint] = [Buffer.alloc(0), ''];
      const end = (answer: ScriptAnswer) => {
        clearTimeout(timer);
        this.#running.delete(child);
        child.kill('SIGKILL');
        for (const stream of child.stdio) stream?.destroy();
        resolve(answer);
      };
      const timer = setTimeout(() => end(failed('timed-out')), ms);
      // Also told of one that runs and cannot be killed.
      child.on('error', () => end(child.pid === undefined ? failed('unavailable', true) : failed('interrupted')));
      child.stdout.on('data', (chunk: Buffer) => {
        said = Buffer.concat([said, chunk]);
        if (said.length > MAX_OUTPUT_BYTES) end(failed('interrupted'));
      });
      child.stderr.on('data', (chunk: Buffer) => {
        complaint = `${complaint}${chunk.toString()}`.slice(-MAX_ERROR_BYTES);
      });
      // One that ended before it read its script says so by its exit.
      child.stdin.on('error', () => undefined);
      child.stdin.end(script);
      child.on('close', (code) => end(code === 0 ? { ok: true, text: said.toString().replace(/\n$/, '') } : failureOf(complaint)));
    });
  }

  close(): void {
    for (const child of this.#running) child.kill('SIGKILL');
  }
}

const failed = (fault: ScriptFault, nothingWritten = false): ScriptAnswer => ({ ok: false, fault, nothingWritten });

/**
 * `0:5: execution error: Messages got an error: ... (-1743)`: the number stands last; of a script that writes
 * `0:5: execution error: -1743 (9003)`. Whether something was written is read from the script's own number alone.
 */
function failureOf(complaint: string): ScriptAnswer {
  const [, inner, last] = /(?:(-?\d{1,6}) )?\((-?\d{1,6})\)\s*$/.exec(complaint) ?? [];
  if (last === undefined) return failed('interrupted');
  const number = Number(last);
  if (inner === undefined || (number !== BEFORE_WRITING && number !== SINCE_WRITING)) return failed(FAULTS[number] ?? 'failed');
  const fault = FAULTS[Number(inner)] ?? 'failed';
  if (number === BEFORE_WRITING) return failed(fault, true);
  // What is missing then is something else than what the script was told to find.
  return failed(fault === 'not-found' ? 'failed' : fault);
}
