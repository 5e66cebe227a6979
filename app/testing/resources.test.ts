import { expect, test } from 'vitest';
import { CODE, errorOf, MAIL, mailArgs, quiet, ring, SUBSCRIPTION_ID } from './conformance-kit.ts';
import { modernMeta, type RawClient } from './raw-client.ts';
import { ask, ownIdentity, subjectsOf, untilUnread, watch } from './watch-kit.ts';
import { startWorld } from './world.ts';

const FOREIGN = '0a0b0c0d';
const STATUS = 'belfry://status';
const uriOf = (id: string) => `belfry://watch/${id}`;
const of = (client: RawClient, method: string) => client.frames.filter(({ message }) => message['method'] === `notifications/resources/${method}`).map(({ message }) => message['params'] as Record<string, any>);
const valueOf = (answer: Record<string, any>): Record<string, any> => JSON.parse(answer['result']['contents'][0].text as string) as Record<string, any>;

async function listen(client: RawClient, notifications: object, id: string): Promise<Record<string, any>> {
  client.send({ id, method: 'subscriptions/listen', params: { _meta: modernMeta, notifications } });
  return (await client.until(({ message }) => message['id'] === id || message['params']?._meta?.[SUBSCRIPTION_ID] === id)).message;
}

test.each(['legacy', 'modern'] as const)('%s: list, templates and read', async (era) => {
  await using world = await startWorld();
  const client = world.client();
  if (era === 'legacy') await client.initialize();
  const call = (method: string, params: object = {}) => (era === 'legacy' ? client.ask(method, params) : client.request(method, params));
  const id = await watch(client);
  const foreign = (world.engine.watches.add(FOREIGN, MAIL, mailArgs, 'tool') as { watch: { id: string } }).watch.id;
  await ring(world, 'Unread');
  await untilUnread(world, 1, id);
  const listed = await call('resources/list');
  expect(listed['result']['resources'].map(({ uri }: { uri: string }) => uri)).toEqual([STATUS, uriOf(id)]);
  if (era === 'modern') expect(listed['result']).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
  expect((await call('resources/templates/list'))['result']['resourceTemplates']).toMatchObject([{ uriTemplate: 'belfry://watch/{watch}', mimeType: 'application/json' }]);
  expect(valueOf(await call('resources/read', { uri: STATUS }))).toEqual({ access: 'open', paused: false, events: ['mail.received', 'messages.received'], watches: 1, unread: 1, search: null });
  const value = valueOf(await call('resources/read', { uri: uriOf(id) }));
  expect(value).toMatchObject({ watch: id, event: MAIL, arguments: mailArgs, waitingForOwner: false });
  expect(subjectsOf(value)).toEqual(['Unread']);
  // What was read there can be confirmed like an answer of check_inbox.
  expect(await ask(client, 'check_inbox', { confirm: value['batch'] })).toMatchObject({ confirmed: 1, items: [] });
  const errors = [];
  for (const uri of [uriOf(foreign), uriOf('ffffffff'), 'belfry://watch/', 'file:///etc/passwd']) {
    const { data, ...error } = errorOf(await call('resources/read', { uri }));
    // It repeats what was asked for, and nothing else tells them apart.
    expect(data).toEqual({ uri });
    errors.push(error);
  }
  expect(new Set(errors.map((error) => JSON.stringify(error))).size).toBe(1);
  expect(errors[0]!.code).toBe(CODE.invalidParams);
});

