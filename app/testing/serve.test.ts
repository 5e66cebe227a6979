import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { nativeFile } from '../engine/host.ts';
import { findCanary } from './canary.ts';
import { RawClient } from './raw-client.ts';
import { rawHttp, statusOf } from './raw-http.ts';
import { tempFolder } from './temp.ts';
import { startWriter } from './writer-client.ts';

const cli = fileURLToPath(new URL('../cli/belfry.ts', import.meta.url));
const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

/** `belfry serve` from the sources, in its own process. */
async function serve(...args: string[]): Promise<{ child: ChildProcess; socket: string; stdout: string[]; stderr: () => string }> {
  const child = spawn(process.execPath, [cli, 'serve', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  running.push(child);
  let stderr = '';
  child.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const stdout: string[] = [];
  const socket = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      stdout.push(line);
      if (line.startsWith('listening ')) resolve(line.slice('listening '.length));
    });
    child.once('exit', (code) => reject(new Error(`serve ended with ${code}: ${stderr}`)));
  });
  return { child, socket, stdout, stderr: () => stderr };
}
const run = (...args: string[]) => spawnSync(process.execPath, [cli, ...args], { encoding: 'utf8' });
const stores = (at: (...parts: string[]) => string) => ['--data-dir', at('data'), '--mail-dir', at('Mail', 'V10'), '--messages-db', at('Messages', 'chat.db')];

