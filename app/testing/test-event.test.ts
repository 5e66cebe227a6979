import { Ajv2020 } from 'ajv/dist/2020.js';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { catalogue } from '../events/catalogue.ts';
import { ADA, MAIL, mailArgs, MESSAGES, messagesArgs, poll } from './conformance-kit.ts';
import { uiOf } from './memory-ports.ts';
import { startWorld, type World } from './world.ts';

const idOf = async (world: World): Promise<string> => {
  await expect.poll(() => [...world.engine.peers].find((peer) => peer.identity !== null)?.identity?.id, { timeout: 30_000 }).toBeTypeOf('string');
  return [...world.engine.peers].find((peer) => peer.identity !== null)!.identity!.id;
};

test('a test event goes to each open stream, says that it is one, and moves nothing', async () => {
  await using world = await startWorld();
  using ui = uiOf(world.engine);
  const client = world.client();
  const opened = await client.stream(MAIL, mailArgs, {}, 1);
  await client.stream(MESSAGES, messagesArgs, {}, 2);
  await ui.look();
  const id = await idOf(world);
  const hops = await ui.call.clients.test({ id });
  expect(hops.map(({ hop, ok }) => [hop, ok])).toEqual([['helper', true], ['engine', true], ['client', true], ['confirmed', null]]);
  for (const [stream, type] of [[1, MAIL], [2, MESSAGES]] as const) {
    const [event] = await client.untilEvents(1, stream);
    expect(event).toMatchObject({ name: type, eventId: expect.stringMatching(/^test-/), _meta: { 'dev.belfry/test': true } });
    expect(event!['data']['id']).toBe(event!['eventId']);
    expect(event!['data']['from']['name']).toBe('Belfry test');
    const fits = new Ajv2020({ strict: false, validateFormats: false }).compile(catalogue[type].payloadSchema);
    expect(fits(event!['data']), JSON.stringify(fits.errors)).toBe(true);
  }
  expect(client.events(1)[0]!['cursor']).toBe(opened['params']['cursor']);
  // Nothing was counted, and what arrives next goes out as always, without the mark.
  expect(world.engine.activity.recent(100).map(({ kind }) => kind)).not.toContain('delivered');
  expect((await ui.call.events.list({})).map(({ deliveredToday }) => deliveredToday)).toEqual([0, 0]);
  expect((await ui.call.clients.list({}))[0]).toMatchObject({ lastEventAt: null, subscriptions: [{ delivered: 0 }, { delivered: 0 }] });
  await expect.poll(() => [...ui.rows.values()], { timeout: 30_000 }).toMatchObject([{ test: true, status: 'sent' }, { test: true, status: 'sent' }]);
  await world.writer.mail.arrive({ from: ADA, subject: 'Real' });
  const events = await client.untilEvents(2, 1);
  expect(events[1]).toMatchObject({ data: { subject: 'Real' } });
  expect(events[1]!['_meta']).toEqual({ 'io.modelcontextprotocol/subscriptionId': 1 });
});

test('a test takes no ring of the hourly ceiling', async () => {
  await using world = await startWorld({ settings: { ratePerHour: 1 } });
  using ui = uiOf(world.engine);
  const client = world.client();
  await client.stream(MAIL, mailArgs, {}, 1);
  const id = await idOf(world);
  for (let n = 0; n < 3; n += 1) await ui.call.clients.test({ id });
  await world.writer.mail.arrive({ from: ADA, subject: 'Real' });
  expect((await client.untilEvents(4, 1)).map(({ _meta }) => _meta['dev.belfry/test'] ?? false)).toEqual([true, true, true, false]);
});

test('the hops say where the way ends', async () => {
  await using world = await startWorld({ trust: false });
  using ui = uiOf(world.engine);
  const client = world.client();
  await client.request('server/discover');
  const id = await idOf(world);
  const ends = async () => (await ui.call.clients.test({ id })).map(({ ok }) => ok);
  expect(await ends()).toEqual([true, false, false, null]);
  await client.stream(MAIL, mailArgs, {}, 1);
  expect(await ends()).toEqual([true, false, false, null]);
  await ui.call.clients.allow({ id, options: {} });
  await ui.call.pause.start({ ms: null });
  expect((await ui.call.clients.test({ id }))[1]).toMatchObject({ ok: false, sentence: expect.stringMatching(/paused/) });
  expect(client.events(1)).toEqual([]);
  await ui.call.pause.resume({});
  await expect.poll(ends, { timeout: 30_000 }).toEqual([true, true, true, null]);
  client.notify('notifications/cancelled', { requestId: 1 });
  await expect.poll(ends, { timeout: 30_000 }).toEqual([true, true, false, null]);
  // Who polls hears no test, and is not said to be deaf.
  await poll(client, MAIL, mailArgs);
  expect(await ends()).toEqual([true, true, null, null]);
  expect((await ui.call.clients.list({}))[0]).toMatchObject({ state: 'listening', subscriptions: [{ type: MAIL, mode: 'poll', senders: 1 }] });
  await client.end();
  await expect.poll(ends, { timeout: 30_000 }).toEqual([false, true, false, null]);
  expect(await ui.call.clients.test({ id: 'ffffffff' })).toEqual([]);
});

test('nothing of a test is kept on disk', async () => {
  await using world = await startWorld();
  using ui = uiOf(world.engine);
  const client = world.client();
  await client.stream(MAIL, mailArgs, {}, 1);
  await ui.call.clients.test({ id: await idOf(world) });
  await client.untilEvents(1, 1);
  await world.engine.stop();
  const db = new Database(`${world.dataDir}/state.db`, { readonly: true });
  for (const name of db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[]) {
    expect(JSON.stringify(db.prepare(`SELECT * FROM "${name}"`).all())).not.toMatch(/test-|belfry\.invalid/);
  }
  db.close();
});
