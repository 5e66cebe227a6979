import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { commandRunner } from '../engine/commands.ts';
import { nativeFile } from '../engine/host.ts';
import { MAIL, mailArgs, ring } from './conformance-kit.ts';
import { httpPeer } from './http-peer.ts';
import { probe } from './probe-kit.ts';
import { tempFolder } from './temp.ts';
import { startWorld, type World, type WorldOptions } from './world.ts';

const cli = fileURLToPath(new URL('../cli/belfry.ts', import.meta.url));
const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

interface Run {
  readonly child: ChildProcess;
  readonly done: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string; readonly json: Record<string, any> }>;
}
type Way = (world: { readonly engine: { readonly socketPath: string } }, ...words: string[]) => Run;

function run(file: string, args: readonly string[]): Run {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  running.push(child);
  let [stdout, stderr] = ['', ''];
  child.stdout!.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  return { child, done: once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr, json: stdout.startsWith('{') ? (JSON.parse(stdout) as Record<string, any>) : {} })) };
}

/** The command in a process of its own, and the helper, for which the engine runs it. */
const command: Way = (world, ...words) => run(process.execPath, [cli, 'probe', ...words, '--socket', world.engine.socketPath]);
const helper: Way = (world, ...words) => run(nativeFile('belfry-mcp'), ['--socket', world.engine.socketPath, 'probe', ...words]);
const ways = [{ way: 'command', by: command }, { way: 'helper', by: helper }];

async function stage(options: WorldOptions = {}): Promise<World> {
  const world = await startWorld(options);
  world.engine.command = commandRunner(world.engine, 'serve');
  return world;
}
const args = JSON.stringify(mailArgs);
const streams = (world: World) => [...world.engine.peers].reduce((sum, peer) => sum + peer.streams.size, 0);

