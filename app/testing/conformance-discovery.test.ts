import { expect, test } from 'vitest';
import { discoveryRows } from './conformance-discovery.ts';
import { CODE, errorOf, MAIL, mailArgs, ring, socketWay } from './conformance-kit.ts';
import { modernMeta } from './raw-client.ts';
import { startWorld } from './world.ts';

discoveryRows(socketWay);

test('capability-list-changed-gated: the acknowledgement of a listen request leaves eventsListChanged out', async () => {
  await using world = await startWorld();
  const client = world.client();
  client.send({ id: 'listen', method: 'subscriptions/listen', params: { _meta: modernMeta, notifications: { eventsListChanged: true } } });
  const { message } = await client.until((frame) => frame.message['method'] === 'notifications/subscriptions/acknowledged' || frame.message['id'] === 'listen');
  expect(message['method']).toBe('notifications/subscriptions/acknowledged');
  expect(message['params']['notifications']).not.toHaveProperty('eventsListChanged');
  client.notify('notifications/cancelled', { requestId: 'listen' });
});

test('own-era-legacy-hidden: a connection that opens with initialize is not told of events and gets -32601', async () => {
  await using world = await startWorld();
  const legacy = world.client();
  legacy.send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'old', version: '1' } } });
  const { message } = await legacy.until((frame) => frame.message['id'] === 1);
  expect(message['result']['capabilities']).not.toHaveProperty('extensions');
  expect(JSON.stringify(message['result']['capabilities'])).not.toContain('events');
  legacy.notify('notifications/initialized');
  for (const method of ['events/list', 'events/poll', 'events/stream', 'events/subscribe', 'events/unsubscribe']) {
    legacy.send({ id: method, method, params: { name: MAIL, arguments: mailArgs } });
    expect(errorOf((await legacy.until((frame) => frame.message['id'] === method)).message).code, method).toBe(CODE.methodNotFound);
  }
  await ring(world);
  await legacy.request('tools/list');
  expect(legacy.of()).toEqual([]);
});
