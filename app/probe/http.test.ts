import { once } from 'node:events';
import { createServer, type AddressInfo, type LookupFunction, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { httpPeer, json, sse, type Answering } from '../testing/http-peer.ts';
import { batch, descriptor, discovered, occurrence, probe, type ProbeOptions } from '../testing/probe-kit.ts';

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const list = (url: string, ...more: string[]) => ['list', '--url', url, '--json', ...more];

/** A well-behaved server, of which a test replaces one method. */
const server = (replaced: Record<string, Answering> = {}): Answering => (request, response) => {
  const { message } = request;
  const { id, method, params } = message;
  const own = replaced[method as string];
  if (own) return own(request, response);
  switch (method) {
    case 'server/discover':
      return json(response, { jsonrpc: '2.0', id, result: discovered() });
    case 'events/list':
      return json(response, { jsonrpc: '2.0', id, result: { events: [descriptor()] } });
    case 'events/poll':
      return json(response, { jsonrpc: '2.0', id, result: batch([], 'c0') });
    case 'events/stream': {
      const send = sse(response);
      send({ jsonrpc: '2.0', method: 'notifications/events/active', params: { cursor: 'c0', truncated: false, _meta: { [SUBSCRIPTION]: id } } });
      return send({ jsonrpc: '2.0', method: 'notifications/events/event', params: { ...occurrence(1), cursor: 'c1', _meta: { [SUBSCRIPTION]: id } } });
    }
    case 'tools/call':
      return json(response, { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: String(params.name) }] } });
    default:
      return json(response, { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }, 404);
  }
};

/** A port that nobody listens at, and a server that takes connections and never says a word. */
let closed = '';
let silent: Server;
let garbage: Server;
const origin = (of: Server) => `http://127.0.0.1:${(of.address() as AddressInfo).port}/mcp`;
beforeAll(async () => {
  const gone = createServer().listen(0, '127.0.0.1');
  await once(gone, 'listening');
  closed = origin(gone);
  gone.close();
  await once(gone, 'close');
  silent = createServer().listen(0, '127.0.0.1');
  garbage = createServer((socket) => void socket.on('error', () => undefined).end('220 mail.example ESMTP\r\n')).listen(0, '127.0.0.1');
  await Promise.all([once(silent, 'listening'), once(garbage, 'listening')]);
});
afterAll(() => {
  silent.close();
  garbage.close();
});

const lookup = (code: string): ProbeOptions => ({ network: { lookup: ((_host, _options, done) => done(Object.assign(new Error('no'), { code }), '', 4)) as LookupFunction } });

test.each<[string, () => string, number, string, ProbeOptions]>([
  ['a closed port', () => closed, 3, 'CONNECTION_REFUSED', {}],
  ['a name that does not exist', () => 'http://mcp.invalid/mcp', 3, 'DNS_LOOKUP_FAILED', lookup('ENOTFOUND')],
  ['a resolver that does not answer', () => 'https://mcp.invalid/mcp', 3, 'DNS_LOOKUP_FAILED', lookup('EAI_AGAIN')],
  ['a host without a way to it', () => 'http://mcp.invalid/mcp', 3, 'HOST_UNREACHABLE', lookup('ENETUNREACH')],
  ['a server of another protocol', () => origin(garbage), 3, 'BAD_RESPONSE', {}],
  ['https where http is spoken', () => origin(garbage).replace('http:', 'https:'), 3, 'TLS_FAILED', {}],
  ['a server that never answers', () => origin(silent), 3, 'SERVER_TIMEOUT', {}],
])('%s', async (_name, url, code, errorCode, options) => {
  const { json: report, ...result } = await probe(list(url(), '--timeout-ms', '1500'), options);
  expect([result.code, report['errorCode']]).toEqual([code, errorCode]);
  expect(report['recommendedNextAction'], 'with a next step').toMatch(/\w/);
  expect(report['error'].message).not.toMatch(/\n|Error:/);
});

