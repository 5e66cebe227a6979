import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compile, nativeTargets } from '../../build/native.mjs';
import { tempFolder } from '../testing/temp.ts';
import { chooseClient, fileHasher, identityOf, peerIdentifier, type ClientIdentity, type ProcessFacts, type SystemPeers } from './peer-identity.ts';

const facts = (path: string, argv: string[] = [path], more: Partial<ProcessFacts> = {}): ProcessFacts => ({
  pid: 100, ppid: 99, startTime: '1', path, argv, cwd: '/home/me', team: null, signingId: null, valid: false, ...more,
});
const shell = facts('/bin/zsh');
const claude = facts('/opt/claude', ['claude']);
const launchd = facts('/sbin/launchd', ['launchd'], { pid: 1, ppid: 0 });
const node = (...words: string[]) => facts('/usr/bin/node', ['node', ...words]);

describe('which ancestor is the client', () => {
  test.each<{ name: string; chain: ProcessFacts[]; client: string }>([
    { name: 'the parent', chain: [claude, launchd], client: 'program /opt/claude' },
    { name: 'above shells and env', chain: [shell, facts('/usr/bin/env'), facts('/usr/bin/sudo'), facts('/bin/dash'), claude], client: 'program /opt/claude' },
    { name: 'at most six up', chain: [...Array<ProcessFacts>(6).fill(shell), claude], client: 'nobody' },
    { name: 'the sixth', chain: [...Array<ProcessFacts>(5).fill(shell), claude], client: 'program /opt/claude' },
    { name: 'launchd only', chain: [launchd], client: 'nobody' },
    { name: 'shells under launchd', chain: [shell, launchd, claude], client: 'nobody' },
    { name: 'init under another number', chain: [shell, facts('/lib/systemd/systemd')], client: 'nobody' },
    { name: 'nothing', chain: [], client: 'nobody' },
    { name: 'an executable that may not be read', chain: [facts('')], client: 'unnamed ' },
    { name: 'a script', chain: [node('/opt/agent.js', 'x'), claude], client: 'script /opt/agent.js' },
    { name: 'a script under a shell', chain: [shell, node('agent.js')], client: 'script /home/me/agent.js' },
    { name: 'options before the script', chain: [node('--enable-source-maps', '-r', './hook.js', '--import', 'x', '../a.mjs')], client: 'script /home/a.mjs' },
    { name: 'behind --', chain: [node('--', '-odd.js')], client: 'script /home/me/-odd.js' },
    { name: 'deno run', chain: [facts('/usr/bin/deno', ['deno', 'run', '-A', 'a.ts'])], client: 'script /home/me/a.ts' },
    { name: 'python 3.12', chain: [facts('/usr/bin/python3.12', ['python3', '-u', '/opt/agent.py'])], client: 'script /opt/agent.py' },
    { name: 'a jar', chain: [facts('/usr/bin/java', ['java', '-Xmx1g', '-jar', 'a.jar'])], client: 'script /home/me/a.jar' },
    { name: 'text on the command line, as of a shell', chain: [node('-e', 'spawn()'), claude], client: 'program /opt/claude' },
    { name: 'python -c', chain: [facts('/usr/bin/python3', ['python3', '-c', 'x']), claude], client: 'program /opt/claude' },
    { name: 'a module, whose file is not known', chain: [facts('/usr/bin/python3', ['python3', '-m', 'agent']), claude], client: 'unnamed /usr/bin/python3' },
    { name: 'a process that renamed itself', chain: [facts('/usr/bin/node', ['claude']), claude], client: 'unnamed /usr/bin/node' },
    { name: 'a script whose folder is not known', chain: [facts('/usr/bin/node', ['node', 'a.js'], { cwd: null })], client: 'unnamed /usr/bin/node' },
    { name: 'what a process calls itself counts for nothing', chain: [facts('/opt/evil', ['/bin/zsh']), claude], client: 'program /opt/evil' },
    { name: 'a shell that was replaced while it ran', chain: [facts('/bin/bash (deleted)'), claude], client: 'program /opt/claude' },
  ])('$name', ({ chain, client }) => {
    const choice = chooseClient(chain);
    expect(choice.kind === 'nobody' ? 'nobody' : `${choice.kind} ${choice.kind === 'script' ? choice.script : choice.process.path}`).toBe(client);
  });
});

