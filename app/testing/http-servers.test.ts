import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPage, type Page } from '../engine/page.ts';
import { systemClock } from '../events/clock.ts';
import { LAB_DEFAULTS } from '../probe/lab/options.ts';
import { runLab } from '../probe/lab/lab.ts';
import { signIn } from './page-client.ts';
import { rawHttp, statusOf } from './raw-http.ts';
import { startWorld, type World } from './world.ts';

/** Each HTTP server that we run, and what it logs: a request that no client of its would send is answered, and ends nothing. */
let world: World;
let page: Page;
let cookie: string;
const evidence: string[] = [];
const stop = new AbortController();
let lab: Promise<void>;
const urls: Record<string, URL> = {};
beforeAll(async () => {
  world = await startWorld({ http: true });
  mkdirSync(world.folder.at('page'));
  writeFileSync(world.folder.at('page', 'index.html'), '<!doctype html>');
  page = await startPage(world.engine, { port: 0, folder: world.folder.at('page'), wiring: { home: world.folder.at('home') }, usualFolder: false });
  ({ cookie } = await signIn(page.address));
  const stdout = new PassThrough();
  lab = runLab({ ...LAB_DEFAULTS, port: 0 }, { clock: systemClock, version: '0', stdin: new PassThrough(), stdout, evidence: (line) => evidence.push(line), interrupt: stop.signal });
  const [line] = (await once(stdout, 'data')) as [Buffer];
  urls['lab'] = new URL(line.toString().trim().split(' ')[1]!);
  urls['page'] = new URL('/', page.address);
  urls['mcp'] = new URL(world.engine.http.state.url!);
});
afterAll(async () => {
  stop.abort();
  await lab;
  await page.close();
  await world[Symbol.asyncDispose]();
});

/** A request for a target; the page's with and without its cookie. */
const requests = (server: string, target: string | Buffer, method = 'GET', more = ''): Buffer[] => {
  const { host, origin } = urls[server]!;
  const of = (extra: string) => Buffer.concat([Buffer.from(`${method} `), Buffer.from(target), Buffer.from(` HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${origin}\r\nConnection: close\r\n${extra}${more}\r\n`)]);
  return server === 'page' ? [of(''), of(`Cookie: ${cookie}\r\n`)] : [of(''), of('Authorization: Bearer test-raw\r\n')];
};
/** That it still answers, and had no fault of its own. */
async function expectWell(server: string): Promise<void> {
  const path = { lab: '/healthz', page: '/favicon.ico', mcp: '/.well-known/oauth-authorization-server' }[server]!;
  expect((await fetch(new URL(path, urls[server]))).ok).toBe(true);
  expect(world.log.filter((line) => /^(?:http|page|sign-in):/.test(line))).toEqual([]);
  expect(evidence.filter((line) => line.includes('failed'))).toEqual([]);
}

const TARGETS: readonly (readonly [string, string | Buffer])[] = [
  ['two slashes', '//'], ['three slashes', '///'], ['a host behind two slashes', '//evil.example/'], ['a host and a port that is none', '//a:b/'], ['a bracket behind two slashes', '//['],
  ['a backslash', '/\\'], ['two backslashes', '\\\\'], ['a backslash and a slash', '/\\/'], ['a host behind a slash and a backslash', '/\\['],
  ['a whole address that is none', 'http://['], ['a whole address', 'http://evil.example/'], ['one without a host', 'http://'], ['another scheme', 'file:///etc/passwd'], ['a star', '*'], ['no path', 'x'], ['a query alone', '?code=x'],
  ['a percent sign', '/%'], ['half a sequence', '/%f'], ['a sequence that is no UTF-8', '/%ff'], ['half a surrogate', '/%ed%a0%80'], ['zero, encoded', '/%00'], ['a slash, encoded', '/%2f%2f'], ['up, encoded', '/%2e%2e/%2e%2e/'],
  ['zero', '/\0'], ['a byte that is no UTF-8', Buffer.from([0x2f, 0xff])], ['half a surrogate in bytes', Buffer.from([0x2f, 0xed, 0xa0, 0x80])], ['a tab', '/\t'], ['a space', '/a b'],
  ['a bad sequence in the query', '/?code=%ff%&session=%'], ['names of an object', '/__proto__?__proto__=1&constructor=1'], ['a fragment', '/#//'],
  ['a path of 64 KB', `/${'a'.repeat(65_536)}`], ['15 KB of slashes', '/'.repeat(15_000)], ['15 KB of percent signs', `/${'%'.repeat(15_000)}`], ['15 KB of parts', `/${'../'.repeat(5000)}`], ['nothing', ''],
];
const PLACES = ['', '/bridge', '/oauth/authorize', '/oauth/wait', '/.well-known/oauth-protected-resource'];

