import { expect, test } from 'vitest';
import { discovered, probe, probeUntilLate, ScriptedServer, type Call, type Script } from '../testing/probe-kit.ts';

const URI = 'job://1';
const WATCH = ['watch', '--uri', URI, '--json'];
const acknowledge = (call: Call, uris: readonly string[] = [URI]) => call.notify('notifications/subscriptions/acknowledged', { notifications: { resourceSubscriptions: uris } });
const updated = (call: Call, uri = URI) => call.notify('notifications/resources/updated', { uri });

/** A resource whose text is that of each reading in turn; the last one stays. */
function resource(texts: readonly string[], script: Script = {}): ScriptedServer {
  let reading = 0;
  return new ScriptedServer({
    'resources/list': (call) => call.answer({ resultType: 'complete', resources: [{ uri: URI, name: 'job' }] }),
    'resources/read': (call) => call.answer({ resultType: 'complete', contents: [{ uri: URI, text: texts[Math.min(reading++, texts.length - 1)] }] }),
    'subscriptions/listen': (call) => {
      acknowledge(call);
      setTimeout(() => updated(call), 50);
    },
    ...script,
  });
}

test('read, subscribe, read again, wait, read the last time; the subscription is withdrawn', async () => {
  const server = resource(['status: open', 'status: open', 'status: done']);
  const { code, json } = await probe(WATCH, { server });
  expect(code).toBe(0);
  expect(server.methods()).toEqual(['server/discover', 'resources/list', 'resources/read', 'subscriptions/listen', 'resources/read', 'resources/read', 'notifications/cancelled']);
  expect(json).toMatchObject({
    route: 'subscription', resourceFound: true, resourceUri: URI, listenAcknowledged: true, honoredUris: [URI], notificationReceived: true, notificationCount: 1, closeReason: 'local',
    initialText: 'status: open', finalText: 'status: done', errorCode: null, recommendedNextAction: null,
  });
});

test('the lines stand in their fixed order', async () => {
  const { keys, stdout } = await probe(WATCH.slice(0, -1), { server: resource(['a\nb', 'a\nb', 'c']) });
  expect(keys).toEqual([
    'era', 'capabilities', 'resource-found', 'resource-uri', 'server-url', 'initial-text', 'route', 'listen-acknowledged', 'honored-uris', 'notification-received', 'notification-count',
    'close-reason', 'error-code', 'notification', 'final-text', 'phase-summary',
  ]);
  expect(stdout).toContain('initial-text "a\\nb"\n');
});

test('what changed before the subscription is seen by the second reading', async () => {
  const { code, json } = await probe(WATCH, { server: resource(['open', 'done'], { 'subscriptions/listen': (call) => acknowledge(call) }) });
  expect([code, json['route'], json['notificationReceived'], json['finalText']]).toEqual([0, 'pre-completion', false, 'done']);
});

test('what already is as it was asked for need not change', async () => {
  const { code, json } = await probe([...WATCH, '--until', 'status=done'], { server: resource(['{"status":"done"}'], { 'subscriptions/listen': (call) => acknowledge(call) }) });
  expect([code, json['route']]).toEqual([0, 'pre-completion']);
});

test('a resource that says to look later keeps the same subscription open', async () => {
  const later = '{"status":"open","recommended_next_action":"POLL_AFTER"}';
  const done = 'status: done\nrecommended_next_action: READ_IT\n';
  const server = resource([later, later, later.replace('open', 'half'), done], { 'subscriptions/listen': (call) => {
    acknowledge(call);
    setTimeout(() => updated(call), 50);
    setTimeout(() => updated(call), 150);
  } });
  const { json } = await probe(WATCH, { server });
  expect(json).toMatchObject({ ok: true, notificationCount: 2, finalText: done, recommendedNextAction: 'READ_IT' });
  expect(server.methods().filter((method) => method === 'subscriptions/listen')).toHaveLength(1);
});

test('--until and --count ask for certain changes', async () => {
  const texts = ['status: a', 'status: a', 'status: b', 'status: c', 'status: c'];
  const thrice: Script = { 'subscriptions/listen': (call) => {
    acknowledge(call);
    for (const ms of [50, 150, 250]) setTimeout(() => updated(call), ms);
  } };
  expect((await probe([...WATCH, '--until', 'status=c'], { server: resource(texts, thrice) })).json).toMatchObject({ ok: true, notificationCount: 2, finalText: 'status: c' });
  expect((await probe([...WATCH, '--count', '3'], { server: resource(texts, thrice) })).json).toMatchObject({ ok: true, notificationCount: 3 });
  // Two readings before the updates, one after each.
  expect((await probeUntilLate([...WATCH, '--until', 'status=z'], resource(texts, thrice), 'resources/read', 5)).json)
    .toMatchObject({ errorCode: 'NOTIFICATION_TIMEOUT', route: 'timeout', notificationCount: 3, finalText: 'status: c' });
});

