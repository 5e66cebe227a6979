import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { PROGRAM_SCHEMES } from '../endpoint/oauth/redirect-uri.ts';
import { clients } from '../wiring/clients.ts';
import { REDIRECT, SignInWorld } from './sign-in-kit.ts';

test('what clients look for stands at every place where they look, under the name that they use', async () => {
  await using world = await SignInWorld.start();
  const port = new URL(world.origin).port;
  for (const name of ['127.0.0.1', 'localhost', '[::1]']) {
    const origin = `http://${name}:${port}`;
    for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
      const { status, headers, json } = await world.send(path, { headers: { host: `${name}:${port}` } });
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([200, 'application/json', 'no-store']);
      expect(json).toEqual({ resource: `${origin}/mcp`, authorization_servers: [origin], scopes_supported: ['events'], bearer_methods_supported: ['header'], resource_name: 'Belfry' });
    }
    for (const path of ['/.well-known/oauth-authorization-server', '/.well-known/oauth-authorization-server/mcp', '/.well-known/openid-configuration', '/.well-known/openid-configuration/mcp']) {
      const { json } = await world.send(path, { headers: { host: `${name}:${port}` } });
      expect(json).toMatchObject({
        issuer: origin, authorization_endpoint: `${origin}/oauth/authorize`, token_endpoint: `${origin}/oauth/token`, registration_endpoint: `${origin}/oauth/register`, revocation_endpoint: `${origin}/oauth/revoke`,
        response_types_supported: ['code'], grant_types_supported: ['authorization_code', 'refresh_token'], code_challenge_methods_supported: ['S256'], token_endpoint_auth_methods_supported: ['none'],
        authorization_response_iss_parameter_supported: true,
      });
      expect(json).not.toHaveProperty('device_authorization_endpoint');
    }
    const { status, headers } = await world.send('/mcp', { method: 'POST', headers: { host: `${name}:${port}`, 'content-type': 'application/json' }, body: '{}' });
    expect([status, headers['www-authenticate']]).toEqual([401, `Bearer realm="Belfry", resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="events"`]);
  }
});

test('a token that nobody holds is told from none', async () => {
  await using world = await SignInWorld.start();
  const { status, headers } = await world.send('/mcp', { method: 'POST', headers: { authorization: 'Bearer belfry_x', 'content-type': 'application/json' }, body: '{}' });
  expect(status).toBe(401);
  expect(headers['www-authenticate']).toContain('error="invalid_token"');
});

test('registering: a program gets an id and no secret, whatever it asks for', async () => {
  await using world = await SignInWorld.start();
  const { status, json, headers } = await world.register({
    redirect_uris: [REDIRECT, REDIRECT, 'cursor://x/y'], client_name: 'my-\u202eagent', token_endpoint_auth_method: 'client_secret_basic', logo_uri: 'http://169.254.169.254/', grant_types: ['authorization_code'],
  });
  expect([status, headers['cache-control']]).toEqual([201, 'no-store']);
  expect(json).toEqual({
    client_id: expect.stringMatching(/^[\w-]{22}$/), client_id_issued_at: Math.floor(world.clock.now() / 1000), client_name: 'my-agent', redirect_uris: [REDIRECT, 'cursor://x/y'],
    token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
  });
});

test('the schemes of programs that a browser may be sent back to are those of the clients that are known to be set up', () => {
  const known = clients.flatMap(({ appLink }) => (appLink === null ? [] : [new URL(appLink).protocol.slice(0, -1)]));
  expect([...PROGRAM_SCHEMES].toSorted()).toEqual(known.toSorted());
});

test('the whole way: nothing goes anywhere before the owner allowed it, then a code goes once, with state and iss', async () => {
  await using world = await SignInWorld.start();
  const program = await world.program();
  const page = await program.browse();
  expect([page.status, page.headers.location, page.headers['refresh']]).toEqual([200, undefined, undefined]);
  const [waiting] = world.policy.snapshot().waiting;
  expect(waiting).toMatchObject({ kind: 'sign-in', name: 'my-agent', host: '127.0.0.1:3999', code: expect.stringMatching(/^\d{4}$/) });
  expect(page.text).toContain(`>${(waiting as { code: string }).code}</p>`);
  // Loading it again is the same request.
  await program.browse();
  expect(world.policy.snapshot().waiting).toHaveLength(1);

  world.answer(true, { grants: ['mail'] });
  const { status, headers } = await program.browse();
  const back = new URL(headers.location!);
  expect([status, back.origin + back.pathname, back.searchParams.get('state'), back.searchParams.get('iss')]).toEqual([302, REDIRECT, program.state, world.origin]);
  expect([...back.searchParams.keys()].sort()).toEqual(['code', 'iss', 'state']);
  const again = await program.browse();
  expect([again.status, again.headers.location]).toEqual([200, undefined]);
  expect(again.text).toContain('Signed in');

  const token = await program.redeem(back.searchParams.get('code')!);
  expect([token.status, token.headers['cache-control']]).toEqual([200, 'no-store']);
  expect(token.json).toEqual({ access_token: expect.stringMatching(/^belfry_at_/), token_type: 'Bearer', expires_in: 3600, refresh_token: expect.stringMatching(/^belfry_rt_/), scope: 'events' });
  expect(world.policy.credentials.credentialOf(token.json['access_token'] as string)).toMatchObject({ label: 'my-agent', identity: { by: 'sign-in' } });
  expect(world.policy.snapshot().clients).toMatchObject([{ label: 'my-agent', grants: ['mail'] }]);

  const next = await program.refresh(token.json['refresh_token'] as string);
  expect(next.status).toBe(200);
  expect(next.json['access_token']).not.toBe(token.json['access_token']);
  expect(world.faults).toEqual([]);
});

