import { fileURLToPath } from 'node:url';
import { PassThrough } from 'node:stream';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../events/clock.ts';
import { probe } from '../../testing/probe-kit.ts';
import { runLab } from './lab.ts';
import { LAB_DEFAULTS, type LabOptions } from './options.ts';
import { TICK } from './ticks.ts';

const cli = fileURLToPath(new URL('../../cli/belfry.ts', import.meta.url));
const URI = 'lab://review/status';
const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of cleanUp.splice(0)) await end();
});

/** The laboratory over HTTP in this process. */
async function httpLab(options: Partial<LabOptions> = {}): Promise<{ url: string; evidence: string[] }> {
  const stop = new AbortController();
  const evidence: string[] = [];
  const stdout = new PassThrough();
  const done = runLab({ ...LAB_DEFAULTS, port: 0, delayMs: 100, ...options }, { clock: systemClock, version: '0', stdin: new PassThrough(), stdout, evidence: (line) => evidence.push(line), interrupt: stop.signal });
  cleanUp.push(async () => {
    stop.abort();
    await done;
  });
  const [line] = (await Promise.race([new Promise((resolve) => stdout.once('data', (chunk: Buffer) => resolve([chunk.toString()]))), done])) as [string];
  return { url: /^listening (http:\/\/127\.0\.0\.1:\d+\/\S*)\n$/.exec(line)![1]!, evidence };
}
const stdio = (...options: string[]) => ['--command', process.execPath, '--', cli, 'probe', 'lab', '--stdio', '--delay-ms', '100', ...options];

const transports = [
  { transport: 'HTTP', target: async (options: Partial<LabOptions> = {}) => ['--url', (await httpLab(options)).url] },
  { transport: 'stdio', target: async (options: Partial<LabOptions> = {}) => stdio('--steps', String(options.steps ?? 1), ...(options.listChanged ? ['--list-changed'] : []), ...(options.updatedStatus ? ['--updated-status', options.updatedStatus] : [])) },
];
/** Words of `--command` stand at the end. */
// How long a program takes to start must not make it one of the older revisions.
const withTarget = (words: readonly string[], target: readonly string[]) => [...words, '--json', '--era', 'modern', '--timeout-ms', '60000', ...target];

test.each(transports)('over $transport: a tick is waited for, a resource watched, a tool called, a failure had on demand', async ({ target }) => {
  const at = await target();
  const tick = await probe(withTarget(['wait', '--event', TICK, '--args', '{"word":"hello"}', '--count', '2'], at));
  expect(tick.json, tick.stderr).toMatchObject({ ok: true, route: 'event', eventCount: 2, event: { name: TICK, data: { word: 'hello' } } });
  const watch = await probe(withTarget(['watch', '--uri', URI, '--until', 'status=reviewed'], at));
  expect(watch.json, watch.stderr).toMatchObject({ ok: true, route: 'subscription', honoredUris: [URI], notificationCount: 1, recommendedNextAction: 'READ_REVIEW' });
  expect((await probe(withTarget(['call', '--tool', 'echo_tool', '--args', '{"message":"hi"}'], at))).json).toMatchObject({ ok: true, content: [{ type: 'text', text: 'hi' }] });
  expect((await probe(withTarget(['call', '--tool', 'echo_tool', '--args', '{"shouldError":true}'], at))).json).toMatchObject({ isError: true, errorCode: 'TOOL_ERROR' });
  expect((await probe(withTarget(['call', '--tool', 'get_review_status'], at))).json).toMatchObject({ ok: true });
  expect((await probe(withTarget(['call', '--tool', 'none'], at))).json).toMatchObject({ errorCode: 'TOOL_REQUEST_REJECTED' });
}, 120_000);

test.each(transports)('over $transport: several steps keep one subscription; each run sees its own update', async ({ target }) => {
  const at = await target({ steps: 3, listChanged: true, updatedStatus: 'done' });
  for (let time = 0; time < 2; time += 1) {
    const { json, stderr } = await probe(withTarget(['watch', '--uri', URI], at));
    expect(json, stderr).toMatchObject({ ok: true, notificationCount: 3, route: 'subscription' });
    expect(JSON.parse(json['initialText'])).toMatchObject({ status: 'pending' });
    expect(JSON.parse(json['finalText'])).toMatchObject({ status: 'done' });
  }
}, 120_000);

test.each([
  ['error', { ok: true, eventCount: 2 }], ['gap', { ok: true, truncated: true }], ['terminated', { errorCode: 'STREAM_TERMINATED' }], ['close', { errorCode: 'STREAM_DISCONNECTED', closeReason: 'graceful' }],
])('a stream is asked for the fault %s', async (fault, expected) => {
  const { url } = await httpLab();
  const { json } = await probe(withTarget(['wait', '--event', TICK, '--args', JSON.stringify({ fault }), '--count', '2'], ['--url', url]));
  expect(json).toMatchObject(expected);
});

