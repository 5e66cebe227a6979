import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { _electron, type ElectronApplication, type Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWriter, type Writer } from '../../app/testing/writer-client.ts';
import { openSettings } from '../../app/testing/world.ts';
import { projectRoot, smokeStage } from './smoke-app.ts';

/** The real main, preload and page on a real Electron. It proves the wiring, not the version of Electron that ships. */
const stage = await smokeStage();
if ('skipped' in stage) console.log(`skipped: ${stage.skipped}`);

describe.skipIf('skipped' in stage)('the app on a real Electron', () => {
  if ('skipped' in stage) return;
  const { folder, command, env } = stage;
  const shots = join(projectRoot, '.cache', 'screenshots');
  const dataDir = folder.at('data');
  const errors: string[] = [];
  let writer: Writer;
  let electron: ElectronApplication;
  let page: Page;

  const windowOf = async (view: string): Promise<Page> => {
    const found = () => electron.windows().find((each) => each.url().includes(`view=${view}`));
    while (!found()) await electron.waitForEvent('window', { timeout: 20_000 });
    return found()!;
  };

  beforeAll(async () => {
    mkdirSync(shots, { recursive: true });
    writer = await startWriter({ mailDir: folder.at('Mail', 'V10'), messagesDb: folder.at('Messages', 'chat.db') });
    await writer.mail.addAccount({ description: 'iCloud', email: 'me@icloud.example', kind: 'imap' });
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'settings.json'), JSON.stringify(openSettings));
    writeFileSync(join(dataDir, 'preferences.json'), JSON.stringify({ version: 1, onboarding: 'done' }));
    stage.handOver();
    electron = await _electron.launch({
      executablePath: command,
      args: [`--data-dir=${dataDir}`, `--mail-dir=${folder.at('Mail', 'V10')}`, `--messages-db=${folder.at('Messages', 'chat.db')}`],
      env,
      chromiumSandbox: true,
      timeout: 60_000,
    });
    page = await windowOf('window');
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  }, 120_000);

  afterAll(async () => {
    await electron?.close();
    await writer?.stop();
    await stage[Symbol.asyncDispose]();
  });

  test('the page stands alone: its own origin, no Node, and three functions to the shell', async () => {
    expect(page.url()).toMatch(/^app:\/\/belfry\//);
    expect(await page.evaluate('({ origin: location.origin, require: typeof require, process: typeof process, api: Object.keys(belfry).sort() })')).toEqual({ origin: 'app://belfry', require: 'undefined', process: 'undefined', api: ['onShellMessage', 'postToShell', 'requestEngine'] });
    const preferences = await electron.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().map((window) => {
      const { sandbox, contextIsolation, nodeIntegration } = (window.webContents as unknown as { getLastWebPreferences(): Electron.WebPreferences }).getLastWebPreferences();
      return { sandbox, contextIsolation, nodeIntegration };
    }));
    expect(preferences.length).toBeGreaterThan(0);
    expect(electron.process().spawnargs).not.toContain('--no-sandbox');
    for (const each of preferences) expect(each).toEqual({ sandbox: true, contextIsolation: true, nodeIntegration: false });
  });

  test('an arrival shows in Live, straight from the engine', async () => {
    await page.getByRole('navigation').getByText('Live', { exact: true }).click();
    await page.getByRole('heading', { name: 'Live', level: 1 }).waitFor();
    await writer.mail.arrive({ from: { address: 'ada@example.org', name: 'Ada Lovelace' }, subject: 'Quarterly plan' });
    await page.getByText('Ada Lovelace').first().waitFor({ timeout: 20_000 });
    await page.screenshot({ path: join(shots, 'electron-window.png') });
    expect(errors).toEqual([]);
  });

  test('the panel is made, hidden, and shows the same state without a sender or a subject', async () => {
    const panel = await windowOf('panel');
    const shown = () => electron.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().find((each) => each.webContents.getURL().includes('view=panel'))!.isVisible());
    expect(await shown()).toBe(false);
    await panel.getByText('Watching. No client is listening.').waitFor({ timeout: 20_000 });
    await electron.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().find((each) => each.webContents.getURL().includes('view=panel'))!.showInactive());
    await panel.screenshot({ path: join(shots, 'electron-panel.png') });
    expect(await panel.evaluate('document.body.innerText')).not.toMatch(/Ada|example\.org|Quarterly/);
  });

  test('an engine that is killed comes back, and the page with it', async () => {
    const log = () => readFileSync(join(dataDir, 'logs', 'belfry.log'), 'utf8');
    const pid = Number(/engine 1: ready, process (\d+)/.exec(log())![1]);
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => /engine 2: ready/.test(log()), { timeout: 20_000 }).toBe(true);
    // What arrives before the page looks on again is not shown: it asks anew once it has the new engine.
    await expect.poll(async () => {
      await writer.mail.arrive({ from: { address: 'bob@example.org', name: 'Bob After' }, subject: 'Plan' });
      return page.getByText('Bob After').count();
    }, { timeout: 20_000, interval: 500 }).toBeGreaterThan(0);
  });

  test('a utility process is handed a page\'s port, answers on it, and hears when the page goes', async () => {
    const entry = folder.at('utility-echo.mjs');
    const bundle = await rolldown({ input: join(projectRoot, 'main', 'testing', 'utility-echo.ts'), platform: 'node' });
    await bundle.write({ file: entry, format: 'esm' });
    await bundle.close();
    const heard = await electron.evaluate(async ({ utilityProcess, MessageChannelMain }, entry) => {
      const child = utilityProcess.fork(entry, [], { serviceName: 'echo', execArgv: [] });
      const next = () => new Promise<unknown>((resolve) => { child.once('message', resolve); });
      const { port1, port2 } = new MessageChannelMain();
      const own = next();
      child.postMessage('hello');
      child.postMessage({ ui: true }, [port1]);
      const answered = new Promise<unknown>((resolve) => { port2.once('message', ({ data }) => resolve(data)); });
      port2.start();
      port2.postMessage({ call: 1 });
      const values = [await own, await answered];
      const gone = next();
      port2.close();
      values.push(await gone);
      child.kill();
      return values;
    }, entry);
    expect(heard).toEqual([{ host: 'hello' }, { ui: { call: 1 } }, 'a page went']);
  });

  // Playwright waits for a navigation that was begun, and a refused one never ends: nothing uses the page after this.
  test('the page can neither leave, nor open a window, nor fetch, nor ask for a permission', async () => {
    const before = page.url();
    const tried = await page.evaluate(`(async () => {
      location.assign('https://example.org/');
      const opened = window.open('https://example.org/');
      const fetched = await fetch('https://example.org/').then(() => 'fetched', () => 'refused');
      return { opened, fetched, permission: await Notification.requestPermission() };
    })()`);
    expect(tried).toEqual({ opened: null, fetched: 'refused', permission: 'denied' });
    expect(page.url()).toBe(before);
  });

  test('it quits with its engine', async () => {
    const gone = new Promise((resolve) => { electron.process().once('exit', resolve); });
    await electron.evaluate(({ app }) => app.quit());
    await gone;
    expect(existsSync(join(dataDir, 'run', 'engine.sock'))).toBe(false);
    expect(readFileSync(join(dataDir, 'logs', 'belfry.log'), 'utf8')).not.toMatch(/main: /);
  });
});
