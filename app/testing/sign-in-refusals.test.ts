import { createHash } from 'node:crypto';
import { Agent } from 'node:http';
import { describe, expect, test } from 'vitest';
import { REDIRECT, SignInWorld } from './sign-in-kit.ts';

const MINUTE = 60_000;

describe('registering', () => {
  test.each<[unknown, string, RegExp]>([
    ['{"redirect_uris":', 'invalid_client_metadata', /not JSON/],
    ['[]', 'invalid_client_metadata', /one JSON object/],
    ['null', 'invalid_client_metadata', /one JSON object/],
    [{}, 'invalid_redirect_uri', /redirect_uris: must be a list of 1 to 10/],
    [{ redirect_uris: REDIRECT }, 'invalid_redirect_uri', /redirect_uris: must be a list/],
    [{ redirect_uris: [] }, 'invalid_redirect_uri', /1 to 10/],
    [{ redirect_uris: Array.from({ length: 11 }, (_, at) => `http://127.0.0.1:${4000 + at}/`) }, 'invalid_redirect_uri', /1 to 10/],
    // One that is refused fails the whole, by name.
    [{ redirect_uris: [REDIRECT, 'http://agent.example/'] }, 'invalid_redirect_uri', /redirect_uris\[1\]: must be https/],
    [{ redirect_uris: [REDIRECT, 'javascript:alert(1)'] }, 'invalid_redirect_uri', /redirect_uris\[1\]: must not have the scheme javascript/],
    [{ redirect_uris: [REDIRECT, 'ssh://host.example/'] }, 'invalid_redirect_uri', /redirect_uris\[1\]: must not have the scheme ssh/],
    [{ redirect_uris: ['https://agent.example/cb?state=x'] }, 'invalid_redirect_uri', /redirect_uris\[0\]: must not hold state in its query/],
    [{ redirect_uris: [REDIRECT], grant_types: ['authorization_code', 'implicit'] }, 'invalid_client_metadata', /grant_types: only authorization_code and refresh_token/],
    [{ redirect_uris: [REDIRECT], grant_types: ['urn:ietf:params:oauth:grant-type:device_code'] }, 'invalid_client_metadata', /grant_types/],
    [{ redirect_uris: [REDIRECT], grant_types: ['refresh_token'] }, 'invalid_client_metadata', /must include authorization_code/],
    [{ redirect_uris: [REDIRECT], response_types: ['token'] }, 'invalid_client_metadata', /response_types: only code/],
    [{ redirect_uris: [REDIRECT], client_name: { toString: 1 } }, 'invalid_client_metadata', /client_name: must be text/],
  ])('%j', async (body, error, description) => {
    await using world = await SignInWorld.start();
    const { status, json } = await world.register(body);
    expect(status).toBe(400);
    expect(json).toEqual({ error, error_description: expect.stringMatching(description) });
  });

  test('another type of body, a larger one, one that lies about its length, parameters in the address', async () => {
    await using world = await SignInWorld.start();
    expect((await world.register('x=1', { 'content-type': 'text/plain' })).status).toBe(415);
    const large = await world.register({ redirect_uris: [REDIRECT], client_name: 'x'.repeat(20_000) });
    expect([large.status, large.headers['connection']]).toEqual([413, 'close']);
    expect((await world.register('\xff', { 'transfer-encoding': 'chunked' })).status).toBe(400);
    expect((await world.send('/oauth/register?client_name=x', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })).status).toBe(400);
    expect((await world.register()).status).toBe(201);
  });

  test('10,000 registrations: twenty in an hour are served, and nothing grows', async () => {
    await using world = await SignInWorld.start();
    const statuses = new Map<number, number>();
    const settings = JSON.stringify(world.policy.settings);
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ redirect_uris: [REDIRECT], client_name: 'flood' }), agent };
    const some = async (count: number) => {
      for (let at = 0; at < count; at++) {
        const { status, headers } = await world.send('/oauth/register', sent);
        if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: 8 }, () => some(1250)));
    agent.destroy();
    expect(statuses).toEqual(new Map([[201, 20], [429, 9980]]));
    expect(JSON.stringify(world.policy.settings)).toBe(settings);
    expect(world.policy.snapshot().waiting).toEqual([]);
  }, 120_000);
});

