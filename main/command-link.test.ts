import { chmodSync, lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { tempFolder, type TempFolder } from '../app/testing/temp.ts';
import { commandLinks, installCommandLink, previewCommandLink, type CommandLinkEnv } from './command-link.ts';

let folder: TempFolder;
let env: CommandLinkEnv;
const SHIM = '/Applications/Belfry.app/Contents/MacOS/belfry-mcp';
beforeEach(() => {
  folder = tempFolder();
  mkdirSync(folder.at('usr-local-bin'));
  mkdirSync(folder.at('paths.d'));
  writeFileSync(folder.at('paths'), `${folder.at('usr-local-bin')}\n/usr/bin\n`);
  env = { home: folder.at('home'), shim: SHIM, shared: [folder.at('usr-local-bin'), folder.at('opt-bin')], paths: [folder.at('paths'), folder.at('paths.d')] };
  return () => folder.remove();
});

test('shown first, then made: a link to the helper in the first shared folder that can be written to', () => {
  const link = folder.at('usr-local-bin', 'belfry');
  expect(previewCommandLink(env)).toEqual({ target: SHIM, link, exists: 'no', sentence: `A link is made in ${folder.at('usr-local-bin')}.` });
  expect(() => lstatSync(link)).toThrow(/ENOENT/);
  expect(installCommandLink(env)).toEqual({ ok: true, changed: true, sentence: `Made ${link}.` });
  expect(readlinkSync(link)).toBe(SHIM);
  expect(installCommandLink(env)).toMatchObject({ ok: true, changed: false });
});

test('without a shared folder it goes into the owner\'s own, and says that PATH may lack it', () => {
  const own = { ...env, shared: [] };
  expect(previewCommandLink(own).sentence).toContain('may not be on your PATH');
  expect(installCommandLink(own)).toMatchObject({ ok: true, sentence: expect.stringContaining(`Add ${folder.at('home', '.local', 'bin')} to PATH`) as string });
  expect(commandLinks(own)).toEqual([folder.at('home', '.local', 'bin', 'belfry')]);
});

test.each([
  ['a file', (link: string) => writeFileSync(link, '#!/bin/sh\n')],
  ['a link to another program', (link: string) => symlinkSync('/usr/bin/true', link)],
  ['a folder', (link: string) => mkdirSync(link)],
])('%s of somebody else\'s stays as it is', (_name, make) => {
  const link = folder.at('usr-local-bin', 'belfry');
  make(link);
  const before = lstatSync(link).ino;
  expect(previewCommandLink(env)).toMatchObject({ exists: 'other', sentence: `${link} is another program's. It stays as it is.` });
  expect(installCommandLink(env)).toMatchObject({ ok: false, code: 'refused' });
  expect(lstatSync(link).ino).toBe(before);
  expect(commandLinks(env)).toEqual([]);
});

test('a link to another copy\'s helper, there or gone, is ours and is pointed to this one', () => {
  symlinkSync('/Volumes/Belfry/Belfry.app/Contents/MacOS/belfry-mcp', folder.at('usr-local-bin', 'belfry'));
  expect(previewCommandLink(env)).toMatchObject({ exists: 'ours' });
  expect(installCommandLink(env)).toMatchObject({ ok: true, changed: true });
  expect(readlinkSync(folder.at('usr-local-bin', 'belfry'))).toBe(SHIM);
});

test('without a helper there is nothing to link to', () => {
  expect(installCommandLink({ ...env, shim: null })).toEqual({ ok: false, code: 'refused', message: 'The helper was not built, so there is nothing to link to.' });
});

test('the files of PATH are only read', () => {
  chmodSync(folder.at('paths'), 0o444);
  installCommandLink(env);
  expect(readFileSync(folder.at('paths'), 'utf8')).toBe(`${folder.at('usr-local-bin')}\n/usr/bin\n`);
});
