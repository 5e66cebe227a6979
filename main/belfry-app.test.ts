import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { tempFolder, type TempFolder } from '../app/testing/temp.ts';
import { VirtualClock } from '../app/testing/virtual-clock.ts';
import { BelfryApp } from './belfry-app.ts';
import { CHANNELS } from './origin.ts';
import { answers, BrowserWindow, callsOf, ipcMain, Menu, powerMonitor, reset, Tray } from './testing/electron-double.ts';

let folder: TempFolder;
let clock: VirtualClock;
beforeEach(() => {
  reset();
  folder = tempFolder();
  clock = new VirtualClock();
  mkdirSync(folder.at('dist', 'page'), { recursive: true });
  mkdirSync(folder.at('dist', 'bin'));
  writeFileSync(folder.at('dist', 'page', 'index.html'), '<!doctype html>');
  mkdirSync(folder.at('data'));
  process.getCreationTime ??= () => 0;
  return () => folder.remove();
});

function start({ preferences = {}, background = false, platform = 'darwin' as NodeJS.Platform } = {}): BelfryApp {
  writeFileSync(folder.at('data', 'preferences.json'), JSON.stringify({ version: 1, onboarding: 'done', ...preferences }));
  const belfry = new BelfryApp({
    clock, platform, home: folder.at('home'), log: () => undefined, built: folder.at('dist'), icons: '/icons', updates: null, launch: { background, dataDir: folder.at('data'), engineNode: null, stores: {} },
  });
  belfry.start();
  return belfry;
}
const views = () => BrowserWindow.made.filter(({ destroyed }) => !destroyed).map(({ webContents }) => new URL(webContents.getURL()).searchParams.get('view'));
const ask = (window: BrowserWindow, call: string, params: object, id = 1) => {
  ipcMain.emit(CHANNELS.toShell, { sender: window.webContents, senderFrame: window.webContents.mainFrame }, { call, id, params });
};
const answerTo = async (window: BrowserWindow, call: string, params: object): Promise<unknown> => {
  ask(window, call, params, 99);
  for (let i = 0; i < 50; i += 1) await Promise.resolve();
  const [, , value] = callsOf('webContents.send').findLast(([, , value]) => (value as { id?: number }).id === 99)!;
  return value;
};

describe('what comes up at the start', () => {
  test.each([
    ['opened by the owner', {}, ['window']],
    ['started by a client', { background: true }, []],
    ['not set up yet', { preferences: { onboarding: 'senders' } }, ['onboarding']],
    ['not set up yet, started by a client', { background: true, preferences: { onboarding: 'welcome' } }, []],
  ])('%s', (_name, how, wanted) => {
    start(how);
    expect(views()).toEqual(wanted);
  });

  test('at login nothing comes up', () => {
    answers.openedAtLogin = true;
    start();
    expect(views()).toEqual([]);
  });

  test('from a temporary copy it asks to be moved first', () => {
    answers.packaged = true;
    answers.exe = '/private/var/folders/x/AppTranslocation/1/d/Belfry.app/Contents/MacOS/Belfry';
    start();
    expect(views()).toEqual(['onboarding']);
  });
});

test('opened again it always shows the main window, whatever the icon does', () => {
  const belfry = start({ background: true });
  answers.trayBounds = { x: 0, y: 0, width: 0, height: 0 };
  belfry.reopened();
  expect(views()).toEqual(['window']);
  BrowserWindow.made[0]!.close();
  belfry.reopened();
  expect(views()).toEqual(['window']);
});

test('a click on an icon without a place opens the main window', () => {
  start({ background: true });
  answers.trayBounds = { x: 0, y: 0, width: 0, height: 0 };
  Tray.made[0]!.emit('click', {});
  expect(views()).toEqual(['window']);
});

test('an icon off screen is noticed 2 s after the start', async () => {
  answers.trayBounds = { x: -3000, y: 0, width: 24, height: 24 };
  start();
  const window = BrowserWindow.made[0]!;
  clock.advance(1999);
  expect(await answerTo(window, 'shell.state', {})).toMatchObject({ result: { iconOnScreen: null } });
  clock.advance(1);
  expect(await answerTo(window, 'shell.state', {})).toMatchObject({ result: { iconOnScreen: false } });
});

