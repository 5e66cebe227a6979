import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { tempFolder, type TempFolder } from '../app/testing/temp.ts';
import { sealOf } from './seal.ts';
import { answers, reset, safeStorage } from './testing/electron-double.ts';

let folder: TempFolder;
beforeEach(() => {
  reset();
  folder = tempFolder();
  return () => folder.remove();
});

test('the key is made once: 32 random bytes, kept encrypted and for this user only', () => {
  const { key, sentence } = sealOf(folder.path, safeStorage, true);
  expect(sentence).toBeNull();
  expect(Buffer.from(key!, 'base64').length).toBe(32);
  expect(readFileSync(folder.at('seal.key'), 'utf8')).not.toContain(key!);
  expect(statSync(folder.at('seal.key')).mode & 0o777).toBe(0o600);
  expect(sealOf(folder.path, safeStorage, true)).toEqual({ key, sentence: null });
  using other = tempFolder();
  expect(sealOf(other.path, safeStorage, true).key).not.toBe(key);
});

test.each([
  ['a keychain that is not there', () => { answers.encryption = false; }],
  ['a key that is not whole', () => writeFileSync(folder.at('seal.key'), 'abc')],
])('%s: a packaged build seals with a key of this run only, a development build not at all', (_name, spoil) => {
  spoil();
  const [one, two] = [sealOf(folder.path, safeStorage, true), sealOf(folder.path, safeStorage, true)];
  expect(Buffer.from(one.key!, 'base64').length).toBe(32);
  expect(one.key).not.toBe(two.key);
  expect(one.sentence).not.toBeNull();
  expect(sealOf(folder.path, safeStorage, false).key).toBeNull();
});

test('a keychain that refuses to open the key is the same as none', () => {
  sealOf(folder.path, safeStorage, true);
  const refusing = { ...safeStorage, decryptString: (): string => { throw new Error('denied'); } };
  expect(sealOf(folder.path, refusing, true)).toMatchObject({ sentence: "The keychain didn't open the seal's key." });
});