describe('identity', () => {
  const hashes: Record<string, string> = { '/opt/claude': 'c1', '/usr/bin/node': 'n1', '/opt/agent.js': 'a1' };
  const of = (chain: ProcessFacts[], known = hashes) => identityOf(chooseClient(chain), async (path) => known[path] ?? null);
  const signed = facts('/Applications/Claude.app/Contents/MacOS/Claude', ['Claude'], { team: 'TEAM1', signingId: 'com.x.claude', valid: true });

  test('unsigned: path and hash; the process is named for --once', async () => {
    expect(await of([claude])).toEqual({ id: expect.stringMatching(/^[0-9a-f]{8}$/), display: '/opt/claude', persistable: true, signed: false, process: { pid: 100, startTime: '1' } });
    expect((await of([{ ...claude, pid: 7, startTime: '9' }])).id).toBe((await of([claude])).id);
    expect((await of([claude], { '/opt/claude': 'c2' })).id).not.toBe((await of([claude])).id);
  });

  test('signed: team and signing id, wherever it lies and whatever its hash', async () => {
    const one = await of([signed]);
    expect(one).toMatchObject({ signed: true, persistable: true });
    expect((await of([{ ...signed, path: '/elsewhere/Claude' }])).id).toBe(one.id);
    expect((await of([{ ...signed, signingId: 'com.x.other' }])).id).not.toBe(one.id);
    expect((await of([{ ...signed, team: 'TEAM2' }])).id).not.toBe(one.id);
    expect(await of([{ ...signed, valid: false }])).toMatchObject({ signed: false, persistable: false });
  });

  test('a script: interpreter and script, each with its hash', async () => {
    const one = await of([node('/opt/agent.js')]);
    expect(one).toMatchObject({ display: '/opt/agent.js', persistable: true });
    for (const changed of [{ ...hashes, '/opt/agent.js': 'a2' }, { ...hashes, '/usr/bin/node': 'n2' }]) expect((await of([node('/opt/agent.js')], changed)).id).not.toBe(one.id);
    expect((await of([facts('/usr/bin/node', ['node', '/opt/agent.js'], { team: 'T', signingId: 'node', valid: true })])).id).not.toBe(one.id);
  });

  test.each<{ name: string; chain: ProcessFacts[] }>([
    { name: 'nobody', chain: [launchd] },
    { name: 'a program that cannot be hashed', chain: [facts('/gone')] },
    { name: 'a script that cannot be hashed', chain: [node('/gone.js')] },
    { name: 'an interpreter without a script', chain: [node()] },
    { name: 'an executable without a path', chain: [facts('')] },
  ])('$name is never persistable', async ({ chain }) => {
    expect(await of(chain)).toMatchObject({ persistable: false });
  });

  test('two interpreters without scripts are two clients', async () => {
    expect((await of([{ ...node(), pid: 1000 }])).id).not.toBe((await of([{ ...node(), pid: 1001 }])).id);
    // A module at least has a name, so that a refusal of it lasts.
    const python = (pid: number) => facts('/usr/bin/python3', ['python3', '-m', 'agent'], { pid });
    expect(await of([python(1000)])).toMatchObject({ id: (await of([python(1001)])).id, display: '/usr/bin/python3 -m agent', persistable: false });
  });
});

