import { describe, expect, test } from 'vitest';
import { webhookDeliveryRows } from './conformance-webhook-delivery.ts';
import { webhookRows } from './conformance-webhook.ts';
import { streamOf } from './http-client.ts';
import { startWebhookWorld } from './webhook-kit.ts';

describe('events-webhook', webhookRows);
describe('events-webhook-delivery', webhookDeliveryRows);

describe('events-discovery', () => {
  test('list-changed-notification, capability-list-changed-flag: declared and told while webhooks are on, also of the change that ends it', async () => {
    await using world = await startWebhookWorld();
    const { client } = world;
    const declared = async () => (await client.request('server/discover'))['result']['capabilities']['extensions']['io.modelcontextprotocol/events'] as object;
    expect(await declared()).toEqual({ listChanged: true });
    const stream = streamOf(await client.http.listen('subscriptions/listen', { notifications: { eventsListChanged: true } }, { id: 'listen' }));
    const acknowledged = await stream.until(({ message }) => message['method'] === 'notifications/subscriptions/acknowledged');
    expect(acknowledged.message['params']['notifications']).toEqual({ eventsListChanged: true });
    world.world.engine.policy.removeHosts(world.world.engine.policy.snapshot().hosts);
    const told = await stream.until(({ message }) => message['method'] === 'notifications/events/list_changed');
    expect(told.message['params']).toEqual({ _meta: { 'io.modelcontextprotocol/subscriptionId': 'listen' } });
    expect(await declared()).toEqual({});
    expect(((await client.request('events/list'))['result']['events'] as { delivery: string[] }[])[0]!.delivery).toEqual(['poll', 'push']);
  });
});

