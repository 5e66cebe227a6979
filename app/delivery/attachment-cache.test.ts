import { fstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../testing/temp.ts';
import { AttachmentCache, safeName, type Saved } from './attachment-cache.ts';

const saved = (answer: Saved): { readonly path: string; readonly size: number } => {
  if (typeof answer === 'string') throw new Error(answer);
  return answer;
};

test.each([
  ['a.pdf', 'a.pdf'], ['../../a.pdf', '_.._a.pdf'], ['/etc/passwd', '_etc_passwd'], ['..', 'attachment'], ['.hidden', 'hidden'], ['', 'attachment'], [null, 'attachment'],
  ['a\\b:c\0d\n.txt', 'a_b_c_d_.txt'], ['gpj\u202eexe.txt', 'gpj_exe.txt'], ['Zürich 会議.pdf', 'Zürich 会議.pdf'],
])('%j is kept as %j', (name, expected) => {
  expect(safeName(name)).toBe(expected);
});

test('a name of any length keeps its ending and fits a file system', () => {
  const name = safeName(`${'会'.repeat(500)}.pdf`);
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
  expect(name).toMatch(/会\.pdf$/);
});

test('each copy has a folder of its own, for this user alone', async () => {
  using folder = tempFolder();
  const cache = new AttachmentCache(folder.at('cache', 'attachments'));
  const [one, two] = [saved(await cache.save({ bytes: Buffer.from('one') }, '../x')), saved(await cache.save({ bytes: Buffer.from('two') }, '../x'))];
  expect([readFileSync(one.path, 'utf8'), readFileSync(two.path, 'utf8')]).toEqual(['one', 'two']);
  for (const { path } of [one, two]) {
    expect(dirname(dirname(path))).toBe(folder.at('cache', 'attachments'));
    expect([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([0o600, 0o700]);
  }
});

test('a file is copied; what is a link, a folder or gone is not, and leaves nothing behind', async () => {
  using folder = tempFolder();
  const cache = new AttachmentCache(folder.at('cache'));
  writeFileSync(folder.at('file'), 'x'.repeat(200_000));
  symlinkSync(folder.at('file'), folder.at('link'));
  mkdirSync(folder.at('folder'));
  for (const name of ['link', 'folder', 'nowhere']) expect(await cache.save({ path: folder.at(name) }, 'a'), name).toBe('gone');
  expect(readdirSync(folder.at('cache'))).toEqual([]);
  const { path, size } = saved(await cache.save({ path: folder.at('file') }, 'a'));
  expect([size, readFileSync(path).length, basename(path)]).toEqual([200_000, 200_000, 'a']);
});

test('a day later it is removed, also where the clock was set back', async () => {
  using folder = tempFolder();
  const cache = new AttachmentCache(folder.path);
  const home = dirname(saved(await cache.save({ bytes: Buffer.from('x') }, 'a')).path);
  const at = Date.UTC(2026, 0, 1);
  utimesSync(home, at / 1000, at / 1000);
  cache.sweep(at + 86_399_000);
  expect(readdirSync(folder.path)).toEqual([basename(home)]);
  cache.sweep(at + 86_401_000);
  expect(readdirSync(folder.path)).toEqual([]);
  utimesSync(dirname(saved(await cache.save({ bytes: Buffer.from('x') }, 'a')).path), at / 1000, at / 1000);
  cache.sweep(at - 86_401_000);
  expect(readdirSync(folder.path)).toEqual([]);
});

test('a copy is marked before there is anything in it; where it cannot be marked there is none', async () => {
  using folder = tempFolder();
  const sizes: number[] = [];
  const marked = new AttachmentCache(folder.path, (fd) => sizes.push(fstatSync(fd).size) > 0);
  writeFileSync(folder.at('file'), 'y'.repeat(1000));
  expect(saved(await marked.save({ bytes: Buffer.from('x') }, 'a')).size).toBe(1);
  expect(saved(await marked.save({ path: folder.at('file') }, 'a')).size).toBe(1000);
  expect(sizes).toEqual([0, 0]);
  const before = readdirSync(folder.path);
  await expect(new AttachmentCache(folder.path, () => false).save({ bytes: Buffer.from('x') }, 'a')).rejects.toThrow('could not be marked');
  expect(readdirSync(folder.path)).toEqual(before);
});
