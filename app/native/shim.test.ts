import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compile, nativeTargets } from '../../build/native.mjs';
import { tempFolder } from '../testing/temp.ts';
import { answerAll, Shim, StandIn } from './shim-stand-ins.ts';

const folder = tempFolder();
const root = fileURLToPath(new URL('../../', import.meta.url));
let shimPath: string;
/** Gives up after 600 ms in place of 10 s: for what it does then. */
let hasty: string;
let sockets = 0;
const freshPath = () => folder.at(`s${(sockets += 1)}`);

beforeAll(() => {
  shimPath = folder.at('belfry-mcp');
  compile(nativeTargets({ root })['belfry-mcp']!, shimPath);
  hasty = folder.at('hasty');
  compile(nativeTargets({ root, defines: ['-DBELFRY_WAIT_MS=600'] })['belfry-mcp']!, hasty);
});
afterAll(() => folder[Symbol.dispose]());

describe('relay', () => {
  test('says both versions, the mode and the label first', async () => {
    const engine = await new StandIn(freshPath()).listen();
    const shim = new Shim(shimPath, ['--client=a "b"\u0001é', '--channel', '--socket', engine.path]);
    await engine.until(() => engine.hellos.length === 1);
    const { version } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { version: string };
    expect(engine.hellos[0]).toEqual({ protocol: 1, version, mode: 'mcp', label: 'a "b"\u0001é', channel: true });
    shim.process.stdin!.end();
    expect(await shim.code()).toBe(0);
    await engine.die();
  });

  test('passes whole lines both ways, cut at every byte', async () => {
    const engine = await new StandIn(freshPath()).listen();
    engine.onLine = answerAll;
    const shim = new Shim(shimPath, ['--socket', engine.path]);
    const text = '{"id":1,"method":"ping","x":"é😀"}\n{"id":"1","method":"p"}\n';
    for (const byte of Buffer.from(text)) shim.process.stdin!.write(Buffer.from([byte]));
    expect(JSON.parse(await shim.line(0))).toMatchObject({ id: 1 });
    expect(JSON.parse(await shim.line(1))).toMatchObject({ id: '1' });
    expect(engine.lines).toEqual(text.trim().split('\n'));
    const answer = Buffer.from('{"jsonrpc":"2.0","method":"notifications/é"}\n');
    for (const byte of answer) {
      engine.socket!.write(Buffer.from([byte]));
      await new Promise((resolve) => { setImmediate(resolve); });
    }
    expect(await shim.line(2)).toBe(answer.toString().trim());
    shim.process.stdin!.end();
    await engine.die();
  });

  test('a line over 1 MiB is answered -32600 with the limit, skipped, and the connection lives', async () => {
    const engine = await new StandIn(freshPath()).listen();
    engine.onLine = answerAll;
    const shim = new Shim(shimPath, ['--socket', engine.path]);
    shim.write(`{"id":5,"method":"x","params":{"a":"${'a'.repeat(3 * 1024 * 1024)}"}}\n{"id":6,"method":"ping"}\n`);
    expect(JSON.parse(await shim.line(0))).toMatchObject({ error: { code: -32600, data: { maxBytes: 1_048_576 } } });
    expect(JSON.parse(await shim.line(1))).toMatchObject({ id: 6, result: {} });
    shim.process.stdin!.end();
    await engine.die();
  });

  test('a line of exactly 1 MiB passes', async () => {
    const engine = await new StandIn(freshPath()).listen();
    const shim = new Shim(shimPath, ['--socket', engine.path]);
    const frame = '{"id":1,"method":"x","params":{"a":""}}';
    const line = frame.replace('""', `"${'a'.repeat(1024 * 1024 - frame.length)}"`);
    shim.write(`${line}\n`);
    await engine.until(() => engine.lines.length === 1);
    expect(engine.lines[0]!.length).toBe(1024 * 1024);
    shim.process.stdin!.end();
    await engine.die();
  });

  test('half a line at the end of stdin is no message; exit 0', async () => {
    const engine = await new StandIn(freshPath()).listen();
    const shim = new Shim(shimPath, ['--socket', engine.path]);
    shim.write('{"id":1,"method":"a"}\n{"id":2,"meth');
    shim.process.stdin!.end();
    expect(await shim.code()).toBe(0);
    expect(engine.lines.filter((line) => line.includes('"id":2'))).toEqual([]);
    await engine.die();
  });

  test('a client that never reads does not make the shim grow', async () => {
    const engine = await new StandIn(freshPath()).listen();
    const shim = new Shim(shimPath, ['--socket', engine.path]);
    await engine.until(() => engine.hellos.length === 1);
    shim.process.stdout!.pause();
    const line = `{"jsonrpc":"2.0","method":"n","params":{"a":"${'x'.repeat(1000)}"}}\n`;
    for (let i = 0; i < 20_000 && engine.socket!.writableLength < 8_000_000; i += 1) engine.socket!.write(line);
    await new Promise((resolve) => { setTimeout(resolve, 300); });
    const status = readFileSync(`/proc/${shim.process.pid}/status`, 'utf8');
    expect(Number(/VmRSS:\s+(\d+)/.exec(status)![1])).toBeLessThan(4096);
    shim.process.kill('SIGKILL');
    await engine.die();
  });
});