test('hashes files in a stream and again only if they changed', async () => {
  using folder = tempFolder();
  const hashOf = fileHasher(2);
  const content = Buffer.alloc(3_000_000, 'x');
  writeFileSync(folder.at('a'), content);
  const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  expect(await Promise.all([hashOf(folder.at('a')), hashOf(folder.at('a'))])).toEqual([sha(content), sha(content)]);
  writeFileSync(folder.at('a'), Buffer.from('short'));
  expect(await hashOf(folder.at('a'))).toBe(sha(Buffer.from('short')));
  // Long ones are hashed on a thread: the same bytes, to the last part of a buffer.
  const long = Buffer.alloc(9_000_001, 'y');
  writeFileSync(folder.at('b'), long);
  expect(await Promise.all([hashOf(folder.at('b')), hashOf(folder.at('b'))])).toEqual([sha(long), sha(long)]);
  mkdirSync(folder.at('folder'));
  expect(await hashOf(folder.at('folder'))).toBeNull();
  expect(await hashOf(folder.at('none'))).toBeNull();
});

describe('real processes', () => {
  const folder = tempFolder();
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const children: ChildProcess[] = [];
  let peers: SystemPeers;
  let server: Server;
  let accepted: Promise<Socket>;

  beforeAll(async () => {
    const targets = nativeTargets({ root });
    for (const [name, args] of Object.entries(targets)) compile(args, folder.at(name));
    peers = peerIdentifier(folder.at('peer-identity.node'));
    let took: (socket: Socket) => void = () => undefined;
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('ok\n');
      took(socket);
    });
    server.listen(folder.at('s'));
    await once(server, 'listening');
    const next = () => {
      accepted = new Promise((resolve) => {
        took = (socket) => {
          next();
          resolve(socket);
        };
      });
    };
    next();
  });
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
    server.close();
    folder[Symbol.dispose]();
  });

  /** Starts a command that ends in the shim; the accepted socket of it. */
  const connectBy = async (command: string, args: string[]) => {
    const socket = accepted;
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], cwd: folder.path });
    children.push(child);
    return { socket: await socket, child };
  };
  /** With whoever connected: a helper whose engine is gone looks for it again, and would be taken for the next one. */
  const end = (socket: Socket, child?: ChildProcess) => {
    child?.kill('SIGKILL');
    try {
      process.kill(peers.credentials(socket).pid, 'SIGKILL');
    } catch {
      // It went with its parent.
    }
    socket.destroy();
  };
  const script = 'const{spawn}=require("node:child_process");spawn(process.argv[2],process.argv.slice(3),{stdio:"inherit"})';

  test('credentials are those of the process that connected', async () => {
    const { socket, child } = await connectBy(folder.at('belfry-mcp'), ['--socket', folder.at('s')]);
    expect(peers.credentials(socket)).toMatchObject({ pid: child.pid, uid: process.getuid!(), gid: process.getgid!() });
    expect(peers.credentials((socket as unknown as { _handle: { fd: number } })._handle.fd).pid).toBe(child.pid);
    expect(peers.isSameUser(socket)).toBe(true);
    child.kill();
    socket.destroy();
    expect(() => peers.credentials(socket)).toThrow('no connected unix socket');
    expect(peers.isSameUser(socket)).toBe(false);
    expect(await peers.identify(socket)).toMatchObject({ persistable: false, process: null });
  });

  test('sh -> node script -> sh -> shim: the script is the client', async () => {
    writeFileSync(folder.at('agent.cjs'), script);
    const { socket, child } = await connectBy('/bin/sh', ['-c', `"${process.execPath}" agent.cjs /bin/sh -c '${folder.at('belfry-mcp')} --socket ${folder.at('s')}; true'; true`]);
    const identity = await peers.identify(socket);
    expect(identity).toMatchObject({ display: folder.at('agent.cjs'), persistable: true, signed: false });
    expect(identity.process!.pid).not.toBe(child.pid);
    expect(peers.alive(identity.process!)).toBe(true);
    expect(peers.alive({ ...identity.process!, startTime: '1' })).toBe(false);
    process.kill(identity.process!.pid, 'SIGKILL');
    await expect.poll(() => peers.alive(identity.process!)).toBe(false);
    end(socket);
  });

  test('the chain has pids, parents, arguments and start times; a script changed is another client', async () => {
    const addon = createRequire(import.meta.url)(folder.at('peer-identity.node')) as { ancestors(pid: number, max: number): Promise<ProcessFacts[]> };
    const connectAgent = async (): Promise<ClientIdentity> => {
      const { socket, child } = await connectBy(process.execPath, ['agent.cjs', folder.at('belfry-mcp'), '--socket', folder.at('s'), '--client=é x']);
      const [shim, parent] = await addon.ancestors(peers.credentials(socket).pid, 2);
      expect(shim).toMatchObject({ ppid: child.pid, path: folder.at('belfry-mcp'), argv: [folder.at('belfry-mcp'), '--socket', folder.at('s'), '--client=é x'], cwd: folder.path, team: null, valid: false });
      expect(parent).toMatchObject({ pid: child.pid, ppid: process.pid });
      expect(shim!.startTime).toMatch(/^\d+/);
      const identity = await peers.identify(socket);
      end(socket, child);
      return identity;
    };
    writeFileSync(folder.at('agent.cjs'), script);
    const one = await connectAgent();
    expect((await connectAgent()).id).toBe(one.id);
    writeFileSync(folder.at('agent.cjs'), `${script};`);
    expect((await connectAgent()).id).not.toBe(one.id);
    await expect(addon.ancestors(99_999_999, 3)).resolves.toEqual([]);
    await expect(addon.ancestors(process.pid, 1)).resolves.toHaveLength(1);
  });

  test('the file that runs counts, not one put in its place', async () => {
    const copy = folder.at('agent-binary');
    const connectCopy = async () => {
      const { socket, child } = await connectBy(copy, ['-c', `${folder.at('belfry-mcp')} --socket ${folder.at('s')}; true`]);
      return { identity: await peers.identify(socket), socket, child };
    };
    copyFileSync('/bin/sh', copy);
    chmodSync(copy, 0o755);
    const one = await connectCopy();
    expect(one.identity).toMatchObject({ display: copy, persistable: true });
    const hash = createHash('sha256').update(readFileSync(copy)).digest('hex');
    expect(one.identity.id).toBe(createHash('sha256').update(JSON.stringify(['path', copy, hash])).digest('hex').slice(0, 8));
    end(one.socket, one.child);
  });

  test('what connects without the shim is its own client', async () => {
    writeFileSync(folder.at('direct.cjs'), 'require("node:net").connect(process.argv[2]).resume();process.stdout.write("here\\n")');
    const { socket, child } = await connectBy(process.execPath, [folder.at('direct.cjs'), folder.at('s')]);
    await once(createInterface(child.stdout!), 'line');
    expect(await peers.identify(socket)).toMatchObject({ display: folder.at('direct.cjs'), process: { pid: child.pid } });
    end(socket, child);
  });

  test('many peers at once are all told apart from each other by process', async () => {
    const all = [];
    for (let i = 0; i < 10; i += 1) all.push(await connectBy(process.execPath, ['agent.cjs', folder.at('belfry-mcp'), '--socket', folder.at('s')]));
    const identities = await Promise.all(all.map(({ socket }) => peers.identify(socket)));
    expect(new Set(identities.map(({ id }) => id)).size).toBe(1);
    expect(identities.map(({ process }) => process?.pid)).toEqual(all.map(({ child }) => child.pid));
    for (const { child, socket } of all) end(socket, child);
  });

  test('whether a program runs is told by the end of its path, for as long as it does', async () => {
    const path = '/Mail.app/Contents/MacOS/Mail';
    mkdirSync(folder.at('Mail.app', 'Contents', 'MacOS'), { recursive: true });
    copyFileSync('/bin/sleep', folder.at('Mail.app', 'Contents', 'MacOS', 'Mail'));
    expect(peers.runs(path)).toBe(false);
    const child = spawn(folder.at('Mail.app', 'Contents', 'MacOS', 'Mail'), ['60']);
    await once(child, 'spawn');
    expect(peers.runs(path)).toBe(true);
    expect(peers.runs(`Not${path}`)).toBe(false);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(peers.runs(path)).toBe(false);
  });
});