describe.each(['page', 'mcp', 'lab'])('the server of %s', (server) => {
  test.each(TARGETS)('answers a target of %s', async (_what, target) => {
    for (const method of ['GET', 'POST', 'OPTIONS', 'HEAD']) {
      for (const bytes of requests(server, target, method, method === 'POST' ? 'Content-Type: application/json\r\nContent-Length: 0\r\n' : '')) {
        // A path of 64 KB may be cut off before the answer is read.
        const text = await rawHttp(urls[server]!, [bytes]);
        if (target.length < 20_000) expect(statusOf(text), `${method}: ${text.slice(0, 200)}`).toBeGreaterThanOrEqual(200);
        expect(text).not.toMatch(/^HTTP\/1\.1 5/);
        expect(text).not.toMatch(/\n\s+at |ERR_|TypeError/);
      }
    }
    await expectWell(server);
  });

  test('answers paths of ours with queries that are none', async () => {
    for (const place of PLACES) {
      for (const query of ['?%', '?%ff=%ff', '?id=%00&session=%ed%a0%80', '?client_id[]=1&redirect_uri=http://[', '?redirect_uri=%&state=%ff', '?&&&===', '?__proto__=1']) {
        for (const bytes of requests(server, (place === '' ? urls[server]!.pathname : place) + query)) {
          const text = await rawHttp(urls[server]!, [bytes], { enough: (got) => got.includes('\r\n\r\n') });
          expect(statusOf(text), text.slice(0, 200)).toBeLessThan(500);
        }
      }
    }
    await expectWell(server);
  });

  test.each([
    ['no host', 'GET / HTTP/1.1\r\n\r\n'], ['an empty host', 'GET / HTTP/1.1\r\nHost:\r\n\r\n'], ['a host of brackets', 'GET // HTTP/1.1\r\nHost: [\r\n\r\n'], ['a host twice', 'GET / HTTP/1.1\r\nHost: HOST\r\nHost: [\r\n\r\n'],
    ['an origin that is no address', 'POST / HTTP/1.1\r\nHost: HOST\r\nOrigin: ://[\r\nContent-Length: 0\r\n\r\n'], ['a cookie that is none', `GET / HTTP/1.1\r\nHost: HOST\r\nCookie: ;;=;belfry=\xff;belfry=%\r\n\r\n`],
    ['a type that is none', 'POST /bridge HTTP/1.1\r\nHost: HOST\r\nOrigin: http://HOST\r\nCookie: COOKIE\r\nContent-Type: ;;;=\r\nContent-Length: 2\r\n\r\n{}'],
    ['headers named as parts of an object', 'GET / HTTP/1.1\r\nHost: HOST\r\n__proto__: x\r\nconstructor: x\r\ntoString: x\r\n\r\n'],
    ['an older version', 'GET // HTTP/1.0\r\nHost: HOST\r\n\r\n'], ['no version', 'GET //\r\n\r\n'], ['a method that is none', 'FROB // HTTP/1.1\r\nHost: HOST\r\n\r\n'],
    ['another protocol behind it', 'GET // HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n'], ['a tunnel', 'CONNECT // HTTP/1.1\r\nHost: HOST\r\n\r\n'],
    ['an expectation', 'POST // HTTP/1.1\r\nHost: HOST\r\nOrigin: http://HOST\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}'], ['an expectation that is none', 'POST / HTTP/1.1\r\nHost: HOST\r\nExpect: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'],
    ['two requests at once', 'GET // HTTP/1.1\r\nHost: HOST\r\n\r\nGET //[ HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n'],
    ['a length that is none', 'POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: x\r\n\r\n'], ['a chunk that is none', 'POST /mcp HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'], ['a greeting of TLS', '\x16\x03\x01\x02\x00\x01'],
  ])('answers or closes on %s', async (_what, text) => {
    const { host } = urls[server]!;
    const got = await rawHttp(urls[server]!, [Buffer.from(text.replaceAll('HOST', host).replaceAll('COOKIE', cookie), 'latin1')], { enough: (got) => got.includes('\r\n\r\n') });
    expect(got).not.toMatch(/^HTTP\/1\.1 5|\n\s+at |ERR_|TypeError/);
    await expectWell(server);
  });

  const long = { announced: 'Content-Length: 100000000\r\n', chunked: 'Transfer-Encoding: chunked\r\n' };
  const type = 'Content-Type: application/json\r\n';
  const token = 'Authorization: Bearer test-long\r\n';
  const unread: Record<string, readonly (readonly [number, string, string])[]> = {
    mcp: [
      [413, 'POST /mcp', token + type], [401, 'POST /mcp', type], [401, 'POST /mcp', `${type}Authorization: Bearer none\r\n`], [404, 'POST /nowhere', token + type], [404, 'POST //', token + type], [405, 'PUT /mcp', token + type],
      [415, 'POST /mcp', token], [403, 'POST /mcp', `${type}Origin: http://evil.example\r\n`], [413, 'POST /oauth/register', type], [405, 'POST /oauth/authorize', ''], [415, 'POST /oauth/token', type], [400, 'GET /oauth/authorize', ''], [204, 'GET /oauth/wait', ''],
    ],
    page: [[403, 'POST /', 'Origin: OWN\r\n'], [405, 'POST /', 'Origin: OWN\r\nCookie: COOKIE\r\n'], [200, 'GET /', 'Cookie: COOKIE\r\n'], [404, 'GET //', ''], [413, 'POST /bridge', `Origin: OWN\r\nCookie: COOKIE\r\n${type}`], [415, 'POST /bridge', 'Origin: OWN\r\nCookie: COOKIE\r\n']],
    lab: [[404, 'POST /nowhere', ''], [405, 'PUT /mcp', ''], [403, 'POST /mcp', 'Origin: http://evil.example\r\n'], [413, 'POST /mcp', type]],
  };
  test.each(unread[server]!.flatMap(([status, line, headers]) => Object.entries(long).map(([how, length]) => ({ status, line, how, headers: headers + length }))))('answers $status to $line with a long body ($how), closes and reads no more of it', async ({ status, line, how, headers }) => {
    const url = urls[server]!;
    let taken: Socket | null = null;
    const started = (message: unknown) => (taken = (message as { socket: Socket }).socket);
    subscribe('http.server.request.start', started);
    const socket = connect(Number(url.port), url.hostname).on('error', () => undefined);
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    socket.write(`${line} HTTP/1.1\r\nHost: ${url.host}\r\n${headers.replace('OWN', url.origin).replace('COOKIE', cookie)}\r\n`);
    const part = how === 'chunked' ? `10000\r\n${' '.repeat(65_536)}\r\n` : ' '.repeat(65_536);
    const send = () => {
      while (socket.writable && socket.write(part));
    };
    socket.on('drain', send);
    send();
    await new Promise((resolve) => { socket.on('close', resolve); });
    unsubscribe('http.server.request.start', started);
    // The laboratory does not wait for its answer to be taken.
    if (server !== 'lab' || text !== '') expect([statusOf(text), text.toLowerCase().match(/(?<=\n)connection: [^\r]*/g)]).toEqual([status, ['connection: close']]);
    // As much as is wanted of the longest that is, and what had come with it.
    expect(taken!.bytesRead).toBeLessThan((server === 'page' && status === 413 ? 8 : status === 413 ? 1 : 0) * 1024 * 1024 + 400_000);
    await expectWell(server);
  });

  test('hears the next request behind a short body that nobody wanted', async () => {
    if (server === 'lab') return;
    const { host, origin } = urls[server]!;
    const request = (more: string) => `POST /nowhere HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${origin}\r\nContent-Length: 2\r\n${more}\r\n{}`;
    const text = await rawHttp(urls[server]!, [request(''), request('Connection: close\r\n')]);
    expect(text.match(/HTTP\/1\.1 40[34]/g)).toHaveLength(2);
  });

  test('is not ended by peers that go in the middle', async () => {
    const { host, origin, port, hostname } = urls[server]!;
    const signed = `Host: ${host}\r\nOrigin: ${origin}\r\nCookie: ${cookie}\r\nAuthorization: Bearer test-raw\r\nContent-Type: application/json\r\n`;
    const parts = [
      '', 'GET ', `POST /bridge HTTP/1.1\r\n${signed}`, `POST /bridge HTTP/1.1\r\n${signed}Content-Length: 1000\r\n\r\n{"port"`, `POST /bridge HTTP/1.1\r\n${signed}Transfer-Encoding: chunked\r\n\r\n5\r\nabc`,
      `POST /mcp HTTP/1.1\r\n${signed}Content-Length: 1000\r\n\r\n{`, `POST /mcp HTTP/1.1\r\n${signed}Transfer-Encoding: chunked\r\n\r\n5\r\nabc`, `GET /bridge HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\n\r\n`,
      `POST /oauth/token HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\na=`, `POST // HTTP/1.1\r\n${signed}Content-Length: 1000\r\n\r\n`,
    ];
    for (const part of parts) {
      for (const isReset of [false, true]) {
        const socket = connect(Number(port), hostname).on('error', () => undefined);
        await once(socket, 'connect');
        if (part !== '') await new Promise<void>((resolve) => { socket.write(part, () => resolve()); });
        if (isReset) socket.resetAndDestroy();
        else socket.destroy();
      }
    }
    await expectWell(server);
  });
});
