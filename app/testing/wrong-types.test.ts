import { afterAll, beforeAll, expect, test } from 'vitest';
import { CODE, MAIL, mailArgs } from './conformance-kit.ts';
import { subscriptionOf } from './frame-log.ts';
import { headersOf, type HttpClient } from './http-client.ts';
import { modernMeta, type RawClient } from './raw-client.ts';
import { startWorld, type World } from './world.ts';

/* Every method with values of every wrong type, both ways in and in both eras: a sentence, never a fault of ours or the inside of a library. */

let world: World;
beforeAll(async () => {
  world = await startWorld({ http: true });
});
afterAll(async () => {
  // What the SDK refused of a connection is noted as such.
  expect(world.log.filter((line) => /fault|Error/.test(line) && !line.startsWith('connection: Error in'))).toEqual([]);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  await world[Symbol.asyncDispose]();
});

const METHODS = [
  'ping', 'initialize', 'server/discover', 'tools/list', 'tools/call', 'resources/list', 'resources/templates/list', 'resources/read', 'resources/subscribe', 'resources/unsubscribe', 'subscriptions/listen',
  'events/list', 'events/poll', 'events/stream', 'events/subscribe', 'events/unsubscribe', 'completion/complete', 'prompts/list', 'logging/setLevel', 'constructor', '__proto__', '',
];
const GOOD: Record<string, unknown> = { name: MAIL, arguments: mailArgs, uri: 'belfry://status', notifications: {}, protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
const VALUES: readonly unknown[] = [
  null, 0, '', ['a', null], {}, true, '\ud800', 'a'.repeat(20_000), JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"name":7}'),
  ...(process.env['BELFRY_LONG'] === '1' ? [-1, 1e308, 'x', [], [[[]]], '\0', '\u{1F4A3}'] : []),
];
const FIELDS = ['name', 'arguments', 'cursor', 'maxAgeMs', 'delivery', 'notifications', 'uri', 'ref', 'level', 'protocolVersion', 'capabilities', 'clientInfo'];
/** Fields and what stands in them. `_meta` is another one in each era. */
function* params(meta: Record<string, unknown>): Iterable<unknown> {
  for (const value of VALUES) {
    for (const field of FIELDS) yield { ...GOOD, [field]: value, _meta: meta };
    yield { ...GOOD, notifications: { resourceSubscriptions: value, toolsListChanged: value }, _meta: meta };
    yield { ...GOOD, clientInfo: { name: value, version: value }, capabilities: { roots: value, experimental: value }, _meta: meta };
    for (const key of ['progressToken', ...Object.keys(modernMeta), 'io.modelcontextprotocol/clientInfo']) yield { ...GOOD, _meta: { ...meta, [key]: value } };
  }
  yield { _meta: meta };
}
/** Where the place of the params is what is wrong. */
const WHOLE = VALUES.flatMap((value) => [value, { ...GOOD, _meta: value }]);

/** Names of what is inside: schemas, stacks, addresses of files. */
const INSIDE = /invalid_type|invalid_union|unrecognized_keys|"code":|\\"path\\"|\n\s+at |\.ts:\d|\.mjs|ZodError|TypeError|undefined \(reading|is not a function|file:\/\//;
function check(message: Record<string, any> | undefined, asked: unknown): void {
  const said = JSON.stringify(asked).slice(0, 300);
  expect(message, said).toBeDefined();
  const { error } = message!;
  if (error === undefined) return;
  expect(error.code, `${said} -> ${JSON.stringify(error)}`).not.toBe(CODE.internal);
  expect(error.message, said).not.toMatch(INSIDE);
  // A sentence, on one line.
  expect(error.message, said).toMatch(/^\S[^\n]{2,1000}$/);
}

/** Over the socket, one after the other; a stream that opens is closed again. */
async function ask(client: RawClient, method: string, given: unknown, id: number): Promise<void> {
  const from = client.frames.length;
  client.send({ id, method, params: given });
  const { message } = await client.until((frame) => (frame.message['id'] === id && !('method' in frame.message)) || subscriptionOf(frame.message) === id || (frame.message['id'] === null && 'error' in frame.message), from, 60_000);
  if ('method' in message) {
    client.notify('notifications/cancelled', { requestId: id });
    return;
  }
  check(message, { method, params: given });
}

const eras = [{ era: 'modern', meta: modernMeta }, { era: 'legacy', meta: {} }] as const;

test.each(eras)('over the socket, $era', { timeout: 300_000 }, async ({ era, meta }) => {
  const client = world.client([], true);
  if (era === 'legacy') await client.initialize();
  else await client.request('server/discover');
  let id = 0;
  for (const method of METHODS) {
    for (const given of [...params(meta), ...WHOLE]) await ask(client, method, given, (id += 1));
  }
});

test('over the socket, as the first message of a connection', { timeout: 300_000 }, async () => {
  for (const given of [{ ...GOOD, protocolVersion: 7 }, { ...GOOD, clientInfo: 'x' }, { ...GOOD, capabilities: [] }, { ...GOOD, _meta: 7 }, { ...GOOD, _meta: { ...modernMeta, 'io.modelcontextprotocol/clientCapabilities': 7 } }, {}]) {
    for (const method of ['initialize', 'server/discover', 'tools/list', 'subscriptions/listen']) await ask(world.client([], true), method, given, 1);
  }
});

async function post(client: HttpClient, method: string, given: unknown, headers: Record<string, string>): Promise<void> {
  const asked = { jsonrpc: '2.0', id: 1, method, params: given };
  const { request, response } = await client.open(JSON.stringify(asked), { headers });
  let text = '';
  response.setEncoding('utf8');
  for await (const chunk of response) {
    text += chunk as string;
    if (response.headers['content-type'] === 'text/event-stream' && text.includes('\n\n')) break;
  }
  request.destroy();
  const json = response.headers['content-type'] === 'text/event-stream' ? /^data: *(.*)$/m.exec(text)![1]! : text;
  expect(response.statusCode, `${JSON.stringify(asked).slice(0, 300)} -> ${text.slice(0, 300)}`).toBeLessThan(500);
  const message = JSON.parse(json) as Record<string, any>;
  if (!('method' in message)) check(message, asked);
}

test.each(eras)('over HTTP, $era', { timeout: 300_000 }, async ({ era, meta }) => {
  for (const [nth, method] of METHODS.entries()) {
    let asked = 0;
    let client = world.httpClient(`test-${era}-${nth}`);
    for (const given of [...params(meta), ...WHOLE]) {
      // Below what one credential may ask in a moment.
      if ((asked += 1) % 300 === 0) client = world.httpClient(`test-${era}-${nth}-${asked}`);
      const named = typeof given === 'object' && given !== null && !Array.isArray(given) ? given : {};
      await post(client, method, given, era === 'modern' ? headersOf(method, named) : {});
    }
  }
});

test.each([
  ['resources/read', { uri: 0 }, 'uri: must be a string'], ['resources/read', {}, 'uri: is missing'], ['tools/list', { cursor: 0 }, 'cursor: must be a string'],
  ['resources/list', { cursor: [] }, 'cursor: must be a string'], ['tools/call', { name: 7 }, 'name: must be a string'], ['tools/call', { name: 'check_inbox', arguments: 'x' }, 'arguments: must be an object'],
])('%s with %j names the field and the rule, both ways', async (method, given, sentence) => {
  const legacy = world.client();
  await legacy.initialize();
  const answers = [await world.client().request(method, given), await legacy.ask(method, given), await world.httpClient('test-field').request(method, given)];
  for (const { error } of answers) expect(error).toEqual({ code: CODE.invalidParams, message: sentence });
});
