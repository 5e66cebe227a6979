import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { healthOf } from '../contract/health.ts';
import { engineOf } from '../engine/host.ts';
import type { Engine } from '../engine/engine.ts';
import { engineApi } from '../engine/commands.ts';
import { uiOf } from './memory-ports.ts';
import { tempFolder, type TempFolder } from './temp.ts';

const KEY = Buffer.alloc(32, 9).toString('base64');

async function startApp(folder: TempFolder, sealKey: string | null = KEY): Promise<Engine> {
  const engine = engineOf(
    { dataDir: folder.at('data'), mailDir: folder.at('Mail'), messagesDb: folder.at('chat.db'), accountsDb: folder.at('none'), addressBookDir: folder.at('none'), sealKey: sealKey ?? undefined },
    sealKey === null ? 'serve' : 'app', () => undefined, () => undefined,
  );
  await engine.start();
  return engine;
}
const shell = { kind: 'app', engine: 'running', location: 'ok', otherCopy: false, needsReopen: false } as const;

test('the app seals its settings over restarts; a change from outside turns everything off until the owner reviewed it', async () => {
  using folder = tempFolder();
  const file = folder.at('data', 'settings.json');
  let engine = await startApp(folder);
  expect(engine.policy.seal).toBe('ok');
  engine.policy.setEvent('mail.received', true);
  engine.policy.addSenders(['ada@example.com']);
  await engine.stop();
  engine = await startApp(folder);
  expect([engine.policy.seal, engine.policy.eventOn('mail.received')]).toEqual(['ok', true]);
  const older = readFileSync(file, 'utf8');
  engine.policy.removeSenders(['ada@example.com']);
  await engine.stop();

  // A sealed file of before is put back: the removed sender would ring again.
  writeFileSync(file, older);
  engine = await startApp(folder);
  const ui = uiOf(engine);
  const slices = await ui.call.app.snapshot({});
  expect(slices.status).toMatchObject({ seal: 'broken', settingsSentence: expect.stringMatching(/changed outside/) });
  expect(slices.events.map(({ on }) => on)).toEqual([false, false]);
  expect(healthOf({ shell, slices }, String)).toMatchObject({ id: 'tampered', action: { label: 'Review' } });
  expect(await ui.call.events.set({ type: 'mail.received', on: true })).toMatchObject({ ok: false, code: 'not-written' });
  expect(readFileSync(file, 'utf8')).toBe(older);
  expect((await ui.call.diagnostics.run({})).find(({ id }) => id === 'seal')).toMatchObject({ state: 'problem', fix: expect.stringMatching(/Review/) });
  expect(await ui.call.settings.answerSeal({ accept: false })).toMatchObject({ ok: true });
  expect((await ui.call.app.snapshot({})).status).toMatchObject({ seal: 'ok', settingsSentence: null });
  await engine.stop();
  engine = await startApp(folder);
  expect([engine.policy.seal, engine.policy.anyOn(), engine.policy.snapshot().senders]).toEqual(['ok', false, []]);
  await engine.stop();
  expect(readdirSync(folder.at('data')).some((name) => name.startsWith('settings.refused-'))).toBe(true);
});

test('the key is nowhere on disk, and a headless engine has no seal to speak of', async () => {
  using folder = tempFolder();
  let engine = await startApp(folder);
  engine.policy.setEvent('mail.received', true);
  await engine.stop();
  for (const name of readdirSync(folder.at('data'))) {
    const path = folder.at('data', name);
    if (existsSync(path) && !['run', 'logs'].includes(name)) expect(readFileSync(path).includes(KEY), name).toBe(false);
  }
  const before = readFileSync(folder.at('data', 'settings.json'), 'utf8');
  engine = await startApp(folder, null);
  const api = engineApi(engine);
  expect(api.status()).toMatchObject({ seal: 'none', settingsSentence: expect.stringMatching(/sealed by the Belfry app/) });
  expect(api.change({ do: 'set-event', type: 'mail.received', on: false })).toMatchObject({ ok: false, code: 'not-written' });
  expect((await api.doctor()).find(({ id }) => id === 'seal')).toMatchObject({ state: 'cant-check' });
  await engine.stop();
  expect(readFileSync(folder.at('data', 'settings.json'), 'utf8')).toBe(before);
  engine = await startApp(folder);
  expect([engine.policy.seal, engine.policy.eventOn('mail.received')]).toEqual(['ok', true]);
  await engine.stop();
});

test('once something was written, doctor no longer says that nothing was', async () => {
  using folder = tempFolder();
  const engine = await startApp(folder, null);
  const settingsRow = async () => (await engineApi(engine).doctor()).find(({ id }) => id === 'settings');
  expect(await settingsRow()).toMatchObject({ state: 'ok', evidence: 'none written yet: everything is off' });
  engine.policy.setEvent('mail.received', true);
  expect(await settingsRow()).toMatchObject({ state: 'ok', evidence: 'read' });
  await engine.stop();
});

test('an event that is on has no store: the headline says so as status and doctor do, also where neither store is there', async () => {
  using folder = tempFolder();
  const engine = await startApp(folder);
  engine.policy.addSenders(['ada@example.com']);
  const health = async () => healthOf({ shell, slices: await uiOf(engine).call.app.snapshot({}) }, String);
  expect(await health()).toMatchObject({ id: 'allOff' });
  engine.policy.setEvent('messages.received', true);
  engine.probeAccess();
  expect(await health()).toMatchObject({ id: 'sourceMissing', headline: "Messages isn't set up on this Mac.", action: { label: 'Open Messages' } });
  expect(engineApi(engine).status().stores).toMatchObject({ mail: { state: 'off' }, messages: { state: 'not_there' } });
  expect((await engineApi(engine).doctor()).find(({ id }) => id === 'messages.received')).toMatchObject({
    evidence: 'cannot be read (not there)', fix: 'Open Messages once, or name its store by --messages-db.',
  });
  await engine.stop();
});

test('doctor says what 16 bytes of each store showed', async () => {
  using folder = tempFolder();
  writeFileSync(folder.at('chat.db'), 'SQLite format 3\0');
  const engine = await startApp(folder);
  const rows = async () => (await engineApi(engine).doctor()).filter(({ id }) => id.startsWith('access-')).map(({ id, state, evidence }) => [id, state, evidence]);
  expect(await rows()).toEqual([['access-mail', 'warning', 'file not found'], ['access-messages', 'ok', 'read 16 bytes']]);
  writeFileSync(folder.at('chat.db'), '');
  expect((await rows())[1]).toEqual(['access-messages', 'problem', 'could be read before and cannot be now']);
  await engine.stop();
});
