import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runRemote } from '../cli/remote-command.ts';
import { version } from '../engine/version.ts';
import { openForReading } from '../search/index-file.ts';
import type { SearchIndex } from '../search/search-index.ts';
import { findCanary } from './canary.ts';
import { mailArgs, MAIL, ring } from './conformance-kit.ts';
import { startWorld, type World } from './world.ts';

const KEY = Buffer.alloc(32, 3);
/** A client that may search, known from settings alone. */
const settings = {
  clients: [{ id: '0123abcd', identity: { display: 'agent' }, decision: 'always', grants: ['mail:everything', 'search'] }],
};
const TIME = { timeout: 120_000 };
const entry = fileURLToPath(new URL('engine-process.ts', import.meta.url));
const hostOf = ({ folder, dataDir, mailDir, messagesDb }: World, searchKey: Buffer = KEY) => ({
  dataDir, mailDir, messagesDb, accountsDb: folder.at('Accounts', 'Accounts4.sqlite'), addressBookDir: folder.at('AddressBook'), trustLocalClients: true, searchKey: searchKey.toString('base64'),
});
const indexOf = (world: World): SearchIndex => {
  const { index } = world.engine.search;
  if (typeof index === 'string') throw new Error(index);
  return index;
};
const count = async (world: World, query: string): Promise<number> => {
  const answer = await indexOf(world).search({ query, snippets: false, limit: 1 });
  return answer.ok ? answer.count : -1;
};
const ready = (world: World, mails: number) => expect.poll(() => [world.engine.search.state().phase, world.engine.search.state().indexed], TIME).toEqual(['ready', mails]);
/** Arrivals with a file each. */
const fill = async (world: World, mails: number): Promise<void> => {
  await world.writer.burst({ store: 'mail', n: mails, perSecond: 100_000, senders: ['ada@example.org'], like: { file: true, text: 'wombat words' } });
};

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

