import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { discoveryRows } from './conformance-discovery.ts';
import { CODE, faultsOf, httpWay, MAIL, mailArgs, MESSAGES, messagesArgs, quiet, ring, subjects, SUBSCRIPTION_ID } from './conformance-kit.ts';
import { pollRows } from './conformance-poll.ts';
import { pushRows } from './conformance-push.ts';
import { webhookDeliveryRows } from './conformance-webhook-delivery.ts';
import { webhookRows } from './conformance-webhook.ts';
import { ConformanceTable, scenarios, SCENARIOS } from './conformance-table.ts';
import { streamOf, wordOf, type HttpClient } from './http-client.ts';
import { modernMeta } from './raw-client.ts';
import { clientOf } from './test-credentials.ts';
import { startWebhookWorld } from './webhook-kit.ts';
import type { World } from './world.ts';

const table = new ConformanceTable();
afterEach(({ task }) => {
  let suite = task.suite;
  while (suite?.suite) suite = suite.suite;
  table.record(suite?.name ?? '', task.name, task.result?.state !== 'fail');
});

const HEADER_MISMATCH = -32020;
const httpClient = (world: World) => httpWay.client(world) as HttpClient;

/** The two rows of a method whose event name is repeated in a header, and what else belongs to them. */
function nameRows(method: 'events/poll' | 'events/stream'): void {
  const message = { jsonrpc: '2.0', id: 1, method, params: { _meta: modernMeta, name: MAIL, arguments: mailArgs } };
  const post = (client: HttpClient, name: string | undefined) => client.post(JSON.stringify(message), { headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': name } });
  const mismatch = { status: 400, message: { jsonrpc: '2.0', id: 1, error: { code: HEADER_MISMATCH, message: expect.stringContaining('Mcp-Name') } } };

  test('mcp-name-missing-rejected: without Mcp-Name it is 400 and -32020', async () => {
    await using world = await httpWay.world();
    expect(await post(httpClient(world), undefined)).toMatchObject(mismatch);
    expect(await post(httpClient(world), '')).toMatchObject(mismatch);
  });
  test('mcp-name-mismatch-rejected: another name, another case and a broken base64 word are 400 and -32020; the word of the name is taken', async () => {
    await using world = await httpWay.world();
    const client = httpClient(world);
    for (const name of [MESSAGES, MAIL.toUpperCase(), wordOf('mail.receivéd'), '=?base64?!?=', `=?base64?${Buffer.from(MESSAGES).toString('base64')}?=`]) {
      expect(await post(client, name), name).toMatchObject(mismatch);
    }
    const { request, response } = await client.open(JSON.stringify(message), {
      headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': `=?base64?${Buffer.from(MAIL).toString('base64')}?=` },
    });
    expect(response.statusCode).toBe(200);
    request.destroy();
  });
}

describe('events-discovery', () => {
  discoveryRows(httpWay);
  test('capability-list-changed-gated: the acknowledgement of a listen request leaves eventsListChanged out', async () => {
    await using world = await httpWay.world();
    const stream = streamOf(await httpClient(world).listen('subscriptions/listen', { notifications: { eventsListChanged: true, toolsListChanged: true } }, { id: 'l' }));
    const { message } = await stream.until(() => true);
    expect(message).toEqual({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: { notifications: { toolsListChanged: true }, _meta: { [SUBSCRIPTION_ID]: 'l' } } });
  });
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

describe('events-poll', () => {
  pollRows(httpWay);
  nameRows('events/poll');
});

describe('events-push', () => {
  pushRows(httpWay);
  nameRows('events/stream');

  test('stream-implemented: the answer is an event stream that nothing between may buffer', async () => {
    await using world = await httpWay.world();
    const stream = streamOf(await httpClient(world).listen('events/stream', { name: MAIL, arguments: mailArgs }));
    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no', 'cache-control': 'no-store' });
  });
  test('stream-error-is-recoverable: told of a missing approval the stream stays open, and delivers once it is given', async () => {
    await using world = await httpWay.world({ trust: false });
    const client = httpClient(world);
    const stream = streamOf(await client.listen('events/stream', { name: MAIL, arguments: mailArgs }, { id: 3 }));
    const { message } = await stream.until((frame) => frame.message['method'] === 'notifications/events/error');
    expect(message['params']).toMatchObject({ error: { code: CODE.forbidden, data: { reason: 'approval' } }, _meta: { [SUBSCRIPTION_ID]: 3 } });
    await ring(world, 'Held');
    await quiet();
    expect(stream.events()).toEqual([]);
    expect(world.engine.policy.allowClient(clientOf(client.token!))).toMatchObject({ ok: true });
    expect(subjects(await stream.untilEvents(1, 3))).toEqual(['Held']);
    expect(stream.ended).toBe(false);
  });
  test('stream-terminated-ends-subscription, stream-final-result-shape, stream-final-result-timing, removal-terminates-subscriptions, removal-error-not-found, result-type-complete: a type that is switched off ends its stream', async () => {
    await using world = await httpWay.world();
    const client = httpClient(world);
    const stream = streamOf(await client.listen('events/stream', { name: MAIL, arguments: mailArgs }, { id: 'm' }));
    const other = streamOf(await client.listen('events/stream', { name: MESSAGES, arguments: messagesArgs }, { id: 't' }));
    await other.until(() => true);
    await stream.until(() => true);
    world.engine.policy.setEvent(MAIL, false);
    await stream.untilEnd();
    const [terminated, result] = stream.frames.slice(-2).map(({ message }) => message);
    expect(terminated).toMatchObject({ method: 'notifications/events/terminated', params: { error: { code: CODE.notFound, data: { kind: 'event' } }, _meta: { [SUBSCRIPTION_ID]: 'm' } } });
    expect(result).toEqual({ jsonrpc: '2.0', id: 'm', result: { resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: 'm', 'io.modelcontextprotocol/serverInfo': { name: 'belfry', version: expect.any(String) } } } });
    expect(faultsOf('end', result!['result'])).toEqual([]);
    expect(other.ended).toBe(false);
  });
  test('removal-additive-no-terminate: a type that is switched on ends nothing', async () => {
    await using world = await httpWay.world({ settings: { events: { 'mail.received': true, 'messages.received': false } } });
    const client = httpClient(world);
    const stream = streamOf(await client.listen('events/stream', { name: MAIL, arguments: mailArgs }, { id: 1 }));
    await stream.until(() => true);
    world.engine.policy.setEvent(MESSAGES, true);
    expect((await client.request('events/list'))['result']['events']).toHaveLength(2);
    await ring(world, 'Still here');
    expect(subjects(await stream.untilEvents(1))).toEqual(['Still here']);
    expect(stream.frames.map(({ message }) => message['method'])).toEqual(['notifications/events/active', 'notifications/events/event']);
  });
  test('stream-heartbeat-not-sse-comment: nothing but data on a stream that was open for 40 s', { timeout: 90_000 }, async () => {
    await using world = await httpWay.world();
    const stream = streamOf(await httpClient(world).listen('events/stream', { name: MAIL, arguments: mailArgs }));
    await quiet(40_000);
    expect(stream.of(undefined, 'heartbeat').length).toBeGreaterThanOrEqual(1);
    expect(stream.comments).toEqual([]);
    expect(stream.ended).toBe(false);
  });
});

describe('events-webhook', webhookRows);
describe('events-webhook-delivery', webhookDeliveryRows);

describe('the table', () => {
  beforeAll(() => process.stdout.write(`${table.toString()}\n`));
  for (const scenario of scenarios) {
    test(`${scenario}, all ${SCENARIOS[scenario].length} rows`, () => {
      expect(table.misses(scenario)).toEqual([]);
    });
  }
  test('at least as much is shown as by a comparable server', () => {
    const [discovery, poll, push] = (['events-discovery', 'events-poll', 'events-push'] as const).map((scenario) => table.counts(scenario));
    // The published run of that server: 14, 28 and 13 rows shown, 1, 7 and 13 that could not be.
    for (const [found, pass, untestable] of [[discovery!, 14, 1], [poll!, 28, 7], [push!, 13, 13]] as const) {
      expect(found.fail).toBe(0);
      expect(found.pass).toBeGreaterThan(pass);
      expect(found.untestable).toBeLessThanOrEqual(untestable);
    }
  });
});