test('no icon is made where the owner wants none, and it comes and goes with the choice', async () => {
  start({ preferences: { showIcon: false } });
  expect(Tray.made).toEqual([]);
  await answerTo(BrowserWindow.made[0]!, 'shell.setPreference', { key: 'showIcon', value: true });
  expect(Tray.made.length).toBe(1);
  await answerTo(BrowserWindow.made[0]!, 'shell.setPreference', { key: 'showIcon', value: false });
  expect(callsOf('tray.destroy').length).toBe(1);
});

test('opening at login is what the system makes of it', async () => {
  start();
  expect(await answerTo(BrowserWindow.made[0]!, 'shell.setPreference', { key: 'openAtLogin', value: true })).toMatchObject({ ok: true, result: { ok: true } });
  expect(callsOf('app.setLoginItemSettings')).toEqual([[{ openAtLogin: true }]]);
  expect(await answerTo(BrowserWindow.made[0]!, 'shell.state', {})).toMatchObject({ result: { loginItem: 'enabled', preferences: { openAtLogin: true } } });
  answers.loginItem = 'requires-approval';
  BrowserWindow.made[0]!.focus();
  expect(await answerTo(BrowserWindow.made[0]!, 'shell.state', {})).toMatchObject({ result: { loginItem: 'requires-approval' } });
});

test('a call that does not fit the schema is refused with a sentence; one from a foreign frame is not answered', async () => {
  start();
  const window = BrowserWindow.made[0]!;
  expect(await answerTo(window, 'shell.act', { action: 'run-anything' })).toMatchObject({ ok: false, error: { code: 'invalid_params' } });
  expect(await answerTo(window, 'shell.constructor', {})).toMatchObject({ ok: false, error: { code: 'unknown_call' } });
  const before = callsOf('webContents.send').length;
  ipcMain.emit(CHANNELS.toShell, { sender: window.webContents, senderFrame: { url: 'app://belfry/', parent: {} } }, { call: 'shell.state', id: 1, params: {} });
  await Promise.resolve();
  expect(callsOf('webContents.send').length).toBe(before);
});

test('a page that asks for the engine before there is one hears that there is none', () => {
  start();
  const window = BrowserWindow.made[0]!;
  ipcMain.emit(CHANNELS.wantEngine, { sender: window.webContents, senderFrame: window.webContents.mainFrame });
  expect(callsOf('webContents.postMessage')).toEqual([[window.webContents.id, CHANNELS.engine, 'belfry:engine-gone', 0]]);
});

test('the engine gets the data folder, the keys and the power in its first message, and hears when the power changes', () => {
  answers.onBattery = true;
  start();
  const [message] = callsOf('child.postMessage')[0]! as [{ kind: string; start: { dataDir: string; sealKey: string; searchKey: string } }];
  expect(message).toMatchObject({ kind: 'app', start: { dataDir: folder.at('data'), onBattery: true } });
  const keys = [message.start.sealKey, message.start.searchKey];
  expect(keys.map((key) => Buffer.from(key, 'base64').length)).toEqual([32, 32]);
  expect(keys[0]).not.toBe(keys[1]);
  powerMonitor.emit('on-ac');
  powerMonitor.emit('on-battery');
  expect(callsOf('child.postMessage').slice(-2).map(([value]) => value)).toEqual([{ onBattery: false }, { onBattery: true }]);
});

test('menu, keys: the sections are named to the window that is open', () => {
  start();
  const [menu] = callsOf('Menu.setApplicationMenu')[0]! as [Menu];
  const view = menu.template.find(({ label }) => label === 'View')!.submenu as Electron.MenuItemConstructorOptions[];
  expect(view.slice(0, 5).map(({ label, accelerator }) => [label, accelerator])).toEqual([
    ['Events', 'CmdOrCtrl+1'], ['Senders', 'CmdOrCtrl+2'], ['Live', 'CmdOrCtrl+3'], ['Clients', 'CmdOrCtrl+4'], ['Activity', 'CmdOrCtrl+5'],
  ]);
  (view[3]!.click as () => void)();
  expect(callsOf('webContents.send').at(-1)).toEqual([BrowserWindow.made[0]!.webContents.id, CHANNELS.fromShell, { notify: 'navigate', value: { section: 'clients' } }]);
});

test('a choice in the menu while nothing watches says so', async () => {
  start({ background: true });
  Tray.made[0]!.emit('right-click');
  const [menu] = callsOf('tray.popUpContextMenu')[0]! as [Menu];
  const pause = menu.template.find(({ label }) => label === 'Pause')!.submenu as Electron.MenuItemConstructorOptions[];
  (pause[0]!.click as () => void)();
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
  expect(callsOf('dialog.showMessageBox')).toEqual([["Belfry isn't watching right now. Try again once it is."]]);
});

