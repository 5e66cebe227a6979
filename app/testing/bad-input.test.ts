import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADA, bootstrap, CODE, errorOf, MAIL, mailArgs, MESSAGES, messagesArgs, quiet, ring, subjects } from './conformance-kit.ts';
import { modernMeta, type RawClient } from './raw-client.ts';
import { startWorld, type World } from './world.ts';

/* What a peer may send wrong: a sentence that names the field and the rule, or silence; and another client goes on. */

let world: World;
let witness: RawClient;
let rings = 0;
beforeAll(async () => {
  world = await startWorld();
  witness = world.client();
  await witness.stream(MAIL, mailArgs, {}, 'witness');
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});
/** Another client still gets an event. */
const othersGoOn = async (): Promise<void> => {
  rings += 1;
  const subject = `Witness ${rings}`;
  await ring(world, subject);
  // By its name: what other cases wrote before may still be on its way to the witness.
  await witness.until(({ message }) => message['params']?.data?.subject === subject);
};
const line = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const list = { method: 'events/list', params: { _meta: modernMeta } };
/** The answers to what is written, up to that of a good request behind it. */
const answersTo = async (written: string): Promise<Record<string, any>[]> => {
  const client = world.client();
  await client.request('events/list');
  const from = client.frames.length;
  client.write(written);
  await client.request('events/list', {}, 'end');
  return client.frames.slice(from).map((frame) => frame.message).filter((message) => message['id'] !== 'end');
};

describe('lines', () => {
  const rows: [what: string, written: string, code: number | null, says: string, id?: unknown][] = [
    ['text that is no JSON', 'GET / HTTP/1.1\n', CODE.parse, 'JSON'],
    ['half an object', '{"jsonrpc":"2.0","id":1,\n', CODE.parse, 'JSON'],
    ['bytes that are no UTF-8 text of JSON', '\u0000\u0001\n', CODE.parse, 'JSON'],
    ['empty lines', '\n\n  \n', null, ''],
    ['a batch', `[${line({ id: 1, ...list }).trim()}]\n`, CODE.invalidRequest, 'object'],
    ['a bare number', '7\n', CODE.invalidRequest, 'object'],
    ['a bare null', 'null\n', CODE.invalidRequest, 'object'],
    ['no jsonrpc', '{"id":1,"method":"events/list"}\n', CODE.invalidRequest, 'jsonrpc', 1],
    ['a method of wrong type', line({ id: 1, method: 7 }), CODE.invalidRequest, 'method', 1],
    ['no method', line({ id: 1 }), CODE.invalidRequest, 'method', 1],
    ['an answer that nobody asked for', line({ id: 1, result: {} }), null, ''],
    ['params as array', line({ id: 1, method: 'events/list', params: [1] }), CODE.invalidRequest, 'params', 1],
    ['params as text', line({ id: 1, method: 'events/list', params: 'x' }), CODE.invalidRequest, 'params', 1],
    ['id null', line({ id: null, ...list }), CODE.invalidRequest, 'id'],
    ['id true', line({ id: true, ...list }), CODE.invalidRequest, 'id'],
    ['id 1.5', line({ id: 1.5, ...list }), CODE.invalidRequest, 'id'],
    ['id as array', line({ id: [], ...list }), CODE.invalidRequest, 'id'],
    ['id as object', line({ id: { a: 1 }, ...list }), CODE.invalidRequest, 'id'],
    ['an unknown notification', line({ method: 'notifications/nobody', params: {} }), null, ''],
    ['a cancel of nothing', line({ method: 'notifications/cancelled', params: { requestId: 'nobody' } }), null, ''],
    ['a cancel without params', line({ method: 'notifications/cancelled' }), null, ''],
    ['a line of 10 MB', `{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(10 * 1024 * 1024)}"}\n`, CODE.invalidRequest, '1048576'],
  ];
  for (const [what, written, code, says, id] of rows) {
    test(`${what}: ${code === null ? 'silence' : `${code}, "${says}"`}`, async () => {
      const answers = await answersTo(written);
      if (code === null) expect(answers).toEqual([]);
      else {
        expect(answers).toHaveLength(1);
        expect(errorOf(answers[0]!)).toMatchObject({ code, message: expect.stringContaining(says) });
        if (id !== undefined) expect(answers[0]!['id']).toBe(id);
        if (says === '1048576') expect(errorOf(answers[0]!).data).toEqual({ maxBytes: 1_048_576 });
      }
      await othersGoOn();
    });
  }
  test('ids that are good: 0, negative, the largest, empty and odd strings come back as they are', async () => {
    for (const id of [0, -1, Number.MAX_SAFE_INTEGER, '', '0', 'a"b\\c\u2028', '\u202e', 'x'.repeat(1000)]) {
      const client = world.client();
      expect((await client.request('events/list', {}, id))['id']).toBe(id);
      await client.end();
    }
  });
});

