import { expect, test } from 'vitest';
import { runCommand } from '../cli/run-command.ts';
import { engineApi } from '../engine/commands.ts';
import { MESSAGES } from './conformance-kit.ts';
import type { RawClient } from './raw-client.ts';
import { ask, ownIdentity, refusal, watch } from './watch-kit.ts';
import { NUMBER, startWorld, type World } from './world.ts';

/** Which chats a refusal tells of: guids are phone numbers (ruling 12). */
const [STRANGER, BANK] = ['+15550109999', '+15550107777'];

async function fill({ writer }: World): Promise<void> {
  await writer.messages.arrive({ from: NUMBER, text: 'x' });
  await writer.messages.arrive({ from: STRANGER, text: 'x' });
  await writer.messages.arrive({ from: STRANGER, text: 'x', chat: { group: true, identifier: 'chat91', name: 'Strangers', members: [STRANGER, BANK] } });
  await writer.messages.arrive({ from: STRANGER, text: 'x', chat: { group: true, identifier: 'chat92', name: 'Crew', members: [STRANGER, NUMBER] } });
  for (const identifier of ['chat93', 'chat94']) await writer.messages.arrive({ from: STRANGER, text: 'x', chat: { group: true, identifier, name: 'Twice', members: [STRANGER, ...(identifier === 'chat94' ? [NUMBER] : [])] } });
}
const asked = (client: RawClient, chat: string): Promise<string> => refusal(client, 'watch_events', { event: MESSAGES, arguments: { from: [NUMBER], chats: [chat] } });

test('a client hears of chats in which somebody may ring for it, by every way in, and of no others', async () => {
  await using world = await startWorld();
  const client = world.client();
  await fill(world);
  const none = 'arguments.chats: no chat is called "zzz"; there are';
  await expect.poll(() => asked(client, 'zzz'), { timeout: 20_000 }).toBe(`${none} "Twice", "Crew", "any;-;${NUMBER}"`);
  expect(await asked(client, 'Twice')).toMatch(/^arguments\.chats: "Twice" fits 2 chats; say which: "[^"]*chat94"$/);
  const { error } = await client.request('events/poll', { name: MESSAGES, arguments: { from: [NUMBER], chats: ['zzz'] }, cursor: null });
  expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(/"Crew"/) });
  expect(error.message).not.toMatch(/Strangers|9999|7777/);

  // Its own list of senders bounds it further, and a rule for a chat lets that one be told.
  const { policy } = world.engine;
  policy.allowClient(ownIdentity(world).id, { senders: [BANK] });
  expect(await asked(client, 'zzz')).toBe(`${none} none`);
  policy.allowClient(ownIdentity(world).id);
  const [strangers] = world.engine.chats.find('Strangers', 1);
  policy.addChats([strangers!.id]);
  expect(await asked(client, 'zzz')).toMatch(/"Strangers"/);
  policy.removeChats([strangers!.id]);
  expect(await asked(client, 'zzz')).not.toMatch(/"Strangers"/);

  // A chat that is renamed leaves its watch without a name to fit.
  const id = await watch(client, { from: [NUMBER], chats: ['Crew'] }, MESSAGES);
  await world.engine.stop();
  await world.writer.store.exec('messages', `UPDATE chat SET display_name = 'Crew of old' WHERE display_name = 'Crew'`);
  await world.startEngine();
  const again = world.client();
  await expect.poll(async () => ((await ask(again, 'list_watches'))['watches'] as { watch: string; problem: string | null }[]).find((each) => each.watch === id)?.problem, { timeout: 20_000 }).toMatch(/no chat is called "Crew"/);
  expect(JSON.stringify(await ask(again, 'list_watches'))).not.toMatch(/Strangers|9999|7777/);
}, 120_000);

test('a program that speaks to the app by its socket is told of no chat; the owner is', async () => {
  await using world = await startWorld();
  await fill(world);
  const run = (host: 'app' | 'serve', name: string) => runCommand(['senders', 'add', `chat:${name}`], engineApi(world.engine, host), { headless: host === 'serve', isOwnerConsole: false });
  await expect.poll(async () => (await run('serve', 'zzz')).stderr, { timeout: 20_000 }).toMatch(/No chat is called "zzz"; there are .*"Strangers"/);
  for (const name of ['zzz', 'Twice']) expect(await run('app', name)).toMatchObject({ code: 3, stderr: `belfry: "${name}" is not the id or the exact name of one chat. The window of Belfry shows them.\n` });
});
