import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CODE, MAIL, mailArgs } from './conformance-kit.ts';
import { headersOf, streamOf } from './http-client.ts';
import { modernMeta } from './raw-client.ts';
import { rawHttp, statusOf, type RawOptions } from './raw-http.ts';
import { startWorld, type World } from './world.ts';

let world: World;
let url: URL;
beforeAll(async () => {
  world = await startWorld({ http: true });
  url = new URL(world.engine.http.state.url!);
});
afterAll(async () => {
  // After all of it there is no fault of ours in the log, and a client is served as before.
  expect(world.log.filter((line) => line.startsWith('http:'))).toEqual([]);
  expect((await world.httpClient('test-last').ask('events/list')).status).toBe(200);
  await world[Symbol.asyncDispose]();
});

const raw = (bytes: string | readonly (string | Buffer)[], options: RawOptions = {}) => rawHttp(url, bytes, options);

const LIST = { jsonrpc: '2.0', id: 1, method: 'events/list', params: { _meta: modernMeta } };
const listBody = JSON.stringify(LIST);
/** Lines of a good request; a value of null leaves one out. */
function head(changes: Readonly<Record<string, string | null>> = {}, line = 'POST /mcp HTTP/1.1'): string {
  const headers = {
    host: url.host, authorization: 'Bearer test-raw', 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headersOf('events/list', {}),
    'content-length': String(listBody.length), ...changes,
  };
  return `${[line, ...Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]))].join('\r\n')}\r\n\r\n`;
}
const CLOSE = { connection: 'close' };

