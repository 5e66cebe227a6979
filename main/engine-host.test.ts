import { beforeEach, describe, expect, test } from 'vitest';
import type { MessagePortMain } from 'electron';
import { VirtualClock } from '../app/testing/virtual-clock.ts';
import { EngineHost } from './engine-host.ts';
import type { EngineExit, EngineProcess } from './engine-process.ts';

/** A process that says what the test lets it say. */
class FakeProcess implements EngineProcess {
  readonly pid = 7;
  readonly told: unknown[] = [];
  readonly linked: MessagePortMain[] = [];
  killed = 0;
  /** Ends when it is asked to, as the engine does. */
  polite = true;
  #messages = new Set<(value: unknown) => void>();
  #exits: ((exit: EngineExit) => void)[] = [];
  readonly port = {
    postMessage: (value: unknown) => {
      this.told.push(value);
      if (this.polite && typeof value === 'object' && value !== null && 'stop' in value) this.exit(0);
    },
    onMessage: (listener: (value: unknown) => void) => {
      this.#messages.add(listener);
      return () => this.#messages.delete(listener);
    },
  };
  link(page: MessagePortMain): void { this.linked.push(page); }
  onExit(listener: (exit: EngineExit) => void): void { this.#exits.push(listener); }
  kill(): void {
    this.killed += 1;
    this.exit(null);
  }
  says(value: unknown): void {
    for (const listener of this.#messages) listener(value);
  }
  exit(code: number | null): void {
    for (const listener of this.#exits.splice(0)) listener({ code, reason: `exit ${code}` });
  }
}

let clock: VirtualClock;
let made: FakeProcess[];
let log: string[];
let host: EngineHost;
beforeEach(() => {
  clock = new VirtualClock();
  made = [];
  log = [];
  host = new EngineHost({
    clock, log: (line) => log.push(line), message: () => ({ kind: 'app', start: { dataDir: '/data' } }),
    spawn: () => {
      made.push(new FakeProcess());
      return made.at(-1)!;
    },
  });
  host.start();
});
const last = () => made.at(-1)!;
const ready = () => last().says({ ready: '/data/run/engine.sock' });

test('the first message starts the engine; once it is ready it is running, with its socket and a port for its calls', () => {
  expect(last().told).toEqual([{ kind: 'app', start: { dataDir: '/data' } }]);
  expect(host.state).toMatchObject({ engine: 'starting', restarts: 0 });
  expect(host.client).toBeNull();
  ready();
  expect(host.state).toMatchObject({ engine: 'running', otherCopy: false, sentence: null });
  expect(host.client).not.toBeNull();
  expect(host.socketPath).toBe('/data/run/engine.sock');
});

describe('after a crash', () => {
  test('it is started again after 250 ms, 1 s and 4 s', () => {
    for (const wait of [250, 1000, 4000]) {
      ready();
      last().exit(1);
      expect(host.state.engine).toBe('restarting');
      const before = made.length;
      clock.advance(wait - 1);
      expect(made.length).toBe(before);
      clock.advance(1);
      expect(made.length).toBe(before + 1);
    }
    ready();
    expect(host.state).toMatchObject({ engine: 'running', restarts: 3 });
  });

  test('the fourth within a minute stops it for good, with a sentence', () => {
    for (let i = 0; i < 4; i += 1) {
      last().exit(1);
      clock.advance(4000);
    }
    expect(host.state).toMatchObject({ engine: 'stopped', restarts: 3, sentence: "Belfry's engine ended 4 times within a minute." });
    clock.advance(3_600_000);
    expect(made.length).toBe(4);
  });

  test('crashes more than a minute apart never stop it', () => {
    for (let i = 0; i < 8; i += 1) {
      ready();
      last().exit(1);
      clock.advance(30_001);
    }
    expect(host.state.engine).not.toBe('stopped');
    expect(made.length).toBe(9);
  });

  test('a restart by the owner begins to count anew', async () => {
    for (let i = 0; i < 4; i += 1) {
      last().exit(1);
      clock.advance(4000);
    }
    await host.restart();
    expect(made.length).toBe(5);
    ready();
    expect(host.state.engine).toBe('running');
    last().exit(1);
    expect(host.state.engine).toBe('restarting');
  });

  test('pages hear that it went and that another one is there', () => {
    const told: boolean[] = [];
    host.onEngine((engine) => told.push(engine !== null));
    ready();
    last().exit(1);
    clock.advance(250);
    ready();
    expect(told).toEqual([true, false, true]);
  });
});

test('one that never gets ready is killed after 30 s and counts as crashed', () => {
  clock.advance(30_000);
  expect(made[0]!.killed).toBe(1);
  expect(host.state.engine).toBe('restarting');
});

test('a folder that another engine holds is another copy, and is tried again every 15 s', () => {
  last().says({ failed: 'Another Belfry engine holds this data folder.', held: true });
  expect(host.state).toMatchObject({ otherCopy: true, sentence: 'Another Belfry engine holds this data folder.' });
  clock.advance(15_000);
  expect(made.length).toBe(2);
  ready();
  expect(host.state).toMatchObject({ engine: 'running', otherCopy: false, restarts: 0 });
});

test('what keeps it from starting at all is said, and not tried again by itself', () => {
  last().says({ failed: 'The engine could not start: the disk is full.', held: false });
  expect(host.state).toMatchObject({ engine: 'stopped', otherCopy: false, sentence: 'The engine could not start: the disk is full.' });
  clock.advance(3_600_000);
  expect(made.length).toBe(1);
});

test('one that stops because its socket was replaced stays stopped', () => {
  ready();
  last().says({ fatal: 'The socket in the data folder was replaced.' });
  last().exit(3);
  expect(host.state).toMatchObject({ engine: 'stopped', sentence: 'The socket in the data folder was replaced.' });
});

test('a stop asks first, and kills one that does not answer within 4 s; neither counts as a crash', async () => {
  ready();
  await host.stop();
  expect(last().told.at(-1)).toEqual({ stop: true });
  expect(last().killed).toBe(0);
  host.start();
  ready();
  last().polite = false;
  const stopped = host.stop();
  clock.advance(3999);
  expect(last().killed).toBe(0);
  clock.advance(1);
  await stopped;
  expect(last().killed).toBe(1);
  clock.advance(60_000);
  expect(made.length).toBe(2);
});

test('a page is linked only while an engine is ready', () => {
  const page = {} as MessagePortMain;
  expect(host.link(page)).toBe(false);
  ready();
  expect(host.link(page)).toBe(true);
  expect(last().linked).toEqual([page]);
  last().exit(1);
  expect(host.link(page)).toBe(false);
});

test('the log names the run and why it ended', () => {
  last().says({ log: 'mail.received: the store is readable' });
  last().exit(9);
  expect(log).toEqual(['engine 1: mail.received: the store is readable', 'engine 1: ended (exit 9)']);
});
