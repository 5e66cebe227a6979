import { mkdirSync, writeFileSync } from 'node:fs';
import { subscribe } from 'node:diagnostics_channel';
import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { engineOf } from '../engine/host.ts';
import { MAX_PAGES, startPage } from '../engine/page.ts';
import { PageSession } from '../engine/page-session.ts';
import { BrowserShell, browserShell } from '../engine/browser-shell.ts';
import { browserPath, openTab } from './browser.ts';
import { openPage, signIn } from './page-client.ts';
import { tempFolder, type TempFolder } from './temp.ts';
import { startWorld } from './world.ts';

/** A page of three files beside something that is no part of it. */
function builtPage(folder: TempFolder): string {
  mkdirSync(folder.at('page', 'assets'), { recursive: true });
  writeFileSync(folder.at('page', 'index.html'), '<!doctype html><title>Belfry</title>');
  writeFileSync(folder.at('page', 'assets', 'main-1a2b3c4d.js'), 'export {};');
  writeFileSync(folder.at('page', 'notes.txt'), 'not of the page');
  writeFileSync(folder.at('secret.html'), 'outside');
  return folder.at('page');
}

/** Nothing of this user's home is looked at. */
const own = (folder: TempFolder) => ({ wiring: { home: folder.at('home') }, usualFolder: false });

