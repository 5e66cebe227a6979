import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CODE, errorOf, httpWay, MAIL, mailArgs, MESSAGES, messagesArgs, quiet, ring, subjects } from './conformance-kit.ts';
import { streamOf, type HttpClient } from './http-client.ts';
import { modernMeta } from './raw-client.ts';
import { clientOf } from './test-credentials.ts';
import { startWorld, type World } from './world.ts';

const within = { timeout: 30_000 };
const open = (client: HttpClient, params: object = {}, id?: string | number) => client.listen('events/stream', { name: MAIL, arguments: mailArgs, ...params }, id === undefined ? {} : { id });
const isActive = ({ message }: { message: Record<string, any> }) => message['method'] === 'notifications/events/active';

describe('one endpoint for two eras', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ http: true });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test('2026-07-28: discover, tools, resources, events, polls and a stream', async () => {
    const client = world.httpClient('test-modern');
    const discover = await client.ask('server/discover');
    expect(discover.status).toBe(200);
    expect(discover.message).toMatchObject({ result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: { listChanged: true }, resources: { listChanged: true, subscribe: true } } } });
    expect((await client.request('tools/list'))['result']['tools'].length).toBeGreaterThan(3);
    expect((await client.request('resources/read', { uri: 'belfry://status' }))['result']['contents']).toHaveLength(1);
    const cursor = (await client.request('events/poll', { name: MAIL, arguments: mailArgs }))['result']['cursor'] as string;
    const stream = streamOf(await open(client, {}, 'x'));
    await stream.until(isActive);
    await ring(world);
    await stream.untilEvents(1);
    const again = await client.request('events/poll', { name: MAIL, arguments: mailArgs, cursor });
    expect(again['result']['events'].map((event: { eventId: string }) => event.eventId)).toEqual([stream.events()[0]!['eventId']]);
    expect(client.licenceFaults).toEqual([]);
  });

  test('how long an answer may be kept, each private; none on events, calls and pings', async () => {
    const client = world.httpClient('test-hints');
    const hints: Record<string, unknown> = {};
    for (const [method, params] of [['server/discover', {}], ['tools/list', {}], ['resources/templates/list', {}], ['resources/list', {}], ['resources/read', { uri: 'belfry://status' }], ['events/list', {}], ['tools/call', { name: 'list_watches' }]] as const) {
      const { result } = await client.request(method, params);
      hints[method] = [result['ttlMs'], result['cacheScope']];
    }
    expect(hints).toEqual({
      'server/discover': [300_000, 'private'], 'tools/list': [300_000, 'private'], 'resources/templates/list': [300_000, 'private'], 'resources/list': [60_000, 'private'],
      'resources/read': [30_000, 'private'], 'events/list': [undefined, undefined], 'tools/call': [undefined, undefined],
    });
  });

  test.each([['2025-11-25', '2025-11-25'], ['2025-06-18', '2025-06-18'], ['2025-03-26', '2025-11-25'], ['2099-01-01', '2025-11-25']])('initialize asking for %s is answered with %s, and declares nothing that needs a session', async (asked, given) => {
    const client = world.httpClient('test-old');
    const post = async (method: string, params: object, headers = {}) => (await client.post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), { headers })).message!;
    const { result } = await post('initialize', { protocolVersion: asked, capabilities: {}, clientInfo: { name: 'old', version: '1' } });
    expect(result).toMatchObject({ protocolVersion: given, capabilities: { tools: { listChanged: false }, resources: { listChanged: false, subscribe: false } } });
    expect(result.capabilities).not.toHaveProperty('extensions');
    const headers = { 'mcp-protocol-version': given };
    expect(await post('ping', {}, headers)).toMatchObject({ result: {} });
    expect((await post('tools/list', {}, headers))['result'].tools.length).toBeGreaterThan(3);
    for (const method of ['resources/subscribe', 'events/list', 'events/poll', 'events/stream']) {
      expect(errorOf(await post(method, { uri: 'belfry://status', name: MAIL, arguments: mailArgs }, headers)).code, method).toBe(CODE.methodNotFound);
    }
  });

  test('a version that is not served is 400 and -32022 with those that are', async () => {
    const meta = { ...modernMeta, 'io.modelcontextprotocol/protocolVersion': '2027-01-01' };
    const answer = await world.httpClient().ask('events/list', { _meta: meta }, { headers: { 'mcp-protocol-version': '2027-01-01' } });
    expect(answer).toMatchObject({ status: 400, message: { error: { code: -32022, data: { supported: ['2026-07-28'], requested: '2027-01-01' } } } });
  });

  test('a method that is not there is 404 and -32601: ping among them, and events while every event is off', async () => {
    const client = world.httpClient('test-missing');
    for (const method of ['ping', 'prompts/list', 'no/such']) expect(await client.ask(method), method).toMatchObject({ status: 404, message: { error: { code: CODE.methodNotFound } } });
    await using off = await startWorld({ http: true, settings: { events: {} } });
    for (const method of ['events/list', 'events/poll', 'events/subscribe']) expect(await off.httpClient().ask(method, { name: MAIL, arguments: mailArgs }), method).toMatchObject({ status: 404, message: { error: { code: CODE.methodNotFound } } });
  });

  test('a resource that is not there is -32602 and names itself', async () => {
    expect(await world.httpClient().request('resources/read', { uri: 'belfry://watch/00000000' })).toMatchObject({ error: { code: CODE.invalidParams, data: { uri: 'belfry://watch/00000000' } } });
  });

  test('what a server says of itself is made for the credential', async () => {
    await using asking = await startWorld({ http: true, trust: false });
    const client = asking.httpClient();
    const instructions = async () => (await client.request('server/discover'))['result']['instructions'] as string;
    expect(await instructions()).toContain('request_access');
    asking.engine.policy.allowClient(clientOf(client.token!), { grants: ['mail'] });
    expect(await instructions()).toContain('You may read mail (what the owner lets ring)');
    expect(await instructions()).toContain('nothing here reaches other people');
    asking.engine.policy.allowClient(clientOf(client.token!), { grants: ['reply'] });
    expect(await instructions()).toContain('nothing else here reaches other people');
    asking.engine.policy.denyClient(clientOf(client.token!));
    expect(await instructions()).toBe('The owner of this Mac does not allow this client. Only they can change that, in Belfry.');
  });
});

