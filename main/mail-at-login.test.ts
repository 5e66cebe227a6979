import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, test, vi } from 'vitest';
import { tempFolder, type TempFolder } from '../app/testing/temp.ts';
import { VirtualClock } from '../app/testing/virtual-clock.ts';
import { BelfryApp } from './belfry-app.ts';
import { openMailHidden } from './mail-at-login.ts';
import { answers, reset } from './testing/electron-double.ts';

vi.mock('node:child_process', async (original) => ({ ...(await original<typeof import('node:child_process')>()), execFile: vi.fn<typeof execFile>() }));
const started = () => vi.mocked(execFile).mock.calls.filter(([file]) => file === '/usr/bin/osascript');
/** Ends the one that was started. */
const end = (error: Error | null) => (started()[0]!.at(-1) as unknown as (error: Error | null) => void)(error);

let folder: TempFolder;
beforeEach(() => {
  reset();
  vi.mocked(execFile).mockReset();
  folder = tempFolder();
  for (const name of [['dist', 'page'], ['dist', 'bin'], ['data']]) mkdirSync(folder.at(...name), { recursive: true });
  writeFileSync(folder.at('dist', 'page', 'index.html'), '<!doctype html>');
  process.getCreationTime ??= () => 0;
  return () => folder.remove();
});

test('Mail is launched by a fixed script, without anything of our environment and not for ever', () => {
  openMailHidden(() => undefined);
  expect(started()).toEqual([['/usr/bin/osascript', ['-e', 'launch application "Mail"'], { timeout: 30_000, env: {} }, expect.any(Function)]]);
});

test('what did not work is one line of the log that quotes nothing; what worked is none', () => {
  const log: string[] = [];
  openMailHidden((line) => log.push(line));
  end(null);
  expect(log).toEqual([]);
  end(new Error('execution error: ada@example.org'));
  expect(log).toEqual(['Mail could not be opened at login']);
});

test.each([
  ['opened at login, and the owner wants it', true, true, 'darwin', 1],
  ['opened at login, and the owner does not want it', true, false, 'darwin', 0],
  ['opened by the owner', false, true, 'darwin', 0],
  ['on another system', true, true, 'linux', 0],
] as const)('%s', (_when, openedAtLogin, openMailAtLogin, platform, times) => {
  answers.openedAtLogin = openedAtLogin;
  writeFileSync(folder.at('data', 'preferences.json'), JSON.stringify({ version: 1, onboarding: 'done', openMailAtLogin }));
  new BelfryApp({
    clock: new VirtualClock(), platform, home: folder.at('home'), log: () => undefined, built: folder.at('dist'), icons: '/icons', updates: null, launch: { background: false, dataDir: folder.at('data'), engineNode: null, stores: {} },
  }).start();
  expect(started()).toHaveLength(times);
});
