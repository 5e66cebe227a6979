import { closeSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { doctor } from '../engine/report.ts';
import { MAIL, mailArgs, ring } from './conformance-kit.ts';
import { Random } from './random.ts';
import { KillableEngine } from './killable-engine.ts';
import { RawClient } from './raw-client.ts';
import { ask, pushes, subjectsOf, untilUnread, watch } from './watch-kit.ts';
import { startWorld } from './world.ts';

/** Schedules with a real `kill -9` of the engine. `BELFRY_SEED=n` runs one again. */
const SCHEDULES = 12;
const engine = new KillableEngine();
const clients: RawClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.process.kill('SIGKILL');
  await engine.kill();
});

function connect(socket: string, args: readonly string[] = []): RawClient {
  const client = new RawClient(socket, { args });
  clients.push(client);
  return client;
}
/** What a session was pushed, by subject. */
const pushed = (client: RawClient): string[] => pushes(client).map(({ content }) => (JSON.parse((content as string).split('\n')[2]!) as { subject: string }).subject);

test(`a kill -9 at any moment: every arrival is told at least once, what was not confirmed is told again, ${SCHEDULES} times`, { timeout: 150_000 }, async () => {
  await using world = await startWorld({ start: false });
  const owed: string[] = [];
  const told = new Set<string>();
  const confirmed = new Set<string>();
  const only = process.env['BELFRY_SEED'];
  const seeds = only === undefined ? Array.from({ length: SCHEDULES }, (_, index) => index + 1) : [Number(only)];
  let socket = await engine.start(world);
  let session = connect(socket, ['--channel']);
  await session.initialize();
  await watch(session);
  for (const seed of seeds) {
    const random = new Random(seed);
    for (let left = random.between(1, 4); left > 0; left -= 1) {
      owed.push(`${seed}.${left}`);
      await ring(world, owed.at(-1)!);
    }
    // Around the keeping, the push, the confirmation: whichever of them the kill meets.
    await new Promise((done) => void setTimeout(done, random.pick([0, 1, 2, 5, 20, 100])));
    for (const subject of pushed(session)) told.add(subject);
    if (random.chance(0.6)) {
      const answer = await ask(session, 'check_inbox');
      const read = subjectsOf(answer) as string[];
      for (const subject of read) told.add(subject);
      // Killed before it is answered, it may or may not count: what it confirms was read.
      if (random.chance(0.7)) {
        if (random.chance(0.5)) {
          await ask(session, 'check_inbox', { confirm: answer['batch'] ?? undefined });
          for (const subject of read) confirmed.add(subject);
        } else if (answer['batch'] !== null) {
          session.send({ id: `c${seed}`, method: 'tools/call', params: { name: 'check_inbox', arguments: { confirm: answer['batch'] } } });
          await new Promise((done) => void setTimeout(done, random.pick([0, 1, 3])));
          for (const subject of read) confirmed.add(subject);
        }
      }
    }
    await engine.kill();
    for (const subject of pushed(session)) told.add(subject);
    if (random.chance(0.5)) {
      owed.push(`${seed}.away`);
      await ring(world, owed.at(-1)!);
    }
    socket = await engine.start(world);
    if (random.chance(0.5)) {
      session = connect(socket, ['--channel']);
      await session.initialize();
      await ask(session, 'list_watches');
    } else await expect.poll(() => session.tool('list_watches').then(() => true, () => false), { timeout: 20_000 }).toBe(true);
  }
  // A new session, once all others are gone: everything unread is told again.
  for (const client of clients) {
    for (const subject of pushed(client)) told.add(subject);
    client.process.kill('SIGKILL');
  }
  const last = connect(socket, ['--channel']);
  await last.initialize();
  const unread = owed.filter((subject) => !confirmed.has(subject));
  await expect.poll(() => unread.filter((subject) => !pushed(last).includes(subject)), { timeout: 20_000 }).toEqual([]);
  for (const subject of pushed(last)) told.add(subject);
  expect(owed.filter((subject) => !told.has(subject)), 'never told').toEqual([]);
});

test('a state.db that is damaged is moved aside, told, and watches that settings keep begin again', async () => {
  await using world = await startWorld();
  const client = world.client();
  await watch(client);
  await ring(world, 'Lost with it');
  await untilUnread(world, 1);
  const own = [...world.engine.peers][0]!.identity!.id;
  world.engine.watches.add(own, MAIL, { from: ['ada@example.org'] }, 'owner');
  await world.engine.stop();
  const file = join(world.dataDir, 'state.db');
  // Garbage over the middle of the file, header and all.
  const { size } = statSync(file);
  const fd = openSync(file, 'r+');
  writeSync(fd, Buffer.alloc(Math.min(size, 64 * 1024), 0x5a), 0, undefined, 0);
  closeSync(fd);
  await world.startEngine();
  expect(readdirSync(world.dataDir).filter((name) => /^state\.db\.broken-\d+$/.test(name))).toHaveLength(1);
  expect(world.log.join('\n')).toContain('state.db was damaged and was moved aside');
  expect(world.engine.watches.list(null)).toMatchObject([{ source: 'owner', client: own, gap: 1 }]);
  expect(doctor(world.engine).find((row) => row.id === 'watches')).toMatchObject({ state: 'warning', evidence: expect.stringContaining('moved aside') });
  const again = world.client();
  await ask(again, 'list_watches');
  await ring(world, 'After');
  await untilUnread(world, 1);
  const answer = await ask(again, 'check_inbox');
  expect(subjectsOf(answer)).toEqual(['After']);
  expect(answer['gaps']).toMatchObject([{ storeReplaced: true }]);
});

test('a state.db whose pages do not fit together is found at the start as well', async () => {
  await using world = await startWorld();
  const client = world.client();
  for (let nth = 0; nth < 60; nth += 1) await watch(client, { ...mailArgs, subject_contains: `s${nth}` });
  await world.engine.stop();
  const file = join(world.dataDir, 'state.db');
  const { size } = statSync(file);
  const fd = openSync(file, 'r+');
  for (let at = 8192; at < size; at += 4096) writeSync(fd, Buffer.alloc(2048, 0xa5), 0, undefined, at);
  closeSync(fd);
  await world.startEngine();
  expect(readdirSync(world.dataDir).some((name) => name.startsWith('state.db.broken-'))).toBe(true);
  expect(world.engine.watches.size).toBe(0);
});
