import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runCommand } from '../cli/run-command.ts';
import type { WaitingRow } from '../contract/values.ts';
import { engineApi } from '../engine/commands.ts';
import { answerWaiting, waitingRows } from '../engine/writing.ts';
import { ADA } from './conformance-kit.ts';
import { rewriteMailFile } from './mail-corpus.ts';
import type { RawClient } from './raw-client.ts';
import { ask, ownIdentity } from './watch-kit.ts';
import { startWorld, type World } from './world.ts';

/** Where an answer goes is shown to the owner before they allow it, as the mail's own headers say. */
const NONE = { shown: [], count: 0 };
const some = (...shown: string[]) => ({ shown, count: shown.length });

async function writing(): Promise<{ world: World; client: RawClient }> {
  const world = await startWorld();
  const client = world.client();
  await ask(client, 'list_watches');
  expect(world.engine.policy.allowClient(ownIdentity(world).id, { grants: ['reply', 'mail:everything'] })).toMatchObject({ ok: true });
  return { world, client };
}
/** A mail with these header lines, in its file. */
async function mailWith(world: World, lines: readonly string[], more: object = {}): Promise<number> {
  const { result: rowid } = await world.writer.mail.arrive({ from: ADA, subject: 'Plans', file: true, ...more });
  rewriteMailFile(world.mailDir, rowid, ['From: Ada <ada@example.org>', ...lines, 'Subject: Plans', '', 'Words'].join('\r\n'));
  return rowid;
}
type Answers = Extract<WaitingRow, { kind: 'draft' }>['answers'];
/** What the owner is shown of an answer; it is declined then. */
async function shown(world: World, client: RawClient, answers: number, all = false): Promise<Answers> {
  const { request } = await ask(client, 'mail_draft', { answers: String(answers), text: 'Words', all, key: crypto.randomUUID() });
  const row = waitingRows(world.engine).find(({ id }) => id === request) as Extract<WaitingRow, { kind: 'draft' }>;
  await answerWaiting(world.engine, row.id, false);
  return row.answers;
}

test('a Reply-To that is not the sender is named; one that is the sender is not', async () => {
  const { world, client } = await writing();
  await using _ = world;
  const same = await mailWith(world, ['Reply-To: ADA@Example.org']);
  expect(await shown(world, client, same)).toEqual({ from: 'ada@example.org', subject: 'Plans', all: false, goesTo: { instead: NONE, to: NONE, cc: NONE } });
  const other = await mailWith(world, ['Reply-To: "ada@example.org" <e\u202evil@bad.example>', 'Cc: c@x.example']);
  expect((await shown(world, client, other))!.goesTo).toEqual({ instead: some('evil@bad.example'), to: NONE, cc: NONE });
  const both = await mailWith(world, ['Reply-To: ada@example.org', 'Reply-To: evil@bad.example']);
  expect((await shown(world, client, both))!.goesTo).toMatchObject({ instead: some('ada@example.org', 'evil@bad.example') });
  const list = await mailWith(world, ['Reply-To: "ada@example.org, x"@bad.example']);
  expect((await shown(world, client, list))!.goesTo!.instead.shown[0]).toMatch(/^".*@bad\.example"$/);
}, 60_000);

test('to all: To and Cc are named, the first twenty with how many more', async () => {
  const { world, client } = await writing();
  await using _ = world;
  const people = Array.from({ length: 32 }, (_each, nth) => `p${nth}@x.example`);
  const rowid = await mailWith(world, ['To: me@example.org, Bob <bob@x.example>', `Cc: ${people.join(', ')}`]);
  const { goesTo } = (await shown(world, client, rowid, true))!;
  expect(goesTo).toEqual({ instead: NONE, to: some('me@example.org', 'bob@x.example'), cc: { shown: people.slice(0, 20), count: 32 } });
}, 60_000);

test('an own mail is answered to those whom it went to', async () => {
  const { world, client } = await writing();
  await using _ = world;
  const rowid = await mailWith(world, ['To: bob@x.example'], { mailbox: 'Sent Messages' });
  expect((await shown(world, client, rowid))!.goesTo).toMatchObject({ instead: some('bob@x.example') });
}, 60_000);

test('without the file, with that of another mail, or with more than is read, it is not known; the command line says all of it', async () => {
  const { world, client } = await writing();
  await using _ = world;
  const { result: none } = await world.writer.mail.arrive({ from: ADA, subject: 'Plans', file: false });
  const other = await mailWith(world, ['Message-ID: <another@x.example>'], { messageId: '<this@x.example>' });
  const long = await mailWith(world, [`Reply-To: ada@example.org,${' '.repeat(40_000)}evil@bad.example`]);
  for (const rowid of [none, other, long]) expect((await shown(world, client, rowid, true))!.goesTo).toBeNull();

  const cli = async () => (await runCommand(['waiting', 'list'], engineApi(world.engine), { headless: true, isOwnerConsole: false })).stdout;
  const evil = await mailWith(world, ['Reply-To: evil@bad.example', 'To: me@example.org']);
  const { request } = await ask(client, 'mail_draft', { answers: String(evil), text: 'Words', all: true });
  expect(await cli()).toContain('  Answers Plans, from ada@example.org, to everyone in it\n  Goes to evil@bad.example\n  To      me@example.org\n  | Words');
  // The same call is the same request, also once the file is gone.
  rmSync(rewriteMailFile(world.mailDir, evil, ''));
  expect(await ask(client, 'mail_draft', { answers: String(evil), text: 'Words', all: true })).toMatchObject({ request, state: 'waiting' });
  await answerWaiting(world.engine, request as string, false);
  await ask(client, 'mail_draft', { answers: String(none), text: 'Words' });
  expect(await cli()).toContain('  Goes to not known: ');
}, 60_000);

test('what is answered has to be the mail that was shown', async () => {
  const { world, client } = await writing();
  await using _ = world;
  const { result: rowid } = await world.writer.mail.arrive({ from: ADA, subject: 'Plans' });
  const { request } = await ask(client, 'mail_draft', { answers: String(rowid), text: 'Words' });
  await world.writer.store.exec('mail', `UPDATE messages SET sender = (SELECT sender FROM messages WHERE ROWID <> ${rowid} AND sender <> (SELECT sender FROM messages WHERE ROWID = ${rowid}) LIMIT 1) WHERE ROWID = ${rowid}`);
  expect(await answerWaiting(world.engine, request as string, true)).toMatchObject({ ok: false, message: 'The mail that it answers is another than the one that was shown. Nothing was written.' });
  expect(world.osascript.runs).toEqual([]);
}, 60_000);
