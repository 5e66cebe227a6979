import { beforeEach, expect, test, vi } from 'vitest';
import { shellAction } from '../app/contract/shell.ts';
import { act, type ActionDelegate } from './shell-actions.ts';
import { answers, callsOf, heard, reset } from './testing/electron-double.ts';

let delegate: ActionDelegate;
let order: string[];
beforeEach(() => {
  reset();
  order = [];
  delegate = {
    platform: 'darwin',
    bundle: '/Applications/Belfry.app',
    readFirst: () => {
      order.push(`read, opened ${callsOf('shell.openExternal').length}`);
      return Promise.resolve();
    },
    settingsOpened: () => order.push('told'),
    restartEngine: vi.fn<() => Promise<void>>(() => Promise.resolve()),
    otherCopySentence: () => null,
    hidePanel: vi.fn<() => void>(),
    finishOnboarding: vi.fn<() => void>(),
    checkForUpdates: () => Promise.resolve({ ok: true, changed: false, sentence: 'Belfry is up to date.' }),
    restartToUpdate: () => Promise.resolve({ ok: false, code: 'refused', message: 'No update is ready.' }),
    dragApp: () => false,
  };
});

test.each([
  ['open-full-disk-access', 'x-apple.systempreferences:com.apple.settings.PrivacySecurity.extension?Privacy_AllFiles'],
  ['open-menu-bar-settings', 'x-apple.systempreferences:com.apple.MenuBarSettings'],
] as const)('%s opens exactly its page of System Settings', async (action, link) => {
  expect(await act(action, delegate)).toMatchObject({ ok: true });
  expect(callsOf('shell.openExternal')).toEqual([[link]]);
});

test('every link that any action opens is one of System Settings, and every program one of Apple\'s', async () => {
  for (const action of shellAction.options) await act(action, delegate);
  for (const [link] of callsOf('shell.openExternal')) expect(link).toMatch(/^x-apple\.systempreferences:com\.apple\./);
  expect(callsOf('shell.openPath')).toEqual([['/System/Applications/Mail.app'], ['/System/Applications/Messages.app']]);
});

test('a store is read before System Settings opens, so that the app is in its list', async () => {
  await act('open-full-disk-access', delegate);
  expect(order).toEqual(['read, opened 0', 'told']);
});

test('a link that the system refuses is said, and does not count as opened', async () => {
  answers.openExternal = false;
  expect(await act('open-full-disk-access', delegate)).toMatchObject({ ok: false, message: "System Settings couldn't be opened." });
  expect(order).not.toContain('told');
});

test('moving replaces a copy in Applications that stands still, never one that runs', async () => {
  expect(await act('move-to-applications', delegate)).toMatchObject({ ok: true });
  expect(callsOf('app.moveToApplicationsFolder')).toEqual([[true, false]]);
  expect(await act('move-to-applications', { ...delegate, platform: 'linux' })).toMatchObject({ ok: false });
});

test('reopen starts the app again and ends this one', async () => {
  await act('reopen', delegate);
  expect(heard.map(([call]) => call)).toEqual(['app.relaunch', 'app.quit']);
});

test('the other copy is named by the sentence of who holds the folder', async () => {
  expect(await act('show-other-copy', { ...delegate, otherCopySentence: () => 'Another Belfry engine (serve, process 7) holds this data folder.' })).toEqual({
    ok: false, code: 'refused', message: 'Another Belfry engine (serve, process 7) holds this data folder.',
  });
});
