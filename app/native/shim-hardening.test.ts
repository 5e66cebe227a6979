import { mkdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { compile, nativeTargets } from '../../build/native.mjs';
import { Random } from '../testing/random.ts';
import { tempFolder } from '../testing/temp.ts';
import { answerAll, cpuOf, Shim, StandIn, statusOf } from './shim-stand-ins.ts';

const folder = tempFolder();
const root = fileURLToPath(new URL('../../', import.meta.url));
/** As it ships, and under the sanitizers: each waits 10 s for an engine. */
const plain = folder.at('belfry-mcp');
const checked = folder.at('checked', 'belfry-mcp');
/** The same two, but they wait 600 ms: for what is done once the wait is over. */
const hastyPlain = folder.at('hasty', 'belfry-mcp');
const hasty = folder.at('checked', 'hasty');
const HASTY_MS = 600;
let sockets = 0;
let engine: StandIn;
const open: (Shim | StandIn)[] = [];

beforeAll(() => {
  for (const name of ['checked', 'hasty']) mkdirSync(folder.at(name));
  const sanitized = ['-g', '-fsanitize=address,undefined', '-fno-sanitize-recover'];
  for (const [defines, asShipped, underSanitizers] of [[[], plain, checked], [[`-DBELFRY_WAIT_MS=${HASTY_MS}`], hastyPlain, hasty]] as const) {
    const args = nativeTargets({ root, defines: [...defines] })['belfry-mcp']!;
    compile(args, asShipped);
    compile([...args, ...sanitized], underSanitizers);
  }
});
afterAll(() => folder[Symbol.dispose]());
afterEach(async () => {
  for (const each of open.splice(0)) {
    if (each instanceof Shim) {
      expect(each.stderr).not.toMatch(/Sanitizer|runtime error/);
      each.process.kill('SIGKILL');
    } else await each.die();
  }
});

const pause = (ms: number) => new Promise((resolve) => { setTimeout(resolve, ms); });
async function startEngine(onLine: StandIn['onLine'] = answerAll, path = folder.at(`s${(sockets += 1)}`), greeting = 'ok\n'): Promise<StandIn> {
  engine = new StandIn(path);
  engine.onLine = onLine;
  engine.greeting = greeting;
  open.push(engine);
  return engine.listen();
}
function startShim(binary = checked, ...args: string[]): Shim {
  const shim = new Shim(binary, ['--socket', engine.path, ...args]);
  open.push(shim);
  return shim;
}
const restart = (onLine?: StandIn['onLine']) => startEngine(onLine, engine.path);
const silent = () => undefined;
const parse = (line: string) => JSON.parse(line) as { id?: unknown; result?: unknown; error?: { code: number; message: string; data?: { reason?: string; maxBytes?: number } } };
const reasonOf = (line: string) => parse(line).error?.data?.reason;
const ping = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`;
const initialize = '{"jsonrpc":"2.0","id":"i","method":"initialize","params":{}}\n';

describe('ids', () => {
  const ids = ['1', '"1"', '-0', '12e2', '1.0', '"\\u0061\\ud83d\\ude00"', '""', 'null', 'true', '1.5', '{"a":1}', '[1]', '9007199254740993'];

  test('every JSON type passes as it stands; those that an answer can carry are answered when the engine goes', async () => {
    await startEngine(silent);
    const shim = startShim();
    for (const id of ids) shim.write(ping(id));
    await engine.until(() => engine.lines.length === ids.length);
    expect(engine.lines).toEqual(ids.map((id) => ping(id).trim()));
    await engine.die();
    await shim.line(6);
    await pause(50);
    const answered = shim.lines.map((line) => /"id":(.*),"error"/.exec(line)![1]);
    expect(answered.sort()).toEqual(ids.slice(0, 7).sort());
  });

  test('an answer counts whatever way the engine writes the id', async () => {
    await startEngine();
    const shim = startShim();
    for (const id of ids.slice(0, 7)) shim.write(ping(id));
    await shim.line(6);
    await engine.die();
    await pause(100);
    expect(shim.lines).toHaveLength(7);
  });

  test('1024 requests may wait, one more is refused', async () => {
    await startEngine(silent);
    const shim = startShim();
    for (let id = 0; id <= 1024; id += 1) shim.write(ping(String(id)));
    expect(parse(await shim.line(0))).toMatchObject({ id: 1024, error: { code: -32600 } });
    shim.write('{"method":"notifications/cancelled","params":{"requestId":7}}\n' + ping('"again"') + ping(`"${'x'.repeat(2000)}"`));
    expect(parse(await shim.line(1))).toMatchObject({ id: null, error: { code: -32600 } });
    await engine.die();
    await shim.line(1025);
    expect(shim.lines.filter((line) => reasonOf(line) === 'engine_restarted')).toHaveLength(1024);
  });
});

describe('long lines', () => {
  test('the refusal carries the id where it stands in what was kept', async () => {
    await startEngine();
    const shim = startShim();
    const long = 'a'.repeat(1_200_000);
    shim.write(`{"id":5,"method":"x","params":"${long}"}\n{"method":"x","params":"${long}","id":6}\n${ping('7')}`);
    expect(parse(await shim.line(0)).id).toBe(5);
    expect(parse(await shim.line(1)).id).toBe(null);
    expect(parse(await shim.line(2)).id).toBe(7);
    expect(engine.lines).toHaveLength(1);
  });

  test('256 KiB of the engine pass; a longer answer is an error to who waits for it', async () => {
    await startEngine(silent);
    const shim = startShim();
    shim.write(ping('1') + ping('2') + ping('3'));
    await engine.until(() => engine.lines.length === 3);
    const answer = (id: number, size: number) => {
      const frame = `{"jsonrpc":"2.0","id":${id},"result":""}`;
      return frame.replace('""', `"${'r'.repeat(size - frame.length)}"`);
    };
    engine.socket!.write(`${answer(1, 256 * 1024)}\n${answer(2, 256 * 1024 + 1)}\n{"method":"n","params":"${'n'.repeat(600_000)}"}\n${answer(3, 100)}\n`);
    await shim.line(2);
    expect(shim.lines.map((line) => parse(line).id).sort()).toEqual([1, 2, 3]);
    expect(shim.lines.find((line) => parse(line).id === 1)).toHaveLength(256 * 1024);
    expect(reasonOf(shim.lines.find((line) => parse(line).id === 2)!)).toBe('too_long');
    await engine.die();
    await pause(50);
    expect(shim.lines).toHaveLength(3);
  });

  test('an engine that comes in the middle of a skipped line gets the lines held before it, and none of it', async () => {
    await startEngine(silent);
    const shim = startShim();
    shim.write(ping('1'));
    await engine.until(() => engine.lines.length === 1);
    await engine.die();
    await shim.line(0);
    shim.write(ping('2') + `{"id":3,"method":"${'m'.repeat(1_100_000)}`);
    expect(parse(await shim.line(1))).toMatchObject({ id: 3, error: { code: -32600 } });
    await restart();
    expect(parse(await shim.line(2)).id).toBe(2);
    shim.write(`${'m'.repeat(100_000)}"}\n${ping('4')}`);
    expect(parse(await shim.line(3)).id).toBe(4);
    expect(engine.lines).toHaveLength(2);
  });
});

