import { expect, test } from 'vitest';
import { ring } from './conformance-kit.ts';
import { streamOf } from './http-client.ts';
import { startWorld } from './world.ts';

test('a bearer token is served discover, tools, events, polls and a stream', async () => {
  await using world = await startWorld({ http: true });
  const client = world.httpClient();
  const discover = await client.ask('server/discover');
  expect(discover.status).toBe(200);
  expect(discover.message).toMatchObject({ result: { resultType: 'complete', supportedVersions: ['2026-07-28'], ttlMs: 300_000, cacheScope: 'private' } });
  expect((await client.request('tools/list'))['result']['tools'].length).toBeGreaterThan(3);
  expect((await client.request('events/list'))['result']['events'].map((each: { name: string }) => each.name)).toEqual(['mail.received', 'messages.received']);
  const poll = await client.request('events/poll', { name: 'mail.received', arguments: { domains: ['example.org'] } });
  expect(poll).toMatchObject({ result: { resultType: 'complete', events: [], truncated: false, hasMore: false } });
  const stream = streamOf(await client.listen('events/stream', { name: 'mail.received', arguments: { domains: ['example.org'] } }, { id: 'x' }));
  const active = await stream.until(({ message }) => message['method'] === 'notifications/events/active');
  expect(active.message['params']['_meta']).toEqual({ 'io.modelcontextprotocol/subscriptionId': 'x' });
  await ring(world);
  await stream.untilEvents(1);
  const again = await client.request('events/poll', { name: 'mail.received', arguments: { domains: ['example.org'] }, cursor: poll['result']['cursor'] });
  expect(again['result']['events'].map((event: { eventId: string }) => event.eventId)).toEqual([stream.events()[0]!['eventId']]);
});
