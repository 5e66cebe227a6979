import { readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { tempFolder, type TempFolder } from '../app/testing/temp.ts';
import { VirtualClock } from '../app/testing/virtual-clock.ts';
import { answers, BrowserWindow, callsOf, reset } from './testing/electron-double.ts';
import { Windows } from './windows.ts';

let folder: TempFolder;
let clock: VirtualClock;
let windows: Windows;
let events: string[];
const ICON = { x: 900, y: 0, width: 24, height: 24 };
const make = () => new Windows({
  preload: '/app/preload.cjs', dataDir: folder.path, clock, platform: 'darwin',
  opened: (_contents, view) => events.push(`opened ${view}`), closed: () => events.push('closed'), focused: (view) => events.push(`focused ${view}`),
});
const made = (view: string) => BrowserWindow.made.filter((window) => window.webContents.getURL().includes(`view=${view}`));
beforeEach(() => {
  reset();
  folder = tempFolder();
  clock = new VirtualClock();
  clock.advance(10_000);
  events = [];
  windows = make();
  return () => folder.remove();
});

test('each page is sandboxed and isolated, without Node', () => {
  windows.openMain();
  windows.openOnboarding();
  windows.preparePanel();
  expect(BrowserWindow.made.length).toBe(3);
  for (const { options } of BrowserWindow.made) {
    expect(options.webPreferences).toMatchObject({ sandbox: true, contextIsolation: true, nodeIntegration: false, webSecurity: true, webviewTag: false, preload: '/app/preload.cjs' });
    expect(options.show).toBe(false);
  }
});

test('sizes: main 960x640 and at least 640x480, onboarding 640x520', () => {
  windows.openMain();
  windows.openOnboarding();
  expect(made('window')[0]!.options).toMatchObject({ width: 960, height: 640, minWidth: 640, minHeight: 480 });
  expect(made('onboarding')[0]!.options).toMatchObject({ width: 640, height: 520, resizable: false });
});

test('the main window is made once, named for its section, and shown when it is drawn', () => {
  expect(windows.openMain('clients')).toBe(true);
  expect(callsOf('window.loadURL')).toEqual([['app://belfry/?view=window&screen=clients']]);
  const window = made('window')[0]!;
  expect(window.visible).toBe(false);
  window.emit('ready-to-show');
  expect(window.visible).toBe(true);
  expect(windows.openMain('senders')).toBe(false);
  expect(made('window').length).toBe(1);
});

test('the Dock icon shows only while a window is open; a panel is no window', () => {
  windows.togglePanel(ICON);
  expect(callsOf('app.setActivationPolicy')).toEqual([]);
  windows.openMain();
  windows.openOnboarding();
  made('window')[0]!.close();
  made('onboarding')[0]!.close();
  expect(callsOf('app.setActivationPolicy')).toEqual([['regular'], ['regular'], ['regular'], ['accessory']]);
});

test('where the main window stood is remembered, and put back on a screen that is there', () => {
  windows.openMain();
  made('window')[0]!.bounds = { x: 1300, y: 700, width: 1000, height: 700 };
  made('window')[0]!.close();
  expect(JSON.parse(readFileSync(folder.at('windows.json'), 'utf8'))).toMatchObject({ main: { x: 1300, y: 700 } });
  make().openMain();
  expect(made('window')[1]!.options).toMatchObject({ x: 440, y: 200, width: 1000, height: 700 });
  writeFileSync(folder.at('windows.json'), '{"version":1,"main":{"x":9000,"y":0,"width":900,"height":700}}');
  make().openMain();
  expect(made('window')[2]!.options).toMatchObject({ width: 960, height: 640 });
  expect(made('window')[2]!.options.x).toBeUndefined();
});

test('the panel is on all spaces without changing what kind of app this is, and as high as a menu only while it is open', () => {
  windows.togglePanel(ICON);
  expect(callsOf('window.setVisibleOnAllWorkspaces')).toEqual([[true, { visibleOnFullScreen: true, skipTransformProcessType: true }]]);
  expect(callsOf('window.setAlwaysOnTop')).toEqual([[true, 'pop-up-menu']]);
  windows.hidePanel();
  expect(callsOf('window.setAlwaysOnTop').at(-1)).toEqual([false, undefined]);
  expect(made('panel')[0]!.options).toMatchObject({ type: 'panel', hiddenInMissionControl: true, frame: false, skipTaskbar: true });
});

test('the panel is made once, hidden on blur, and a click that took its focus does not open it again', () => {
  expect(windows.togglePanel(ICON)).toBe(true);
  const panel = made('panel')[0]!;
  expect(panel.visible).toBe(true);
  panel.emit('blur');
  expect(panel.visible).toBe(false);
  clock.advance(100);
  windows.togglePanel(ICON);
  expect(panel.visible).toBe(false);
  clock.advance(300);
  windows.togglePanel(ICON);
  expect(panel.visible).toBe(true);
  windows.togglePanel(ICON);
  expect(panel.visible).toBe(false);
  expect(made('panel').length).toBe(1);
});

test('it is as high as its content, up to 560', () => {
  windows.togglePanel(ICON);
  windows.resizePanel(410.2);
  expect(made('panel')[0]!.bounds).toEqual({ x: 732, y: 29, width: 360, height: 411 });
  windows.resizePanel(1500);
  expect(made('panel')[0]!.bounds.height).toBe(560);
});

test('an icon that is on no screen has no panel', () => {
  expect(windows.togglePanel({ x: 0, y: 0, width: 0, height: 0 })).toBe(false);
  answers.displays = [];
  expect(windows.togglePanel(ICON)).toBe(false);
  expect(BrowserWindow.made).toEqual([]);
});

test('only pages of these windows are ours, and only while they live', () => {
  windows.openMain();
  const window = made('window')[0]!;
  const { id } = window.webContents;
  expect([windows.owns(id), windows.owns(id + 1), windows.viewOf(id)]).toEqual([true, false, 'window']);
  window.close();
  expect(windows.owns(id)).toBe(false);
  expect(events).toEqual(['opened window', 'closed']);
});
