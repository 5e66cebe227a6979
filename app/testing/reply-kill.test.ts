import { afterEach, expect, test } from 'vitest';
import { runRemote } from '../cli/remote-command.ts';
import { version } from '../engine/version.ts';
import { KillableEngine } from './killable-engine.ts';
import { stoppedAt } from './osascript-stand-in.ts';
import { RawClient } from './raw-client.ts';
import { ask } from './watch-kit.ts';
import { NUMBER, startWorld, type World } from './world.ts';

const engine = new KillableEngine();
let last: RawClient | null = null;
afterEach(async () => {
  last?.process.kill('SIGKILL');
  await engine.kill();
});

/** The engine, started, and a client that it knows; the one before is gone. */
async function connected(world: World): Promise<{ socket: string; client: RawClient }> {
  const socket = await engine.start(world);
  last?.process.kill('SIGKILL');
  const client = new RawClient(socket);
  last = client;
  await ask(client, 'list_watches');
  return { socket, client };
}

/** @returns the id of a message that rang */
async function arrived(world: World): Promise<string> {
  const guid = crypto.randomUUID().toUpperCase();
  await world.writer.messages.arrive({ from: NUMBER, guid });
  return guid;
}

/** A command line over the socket, as `belfry` sends it. */
async function belfry(socket: string, ...argv: string[]): Promise<any> {
  const out: Buffer[] = [];
  await runRemote(socket, version, [...argv, '--json'], { out: (bytes) => void out.push(bytes), err: () => undefined });
  return JSON.parse(Buffer.concat(out).toString());
}

/** Grants of the one client that this engine met. */
async function grantAt(socket: string, grants: string): Promise<void> {
  const { clients } = await belfry(socket, 'clients', 'list');
  await belfry(socket, 'clients', 'allow', clients[0].id, '--grants', grants);
}

test('an engine that is killed while Messages or Mail is asked writes nothing a second time, whoever asks again', async () => {
  await using world = await startWorld({ start: false });
  let { socket, client } = await connected(world);
  await grantAt(socket, 'reply:unasked');
  const guid = await arrived(world);
  const calls = [
    ['messages_reply', { event: guid, isGroup: false, text: 'Once and no more', key: 'only' }],
    ['mail_draft', { to: ['bob@x.example'], subject: 'Once', text: 'And no more', key: 'draft' }],
  ] as const;

  world.osascript.ends({ after: 'never' });
  for (const [tool, words] of calls) void client.tool(tool, words).catch(() => undefined);
  await expect.poll(() => world.osascript.runs.length, { timeout: 20_000 }).toBe(2);
  await engine.kill();
  world.osascript.ends({});
  ({ socket, client } = await connected(world));
  for (const [tool, words] of calls) {
    const again = await ask(client, tool, words);
    expect(again).toMatchObject({ state: 'unknown', note: expect.stringMatching(/^Belfry ended while this was being written, so it may have gone out or not\./) });
    expect(await ask(client, 'reply_status', { request: again['request'] })).toMatchObject({ state: 'unknown' });
  }
  expect(world.osascript.runs).toHaveLength(2);
  expect(await ask(client, 'messages_reply', { ...calls[0][1], key: 'another' })).toMatchObject({ state: 'done' });
  expect(world.osascript.runs).toHaveLength(3);
});

test('what may have gone out stays so over a kill, and what certainly did not may be asked for again', async () => {
  await using world = await startWorld({ start: false });
  let { socket, client } = await connected(world);
  await grantAt(socket, 'reply:unasked');
  const guid = await arrived(world);
  const [before, since] = (['before', 'since'] as const).map((stage) => ({ event: guid, isGroup: false, text: `An error ${stage}` }));
  world.osascript.ends(stoppedAt('before', -609));
  expect(await ask(client, 'messages_reply', before!)).toMatchObject({ state: 'failed' });
  world.osascript.ends(stoppedAt('since', -609));
  expect(await ask(client, 'messages_reply', since!)).toMatchObject({ state: 'unknown' });
  await engine.kill();
  world.osascript.ends({});
  ({ socket, client } = await connected(world));
  expect(await ask(client, 'messages_reply', since!)).toMatchObject({ state: 'unknown' });
  expect(world.osascript.runs).toHaveLength(2);
  expect(await ask(client, 'messages_reply', before!)).toMatchObject({ state: 'done' });
  expect(world.osascript.runs).toHaveLength(3);
});

test('what waits when the engine is killed is gone and was not sent', async () => {
  await using world = await startWorld({ start: false });
  let { socket, client } = await connected(world);
  await grantAt(socket, 'reply');
  const guid = await arrived(world);
  const reply = { event: guid, isGroup: false, text: 'Shown first' };
  const { request } = await ask(client, 'messages_reply', reply);
  expect(await belfry(socket, 'waiting', 'list')).toMatchObject({ waiting: [{ kind: 'send', id: request, text: 'Shown first' }] });
  await engine.kill();
  ({ socket, client } = await connected(world));
  expect(await belfry(socket, 'waiting', 'list')).toMatchObject({ ok: true, waiting: [] });
  const second = await ask(client, 'messages_reply', reply);
  expect(second['request']).not.toBe(request);
  expect(await belfry(socket, 'waiting', 'allow', second['request'] as string)).toMatchObject({ ok: true, message: 'Sent.' });
  expect(world.osascript.runs).toHaveLength(1);
});
