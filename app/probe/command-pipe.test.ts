import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
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

/** Says which process it is to whoever listens, and lives until it is killed. */
const LIVING = (name: string, keepsOn: boolean) => `
${keepsOn ? "process.on('SIGTERM', () => undefined);" : ''}
require('node:net').connect(process.argv[2]).on('error', () => undefined).write('${name}');
setInterval(() => 0, 1000);
`;

// The kernel ends a connection when its process does, so nothing is asked of process numbers.
test.each<[string, string, boolean]>([
  ['a program that ignores the end of its input and SIGTERM is stopped, and what it started too', `process.stdin.resume(); ${LIVING('program', true)}`, false],
  ['a program ends with its input; what it started ignores SIGTERM and is stopped', "process.stdin.resume().on('end', () => process.exit()); require('node:net').connect(process.argv[2]).write('program');", true],
])('%s', async (_name, program, childKeepsOn) => {
  using folder = tempFolder();
  const [script, child, socket] = [folder.at('program.cjs'), folder.at('child.cjs'), folder.at('s')];
  writeFileSync(child, LIVING('child', childKeepsOn));
  writeFileSync(script, `require('node:child_process').spawn(process.execPath, [${JSON.stringify(child)}, process.argv[2]], { stdio: 'ignore' });\n${program}`);
  const [live, ended]: [string[], Promise<unknown>[]] = [[], []];
  const listener = createServer();
  const bothLive = new Promise<void>((resolve) => void listener.on('connection', (peer) => {
    ended.push(new Promise((done) => void peer.on('error', () => undefined).on('close', done)));
    peer.once('data', (name) => {
      if (live.push(name.toString()) === 2) resolve();
    });
  }));
  await once(listener.listen(socket), 'listening');
  const stop = new AbortController();
  const run = probe(['list', '--json', '--timeout-ms', '600000', '--era', 'modern', '--command', node, '--', script, socket], { interrupt: stop.signal });
  await bothLive;
  stop.abort();
  expect((await run).json['errorCode']).toBe('INTERRUPTED');
  await Promise.all(ended);
  expect(live.toSorted()).toEqual(['child', 'program']);
  listener.close();
});

// Three graces of two seconds would come on top of the time.
test.each([['at the end of its time', '1500', null, 'SERVER_TIMEOUT'], ['when it is interrupted', '600000', 1500, 'INTERRUPTED']] as const)('a program that ignores SIGTERM, and what it started, are killed at once %s', async (_when, timeout, interruptMs, errorCode) => {
  const stop = new AbortController();
  const timer = interruptMs === null ? null : setTimeout(() => stop.abort(), interruptMs);
  const from = performance.now();
  const { json } = await probe(['list', '--json', '--era', 'modern', '--timeout-ms', timeout, '--command', '/bin/sh', '--', '-c', 'trap "" TERM; sleep 30 & sleep 30'], { interrupt: stop.signal });
  if (timer !== null) clearTimeout(timer);
  expect(json['errorCode']).toBe(errorCode);
  expect(performance.now() - from).toBeLessThan(7000);
});

test('a program that is slow to end is given its time while there is some', async () => {
  using folder = tempFolder();
  writeFileSync(folder.at('server.cjs'), SERVER.replace("fs.writeFileSync(process.argv[2], 'ended')", "setTimeout(() => fs.writeFileSync(process.argv[2], 'ended'), 500)"));
  expect((await probe(call(folder.at('server.cjs'), folder.at('mark')))).code).toBe(0);
  expect(readFileSync(folder.at('mark'), 'utf8')).toBe('ended');
});

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