test('wake and unlock are listened to', () => {
  start();
  expect([powerMonitor.listenerCount('resume'), powerMonitor.listenerCount('unlock-screen')]).toEqual([1, 1]);
});

test('the end of the onboarding is kept, and leads to the main window', async () => {
  start({ preferences: { onboarding: 'try' } });
  ask(BrowserWindow.made[0]!, 'shell.act', { action: 'finish-onboarding' });
  expect(views()).toEqual(['window']);
  expect(await answerTo(BrowserWindow.made[1]!, 'shell.state', {})).toMatchObject({ result: { preferences: { onboarding: 'done' } } });
});

test('a file is saved where the owner says, under a name without a folder; nothing chosen is said', async () => {
  start();
  const [window] = BrowserWindow.made;
  expect(await answerTo(window!, 'shell.save', { name: '../../.zshrc', text: 'x' })).toMatchObject({ result: { ok: false, message: 'Nothing was saved.' } });
  expect(callsOf('dialog.showSaveDialog')).toEqual([['.zshrc']]);
  answers.saveTo = folder.at('report.txt');
  expect(await answerTo(window!, 'shell.save', { name: 'report.txt', text: 'all well' })).toMatchObject({ result: { ok: true, sentence: 'Saved as report.txt.' } });
  expect(readFileSync(folder.at('report.txt'), 'utf8')).toBe('all well');
});

test('text is copied by the shell, since pages have no permission for it', async () => {
  start();
  await answerTo(BrowserWindow.made[0]!, 'shell.copy', { text: 'claude mcp add' });
  expect(callsOf('clipboard.writeText')).toEqual([['claude mcp add']]);
});

test('a program\'s link is built here from its id: nothing of the page\'s is opened', async () => {
  writeFileSync(folder.at('dist', 'bin', 'belfry-mcp'), '', { mode: 0o755 });
  start();
  const [window] = BrowserWindow.made;
  expect(await answerTo(window!, 'wiring.openLink', { id: 'cursor' })).toMatchObject({ result: { ok: true } });
  expect(callsOf('shell.openExternal').length).toBe(1);
  expect(callsOf('shell.openExternal')[0]![0]).toMatch(/^cursor:\/\/anysphere\.cursor-deeplink\/mcp\/install\?name=belfry&config=/);
  expect(await answerTo(window!, 'wiring.openLink', { id: 'https://example.org' })).toMatchObject({ result: { ok: false, code: 'unknown' } });
  expect(callsOf('shell.openExternal').length).toBe(1);
});

test('a program that is set up is opened by the system, by a link of a fixed table; what has none is not opened', async () => {
  writeFileSync(folder.at('dist', 'bin', 'belfry-mcp'), '', { mode: 0o755 });
  start();
  const [window] = BrowserWindow.made;
  expect(await answerTo(window!, 'wiring.open', { id: 'cursor' })).toMatchObject({ result: { ok: true, sentence: 'Opened.' } });
  expect(callsOf('shell.openExternal')).toEqual([['cursor://']]);
  for (const id of ['claude-code', 'https://example.org', 'cursor://anysphere']) {
    expect(await answerTo(window!, 'wiring.open', { id })).toMatchObject({ result: { ok: false, code: 'unknown' } });
  }
  expect(callsOf('shell.openExternal').length).toBe(1);
  answers.openExternal = false;
  expect(await answerTo(window!, 'wiring.open', { id: 'cursor' })).toMatchObject({
    result: { ok: false, message: "Couldn't open it: no app on this Mac answers to its link. Open it yourself." },
  });
});

test('without a helper no program is connected', async () => {
  start();
  expect(await answerTo(BrowserWindow.made[0]!, 'wiring.list', {})).toMatchObject({ result: [] });
  expect(await answerTo(BrowserWindow.made[0]!, 'wiring.preview', { id: 'cursor', change: 'add' })).toMatchObject({ result: { ok: false, message: 'The helper was not built, so no program can be connected to it.' } });
});

test('what the onboarding drags is this app\'s own bundle', async () => {
  start({ preferences: { onboarding: 'access' } });
  expect(await answerTo(BrowserWindow.made[0]!, 'shell.act', { action: 'drag-app' })).toMatchObject({ result: { ok: true } });
  expect(callsOf('webContents.startDrag')).toEqual([[{ file: '/Applications/Belfry.app', icon: '/icon.png' }]]);
});
