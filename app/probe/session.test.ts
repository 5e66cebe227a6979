import { expect, test } from 'vitest';
import { discovered, probe, probeUntilLate, ScriptedServer, type Call, type Script } from '../testing/probe-kit.ts';
import { VirtualClock } from '../testing/virtual-clock.ts';

const older: Script = {
  initialize: (call) => call.answer({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } }),
  'notifications/initialized': () => undefined,
  'tools/call': (call) => call.answer({ content: [{ type: 'text', text: JSON.stringify(call.params) }] }),
};
const CALL = ['call', '--tool', 'echo', '--args', '{"a":1}', '--json'];

test('the newer handshake where there is one: each request carries its envelope', async () => {
  const server = new ScriptedServer({ 'tools/call': (call) => call.answer({ resultType: 'complete', content: [] }) });
  const { json } = await probe(CALL, { server });
  expect([json['ok'], json['era']]).toEqual([true, '2026-07-28']);
  expect(server.methods()).toEqual(['server/discover', 'tools/call']);
  for (const { params } of server.heard) {
    expect(params._meta).toEqual({
      'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/events': {} } },
      'io.modelcontextprotocol/clientInfo': { name: 'belfry-probe', version: '0.0.0' },
    });
  }
});

test.each<[string, Script]>([
  ['answers that it does not know the method', { 'server/discover': (call) => call.fail(-32601, 'Method not found') }],
  ['answers with another error', { 'server/discover': (call) => call.fail(-32000, 'Server not initialized') }],
  ['does not name the revision', { 'server/discover': (call) => call.answer({ ...discovered(), supportedVersions: ['2027-01-01'] }) }],
  ['refuses the version', { 'server/discover': (call) => call.fail(-32022, 'Unsupported protocol version', { supported: ['2025-11-25'] }) }],
])('a server that %s is asked for the older handshake; with --era modern it is not', async (_name, script) => {
  const server = new ScriptedServer({ ...older, ...script });
  const { json } = await probe(CALL, { server });
  expect([json['ok'], json['era']]).toEqual([true, '2025-11-25']);
  expect(JSON.parse(json['content'][0].text)).toEqual({ name: 'echo', arguments: { a: 1 } });
  const pinned = await probe([...CALL, '--era', 'modern'], { server: new ScriptedServer({ ...older, ...script }) });
  expect([pinned.code, pinned.json['errorCode']]).toEqual([3, 'PROTOCOL_UNSUPPORTED']);
});

test('a program that stays silent to the newer handshake is asked for the older one', async () => {
  const clock = new VirtualClock();
  const server = new ScriptedServer({ ...older, 'server/discover': () => undefined });
  const run = probe(CALL, { server, clock });
  await expect.poll(() => server.methods(), { timeout: 10_000 }).toEqual(['server/discover']);
  clock.advance(10_000);
  expect((await run).json).toMatchObject({ ok: true, era: '2025-11-25' });
});

test('a server that asks whether the probe is there gets an answer, and nothing else that it asks for', async () => {
  const server = new ScriptedServer({ ...older, 'server/discover': (call) => call.fail(-32601, 'x'), 'tools/call': (call) => {
    call.send({ jsonrpc: '2.0', id: 'p1', method: 'ping' });
    call.send({ jsonrpc: '2.0', id: 'p2', method: 'sampling/createMessage', params: {} });
    setTimeout(() => call.answer({ content: [] }), 50);
  } });
  expect((await probe(CALL, { server })).code).toBe(0);
  expect(server.heard.filter(({ id }) => String(id).startsWith('p'))).toEqual([{ jsonrpc: '2.0', id: 'p1', result: {} }, { jsonrpc: '2.0', id: 'p2', error: { code: -32601, message: 'Method not found' } }]);
});

test('a server of the newer revision that was only slow to start is not taken for an older one', async () => {
  const clock = new VirtualClock();
  let asked: Call | null = null;
  const server = new ScriptedServer({
    'server/discover': (call) => void (asked = call),
    initialize: (call) => {
      asked!.answer(discovered());
      call.fail(-32022, 'Unsupported protocol version');
    },
    'tools/call': (call) => call.answer({ resultType: 'complete', content: [] }),
  });
  const run = probe(CALL, { server, clock });
  await expect.poll(() => server.methods(), { timeout: 10_000 }).toEqual(['server/discover']);
  clock.advance(10_000);
  // Whatever has answered already is looked at in the next turn of the clock.
  await expect.poll(() => server.methods(), { timeout: 10_000 }).toContain('initialize');
  const turning = setInterval(() => clock.advance(1), 5);
  expect((await run).json).toMatchObject({ ok: true, era: '2026-07-28' });
  clearInterval(turning);
});

