import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport, UnauthorizedError, type OAuthClientProvider } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { runRemote } from '../cli/remote-command.ts';
import { commandRunner } from '../engine/commands.ts';
import { version } from '../engine/version.ts';
import type { TokenPair } from '../policy/sign-ins.ts';
import { EXTENSION, MAIL, mailArgs, ring } from './conformance-kit.ts';
import { streamOf, type HttpClient, type HttpStream } from './http-client.ts';
import { officialEntry } from './official-suite.ts';
import { send } from './sign-in-kit.ts';
import { startWorld, type World } from './world.ts';

const REDIRECT = 'http://127.0.0.1:3999/callback';

type Stored = Awaited<ReturnType<OAuthClientProvider['clientInformation']>>;
type Found = Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>;
type Tokens = Awaited<ReturnType<OAuthClientProvider['tokens']>>;

/** What a client keeps between its steps, and where it would have sent the browser. */
class Provider implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata = { redirect_uris: [REDIRECT], client_name: 'official client', token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };
  #client: Stored;
  #tokens: Tokens;
  #verifier = '';
  #found: Found;
  opened: URL | null = null;

  state(): string {
    return 'its-state';
  }
  clientInformation(): Stored {
    return this.#client;
  }
  saveClientInformation(client: NonNullable<Stored>): void {
    this.#client = client;
  }
  tokens(): Tokens {
    return this.#tokens;
  }
  saveTokens(tokens: NonNullable<Tokens>): void {
    this.#tokens = tokens;
  }
  redirectToAuthorization(url: URL): void {
    this.opened = url;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier(): string {
    return this.#verifier;
  }
  saveDiscoveryState(found: NonNullable<Found>): void {
    this.#found = found;
  }
  discoveryState(): Found {
    return this.#found;
  }
  invalidateCredentials(): void {
    this.#tokens = undefined;
  }
}

const official = () => new Client({ name: 'official', version: '1.0.0' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
const page = (url: URL) => send(url.origin, url.pathname + url.search);

/** One command line as a person types it into a terminal. */
async function belfry(world: World, ...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  world.engine.command ??= commandRunner(world.engine, 'serve');
  let [out, err] = ['', ''];
  const code = await runRemote(world.engine.socketPath, version, argv, { out: (bytes) => void (out += bytes.toString()), err: (bytes) => void (err += bytes.toString()) });
  return { code, out, err };
}

test.each(['127.0.0.1', 'localhost'])('the official client finds its way by itself from %s, is allowed in a terminal, renews its token, and is out when revoked', async (name) => {
  await using world = await startWorld({ http: true, trust: false });
  const url = new URL(world.engine.http.state.url!.replace('127.0.0.1', name));
  const provider = new Provider();
  const first = new StreamableHTTPClientTransport(url, { authProvider: provider });
  await expect(official().connect(first)).rejects.toBeInstanceOf(UnauthorizedError);
  const opened = provider.opened!;
  expect([opened.origin, opened.searchParams.get('resource')]).toEqual([url.origin, url.href]);

  const waiting = await page(opened);
  expect([waiting.status, waiting.headers.location]).toEqual([200, undefined]);
  const code = /class="code"[^>]*>(\d{4})</.exec(waiting.text)![1]!;
  const listed = await belfry(world, 'clients', 'list');
  expect(listed.out).toContain(`Code ${code}: "official client" asks to sign in.`);
  const id = /^([0-9a-f]{8}) {2}Code \d{4}: .*asks to sign in/m.exec(listed.out)![1]!;
  expect(world.log.filter((line) => line.includes(code))).toEqual([
    `A sign-in waits for you with the code ${code}. If the page in your browser shows the same, "belfry clients allow ${id} --code ${code}" allows it.`,
  ]);
  expect(world.log.join('\n')).not.toContain('official client');
  for (const list of ['clients', 'waiting']) {
    expect(await belfry(world, list, 'allow', id)).toMatchObject({ code: 3, err: expect.stringMatching(/add --code and the four digits/) });
    expect(await belfry(world, list, 'allow', id, '--code', String((Number(code) + 1) % 10_000).padStart(4, '0'))).toMatchObject({ code: 2, err: expect.stringMatching(/has another code, so nothing was allowed/) });
  }
  const allowed = await belfry(world, 'clients', 'allow', id, '--code', code, '--events', 'mail.received');
  expect(allowed).toMatchObject({ code: 0, out: expect.stringMatching(/^"official client" \([0-9a-f]{8}\) is allowed\. Events: mail\.received\. Senders: all that are allowed\. Grants: none\.\n$/) });
  const client8 = /\(([0-9a-f]{8})\)/.exec(allowed.out)![1]!;
  expect(await belfry(world, 'waiting', 'allow', id, '--code', code)).toMatchObject({ code: 3, err: expect.stringMatching(/waits any more/) });

  const back = await page(opened);
  expect(back.status).toBe(302);
  await first.finishAuth(new URL(back.headers.location!).searchParams);
  const client = official();
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }));
  try {
    expect(client.getServerCapabilities()?.extensions).toEqual({ [EXTENSION]: {} });
    expect((await client.listTools()).tools.map((tool) => tool.name)).toContain('watch_events');
    expect(await client.callTool({ name: 'watch_events', arguments: { event: MAIL, arguments: mailArgs } })).not.toMatchObject({ isError: true });
    await ring(world, 'Signed in');
    await expect.poll(async () => JSON.stringify(await client.callTool({ name: 'check_inbox', arguments: {} })), { timeout: 30_000 }).toContain('Signed in');

    // As if its hour were over: the client renews by itself and asks nobody.
    const { access_token: old } = provider.tokens()!;
    provider.opened = null;
    provider.saveTokens({ ...provider.tokens()!, access_token: 'belfry_at_over' });
    await client.request({ method: 'events/list' }, z.looseObject({}));
    expect(provider.tokens()!.access_token).toMatch(/^belfry_at_/);
    expect([provider.tokens()!.access_token === old, provider.opened]).toEqual([false, null]);

    expect((await belfry(world, 'tokens', 'list')).out).toMatch(new RegExp(`^${client8}  sign-in  "official client"  made \\d{4}-\\d\\d-\\d\\d, last used \\d{4}-\\d\\d-\\d\\d\n$`));
    expect((await belfry(world, 'tokens', 'revoke', client8)).code).toBe(0);
    await expect(client.request({ method: 'events/list' }, z.looseObject({}))).rejects.toThrow();
    // It asks anew, as any program may.
    expect(provider.opened).not.toBeNull();
    expect(world.engine.policy.snapshot().tokens).toEqual([]);
  } finally {
    await client.close();
  }
});

