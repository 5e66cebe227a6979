import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { nativeFile } from '../engine/host.ts';
import { tempFolder } from '../testing/temp.ts';
import { chooseClient, fileHasher, identityOf, peerIdentifier, type ProcessFacts } from './peer-identity.ts';

const facts = (path: string, argv: string[] = [path], more: Partial<ProcessFacts> = {}): ProcessFacts =>
  ({ pid: 100, parent: 99, startTime: '1', path, argv, cwd: '/home/ada', team: null, signingId: null, ...more });

/** Architecture 6: the nearest ancestor that is not a shell, `env` or an interpreter; an interpreter with its script. */
describe('which ancestor is the client', () => {
  const cases: { name: string; chain: ProcessFacts[]; path: string | null; script?: string }[] = [
    { name: 'the direct parent', chain: [facts('/opt/agent')], path: '/opt/agent' },
    { name: 'behind a shell', chain: [facts('/bin/zsh'), facts('/opt/agent')], path: '/opt/agent' },
    { name: 'behind env and a shell', chain: [facts('/usr/bin/env'), facts('/bin/bash'), facts('/opt/agent')], path: '/opt/agent' },
    { name: 'node with a script', chain: [facts('/usr/bin/node', ['node', '/opt/cli.js', 'mcp'])], path: '/usr/bin/node', script: '/opt/cli.js' },
    { name: 'node with options before its script', chain: [facts('/usr/bin/node', ['node', '--no-warnings', '-r', 'x', 'cli.js'])], path: '/usr/bin/node', script: '/home/ada/cli.js' },
    { name: 'python -m', chain: [facts('/usr/bin/python3.12', ['python3', '-m', 'agent'])], path: '/usr/bin/python3.12', script: '-m agent' },
    { name: 'node -e names nothing: the program above it', chain: [facts('/usr/bin/node', ['node', '-e', 'x']), facts('/opt/agent')], path: '/opt/agent' },
    { name: 'nothing but shells', chain: [facts('/bin/sh'), facts('/bin/bash')], path: null },
    { name: 'init is nobody', chain: [facts('/bin/sh'), facts('/sbin/init', ['init'], { pid: 1 }), facts('/opt/agent')], path: null },
    { name: 'launchd is nobody', chain: [facts('/sbin/launchd')], path: null },
    { name: 'more than six up', chain: [...Array.from({ length: 6 }, () => facts('/bin/sh')), facts('/opt/agent')], path: null },
  ];
  test.each(cases)('$name', ({ chain, path, script }) => {
    const choice = chooseClient(chain);
    expect(choice.process?.path ?? null).toBe(path);
    expect(choice.script).toBe(script ?? null);
  });
});

describe('identity', () => {
  const hash = (path: string) => Promise.resolve(`hash of ${path}`);

  test('signed: team and signing id, not the path', async () => {
    const a = await identityOf({ process: facts('/a', ['/a'], { team: 'T', signingId: 's' }), script: null }, hash);
    const b = await identityOf({ process: facts('/b', ['/b'], { team: 'T', signingId: 's' }), script: null }, hash);
    expect(a.id).toBe(b.id);
    expect(a).toMatchObject({ signed: true, persistable: true });
    expect(a.id).toMatch(/^[0-9a-f]{8}$/);
  });

  test('otherwise path and hash, and the script of an interpreter: any change is another client', async () => {
    const plain = { process: facts('/usr/bin/node'), script: '/opt/cli.js' };
    const ids = await Promise.all([
      identityOf(plain, hash),
      identityOf({ ...plain, script: '/opt/other.js' }, hash),
      identityOf({ ...plain, process: facts('/opt/node') }, hash),
      identityOf(plain, (path) => Promise.resolve(path.endsWith('.js') ? 'edited' : `hash of ${path}`)),
      identityOf(plain, (path) => Promise.resolve(path.endsWith('node') ? 'updated' : `hash of ${path}`)),
    ]);
    expect(new Set(ids.map(({ id }) => id)).size).toBe(5);
  });

  test('nobody found, or a file that cannot be read, is never Always', async () => {
    expect(await identityOf({ process: null, script: null }, hash)).toMatchObject({ persistable: false, process: null });
    expect(await identityOf({ process: facts('/a'), script: null }, () => Promise.resolve(null))).toMatchObject({ persistable: false });
  });

  test('a changed file has another hash', async () => {
    using folder = tempFolder();
    const hasher = fileHasher();
    writeFileSync(folder.at('a'), 'one');
    const first = await hasher(folder.at('a'));
    writeFileSync(folder.at('a'), 'other');
    expect(await hasher(folder.at('a'))).not.toBe(first);
    expect(await hasher(folder.at('none'))).toBeNull();
  });
});

test('a real chain: an agent starts a shell that starts the helper; the kernel names the agent', async () => {
  using folder = tempFolder();
  const peers = peerIdentifier(nativeFile('peer-identity.node'));
  const server = createServer();
  server.listen(folder.at('sock'));
  await once(server, 'listening');
  // An own executable is the agent: a copy of the node binary under another name, which is no interpreter by name.
  copyFileSync(process.execPath, folder.at('agent'));
  writeFileSync(folder.at('agent.mjs'), `import { spawn } from 'node:child_process';
    spawn('/bin/sh', ['-c', ${JSON.stringify(`'${nativeFile('belfry-mcp')}' --socket '${folder.at('sock')}'; true`)}], { stdio: ['pipe', 'ignore', 'ignore'] });`);
  const agent = spawn(folder.at('agent'), [folder.at('agent.mjs')], { stdio: 'ignore' });
  const [socket] = (await once(server, 'connection')) as [Socket];
  expect(peers.isSameUser(socket)).toBe(true);
  const identity = await peers.identify(socket);
  expect(identity).toMatchObject({ display: folder.at('agent'), signed: false, persistable: true, process: { pid: agent.pid } });
  expect(peers.alive(identity.process!)).toBe(true);
  expect(peers.alive({ ...identity.process!, startTime: '0' })).toBe(false);
  socket.destroy();
  agent.kill('SIGKILL');
  await once(agent, 'exit');
  expect(peers.alive(identity.process!)).toBe(false);
  server.close();
});