describe('what belongs to a credential', () => {
  test('ten streams, however many requests and ids they come by; another credential has ten of its own', async () => {
    await using world = await startWorld({ http: true });
    const [one, same, other] = [world.httpClient('test-a'), world.httpClient('test-a'), world.httpClient('test-b')];
    for (let nth = 0; nth < 10; nth += 1) streamOf(await open(nth % 2 ? one : same, {}, 1));
    const eleventh = await open(one, {}, 1);
    expect(eleventh).toMatchObject({ status: 200, message: { id: 1, error: { code: CODE.exhausted, data: { limit: 'streams', max: 10 } } } });
    streamOf(await open(other));
    one.streams[0]!.close();
    await expect.poll(() => world.engine.hub(MAIL).size, within).toBe(10);
    streamOf(await open(same));
  });
  test('what is waited for counts as busy; streams do not', async () => {
    await using world = await startWorld({ http: true });
    const client = world.httpClient();
    const [stream, listen] = [streamOf(await open(client)), streamOf(await client.listen('subscriptions/listen', { notifications: { toolsListChanged: true } }))];
    await Promise.all([stream.until(isActive), listen.until(() => true)]);
    await client.request('tools/call', { name: 'watch_events', arguments: { event: MAIL, arguments: mailArgs } });
    expect(world.engine.http.answering).toBe(0);
    const waits = client.request('tools/call', { name: 'wait_for_events', arguments: { timeoutSeconds: 50 } });
    await expect.poll(() => world.engine.http.answering, within).toBe(1);
    await ring(world);
    await waits;
    await expect.poll(() => world.engine.http.answering, within).toBe(0);
  });
  test('a client that is killed ends its stream, and nothing is left of it', async () => {
    await using world = await startWorld({ http: true });
    const client = world.httpClient();
    const stream = streamOf(await open(client));
    await stream.until(isActive);
    expect(world.engine.hub(MAIL).size).toBe(1);
    stream.close();
    await expect.poll(() => [world.engine.hub(MAIL).size, world.engine.http.clients[0]!.connection.liveRequests], within).toEqual([0, 0]);
  });
  test('the owner sees who is connected, what it asks for and what it was sent', async () => {
    await using world = await startWorld({ http: true, trust: false });
    const client = world.httpClient('test-seen');
    const stream = streamOf(await open(client, { arguments: { from: ['eve@elsewhere.example'] } }));
    await stream.until(isActive);
    const { changes } = world.engine;
    const row = () => changes.snapshot().clients.find(({ id }) => id === clientOf('test-seen'));
    expect(row()).toMatchObject({ label: 'test-seen', decision: 'none', state: 'asking', connections: 1, asks: [{ type: MAIL, notAllowed: ['eve@elsewhere.example'] }] });
    expect(changes.snapshot().waiting).toMatchObject([{ kind: 'client', id: clientOf('test-seen') }]);
    world.engine.policy.allowClient(clientOf('test-seen'));
    expect(row()).toMatchObject({ decision: 'always', state: 'listening', subscriptions: [{ type: MAIL, mode: 'push' }] });
    expect(changes.snapshot().status.counters).toMatchObject({ 'notifications/events/active': 1 });
  });
  test('a reader that stops slows only itself, and then gets everything once and in order', { timeout: 90_000 }, async () => {
    await using world = await startWorld({ http: true });
    const [slow, quick] = [streamOf(await open(world.httpClient('test-slow'))), streamOf(await open(world.httpClient('test-quick')))];
    await Promise.all([slow.until(isActive), quick.until(isActive)]);
    slow.pause();
    const n = 4000;
    for (let part = 0; part < 8; part += 1) {
      await world.writer.mail.arriveMany(Array.from({ length: n / 8 }, (_, nth) => ({ from: { address: 'ada@example.org', name: 'x'.repeat(200) }, subject: `${part * (n / 8) + nth} ${'y'.repeat(450)}`, file: false })));
    }
    await quick.untilEvents(n, undefined, 60_000);
    // What is held for the one that does not read is no more than the buffers of one stream.
    expect(slow.frames.length).toBeLessThan(n);
    slow.resume();
    await slow.untilEvents(n, undefined, 60_000);
    const numbers = (events: Record<string, any>[]) => subjects(events).map((subject) => Number.parseInt(subject, 10));
    expect(numbers(slow.events())).toEqual(Array.from({ length: n }, (_, nth) => nth));
    expect(numbers(quick.events())).toEqual(numbers(slow.events()));
  });
});