describe('start and stop', () => {
  test('one line on stdout when ready, modes 0700 and 0600, exit 0 on SIGTERM and SIGINT', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      using folder = tempFolder();
      const { child, socket, stdout } = await serve(...stores(folder.at));
      expect(stdout).toEqual([`listening ${folder.at('data', 'run', 'engine.sock')}`]);
      expect(statSync(socket).mode & 0o777).toBe(0o600);
      for (const dir of [folder.at('data'), folder.at('data', 'run')]) expect(statSync(dir).mode & 0o777).toBe(0o700);
      child.kill(signal);
      expect(await once(child, 'exit')).toEqual([0, null]);
      expect(readdirSync(folder.at('data', 'run'))).not.toContain('engine.sock');
    }
  });

  test('under a Node that its SQLite is not built for, serve is a sentence and exit 3, and makes nothing; what needs no engine goes on', () => {
    using folder = tempFolder();
    const older = (version: string, ...args: string[]) => spawnSync(process.execPath, [
      '--import', `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`, cli, ...args,
    ], { encoding: 'utf8' });
    for (const version of ['20.20.2', '21.7.3']) {
      const { status, stdout, stderr } = older(version, 'serve', ...stores(folder.at));
      expect({ status, stdout }).toEqual({ status: 3, stdout: '' });
      expect(stderr).toMatch(new RegExp(`^belfry: "serve" needs Node 22 or newer, and this is ${version}\\. .+\\n$`));
    }
    expect(readdirSync(folder.at())).toEqual([]);
    expect(older('20.20.2', '--version')).toMatchObject({ status: 0, stderr: '' });
    expect(older('20.20.2', 'probe', '--help')).toMatchObject({ status: 0, stderr: '' });
    expect(older('20.20.2', '--data-dir', folder.at('data'), 'status')).toMatchObject({ status: 3, stderr: expect.stringContaining('No Belfry engine runs') });
    // Past the check, which is the first: the next thing that is wrong is named.
    expect(older('22.0.0', 'serve', '--ui', 'x').stderr).toContain('--ui takes a port');
  });

  test('--http 0 prints the address behind the first line, asks for a token and closes with the engine; a port that is taken is a sentence and exit 3', async () => {
    using folder = tempFolder();
    const { child, stdout } = await serve(...stores(folder.at), '--http', '0');
    await expect.poll(() => stdout.length, { timeout: 20_000 }).toBe(2);
    const [, url] = /^http (http:\/\/127\.0\.0\.1:\d+\/mcp)$/.exec(stdout[1]!)!;
    const answer = await fetch(url!, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Bearer realm="Belfry", resource_metadata="http:\/\/127/)]);
    expect((await fetch(url!)).status).toBe(405);
    using other = tempFolder();
    const taken = run('serve', ...stores(other.at), '--http', new URL(url!).port);
    expect([taken.status, taken.stdout]).toEqual([3, '']);
    expect(taken.stderr).toContain(`Port ${new URL(url!).port} is taken by another program.`);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    await expect(fetch(url!)).rejects.toThrow();
  });

  test('no request to the page or to HTTP ends the engine', async () => {
    using folder = tempFolder();
    const { child, stdout, stderr } = await serve(...stores(folder.at), '--ui', '0', '--http', '0');
    await expect.poll(() => stdout.length, { timeout: 20_000 }).toBe(3);
    for (const address of stdout.slice(1)) {
      const url = new URL(address.split(' ')[1]!);
      for (const target of ['//', '/\\', 'http://[', '//[']) {
        expect(statusOf(await rawHttp(url, `GET ${target} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: close\r\n\r\n`)), target).toBeGreaterThanOrEqual(400);
      }
    }
    expect([child.exitCode, child.signalCode, stderr()]).toEqual([null, null, expect.not.stringContaining('Error')]);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test.each([
    { args: ['serve', '--bogus'], says: /--bogus/ },
    { args: ['serve', '--ui', '70000'], says: /--ui takes a port/ },
    { args: ['serve', '--region', 'Holland'], says: /--region takes a country code/ },
    { args: ['serve', '--data-dir'], says: /--data-dir/ },
    { args: ['status', '--data-dir', '/nowhere/at/all'], says: /No Belfry engine runs/ },
    { args: ['events', 'on', 'mail.sent'], says: /mail\.sent/ },
    { args: ['pause', '5w'], says: /no duration/ },
  ])('$args: a sentence and exit 3', ({ args, says }) => {
    const { status, stderr, stdout } = run(...args);
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(stdout).toBe('');
    expect(status).toBe(3);
  });

  test('a socket path over 103 bytes is a sentence and exit 3', () => {
    using folder = tempFolder();
    const { status, stderr } = run('serve', '--data-dir', folder.at('x'.repeat(120)));
    expect(stderr).toMatch(/may have at most 103: choose a shorter --data-dir/);
    expect(status).toBe(3);
  });

  test('a second engine says who holds the folder, and a killed one frees it', async () => {
    using folder = tempFolder();
    const first = await serve(...stores(folder.at));
    const { status, stderr } = run('serve', ...stores(folder.at));
    expect(status).toBe(3);
    expect(stderr).toMatch(new RegExp(`serve, process ${first.child.pid}`));
    expect(run('status', '--data-dir', folder.at('data')).status).toBe(0);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    const second = await serve(...stores(folder.at));
    expect(run('status', '--data-dir', folder.at('data')).status).toBe(0);
    second.child.kill('SIGTERM');
    await once(second.child, 'exit');
  });

  test('a socket put in its place is noticed: a sentence and the end', async () => {
    using folder = tempFolder();
    const { child, socket, stderr } = await serve(...stores(folder.at));
    renameSync(socket, `${socket}.old`);
    const other = createServer().listen(socket);
    await once(other, 'listening');
    expect(await once(child, 'exit')).toEqual([3, null]);
    expect(stderr()).toMatch(/The socket in the data folder was replaced/);
    other.close();
  });

  test('a file where the data folder belongs is a sentence and exit 3', () => {
    using folder = tempFolder();
    writeFileSync(folder.at('data'), 'x');
    const { status, stderr } = run('serve', '--data-dir', folder.at('data'));
    expect(stderr).toMatch(/the data folder is not a folder/);
    expect(status).toBe(3);
  });
});

describe('settings that cannot be used', () => {
  test.each([
    { name: 'newer', text: '{"version":99}', kept: 'settings.json' },
    { name: 'broken', text: '{"version":1,', kept: /^settings\.broken-/ },
    { name: 'with an unknown key', text: '{"version":1,"evrything":true}', kept: /^settings\.broken-/ },
  ])('$name: it runs, everything is off, and the file is kept', async ({ text, kept }) => {
    using folder = tempFolder();
    mkdirSync(folder.at('data'));
    writeFileSync(folder.at('data', 'settings.json'), text);
    const { child, stderr } = await serve(...stores(folder.at));
    const status = JSON.parse(run('status', '--json', '--data-dir', folder.at('data')).stdout) as { status: { settingsSentence: string; stores: object } };
    expect(status.status.settingsSentence).toMatch(/settings/i);
    expect(stderr()).toMatch(/settings/i);
    expect(status.status.stores).toMatchObject({ mail: { on: false }, messages: { on: false } });
    const names = readdirSync(folder.at('data')).filter((name) => (typeof kept === 'string' ? name === kept : kept.test(name)));
    expect(names).toHaveLength(1);
    expect(readFileSync(folder.at('data', names[0]!), 'utf8')).toBe(text);
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
});

describe('commands through the shim and the CLI', () => {
  test('the same command line gives the same answer and exit code', async () => {
    using folder = tempFolder();
    const { child, socket } = await serve(...stores(folder.at));
    const shim = (...args: string[]) => spawnSync(nativeFile('belfry-mcp'), ['--socket', socket, ...args], { encoding: 'utf8' });
    const table: { args: string[]; code: number }[] = [
      { args: ['events', 'list'], code: 0 },
      { args: ['events', 'on', 'mail.received'], code: 0 },
      { args: ['senders', 'add', 'ada@example.com', '--for', 'mail'], code: 0 },
      { args: ['senders', 'add', '*'], code: 3 },
      { args: ['senders', 'remove', 'nobody@example.com'], code: 1 },
      { args: ['clients', 'allow', '00000000'], code: 3 },
      { args: ['settings', 'set', 'subjects', 'off'], code: 0 },
      { args: ['settings', 'get', '--json'], code: 0 },
      { args: ['pause', '15m'], code: 0 },
      { args: ['resume'], code: 0 },
      { args: ['probe', 'list'], code: 0 },
      { args: ['bogus'], code: 3 },
    ];
    for (const { args, code } of table) {
      const byShim = shim(...args);
      expect(byShim.status, `${args.join(' ')}: ${byShim.stderr}`).toBe(code);
      const byCli = run('--data-dir', folder.at('data'), ...args);
      expect(byCli.status, `${args.join(' ')}: ${byCli.stderr}`).toBe(code);
      if (args.includes('get') || args.includes('list')) expect(byCli.stdout).toBe(byShim.stdout);
    }
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
});

describe('stores that come later', () => {
  test('a missing store is said, waited for, and served within a second of its coming; the other store goes on', async () => {
    using folder = tempFolder();
    await using early = await startWriter({ messagesDb: folder.at('Messages', 'chat.db') });
    const { child, socket, stderr } = await serve(...stores(folder.at), '--trust-local-clients');
    for (const args of [['events', 'on', 'mail.received'], ['events', 'on', 'messages.received'], ['senders', 'add', '@example.org', '+15550101234']]) {
      expect(run('--data-dir', folder.at('data'), ...args).status).toBe(0);
    }
    const client = new RawClient(socket);
    const refused = await client.request('events/poll', { name: 'mail.received', arguments: { domains: ['example.org'] } });
    expect(refused['error']).toMatchObject({ code: -32603, data: { reason: 'not_there', retryAfterMs: 1000 } });
    await client.stream('messages.received', { from: ['+15550101234'] }, {}, 'm');
    await early.messages.arrive({ from: '+15550101234', text: 'early' });
    await client.untilEvents(1, 'm');
    expect(stderr()).toMatch(/mail\.received: the store cannot be read \(not_there\)/);
    const writer = await startWriter({ mailDir: folder.at('Mail', 'V10') });
    await writer.mail.addAccount({ description: 'iCloud', email: 'me@icloud.example', kind: 'imap' });
    const deadline = Date.now() + 1500;
    let answer = await client.request('events/poll', { name: 'mail.received', arguments: { domains: ['example.org'] } });
    while (answer['error'] && Date.now() < deadline) answer = await client.request('events/poll', { name: 'mail.received', arguments: { domains: ['example.org'] } });
    expect(answer['result']).toMatchObject({ events: [], truncated: false });
    await client.end();
    await writer.stop();
    child.kill('SIGTERM');
    await once(child, 'exit');
    for (const name of readdirSync(folder.at('data'))) {
      if (statSync(folder.at('data', name)).isFile()) expect(findCanary(readFileSync(folder.at('data', name))), name).toBeNull();
    }
  });
});

test('200 peers that connect and say nothing keep nobody out', async () => {
  using folder = tempFolder();
  const { child, socket } = await serve(...stores(folder.at), '--trust-local-clients');
  const silent = Array.from({ length: 200 }, () => connect(socket).on('error', () => undefined));
  const client = new RawClient(socket);
  const answer = await client.request('server/discover');
  expect(answer['result']).toMatchObject({ supportedVersions: ['2026-07-28'] });
  for (const each of silent) each.destroy();
  await client.end();
  child.kill('SIGTERM');
  await once(child, 'exit');
});

test('a data folder that other users may look into is mended or told by doctor', async () => {
  using folder = tempFolder();
  mkdirSync(folder.at('data'));
  chmodSync(folder.at('data'), 0o755);
  const { child } = await serve(...stores(folder.at));
  expect(run('doctor', '--data-dir', folder.at('data')).stdout).toMatch(/other users can look into the data folder/);
  child.kill('SIGTERM');
  await once(child, 'exit');
  rmSync(join(folder.path, 'data'), { recursive: true });
});
