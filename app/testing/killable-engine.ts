import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { EngineSettings } from '../engine/host.ts';
import type { World } from './world.ts';

/** An engine over a world's stores in a process of its own, to be killed at any moment and started again. */
export class KillableEngine {
  /** What it logged and what it wrote to stderr, over all its lives. */
  readonly logs: string[] = [];
  #child: ChildProcess | null = null;

  /**
   * @param more beside the world's own settings
   * @returns the path of its socket
   */
  start({ folder, dataDir, mailDir, messagesDb, osascript }: World, more: Partial<EngineSettings> = {}): Promise<string> {
    const settings = { dataDir, mailDir, messagesDb, accountsDb: folder.at('Accounts', 'Accounts4.sqlite'), addressBookDir: folder.at('AddressBook'), trustLocalClients: true, ...more };
    const child = fork(fileURLToPath(new URL('engine-process.ts', import.meta.url)), [JSON.stringify(settings), osascript.path], { execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    this.#child = child;
    child.stderr?.on('data', (chunk: Buffer) => this.logs.push(chunk.toString()));
    return new Promise((resolve, reject) => {
      child.on('message', (message: { log?: string; ready?: string }) => {
        if (message.log !== undefined) this.logs.push(message.log);
        if (message.ready !== undefined) resolve(message.ready);
      });
      child.on('exit', () => reject(new Error(`The engine ended first. ${this.logs.slice(-5).join(' ')}`)));
    });
  }

  /** `kill -9`, and waits until it is gone. */
  async kill(): Promise<void> {
    const gone = this.gone();
    this.#child?.kill('SIGKILL');
    this.#child = null;
    await gone;
  }

  /** Once the one that runs now is gone, whoever killed it. */
  async gone(): Promise<void> {
    const child = this.#child;
    if (child !== null && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
}