test('a token made in a terminal is shown once, lets a client in, survives a restart, and ends an open stream when revoked', async () => {
  await using world = await startWorld({ http: true, trust: false });
  const made = await belfry(world, 'tokens', 'create', 'CI', '--events', 'mail.received', '--json');
  const { token, message } = JSON.parse(made.out) as { token: string; message: string };
  expect([made.code, message]).toEqual([0, expect.stringMatching(/^Token "CI" \([0-9a-f]{8}\) is made\. This is the only time that it is shown\.$/)]);
  for (const args of [['tokens', 'list'], ['clients', 'list'], ['status'], ['doctor']]) expect((await belfry(world, ...args, '--json')).out).not.toContain(token);

  await world.engine.stop();
  await world.startEngine();
  const client = world.httpClient(token);
  const stream = streamOf(await client.listen('events/stream', { name: MAIL, arguments: mailArgs }, { id: 's' }));
  await stream.until(({ message: each }) => each['method'] === 'notifications/events/active');
  await ring(world, 'To a token');
  await stream.until(({ message: each }) => each['method'] === 'notifications/events/event');
  const { id } = world.engine.policy.credentials.credentialOf(token)!.identity;
  expect(world.engine.policy.snapshot().clients).toMatchObject([{ id, label: 'CI', display: 'Token "CI"', by: 'token' }]);

  expect((await belfry(world, 'clients', 'revoke', id)).code).toBe(0);
  await stream.untilEnd();
  expect(stream.frames.map(({ message: each }) => each['method'])).toContain('notifications/events/terminated');
  expect((await client.ask('events/list')).status).toBe(401);
  expect(world.log.join('\n')).not.toMatch(/belfry_|CI/);
});

/** A program that the owner let in, without its browser. */
function signIn(world: World): TokenPair {
  const { signIns } = world.engine.policy;
  const asked = signIns.ask({ clientId: 'program', name: 'agent', redirects: [REDIRECT] }, { host: '127.0.0.1', grants: [] }, () => undefined);
  if (typeof asked === 'string') throw new Error(`Refused: ${asked}`);
  world.engine.policy.answer(asked.id, true);
  return signIns.begin(asked.client)!;
}
async function listening(client: HttpClient): Promise<HttpStream> {
  const stream = streamOf(await client.listen('events/stream', { name: MAIL, arguments: mailArgs }, { id: 's' }));
  await stream.until(({ message }) => message['method'] === 'notifications/events/active');
  return stream;
}

