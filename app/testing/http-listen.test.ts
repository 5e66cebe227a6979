import { afterAll, beforeAll, expect, test } from 'vitest';
import { CODE, errorOf, MAIL, mailArgs, ring, SUBSCRIPTION_ID } from './conformance-kit.ts';
import { streamOf, type HttpClient, type HttpStream } from './http-client.ts';
import { clientOf } from './test-credentials.ts';
import { startWorld, type World } from './world.ts';

const within = { timeout: 30_000 };
let world: World;
beforeAll(async () => {
  world = await startWorld({ http: true });
});
afterAll(() => world[Symbol.asyncDispose]());

const listen = async (client: HttpClient, notifications: object, id: string | number = 'l'): Promise<HttpStream> => {
  const stream = streamOf(await client.listen('subscriptions/listen', { notifications }, { id }));
  await stream.until(() => true);
  return stream;
};
/** What was honoured. */
const honoured = (stream: HttpStream) => stream.frames[0]!.message['params']['notifications'] as object;
const methods = (stream: HttpStream) => stream.frames.map(({ message }) => message['method'] ?? 'result');

async function watch(client: HttpClient): Promise<string> {
  const { result } = await client.request('tools/call', { name: 'watch_events', arguments: { event: MAIL, arguments: mailArgs } });
  return `belfry://watch/${result['structuredContent']['watch']['watch'] as string}`;
}

test('it acknowledges first, and what is there for this client: not the watch of another, not what nobody declared', async () => {
  const [mine, other] = [world.httpClient('test-mine'), world.httpClient('test-other')];
  const [uri, foreign] = [await watch(mine), await watch(other)];
  const stream = await listen(mine, { resourceSubscriptions: [uri, foreign, 'belfry://status', 'belfry://status', 'file:///etc/passwd'], resourcesListChanged: true, promptsListChanged: true, taskIds: ['x'] }, 7);
  expect(stream.frames[0]!.message).toEqual({
    jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged',
    params: { notifications: { resourcesListChanged: true, resourceSubscriptions: [uri, 'belfry://status'] }, _meta: { [SUBSCRIPTION_ID]: 7 } },
  });
});

test('nothing that can be honoured: acknowledged as such, and ended with its result', async () => {
  const stream = await listen(world.httpClient('test-none'), { promptsListChanged: true, resourceSubscriptions: ['belfry://watch/00000000'] });
  await stream.untilEnd();
  expect(honoured(stream)).toEqual({});
  expect(methods(stream)).toEqual(['notifications/subscriptions/acknowledged', 'result']);
});

test.each([[{}], [{ notifications: null }], [{ notifications: [] }], [{ notifications: { toolsListChanged: 'yes' } }], [{ notifications: { resourceSubscriptions: 'belfry://status' } }], [{ notifications: { resourceSubscriptions: [7] } }]])('a filter of another form, %j, is -32602', async (params) => {
  expect(errorOf((await world.httpClient('test-form').request('subscriptions/listen', params))).code).toBe(CODE.invalidParams);
});

test('an arrival in a watch is told to who follows it, with the id of its own stream, and to nobody else', async () => {
  const client = world.httpClient('test-follows');
  const uri = await watch(client);
  const [follows, ids, tools] = [await listen(client, { resourceSubscriptions: [uri] }, 1), await listen(client, { resourcesListChanged: true }, '1'), await listen(client, { toolsListChanged: true }, 2)];
  await ring(world);
  const { message } = await follows.until((frame) => frame.message['method'] === 'notifications/resources/updated');
  expect(message).toEqual({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri, _meta: { [SUBSCRIPTION_ID]: 1 } } });
  await client.request('tools/call', { name: 'watch_events', arguments: { event: MAIL, arguments: { from: ['new@example.org'] } } });
  await ids.until((frame) => frame.message['method'] === 'notifications/resources/list_changed');
  expect(new Set(methods(tools))).toEqual(new Set(['notifications/subscriptions/acknowledged']));
  expect(new Set(methods(ids))).toEqual(new Set(['notifications/subscriptions/acknowledged', 'notifications/resources/list_changed']));
  expect(new Set(methods(follows))).toEqual(new Set(['notifications/subscriptions/acknowledged', 'notifications/resources/updated']));
});

test('the owner grants reading: who listens for the tools is told', async () => {
  const client = world.httpClient('test-granted');
  const stream = await listen(client, { toolsListChanged: true });
  expect(world.engine.policy.allowClient(clientOf('test-granted'), { grants: ['mail'] })).toMatchObject({ ok: true });
  const { message } = await stream.until((frame) => frame.message['method'] === 'notifications/tools/list_changed');
  expect(message['params']).toEqual({ _meta: { [SUBSCRIPTION_ID]: 'l' } });
});

test('the last resource that it followed is gone: it ends with its result', async () => {
  const client = world.httpClient('test-gone');
  const uri = await watch(client);
  const stream = await listen(client, { resourceSubscriptions: [uri] });
  world.minute();
  expect([honoured(stream), stream.ended]).toEqual([{ resourceSubscriptions: [uri] }, false]);
  await client.request('tools/call', { name: 'stop_watch', arguments: { watch: uri.slice(-8) } });
  world.minute();
  await stream.untilEnd();
  expect(stream.frames.at(-1)!.message).toMatchObject({ id: 'l', result: { resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: 'l' } } });
});

test('the first twenty of the URIs are followed', async () => {
  const uris = Array.from({ length: 20 }, (_, nth) => `belfry://watch/${String(nth).padStart(8, '0')}`);
  const late = await listen(world.httpClient('test-many'), { resourceSubscriptions: [...uris, 'belfry://status'] });
  expect(honoured(late)).toEqual({});
  const early = await listen(world.httpClient('test-many'), { resourceSubscriptions: ['belfry://status', ...uris] });
  expect(honoured(early)).toEqual({ resourceSubscriptions: ['belfry://status'] });
});

test('four listen streams of a credential; the fifth is -32025, and one that ends makes room', async () => {
  const client = world.httpClient('test-four');
  const streams: HttpStream[] = [];
  for (let id = 0; id < 4; id += 1) streams.push(await listen(client, { toolsListChanged: true }, id));
  const fifth = () => client.listen('subscriptions/listen', { notifications: { toolsListChanged: true } }, { id: 4 });
  expect(await fifth()).toMatchObject({ status: 200, message: { id: 4, error: { code: CODE.exhausted, data: { limit: 'listens', max: 4 } } } });
  await listen(world.httpClient('test-fifth'), { toolsListChanged: true });
  streams[0]!.close();
  await expect.poll(async () => {
    const answer = await fifth();
    return 'frames' in answer;
  }, within).toBe(true);
});

test('a client that nobody let in hears nothing of watches that it cannot have, and one that is refused opens nothing', async () => {
  await using asking = await startWorld({ http: true, trust: false });
  const client = asking.httpClient();
  const stream = await listen(client, { resourceSubscriptions: ['belfry://status'] });
  expect(honoured(stream)).toEqual({ resourceSubscriptions: ['belfry://status'] });
  asking.engine.policy.denyClient(clientOf(client.token!));
  await stream.untilEnd();
  expect(errorOf(await client.request('subscriptions/listen', { notifications: { toolsListChanged: true } })).code).toBe(CODE.forbidden);
});
