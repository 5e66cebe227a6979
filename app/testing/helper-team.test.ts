import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { peerIdentifier } from '../endpoint/peer-identity.ts';
import { PROTOCOL } from '../endpoint/handshake.ts';
import { commandRunner } from '../engine/commands.ts';
import type { Engine } from '../engine/engine.ts';
import { engineOf, nativeFile } from '../engine/host.ts';
import { modernMeta, RawClient } from './raw-client.ts';
import { tempFolder, type TempFolder } from './temp.ts';

const TEAM = 'ABCDE12345';
let folder: TempFolder;
let engine: Engine;
let asked: unknown[];
const open: Socket[] = [];

/** An engine as a signed app has it, with the kernel's word on signatures played. */
async function start(signed: boolean, known: Promise<void> = Promise.resolve()): Promise<void> {
  const system = peerIdentifier(nativeFile('peer-identity.node'));
  engine = engineOf(
    { dataDir: folder.at('data'), mailDir: folder.at('Mail'), messagesDb: folder.at('chat.db'), accountsDb: folder.at('none'), addressBookDir: folder.at('none') },
    'app', () => undefined, () => undefined,
    {
      helperTeam: TEAM,
      peers: {
        ...system,
        identify: (socket) => known.then(() => system.identify(socket)),
        isSignedBy: (_socket, ...by) => {
          asked.push(by);
          return Promise.resolve(signed);
        },
      },
    },
  );
  engine.command = commandRunner(engine, 'app');
  await engine.start();
}

beforeEach(() => {
  folder = tempFolder();
  asked = [];
});
afterEach(async () => {
  for (const socket of open.splice(0)) socket.destroy();
  await engine.stop();
  folder.remove();
});

/** Everything that the engine says to these lines until it closes, or until `until` was said. */
async function say(lines: readonly object[], until?: RegExp): Promise<string> {
  const socket = connect(engine.socketPath);
  open.push(socket);
  await once(socket, 'connect');
  let said = '';
  socket.on('error', () => undefined);
  for (const line of lines) socket.write(`${JSON.stringify(line)}\n`);
  return new Promise((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
      if (until?.test(said)) resolve(said);
    });
    socket.on('close', () => resolve(said));
  });
}
const command = { protocol: PROTOCOL, version: '0', mode: 'command', argv: ['status', '--json'] };
const mcp = [
  { protocol: PROTOCOL, version: '0', mode: 'mcp', label: null },
  { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: modernMeta } },
];

test('in a signed app a peer that isn\'t our signed helper runs no command', async () => {
  await start(false);
  expect(await say([command])).toBe('error Belfry serves its own helper only: start belfry-mcp from the installed app.\n');
  expect(asked).toEqual([[TEAM, 'dev.belfry.belfry-mcp']]);
});

test('nor does it keep a connection, and no client is made of it', async () => {
  await start(false);
  await say(mcp);
  expect([...engine.peers]).toEqual([]);
  expect(engine.policy.snapshot().waiting).toEqual([]);
});

test('our helper comes in', async () => {
  await start(true);
  expect(await say([command])).toMatch(/^ok \{.*\}\no \d+\n/s);
  expect(await say(mcp, /"id":1/)).toMatch(/"id":1/);
});

test('a request under way is one that a client waits for, until it is answered', async () => {
  const known = Promise.withResolvers<void>();
  await start(true, known.promise);
  engine.policy.setEvent('mail.received', true);
  const client = new RawClient(engine.socketPath);
  try {
    expect(engine.peers.answering).toBe(0);
    const answered = client.request('events/poll', { name: 'mail.received', arguments: { from: ['ada@example.com'] }, cursor: null });
    await expect.poll(() => engine.peers.answering, { timeout: 20_000 }).toBe(1);
    known.resolve();
    await answered;
    expect(engine.peers.answering).toBe(0);
  } finally {
    await client.end();
  }
});
