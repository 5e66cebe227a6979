import { chmodSync, existsSync, fstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../testing/temp.ts';
import { AttachmentCache, MAX_ATTACHMENT, roomFor, safeName, type AttachmentCacheOptions, type Saved } from './attachment-cache.ts';

const KB = 1024;
const PART = { row: 7, part: '2' };
const AT = Date.UTC(2026, 0, 1);

/** A cache with a clock that the test turns. */
function cacheAt(path: string, more: Partial<AttachmentCacheOptions> = {}) {
  const clock = { now: AT };
  return { clock, cache: new AttachmentCache(path, { now: () => clock.now, ...more }) };
}

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

test.each([
  [null, 'image/png', 'attachment.png'], [null, 'image/jpeg', 'attachment.jpg'], [null, 'Application/PDF', 'attachment.pdf'], [null, 'message/rfc822', 'attachment.eml'], ['..', 'text/calendar', 'attachment.ics'],
  [null, 'application/octet-stream', 'attachment'], [null, 'constructor', 'attachment'], [null, 'x/../../y.sh', 'attachment'], ['scan', 'image/png', 'scan'],
])('%j of the type %s is kept as %s', (name, type, expected) => {
  expect(safeName(name, type)).toBe(expected);
});

test('a name of any length keeps its ending and fits a file system', () => {
  const name = safeName(`${'会'.repeat(500)}.pdf`);
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
  expect(name).toMatch(/会\.pdf$/);
});

test('each copy has a folder of its own, for this user alone', async () => {
  using folder = tempFolder();
  const { cache } = cacheAt(folder.at('cache', 'attachments'));
  const [one, two] = [saved(await cache.save(PART, { bytes: Buffer.from('one') }, '../x')), saved(await cache.save(PART, { bytes: Buffer.from('two') }, '../x'))];
  expect([readFileSync(one.path, 'utf8'), readFileSync(two.path, 'utf8')]).toEqual(['one', 'two']);
  for (const { path } of [one, two]) {
    expect(dirname(dirname(path))).toBe(folder.at('cache', 'attachments'));
    expect([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([0o600, 0o700]);
  }
});

test('a file is copied; what is a link, a folder or gone is not, and leaves nothing behind', async () => {
  using folder = tempFolder();
  const { cache } = cacheAt(folder.at('cache'));
  writeFileSync(folder.at('file'), 'x'.repeat(200_000));
  symlinkSync(folder.at('file'), folder.at('link'));
  mkdirSync(folder.at('folder'));
  writeFileSync(folder.at('large'), '');
  truncateSync(folder.at('large'), MAX_ATTACHMENT + 1);
  for (const name of ['link', 'folder', 'nowhere']) expect(await cache.save(PART, { path: folder.at(name) }, 'a'), name).toBe('gone');
  expect(await cache.save(PART, { path: folder.at('large') }, 'a')).toBe('too-large');
  expect(readdirSync(folder.at('cache'))).toEqual([]);
  const { path, size } = saved(await cache.save(PART, { path: folder.at('file') }, 'a'));
  expect([size, readFileSync(path).length, basename(path)]).toEqual([200_000, 200_000, 'a']);
});

test('the same part is one copy, however often and by how many at once it is asked for; another part, name or content is another', async () => {
  using folder = tempFolder();
  const { cache } = cacheAt(folder.at('cache'));
  writeFileSync(folder.at('file'), 'beside');
  const ask = () => cache.save(PART, { bytes: Buffer.from('x') }, 'a');
  const asked = [...await Promise.all(Array.from({ length: 20 }, ask)), await ask(), await ask()].map((each) => saved(each).path);
  expect(new Set(asked).size).toBe(1);
  const files = await Promise.all(Array.from({ length: 20 }, () => cache.save(PART, { path: folder.at('file') }, 'a')));
  expect(new Set(files.map((each) => saved(each).path)).size).toBe(1);
  const others = [
    await cache.save({ row: 8, part: '2' }, { bytes: Buffer.from('x') }, 'a'), await cache.save({ row: 7, part: '2.1' }, { bytes: Buffer.from('x') }, 'a'),
    await cache.save(PART, { bytes: Buffer.from('x') }, 'b'), await cache.save(PART, { bytes: Buffer.from('y') }, 'a'),
  ];
  expect(new Set([...asked, ...files.map((each) => saved(each).path), ...others.map((each) => saved(each).path)]).size).toBe(6);
  expect(readdirSync(folder.at('cache'))).toHaveLength(6);
  // Mail wrote the file anew.
  renameSync(folder.at('file'), folder.at('before'));
  writeFileSync(folder.at('file'), 'behind');
  const changed = saved(await cache.save(PART, { path: folder.at('file') }, 'a')).path;
  expect([changed === saved(files[0]!).path, readFileSync(changed, 'utf8')]).toEqual([false, 'behind']);
});

test('a copy that was changed, replaced by a link or a folder, or that an earlier run left, is written anew in its place', async () => {
  using folder = tempFolder();
  const { cache } = cacheAt(folder.at('cache'));
  writeFileSync(folder.at('outside'), 'outside');
  const ask = async (of = cache) => saved(await of.save(PART, { bytes: Buffer.from('words') }, 'a')).path;
  const path = await ask();
  const home = dirname(path);
  const changes: readonly (() => void)[] = [
    () => writeFileSync(path, 'other'),
    () => { rmSync(path); symlinkSync(folder.at('outside'), path); },
    () => { rmSync(home, { recursive: true }); symlinkSync(folder.at(), home); },
    () => { rmSync(home, { recursive: true }); writeFileSync(home, 'a file'); },
    () => chmodSync(home, 0o755),
    () => rmSync(home, { recursive: true }),
    () => chmodSync(path, 0o644),
  ];
  for (const [nth, change] of changes.entries()) {
    change();
    if (nth === 4) writeFileSync(path, 'other');
    expect(await ask(), String(nth)).toBe(path);
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777, statSync(home).mode & 0o777, readdirSync(home)], String(nth)).toEqual(['words', 0o600, 0o700, ['a']]);
  }
  writeFileSync(path, 'other');
  expect(await ask(cacheAt(folder.at('cache')).cache)).toBe(path);
  expect([readFileSync(path, 'utf8'), readFileSync(folder.at('outside'), 'utf8'), readdirSync(folder.at('cache'))]).toEqual(['words', 'outside', [basename(home)]]);
});

test('a day after it was last asked for it is removed, also where the clock was set back', async () => {
  using folder = tempFolder();
  const { cache, clock } = cacheAt(folder.path);
  const ask = async () => basename(dirname(saved(await cache.save(PART, { bytes: Buffer.from('x') }, 'a')).path));
  const home = await ask();
  clock.now = AT + 80_000_000;
  expect(await ask()).toBe(home);
  clock.now += 86_399_000;
  cache.sweep();
  expect(readdirSync(folder.path)).toEqual([home]);
  clock.now += 2000;
  cache.sweep();
  expect(readdirSync(folder.path)).toEqual([]);
  await ask();
  clock.now -= 86_401_000;
  // Of an earlier run, and of none.
  mkdirSync(folder.at('a-old'));
  utimesSync(folder.at('a-old'), AT / 1000, (AT - 90_000_000) / 1000);
  cacheAt(folder.path).cache.sweep();
  expect(readdirSync(folder.path)).not.toContain('a-old');
  cache.sweep();
  expect(readdirSync(folder.path)).toEqual([]);
});

test('all copies take at most 1 GB and a tenth of the free disk', () => {
  expect([roomFor(0), roomFor(5_000_000_000), roomFor(10 * 1024 ** 3), roomFor(2 ** 50)]).toEqual([0, 500_000_000, 1024 ** 3, 1024 ** 3]);
});

test('where there is no room the copy that was asked for longest ago goes; not what was handed out in the last minute', async () => {
  using folder = tempFolder();
  const disk = { free: 10 * 300 * KB };
  const { cache, clock } = cacheAt(folder.path, { free: () => disk.free });
  const ask = (row: number, kb = 100) => cache.save({ row, part: '2' }, { bytes: Buffer.alloc(kb * KB, row) }, 'a');
  const [one, two, three] = [saved(await ask(1)).path, saved(await ask(2)).path, saved(await ask(3)).path];
  expect(await ask(4)).toBe('no-room');
  expect(await ask(5, 301)).toBe('no-room');
  expect([one, two, three].map((path) => existsSync(path))).toEqual([true, true, true]);
  clock.now += 61_000;
  expect(saved(await ask(1)).path).toBe(one);
  const four = saved(await ask(4)).path;
  expect([one, two, three, four].map((path) => existsSync(path))).toEqual([true, false, true, true]);
  expect(await ask(6, 200)).toBe('no-room');
  expect(existsSync(three)).toBe(true);
  // A small one counts as 64 KB: however many are asked for, there are a few thousand at most.
  clock.now += 61_000;
  for (let row = 100; row < 110; row += 1) {
    clock.now += 61_000;
    saved(await ask(row, 1));
  }
  expect(readdirSync(folder.path)).toHaveLength(4);
  // The disk filled up meanwhile.
  disk.free = 10 * 130 * KB;
  clock.now += 61_000;
  cache.sweep();
  expect(readdirSync(folder.path)).toHaveLength(2);
  // What an earlier run left counts too.
  const next = cacheAt(folder.path, { free: () => disk.free });
  next.clock.now = clock.now;
  expect(saved(await next.cache.save(PART, { bytes: Buffer.from('x') }, 'a')).size).toBe(1);
  expect(readdirSync(folder.path)).toHaveLength(2);
});

test('a copy is marked before there is anything in it; where it cannot be marked there is none', async () => {
  using folder = tempFolder();
  const sizes: number[] = [];
  const { cache } = cacheAt(folder.at('cache'), { mark: (fd) => sizes.push(fstatSync(fd).size) > 0 });
  writeFileSync(folder.at('file'), 'y'.repeat(1000));
  expect(saved(await cache.save(PART, { bytes: Buffer.from('x') }, 'a')).size).toBe(1);
  expect(saved(await cache.save(PART, { path: folder.at('file') }, 'a')).size).toBe(1000);
  expect(sizes).toEqual([0, 0]);
  const before = readdirSync(folder.at('cache'));
  const unmarked = cacheAt(folder.at('cache'), { mark: () => false }).cache;
  for (let nth = 0; nth < 2; nth += 1) await expect(unmarked.save(PART, { bytes: Buffer.from('z') }, 'a')).rejects.toThrow('could not be marked');
  expect(readdirSync(folder.at('cache'))).toEqual(before);
});