describe('the page', () => {
  test.each<[string, Record<string, string | undefined>, RegExp]>([
    ['no client_id', { client_id: undefined }, /client_id: is missing/],
    ['an unknown program', { client_id: 'AAAAAAAAAAAAAAAAAAAAAA' }, /client_id: is not registered here/],
    ['markup as client_id', { client_id: '<script>' }, /client_id: is missing or is none of ours/],
    ['no redirect_uri', { redirect_uri: undefined }, /redirect_uri: is missing/],
    ['another host', { redirect_uri: 'https://evil.example/callback' }, /redirect_uri: is not one that the program registered/],
    ['another path', { redirect_uri: 'http://127.0.0.1:3999/callback/../x' }, /redirect_uri: is not one/],
    ['another path below', { redirect_uri: `${REDIRECT}/x` }, /redirect_uri: is not one/],
    ['a query added', { redirect_uri: `${REDIRECT}?next=https://evil.example` }, /redirect_uri: is not one/],
    ['a fragment added', { redirect_uri: `${REDIRECT}#x` }, /redirect_uri: is not one/],
    ['a user name that looks like the host', { redirect_uri: 'http://127.0.0.1:3999@evil.example/callback' }, /redirect_uri: is not one/],
    ['another name of this machine', { redirect_uri: 'http://localhost:3999/callback' }, /redirect_uri: is not one/],
    ['another scheme', { redirect_uri: 'https://127.0.0.1:3999/callback' }, /redirect_uri: is not one/],
    ['a token at once', { response_type: 'token' }, /response_type: must be code/],
    ['code and token', { response_type: 'code id_token' }, /response_type: must be code/],
    ['no response_type', { response_type: undefined }, /response_type: must be code/],
    ['an answer in the fragment', { response_mode: 'fragment' }, /response_mode: must be query/],
    ['an answer by a form', { response_mode: 'form_post' }, /response_mode: must be query/],
    ['an answer by a message to a page', { response_mode: 'web_message' }, /response_mode: must be query/],
    ['PKCE plain', { code_challenge_method: 'plain' }, /code_challenge_method: must be S256/],
    ['PKCE method left out, which means plain', { code_challenge_method: undefined }, /code_challenge_method: must be S256/],
    ['no PKCE', { code_challenge: undefined, code_challenge_method: undefined }, /code_challenge_method: must be S256/],
    ['no challenge', { code_challenge: undefined }, /code_challenge: must be the SHA-256/],
    ['a challenge that is no hash', { code_challenge: 'short' }, /code_challenge: must be the SHA-256/],
    ['another resource', { resource: 'https://mail.example/mcp' }, /resource: must be http:\/\/127\.0\.0\.1:\d+\/mcp/],
    ['another port of this machine as resource', { resource: 'http://127.0.0.1:1/mcp' }, /resource: must be/],
    ['parameters in an object', { request: 'eyJhbGciOiJub25lIn0.e30.' }, /request: the parameters must stand in the address itself/],
    ['parameters elsewhere', { request_uri: 'https://evil.example/request' }, /request: the parameters/],
    ['a state without end', { state: 'x'.repeat(2049) }, /state: must be at most 2048/],
  ])('%s: a sentence of ours, and nothing waits or goes anywhere', async (_, changed, says) => {
    await using world = await SignInWorld.start();
    const program = await world.program();
    const { status, headers, text } = await program.browse(changed);
    expect([status, headers.location, headers['refresh']]).toEqual([400, undefined, undefined]);
    expect(text.replaceAll('&#39;', "'")).toMatch(says);
    expect(text).not.toContain('evil.example');
    expect(world.policy.snapshot().waiting).toEqual([]);
  });

  test('a parameter that is there twice', async () => {
    await using world = await SignInWorld.start();
    const program = await world.program();
    const query = new URLSearchParams(program.query);
    for (const [name, value] of [['redirect_uri', 'https://evil.example/'], ['client_id', program.clientId], ['resource', 'https://evil.example/mcp']] as const) {
      const { status, text } = await world.send(`/oauth/authorize?${query.toString()}&${new URLSearchParams({ [name]: value }).toString()}`);
      expect([status, text.includes(`${name}: must be there only once`)]).toEqual([400, true]);
    }
    // The same resource said twice says nothing else (RFC 8707).
    expect((await world.send(`/oauth/authorize?${query.toString()}&${new URLSearchParams({ resource: world.resource }).toString()}`)).status).toBe(200);
  });

  test.each<[string, Record<string, string>]>([
    ['within a frame', { 'sec-fetch-dest': 'iframe' }],
    ['as a picture', { 'sec-fetch-dest': 'image' }],
    ['by a script', { 'sec-fetch-dest': 'empty' }],
    ['by a script of a page of this machine', { origin: 'http://localhost:6274' }],
    ['by a script of another page', { origin: 'https://evil.example' }],
    ['by another name (DNS rebinding)', { host: 'belfry.evil.example' }],
  ])('asked for %s: 403, and nothing waits', async (_, headers) => {
    await using world = await SignInWorld.start();
    const program = await world.program();
    expect((await program.browse({}, headers)).status).toBe(403);
    expect(world.policy.snapshot().waiting).toEqual([]);
  });

  test('a foreign page can neither register, nor fetch or give back tokens, nor learn of an answer', async () => {
    await using world = await SignInWorld.start();
    const origin = 'https://evil.example';
    for (const path of ['/oauth/register', '/oauth/token', '/oauth/revoke']) {
      expect((await world.form(path, { client_id: 'x' }, { origin })).status).toBe(403);
      const { status, headers } = await world.send(path, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } });
      expect([status, headers['access-control-allow-origin']]).toEqual([403, undefined]);
    }
    expect((await world.send('/oauth/wait?id=x', { headers: { origin } })).status).toBe(403);
  });

  test('the page takes no answer: nothing but GET', async () => {
    await using world = await SignInWorld.start();
    const program = await world.program();
    await program.browse();
    for (const method of ['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS']) {
      const { status, headers } = await world.send(`/oauth/authorize?${new URLSearchParams(program.query).toString()}&approve=1`, { method, headers: { 'content-type': 'application/x-www-form-urlencoded' } });
      expect([method, status, headers['allow']]).toEqual([method, 405, 'GET']);
    }
    expect((await program.browse()).status).toBe(200);
  });

  test('denied: the person reads it first, then the program is told, without a code', async () => {
    await using world = await SignInWorld.start();
    const program = await world.program();
    await program.browse();
    world.answer(false);
    const { status, headers, text } = await program.browse();
    const back = new URL((headers['refresh'] as string).replace(/^\d+; url=/, ''));
    expect([status, headers.location, back.origin + back.pathname]).toEqual([200, undefined, REDIRECT]);
    expect(Object.fromEntries(back.searchParams)).toEqual({ error: 'access_denied', error_description: 'The owner did not allow it', state: program.state, iss: world.origin });
    expect(text).toContain('was not allowed to sign in to Belfry, and was given nothing');
  });

  test('nobody answers for ten minutes: the page says so and leads nowhere', async () => {
    await using world = await SignInWorld.start();
    const program = await world.program();
    await program.browse();
    world.clock.pass(10 * MINUTE);
    const { status, headers, text } = await program.browse();
    expect([status, headers.location, headers['refresh']]).toEqual([410, undefined, undefined]);
    expect(text).toContain('Nobody answered within ten minutes');
    expect(world.policy.snapshot().waiting).toEqual([]);
  });

  test('three wait at most, and the fourth is told', async () => {
    await using world = await SignInWorld.start();
    for (let at = 0; at < 3; at++) expect((await (await world.program()).browse()).status).toBe(200);
    const fourth = await world.program();
    const { status, headers, text } = await fourth.browse();
    expect([status, headers['retry-after']]).toEqual([503, '60']);
    expect(text).toContain('As many requests wait for an answer as may');
    world.answer(false);
    expect((await fourth.browse()).status).toBe(200);
  });

  const EVIL = 'http://127.0.0.1:6666/callback';
  test.each<[string, Record<string, string>]>([
    ['another port to go back to', { redirect_uri: EVIL }],
    ['another verifier', { code_challenge: 'B'.repeat(43) }],
    ['both, and another state', { redirect_uri: EVIL, code_challenge: 'B'.repeat(43), state: 'evil' }],
    ['another state', { state: 'evil' }],
    ['another scope', { scope: 'mail:everything' }],
  ])('while a request waits, one of the same program with %s is refused and changes nothing: whoever is allowed is the one that was shown', async (_, other) => {
    await using world = await SignInWorld.start();
    const program = await world.program();
    const first = await program.browse();
    const [shown] = world.policy.snapshot().waiting;
    const { status, headers, text } = await program.browse(other);
    expect([status, headers['retry-after'], headers.location]).toEqual([503, '60', undefined]);
    expect(text).toContain('Another request of this program waits in Belfry, and it is not the one of this page.');
    expect(text).not.toContain('class="code"');
    expect(world.policy.snapshot().waiting).toEqual([shown]);
    expect(world.asked).toHaveLength(1);
    // Loaded again it is the very page that it was.
    expect(/class="code".*/.exec((await program.browse()).text)![0]).toBe(/class="code".*/.exec(first.text)![0]);
    world.policy.answer(shown!.id, true);
    const back = new URL((await program.browse()).headers.location!);
    expect(back.origin + back.pathname).toBe(REDIRECT);
    expect((await program.redeem(back.searchParams.get('code')!)).status).toBe(200);
  });

  test('a code that the owner saw is not to be had by asking again: six times a minute, and never the same', async () => {
    await using world = await SignInWorld.start();
    const program = await world.program();
    const codes: string[] = [];
    for (let at = 0; at < 20; at++) {
      const { status, headers, text } = await program.browse({ state: `s${at}` });
      expect([status, headers['retry-after']]).toEqual(at < 6 ? [200, undefined] : [429, '60']);
      if (at >= 6) continue;
      codes.push(/class="code"[^>]*>(\d{4})</.exec(text)![1]!);
      world.answer(false);
    }
    expect(new Set(codes).size).toBe(6);
    expect(world.asked).toHaveLength(6);
    // Another program is not kept out by it.
    expect((await (await world.program()).browse()).status).toBe(200);
    world.clock.pass(MINUTE);
    expect((await program.browse({ state: 'later' })).status).toBe(200);
  });

  test('one that was allowed waits for its browser, however many ask after it, and ten minutes at most', async () => {
    await using world = await SignInWorld.start();
    const [program, late] = [await world.program(), await world.program()];
    for (const each of [program, late]) {
      await each.browse();
      world.answer(true);
    }
    const others = await Promise.all([0, 1, 2, 3].map(() => world.program()));
    for (let at = 0; at < 60; at++) {
      expect((await others[at % 4]!.browse({ state: `s${at}` })).status).toBe(200);
      world.answer(false);
      world.clock.pass(4_000);
    }
    expect((await program.browse()).status).toBe(302);
    world.clock.pass(6 * MINUTE);
    const { status, headers, text } = await late.browse();
    expect([status, headers.location]).toEqual([410, undefined]);
    expect(text).toContain('this page was not loaded within ten minutes');
  });
});