describe('what the owner takes back', () => {
  test('a client that is not allowed any more: its streams end with Forbidden, its listen streams with their result', async () => {
    await using world = await startWorld({ http: true });
    const client = world.httpClient();
    const [stream, listen] = [streamOf(await open(client, {}, 's')), streamOf(await client.listen('subscriptions/listen', { notifications: { toolsListChanged: true } }, { id: 'l' }))];
    await Promise.all([stream.until(isActive), listen.until(() => true)]);
    world.engine.policy.denyClient(clientOf(client.token!));
    await Promise.all([stream.untilEnd(), listen.untilEnd()]);
    expect(stream.frames.slice(-2).map(({ message }) => message)).toMatchObject([{ method: 'notifications/events/terminated', params: { error: { code: CODE.forbidden } } }, { id: 's', result: {} }]);
    expect(listen.frames.at(-1)!.message).toMatchObject({ id: 'l', result: { resultType: 'complete' } });
    expect(errorOf(await client.request('events/poll', { name: MAIL, arguments: mailArgs })).code).toBe(CODE.forbidden);
  });
  test.each([['told so', (world: World) => world.engine.http.tokensChanged()], ['by the look of every minute', (world: World) => world.minute()]])('a token that is over ends what was opened with it, %s; another token of the same moment goes on', async (_how, look) => {
    await using world = await startWorld({ http: true });
    const [gone, stays] = [world.httpClient('test-gone'), world.httpClient('test-stays')];
    const [ended, listen, open_] = [streamOf(await open(gone, {}, 1)), streamOf(await gone.listen('subscriptions/listen', { notifications: { toolsListChanged: true } }, { id: 2 })), streamOf(await open(stays))];
    await Promise.all([ended, listen, open_].map((stream) => stream.until(() => true)));
    look(world);
    await ring(world, 'Still held');
    await ended.untilEvents(1);
    world.credentials.revoke('test-gone');
    look(world);
    await Promise.all([ended.untilEnd(), listen.untilEnd()]);
    expect(ended.frames.slice(-2).map(({ message }) => message)).toMatchObject([{ method: 'notifications/events/terminated', params: { error: { code: CODE.forbidden, data: { reason: 'The token is over' } } } }, { id: 1, result: {} }]);
    await ring(world, 'After');
    expect(subjects(await open_.untilEvents(2))).toEqual(['Still held', 'After']);
    expect((await gone.ask('events/list')).status).toBe(401);
  });
});