test('a stream goes on when the access token that opened it ran out, and ends with the sign-in', async () => {
  await using world = await startWorld({ http: true, trust: false });
  const { signIns, credentials } = world.engine.policy;
  const { access, refresh } = signIn(world);
  const client = world.httpClient(access);
  const stream = await listening(client);
  // Four newer ones, and it is not among those that hold.
  let last = refresh;
  for (let at = 0; at < 4; at++) last = signIns.renew(last, 'program')!.refresh;
  expect(credentials.credentialOf(access)).toBeNull();
  world.minute();
  expect((await client.ask('events/list')).status).toBe(401);
  await ring(world, 'Still open');
  await stream.until(({ message }) => message['method'] === 'notifications/events/event');
  signIns.giveBack(last, 'program');
  await stream.untilEnd();
});

test.each<[string, (world: World, first: TokenPair) => void]>([
  ['its program gives that token back', (world, { access }) => world.engine.policy.signIns.giveBack(access, 'program')],
  ['its program gives that token back after newer ones took its place', (world, { access, refresh }) => {
    for (let at = 0, last = refresh; at < 5; at++) last = world.engine.policy.signIns.renew(last, 'program')!.refresh;
    world.engine.policy.signIns.giveBack(access, 'program');
  }],
])('a stream ends at once when %s; one of another token of the same sign-in goes on', async (_, giveBack) => {
  await using world = await startWorld({ http: true, trust: false });
  const first = signIn(world);
  const second = world.engine.policy.signIns.renew(first.refresh, 'program')!;
  const [gone, stays] = [await listening(world.httpClient(first.access)), await listening(world.httpClient(second.access))];
  giveBack(world, { ...first, refresh: second.refresh });
  await gone.untilEnd();
  expect(gone.frames.map(({ message }) => message['method'])).toContain('notifications/events/terminated');
  expect((await world.httpClient(first.access).ask('events/list')).status).toBe(401);
  world.minute();
  await ring(world, 'To the other');
  await stays.until(({ message }) => message['method'] === 'notifications/events/event');
  expect(gone.frames.filter(({ message }) => message['method'] === 'notifications/events/event')).toEqual([]);
});

test('a stream ends when its program signs in anew and is given other tokens', async () => {
  await using world = await startWorld({ http: true, trust: false });
  const first = signIn(world);
  const stream = await listening(world.httpClient(first.access));
  const next = signIn(world);
  await stream.untilEnd();
  const again = await listening(world.httpClient(next.access));
  await ring(world, 'To the newer sign-in');
  await again.until(({ message }) => message['method'] === 'notifications/events/event');
});

test('the official suite grades the authorization server', { timeout: 120_000 }, async () => {
  await using world = await startWorld({ http: true, trust: false });
  const { origin, href } = new URL(world.engine.http.state.url!);
  const registered = await send(origin, '/oauth/register', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ redirect_uris: ['http://127.0.0.1/callback'], client_name: 'official suite' }) });
  mkdirSync(world.folder.at('official'));
  const child = spawn(process.execPath, [officialEntry, 'authorization', '--url', origin, '--client-id', registered.json['client_id'] as string, '--resource', href, '--port', String(await freePort()), '-o', world.folder.at('official')], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let opened = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const url = /^(http:\S+\/oauth\/authorize\?\S+)$/m.exec(output)?.[1];
      // It says where to go before it listens for the answer.
      if (url !== undefined && !opened && output.includes('Callback server started')) {
        opened = true;
        goThrough(world, new URL(url)).catch((error: unknown) => {
          output += String(error);
          child.kill();
        });
      }
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code, output).toBe(0);
  const results = readdirSync(world.folder.at('official')).flatMap((name) => JSON.parse(readFileSync(world.folder.at('official', name, 'checks.json'), 'utf8')) as { id: string; status: string }[]);
  expect(Object.fromEntries(results.map(({ id, status }) => [id, status]))).toEqual({
    'authorization-server-metadata': 'SUCCESS', 'authorization-code-grant': 'SUCCESS',
    // Documents on the web in place of registrations are not fetched: Belfry asks no other machine for anything.
    'authorization-server-metadata-cimd': 'WARNING',
  });
});

/** What a person does: look, allow, and let the browser go on. */
async function goThrough(world: World, url: URL): Promise<void> {
  await page(url);
  const [entry] = world.engine.policy.snapshot().waiting;
  world.engine.policy.answer(entry!.id, true);
  await fetch((await page(url)).headers.location!);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