describe('the engine goes away', () => {
  const initialize = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}';
  const initialized = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
  const subscribe = '{"jsonrpc":"2.0","id":9,"method":"resources/subscribe","params":{"uri":"belfry://status"}}';

  test('what was in flight is answered at once; handshake and subscriptions are replayed and their answers swallowed', async () => {
    const engine = await new StandIn(freshPath()).listen();
    engine.onLine = (line, socket) => {
      if (!line.includes('"slow"')) answerAll(line, socket);
    };
    const shim = new Shim(shimPath, ['--socket', engine.path]);
    shim.write(`${initialize}\n${initialized}\n${subscribe}\n{"id":"7","method":"slow"}\n{"id":7,"method":"slow"}\n`);
    await engine.until(() => engine.lines.length === 5);
    await shim.line(1);
    await engine.die();
    const errors = [JSON.parse(await shim.line(2)), JSON.parse(await shim.line(3))] as { id: unknown }[];
    expect(new Set(errors.map(({ id }) => id))).toEqual(new Set(['7', 7]));
    for (const error of errors) expect(error).toMatchObject({ error: { code: -32603, data: { reason: 'engine_restarted' } } });

    const second = new StandIn(engine.path);
    second.onLine = answerAll;
    await second.listen();
    shim.write('{"id":8,"method":"ping"}\n');
    expect(JSON.parse(await shim.line(4))).toMatchObject({ id: 8, result: { method: 'ping' } });
    const methods = second.lines.map((line) => (JSON.parse(line) as { method: string }).method);
    expect(methods).toEqual(['initialize', 'notifications/initialized', 'resources/subscribe', 'ping']);
    // An id of our own that no client can guess; nothing else is changed.
    const { id } = JSON.parse(second.lines[0]!) as { id: string };
    expect(id).toMatch(/^belfry-replay-[0-9a-f]{16}-1$/);
    expect(second.lines[0]).toBe(initialize.replace('"id":0', `"id":"${id}"`));
    expect(shim.lines).toHaveLength(5);
    shim.process.stdin!.end();
    expect(await shim.code()).toBe(0);
    await second.die();
  });

  test('an unsubscribed resource and a cancelled request are not told again', async () => {
    const engine = await new StandIn(freshPath()).listen();
    engine.onLine = (line, socket) => {
      if (!line.includes('"slow"')) answerAll(line, socket);
    };
    const shim = new Shim(shimPath, ['--socket', engine.path]);
    shim.write(`${initialize}\n`);
    await shim.line(0);
    shim.write(`${subscribe}\n${subscribe.replace('9', '10').replace('/subscribe', '/unsubscribe')}\n{"id":3,"method":"slow"}\n{"method":"notifications/cancelled","params":{"requestId":3}}\n`);
    await engine.until(() => engine.lines.length === 5);
    await shim.line(2);
    await engine.die();
    const second = new StandIn(engine.path);
    second.onLine = answerAll;
    await second.listen();
    shim.write('{"id":4,"method":"ping"}\n');
    expect(JSON.parse(await shim.line(3))).toMatchObject({ id: 4 });
    expect(second.lines.map((line) => (JSON.parse(line) as { method: string }).method)).toEqual(['initialize', 'ping']);
    shim.process.stdin!.end();
    await second.die();
  });

  test('requests are held, then answered not_running, and the shim stays for the next engine', async () => {
    const engine = await new StandIn(freshPath()).listen();
    engine.onLine = answerAll;
    const shim = new Shim(hasty, ['--socket', engine.path]);
    shim.write('{"id":1,"method":"ping"}\n');
    await shim.line(0);
    await engine.die();
    shim.write('{"id":"held","method":"ping"}\n');
    expect(JSON.parse(await shim.line(1))).toMatchObject({ id: 'held', error: { code: -32603, data: { reason: 'not_running' } } });
    shim.write('{"id":3,"method":"ping"}\n');
    expect(JSON.parse(await shim.line(2))).toMatchObject({ id: 3, error: { data: { reason: 'not_running' } } });
    const second = new StandIn(engine.path);
    second.onLine = answerAll;
    second.greeting = 'ok\n{"method":"notifications/hello"}\n';
    await second.listen();
    await shim.line(3);
    shim.write('{"id":4,"method":"ping"}\n');
    expect(JSON.parse(await shim.line(4))).toMatchObject({ id: 4, result: { method: 'ping' } });
    shim.process.stdin!.end();
    await second.die();
  });

  test('more than 64 KiB is not held', async () => {
    const engine = await new StandIn(freshPath()).listen();
    engine.onLine = answerAll;
    const shim = new Shim(shimPath, ['--socket', engine.path]);
    shim.write('{"id":1,"method":"ping"}\n');
    await shim.line(0);
    await engine.die();
    shim.write(`{"id":2,"method":"big","params":{"a":"${'x'.repeat(70_000)}"}}\n`);
    expect(JSON.parse(await shim.line(1))).toMatchObject({ id: 2, error: { data: { reason: 'not_running' } } });
    shim.process.stdin!.end();
    expect(await shim.code()).toBe(0);
  });
});