describe('a fresh engine', () => {
  test('hears held lines in their order, without what was cancelled', async () => {
    await startEngine(silent);
    const shim = startShim();
    shim.write(ping('0'));
    await engine.until(() => engine.lines.length === 1);
    await engine.die();
    // Its error says that the helper knows of the loss.
    await shim.line(0);
    shim.write(`${ping('1')}${ping('2')}{"method":"notifications/x"}\n${ping('3')}{"method":"notifications/cancelled","params":{"requestId":2}}\n`);
    // Refused at once, so what stands before it was read.
    shim.write(`{"id":9,"method":"${'m'.repeat(1_100_000)}"}\n`);
    await shim.line(1);
    await restart();
    await shim.line(3);
    expect(engine.lines).toEqual([ping('1').trim(), '{"method":"notifications/x"}', ping('3').trim()]);
    shim.write(ping('4'));
    await shim.line(4);
    expect(shim.lines.map((line) => parse(line).id)).toEqual([0, 9, 1, 3, 4]);
  });

  test.each([
    { name: 'was never answered', onLine: silent },
    { name: 'was refused', onLine: (line: string, socket: Socket) => void socket.write(`{"id":${JSON.stringify(parse(line).id)},"error":{"code":-32602,"message":"no"}}\n`) },
  ])('is not told an initialize that $name', async ({ onLine }) => {
    await startEngine(onLine);
    const shim = startShim();
    shim.write(initialize);
    await engine.until(() => engine.lines.length === 1);
    await pause(30);
    await engine.die();
    await shim.line(0);
    await restart();
    shim.write(ping('1'));
    await shim.line(1);
    expect(engine.lines).toEqual([ping('1').trim()]);
  });

  test('is told `initialized` although no engine heard it', async () => {
    await startEngine();
    const shim = startShim(hasty);
    shim.write(initialize);
    await shim.line(0);
    await engine.die();
    await pause(HASTY_MS + 100);
    shim.write('{"method":"notifications/initialized"}\n');
    await pause(50);
    await restart();
    await engine.until(() => engine.lines.length === 2);
    expect(engine.lines[1]).toBe('{"method":"notifications/initialized"}');
  });

  test('the last words of the old one come before the errors', async () => {
    await startEngine((line, socket) => {
      if (parse(line).id === 2) socket.end('{"id":1,"result":{}}\n{"method":"notifications/last"}\n{"method":"half');
    });
    const shim = startShim();
    shim.write(ping('1') + ping('2'));
    await shim.line(2);
    expect(shim.lines.slice(0, 2)).toEqual(['{"id":1,"result":{}}', '{"method":"notifications/last"}']);
    expect(parse(shim.lines[2]!)).toMatchObject({ id: 2, error: { data: { reason: 'engine_restarted' } } });
  });

  test('that refuses does not end a shim that served: its sentence is passed on', async () => {
    await startEngine();
    const shim = startShim(hasty);
    shim.write(ping('1'));
    await shim.line(0);
    await engine.die();
    await startEngine(silent, engine.path, 'error Update "Belfry".\n');
    await engine.until(() => engine.hellos.length > 0);
    await pause(HASTY_MS + 100);
    shim.write(ping('2'));
    expect(parse(await shim.line(1))).toMatchObject({ id: 2, error: { message: 'Update "Belfry".', data: { reason: 'not_running' } } });
    expect(shim.process.exitCode).toBeNull();
  });

  test('that falls over again and again is not hammered', async () => {
    await startEngine((_line, socket) => void socket.destroy());
    const shim = startShim();
    const all = ping('1');
    shim.write(all);
    await shim.line(0);
    engine.greeting = 'ok\n';
    for (let i = 2; i < 8; i += 1) {
      shim.write(ping(String(i)));
      await shim.line(i - 1);
    }
    expect(engine.hellos.length).toBeLessThan(10);
    expect(shim.lines.map(reasonOf)).toEqual(Array.from({ length: 7 }, () => 'engine_restarted'));
  });
});