describe('requests', () => {
  const many = Array.from({ length: 10_000 }, (_, index) => `a${index}@example.org`);
  const rows: [what: string, params: object, says: string][] = [
    ['10,000 filter entries', { arguments: { from: many } }, 'arguments.from'],
    ['an empty array', { arguments: { from: [] } }, 'arguments.from'],
    ['an empty entry', { arguments: { from: [''] } }, 'arguments.from[0]'],
    ['an entry that is no sender, its position', { arguments: { from: ['ada@example.org', 'not a sender'] } }, 'arguments.from[1]'],
    ['an entry of 5,000 characters', { arguments: { from: [`${'a'.repeat(5000)}@example.org`] } }, 'arguments.from[0]'],
    ['NUL in an entry', { arguments: { from: ['ada\u0000@example.org'] } }, 'arguments.from[0]'],
    ['an unknown field', { arguments: { ...mailArgs, sender: 'x' } }, 'sender'],
    ['__proto__ as a field', { arguments: JSON.parse('{"domains":["example.org"],"__proto__":{"x":1}}') as object }, '__proto__'],
    ['arguments as array', { arguments: [mailArgs] }, 'arguments'],
    ['arguments null', { arguments: null }, 'arguments'],
    ['an unknown mailbox', { arguments: { ...mailArgs, mailboxes: ['\u202eXOBNI'] } }, 'mailboxes'],
    ['a cursor with NUL', { arguments: mailArgs, cursor: 'v1.1-1.1.0000000\u0000' }, 'cursor'],
    ['a cursor of wrong type', { arguments: mailArgs, cursor: { v: 1 } }, 'cursor'],
  ];
  for (const [what, params, says] of rows) {
    test(`${what}: -32602 that names ${says}, by poll and by stream`, async () => {
      const client = world.client();
      for (const answer of [await client.request('events/poll', { name: MAIL, ...params }), await client.stream(MAIL, mailArgs, params)]) {
        expect(errorOf(answer)).toMatchObject({ code: CODE.invalidParams, message: expect.stringContaining(says) });
        expect(errorOf(answer).message).not.toContain('\u0000');
      }
      await othersGoOn();
    });
  }
  test('unknown methods: -32601', async () => {
    const client = world.client();
    for (const method of ['events/nothing', 'events', 'no/such', '', '__proto__', 'constructor', 'x'.repeat(10_000)]) {
      expect(errorOf(await client.request(method)).code, method.slice(0, 20)).toBe(CODE.methodNotFound);
    }
    await othersGoOn();
  });
  test('a cursor of the other store: a gap, never an error', async () => {
    const client = world.client();
    const { result } = await client.request('events/poll', { name: MAIL, arguments: mailArgs, cursor: await bootstrap(client, MESSAGES, messagesArgs) });
    expect(result).toMatchObject({ events: [], truncated: true, cursor: expect.any(String) });
  });
  test('a live id used twice: the second is refused, the first unharmed; cancelled twice: silence', async () => {
    const client = world.client();
    await client.stream(MAIL, mailArgs, {}, 1);
    client.send({ id: 1, method: 'events/list', params: { _meta: modernMeta } });
    expect(errorOf((await client.until((frame) => frame.message['id'] === 1)).message)).toMatchObject({ code: CODE.invalidRequest, message: expect.stringContaining('id') });
    await othersGoOn();
    await client.untilEvents(1, 1);
    const from = client.frames.length;
    for (let times = 0; times < 2; times += 1) client.notify('notifications/cancelled', { requestId: 1 });
    await client.request('events/list', {}, 'end');
    expect(client.frames.slice(from)).toHaveLength(1);
    // The id is free again.
    expect(await client.stream(MAIL, mailArgs, {}, 1)).toHaveProperty('method');
  });
});

