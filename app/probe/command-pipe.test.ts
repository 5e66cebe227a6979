import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { probe } from '../testing/probe-kit.ts';
import { tempFolder } from '../testing/temp.ts';

const node = process.execPath;
/** A server of a few lines: answers the older handshake and one tool. */
const SERVER = `
const fs = require('node:fs');
process.stderr.write('hello \\u001b[31mfrom the server\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const say = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  if (method === 'initialize') say({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } });
  else if (method === 'tools/call' && params.name === 'exit') process.exit(7);
  else if (method === 'tools/call') say({ content: [{ type: 'text', text: JSON.stringify({ argv: process.argv.slice(2), token: process.env.MCP_PROBE_AUTH_TOKEN ?? null, own: process.env.OWN ?? null }) }] });
  else if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }));
}).on('close', () => fs.writeFileSync(process.argv[2], 'ended'));
`;
const call = (script: string, mark: string, ...more: string[]) => ['call', '--tool', 'env', '--json', '--command', node, ...more, '--', script, mark, 'a b', '$HOME', '; echo'];

test('a program gets its words as they are, and ends when the probe does; its stderr is shown', async () => {
  using folder = tempFolder();
  writeFileSync(folder.at('server.cjs'), SERVER);
  const { code, json, stderr } = await probe(call(folder.at('server.cjs'), folder.at('mark')));
  expect(code).toBe(0);
  expect(JSON.parse(json['content'][0].text)).toMatchObject({ argv: [folder.at('mark'), 'a b', '$HOME', '; echo'] });
  expect(stderr).toBe('belfry: server: hello [31mfrom the server\n');
  expect(readFileSync(folder.at('mark'), 'utf8')).toBe('ended');
});

test('a program that ignores the end of its input is stopped, and what it started too', async () => {
  using folder = tempFolder();
  const script = folder.at('stubborn.cjs');
  writeFileSync(script, `
    process.on('SIGTERM', () => undefined);
    const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)'], { stdio: 'ignore' });
    require('node:fs').writeFileSync(process.argv[2], process.pid + ' ' + child.pid);
    setInterval(() => 0, 1000);
  `);
  const stop = new AbortController();
  const run = probe(['list', '--json', '--timeout-ms', '600000', '--era', 'modern', '--command', node, '--', script, folder.at('pids')], { interrupt: stop.signal });
  await expect.poll(() => existsSync(folder.at('pids')) && readFileSync(folder.at('pids'), 'utf8').includes(' '), { timeout: 30_000 }).toBe(true);
  stop.abort();
  expect((await run).json['errorCode']).toBe('INTERRUPTED');
  const alive = (pid: string) => {
    try {
      // A zombie that nobody collected yet is dead.
      return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return false;
    }
  };
  for (const pid of readFileSync(folder.at('pids'), 'utf8').split(' ')) await expect.poll(() => (process.platform === 'linux' ? alive(pid) : false), { timeout: 20_000 }).toBe(false);
}, 60_000);

test.each<[string, string[], number, string, RegExp]>([
  ['a program that is not there', ['--command', '/nowhere/at all'], 3, 'COMMAND_NOT_STARTED', /"\/nowhere\/at all" was not found/],
  ['a program that ends at once', ['--command', node, '--', '-e', 'process.exit(5)'], 3, 'CONNECTION_CLOSED', /closed the connection|ended with code 5/],
  ['a program that talks to people', ['--command', node, '--', '-e', 'console.log("Server ready"); setInterval(() => 0, 100)'], 3, 'BAD_RESPONSE', /not JSON/],
])('%s', async (_name, words, code, errorCode, message) => {
  const { json, ...result } = await probe(['list', '--json', ...words]);
  expect([result.code, json['errorCode']]).toEqual([code, errorCode]);
  expect(json['error'].message).toMatch(message);
});

test('a file that may not be run', async () => {
  using folder = tempFolder();
  writeFileSync(folder.at('plain'), 'text', { mode: 0o600 });
  const { json } = await probe(['list', '--json', '--command', folder.at('plain')]);
  expect(json['error']).toMatchObject({ code: 'COMMAND_NOT_STARTED', message: expect.stringContaining('may not be run') });
});

test('a program that ends at a first message that it does not know is started once more, for the older handshake', async () => {
  using folder = tempFolder();
  writeFileSync(folder.at('strict.cjs'), SERVER.replace('const { id, method, params } = JSON.parse(line);', 'const { id, method, params } = JSON.parse(line); if (method === "server/discover") process.exit(1);'));
  const { json } = await probe(call(folder.at('strict.cjs'), folder.at('mark')));
  expect(json).toMatchObject({ ok: true, era: '2025-11-25' });
  const pinned = await probe(call(folder.at('strict.cjs'), folder.at('mark'), '--era', 'modern'));
  expect(pinned.json['errorCode']).toBe('CONNECTION_CLOSED');
});

test('the command keeps its token to itself', () => {
  using folder = tempFolder();
  writeFileSync(folder.at('server.cjs'), SERVER);
  const cli = fileURLToPath(new URL('../cli/belfry.ts', import.meta.url));
  const { stdout, status } = spawnSync(node, [cli, 'probe', ...call(folder.at('server.cjs'), folder.at('mark'))], { encoding: 'utf8', env: { ...process.env, MCP_PROBE_AUTH_TOKEN: 'tok-0123456789', OWN: 'kept' } });
  expect(status).toBe(0);
  expect(JSON.parse(JSON.parse(stdout).content[0].text)).toMatchObject({ token: null, own: 'kept' });
});

test('a program that ends in the middle says with which code', async () => {
  using folder = tempFolder();
  writeFileSync(folder.at('server.cjs'), SERVER);
  const { json } = await probe(['call', '--tool', 'exit', '--json', '--command', node, '--', folder.at('server.cjs'), folder.at('mark')]);
  expect(json['errorCode']).toBe('CONNECTION_CLOSED');
});