test.each(ways)('by the $way: an agent sleeps until the next mail, and goes on from where it was', async ({ by }) => {
  await using world = await stage();
  const waiting = by(world, 'wait', '--event', MAIL, '--args', args, '--timeout-ms', '60000', '--json');
  await expect.poll(() => streams(world), { timeout: 30_000 }).toBe(1);
  await ring(world, 'First');
  const first = await waiting.done;
  expect(first.code, first.stderr).toBe(0);
  expect(first.json).toMatchObject({ version: 1, ok: true, command: 'wait', route: 'event', eventCount: 1, closeReason: 'local', event: { name: MAIL, data: { subject: 'First' } } });
  // What came while nobody waited is there at once.
  await ring(world, 'Second');
  await ring(world, 'Third');
  const second = await by(world, 'wait', '--event', MAIL, '--args', args, '--cursor', first.json['finalCursor'] as string, '--timeout-ms', '60000', '--json').done;
  expect(second.json).toMatchObject({ ok: true, event: { data: { subject: 'Second' } } });
  const third = await by(world, 'wait', '--event', MAIL, '--args', args, '--cursor', second.json['finalCursor'] as string, '--timeout-ms', '60000').done;
  expect(third.stdout).toMatch(/^event \{.*"subject":"Third"/m);
  await expect.poll(() => world.engine.peers[Symbol.iterator]().next().done, { timeout: 20_000 }).toBe(true);
}, 120_000);

test('both ways give the same report', async () => {
  await using world = await stage();
  const reports = await Promise.all(ways.flatMap(({ by }) => [['list'], ['call', '--tool', 'list_event_types'], ['poll', '--event', MAIL, '--args', args]].map((words) => by(world, ...words, '--json').done)));
  expect(reports.map(({ code }) => code)).toEqual(Array(6).fill(0));
  const [list, call, poll, ...again] = reports.map(({ stdout }) => stdout);
  expect(again).toEqual([list, call, poll]);
}, 120_000);

test.each(ways)('by the $way: a resource is watched, on the newer revision and on the older', async ({ by }) => {
  await using world = await stage();
  for (const era of ['modern', 'legacy']) {
    const watching = by(world, 'watch', '--uri', 'belfry://status', '--era', era, '--timeout-ms', '60000', '--json');
    const pausing = setInterval(() => world.engine.policy.change(world.engine.policy.pausedUntil === null ? { do: 'pause', ms: null } : { do: 'resume' }), 300);
    const { code, json, stderr } = await watching.done;
    clearInterval(pausing);
    expect(code, stderr).toBe(0);
    expect(json).toMatchObject({ ok: true, resourceUri: 'belfry://status', honoredUris: ['belfry://status'], listenAcknowledged: true, era: era === 'modern' ? '2026-07-28' : '2025-11-25' });
  }
}, 120_000);

test.each(ways)('by the $way: the channel is declared on the older handshake', async ({ by }) => {
  await using world = await stage();
  const { code, json } = await by(world, 'channel', '--timeout-ms', '6000', '--json').done;
  expect([code, json['errorCode']]).toEqual([1, 'NOTIFICATION_TIMEOUT']);
  expect(json).toMatchObject({ channelDeclared: true, hasInstructions: true, era: '2025-11-25' });
});

test('through the helper the probe is the client that runs it, with the rights of that client and no other', async () => {
  await using world = await stage({ trust: false });
  const mine = world.client();
  await mine.request('server/discover');
  await expect.poll(() => world.engine.policy.snapshot().clients.length, { timeout: 20_000 }).toBe(1);
  const { id } = world.engine.policy.snapshot().clients[0]!;
  const unknown = await helper(world, 'poll', '--event', MAIL, '--args', args, '--json').done;
  expect([unknown.code, unknown.json['errorCode']]).toEqual([2, 'CLIENT_NOT_APPROVED']);
  // It is nobody new: the same program started both.
  expect(world.engine.policy.snapshot().clients.map((client) => client.id)).toEqual([id]);
  const held = helper(world, 'wait', '--event', MAIL, '--args', args, '--timeout-ms', '60000', '--json');
  await expect.poll(() => streams(world), { timeout: 30_000 }).toBe(1);
  await ring(world, 'Held');
  world.engine.policy.change({ do: 'allow-client', id, options: { senders: ['@example.org'] } });
  const freed = await held.done;
  expect(freed.json, freed.stderr).toMatchObject({ ok: true, event: { data: { subject: 'Held' } } });
  expect(freed.stderr).toMatch(/approval/);
  const ending = helper(world, 'wait', '--event', MAIL, '--args', args, '--timeout-ms', '60000', '--json');
  await expect.poll(() => streams(world), { timeout: 30_000 }).toBe(1);
  world.engine.policy.change({ do: 'revoke-client', id });
  const ended = await ending.done;
  expect([ended.code, ended.json['errorCode']]).toEqual([4, 'STREAM_TERMINATED']);
  world.engine.policy.change({ do: 'deny-client', id });
  const denied = await helper(world, 'poll', '--event', MAIL, '--args', args, '--json').done;
  expect([denied.code, denied.json['errorCode']]).toEqual([2, 'FORBIDDEN']);
}, 120_000);

test('events that are off, and a sender that the owner does not allow', async () => {
  await using world = await stage({ settings: { events: { 'mail.received': true, 'messages.received': false } } });
  const off = await helper(world, 'wait', '--event', 'messages.received', '--args', '{"from":["+15550101234"]}', '--json').done;
  expect([off.code, off.json['errorCode']]).toEqual([2, 'EVENT_DISABLED']);
  world.engine.policy.setEvent(MAIL, false);
  const none = await helper(world, 'list', '--json').done;
  expect([none.code, none.json['errorCode']]).toEqual([2, 'EVENT_DISABLED']);
  world.engine.policy.setEvent(MAIL, true);
  const stranger = helper(world, 'wait', '--event', MAIL, '--args', '{"from":["eve@elsewhere.example"]}', '--timeout-ms', '6000', '--json');
  expect([(await stranger.done).code, (await stranger.done).json['errorCode']]).toEqual([1, 'EVENT_TIMEOUT']);
  const wrong = await helper(world, 'wait', '--event', MAIL, '--args', '{}', '--json').done;
  expect([wrong.code, wrong.json['errorCode']]).toEqual([3, 'INVALID_ARGS']);
}, 120_000);

test('through the helper nothing is started and nothing is fetched, whatever the environment of the engine says', async () => {
  await using world = await stage();
  using folder = tempFolder();
  await using peer = await httpPeer((_request, response) => void response.writeHead(200).end());
  process.env['MCP_PROBE_URL'] = peer.url;
  process.env['MCP_PROBE_AUTH_TOKEN'] = 'token-of-the-engine';
  try {
    for (const words of [['list', '--url', peer.url], ['list', '--command', '/usr/bin/touch', '--', folder.at('mark')], ['--login', '--url', peer.url], ['--logout', '--url', peer.url], ['lab'], ['lab', '--stdio'], ['list', '--socket', '/x']]) {
      const { code, stdout, stderr } = await helper(world, ...words).done;
      expect([words.join(' '), code, stdout]).toEqual([words.join(' '), 3, '']);
      expect(stderr).toMatch(/not for the helper/);
    }
    const own = await helper(world, 'list', '--json').done;
    expect(own.json).toMatchObject({ ok: true, eventCount: 2, serverUrl: null });
    expect(own.stdout).not.toContain('token-of-the-engine');
  } finally {
    delete process.env['MCP_PROBE_URL'];
    delete process.env['MCP_PROBE_AUTH_TOKEN'];
  }
  expect(peer.requests).toEqual([]);
}, 120_000);

test('a helper that is killed leaves nothing behind in the engine', async () => {
  await using world = await stage();
  const waiting = helper(world, 'wait', '--event', MAIL, '--args', args, '--timeout-ms', '600000');
  await expect.poll(() => streams(world), { timeout: 30_000 }).toBe(1);
  waiting.child.kill('SIGKILL');
  await expect.poll(() => [...world.engine.peers].length, { timeout: 30_000 }).toBe(0);
});

test("over Belfry's own HTTP endpoint: the same report with a token, on both eras, and a refusal without the right one", async () => {
  await using world = await stage({ http: true });
  const { url } = world.engine.http.state;
  const env = { MCP_PROBE_AUTH_TOKEN: 'test-client' };
  const at = ['--url', url!, '--json', '--timeout-ms', '60000'];
  const waiting = probe(['wait', '--event', MAIL, '--args', args, ...at], { env });
  await expect.poll(() => world.engine.hub(MAIL).size, { timeout: 30_000 }).toBe(1);
  await ring(world, 'Over HTTP');
  const heard = await waiting;
  expect(heard.json, heard.stderr).toMatchObject({ ok: true, serverUrl: url, event: { data: { subject: 'Over HTTP' } } });
  for (const era of ['modern', 'legacy']) {
    const { json } = await probe(['call', '--tool', 'list_event_types', '--era', era, ...at], { env });
    expect(json).toMatchObject({ ok: true, isError: false, era: era === 'modern' ? '2026-07-28' : '2025-11-25' });
  }
  const watch = await probe(['watch', '--uri', 'belfry://status', '--until', 'paused=false', ...at], { env });
  expect(watch.json).toMatchObject({ ok: true, honoredUris: ['belfry://status'], route: 'pre-completion' });
  expect((await probe(['list', ...at])).json['errorCode']).toBe('AUTH_LOGIN_REQUIRED');
  // Its own authorization server is found, and has the code flow of browsers only.
  expect((await probe(['--login', ...at])).json).toMatchObject({ errorCode: 'AUTH_FAILED', error: { message: expect.stringContaining('no login by device code') }, recommendedNextAction: expect.stringContaining('MCP_PROBE_AUTH_TOKEN') });
}, 120_000);

test('help and the page for agents come the same by both ways', async () => {
  await using world = await stage();
  for (const words of [['--help'], ['--skill']]) {
    const [one, other] = await Promise.all([command(world, ...words).done, helper(world, ...words).done]);
    expect([one!.code, other!.code]).toEqual([0, 0]);
    expect(other!.stdout).toBe(one!.stdout);
  }
  expect((await helper(world, '--skill').done).stdout).toMatch(/^---\nname: /);
});

test('no engine, and one that serves its own helper only', async () => {
  using folder = tempFolder();
  const nobody = await command({ engine: { socketPath: folder.at('none.sock') } }, 'list', '--json').done;
  expect([nobody.code, nobody.json['errorCode']]).toEqual([3, 'APP_NOT_RUNNING']);
  const greetings = [['error Belfry serves its own helper only: start belfry-mcp from the installed app.\n', 'SOCKET_REFUSED'], ['HTTP/1.1 400\r\n', 'SOCKET_REFUSED'], ['', 'SOCKET_REFUSED'], ['ok\n', 'SOCKET_REFUSED']] as const;
  for (const [said, code] of greetings) {
    const server = createServer((socket) => void socket.on('error', () => undefined).resume().end(said)).listen(folder.at('other.sock'));
    await once(server, 'listening');
    const { json } = await command({ engine: { socketPath: folder.at('other.sock') } }, 'list', '--json').done;
    expect([said, json['errorCode']]).toEqual([said, code]);
    server.close();
    await once(server, 'close');
  }
});

test('Ctrl-C ends a wait with a report, and a reader who has seen enough is no fault', async () => {
  await using world = await stage();
  const waiting = command(world, 'wait', '--event', MAIL, '--args', args, '--timeout-ms', '600000', '--json');
  await expect.poll(() => streams(world), { timeout: 30_000 }).toBe(1);
  waiting.child.kill('SIGINT');
  const { code, json } = await waiting.done;
  expect([code, json['errorCode']]).toEqual([1, 'INTERRUPTED']);
  const closed = command(world, 'list', '--json');
  closed.child.stdout!.destroy();
  const { stderr } = await closed.done;
  expect(stderr).not.toMatch(/EPIPE|\n\s+at /);
});
