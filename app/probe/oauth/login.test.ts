import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deviceAuthority, type DeviceAuthority } from '../../testing/device-authority.ts';
import { probe, type ProbeOptions, type Probed } from '../../testing/probe-kit.ts';
import { tempFolder } from '../../testing/temp.ts';
import { parameterOf } from './discovery.ts';

interface Stage extends AsyncDisposable {
  readonly authority: DeviceAuthority;
  readonly tokenFolder: string;
  run(line: string, options?: ProbeOptions): Promise<Probed>;
  /** The one file of tokens. */
  file(): string;
  kept(): Record<string, any>;
  /** As it is said in this many milliseconds. */
  age(ms: number): void;
}

async function stage(): Promise<Stage> {
  const folder = tempFolder();
  const authority = await deviceAuthority();
  const tokenFolder = folder.at('data', 'probe');
  const file = () => join(tokenFolder, readdirSync(tokenFolder).find((name) => name.endsWith('.json'))!);
  const kept = () => JSON.parse(readFileSync(file(), 'utf8')) as Record<string, any>;
  return {
    authority, tokenFolder, file, kept,
    run: (line, options = {}) => probe([...line.split(' ').filter((word) => word !== ''), '--json', '--url', authority.url], { tokenFolder, ...options }),
    age(ms) {
      const { obtainedAt, expiresAt, ...rest } = kept();
      writeFileSync(file(), JSON.stringify({ ...rest, obtainedAt: obtainedAt - ms, expiresAt: expiresAt - ms }));
    },
    async [Symbol.asyncDispose]() {
      await authority[Symbol.asyncDispose]();
      folder.remove();
    },
  };
}

test('without a token a login is required, and nothing is written', async () => {
  await using it = await stage();
  const { code, json } = await it.run('list');
  expect([code, json['errorCode']]).toEqual([2, 'AUTH_LOGIN_REQUIRED']);
  expect(existsSync(it.tokenFolder)).toBe(false);
});

test('a login by device code: found by the metadata, registered, waited for, kept for its owner alone, used from then on', async () => {
  await using it = await stage();
  it.authority.state.pending = ['authorization_pending', 'authorization_pending'];
  const { code, json, stderr, stdout } = await it.run('list --login');
  expect(code, stderr).toBe(0);
  expect(json['eventCount']).toBe(1);
  expect(stderr).toContain(`verification-uri ${it.authority.origin}/activate\n`);
  expect(stderr).toContain('user-code ABCD-EFGH\n');
  expect(it.authority.paths().slice(0, 5)).toEqual(['/mcp', '/metadata', '/.well-known/oauth-authorization-server', '/register', '/device']);
  expect(it.authority.state.grants).toEqual(Array(3).fill('urn:ietf:params:oauth:grant-type:device_code'));
  const device = new URLSearchParams(it.authority.requests.find(({ path }) => path === '/device')!.body);
  expect(Object.fromEntries(device)).toEqual({ client_id: 'client-1', scope: 'events:read', resource: it.authority.url });
  expect([statSync(it.file()).mode & 0o777, statSync(it.tokenFolder).mode & 0o777]).toEqual([0o600, 0o700]);
  const { accessToken, refreshToken } = it.kept();
  for (const secret of [accessToken, refreshToken, 'device-code-0123456789']) expect(stdout + stderr).not.toContain(secret);
  expect((await it.run('list')).code).toBe(0);
  expect(it.authority.state.grants).toHaveLength(3);
});

test('--login alone logs in and does nothing else; --logout forgets it here and there', async () => {
  await using it = await stage();
  const login = await it.run('--login');
  expect(login).toMatchObject({ code: 0, json: { command: 'login', loggedIn: true, serverUrl: it.authority.url } });
  const { refreshToken } = it.kept();
  const logout = await it.run('--logout');
  expect(logout).toMatchObject({ code: 0, json: { command: 'logout', loggedOut: true } });
  expect(readdirSync(it.tokenFolder)).toEqual([]);
  expect(new URLSearchParams(it.authority.requests.find(({ path }) => path === '/revoke')!.body).get('token')).toBe(refreshToken);
  expect((await it.run('--logout')).json['loggedOut']).toBe(false);
  expect((await it.run('list')).json['errorCode']).toBe('AUTH_LOGIN_REQUIRED');
});