describe('no engine', () => {
  test('MCP mode waits, then one sentence and exit 69', async () => {
    const shim = new Shim(hasty, ['--socket', folder.at('nobody')]);
    shim.write('{"id":1,"method":"ping"}\n');
    expect(await shim.code()).toBe(69);
    expect(shim.stderr).toBe('belfry-mcp: Belfry is not running. Open Belfry, then start this client again.\n');
    expect(shim.out).toBe('');
  });

  test('an engine that comes within the wait is used', async () => {
    const engine = new StandIn(freshPath());
    engine.onLine = answerAll;
    const shim = new Shim(shimPath, ['--socket', engine.path]);
    shim.write('{"id":1,"method":"ping"}\n');
    await new Promise((resolve) => { setTimeout(resolve, 200); });
    await engine.listen();
    expect(JSON.parse(await shim.line(0))).toMatchObject({ id: 1, result: { method: 'ping' } });
    shim.process.stdin!.end();
    await engine.die();
  });

  test('a refusal of the engine is said, exit 69', async () => {
    const engine = new StandIn(freshPath());
    engine.greeting = 'error Update Belfry and start the client again.\n';
    await engine.listen();
    const shim = new Shim(shimPath, ['--socket', engine.path]);
    expect(await shim.code()).toBe(69);
    expect(shim.stderr).toBe('belfry-mcp: Update Belfry and start the client again.\n');
    await engine.die();
  });

  test.each([
    { args: ['--socket', `/tmp/${'x'.repeat(120)}`], code: 69, says: /may have at most 103/ },
    { args: ['--socket', `/tmp/${'x'.repeat(120)}`, 'status'], code: 3, says: /may have at most 103/ },
    { args: ['--socket', '/nowhere/engine.sock', 'status'], code: 3, says: /Belfry is not running/ },
    { args: ['--bogus'], code: 3, says: /unknown option --bogus/ },
    { args: ['--socket'], code: 3, says: /--socket needs a path/ },
  ])('$args exits $code with a sentence', async ({ args, code, says }) => {
    const shim = new Shim(shimPath, args);
    expect(await shim.code()).toBe(code);
    expect(shim.stderr).toMatch(says);
  });
});

describe('commands', () => {
  test('prints the frames where they belong and exits with the code', async () => {
    const engine = new StandIn(freshPath());
    engine.greeting = 'ok\no 6\nhello\ne 5\noops\no 3\nyou\nx 2\n'.replace('o 3\nyou\n', 'o 3\nyou');
    await engine.listen();
    const shim = new Shim(shimPath, ['--socket', engine.path, 'senders', 'add', 'a"b', '\\']);
    expect(await shim.code()).toBe(2);
    expect(shim.out).toBe('hello\nyou');
    expect(shim.stderr).toBe('oops\n');
    expect(engine.hellos[0]).toMatchObject({ mode: 'command', argv: ['senders', 'add', 'a"b', '\\'] });
    await engine.die();
  });

  test('an engine that goes away half-way is a sentence and exit 3', async () => {
    const engine = new StandIn(freshPath());
    engine.greeting = 'ok\no 100\nhalf';
    await engine.listen();
    const shim = new Shim(shimPath, ['--socket', engine.path, 'status']);
    await engine.until(() => engine.hellos.length === 1);
    await new Promise((resolve) => { setTimeout(resolve, 50); });
    await engine.die();
    expect(await shim.code()).toBe(3);
    expect(shim.stderr).toMatch(/went away before it answered/);
  });

  test('--version and --help need no engine', async () => {
    for (const flag of ['--version', '--help']) {
      const shim = new Shim(shimPath, [flag]);
      expect(await shim.code()).toBe(0);
      expect(shim.out).toMatch(/belfry-mcp/);
    }
  });
});