describe('tokens', () => {
  test.each<[string, Record<string, string>, string, RegExp]>([
    ['another verifier', { code_verifier: 'A'.repeat(43) }, 'invalid_grant', /code: does not belong/],
    ['the challenge as verifier (plain)', { code_verifier: 'CHALLENGE' }, 'invalid_grant', /code: does not belong/],
    ['another redirect_uri', { redirect_uri: 'http://127.0.0.1:4000/callback' }, 'invalid_grant', /code: does not belong/],
  ])('%s: refused, and the code is used up', async (_, changed, error, says) => {
    await using world = await SignInWorld.start();
    const program = await world.program();
    const code = await program.code();
    const fields = changed['code_verifier'] === 'CHALLENGE' ? { code_verifier: createHash('sha256').update(program.verifier).digest('base64url') } : changed;
    const refused = await program.redeem(code, fields);
    expect([refused.status, refused.json]).toEqual([400, { error, error_description: expect.stringMatching(says) }]);
    expect((await program.redeem(code)).json).toMatchObject({ error: 'invalid_grant' });
  });

  test('a code of one program is nothing to another', async () => {
    await using world = await SignInWorld.start();
    const [program, other] = [await world.program(), await world.program()];
    const code = await program.code();
    expect((await other.redeem(code, { code_verifier: program.verifier })).json).toMatchObject({ error: 'invalid_grant' });
  });

  test('a code used twice ends what came of it', async () => {
    await using world = await SignInWorld.start();
    const program = await world.program();
    const code = await program.code();
    const { json } = await program.redeem(code);
    expect(world.policy.credentials.credentialOf(json['access_token'] as string)).not.toBeNull();
    const again = await program.redeem(code);
    expect([again.status, again.json]).toEqual([400, { error: 'invalid_grant', error_description: 'code: is unknown, used or over' }]);
    expect(world.policy.credentials.credentialOf(json['access_token'] as string)).toBeNull();
    expect((await program.refresh(json['refresh_token'] as string)).status).not.toBe(200);
    expect(world.policy.snapshot().clients).toEqual([]);
  });

  test('a code is over after ten minutes', async () => {
    await using world = await SignInWorld.start();
    const program = await world.program();
    const code = await program.code();
    world.clock.pass(10 * MINUTE);
    expect((await program.redeem(code)).json['error']).toMatch(/invalid_grant|invalid_client/);
    expect(world.policy.snapshot().tokens.filter(({ usedOn }) => usedOn !== null)).toEqual([]);
  });

  test('a refresh token used twice ends the sign-in', async () => {
    await using world = await SignInWorld.start();
    const program = await world.program();
    const first = await program.signIn();
    const { json: second } = await program.refresh(first.refresh);
    expect((await program.refresh(first.refresh)).json).toMatchObject({ error: 'invalid_grant' });
    expect(world.policy.credentials.credentialOf(second['access_token'] as string)).toBeNull();
    expect((await program.refresh(second['refresh_token'] as string)).status).toBe(400);
  });

  test('revoked by the owner: neither token holds', async () => {
    await using world = await SignInWorld.start();
    const program = await world.program();
    const { access, refresh } = await program.signIn();
    const { id } = world.policy.credentials.credentialOf(access)!.identity;
    world.policy.revokeClient(id);
    expect(world.policy.credentials.credentialOf(access)).toBeNull();
    expect((await program.refresh(refresh)).json['error']).toMatch(/invalid_grant|invalid_client/);
  });

  test.each<[string, Record<string, string>, number, string]>([
    ['no grant_type', { grant_type: '' }, 400, 'invalid_request'],
    ['a password', { grant_type: 'password', username: 'ada', password: 'x' }, 400, 'unsupported_grant_type'],
    ['credentials of the program', { grant_type: 'client_credentials' }, 400, 'unsupported_grant_type'],
    ['a device', { grant_type: 'urn:ietf:params:oauth:grant-type:device_code' }, 400, 'unsupported_grant_type'],
    ['another resource', { resource: 'https://mail.example/mcp' }, 400, 'invalid_target'],
    ['no code', { code: '' }, 400, 'invalid_request'],
    ['no verifier', { code_verifier: '' }, 400, 'invalid_request'],
    ['a short verifier', { code_verifier: 'short' }, 400, 'invalid_request'],
    ['no redirect_uri', { redirect_uri: '' }, 400, 'invalid_request'],
    ['no client_id', { client_id: '' }, 400, 'invalid_request'],
    ['an unknown program', { client_id: 'AAAAAAAAAAAAAAAAAAAAAA' }, 401, 'invalid_client'],
    ['a secret that was never given', { client_secret: 'x' }, 401, 'invalid_client'],
    ['a code that is made up', { code: 'belfry_code_x' }, 400, 'invalid_grant'],
  ])('%s', async (_, changed, status, error) => {
    await using world = await SignInWorld.start();
    const program = await world.program();
    const answer = await program.redeem('belfry_code_none', changed);
    expect([answer.status, answer.json['error'], answer.headers['cache-control']]).toEqual([status, error, 'no-store']);
    expect(answer.json['error_description']).toEqual(expect.any(String));
  });

  test('a field twice, fields in the address, another type of body, a secret in a header', async () => {
    await using world = await SignInWorld.start();
    const program = await world.program();
    const once = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'x', client_id: program.clientId }).toString();
    expect((await world.form('/oauth/token', `${once}&client_id=other`)).json).toEqual({ error: 'invalid_request', error_description: 'client_id: must be there only once' });
    expect((await world.form(`/oauth/token?${once}`, '')).json).toEqual({ error: 'invalid_request', error_description: 'Parameters belong into the body' });
    expect((await world.form('/oauth/token', '{}', { 'content-type': 'application/json' })).status).toBe(415);
    const basic = await world.form('/oauth/token', once, { authorization: `Basic ${Buffer.from(`${program.clientId}:x`).toString('base64')}` });
    expect([basic.status, basic.json['error'], basic.headers['www-authenticate']]).toEqual([401, 'invalid_client', 'Basic realm="Belfry"']);
    expect((await world.send('/oauth/token')).headers['allow']).toBe('POST');
  });

  test('sixty in an hour for those that nobody knows, and a program that is known has its own', async () => {
    await using world = await SignInWorld.start();
    const program = await world.program();
    for (let at = 0; at < 60; at++) expect((await world.form('/oauth/token', { client_id: `unknown-${at}` })).status).toBe(401);
    const over = await world.form('/oauth/token', { client_id: 'unknown' });
    expect([over.status, over.headers['retry-after']]).toEqual([429, '60']);
    expect((await program.redeem('belfry_code_none')).status).toBe(400);
  });

  test('a token in the address of /mcp is refused, and so is one as a bearer that is none', async () => {
    await using world = await SignInWorld.start();
    const program = await world.program();
    const { access, refresh } = await program.signIn();
    const headers = { 'content-type': 'application/json' };
    const inQuery = await world.send(`/mcp?access_token=${access}`, { method: 'POST', headers, body: '{}' });
    expect([inQuery.status, inQuery.text.includes('Authorization header')]).toEqual([400, true]);
    for (const token of [refresh, `${access}x`, access.toUpperCase()]) {
      expect((await world.send('/mcp', { method: 'POST', headers: { ...headers, authorization: `Bearer ${token}` }, body: '{}' })).status).toBe(401);
    }
  });
});

test('what is not there is 404', async () => {
  await using world = await SignInWorld.start();
  for (const path of ['/oauth', '/oauth/authorize/x', '/oauth/device', '/authorize', '/.well-known/jwks.json', '/.well-known/oauth-protected-resource/other']) {
    expect((await world.send(path)).status).toBe(404);
  }
});
