import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { closeSync, openSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tempFolder } from '../testing/temp.ts';
import { nativeFile } from './host.ts';
import { fileMarker, quarantineValue } from './quarantine.ts';

const ADDON = nativeFile('peer-identity.node');
const NOW = Date.UTC(2026, 10, 30);

test('the mark is flags, the time in hex, who brought it and an id', () => {
  expect(quarantineValue(NOW)).toMatch(/^0081;6b0cbc80;Belfry;[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}$/);
});

test.skipIf(process.platform !== 'linux')('an attribute of an open file is set, and it is said where it cannot be', () => {
  using folder = tempFolder();
  const path = folder.at('file');
  const fd = openSync(path, 'wx', 0o600);
  expect(fileMarker(ADDON, () => NOW, 'user.belfry.test')(fd)).toBe(true);
  // A name without a namespace is none here.
  expect(fileMarker(ADDON, () => NOW, 'belfry')(fd)).toBe(false);
  closeSync(fd);
  expect(fileMarker(ADDON, () => NOW, 'user.belfry.test')(fd)).toBe(false);
  const read = spawnSync('python3', ['-c', 'import os, sys; print(os.getxattr(sys.argv[1], "user.belfry.test").decode())', path], { encoding: 'utf8' });
  if (read.error === undefined) expect(read.stdout).toMatch(/^0081;6b0cbc80;Belfry;/);
});

test('what is no descriptor, or no text of some length, is refused', () => {
  const { setFileAttribute } = createRequire(import.meta.url)(ADDON) as { setFileAttribute(...values: unknown[]): boolean };
  for (const values of [[], ['x', 'user.a', 'b'], [1, 'user.a'], [1, '', 'b'], [1, 'user.a', ''], [1, 'a'.repeat(200), 'b'], [1, 'user.a', 'b'.repeat(300)], [1, 'user.a\0b', 'c']]) {
    expect(() => setFileAttribute(...values)).toThrow('setFileAttribute takes a descriptor, a name and a value');
  }
});