test('--era legacy never asks for the newer one', async () => {
  const server = new ScriptedServer(older);
  await probe([...CALL, '--era', 'legacy'], { server });
  expect(server.methods()).not.toContain('server/discover');
});

test.each<[string, Script, number, string]>([
  ['both handshakes refused', { 'server/discover': (call) => call.fail(-32601, 'x'), initialize: (call) => call.fail(-32022, 'Unsupported') }, 3, 'PROTOCOL_UNSUPPORTED'],
  ['an older revision that nobody knows', { 'server/discover': (call) => call.fail(-32601, 'x'), initialize: (call) => call.answer({ protocolVersion: '2023-01-01', capabilities: {} }) }, 3, 'PROTOCOL_UNSUPPORTED'],
  ['a result of an unknown kind', { 'tools/call': (call) => call.answer({ resultType: 'partial' }) }, 3, 'PROTOCOL_VIOLATION'],
  ['a question back', { 'tools/call': (call) => call.answer({ resultType: 'input_required' }) }, 3, 'CALL_FAILED'],
  ['a tool that failed', { 'tools/call': (call) => call.answer({ content: [{ type: 'text', text: 'no' }], isError: true }) }, 1, 'TOOL_ERROR'],
  ['a tool that is not there', { 'tools/call': (call) => call.fail(-32602, 'name: there is no tool of this name') }, 3, 'TOOL_REQUEST_REJECTED'],
  ['a server that failed', { 'tools/call': (call) => call.fail(-32603, 'x') }, 3, 'CALL_FAILED'],
  ['a server without tools', { 'tools/call': (call) => call.fail(-32601, 'Method not found') }, 3, 'TOOL_REQUEST_REJECTED'],
])('%s', async (_name, script, code, errorCode) => {
  const { json, ...result } = await probe(CALL, { server: new ScriptedServer(script) });
  expect([result.code, json['errorCode']]).toEqual([code, errorCode]);
});

test('the shape of a call is the same on success and on failure', async () => {
  const good = await probe(CALL, { server: new ScriptedServer({ 'tools/call': (call) => call.answer({ content: [{ type: 'text', text: 'x' }], structuredContent: { a: 1 } }) }) });
  expect(good.json).toMatchObject({ tool: 'echo', isError: false, content: [{ type: 'text', text: 'x' }], structuredContent: { a: 1 }, serverUrl: null });
  const bad = await probe(CALL, { server: new ScriptedServer({ 'tools/call': (call) => call.fail(-32602, 'no') }) });
  expect(bad.json).toMatchObject({ tool: 'echo', isError: null, content: null, structuredContent: null });
  expect(Object.keys(bad.json)).toEqual(Object.keys(good.json));
});

const channel = (declared: boolean, pushes: boolean): Script => ({
  initialize: (call) => call.answer({ protocolVersion: '2025-11-25', capabilities: declared ? { experimental: { 'claude/channel': {} } } : {}, serverInfo: { name: 'x', version: '1' }, instructions: 'What a tag is.' }),
  'notifications/initialized': (call) => {
    if (pushes) call.send({ jsonrpc: '2.0', method: 'notifications/claude/channel', params: { content: 'Mail', meta: {} } });
  },
});

test.each([
  { declared: true, pushes: true, expected: [0, null] },
  { declared: true, pushes: false, expected: [1, 'NOTIFICATION_TIMEOUT'] },
  { declared: false, pushes: true, expected: [3, 'PROTOCOL_VIOLATION'] },
  { declared: false, pushes: false, expected: [3, 'EXTENSION_NOT_DECLARED'] },
])('a channel: declared $declared, pushes $pushes', async ({ declared, pushes, expected }) => {
  const server = new ScriptedServer(channel(declared, pushes));
  const { code, json } = await (expected[0] === 0 ? probe(['channel', '--json'], { server }) : probeUntilLate(['channel', '--json'], server, 'notifications/initialized'));
  expect([code, json['errorCode']]).toEqual(expected);
  expect(json).toMatchObject({ channelDeclared: declared, hasInstructions: true, notificationReceived: pushes, era: '2025-11-25' });
  expect(server.methods()).toEqual(['initialize', 'notifications/initialized']);
});