describe('peers that go or stay', () => {
  test('stdin closed in the middle of a line: exit 0, nothing answered', async () => {
    const client = world.client();
    await client.request('events/list');
    client.write('{"jsonrpc":"2.0","id":2,"method":"events/li');
    expect(await client.end()).toBe(0);
    expect(client.frames).toHaveLength(1);
    await othersGoOn();
  });
  test('half a line, then killed', async () => {
    const client = world.client();
    await client.stream(MAIL, mailArgs, {}, 1);
    client.write('{"jsonrpc":"2.0","id":2,"method":"events/po');
    const exit = once(client.process, 'exit');
    client.process.kill('SIGKILL');
    await exit;
    await othersGoOn();
  });
  test('a client that never reads slows only itself, and gets everything in order once it reads', { timeout: 60_000 }, async () => {
    const [slow, fast] = [world.client(), world.client()];
    for (const client of [slow, fast]) await client.stream(MAIL, mailArgs, {}, 1);
    slow.process.stdout!.pause();
    const count = 4000;
    const expected = Array.from({ length: count }, (_, index) => `Flood ${index} ${'x'.repeat(200)}`);
    for (let index = 0; index < count; index += 200) {
      await world.writer.mail.arriveMany(expected.slice(index, index + 200).map((subject) => ({ from: ADA, subject, file: false, summary: null })));
    }
    expect(subjects(await fast.untilEvents(count, 1, 30_000))).toEqual(expected);
    expect(slow.events(1).length).toBeLessThan(count);
    await othersGoOn();
    slow.process.stdout!.resume();
    expect(subjects(await slow.untilEvents(count + 1, 1, 30_000)).slice(0, count)).toEqual(expected);
  });
  test('200 peers that connect and say nothing: a new client comes in and gets events', async () => {
    const silent: Socket[] = [];
    try {
      for (let index = 0; index < 200; index += 1) {
        const socket = connect(world.engine.socketPath);
        socket.on('error', () => undefined);
        socket.resume();
        silent.push(socket);
      }
      await once(silent.at(-1)!, 'connect');
      const client = world.client();
      await client.stream(MAIL, mailArgs, {}, 1);
      await othersGoOn();
      expect(await client.untilEvents(1, 1)).toHaveLength(1);
    } finally {
      for (const socket of silent) socket.destroy();
    }
  });
  test('a peer whose first line is no handshake gets one sentence and is closed', async () => {
    for (const first of ['GET / HTTP/1.1\r\n', '{}\n', '[]\n', 'null\n', '{"protocol":99,"version":"9","mode":"mcp"}\n', `${'x'.repeat(70_000)}\n`]) {
      const socket = connect(world.engine.socketPath);
      socket.on('error', () => undefined);
      let heard = '';
      socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
      socket.write(first);
      await once(socket, 'close');
      expect(heard, first.slice(0, 20)).toMatch(/^error [A-Z].*\.\n$/);
    }
    await othersGoOn();
  });
  test('a peer past the shim sends a line over 1 MiB: -32600 with the limit, the rest skipped, the connection lives', async () => {
    const socket = connect(world.engine.socketPath);
    let heard = '';
    socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
    socket.write('{"protocol":1,"version":"1","mode":"mcp","label":null}\n');
    socket.write(`{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(3 * 1024 * 1024)}"}\n${line({ id: 2, ...list })}`);
    await expect.poll(() => heard.trim().split('\n').length).toBe(3);
    const [ok, refused, answer] = heard.trim().split('\n');
    expect(ok).toMatch(/^ok( |$)/);
    expect(JSON.parse(refused!)).toMatchObject({ id: null, error: { code: CODE.invalidRequest, data: { maxBytes: 1_048_576 } } });
    expect(JSON.parse(answer!)).toMatchObject({ id: 2, result: { events: { length: 2 } } });
    socket.destroy();
    await quiet(10);
    await othersGoOn();
  });
});

test('nothing of it reached the log as a fault, and the engine never stopped', () => {
  expect(world.fatal).toEqual([]);
  expect(world.log.filter((entry) => /fault|TypeError|Error:/.test(entry))).toEqual([]);
});
