import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { tempFolder, type TempFolder } from '../app/testing/temp.ts';
import { listWirings, WiringDesk } from '../app/wiring/wiring.ts';
import { removeData, uninstall, uninstallPreview, type UninstallEnv } from './uninstall.ts';

const SHIM = '/Applications/Belfry.app/Contents/MacOS/belfry-mcp';
let folder: TempFolder;
let env: UninstallEnv;
let done: string[];
let loginItem: boolean;
beforeEach(() => {
  folder = tempFolder();
  done = [];
  loginItem = true;
  for (const name of ['home/.cursor', 'bin', 'data/run', 'data/cache/attachments']) mkdirSync(folder.at(...name.split('/')), { recursive: true });
  for (const name of ['settings.json', 'settings.v1.json', 'state.db', 'state.db-wal', 'seal.key', 'preferences.json', 'run/lock.db', 'cache/attachments/x']) writeFileSync(folder.at('data', name), 'x');
  env = {
    wiring: { home: folder.at('home'), platform: 'darwin', applications: [], tools: [], shim: SHIM, now: () => 0 },
    commandLink: { home: folder.at('home'), shim: SHIM, shared: [folder.at('bin')], paths: [] },
    dataDir: folder.at('data'),
    caches: [folder.at('updates'), folder.at('never-fetched')],
    loginItemOn: () => loginItem,
    removeLoginItem: () => {
      loginItem = false;
      done.push('login item');
    },
    stopEngine: () => {
      done.push(`engine, data there: ${existsSync(folder.at('data', 'state.db'))}`);
      return Promise.resolve();
    },
  };
  return () => folder.remove();
});

test('what it shows is what it does: our entries, the login item, the command, the data; in that order, the engine before the data', async () => {
  const cursor = folder.at('home', '.cursor', 'mcp.json');
  writeFileSync(cursor, '{ "mcpServers": { "other": { "command": "x" } } }\n');
  const desk = new WiringDesk();
  const preview = desk.preview(env.wiring!, 'cursor', 'add');
  if (preview.ok) desk.apply(env.wiring!, preview.token);
  expect(listWirings(env.wiring!).find(({ id }) => id === 'cursor')?.state).toBe('set-up');
  symlinkSync(SHIM, folder.at('bin', 'belfry'));

  const shown = uninstallPreview(env);
  expect(shown).toEqual([expect.stringContaining('Cursor'), 'Open at login', `The command ${folder.at('bin', 'belfry')}`, `The data folder ${folder.at('data')}`]);
  expect(existsSync(folder.at('data', 'state.db'))).toBe(true);

  expect(await uninstall(env)).toEqual([
    expect.stringContaining('Removed from Cursor'), 'Turned off opening at login.', `Removed ${folder.at('bin', 'belfry')}.`, `Removed the data in ${folder.at('data')}.`,
  ]);
  expect(readFileSync(cursor, 'utf8')).toBe('{ "mcpServers": { "other": { "command": "x" } } }\n');
  expect(done).toEqual(['login item', 'engine, data there: true']);
  expect(existsSync(folder.at('bin', 'belfry'))).toBe(false);
  expect(existsSync(folder.at('data'))).toBe(false);
});

test('what somebody else keeps in the data folder stays, and so does the folder', () => {
  writeFileSync(folder.at('data', 'thesis.txt'), 'x');
  mkdirSync(folder.at('data', 'photos'));
  removeData(folder.at('data'));
  expect(readdirSync(folder.at('data')).sort()).toEqual(['photos', 'thesis.txt']);
});

test('fetched updates go as well, where there are any', async () => {
  mkdirSync(folder.at('updates', 'pending'), { recursive: true });
  expect(uninstallPreview(env)).toContain(`Fetched updates in ${folder.at('updates')}`);
  expect(await uninstall(env)).toContain(`Removed ${folder.at('updates')}.`);
  expect(existsSync(folder.at('updates'))).toBe(false);
});

test('somebody else\'s command named belfry stays', async () => {
  writeFileSync(folder.at('bin', 'belfry'), '#!/bin/sh\n');
  expect(uninstallPreview(env).join()).not.toContain('The command');
  await uninstall(env);
  expect(existsSync(folder.at('bin', 'belfry'))).toBe(true);
});

test('a login item that stays on is said, and the rest is removed all the same', async () => {
  const lines = await uninstall({ ...env, removeLoginItem: () => undefined });
  expect(lines[0]).toContain('System Settings > General > Login Items');
  expect(existsSync(folder.at('data'))).toBe(false);
});
