import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { tempFolder, type TempFolder } from '../temp.ts';
import { closedDoor, type ClosedDoor } from './closed-door.ts';

/** Longest run of a client, in ms: a bound for hangs, far above what a busy machine needs. */
const PATIENCE = 150_000;

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A client at work, in a process group of its own. */
export class ClientProcess {
  readonly #child: ChildProcess;
  readonly #timer: NodeJS.Timeout;
  readonly ended: Promise<Outcome>;
  stdout = '';
  stderr = '';

  constructor(command: readonly string[], cwd: string, env: Record<string, string>) {
    const [program, ...args] = command;
    this.#child = spawn(program!, args, { cwd, env, detached: true, stdio: 'pipe' });
    this.#child.stdout!.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.#child.stderr!.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.#child.stdin!.on('error', () => undefined);
    this.#timer = setTimeout(() => this.kill(), PATIENCE);
    this.ended = new Promise((resolve, reject) => {
      this.#child.on('error', reject);
      this.#child.on('close', (code) => {
        clearTimeout(this.#timer);
        resolve({ code, stdout: this.stdout, stderr: this.stderr });
      });
    });
    this.ended.catch(() => undefined);
  }

  write(text: string): void {
    this.#child.stdin!.write(text);
  }

  end(): void {
    this.#child.stdin!.end();
  }

  /** The whole group, as long as its leader lives: later its number may be another's. */
  kill(): void {
    if (this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    process.kill(-this.#child.pid, 'SIGKILL');
  }
}

/** Nothing but a fresh home: no settings, no keys, no way to another computer. Clients run here. */
export class EmptyHome implements AsyncDisposable {
  readonly #folder: TempFolder = tempFolder('belfry-home');
  readonly #started: ClientProcess[] = [];
  readonly #env: Record<string, string>;
  readonly door: ClosedDoor;
  /** The folder in which clients are started. */
  readonly work: string;

  private constructor(door: ClosedDoor, env: Readonly<Record<string, string>>) {
    this.door = door;
    this.work = this.at('work');
    const temp = this.at('tmp');
    for (const folder of [this.work, temp]) mkdirSync(folder);
    this.#env = { HOME: this.at(), TMPDIR: temp, PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', TERM: 'xterm', HTTPS_PROXY: door.url, https_proxy: door.url, NO_PROXY: '127.0.0.1,localhost', ...env };
  }

  /** @param env the whole environment besides home, path and proxy. */
  static async make(env: Readonly<Record<string, string>> = {}): Promise<EmptyHome> {
    return new EmptyHome(await closedDoor(), env);
  }

  at(...parts: string[]): string {
    return this.#folder.at(...parts);
  }

  write(path: string, text: string): string {
    const full = this.at(path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
    return full;
  }

  /** The text of a file, empty before there is one. */
  read(path: string): string {
    return existsSync(this.at(path)) ? readFileSync(this.at(path), 'utf8') : '';
  }

  start(command: readonly string[]): ClientProcess {
    const started = new ClientProcess(command, this.work, this.#env);
    this.#started.push(started);
    return started;
  }

  /** Runs a client to its end, with nothing on stdin. */
  run(command: readonly string[]): Promise<Outcome> {
    const started = this.start(command);
    started.end();
    return started.ended;
  }

  /** Everything that lives in this home, also what left its group. Empty where the system does not tell. */
  living(): { readonly pid: number; readonly command: string }[] {
    if (!existsSync('/proc/self/environ')) return [];
    const mark = `HOME=${this.at()}\0`;
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark) ? [{ pid: Number(pid), command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') }] : [];
      } catch {
        // It ended meanwhile, or is another user's.
        return [];
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const started of this.#started) started.kill();
    await Promise.allSettled(this.#started.map((started) => started.ended));
    for (const { pid } of this.living()) process.kill(pid, 'SIGKILL');
    await this.door.close();
    this.#folder.remove();
  }
}

/** The same command on a terminal: some of what a client does happens only there. */
export function onTerminal(command: readonly string[]): string[] {
  if (process.platform === 'darwin') return ['/usr/bin/script', '-q', '/dev/null', ...command];
  return ['/usr/bin/script', '-qefc', command.map((part) => `'${part.replaceAll("'", String.raw`'\''`)}'`).join(' '), '/dev/null'];
}