test.each<[string, Script, number, string]>([
  ['a resource that is not listed', { 'resources/list': (call) => call.answer({ resources: [] }) }, 3, 'RESOURCE_NOT_FOUND'],
  ['a resource that cannot be read', { 'resources/read': (call) => call.fail(-32602, 'uri: there is no such resource') }, 3, 'RESOURCE_NOT_FOUND'],
  ['no resources', { 'server/discover': (call) => call.answer(discovered({ tools: {} })) }, 3, 'EXTENSION_NOT_DECLARED'],
  ['a subscription that is not known', { 'subscriptions/listen': (call) => call.fail(-32601, 'Method not found') }, 3, 'SUBSCRIPTION_FAILED'],
  ['a subscription without the resource', { 'subscriptions/listen': (call) => acknowledge(call, []) }, 3, 'SUBSCRIPTION_NOT_HONORED'],
  ['an update before the acknowledgement', { 'subscriptions/listen': (call) => updated(call) }, 3, 'PROTOCOL_VIOLATION'],
  ['an update without the id', { 'subscriptions/listen': (call) => {
    acknowledge(call);
    call.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: URI } });
  } }, 3, 'PROTOCOL_VIOLATION'],
  ['a server that ends it', { 'subscriptions/listen': (call) => {
    acknowledge(call);
    call.answer({ resultType: 'complete' });
  } }, 4, 'STREAM_TERMINATED'],
  ['a connection that breaks', { 'subscriptions/listen': (call) => {
    acknowledge(call);
    call.close();
  } }, 4, 'SUBSCRIPTION_DISCONNECTED'],
])('%s', async (_name, script, code, errorCode) => {
  const { json, ...result } = await probe(WATCH, { server: resource(['open'], script) });
  expect([result.code, json['errorCode']]).toEqual([code, errorCode]);
});

test('an update of another resource is none, of a part of it is one', async () => {
  const other = await probeUntilLate(WATCH, resource(['open'], { 'subscriptions/listen': (call) => {
    acknowledge(call);
    updated(call, 'job://10');
  } }), 'resources/read', 2);
  expect(other.json).toMatchObject({ errorCode: 'NOTIFICATION_TIMEOUT', notificationCount: 0 });
  const part = await probe(WATCH, { server: resource(['open', 'open', 'done'], { 'subscriptions/listen': (call) => {
    acknowledge(call);
    updated(call, `${URI}/log`);
  } }) });
  expect(part.code).toBe(0);
});

test('--skip-list takes a resource that is not listed', async () => {
  const server = resource(['a', 'b']);
  expect((await probe([...WATCH, '--skip-list'], { server })).code).toBe(0);
  expect((await probe(WATCH, { server: resource(['a', 'b']), env: { MCP_PROBE_SKIP_LIST: 'true' } })).code).toBe(0);
  expect(server.methods()).not.toContain('resources/list');
});

const legacy = (script: Script = {}, capabilities: object = { resources: { subscribe: true } }): Script => ({
  'server/discover': (call) => call.fail(-32601, 'Method not found'),
  initialize: (call) => call.answer({ protocolVersion: '2025-06-18', capabilities, serverInfo: { name: 'old', version: '1' } }),
  'notifications/initialized': () => undefined,
  'resources/subscribe': (call) => {
    call.answer({});
    setTimeout(() => call.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: URI } }), 50);
  },
  ...script,
});

test('on the older revisions a request subscribes, and is taken back', async () => {
  const server = resource(['open', 'open', 'done'], legacy());
  const { json } = await probe(WATCH, { server });
  expect(json).toMatchObject({ ok: true, era: '2025-06-18', route: 'subscription', listenAcknowledged: true, honoredUris: [URI], finalText: 'done' });
  expect(server.methods()).toEqual([
    'server/discover', 'initialize', 'notifications/initialized', 'resources/list', 'resources/read', 'resources/subscribe', 'resources/read', 'resources/read', 'resources/unsubscribe',
  ]);
  expect(server.heard.slice(1).every((message) => message['params']?._meta === undefined), 'no envelope of the newer revision').toBe(true);
});

test('older servers that refuse or do not declare it', async () => {
  const refused = await probe(WATCH, { server: resource(['x'], legacy({ 'resources/subscribe': (call) => call.fail(-32601, 'no') })) });
  const undeclared = await probe(WATCH, { server: resource(['x'], legacy({}, { resources: {} })) });
  expect([refused.json['errorCode'], undeclared.json['errorCode']]).toEqual(['SUBSCRIPTION_FAILED', 'SUBSCRIPTION_FAILED']);
});