test('a certificate that nobody vouches for is refused, and taken once its authority is trusted', async () => {
  await using peer = await httpPeer(server(), true);
  const refused = await probe(list(peer.url));
  expect([refused.code, refused.json['errorCode']]).toEqual([3, 'TLS_CERT_UNTRUSTED']);
  expect(refused.json['recommendedNextAction']).toMatch(/NODE_EXTRA_CA_CERTS/);
  expect(peer.requests).toEqual([]);
  const { UNTRUSTED } = await import('../testing/tls-certificate.ts');
  expect((await probe(list(peer.url), { network: { ca: UNTRUSTED.cert } })).code).toBe(0);
});

const say = (status: number, headers: Record<string, string> = {}, body = ''): Answering => (_request, response) => void response.writeHead(status, headers).end(body);
const HTML = { 'Content-Type': 'text/html' };
const JSON_TYPE = { 'Content-Type': 'application/json' };

test.each<[string, Answering, number, string]>([
  ['a redirect', say(302, { Location: 'https://elsewhere.example/mcp?token=abc' }), 3, 'HTTP_REDIRECTED'],
  ['400 without a message', say(400), 3, 'HTTP_ERROR'],
  ['401', say(401, { 'WWW-Authenticate': 'Bearer' }), 2, 'AUTH_LOGIN_REQUIRED'],
  ['403', say(403), 2, 'FORBIDDEN'],
  ['403 with a message', (_request, response) => json(response, { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'Origin' } }, 403), 2, 'FORBIDDEN'],
  ['404', say(404, HTML, 'Not here'), 3, 'HTTP_NOT_FOUND'],
  ['405', say(405, { Allow: 'GET' }), 3, 'HTTP_ERROR'],
  ['415', say(415), 3, 'HTTP_ERROR'],
  ['429', say(429, { 'Retry-After': '17' }), 3, 'RATE_LIMITED'],
  ['500', say(500, HTML, 'Sorry'), 3, 'HTTP_ERROR'],
  ['a web page', say(200, HTML, '<html>'), 3, 'BAD_RESPONSE'],
  ['no content type', say(200, {}, '{}'), 3, 'BAD_RESPONSE'],
  ['no content', say(204), 3, 'HTTP_ERROR'],
  ['broken JSON', say(200, JSON_TYPE, '{"jsonrpc":'), 3, 'BAD_RESPONSE'],
  ['JSON that is no answer', say(200, JSON_TYPE, '{"hello":1}'), 3, 'BAD_RESPONSE'],
  ['the answer to another request', say(200, JSON_TYPE, '{"jsonrpc":"2.0","id":99,"result":{}}'), 3, 'BAD_RESPONSE'],
  ['a batch', say(200, JSON_TYPE, '[]'), 3, 'BAD_RESPONSE'],
  ['a body that breaks off', (_request, response) => {
    response.writeHead(200, { ...JSON_TYPE, 'Content-Length': '500' }).write('{"jsonrpc"');
    setTimeout(() => response.destroy(), 50);
  }, 3, 'CONNECTION_RESET'],
  ['a stream that ends without the answer', (_request, response) => {
    sse(response);
    response.end();
  }, 3, 'CONNECTION_CLOSED'],
  ['a stream of text that is not JSON', (_request, response) => sse(response)('hello'), 3, 'BAD_RESPONSE'],
  ['an unsupported revision', (request, response) => json(response, { jsonrpc: '2.0', id: request.message['id'], error: { code: -32022, message: 'Unsupported', data: { supported: [] } } }, 400), 3, 'PROTOCOL_UNSUPPORTED'],
])('%s', async (_name, answer, code, errorCode) => {
  await using peer = await httpPeer(answer);
  const { json: report, ...result } = await probe(list(peer.url));
  expect([result.code, report['errorCode']]).toEqual([code, errorCode]);
  expect(report['recommendedNextAction']).toMatch(/\w/);
});

