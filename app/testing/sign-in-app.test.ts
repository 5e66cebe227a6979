import { expect, test } from 'vitest';
import { runRemote } from '../cli/remote-command.ts';
import { commandRunner } from '../engine/commands.ts';
import type { Engine } from '../engine/engine.ts';
import { engineOf } from '../engine/host.ts';
import { version } from '../engine/version.ts';
import { uiOf } from './memory-ports.ts';
import { send } from './sign-in-kit.ts';
import { tempFolder, type TempFolder } from './temp.ts';

/** The engine as the app runs it: settings sealed, commands of the socket are anybody's. */
async function startApp(folder: TempFolder, log: string[]): Promise<Engine> {
  const engine = engineOf(
    { dataDir: folder.at('data'), mailDir: folder.at('Mail'), messagesDb: folder.at('chat.db'), accountsDb: folder.at('none'), addressBookDir: folder.at('none'), sealKey: Buffer.alloc(32, 9).toString('base64'), httpPort: 0 },
    'app', (line) => log.push(line), () => undefined,
  );
  engine.command = commandRunner(engine, 'app');
  await engine.start();
  return engine;
}

/** A command as any program of this user can run it. */
async function command(engine: Engine, ...argv: string[]): Promise<{ code: number; said: string }> {
  let said = '';
  const add = (bytes: Buffer) => void (said += bytes.toString());
  return { code: await runRemote(engine.socketPath, version, argv, { out: add, err: add }), said };
}

test('in the app a program may ask for a token and never sees it: the window is told it once', async () => {
  using folder = tempFolder();
  const log: string[] = [];
  const engine = await startApp(folder, log);
  try {
    using ui = uiOf(engine);
    const asked = await command(engine, 'tokens', 'create', 'agent');
    expect(asked).toEqual({ code: 2, said: 'belfry: This lets more through, so the owner has to allow it: it is in Waiting for you.\n' });
    const [waiting] = await ui.call.clients.waiting({});
    expect(waiting).toMatchObject({ kind: 'change', sentence: 'Make a token "agent"' });
    expect((await command(engine, 'waiting', 'allow', waiting!.id)).code).toBe(2);
    const outcome = await ui.call.clients.answer({ id: waiting!.id, accept: true, options: {} });
    expect(outcome).toMatchObject({ ok: true, token: expect.stringMatching(/^belfry_[\w-]{43}$/) });
    const token = (outcome as { token: string }).token;
    expect(await ui.call.tokens.list({})).toMatchObject([{ kind: 'token', label: 'agent', usedOn: null }]);
    // Told once: in no state, no command and no log.
    const rest = [JSON.stringify(await ui.call.app.snapshot({})), JSON.stringify(await ui.call.activity.recent({ limit: 100, filter: {} })), log.join('\n')];
    for (const args of [['tokens', 'list'], ['clients', 'list'], ['waiting', 'list'], ['status']]) rest.push((await command(engine, ...args, '--json')).said);
    for (const text of rest) expect(text).not.toContain(token.slice(0, 20));
    const { id } = (await ui.call.tokens.list({}))[0]!;
    // Narrowing, so anybody may.
    expect((await command(engine, 'tokens', 'revoke', id)).code).toBe(0);
    expect(engine.policy.credentials.credentialOf(token)).toBeNull();

    const own = await ui.call.tokens.create({ label: 'Laptop', options: { grants: ['mail'] } });
    expect(own).toMatchObject({ ok: true, token: expect.stringMatching(/^belfry_/) });
    expect((await ui.call.clients.list({})).find(({ label }) => label === 'Laptop')).toMatchObject({ by: 'token', grants: ['mail'], state: 'away', decision: 'always' });
  } finally {
    await engine.stop();
  }
});

test('in the app only the window allows a sign-in', async () => {
  using folder = tempFolder();
  const log: string[] = [];
  const engine = await startApp(folder, log);
  try {
    using ui = uiOf(engine);
    const { origin } = new URL(engine.http.state.url!);
    const { json } = await send(origin, '/oauth/register', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"redirect_uris":["cursor://x/y"],"client_name":"agent"}' });
    const query = new URLSearchParams({ response_type: 'code', client_id: json['client_id'] as string, redirect_uri: 'cursor://x/y', code_challenge: 'A'.repeat(43), code_challenge_method: 'S256' });
    const address = `/oauth/authorize?${query.toString()}`;
    const page = await send(origin, address);
    const [waiting] = await ui.call.clients.waiting({});
    expect(waiting).toMatchObject({ kind: 'sign-in', name: 'agent', host: 'cursor', expiresAt: waiting!.since + 600_000, grants: [] });
    expect(page.text).toContain(`>${(waiting as { code: string }).code}<`);
    expect(page.text).toContain('choose <strong>Clients</strong>');
    // Who knew the code could call itself by it.
    for (const argv of [['clients', 'list'], ['waiting', 'list'], ['clients', 'list', '--json'], ['waiting', 'list', '--json']]) {
      const { said } = await command(engine, ...argv);
      expect(said).toContain('asks to sign in.');
      expect(said).not.toMatch(new RegExp(`\\b${(waiting as { code: string }).code}\\b`));
    }
    // With the right code or another one it is the same refusal, so that nobody learns it here.
    const refusals = new Set<string>();
    for (const list of ['clients', 'waiting']) {
      for (const more of [[], ['--code', (waiting as { code: string }).code], ['--code', String((Number((waiting as { code: string }).code) + 1) % 10_000).padStart(4, '0')]]) {
        const { code, said } = await command(engine, list, 'allow', waiting!.id, ...more);
        expect(code).toBe(2);
        refusals.add(`${list}: ${said}`);
      }
    }
    expect([...refusals]).toEqual([
      'clients: belfry: This sign-in is in Waiting for you already: only the owner can allow it, who compares its code.\n',
      "waiting: belfry: Only the owner can allow this, in Belfry's window.\n",
    ]);
    expect((await send(origin, address)).status).toBe(200);
    expect(await ui.call.clients.waiting({})).toHaveLength(1);
    expect(await ui.call.clients.answer({ id: waiting!.id, accept: true, options: { events: ['mail.received'] } })).toMatchObject({ ok: true });
    expect(new URL((await send(origin, address)).headers.location!).searchParams.get('code')).toMatch(/^belfry_code_/);
    expect(await ui.call.clients.list({})).toMatchObject([{ by: 'sign-in', events: ['mail.received'], label: 'agent' }]);
    expect(log.join('\n')).not.toMatch(/agent|code \d{4}/);
  } finally {
    await engine.stop();
  }
});
