import { EventEmitter } from 'node:events';
import { beforeEach, expect, test } from 'vitest';
import type { Session } from 'electron';
import { holdPage } from './navigation.ts';
import { denyPermissions } from './permissions.ts';
import { callsOf, defaultSession, reset } from './testing/electron-double.ts';

beforeEach(reset);

test('a page cannot navigate, be redirected, hold another page or open a window', () => {
  let open: (() => { action: string }) | null = null;
  const contents = Object.assign(new EventEmitter(), { setWindowOpenHandler: (handler: () => { action: 'deny' }) => { open = handler; } });
  holdPage(contents);
  for (const event of ['will-navigate', 'will-frame-navigate', 'will-redirect', 'will-attach-webview']) {
    let prevented = false;
    contents.emit(event, { preventDefault: () => { prevented = true; } });
    expect(prevented, event).toBe(true);
  }
  expect(open!()).toEqual({ action: 'deny' });
});

test('every permission is refused, asked for or looked up, and nothing is downloaded', () => {
  denyPermissions(defaultSession as unknown as Session);
  const [request] = callsOf('session.setPermissionRequestHandler')[0] as [(contents: null, permission: string, answer: (granted: boolean) => void) => void];
  for (const permission of ['media', 'notifications', 'geolocation', 'clipboard-read', 'usb', 'anything-new']) request(null, permission, (granted) => expect(granted).toBe(false));
  const [check] = callsOf('session.setPermissionCheckHandler')[0] as [() => boolean];
  const [device] = callsOf('session.setDevicePermissionHandler')[0] as [() => boolean];
  expect([check(), device()]).toEqual([false, false]);
  let prevented = false;
  defaultSession.emit('will-download', { preventDefault: () => { prevented = true; } });
  expect(prevented).toBe(true);
});