test('the wait that a server names is passed on; a redirect is shown without its query, and not followed', async () => {
  await using limited = await httpPeer(say(429, { 'Retry-After': '17' }));
  expect((await probe(list(limited.url))).json['recommendedNextAction']).toBe('Wait 17 s before the next try.');
  await using moved = await httpPeer(say(308, { Location: 'https://elsewhere.example/mcp?token=abc' }));
  const { stdout } = await probe(list(moved.url), { env: { MCP_PROBE_AUTH_TOKEN: 'a-long-token' } });
  expect(stdout).toContain('https://elsewhere.example/mcp?...');
  expect(stdout).not.toContain('token=abc');
});

test('a stream that is cut is exit 4, a clean end of the subscription too', async () => {
  await using cut = await httpPeer(server({ 'events/stream': (request, response) => {
    sse(response)({ jsonrpc: '2.0', method: 'notifications/events/active', params: { cursor: 'c5', _meta: { [SUBSCRIPTION]: request.message['id'] } } });
    setTimeout(() => response.destroy(), 50);
  } }));
  const { code, json: report } = await probe(['wait', '--url', cut.url, '--event', 'job.done', '--json']);
  expect([code, report['errorCode'], report['closeReason'], report['finalCursor']]).toEqual([4, 'STREAM_DISCONNECTED', 'remote', 'c5']);
});

test('the headers of the newer revision: version, method and name, the token, and no session', async () => {
  await using peer = await httpPeer(server());
  const { code, json: report } = await probe(['wait', '--url', peer.url, '--event', 'job.done', '--json'], { env: { MCP_PROBE_AUTH_TOKEN: 'a-long-token' } });
  expect([code, report['event'].eventId, report['serverUrl']]).toEqual([0, 'e1', peer.url]);
  // The poll behind the stream may be overtaken by the event.
  expect(peer.requests.slice(0, 4).map(({ headers }) => [headers['mcp-method'], headers['mcp-name'], headers['mcp-protocol-version'], headers['authorization'], headers['accept']])).toEqual(
    [['server/discover', undefined], ['events/list', undefined], ['events/poll', 'job.done'], ['events/stream', 'job.done']]
      .map(([method, name]) => [method, name, '2026-07-28', 'Bearer a-long-token', 'application/json, text/event-stream']),
  );
  expect(peer.requests.every(({ headers }) => headers['mcp-session-id'] === undefined)).toBe(true);
});

test('a name that a header cannot carry goes in base64', async () => {
  await using peer = await httpPeer(server());
  for (const [tool, word] of [['Größe', '=?base64?R3LDtsOfZQ==?='], [' padded', '=?base64?IHBhZGRlZA==?='], ['plain name', 'plain name']]) {
    await probe(['call', '--url', peer.url, '--tool', tool!, '--json']);
    expect(peer.requests.at(-1)!.headers['mcp-name']).toBe(word);
  }
});

test('a server of the older revisions: handshake, session, stream of pushes, and the end of the session', async () => {
  await using peer = await httpPeer((request, response) => {
    const { message: { id, method }, headers } = request;
    if (request.method === 'GET') return sse(response)({ jsonrpc: '2.0', method: 'notifications/claude/channel', params: { content: 'hello' } });
    if (request.method === 'DELETE') return void response.writeHead(204).end();
    if (method === 'server/discover') return void response.writeHead(400).end('Bad Request: No valid session');
    if (method === 'initialize') {
      return json(response, { jsonrpc: '2.0', id, result: { protocolVersion: '2025-06-18', capabilities: { experimental: { 'claude/channel': {} } }, serverInfo: { name: 'old', version: '1' }, instructions: 'x' } }, 200, { 'Mcp-Session-Id': 's-1' });
    }
    if (headers['mcp-session-id'] !== 's-1') return void response.writeHead(404).end();
    return void response.writeHead(202).end();
  });
  const { code, json: report } = await probe(['channel', '--url', peer.url, '--json']);
  expect(code).toBe(0);
  expect(report).toMatchObject({ era: '2025-06-18', channelDeclared: true, hasInstructions: true, notificationCount: 1, notifications: [{ method: 'notifications/claude/channel', params: { content: 'hello' } }] });
  expect(peer.requests.map(({ method, headers }) => [method, headers['mcp-protocol-version'], headers['mcp-session-id']])).toEqual([
    ['POST', undefined, undefined], ['POST', '2025-06-18', 's-1'], ['GET', '2025-06-18', 's-1'], ['DELETE', '2025-06-18', 's-1'],
  ]);
});

