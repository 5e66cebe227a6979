import type { MessagePortMain } from 'electron';
import { contract } from '../app/contract/contract.ts';
import { connectContract, type ContractClient } from '../app/contract/port.ts';
import type { ShellState } from '../app/contract/shell.ts';
import type { PowerMessage, ReadyMessage, StartMessage, StopMessage } from '../app/engine/process.ts';
import type { Clock } from './clock.ts';
import type { EngineExit, EngineProcess, StartEngineProcess } from './engine-process.ts';

export type EngineClient = ContractClient<typeof contract>;

export interface EngineHostState {
  readonly engine: ShellState['engine'];
  /** Restarts after a failure, in this run of the app. */
  readonly restarts: number;
  readonly otherCopy: boolean;
  /** Why it is not running, as a whole sentence, or null. */
  readonly sentence: string | null;
}

export interface EngineHostOptions {
  readonly spawn: StartEngineProcess;
  readonly message: () => StartMessage;
  readonly clock: Clock;
  readonly log: (line: string) => void;
}

const RESTARTS = 3;
const WINDOW_MS = 60_000;
const BACK_OFF_MS = [250, 1000, 4000];
const STOP_LIMIT_MS = 4000;
const READY_LIMIT_MS = 30_000;
/** The other copy may have gone. */
const RETRY_MS = 15_000;

/** The life of the engine: started, watched, started again after a failure, and given up after the third within a minute. */
export class EngineHost {
  readonly #options: EngineHostOptions;
  readonly #stateListeners = new Set<(state: EngineHostState) => void>();
  readonly #engineListeners = new Set<(engine: EngineClient | null) => void>();
  #state: EngineHostState = { engine: 'starting', restarts: 0, otherCopy: false, sentence: null };
  #process: EngineProcess | null = null;
  #client: EngineClient | null = null;
  #socketPath: string | null = null;
  #failedAt: number[] = [];
  #run = 0;
  #cancelTimer: () => void = () => undefined;
  #stopping: Promise<void> | null = null;
  /** Was asked to end, so its end is no failure. */
  #asked: EngineProcess | null = null;

  constructor(options: EngineHostOptions) {
    this.#options = options;
  }

  get state(): EngineHostState {
    return this.#state;
  }
  /** Null while none is ready. */
  get client(): EngineClient | null {
    return this.#client;
  }

  /** Of the running engine. */
  get socketPath(): string | null {
    return this.#socketPath;
  }

  onState(listener: (state: EngineHostState) => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  /** Told each time there is a new engine, and null when it went. */
  onEngine(listener: (engine: EngineClient | null) => void): () => void {
    this.#engineListeners.add(listener);
    return () => this.#engineListeners.delete(listener);
  }

  start(): void {
    if (this.#process !== null) return;
    this.#cancelTimer();
    this.#run += 1;
    const id = `engine ${this.#run}`;
    const child = this.#options.spawn(id);
    this.#process = child;
    let failure: string | null = null;
    const mine = () => this.#process === child;
    this.#cancelTimer = this.#options.clock.after(READY_LIMIT_MS, () => {
      if (mine()) child.kill();
    });
    const stopListening = child.port.onMessage((value) => {
      const said = value as Partial<Record<'ready' | 'failed' | 'fatal' | 'log', string>> & { held?: boolean };
      if (typeof value !== 'object' || value === null || !mine()) return;
      if (typeof said.log === 'string') this.#options.log(`${id}: ${said.log}`);
      else if (typeof said.ready === 'string') this.#ready(child, id, said.ready);
      else if (typeof said.failed === 'string') this.#refused(child, said as ReadyMessage & { failed: string });
      else if (typeof said.fatal === 'string') failure = said.fatal;
    });
    child.onExit((exit) => {
      stopListening();
      if (mine()) this.#ended(child, id, exit, failure);
    });
    child.port.postMessage(this.#options.message());
  }

  /** The owner asked: what failed before no longer counts. */
  async restart(): Promise<void> {
    this.#failedAt = [];
    this.#set({ engine: 'restarting', otherCopy: false, sentence: null });
    await this.stop();
    this.start();
  }

  /** Asks the engine to end, and ends it if it does not within a few seconds. */
  stop(): Promise<void> {
    this.#cancelTimer();
    const child = this.#process;
    if (child === null) return Promise.resolve();
    this.#asked = child;
    this.#stopping ??= this.#end(child).finally(() => { this.#stopping = null; });
    return this.#stopping;
  }

  /** A message that starts a later engine says it too. */
  onBattery(onBattery: boolean): void {
    this.#process?.port.postMessage({ onBattery } satisfies PowerMessage);
  }

  /** @returns false while no engine is ready to look at. */
  link(page: MessagePortMain): boolean {
    if (this.#client === null || this.#process === null) return false;
    this.#process.link(page);
    return true;
  }

  #end(child: EngineProcess): Promise<void> {
    return new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(STOP_LIMIT_MS, () => {
        this.#options.log('the engine did not end in time and is killed');
        child.kill();
      });
      child.onExit(() => {
        cancel();
        resolve();
      });
      this.#disconnect();
      child.port.postMessage({ stop: true } satisfies StopMessage);
    });
  }

  #ready(child: EngineProcess, id: string, socketPath: string): void {
    this.#cancelTimer();
    this.#options.log(`${id}: ready, process ${child.pid ?? '?'}`);
    this.#socketPath = socketPath;
    this.#client = connectContract(contract, child.port);
    this.#set({ engine: 'running', otherCopy: false, sentence: null });
    for (const listener of this.#engineListeners) listener(this.#client);
  }

  /** It could not start at all. Trying at once again would end the same way. */
  #refused(child: EngineProcess, { failed, held }: { failed: string; held?: boolean }): void {
    this.#options.log(failed);
    this.#process = null;
    child.kill();
    this.#disconnect();
    this.#set({ engine: held ? 'starting' : 'stopped', otherCopy: held === true, sentence: failed });
    this.#cancelTimer();
    if (held) this.#cancelTimer = this.#options.clock.after(RETRY_MS, () => this.start());
  }

  #ended(child: EngineProcess, id: string, exit: EngineExit, failure: string | null): void {
    const { clock, log } = this.#options;
    this.#cancelTimer();
    this.#process = null;
    this.#disconnect();
    log(`${id}: ended (${exit.reason})`);
    if (this.#asked === child) return;
    const now = clock.monotonic();
    this.#failedAt = [...this.#failedAt.filter((at) => now - at < WINDOW_MS), now];
    // Somebody else writes in our folder: starting again would only fight with it.
    if (failure !== null || this.#failedAt.length > RESTARTS) {
      return this.#set({ engine: 'stopped', sentence: failure ?? `Belfry's engine ended ${this.#failedAt.length} times within a minute.` });
    }
    const wait = BACK_OFF_MS[this.#failedAt.length - 1]!;
    this.#set({ engine: 'restarting', restarts: this.#state.restarts + 1 });
    this.#cancelTimer = clock.after(wait, () => this.start());
  }

  #disconnect(): void {
    const client = this.#client;
    if (client === null) return;
    this.#client = null;
    this.#socketPath = null;
    client.close();
    for (const listener of this.#engineListeners) listener(null);
  }

  #set(change: Partial<EngineHostState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#stateListeners) listener(this.#state);
  }
}