describe('before an engine', () => {
  test('a first line of any length waits for its welcome', async () => {
    await startEngine(answerAll, undefined, '');
    const shim = startShim();
    await engine.until(() => engine.hellos.length === 1);
    shim.write(`{"id":1,"method":"big","params":"${'x'.repeat(900_000)}"}\n${ping('2')}`);
    await pause(100);
    engine.socket!.write('ok\n');
    expect(parse(await shim.line(0)).id).toBe(1);
    expect(parse(await shim.line(1)).id).toBe(2);
  });

  test('one that never says ok: exit 69 in MCP mode', async () => {
    await startEngine(silent, undefined, '');
    const shim = startShim(hasty);
    expect(await shim.code()).toBe(69);
  });

  test.each(['okay\n', 'HTTP/1.1 400\n', 'x'.repeat(5000)])('an answer that is no welcome is a sentence (%#)', async (greeting) => {
    await startEngine(silent, undefined, greeting);
    const shim = startShim();
    expect(await shim.code()).toBe(69);
    expect(shim.stderr).toMatch(/^belfry-mcp: What answered/);
  });

  test('text behind ok is ignored; a line in the same packet is relayed', async () => {
    await startEngine(silent, undefined, 'ok later versions\n{"method":"notifications/hello"}\n');
    expect(await startShim().line(0)).toBe('{"method":"notifications/hello"}');
  });

  test('arguments that are no UTF-8 and a label with quotes are JSON', async () => {
    await startEngine(silent, undefined, 'ok\nx 0\n');
    const raw = new Shim('/bin/sh', ['-c', `exec "${checked}" --socket "${engine.path}" "$(printf 'a\\377b')" "c	d"`]);
    expect(await raw.code()).toBe(0);
    expect(engine.hellos[0]).toMatchObject({ argv: ['a\ufffdb', 'c\td'] });
  });

  test.each([
    { greeting: 'error Not now.\n', code: 3, says: 'belfry-mcp: Not now.\n' },
    { greeting: 'ok\nx 255\n', code: 255, says: '' },
    { greeting: 'ok\nx 256\n', code: 3, says: /not understood/ },
    { greeting: 'ok\nz 1\n', code: 3, says: /not understood/ },
    { greeting: 'ok\no -1\n', code: 3, says: /not understood/ },
    { greeting: `ok\no ${'9'.repeat(40)}`, code: 3, says: /not understood/ },
    { greeting: 'ok\no 0\ne 0\nx 4\n', code: 4, says: '' },
  ])('command: $greeting exits $code', async ({ greeting, code, says }) => {
    await startEngine(silent, undefined, greeting);
    const shim = startShim(checked, 'status');
    expect(await shim.code()).toBe(code);
    if (typeof says === 'string') expect(shim.stderr).toBe(says);
    else expect(shim.stderr).toMatch(says);
  });

  test('command: output of 5 MB comes whole, in frames that arrive in pieces', async () => {
    const block = 'b'.repeat(1_000_000);
    await startEngine(silent, undefined, `ok\n${`o 1000000\n${block}`.repeat(5)}x 1\n`);
    const shim = startShim(checked, 'status');
    expect(await shim.code()).toBe(1);
    expect(shim.out.length).toBe(5_000_000);
  });
});