test('2026-07-28: a listen stream is acknowledged first with what is honoured, and hears of its own resources only', async () => {
  await using world = await startWorld();
  const client = world.client();
  const [id, other] = [await watch(client), await watch(client, { from: ['only@example.org'] })];
  const foreign = (world.engine.watches.add(FOREIGN, MAIL, mailArgs, 'tool') as { watch: { id: string } }).watch.id;
  const ack = await listen(client, { resourceSubscriptions: [uriOf(id), uriOf(foreign), uriOf('ffffffff'), STATUS], eventsListChanged: true, toolsListChanged: false }, 'l');
  expect(ack).toMatchObject({ method: 'notifications/subscriptions/acknowledged', params: { notifications: { resourceSubscriptions: [uriOf(id), STATUS] } } });
  expect(ack['params'].notifications).toEqual({ resourceSubscriptions: [uriOf(id), STATUS] });
  await ring(world);
  await untilUnread(world, 1, id);
  await client.until(({ message }) => message['params']?.uri === STATUS);
  expect(of(client, 'updated').map(({ uri, _meta }) => [uri, _meta[SUBSCRIPTION_ID]])).toEqual([[uriOf(id), 'l'], [STATUS, 'l']]);
  // Neither the list nor other watches were asked for.
  await ask(client, 'stop_watch', { watch: other });
  expect(of(client, 'list_changed')).toEqual([]);
  client.notify('notifications/cancelled', { requestId: 'l' });
  // What is written to the store takes another way: the answer says that the cancel has arrived.
  await client.request('tools/list');
  const before = client.frames.length;
  await ring(world);
  await untilUnread(world, 2, id);
  await client.request('tools/list');
  expect(client.frames.slice(before).filter(({ message }) => 'method' in message)).toEqual([]);
});

test('2026-07-28: list_changed where it was asked for, and no stream without its own', async () => {
  await using world = await startWorld();
  const client = world.client();
  await ask(client, 'list_watches');
  await listen(client, { resourcesListChanged: true }, 'lists');
  await watch(client);
  await client.until(({ message }) => message['method'] === 'notifications/resources/list_changed');
  expect(of(client, 'list_changed')[0]!['_meta']).toEqual({ [SUBSCRIPTION_ID]: 'lists' });
  expect(of(client, 'updated')).toEqual([]);
});

test('a client that is revoked while its stream is open: the stream ends with its result and hears nothing more', async () => {
  await using world = await startWorld();
  const client = world.client();
  await watch(client);
  await listen(client, { resourceSubscriptions: [STATUS] }, 'l');
  world.engine.policy.denyClient(ownIdentity(world).id);
  const end = await client.until(({ message }) => message['id'] === 'l');
  expect(end.message['result']).toMatchObject({ resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: 'l' } });
  const from = client.frames.length;
  world.engine.policy.setSetting('subjects', false);
  await quiet();
  expect(client.frames.slice(from)).toEqual([]);
});

test('legacy: resources/subscribe hears until unsubscribe; what is not there cannot be subscribed', async () => {
  await using world = await startWorld();
  const client = world.client();
  await client.initialize();
  const id = await watch(client);
  expect(errorOf(await client.ask('resources/subscribe', { uri: uriOf('ffffffff') })).code).toBe(CODE.invalidParams);
  expect((await client.ask('resources/subscribe', { uri: uriOf(id) }))['result']).toEqual({});
  await ring(world);
  await client.until(({ message }) => message['method'] === 'notifications/resources/updated');
  expect(of(client, 'updated')).toEqual([{ uri: uriOf(id) }]);
  await client.ask('resources/unsubscribe', { uri: uriOf(id) });
  await ring(world);
  await untilUnread(world, 2);
  await client.ask('tools/list');
  expect(of(client, 'updated')).toHaveLength(1);
});

test('legacy: a subscription is told again to an engine that came again, by the helper', async () => {
  await using world = await startWorld();
  const client = world.client();
  await client.initialize();
  const id = await watch(client);
  await client.ask('resources/subscribe', { uri: uriOf(id) });
  await world.engine.stop();
  await world.startEngine();
  await expect.poll(() => [...world.engine.peers].some(({ identity }) => identity !== null)).toBe(true);
  await client.ask('tools/list');
  const from = client.frames.length;
  await ring(world);
  await client.until(({ message }) => message['method'] === 'notifications/resources/updated', from);
});
