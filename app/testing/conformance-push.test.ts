import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CODE, errorOf, MAIL, mailArgs, ring, socketWay, subjects } from './conformance-kit.ts';
import { pushRows } from './conformance-push.ts';
import { modernMeta, subscriptionOf } from './raw-client.ts';
import { startWorld, type World } from './world.ts';

pushRows(socketWay);

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

test('own-stream-duplicate-id: the second is refused, the first goes on', async () => {
  const client = world.client();
  await client.stream(MAIL, mailArgs, {}, 5);
  client.send({ id: 5, method: 'events/stream', params: { _meta: modernMeta, name: MAIL, arguments: mailArgs } });
  const { message } = await client.until((frame) => frame.message['id'] === 5);
  expect(errorOf(message)).toMatchObject({ code: CODE.invalidRequest, message: expect.stringContaining('id') });
  await ring(world, 'Unharmed');
  expect(subjects(await client.untilEvents(1, 5))).toEqual(['Unharmed']);
  expect(client.of(5, 'active')).toHaveLength(1);
});

test('own-stream-cancel-before-active: request and cancel in one write leave nothing behind', async () => {
  const client = world.client();
  await client.request('events/list');
  for (let id = 0; id < 15; id += 1) {
    const open = { jsonrpc: '2.0', id, method: 'events/stream', params: { _meta: modernMeta, name: MAIL, arguments: mailArgs } };
    client.write(`${JSON.stringify(open)}\n${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })}\n`);
  }
  await client.request('events/list');
  const from = client.frames.length;
  await ring(world);
  // More than the quota was opened and cancelled: all ten are free.
  for (let id = 100; id < 110; id += 1) expect(await client.stream(MAIL, mailArgs, {}, id)).toHaveProperty('method');
  expect(client.frames.slice(from).filter(({ message }) => Number(message['id'] ?? subscriptionOf(message)) < 15)).toEqual([]);
  expect(client.frames.some(({ message }) => typeof message['id'] === 'number' && message['id'] < 15)).toBe(false);
});

test('own-eof: stdin closed ends the shim with 0, quietly, and the engine forgets the streams', async () => {
  const client = world.client();
  await client.stream(MAIL, mailArgs);
  const before = world.engine.hub(MAIL).size;
  expect(await client.end()).toBe(0);
  expect(client.stderr).toBe('');
  await expect.poll(() => world.engine.hub(MAIL).size).toBe(before - 1);
});

test('own-epipe: a reader that went ends the shim quietly', async () => {
  const client = world.client();
  await client.stream(MAIL, mailArgs);
  const exit = once(client.process, 'exit');
  client.process.stdout!.destroy();
  await ring(world);
  expect(await exit).toEqual([0, null]);
  expect(client.stderr).toBe('');
});