describe('the switch', () => {
  /** A port that was free a moment ago. */
  const freePort = async (): Promise<number> => {
    await using other = await startWorld({ http: true });
    return other.engine.http.state.port!;
  };
  const isOpen = (port: number) => new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy());
  });

  test('off by default; on by the owner\'s word, off again: streams end with that word and the port is closed', async () => {
    await using world = await startWorld();
    expect(world.engine.http.state).toEqual({ state: 'off', port: null, url: null, sentence: null });
    const port = await freePort();
    world.engine.policy.setSetting('httpPort', port);
    expect(await isOpen(port)).toBe(false);
    world.engine.policy.setSetting('http', true);
    await expect.poll(() => world.engine.http.state, within).toEqual({ state: 'listening', port, url: `http://127.0.0.1:${port}/mcp`, sentence: null });
    const stream = streamOf(await open(world.httpClient()));
    await stream.until(isActive);
    world.engine.policy.setSetting('http', false);
    await stream.untilEnd();
    expect(stream.frames.at(-2)!.message).toMatchObject({ method: 'notifications/events/terminated', params: { error: { code: CODE.forbidden, data: { reason: 'The owner switched HTTP off' } } } });
    await expect.poll(() => [world.engine.http.state.state, world.engine.http.clients.length], within).toEqual(['off', 0]);
    expect(await isOpen(port)).toBe(false);
  });
  test('a port that is taken is a sentence; once it is free it is listened on', { timeout: 60_000 }, async () => {
    await using other = await startWorld({ http: true });
    const port = other.engine.http.state.port!;
    await using world = await startWorld({ settings: { http: true, httpPort: port } });
    expect(world.engine.http.state).toEqual({ state: 'trouble', port, url: null, sentence: `Port ${port} is taken by another program. Choose another port for HTTP, or quit what uses it.` });
    await other.engine.http.close();
    await expect.poll(() => world.engine.http.state.state, within).toBe('listening');
  });
  test('another port closes the one before; clients may come back to the new one', async () => {
    const [first, second] = [await freePort(), await freePort()];
    await using world = await startWorld({ settings: { http: true, httpPort: first } });
    const stream = streamOf(await open(world.httpClient()));
    await stream.until(isActive);
    world.engine.policy.setSetting('httpPort', second);
    await stream.untilEnd();
    expect(stream.of(undefined, 'terminated')).toEqual([]);
    await expect.poll(() => world.engine.http.state.port, within).toBe(second);
    expect((await world.httpClient().ask('events/list')).status).toBe(200);
    expect(await isOpen(first)).toBe(false);
  });
  test('a stream ends with its result when the engine stops, without a word against the client', async () => {
    await using world = await startWorld({ http: true });
    const stream = streamOf(await open(world.httpClient(), {}, 's'));
    await stream.until(isActive);
    await world.engine.http.close();
    await stream.untilEnd();
    expect(stream.frames.at(-1)!.message).toMatchObject({ id: 's', result: { resultType: 'complete' } });
    expect(stream.of(undefined, 'terminated')).toEqual([]);
  });
});

test('two types and two credentials are one world: what one is sent, the other is not', async () => {
  await using world = await startWorld({ http: true });
  const [mail, messages] = [httpWay.client(world), httpWay.client(world)];
  await mail.stream(MAIL, mailArgs, {}, 1);
  await messages.stream(MESSAGES, messagesArgs, {}, 1);
  await ring(world, 'For one');
  await mail.untilEvents(1, 1);
  await quiet();
  expect(messages.events()).toEqual([]);
});
