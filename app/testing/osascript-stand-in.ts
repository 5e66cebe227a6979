import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One run as it was recorded. */
export interface ScriptRun {
  readonly argv: readonly string[];
  readonly script: string;
  readonly env: readonly string[];
  readonly cwd: string;
}

/** How the next runs end. */
export interface ScriptEnd {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly code?: number;
  /** Before it ends; `never`: it has to be killed. */
  readonly after?: number | 'never';
  /** Bytes of output without an end. */
  readonly floods?: boolean;
  /** By a signal of its own. */
  readonly dies?: boolean;
}

/** What osascript says where an app refuses. */
export const complaint = (number: number): ScriptEnd => ({ code: 1, stderr: `0:97: execution error: Messages got an error: Something about "somebody". (${number})\n` });

/** What it says where a script that writes was ended by an error, and says itself how far it had come. */
export const stoppedAt = (stage: 'before' | 'since', number: number): ScriptEnd => ({ code: 1, stderr: `0:97: execution error: ${number} (${stage === 'before' ? 9003 : 9004})\n` });

/** A real program in the place of /usr/bin/osascript: it records how it was started and what it was given, and ends as it is told. */
export class OsascriptStandIn {
  readonly path: string;
  readonly #runs: string;
  readonly #end: string;

  /** @param folder its own */
  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.path = join(folder, 'osascript');
    this.#runs = join(folder, 'runs.jsonl');
    this.#end = join(folder, 'end.json');
    this.ends({});
    writeFileSync(this.path, `#!${process.execPath}
const { appendFileSync, readFileSync } = require('node:fs');
const end = JSON.parse(readFileSync(${JSON.stringify(this.#end)}, 'utf8'));
const run = { argv: process.argv.slice(2), script: readFileSync(0, 'utf8'), env: Object.keys(process.env).sort(), cwd: process.cwd() };
appendFileSync(${JSON.stringify(this.#runs)}, JSON.stringify(run) + '\\n');
const flood = () => process.stdout.write('x'.repeat(65536), flood);
if (end.dies) process.kill(process.pid, 'SIGKILL');
else if (end.floods) flood();
else if (end.after === 'never') {
  // Not longer than whoever waits for it, who may be killed.
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || process.exit(1), 200);
}
else setTimeout(() => {
  process.stdout.write(end.stdout ?? '\\n');
  process.stderr.write(end.stderr ?? '');
  process.exitCode = end.code ?? 0;
}, end.after ?? 0);
`);
    chmodSync(this.path, 0o755);
  }

  /** From now on. */
  ends(how: ScriptEnd): void {
    writeFileSync(this.#end, JSON.stringify(how));
  }

  /** All runs so far. */
  get runs(): readonly ScriptRun[] {
    if (!existsSync(this.#runs)) return [];
    return readFileSync(this.#runs, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line) as ScriptRun);
  }
}