describe('where a request comes from', () => {
  test.each([
    ['another machine', { host: 'evil.example' }], ['a name that begins like ours', { host: '127.0.0.1.evil.example' }], ['another machine with our port', { host: 'evil.example:80' }],
    ['a foreign page', { origin: 'https://evil.example' }], ['a page that hides where it is from', { origin: 'null' }], ['a page of a file', { origin: 'file://' }],
    ['a page of a name that begins like ours', { origin: 'http://localhost.evil.example' }],
  ])('%s is 403', async (_what, changes) => {
    expect(statusOf(await raw(head({ ...CLOSE, ...changes }) + listBody))).toBe(403);
  });
  test('no Host at all is 400', async () => {
    expect(statusOf(await raw(head({ ...CLOSE, host: null }) + listBody))).toBe(400);
  });
  test.each(['localhost', '127.0.0.1', '[::1]'])('the name %s of this machine is served, with any port', async (name) => {
    for (const host of [name, `${name}:1`]) expect(statusOf(await raw(head({ ...CLOSE, host }) + listBody)), host).toBe(200);
  });
  test('a page of this machine is told what it may send and read', async () => {
    const client = world.httpClient('test-page');
    for (const origin of ['http://localhost:5173', 'http://127.0.0.1', 'http://[::1]:8080']) {
      const preflight = await client.post(null, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization', authorization: undefined, 'content-type': undefined } });
      expect(preflight.status).toBe(204);
      expect(preflight.headers).toMatchObject({ 'access-control-allow-origin': origin, 'access-control-allow-methods': 'POST', vary: 'Origin' });
      expect(preflight.headers['access-control-allow-headers']!.split(', ').sort()).toEqual(['accept', 'authorization', 'content-type', 'mcp-method', 'mcp-name', 'mcp-protocol-version']);
      const answer = await client.ask('events/list', {}, { headers: { origin } });
      expect(answer.status).toBe(200);
      expect(answer.headers['access-control-allow-origin']).toBe(origin);
    }
    const foreign = await client.post(null, { method: 'OPTIONS', headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' } });
    expect(foreign.status).toBe(403);
    expect(foreign.headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe('method, path and form', () => {
  test.each(['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'])('%s is 405 with Allow: POST', async (method) => {
    const answer = await world.httpClient().post(null, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers['allow']).toBe('POST');
    expect(answer.headers).not.toHaveProperty('mcp-session-id');
  });
  test.each(['/', '/mcp/', '/mcp/x', '/MCP', '//mcp', '/%6dcp', '/sse', '/.well-known/other'])('the path %s is 404', async (path) => {
    expect((await world.httpClient().post(listBody, { path })).status).toBe(404);
  });
  test('a target for a proxy is 404, and CONNECT gets nothing', async () => {
    expect(statusOf(await raw(head(CLOSE, `POST http://${url.host}/mcp HTTP/1.1`) + listBody))).toBe(404);
    expect(await raw(`CONNECT ${url.host} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`)).toBe('');
  });
  test.each([
    ['no type', { 'content-type': undefined }], ['text', { 'content-type': 'text/plain' }], ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['parts', { 'content-type': 'multipart/form-data; boundary=x' }], ['a type that begins like ours', { 'content-type': 'application/jsonp' }], ['packed', { 'content-encoding': 'gzip' }],
  ])('%s is 415', async (_what, headers) => {
    expect((await world.httpClient().ask('events/list', {}, { headers })).status).toBe(415);
  });
  test('a charset beside the type is no other type', async () => {
    expect((await world.httpClient().ask('events/list', {}, { headers: { 'content-type': 'application/json; charset=utf-8' } })).status).toBe(200);
  });
  test('a session id and an event id of older servers are not looked at', async () => {
    const answer = await world.httpClient().ask('events/list', {}, { headers: { 'mcp-session-id': 'x', 'last-event-id': '7' } });
    expect(answer.status).toBe(200);
    expect(answer.headers).not.toHaveProperty('mcp-session-id');
  });
});

describe('who asks', () => {
  test.each([
    ['no token', undefined, false], ['a wrong one', 'Bearer nobody-s', true], ['another scheme', 'Basic dGVzdDp0ZXN0', false],
    ['a token without its scheme', 'test-raw', false], ['no token behind the scheme', 'Bearer ', false], ['two words', 'Bearer test-raw test-raw', false],
  ])('%s is 401 with a challenge that says where to ask for one', async (_what, authorization, isWrong) => {
    const answer = await world.httpClient(null).post(listBody, { headers: { authorization } });
    expect(answer.status).toBe(401);
    const challenge = answer.headers['www-authenticate']!;
    expect(challenge).toMatch(/^Bearer /);
    expect(challenge).toContain(`resource_metadata="${url.origin}/.well-known/oauth-protected-resource/mcp"`);
    // RFC 6750, 3.1: no error code for a request that brought no token.
    expect(challenge.includes('error="invalid_token"')).toBe(isWrong);
    expect(answer.message).toMatchObject({ error: 'invalid_token' });
  });
  test('a token in the address is refused with a sentence, also beside a good one', async () => {
    for (const path of ['/mcp?access_token=test-raw', '/mcp?a=1&token=test-raw']) {
      for (const authorization of [undefined, 'Bearer test-raw']) {
        const answer = await world.httpClient(null).post(listBody, { path, headers: { authorization } });
        expect(answer.status).toBe(400);
        expect(answer.message!['error']['message']).toContain('Authorization header');
        expect(answer.text).not.toContain('test-raw');
      }
    }
  });
  test('a header that decides may be there only once', async () => {
    for (const twice of [`Authorization: Bearer test-raw`, `Host: ${url.host}`, 'Origin: http://localhost', 'Mcp-Method: events/poll', 'Content-Type: text/plain']) {
      const text = await raw(head({ ...CLOSE, origin: 'http://localhost' }).replace('\r\n\r\n', `\r\n${twice}\r\n\r\n`) + listBody);
      expect(statusOf(text), twice).toBe(400);
    }
  });
});

describe('the body', () => {
  const refused = async (body: string | Buffer, status: number, code: number) => {
    const answer = await world.httpClient('test-body').post(body, { headers: headersOf('events/list', {}) });
    expect(answer, String(body).slice(0, 60)).toMatchObject({ status, message: { jsonrpc: '2.0', error: { code } } });
    return answer;
  };
  test('what is no JSON-RPC message is 400', async () => {
    for (const body of ['', '{', 'x', '{"jsonrpc":"2.0",}', Buffer.from([0x7b, 0xff, 0x7d])]) await refused(body, 400, body instanceof Buffer ? CODE.invalidRequest : CODE.parse);
    for (const body of ['null', '7', '"text"', '{}', '{"jsonrpc":"1.0","id":1,"method":"events/list"}', '{"jsonrpc":"2.0","id":null,"method":"events/list"}', '{"jsonrpc":"2.0","id":1.5,"method":"events/list"}', '{"jsonrpc":"2.0","id":1,"method":7}', '{"jsonrpc":"2.0","id":1,"method":"events/list","params":[]}']) await refused(body, 400, CODE.invalidRequest);
  });
  test('a batch is 400, in both eras and also an empty one', async () => {
    const legacy = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    for (const body of ['[]', `[${listBody}]`, `[${legacy},${legacy}]`]) await refused(body, 400, CODE.invalidRequest);
  });
  test('an answer is 400: nothing was asked', async () => {
    await refused('{"jsonrpc":"2.0","id":1,"result":{}}', 400, CODE.invalidRequest);
  });
  test('a notification is 202 without a body', async () => {
    for (const body of [{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1, _meta: modernMeta } }, { jsonrpc: '2.0', method: 'notifications/initialized' }]) {
      const modern = 'params' in body;
      const answer = await world.httpClient().post(JSON.stringify(body), { headers: modern ? headersOf(body.method, {}) : {} });
      expect([answer.status, answer.text]).toEqual([202, '']);
    }
  });
  test('nesting without end is refused or answered, and harms nobody', async () => {
    const deep = `{"jsonrpc":"2.0","id":1,"method":"events/list","params":{"_meta":${JSON.stringify(modernMeta)},"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`;
    expect([200, 400]).toContain((await world.httpClient().post(deep, { headers: headersOf('events/list', {}) })).status);
  });
  test('over 1 MiB is 413: announced, and in chunks that announce nothing', async () => {
    const big = Buffer.alloc(1024 * 1024 + 1, 0x20);
    expect((await world.httpClient().post(big)).status).toBe(413);
    const announced = await raw([head({ 'content-length': '999999999' })], { enough: (text) => text.includes('1048576') });
    expect(statusOf(announced)).toBe(413);
    const chunks = Array.from({ length: 20 }, () => `10000\r\n${' '.repeat(65_536)}\r\n`);
    expect(statusOf(await raw([head({ 'content-length': null, 'transfer-encoding': 'chunked' }), ...chunks], { enough: (text) => text.includes('1048576') }))).toBe(413);
  });
  test('exactly 1 MiB is read', async () => {
    const { length } = JSON.stringify({ ...LIST, x: '' });
    expect((await world.httpClient().post(JSON.stringify({ ...LIST, x: ' '.repeat(1024 * 1024 - length) }), { headers: headersOf('events/list', {}) })).status).not.toBe(413);
  });
});

describe('lengths that lie and requests within requests', () => {
  test.each([
    ['a length and chunks at once', () => head({ 'transfer-encoding': 'chunked' }) + `0\r\n\r\n${listBody}`],
    ['two lengths', () => head().replace('\r\n\r\n', '\r\ncontent-length: 5\r\n\r\n') + listBody],
    ['a length with a sign', () => head({ 'content-length': '+5' }) + listBody],
    ['a length that is no number', () => head({ 'content-length': '5, 5' }) + listBody],
    ['a negative length', () => head({ 'content-length': '-1' }) + listBody],
    ['chunks that are no last coding', () => head({ 'content-length': null, 'transfer-encoding': 'chunked, identity' }) + `0\r\n\r\n`],
    ['an unknown coding', () => head({ 'content-length': null, 'transfer-encoding': 'xchunked' }) + `0\r\n\r\n`],
    ['a space before the colon', () => head().replace('content-length:', 'content-length :') + listBody],
    ['a folded header', () => head().replace('\r\n\r\n', '\r\nx: a\r\n b\r\n\r\n') + listBody],
    ['a zero byte in a header', () => head({ x: 'a\0b' }) + listBody],
    ['a size of a chunk that is no number', () => head({ 'content-length': null, 'transfer-encoding': 'chunked' }) + `zz\r\n${head()}\r\n0\r\n\r\n`],
    ['no version of HTTP', () => head({}, 'POST /mcp') + listBody],
    ['the greeting of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['no HTTP at all', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ])('%s ends the connection with 400', async (_what, bytes) => {
    const text = await raw(bytes());
    expect(statusOf(text)).toBe(400);
    expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });
  test('less than was sent is the body: the rest is no request, and ends the connection', async () => {
    const text = await raw(head({ 'content-length': String(listBody.length) }) + listBody + listBody);
    // The first may have been answered before, or be cut off by it.
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status).at(-1)).toBe('400');
  });
  test('more is announced than comes: given up within the time for a request', { timeout: 60_000 }, async () => {
    const text = await raw(head({ 'content-length': '5000' }) + listBody, { ms: 50_000 });
    expect(statusOf(text)).toBe(408);
  });
  test('no header is left out unsaid: the Origin of a foreign page counts behind a thousand others', async () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, nth) => [`x${nth}`, '1']));
    expect(statusOf(await raw(head({ ...CLOSE, ...many, origin: 'https://evil.example' }) + listBody))).toBe(403);
  });
  test('headers past 16 KiB are 431', async () => {
    expect(statusOf(await raw(head({ x: 'a'.repeat(20_000) }) + listBody))).toBe(431);
  });
});

describe('many and slow', () => {
  test('headers that drip are given up, and keep nobody out', { timeout: 60_000 }, async () => {
    const sockets = Array.from({ length: 600 }, () => {
      const socket = connect(Number(url.port), url.hostname);
      socket.on('error', () => undefined);
      socket.write('POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n');
      return socket;
    });
    const drips = setInterval(() => {
      for (const socket of sockets) if (!socket.destroyed) socket.write('X: y\r\n');
    }, 200);
    const ends = Promise.all(sockets.map((socket) => new Promise<void>((resolve) => {
      socket.on('close', () => resolve());
      socket.resume();
    })));
    const client = world.httpClient('test-known');
    for (let asked = 0; asked < 20; asked += 1) expect((await client.ask('events/list')).status).toBe(200);
    await ends;
    clearInterval(drips);
  });
  test('two hundred that come in one moment, and ask in the next, are all answered', async () => {
    const sockets = Array.from({ length: 200 }, () => connect(Number(url.port), url.hostname));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    // They are taken in order: now all of them were, and nobody is named on any.
    expect((await world.httpClient('test-behind').ask('events/list')).status).toBe(200);
    const answers = await Promise.all(sockets.map(async (socket, nth) => {
      socket.write(head({ authorization: `Bearer test-crowd-${nth % 20}`, 'content-length': String(Buffer.byteLength(listBody)), connection: 'close' }) + listBody);
      return String((await once(socket, 'data'))[0]).slice(0, 12);
    }));
    for (const socket of sockets) socket.destroy();
    expect(new Set(answers)).toEqual(new Set(['HTTP/1.1 200']));
  });
  test('too many at once are 429 with Retry-After, for this credential alone', async () => {
    const client = world.httpClient('test-busy');
    const answers = await Promise.all(Array.from({ length: 12 }, async () => {
      const statuses: number[] = [];
      for (let asked = 0; asked < 60; asked += 1) {
        const { status, headers } = await client.ask('events/list');
        statuses.push(status);
        if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      }
      return statuses;
    }));
    const statuses = answers.flat();
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(400);
    expect(statuses.every((status) => status === 200 || status === 429)).toBe(true);
    expect((await world.httpClient('test-calm').ask('events/list')).status).toBe(200);
  });
  test('guesses of tokens are 429 after a while; who holds one is served on', async () => {
    await using other = await startWorld({ http: true });
    const guess = (nth: number) => other.httpClient(`guess-${nth}`).post(listBody);
    const statuses: number[] = [];
    for (let nth = 0; nth < 80; nth += 1) statuses.push((await guess(nth)).status);
    expect(statuses.slice(0, 50)).toEqual(Array.from({ length: 50 }, () => 401));
    expect(statuses).toContain(429);
    expect((await other.httpClient('test-holder').ask('events/list')).status).toBe(200);
  });
  test('requests of one credential that are open at once have a limit, bodies that never end among them', async () => {
    const sockets = Array.from({ length: 64 }, () => {
      const socket = connect(Number(url.port), url.hostname);
      socket.on('error', () => undefined);
      socket.write(head({ authorization: 'Bearer test-open', 'content-length': '1000' }));
      return socket;
    });
    const client = world.httpClient('test-open');
    await expect.poll(async () => (await client.ask('events/list')).status, { timeout: 20_000 }).toBe(429);
    expect((await world.httpClient('test-other').ask('events/list')).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await client.ask('events/list')).status, { timeout: 20_000 }).toBe(200);
  });
});

describe('Accept', () => {
  test.each(['application/json', 'application/json, text/event-stream;q=0', 'text/*;q=0, application/json', 'text/html'])('a stream for "%s" is 406', async (accept) => {
    const answer = await world.httpClient('test-accept').ask('events/stream', { name: MAIL, arguments: mailArgs }, { headers: { accept } });
    expect(answer).toMatchObject({ status: 406, message: { id: expect.any(Number), error: { message: 'Accept: must admit text/event-stream' } } });
    expect((await world.httpClient('test-accept').ask('subscriptions/listen', { notifications: { toolsListChanged: true } }, { headers: { accept } })).status).toBe(406);
  });
  test.each(['*/*', 'text/*', 'text/event-stream;q=0.1', undefined])('a stream for "%s" opens', async (accept) => {
    streamOf(await world.httpClient('test-accepts').listen('events/stream', { name: MAIL, arguments: mailArgs }, { headers: { accept } })).close();
  });
  test('progress is left out for a client that takes no stream', async () => {
    const client = world.httpClient('test-plain');
    await client.request('tools/call', { name: 'watch_events', arguments: { event: MAIL, arguments: mailArgs } });
    const call = { name: 'wait_for_events', arguments: { timeoutSeconds: 1 }, _meta: { ...modernMeta, progressToken: 'p' } };
    const plain = await client.ask('tools/call', call, { headers: { accept: 'application/json' } });
    expect(plain.headers['content-type']).toBe('application/json');
    const streamed = streamOf(await client.listen('tools/call', call));
    expect((await streamed.until(() => true)).message).toMatchObject({ method: 'notifications/progress', params: { progressToken: 'p', progress: 0, total: 1 } });
    await streamed.until(({ message }) => 'result' in message);
  });
});