test('an explicit token wins: the cache is neither read nor written', async () => {
  await using it = await stage();
  it.authority.state.valid.add('explicit-token');
  expect((await it.run('list', { env: { MCP_PROBE_AUTH_TOKEN: 'explicit-token' } })).code).toBe(0);
  expect(existsSync(it.tokenFolder)).toBe(false);
  await it.run('--login');
  const refused = await it.run('list', { env: { MCP_PROBE_AUTH_TOKEN: 'wrong-token' } });
  expect([refused.code, refused.json['errorCode']]).toEqual([2, 'AUTH_FAILED']);
  expect(it.authority.state.grants).toHaveLength(1);
});

test('a token that ends soon is renewed, and the rotated one is kept at once', async () => {
  await using it = await stage();
  await it.run('--login');
  const before = it.kept();
  it.age(3_400_000);
  expect((await it.run('list')).code).toBe(0);
  const after = it.kept();
  expect([after['accessToken'] === before['accessToken'], after['refreshToken'] === before['refreshToken']]).toEqual([false, false]);
  expect(after['refreshToken']).toBe(it.authority.state.refreshToken);
  it.age(3_400_000);
  expect((await it.run('list')).code, 'and the next renewal takes the rotated one').toBe(0);
});

test('a token of ten minutes is not renewed at each run', async () => {
  await using it = await stage();
  it.authority.state.expiresIn = 600;
  await it.run('--login');
  it.age(120_000);
  await it.run('list');
  expect(it.authority.state.grants).not.toContain('refresh_token');
  it.age(200_000);
  await it.run('list');
  expect(it.authority.state.grants.filter((grant) => grant === 'refresh_token')).toHaveLength(1);
});

test('a token that the server refuses although it looks fresh is renewed once', async () => {
  await using it = await stage();
  await it.run('--login');
  it.authority.state.valid.clear();
  expect((await it.run('list')).code).toBe(0);
  expect(it.authority.state.grants.filter((grant) => grant === 'refresh_token')).toHaveLength(1);
});

test('several runs at once renew once, since a refresh token works once', async () => {
  await using it = await stage();
  await it.run('--login');
  it.age(3_590_000);
  const runs = await Promise.all([1, 2, 3, 4].map(() => it.run('list --timeout-ms 20000')));
  expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  expect(it.authority.state.grants.filter((grant) => grant === 'refresh_token')).toHaveLength(1);
  expect(readdirSync(it.tokenFolder).filter((name) => !name.endsWith('.json')), 'no lock is left').toEqual([]);
});

test('a lock of a process that is gone holds nobody up', async () => {
  await using it = await stage();
  await it.run('--login');
  it.age(3_590_000);
  writeFileSync(`${it.file()}.lock`, '4194305');
  expect((await it.run('list')).code).toBe(0);
});

test.each<[string, { status: number; error: string }, string]>([
  ['a refresh token that is over', { status: 400, error: 'invalid_grant' }, 'AUTH_LOGIN_REQUIRED'],
  ['a client that is not known any more', { status: 401, error: 'invalid_client' }, 'AUTH_LOGIN_REQUIRED'],
  ['an authority in trouble', { status: 503, error: 'temporarily_unavailable' }, 'AUTH_REFRESH_FAILED'],
])('%s', async (_name, refusal, errorCode) => {
  await using it = await stage();
  await it.run('--login');
  it.age(3_590_000);
  it.authority.state.refusesRefresh = refusal;
  const { code, json } = await it.run('list');
  expect([code, json['errorCode']]).toEqual([2, errorCode]);
  // What may pass is not thrown away.
  expect(it.kept()['refreshToken']).toBe(it.authority.state.refreshToken);
});

test('with --login a refused renewal leads to a new login, and an unknown client is registered anew', async () => {
  await using it = await stage();
  await it.run('--login');
  it.age(3_590_000);
  it.authority.state.refusesRefresh = { status: 401, error: 'invalid_client' };
  it.authority.state.clients.clear();
  it.authority.state.clients.add('other');
  expect((await it.run('list --login')).code).toBe(0);
  expect(it.kept()['clientId']).toBe('client-2');
});

test.each<[string, string[], string]>([
  ['a person who says no', ['access_denied'], 'AUTH_FAILED'],
  ['a code that is too old', ['authorization_pending', 'expired_token'], 'AUTH_TIMEOUT'],
  ['a server that refuses', ['invalid_request'], 'AUTH_FAILED'],
])('%s', async (_name, pending, errorCode) => {
  await using it = await stage();
  it.authority.state.pending = pending;
  const { code, json } = await it.run('--login');
  expect([code, json['errorCode']]).toEqual([2, errorCode]);
  // oxlint-disable-next-line no-control-regex -- what must not reach a terminal
  expect(json['error'].message).not.toMatch(/\u001b/);
});

