import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { contract } from '../contract/contract.ts';
import { connectContract, type Port } from '../contract/port.ts';
import { tempFolder } from './temp.ts';

const entry = fileURLToPath(new URL('../engine/process.ts', import.meta.url));
const start = (): ChildProcess => fork(entry, [], { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });

/** The first message that the predicate takes. */
const said = (child: ChildProcess, fits: (value: Record<string, unknown>) => boolean) => new Promise<Record<string, unknown>>((resolve) => {
  child.on('message', (value) => {
    if (fits(value as Record<string, unknown>)) resolve(value as Record<string, unknown>);
  });
});

const pageOf = (child: ChildProcess, ui: number): Port => ({
  postMessage: (value) => void child.send({ ui, value }),
  onMessage(listener) {
    const hear = (value: unknown) => {
      const frame = value as { ui?: number; value?: unknown };
      if (frame.ui === ui) listener(frame.value);
    };
    child.on('message', hear);
    return () => child.off('message', hear);
  },
});

test('a second page has a port of its own: answers, changes and its end concern no other', async () => {
  using folder = tempFolder();
  const child = start();
  const ready = said(child, (value) => 'ready' in value);
  child.send({ kind: 'app', start: { dataDir: folder.at('data'), mailDir: folder.at('Mail'), messagesDb: folder.at('chat.db'), accountsDb: folder.at('a'), addressBookDir: folder.at('b') } });
  await ready;
  child.send({ ui: 1 });
  child.send({ ui: 2 });
  const [one, two] = [connectContract(contract, pageOf(child, 1)), connectContract(contract, pageOf(child, 2))];
  expect((await one.call.app.snapshot({})).events.length).toBe(2);
  const changed = new Promise<void>((resolve) => { two.on('changed', () => resolve()); });
  expect(await one.call.events.set({ type: 'mail.received', on: true })).toMatchObject({ ok: true });
  await changed;
  child.send({ ui: 1, closed: true });
  const fromOne: unknown[] = [];
  child.on('message', (value) => {
    if ((value as { ui?: number }).ui === 1) fromOne.push(value);
  });
  expect(await two.call.events.set({ type: 'messages.received', on: true })).toMatchObject({ ok: true });
  await two.call.status.get({});
  expect(fromOne).toEqual([]);

  const exit = once(child, 'exit');
  child.send({ stop: true });
  expect(await exit).toEqual([0, null]);
});

test('a second engine on a held folder says so as such', async () => {
  using folder = tempFolder();
  const settings = { dataDir: folder.at('data'), mailDir: folder.at('Mail'), messagesDb: folder.at('chat.db'), accountsDb: folder.at('a'), addressBookDir: folder.at('b') };
  const [first, second] = [start(), start()];
  const ready = said(first, (value) => 'ready' in value);
  first.send({ kind: 'app', start: settings });
  await ready;
  const failed = said(second, (value) => 'failed' in value);
  second.send({ kind: 'app', start: settings });
  expect(await failed).toMatchObject({ held: true });
  for (const child of [first, second]) {
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }
});

test.each([
  ['both can be read', { index: 'SQLite format 3\0', chat: 'SQLite format 3\0' }, true],
  ['one is missing', { index: 'SQLite format 3\0' }, true],
  ['an empty read is a refusal', { index: '', chat: 'SQLite format 3\0' }, false],
  ['neither is there', {}, null],
])('asked to look and no more, a process says what it found and ends: %s', async (_name, files: { index?: string; chat?: string }, wanted) => {
  using folder = tempFolder();
  mkdirSync(folder.at('Mail', 'V10', 'MailData'), { recursive: true });
  chmodSync(folder.at('Mail'), 0o755);
  if (files.index !== undefined) writeFileSync(folder.at('Mail', 'V10', 'MailData', 'Envelope Index'), files.index);
  if (files.chat !== undefined) writeFileSync(folder.at('chat.db'), files.chat);
  const child = start();
  const probed = said(child, (value) => 'probed' in value);
  const exit = once(child, 'exit');
  child.send({ probe: { dataDir: folder.at('data'), mailDir: folder.at('Mail'), messagesDb: folder.at('chat.db') } });
  expect(await probed).toEqual({ probed: wanted });
  expect(await exit).toEqual([0, null]);
});