test('kill -9 while it is built: each start goes on where the last ended, and nothing is in it twice', async () => {
  await using world = await startWorld({ settings, start: false });
  const MAILS = 2500;
  await fill(world, MAILS);
  const path = world.folder.at('data', 'search', 'mail.db');
  const inIndex = (): number => {
    if (!existsSync(path)) return 0;
    try {
      const db = openForReading(path, { key: KEY });
      const mails = db.prepare('SELECT COUNT(*) FROM mails').pluck().get() as number;
      db.close();
      return mails;
    } catch {
      // Being made in this moment.
      return 0;
    }
  };
  let before = 0;
  for (let kill = 0; kill < 3; kill += 1) {
    const child = fork(entry, [JSON.stringify(hostOf(world))], { execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    await expect.poll(() => inIndex() > before || child.exitCode !== null, { ...TIME, interval: 20 }).toBe(true);
    child.kill('SIGKILL');
    await ended(child);
    const kept = inIndex();
    expect(kept).toBeGreaterThan(before);
    before = kept;
    if (kept === MAILS) break;
  }
  const engine = await startEngine(world);
  await ready(world, MAILS);
  expect(await count(world, 'wombat')).toBe(MAILS);
  await engine.stop();
  const db = openForReading(path, { key: KEY });
  expect(db.prepare('SELECT COUNT(*), COUNT(DISTINCT mail), COUNT(DISTINCT doc) FROM mails').raw().get()).toEqual([MAILS, MAILS, MAILS]);
  db.close();
  // What was written in between by a process that was killed holds no clear text either.
  for (const suffix of ['', '-wal']) if (existsSync(path + suffix)) expect(readFileSync(path + suffix).includes('wombat')).toBe(false);
}, 180_000);

/** The world's engine with a key for the index. */
async function startEngine(world: World, searchKey: Buffer = KEY) {
  world.host = { searchKey: searchKey.toString('base64') };
  return world.startEngine();
}

test('another key, a damaged file, a file cut short: made anew, which is said; without its key nothing can be read', async () => {
  await using world = await startWorld({ settings, start: false });
  await fill(world, 30);
  const path = world.folder.at('data', 'search', 'mail.db');
  let engine = await startEngine(world);
  await ready(world, 30);
  await engine.stop();
  expect(() => openForReading(path, { key: Buffer.alloc(32, 4) })).toThrow();
  expect(() => openForReading(path, { plain: true })).toThrow();
  const made = () => world.log.filter((line) => line === 'The index could not be used (damaged, or with another key), so it is made anew.').length;
  const spoils: [string, () => Buffer][] = [
    ['another key', () => KEY],
    ['noise', () => { writeFileSync(path, Buffer.alloc(50_000, 'noise')); return KEY; }],
    ['cut short', () => { writeFileSync(path, readFileSync(path).subarray(0, 16_384)); return KEY; }],
    // Bits that flipped in every page but the first.
    ['flipped', () => { const bytes = readFileSync(path); for (let at = 9000; at < bytes.length; at += 4096) bytes[at] = bytes[at]! ^ 0xff; writeFileSync(path, bytes); return KEY; }],
  ];
  for (const [nth, [name, spoil]] of spoils.entries()) {
    engine = await startEngine(world, nth === 0 ? Buffer.alloc(32, 4) : spoil());
    await ready(world, 30);
    expect(await count(world, 'wombat'), name).toBe(30);
    expect(statSync(path).mode & 0o777, name).toBe(0o600);
    await engine.stop();
    if (nth === 0) {
      // Back to the first key.
      engine = await startEngine(world);
      await ready(world, 30);
      await engine.stop();
    }
    expect(made(), name).toBe(nth + 2);
  }
}, 180_000);

test('damage that shows in a search alone is answered by a sentence, and the index is made anew', async () => {
  await using world = await startWorld({ settings, start: false });
  await fill(world, 30);
  const path = world.folder.at('data', 'search', 'mail.db');
  await startEngine(world);
  await ready(world, 30);
  const bytes = readFileSync(path);
  for (let at = 9000; at < bytes.length; at += 4096) bytes[at] = bytes[at]! ^ 0xff;
  // In place, as a disk would do it.
  writeFileSync(path, bytes, { flag: 'r+' });
  await expect.poll(async () => {
    const answer = await indexOf(world).search({ query: 'wombat', limit: 1 });
    return answer.ok ? answer.count : answer.reason;
  }, TIME).toBe(30);
  await ready(world, 30);
}, 120_000);

test("Mail's store replaced by another while the engine runs: the index follows it", async () => {
  await using world = await startWorld({ settings, start: false });
  await fill(world, 5);
  await startEngine(world);
  await ready(world, 5);
  await world.writer.store.exec('mail', `UPDATE properties SET value = 'ANOTHER-STORE' WHERE key = 'UUID'; DELETE FROM messages WHERE ROWID < 4`);
  await ready(world, 2);
  expect(await count(world, 'wombat')).toBe(2);
  expect(world.log).toContain('Mail has another store, so the index is made anew.');
}, 120_000);

test('a second engine on the same folder leaves the index alone', async () => {
  await using world = await startWorld({ settings, start: false });
  await fill(world, 5);
  await startEngine(world);
  await ready(world, 5);
  const { ino } = statSync(world.folder.at('data', 'search', 'mail.db'));
  const child = fork(entry, [JSON.stringify(hostOf(world, Buffer.alloc(32, 9)))], { execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  await ended(child);
  expect(child.exitCode).not.toBe(0);
  expect(statSync(world.folder.at('data', 'search', 'mail.db')).ino).toBe(ino);
  expect(await count(world, 'wombat')).toBe(5);
}, 120_000);

test.skipIf(process.platform !== 'linux')('a disk that takes no more: the index says so, events go on', async () => {
  await using world = await startWorld({ settings: { ...settings }, start: false });
  await fill(world, 2000);
  // No file may grow beyond 300 KB: what is written then is refused.
  const child = spawn('/bin/sh', ['-c', `trap '' XFSZ; ulimit -f 600; exec "$0" "$@"`, process.execPath, entry, JSON.stringify(hostOf(world))], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  try {
    const socketPath = await new Promise<string>((resolve, reject) => {
      child.on('message', (message: { ready?: string }) => { if (message.ready !== undefined) resolve(message.ready); });
      child.on('exit', () => reject(new Error('The engine ended.')));
    });
    world.engine = { socketPath, stop: () => Promise.resolve() } as never;
    const client = world.client();
    const status = async () => {
      let out = '';
      await runRemote(socketPath, version, ['search', 'status', '--json'], { out: (bytes) => { out += bytes.toString(); }, err: () => undefined });
      return (JSON.parse(out) as { search: { phase: string; sentence: string } }).search;
    };
    await expect.poll(async () => (await status()).phase, TIME).toBe('failed');
    expect((await status()).sentence).toMatch(/^The index could not be written: /);
    await client.stream(MAIL, mailArgs);
    await ring(world, 'Still heard');
    await client.until(({ message }) => message['method'] === 'notifications/events/event');
  } finally {
    child.kill('SIGKILL');
    await ended(child);
  }
  expect(findCanary(world.log.join('\n'))).toBeNull();
}, 120_000);