describe('the page on loopback', () => {
  test('opens by a code that works once, for this computer only, and serves the files that were there at start', async () => {
    await using world = await startWorld();
    const page = await startPage(world.engine, { port: 0, folder: builtPage(world.folder), ...own(world.folder) });
    const url = new URL(page.address);
    const get = (path: string, headers: Record<string, string> = {}) => fetch(`${url.origin}${path}`, { headers, redirect: 'manual' });
    expect((await get('/')).status).toBe(403);
    expect((await get('/?code=wrong')).status).toBe(403);
    expect((await get(`/${url.search}`, { origin: 'http://evil.example' })).status).toBe(403);
    const opened = await get(`/${url.search}&view=panel`);
    expect(opened.status).toBe(303);
    expect(opened.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Strict/);
    expect(opened.headers.get('location')).toMatch(/^\/\?view=panel#key=[\w-]{32}$/);
    expect((await get(`/${url.search}`)).status).toBe(403);
    const cookie = opened.headers.get('set-cookie')!.split(';')[0]!;
    const shown = await get('/?view=window&fixture=listening', { cookie });
    expect([shown.status, await shown.text()]).toEqual([200, '<!doctype html><title>Belfry</title>']);
    expect(shown.headers.get('content-security-policy')).toMatch(/default-src 'none'; script-src 'self';/);
    expect(shown.headers.get('content-security-policy')).not.toMatch(/unsafe|\*/);
    expect(shown.headers.get('cache-control')).toBe('no-store');
    const script = await get('/assets/main-1a2b3c4d.js', { cookie });
    expect([script.status, script.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
    expect(script.headers.get('cache-control')).toMatch(/immutable/);
    writeFileSync(world.folder.at('page', 'late.js'), 'export {};');
    for (const path of ['/late.js', '/notes.txt', '/..%2fsecret.html', '/%2e%2e/secret.html', '/__proto__']) expect((await get(path, { cookie })).status, path).toBe(404);
    expect((await fetch(`${url.origin}/`, { method: 'POST', headers: { cookie, origin: url.origin } })).status).toBe(405);
    await page.close();
  });

  test('a cookie that another server of this computer was sent opens no bridge', async () => {
    await using world = await startWorld();
    const page = await startPage(world.engine, { port: 0, folder: builtPage(world.folder), ...own(world.folder) });
    const { origin } = new URL(page.address);
    const { cookie, key } = await signIn(page.address);
    for (const query of ['', '?key=', `?key=${key.slice(1)}`, `?key=${cookie.split('=')[1]}`, `?session=${key}`]) {
      expect((await fetch(`${origin}/bridge${query}`, { headers: { cookie } })).status, query).toBe(403);
    }
    expect((await fetch(`${origin}/bridge?key=${key}`)).status).toBe(403);
    const posted = await fetch(`${origin}/bridge?session=x&key=${key}`, { method: 'POST', headers: { cookie, origin, 'content-type': 'application/json' }, body: '{"port":"engine","value":{}}' });
    expect(posted.status).toBe(410);
    await page.close();
  });

  test('a name of this computer that is not its own is refused (DNS rebinding)', async () => {
    await using world = await startWorld();
    const page = await startPage(world.engine, { port: 0, folder: builtPage(world.folder), ...own(world.folder) });
    const { port } = new URL(page.address);
    const status = await new Promise((resolve) => {
      request({ host: '127.0.0.1', port, path: '/', headers: { host: `evil.example:${port}` } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).end();
    });
    expect(status).toBe(403);
    await page.close();
  });

  test('without a built page it says how to get one', async () => {
    await using world = await startWorld();
    const page = await startPage(world.engine, { port: 0, folder: world.folder.at('nowhere'), ...own(world.folder) });
    const { cookie } = await signIn(page.address);
    const answer = await fetch(new URL('/', page.address), { headers: { cookie } });
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringMatching(/npm run build/)]);
    await page.close();
  });

  test('an engine of the app serves no page', async () => {
    using folder = tempFolder();
    const engine = engineOf({ dataDir: folder.at('data'), mailDir: folder.at('Mail'), messagesDb: folder.at('chat.db') }, 'app', () => undefined, () => undefined);
    await expect(startPage(engine, { port: 0, ...own(folder) })).rejects.toThrow(/own window/);
    await engine.stop();
  });
});

describe('the bridge of the page', () => {
  test('carries both schemas, with calls, refusals and notifications', async () => {
    await using world = await startWorld({ settings: { events: {} } });
    const page = await startPage(world.engine, { port: 0, folder: builtPage(world.folder), ...own(world.folder) });
    const { origin } = new URL(page.address);
    const client = await openPage(origin, await signIn(page.address));
    expect(await client.shell.call.shell.state({})).toMatchObject({ kind: 'browser', engine: 'running', location: 'unpackaged' });
    expect(await client.shell.call.shell.act({ action: 'open-full-disk-access' })).toMatchObject({ ok: false, code: 'refused' });
    const told = new Promise((resolve) => client.shell.on('state', resolve));
    expect(await client.shell.call.shell.setPreference({ key: 'hideDetails', value: true })).toMatchObject({ ok: true });
    expect(await told).toMatchObject({ preferences: { hideDetails: true } });
    expect(await client.shell.call.shell.setPreference({ key: 'hideDetails', value: 'yes' })).toMatchObject({ ok: false, code: 'invalid' });

    const changed = new Promise((resolve) => client.engine.on('changed', resolve));
    expect((await client.engine.call.app.snapshot({})).events.map(({ on }) => on)).toEqual([false, false]);
    expect(await client.engine.call.events.set({ type: 'mail.received', on: true })).toMatchObject({ ok: true });
    expect(await changed).toMatchObject({ events: [{ type: 'mail.received', on: true }, {}] });
    await page.close();
    await client.ended;
  });

  test('wires other programs in the home folder that it was given, after the change was shown', async () => {
    await using world = await startWorld();
    mkdirSync(world.folder.at('home', '.cursor'), { recursive: true });
    const page = await startPage(world.engine, { port: 0, folder: builtPage(world.folder), ...own(world.folder) });
    const { shell, close } = await openPage(new URL(page.address).origin, await signIn(page.address));
    const cursor = async () => (await shell.call.wiring.list({})).find(({ id }) => id === 'cursor');
    expect(await cursor()).toMatchObject({ state: 'not-set-up', file: '~/.cursor/mcp.json' });
    const preview = await shell.call.wiring.preview({ id: 'cursor', change: 'add' });
    expect(preview).toMatchObject({ ok: true, sentence: expect.stringContaining(`"--socket" and "${world.engine.socketPath}"`) });
    const told = new Promise((resolve) => shell.on('state', resolve));
    expect(await shell.call.wiring.apply({ token: (preview as { token: string }).token })).toMatchObject({ ok: true });
    await told;
    expect(await cursor()).toMatchObject({ state: 'set-up' });
    expect(await shell.call.wiring.apply({ token: (preview as { token: string }).token })).toMatchObject({ ok: false });
    close();
    await page.close();
  });

  test('takes frames of its own pages only', async () => {
    await using world = await startWorld();
    const page = await startPage(world.engine, { port: 0, folder: builtPage(world.folder), ...own(world.folder) });
    const { origin } = new URL(page.address);
    const signedIn = await signIn(page.address);
    const client = await openPage(origin, signedIn);
    const { cookie } = signedIn;
    const json = { 'content-type': 'application/json' };
    const body = JSON.stringify({ port: 'engine', value: {} });
    const post = async (headers: Record<string, string>, text = body, session = client.session) =>
      (await fetch(`${origin}/bridge?session=${session}`, { method: 'POST', headers, body: text })).status;
    expect(await post({ cookie, origin, ...json })).toBe(204);
    expect(await post({ origin, ...json })).toBe(403);
    expect(await post({ cookie, ...json })).toBe(403);
    expect(await post({ cookie, origin: 'http://evil.example', ...json })).toBe(403);
    expect(await post({ cookie, origin })).toBe(415);
    expect(await post({ cookie, origin, ...json }, 'x')).toBe(400);
    expect(await post({ cookie, origin, ...json }, '{"port":"other","value":1}')).toBe(400);
    expect(await post({ cookie, origin, ...json }, body, 'another')).toBe(410);
    expect(await post({ cookie, origin, ...json }, JSON.stringify({ port: 'engine', value: 'x'.repeat(9_000_000) }))).toBe(413);
    expect(await client.engine.call.pause.get({})).toBeNull();
    await page.close();
  });

  test('a session ends with its stream, and so many pages are served at once', async () => {
    await using world = await startWorld();
    const page = await startPage(world.engine, { port: 0, folder: builtPage(world.folder), ...own(world.folder) });
    const { origin } = new URL(page.address);
    const signedIn = await signIn(page.address);
    const clients = await Promise.all(Array.from({ length: MAX_PAGES }, () => openPage(origin, signedIn)));
    await expect(openPage(origin, signedIn)).rejects.toThrow(/503/);
    clients[0]!.close();
    await expect.poll(async () => (await clients[0]!.post({ port: 'engine', value: {} })).status, { timeout: 30_000 }).toBe(410);
    expect((await openPage(origin, signedIn)).session).not.toBe(clients[0]!.session);
    await page.close();
  });

  test('a page that reads nothing is dropped', async () => {
    await using world = await startWorld();
    const stuck = new Writable({ write: () => undefined });
    const session = new PageSession(world.engine, stuck as ServerResponse, (notify) => browserShell(new BrowserShell({ wiring: null, socketPath: null }), notify));
    for (let id = 1; !stuck.destroyed; id += 1) {
      session.heard({ port: 'engine', value: { call: 'events.catalogue', id, params: {} } });
      await new Promise((resolve) => { setImmediate(resolve); });
      expect(stuck.writableLength).toBeLessThan(17 * 1024 * 1024);
    }
    session.close();
  });
});

describe.skipIf(browserPath === undefined)('the built page in a real browser', () => {
  test('hostile names stay text, and nothing of the page offends its own policy', async () => {
    await using world = await startWorld();
    const page = await startPage(world.engine, { port: 0, ...own(world.folder) });
    const client = world.client();
    await client.stream('mail.received', { domains: ['example.org'] }, {}, 1);
    await using opened = await openTab(page.address.replace('/?', '/?view=window&screen=live&'));
    const { tab, faults } = opened;
    const rows = tab.getByRole('list', { name: 'Events, newest first' }).getByRole('listitem');
    await tab.getByText('Nothing yet.').waitFor();
    await world.writer.mail.arrive({ from: { address: 'ada@example.org', name: '<img src=x onerror=alert(1)>' }, subject: '</script><b>hi</b>' });
    await rows.filter({ hasText: 'Sent, not confirmed' }).waitFor();
    expect(await rows.first().innerText()).toContain('<img src=x onerror=alert(1)>');
    expect(await rows.locator('img, b').count()).toBe(0);
    expect(faults).toEqual([]);
    await page.close();
  });

  test('shows fixtures from the same files, without a word to the engine', async () => {
    await using world = await startWorld();
    const page = await startPage(world.engine, { port: 0, ...own(world.folder) });
    await using opened = await openTab(page.address.replace('/?', '/?view=window&fixture=paused&'));
    await opened.tab.getByRole('button', { name: 'Resume' }).first().waitFor();
    expect(world.engine.policy.pausedUntil).toBeNull();
    expect(opened.faults).toEqual([]);
    await page.close();
  });

  test('a stream that breaks is opened again, and the page goes on', async () => {
    await using world = await startWorld();
    const streams = new Set<Socket>();
    subscribe('http.server.request.start', (message) => {
      const { request, socket } = message as { request: IncomingMessage; socket: Socket };
      if (request.method === 'GET' && request.url?.startsWith('/bridge?key=')) streams.add(socket);
    });
    const page = await startPage(world.engine, { port: 0, ...own(world.folder) });
    await using opened = await openTab(page.address);
    const { tab } = opened;
    await tab.getByText('Watching. No client is listening.').waitFor();
    for (const socket of streams) socket.destroy();
    world.engine.policy.pause(null);
    await tab.getByText('Paused until you resume.').waitFor();
    await tab.getByRole('button', { name: 'Resume' }).first().click();
    await tab.getByText('Watching. No client is listening.').waitFor();
    await page.close();
  });
});
