import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { setInbox, watchRows } from '../engine/watch-calls.ts';
import { ring } from './conformance-kit.ts';
import { untilUnread, watch } from './watch-kit.ts';
import { startWorld } from './world.ts';

test('items as files: atomic, bounded, stable ids; confirmed by the receipt; not written twice over a kill', async () => {
  await using world = await startWorld();
  const directory = world.folder.at('codex');
  mkdirSync(directory, { mode: 0o700 });
  const client = world.client();
  const id = await watch(client);
  const files = (place: string) => (existsSync(join(directory, place)) ? readdirSync(join(directory, place)).sort() : []);
  await ring(world, 'Before it was turned on');
  await untilUnread(world, 1);
  expect(files('inbox')).toEqual([]);
  expect(setInbox(world.engine, id, directory)).toMatchObject({ ok: true });
  expect(world.engine.policy.settings.watches).toMatchObject([{ id, inbox: directory }]);
  await ring(world, 'After `it` <was> turned on');
  await expect.poll(() => files('inbox').length).toBe(2);
  for (const name of files('inbox')) expect(name).toMatch(new RegExp(`^\\d{20}-\\d+-[0-9a-f]{8}-\\d{8}-belfry_${id}_\\d+\\.json$`));
  const envelopes = files('inbox').map((name) => JSON.parse(readFileSync(join(directory, 'inbox', name), 'utf8')) as Record<string, string>);
  for (const envelope of envelopes) expect(envelope).toMatchObject({ from: 'belfry', to: 'codex', kind: 'brief', thread: id });
  expect(envelopes[1]!['idempotency_key']).toBe(`${id}:${envelopes[1]!['id']}`);
  expect(envelopes[1]!['ts']).toMatch(/^\d{4}-\d\d-\d\dT/);
  expect(JSON.parse(envelopes[1]!['text']!.split('\n')[2]!)).toMatchObject({ subject: 'After `it` <was> turned on' });
  expect(envelopes[1]!['text']!.split('\n')[2]).not.toMatch(/[<>`]/);
  expect(world.engine.watches.find(id, null)).toMatchObject({ sent: 2, waiting: 0, confirmed: 0 });
  // The consumer took one.
  const [first, second] = files('inbox') as [string, string];
  mkdirSync(join(directory, 'outbox'), { recursive: true });
  writeFileSync(join(directory, 'outbox', `${first}.receipt.json`), JSON.stringify({ from: 'codex', status: 'submitted', source: first, ts: '1' }));
  await expect.poll(() => world.engine.watches.find(id, null)).toMatchObject({ sent: 1, confirmed: 1 });
  // Refused ones stay unread, and are told.
  writeFileSync(join(directory, 'outbox', `${second}.receipt.json`), JSON.stringify({ from: 'codex', status: 'rejected_text_too_large', source: second, ts: '1' }));
  await expect.poll(() => world.log.join('\n')).toContain(`A file of watch ${id} was not taken (rejected_text_too_large)`);
  expect(world.engine.watches.find(id, null)).toMatchObject({ sent: 1, confirmed: 1 });
  await world.engine.stop();
  await world.startEngine();
  await ring(world, 'Third');
  await expect.poll(() => files('inbox').length).toBe(3);
  expect(files('inbox').every((name) => !name.startsWith('.'))).toBe(true);
  expect(setInbox(world.engine, id, null)).toMatchObject({ ok: true });
  await ring(world, 'Off again');
  await untilUnread(world, 3);
  expect(files('inbox')).toHaveLength(3);
});

test('a folder that is not the owner\'s alone is refused with the rule, and one that changed takes nothing until it is right', async () => {
  await using world = await startWorld();
  const client = world.client();
  const id = await watch(client);
  const at = (name: string, mode = 0o700) => {
    mkdirSync(world.folder.at(name), { mode });
    chmodSync(world.folder.at(name), mode);
    return world.folder.at(name);
  };
  const good = at('good');
  symlinkSync(good, world.folder.at('link'));
  mkdirSync(join(good, 'below'), { mode: 0o700 });
  writeFileSync(world.folder.at('file'), '');
  const refusals: [string, RegExp][] = [
    ['relative/folder', /absolute path/], [world.folder.at('none'), /does not exist/], [world.folder.at('file'), /not a folder/], [world.folder.at('link'), /symbolic link/],
    [world.folder.at('link', 'below'), /symbolic link/], [at('group', 0o750), /mode 700/], [at('others', 0o707), /mode 700/],
  ];
  if (process.getuid!() === 0) {
    chownSync(at('foreign'), 65534, 65534);
    refusals.push([world.folder.at('foreign'), /belong to you/]);
  }
  for (const [path, sentence] of refusals) expect(setInbox(world.engine, id, path), path).toMatchObject({ ok: false, code: 'invalid', message: expect.stringMatching(sentence) });
  expect(setInbox(world.engine, 'ffffffff', good)).toMatchObject({ ok: false, code: 'unknown' });
  expect(setInbox(world.engine, id, good)).toMatchObject({ ok: true });
  chmodSync(good, 0o755);
  await ring(world, 'Held');
  await untilUnread(world, 1);
  expect(existsSync(join(good, 'inbox')) ? readdirSync(join(good, 'inbox')) : []).toEqual([]);
  expect(watchRows(world.engine)[0]).toMatchObject({ problem: expect.stringMatching(/mode 700/) });
  chmodSync(good, 0o700);
  await expect.poll(() => (existsSync(join(good, 'inbox')) ? readdirSync(join(good, 'inbox')).length : 0)).toBe(1);
});