test('a position is gone on from, one of another run is a gap, and one that is none is refused', async () => {
  const { url } = await httpLab();
  const at = ['--url', url];
  const first = await probe(withTarget(['wait', '--event', TICK], at));
  const next = await probe(withTarget(['wait', '--event', TICK, '--cursor', first.json['finalCursor'] as string], at));
  expect(next.json['event'].data.number).toBe(first.json['event'].data.number + 1);
  expect((await probe(withTarget(['poll', '--event', TICK, '--cursor', 'zzz.1'], at))).json).toMatchObject({ ok: true, truncated: true, events: [] });
  expect((await probe(withTarget(['poll', '--event', TICK, '--cursor', 'none of ours'], at))).json['errorCode']).toBe('INVALID_ARGS');
  expect((await probe(withTarget(['poll', '--event', TICK, '--args', '{"colour":"red"}'], at))).json['errorCode']).toBe('INVALID_ARGS');
  expect((await probe(withTarget(['wait', '--event', 'none', '--skip-list'], at))).json['errorCode']).toBe('EVENT_NOT_FOUND');
});

test('one line of evidence for each message that came and each that was sent', async () => {
  const { url, evidence } = await httpLab();
  await probe(withTarget(['watch', '--uri', URI], ['--url', url]));
  expect(evidence).toEqual([
    'lab: got server/discover id=1', 'lab: got resources/list id=2', `lab: got resources/read id=3 uri=${URI}`, 'lab: got subscriptions/listen id=4', `lab: got resources/read id=5 uri=${URI}`,
    `lab: sent notifications/resources/updated uri=${URI}`, `lab: got resources/read id=6 uri=${URI}`,
  ]);
});

const post = (url: string, message: object, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers }, body: JSON.stringify(message) });
const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };

test('what a server of the newer revision refuses: the older handshake, other methods, headers that do not fit, foreign origins', async () => {
  const { url } = await httpLab({ path: '/lab' });
  const { origin } = new URL(url);
  expect(url).toBe(`${origin}/lab`);
  expect(await (await fetch(`${origin}/healthz`)).text()).toBe('ok\n');
  for (const method of ['GET', 'DELETE', 'PUT']) expect([method, (await fetch(url, { method })).status]).toEqual([method, 405]);
  expect((await fetch(`${origin}/other`, { method: 'POST' })).status).toBe(404);
  const initialize = await post(`${origin}/mcp`, { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } } });
  expect(((await initialize.json()) as Record<string, any>)['error'].code).toBe(-32022);
  expect(initialize.headers.get('mcp-session-id')).toBeNull();
  const poll = { jsonrpc: '2.0', id: 1, method: 'events/poll', params: { name: TICK, arguments: {}, _meta: meta } };
  const routed = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'events/poll' };
  for (const [name, status] of [[undefined, 400], ['other', 400], [TICK, 200], [`=?base64?${Buffer.from(TICK).toString('base64')}?=`, 200]] as const) {
    expect([name, (await post(url, poll, { ...routed, ...(name !== undefined && { 'Mcp-Name': name }) })).status]).toEqual([name, status]);
  }
  expect((await post(url, poll, { ...routed, 'Mcp-Name': TICK, Origin: 'https://evil.example' })).status).toBe(403);
  expect((await fetch(url, { method: 'POST', body: '{' })).status).toBe(400);
  expect((await fetch(url, { method: 'POST', body: 'x'.repeat(1_100_000) }).catch(() => ({ status: 413 }))).status).toBe(413);
});

test('a port that is taken is a sentence', async () => {
  const { url } = await httpLab();
  await expect(httpLab({ port: Number(new URL(url).port) })).rejects.toMatchObject({ code: 'INVALID_ARGS', message: expect.stringMatching(/^Port \d+ is taken/) });
  cleanUp.pop();
});

/** The official client knows no events, so it lacks the one header that they need. */
const named: typeof fetch = (url, init) => {
  const { method, params } = JSON.parse(String(init?.body ?? '{}')) as Record<string, any>;
  const headers = new Headers(init?.headers);
  if (String(method).startsWith('events/')) headers.set('Mcp-Name', params.name);
  return fetch(url, { ...init, headers });
};

test.each(transports)('the official client, as somebody else\'s, over $transport', async ({ transport }) => {
  const client = new Client({ name: 'official', version: '1.0.0' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const heard: string[] = [];
  for (const method of ['notifications/events/active', 'notifications/events/event']) client.setNotificationHandler(method, { params: z.looseObject({}) }, () => void heard.push(method));
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
  await client.connect(transport === 'HTTP' ? new StreamableHTTPClientTransport(new URL((await httpLab()).url), { fetch: named }) : new StdioClientTransport({ command: process.execPath, args: stdio().slice(3), stderr: 'ignore' }));
  try {
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual([URI]);
    const subscription = await client.listen({ resourceSubscriptions: [URI] });
    await expect.poll(() => heard.includes(URI), { timeout: 20_000 }).toBe(true);
    await subscription.close();
    const abort = new AbortController();
    client.request({ method: 'events/stream', params: { name: TICK, arguments: {} } }, z.looseObject({}), { signal: abort.signal, timeout: 60_000 }).catch(() => undefined);
    await expect.poll(() => heard.includes('notifications/events/event'), { timeout: 20_000 }).toBe(true);
    expect(heard.indexOf('notifications/events/active')).toBeLessThan(heard.indexOf('notifications/events/event'));
    abort.abort();
    expect((await client.callTool({ name: 'echo_tool', arguments: { message: 'x' } })).content).toEqual([{ type: 'text', text: 'x' }]);
  } finally {
    await client.close();
  }
});