describe('bounds, and the end', () => {
  const steady = async (shim: Shim) => {
    // What is still being moved may take a while; a busy loop never ends.
    await expect.poll(async () => {
      const before = cpuOf(shim.process.pid!);
      await pause(300);
      return cpuOf(shim.process.pid!) - before;
    }, { message: 'busy loop' }).toBeLessThanOrEqual(20);
  };
  const request = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"x","params":{"a":"${'x'.repeat(900)}"}}\n`;

  test.skipIf(process.platform !== 'linux')('a client that never reads, and an engine that never stops', async () => {
    await startEngine();
    const shim = startShim(plain);
    await engine.until(() => engine.hellos.length === 1);
    shim.process.stdout!.pause();
    for (let i = 0; i < 20_000; i += 1) engine.socket!.write(`{"method":"n","params":"${'x'.repeat(1000)}"}\n`);
    await pause(300);
    expect(engine.socket!.writableLength).toBeGreaterThan(1_000_000);
    expect(statusOf(shim.process.pid!, 'VmHWM')).toBeLessThan(2048);
    await steady(shim);
  });

  test.skipIf(process.platform !== 'linux')('a client that never reads and never stops asking while no engine is there', async () => {
    await startEngine();
    const shim = startShim(hastyPlain);
    shim.write(ping('0'));
    await shim.line(0);
    await engine.die();
    shim.process.stdout!.pause();
    await pause(HASTY_MS + 50);
    for (let i = 1; i < 20_000; i += 1) shim.write(ping(String(i)));
    await pause(300);
    expect(shim.process.stdin!.writableLength).toBeGreaterThan(100_000);
    expect(statusOf(shim.process.pid!, 'VmHWM')).toBeLessThan(2048);
    await steady(shim);
    shim.process.stdout!.resume();
    await shim.line(19_999);
    expect(new Set(shim.lines.map((line) => parse(line).id)).size).toBe(20_000);
  });

  test.skipIf(process.platform !== 'linux')('an engine that never reads', async () => {
    await startEngine();
    const shim = startShim(plain);
    await engine.until(() => engine.hellos.length === 1);
    engine.socket!.pause();
    for (let i = 0; i < 10_000; i += 1) shim.write(`{"method":"n","params":"${'x'.repeat(1000)}"}\n`);
    await pause(300);
    expect(shim.process.stdin!.writableLength).toBeGreaterThan(1_000_000);
    expect(statusOf(shim.process.pid!, 'VmHWM')).toBeLessThan(2048);
    await steady(shim);
    engine.socket!.resume();
    await engine.until(() => engine.lines.length === 10_000);
    shim.write(request(1));
    await shim.line(0);
  });

  test.skipIf(process.platform !== 'linux')('memory of a long line is given back', async () => {
    await startEngine();
    const shim = startShim(plain);
    shim.write(`{"id":1,"method":"x","params":"${'x'.repeat(1_000_000)}"}\n`);
    await shim.line(0);
    shim.write(ping('2'));
    await shim.line(1);
    expect(statusOf(shim.process.pid!, 'VmRSS')).toBeLessThan(2048);
    await steady(shim);
  });

  test('stdout closed: exit 0 in silence', async () => {
    await startEngine();
    const shim = startShim();
    await engine.until(() => engine.hellos.length === 1);
    shim.process.stdout!.destroy();
    engine.socket!.write('{"method":"n"}\n');
    expect(await shim.code()).toBe(0);
    expect(shim.stderr).toBe('');
  });

  test('stdin closed: lines before it reach the engine, what the engine said reaches the client, exit 0', async () => {
    await startEngine();
    const shim = startShim();
    await engine.until(() => engine.hellos.length === 1);
    shim.process.stdout!.pause();
    engine.socket!.write(`{"method":"n","params":"${'x'.repeat(1000)}"}\n`.repeat(100));
    await pause(100);
    shim.process.stdin!.end('{"method":"notifications/bye"}\n{"method":"half');
    shim.process.stdout!.resume();
    expect(await shim.code()).toBe(0);
    await engine.until(() => engine.lines.length === 1);
    await shim.line(99);
    expect(shim.lines).toHaveLength(100);
  });

  test.each(['an engine that does not read', 'a client that does not read', 'no ok', 'no engine'])('stdin closed with %s: exit 0, not after the wait for an engine', async (what) => {
    await startEngine(silent, undefined, what === 'no ok' ? '' : 'ok\n');
    const shim = startShim();
    if (what !== 'no engine') await engine.until(() => engine.hellos.length === 1);
    if (what.startsWith('an engine')) {
      engine.socket!.pause();
      for (let i = 0; i < 1000; i += 1) shim.write(request(i));
    } else if (what.startsWith('a client')) {
      shim.process.stdout!.pause();
      engine.socket!.write(`{"method":"n","params":"${'x'.repeat(1000)}"}\n`.repeat(1000));
    } else {
      shim.write(ping('1'));
    }
    if (what === 'no engine') await engine.die();
    await pause(100);
    const closed = Date.now();
    // `end` alone would wait for what the shim does not take.
    shim.process.stdin!.destroy();
    expect(await shim.code()).toBe(0);
    expect(Date.now() - closed).toBeLessThan(8000);
  });
});

test('in 30 random schedules of pieces, kills and restarts each request is answered exactly once', async () => {
  const seed = Number(process.env['BELFRY_SEED'] ?? Date.now() % 1_000_000_000);
  console.log(`shim schedules: BELFRY_SEED=${seed}`);
  const random = new Random(seed);
  for (let round = 0; round < 30; round += 1) {
    const onLine = (line: string, socket: Socket) => {
      const { id } = parse(line);
      if (id === undefined || random.chance(0.2)) return;
      const text = `${random.chance(0.3) ? '{"method":"n"}\n' : ''}{"id":${JSON.stringify(id)},"result":"${'r'.repeat(random.chance(0.05) ? 300_000 : random.between(0, 2000))}"}\n`;
      const at = random.between(0, text.length);
      socket.write(text.slice(0, at));
      if (random.chance(0.03)) socket.destroy();
      else socket.write(text.slice(at));
    };
    await startEngine(onLine);
    const shim = startShim();
    const sent: unknown[] = [];
    const say = (id: unknown, size: number) => {
      sent.push(id);
      return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"x","params":"${'p'.repeat(size)}"}\n`;
    };
    let text = initialize;
    sent.push('i');
    for (let i = 0; i < 60; i += 1) {
      text += random.chance(0.2) ? '{"method":"notifications/x"}\n\n' : say(random.chance(0.5) ? i : `s${i}é`, random.chance(0.02) ? 1_100_000 : random.chance(0.1) ? 40_000 : random.between(0, 500));
      if (random.chance(0.1)) {
        const bytes = Buffer.from(text);
        for (let at = 0; at < bytes.length;) {
          const size = random.pick([1, 7, 100, 30_000, 70_000]);
          shim.process.stdin!.write(bytes.subarray(at, at + size));
          at += size;
          if (random.chance(0.2)) await pause(random.between(0, 2));
          if (bytes.length > 50_000 && at > 3000) {
            shim.process.stdin!.write(bytes.subarray(at));
            break;
          }
        }
        text = '';
      }
      if (random.chance(0.05)) {
        await engine.die();
        await pause(random.between(0, 30));
        await restart(onLine);
      }
    }
    // The last engine answers everything that is asked of it; what the others kept to themselves is answered at their end.
    shim.write(text);
    await pause(50);
    await engine.die();
    await restart(answerAll);
    shim.write(say('last', 1));
    const answered = () => shim.lines.map(parse).filter((line) => 'id' in line);
    await expect.poll(() => answered().length, { timeout: 60_000, message: `seed ${seed}, round ${round}` }).toBeGreaterThanOrEqual(sent.length);
    await pause(20);
    expect(answered().map(({ id }) => String(id)).sort(), `seed ${seed}, round ${round}`).toEqual(sent.map(String).sort());
    shim.process.stdin!.end();
    expect(await shim.code()).toBe(0);
  }
}, 120_000);
