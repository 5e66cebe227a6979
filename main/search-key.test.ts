import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { tempFolder, type TempFolder } from '../app/testing/temp.ts';
import { searchKeyOf } from './search-key.ts';
import { answers, reset, safeStorage } from './testing/electron-double.ts';

let folder: TempFolder;
beforeEach(() => {
  reset();
  folder = tempFolder();
  return () => folder.remove();
});

test('the key is made once: 32 random bytes, kept encrypted and for this user only', () => {
  const key = searchKeyOf(folder.path, safeStorage);
  expect(Buffer.from(key!, 'base64').length).toBe(32);
  expect(readFileSync(folder.at('search.key'), 'utf8')).not.toContain(key!);
  expect(statSync(folder.at('search.key')).mode & 0o777).toBe(0o600);
  expect(searchKeyOf(folder.path, safeStorage)).toBe(key);
});

test('without a keychain, or where it refuses, there is none, and what is kept stays', () => {
  const key = searchKeyOf(folder.path, safeStorage);
  const refusing = { ...safeStorage, decryptString: (): string => { throw new Error('denied'); } };
  expect(searchKeyOf(folder.path, refusing)).toBeNull();
  answers.encryption = false;
  expect(searchKeyOf(folder.path, safeStorage)).toBeNull();
  answers.encryption = true;
  expect(searchKeyOf(folder.path, safeStorage)).toBe(key);
});

test('a key that is not whole is replaced: what it encrypted can be made anew', () => {
  writeFileSync(folder.at('search.key'), safeStorage.encryptString('c2hvcnQ='));
  const key = searchKeyOf(folder.path, safeStorage);
  expect(Buffer.from(key!, 'base64').length).toBe(32);
  expect(searchKeyOf(folder.path, safeStorage)).toBe(key);
});