test('the login ends with the one deadline, whoever keeps silent', async () => {
  await using it = await stage();
  it.authority.state.pending = Array<string>(1000).fill('authorization_pending');
  const nobody = await it.run('--login --timeout-ms 800');
  expect([nobody.code, nobody.json['errorCode']]).toEqual([2, 'AUTH_TIMEOUT']);
  for (const path of ['/metadata', '/.well-known/oauth-authorization-server', '/register', '/token']) {
    it.authority.state.pending = [];
    it.authority.state.silentPath = path;
    const silent = await it.run('list --login --timeout-ms 800');
    expect([path, silent.code, silent.json['errorCode']]).toEqual([path, 2, 'AUTH_TIMEOUT']);
  }
});

test('slow_down makes the next question later', async () => {
  await using it = await stage();
  it.authority.state.pending = ['slow_down'];
  // The next one would come five seconds later.
  const { json } = await it.run('--login --timeout-ms 4000');
  expect(json['errorCode']).toBe('AUTH_TIMEOUT');
  expect(it.authority.state.grants).toHaveLength(1);
});

test.each<[string, (state: DeviceAuthority['state'], origin: string) => void, string]>([
  ['metadata of another resource', (state) => void (state.resource = { resource: 'https://other.example/mcp' }), 'speaks of another server'],
  ['another issuer', (state) => void (state.metadata['issuer'] = 'https://other.example'), 'names another issuer'],
  ['an authority over http elsewhere', (state) => void (state.resource = { authorization_servers: ['http://auth.example'] }), 'over https or to this computer only'],
  ['an authority that is no address', (state) => void (state.resource = { authorization_servers: ['auth'] }), 'no address'],
  ['a token endpoint over http elsewhere', (state) => void (state.metadata['token_endpoint'] = 'http://auth.example/token'), 'over https or to this computer only'],
  ['no device codes', (state) => void (state.metadata['device_authorization_endpoint'] = null), 'no login by device code'],
  ['no registration', (state) => void (state.metadata['registration_endpoint'] = null), 'registers no new clients'],
])('not trusted or not possible: %s', async (_name, change, says) => {
  await using it = await stage();
  change(it.authority.state, it.authority.origin);
  const { json } = await it.run('--login');
  expect(json['ok']).toBe(false);
  expect(json['error'].message).toContain(says);
  expect(existsSync(it.tokenFolder)).toBe(false);
});

test('a client that is registered already comes from the environment', async () => {
  await using it = await stage();
  it.authority.state.clients.add('mine');
  it.authority.state.metadata['registration_endpoint'] = null;
  expect((await it.run('--login', { env: { MCP_PROBE_CLIENT_ID: 'mine' } })).code).toBe(0);
  expect(it.kept()['clientId']).toBe('mine');
});

test('where the resource has no metadata, its own origin is the authority', async () => {
  await using it = await stage();
  it.authority.state.resource = null;
  expect((await it.run('--login')).code).toBe(0);
});

test.each<[string, (file: string) => void]>([
  ['that others may read', (file) => chmodSync(file, 0o644)],
  ['that is broken', (file) => writeFileSync(file, '{')],
  ['of another server', (file) => writeFileSync(file, readFileSync(file, 'utf8').replaceAll('/mcp"', '/other"'))],
  ['behind a link', (file) => {
    renameSync(file, `${file}.moved`);
    symlinkSync(`${file}.moved`, file);
  }],
])('a file of tokens %s is none', async (_name, spoil) => {
  await using it = await stage();
  await it.run('--login');
  spoil(it.file());
  expect((await it.run('list')).json['errorCode']).toBe('AUTH_LOGIN_REQUIRED');
});

test.each([
  ['Bearer resource_metadata="https://a.example/x"', 'resource_metadata', 'https://a.example/x'],
  ['Bearer realm="a, b", Resource_Metadata=https://a.example/x, scope="one two"', 'resource_metadata', 'https://a.example/x'],
  ['Bearer realm="say \\"hi\\"", scope="one two"', 'scope', 'one two'],
  ['Bearer', 'scope', null],
])('%s: %s', (challenge, name, value) => {
  expect(parameterOf(challenge, name)).toBe(value);
});