test('a server of the older revisions that asks in the middle of its answer is answered by a message of its own', async () => {
  let answered = (_text: string) => {};
  const heard = new Promise<string>((resolve) => (answered = resolve));
  await using peer = await httpPeer((request, response) => {
    const { id, method, result } = request.message;
    if (result !== undefined) {
      response.writeHead(202).end();
      return answered(request.body);
    }
    if (method === 'initialize') return json(response, { jsonrpc: '2.0', id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } } });
    if (method !== 'tools/call') return void response.writeHead(id === undefined ? 202 : 404).end();
    const send = sse(response);
    send({ jsonrpc: '2.0', id: 'p', method: 'ping' });
    return void heard.then(() => send({ jsonrpc: '2.0', id, result: { content: [] } }));
  });
  expect((await probe(['call', '--tool', 'x', '--url', peer.url, '--json'])).code).toBe(0);
  expect(JSON.parse(await heard)).toEqual({ jsonrpc: '2.0', id: 'p', result: {} });
});

test('events on a server that speaks the older revisions only', async () => {
  await using peer = await httpPeer((request, response) => {
    const { id, method } = request.message;
    if (method === 'initialize') return json(response, { jsonrpc: '2.0', id, result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'old', version: '1' } } });
    return void response.writeHead(method === undefined || id === undefined ? 202 : 404).end();
  });
  const { code, json: report } = await probe(list(peer.url));
  expect([code, report['errorCode'], report['era']]).toEqual([3, 'PROTOCOL_UNSUPPORTED', '2025-11-25']);
});

test('a token goes over https or to this computer only, and an explicit one is not looked for in the cache', async () => {
  const far = await probe(list('http://mcp.example/mcp'), { env: { MCP_PROBE_AUTH_TOKEN: 'a-long-token' }, ...lookup('ENOTFOUND') });
  expect([far.code, far.json['errorCode']]).toEqual([3, 'INVALID_URL']);
  await using peer = await httpPeer((_request, response) => void response.writeHead(401, { 'WWW-Authenticate': 'Bearer error="invalid_token"' }).end());
  const refused = await probe(list(peer.url), { env: { MCP_PROBE_AUTH_TOKEN: 'a-long-token' } });
  expect([refused.code, refused.json['errorCode']]).toEqual([2, 'AUTH_FAILED']);
});

test('a token is never printed, even where the server says it', async () => {
  const token = 'tok-3f9c2d7a';
  await using peer = await httpPeer(server({ 'events/list': (request, response) => json(response, { jsonrpc: '2.0', id: request.message['id'], error: { code: -32603, message: `bad ${request.headers['authorization']} ${Buffer.from(token).toString('base64')}` } }) }));
  for (const words of [list(peer.url), list(peer.url).filter((word) => word !== '--json')]) {
    const { stdout, stderr } = await probe(words, { env: { MCP_PROBE_AUTH_TOKEN: token } });
    expect(stdout + stderr).not.toContain(token);
    expect(stdout + stderr).not.toContain(Buffer.from(token).toString('base64'));
    expect(stdout + stderr).toContain('(secret)');
  }
});