test('a scope is a hint that the owner sees, and grants nothing', async () => {
  await using world = await SignInWorld.start();
  const program = await world.program();
  await program.browse({ scope: 'events mail:everything reply root offline_access' });
  expect(world.policy.snapshot().waiting).toMatchObject([{ grants: ['mail:everything', 'reply'] }]);
  world.answer(true);
  expect(world.policy.snapshot().clients).toMatchObject([{ grants: [] }]);
});

test('a page of this machine may register and fetch tokens, and is told what it may send', async () => {
  await using world = await SignInWorld.start();
  const origin = 'http://localhost:6274';
  for (const path of ['/oauth/register', '/oauth/token', '/oauth/revoke']) {
    const { status, headers } = await world.send(path, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } });
    expect([status, headers['access-control-allow-origin'], headers['access-control-allow-methods']]).toEqual([204, origin, 'POST']);
  }
  const { headers } = await world.send('/.well-known/oauth-protected-resource', { headers: { origin } });
  expect([headers['access-control-allow-origin'], headers['vary']]).toEqual([origin, 'Origin']);
  expect((await world.register(undefined, { origin })).headers['access-control-allow-origin']).toBe(origin);
});

test('the page learns of the answer by itself', async () => {
  await using world = await SignInWorld.start();
  const program = await world.program();
  const { text } = await program.browse();
  const wait = /data-wait="([^"]+)"/.exec(text)![1]!;
  const told = await fetch(world.origin + wait);
  world.answer(true);
  expect([told.headers.get('content-type'), await told.text()]).toEqual(['text/event-stream', 'event: decided\ndata: \n\n']);
  expect((await world.send(wait)).text).toBe('event: decided\ndata: \n\n');
  expect((await world.send('/oauth/wait?id=other')).status).toBe(204);
});

test('a sign-in may be given back, and is then gone', async () => {
  await using world = await SignInWorld.start();
  const program = await world.program();
  const { access, refresh } = await program.signIn();
  expect((await world.form('/oauth/revoke', { token: 'belfry_at_nobody', client_id: program.clientId })).status).toBe(200);
  expect(world.policy.credentials.credentialOf(access)).not.toBeNull();
  expect((await world.form('/oauth/revoke', { token: refresh, token_type_hint: 'refresh_token', client_id: program.clientId })).status).toBe(200);
  expect(world.policy.credentials.credentialOf(access)).toBeNull();
  expect(world.policy.snapshot().clients).toEqual([]);
});

test('a program that was let in keeps its registration beyond ten minutes and may sign in again by it', async () => {
  await using world = await SignInWorld.start();
  const program = await world.program();
  await program.signIn();
  world.clock.pass(3_600_000);
  const page = await program.browse({ state: 'another' });
  expect([page.status, world.policy.snapshot().waiting.length]).toEqual([200, 1]);
});

test('headless, the page names the command that allows it', async () => {
  await using world = await SignInWorld.start('headless');
  const program = await world.program();
  const { text } = await program.browse();
  const { id, code } = world.asked[0]!;
  expect(text).toContain(`>${code}</p>`);
  expect(text).toContain(`<kbd>belfry clients allow ${id} --code ${code}</kbd>`);
});

test('the page frames nothing, is framed by nothing, fetches nothing, and runs only its own script and style', async () => {
  await using world = await SignInWorld.start();
  const program = await world.program(REDIRECT, '<img src=x onerror=alert(1)>"&\'');
  const { text, headers } = await program.browse();
  const csp = headers['content-security-policy'] as string;
  const hash = (tag: string) => `'sha256-${createHash('sha256').update(new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(text)![1]!).digest('base64')}'`;
  expect(csp).toBe(`default-src 'none'; style-src ${hash('style')}; script-src ${hash('script')}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`);
  expect(headers).toMatchObject({ 'x-frame-options': 'DENY', 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff', 'cache-control': 'no-store', 'content-type': 'text/html; charset=utf-8' });
  expect(text).toContain('“<bdi>&lt;img src=x onerror=alert(1)&gt;&amp;&#39;</bdi>”');
  expect(text).not.toContain('<img');
  expect(text).not.toMatch(/<(?:form|iframe|link|object|img)\b|https?:/);
  expect(text).toContain('prefers-color-scheme:dark');
});
