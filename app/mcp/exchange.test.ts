import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { Emission } from './emission.ts';
import { Exchange } from './exchange.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.closeAllConnections();
});

/** One exchange over a real connection, and its client's side. */
async function exchange(id: string | number = 1): Promise<{ wire: Exchange; emitted: Emission[]; answer: Promise<IncomingMessage> }> {
  const emitted: Emission[] = [];
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const wire = new Promise<Exchange>((resolve) => {
    server.on('request', (_request, response) => resolve(new Exchange({ response, id, headers: { 'x-common': 'yes' }, onemit: (emission) => emitted.push(emission) })));
  });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false }, resolve).on('error', reject);
  });
  answer.catch(() => undefined);
  return { wire: await wire, emitted, answer };
}
const textOf = async (answer: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  return text;
};
const beat = (wire: Exchange, text = '{"n":1}') => wire.notify(wire.license('extensions.io.modelcontextprotocol/events')!, 'notifications/events/heartbeat', `${text}\n`);

test('an answer alone is JSON, with its status and the common headers', async () => {
  const { wire, answer } = await exchange();
  wire.reply('{"ok":true}', 404);
  wire.reply('{"twice":true}');
  const response = await answer;
  expect([response.statusCode, response.headers['content-type'], response.headers['x-common']]).toEqual([404, 'application/json', 'yes']);
  expect(await textOf(response)).toBe('{"ok":true}');
});

test('what is told before makes it a stream, and the answer its last event', async () => {
  const { wire, emitted, answer } = await exchange();
  beat(wire);
  beat(wire, '{"n":2}');
  wire.reply('{"end":true}');
  beat(wire, '{"late":true}');
  const response = await answer;
  expect([response.statusCode, response.headers['content-type'], response.headers['x-accel-buffering']]).toEqual([200, 'text/event-stream', 'no']);
  expect(await textOf(response)).toBe('data: {"n":1}\n\ndata: {"n":2}\n\ndata: {"end":true}\n\n');
  expect(emitted.map(({ method }) => method)).toEqual(['notifications/events/heartbeat', 'notifications/events/heartbeat']);
});

test('ended from our side: a stream gets its result with its own id, what waits an error; both are told to stop', async () => {
  const [streaming, waiting] = [await exchange('s'), await exchange(7)];
  beat(streaming.wire);
  for (const { wire } of [streaming, waiting]) {
    wire.finish();
    expect(wire.signal.aborted).toBe(true);
  }
  expect(await textOf(await streaming.answer)).toBe('data: {"n":1}\n\ndata: {"jsonrpc":"2.0","id":"s","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}\n\n');
  const response = await waiting.answer;
  expect([response.statusCode, JSON.parse(await textOf(response))]).toMatchObject([503, { jsonrpc: '2.0', id: 7, error: { code: -32603, data: { reason: 'ended' } } }]);
});

test('a peer that goes is noticed once, and nothing is written to it', async () => {
  const { wire, answer } = await exchange();
  let closed = 0;
  wire.onclose = () => (closed += 1);
  beat(wire);
  (await answer).destroy();
  await expect.poll(() => [closed, wire.signal.aborted, wire.writable], { timeout: 20_000 }).toEqual([1, true, false]);
  beat(wire);
  wire.reply('{}');
  wire.finish();
  expect(closed).toBe(1);
});

test('a peer that reads nothing takes no more events, and is stuck once a megabyte waits for it', async () => {
  const { wire, answer } = await exchange();
  beat(wire);
  (await answer).pause();
  const piece = JSON.stringify('x'.repeat(64 * 1024));
  let drained = 0;
  wire.ondrain = () => (drained += 1);
  for (let sent = 0; wire.writable && sent < 1000; sent += 1) {
    beat(wire, piece);
    await new Promise((done) => setImmediate(done));
  }
  expect([wire.writable, wire.stuck]).toEqual([false, false]);
  for (let sent = 0; !wire.stuck && sent < 1000; sent += 1) beat(wire, piece);
  expect(wire.stuck).toBe(true);
  (await answer).resume();
  await expect.poll(() => [wire.writable, wire.stuck, drained > 0], { timeout: 20_000 }).toEqual([true, false, true]);
});

test('what the SDK streams passes with what was told before it', async () => {
  const { wire, answer } = await exchange();
  beat(wire);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of ['event: message\ndata: {"a":1}\n\n', 'event: message\ndata: {"b":2}\n\n']) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });
  await wire.answer(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
  expect(await textOf(await answer)).toBe('data: {"n":1}\n\nevent: message\ndata: {"a":1}\n\nevent: message\ndata: {"b":2}\n\n');
});

test('an answer without a body keeps its status', async () => {
  const { wire, answer } = await exchange();
  await wire.answer(new Response(null, { status: 202 }));
  const response = await answer;
  expect([response.statusCode, await textOf(response)]).toEqual([202, '']);
});
