import { beforeEach, expect, test } from 'vitest';
import type { ShellState } from '../app/contract/shell.ts';
import { VirtualClock } from '../app/testing/virtual-clock.ts';
import { Updates, type UpdateSource } from './updates.ts';

let clock: VirtualClock;
let answering: number;
let automatic: boolean;
let found: () => Promise<string | null>;
let done: string[];
let states: ShellState['update'][];

beforeEach(() => {
  clock = new VirtualClock();
  answering = 0;
  automatic = true;
  found = () => Promise.resolve('0.2.0');
  done = [];
  states = [];
});

const source: UpdateSource = {
  fetch: () => {
    done.push('fetch');
    return found();
  },
  install: () => done.push('install'),
};
const updates = (from: UpdateSource | null = source) => new Updates(from, {
  automatic: () => automatic,
  answering: () => Promise.resolve(answering),
  changed: (update) => states.push(update),
  prepare: () => {
    done.push('engine stopped');
    return Promise.resolve();
  },
}, clock);

const settled = () => new Promise<void>((resolve) => { setImmediate(resolve); });

test('without a feed nothing is looked for and nothing is offered', async () => {
  const off = updates(null);
  off.start();
  clock.advance(24 * 3_600_000);
  expect(off.update).toEqual({ state: 'off', version: null });
  await expect(off.check()).resolves.toMatchObject({ ok: false, message: "This build doesn't update itself." });
  await expect(off.restart()).resolves.toMatchObject({ ok: false, message: "This build doesn't update itself." });
  expect(done).toEqual([]);
});

test('what is newer is fetched and waits for the owner', async () => {
  const some = updates();
  await expect(some.check()).resolves.toEqual({ ok: true, changed: true, sentence: 'Belfry 0.2.0 is ready. Restart to update.' });
  expect(states).toEqual([{ state: 'checking', version: null }, { state: 'ready', version: '0.2.0' }]);
  expect(done).toEqual(['fetch']);
});

test('two who ask at once get one look', async () => {
  const some = updates();
  await Promise.all([some.check(), some.check()]);
  expect(done).toEqual(['fetch']);
});

test('no newer version, and a feed that can\'t be read, are two things', async () => {
  const some = updates();
  found = () => Promise.resolve(null);
  await expect(some.check()).resolves.toMatchObject({ ok: true, sentence: 'Belfry is up to date.' });
  found = () => Promise.reject(new Error('no network'));
  await expect(some.check()).resolves.toMatchObject({ ok: false, message: "Couldn't check for updates. Belfry tries again later." });
  expect(some.update.state).toBe('failed');
});

test('it looks by itself a minute after the start and every six hours, unless the owner turned that off', async () => {
  found = () => Promise.resolve(null);
  const some = updates();
  some.start();
  clock.advance(60_000);
  await settled();
  expect(done).toEqual(['fetch']);
  clock.advance(6 * 3_600_000);
  await settled();
  expect(done).toEqual(['fetch', 'fetch']);
  automatic = false;
  clock.advance(6 * 3_600_000);
  await settled();
  expect(done).toEqual(['fetch', 'fetch']);
});

test('the engine ends before the app is replaced', async () => {
  const some = updates();
  await some.check();
  await expect(some.restart()).resolves.toMatchObject({ ok: true, sentence: 'Belfry is restarting.' });
  await settled();
  expect(done).toEqual(['fetch', 'engine stopped', 'install']);
});

test('while a client waits for an answer nothing is replaced; then it is, once', async () => {
  const some = updates();
  await some.check();
  answering = 2;
  await expect(some.restart()).resolves.toMatchObject({ ok: true, changed: false, sentence: 'A client waits for an answer. Belfry restarts once it has it.' });
  await some.restart();
  clock.advance(60_000);
  await settled();
  expect(done).toEqual(['fetch']);
  answering = 0;
  clock.advance(1000);
  await settled();
  expect(done).toEqual(['fetch', 'engine stopped', 'install']);
});

test('nothing restarts before an update is there', async () => {
  await expect(updates().restart()).resolves.toMatchObject({ ok: false, message: 'No update is ready.' });
});
