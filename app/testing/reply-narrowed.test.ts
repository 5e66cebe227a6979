import { expect, test } from 'vitest';
import type { WaitingRow } from '../contract/values.ts';
import { answerWaiting, waitingRows } from '../engine/writing.ts';
import type { GrantName } from '../policy/change.ts';
import { ADA, OTHER } from './conformance-kit.ts';
import { uiOf } from './memory-ports.ts';
import type { RawClient } from './raw-client.ts';
import { ask, ownIdentity } from './watch-kit.ts';
import { NUMBER, startWorld, type World } from './world.ts';

const OTHER_NUMBER = '+15550109999';
const GROUP = 'any;+;chat77';
const NO_LONGER = 'By the settings as they are now this client may not write this. Nothing was written.';

/** A world with a client that may write, and what else it is granted. */
async function writing(grants: readonly GrantName[]): Promise<{ world: World; client: RawClient }> {
  const world = await startWorld();
  const client = world.client();
  await ask(client, 'list_watches');
  allow(world, grants);
  return { world, client };
}
function allow(world: World, grants: readonly GrantName[], more: object = {}): void {
  expect(world.engine.policy.allowClient(ownIdentity(world).id, { grants, ...more })).toMatchObject({ ok: true });
}
const waiting = (world: World): WaitingRow[] => waitingRows(world.engine);
const words = (world: World) => world.engine.activity.recent(20).filter(({ kind }) => kind === 'reply' || kind === 'draft').map(({ reason }) => reason);

async function replyTo(world: World, client: RawClient, from = NUMBER): Promise<string> {
  const guid = crypto.randomUUID().toUpperCase();
  await world.writer.messages.arrive({ from, guid });
  return (await ask(client, 'messages_reply', { event: guid, isGroup: false, text: 'Words' }))['request'] as string;
}
async function replyInGroup(world: World, client: RawClient): Promise<string> {
  await world.writer.messages.arrive({ from: NUMBER, guid: 'GROUP-1', chat: { group: true, identifier: 'chat77', members: [NUMBER, OTHER_NUMBER] } });
  expect(world.engine.policy.addChats([GROUP])).toMatchObject({ ok: true });
  return (await ask(client, 'messages_reply', { chat: GROUP, isGroup: true, participantCount: 2, text: 'Words' }))['request'] as string;
}
async function answerTo(world: World, client: RawClient, from = ADA): Promise<string> {
  const { result: rowid } = await world.writer.mail.arrive({ from, subject: 'Plans' });
  return (await ask(client, 'mail_draft', { answers: String(rowid), text: 'Words' }))['request'] as string;
}

type Narrowing = [name: string, grants: readonly GrantName[], request: (world: World, client: RawClient) => Promise<string>, narrow: (world: World) => unknown];
const policyOf = (world: World) => world.engine.policy;
const NARROWINGS: readonly Narrowing[] = [
  ['a reply, writing taken away', ['reply'], replyTo, (world) => allow(world, ['messages'])],
  ['a reply, its client revoked', ['reply'], replyTo, (world) => policyOf(world).revokeClient(ownIdentity(world).id)],
  ['a reply, its sender removed', ['reply'], replyTo, (world) => policyOf(world).removeSenders([NUMBER])],
  ['a reply, its sender switched off', ['reply'], replyTo, (world) => policyOf(world).setSender(NUMBER, { on: false })],
  ["a reply, its client's senders narrowed", ['reply'], replyTo, (world) => allow(world, ['reply'], { senders: ['ada@example.org'] })],
  ["a reply, its client's events narrowed", ['reply'], replyTo, (world) => allow(world, ['reply'], { events: ['mail.received'] })],
  ['a reply, New message off', ['reply', 'messages'], replyTo, (world) => policyOf(world).setEvent('messages.received', false)],
  ['a reply, all settings reset', ['reply'], replyTo, (world) => policyOf(world).reset()],
  ['a reply to anybody, reading narrowed to allowed senders', ['reply', 'messages:everything'], (world, client) => replyTo(world, client, OTHER_NUMBER), (world) => allow(world, ['reply', 'messages'])],
  ['a text to a chat, the chat removed', ['reply'], replyInGroup, (world) => policyOf(world).removeChats([GROUP])],
  ['an answer, its account excluded', ['reply', 'mail:everything'], answerTo, (world) => policyOf(world).exclude([world.account])],
  ['an answer, its mailbox excluded', ['reply', 'mail:everything'], answerTo, (world) => policyOf(world).exclude([`${world.account}/INBOX`])],
  ['an answer, other mailboxes chosen', ['reply'], answerTo, (world) => policyOf(world).setMailboxes([`${world.account}/Projects`])],
  ['an answer, its sender removed', ['reply', 'mail'], answerTo, (world) => policyOf(world).removeSenders(['@example.org'])],
  ['an answer, settings imported without its sender', ['reply'], answerTo, (world) => policyOf(world).importSettings(JSON.stringify({ ...JSON.parse(policyOf(world).exportSettings()), senders: [] }))],
  ['an answer, New mail off', ['reply', 'mail'], answerTo, (world) => policyOf(world).setEvent('mail.received', false)],
  ['an answer to anybody, reading narrowed to allowed senders', ['reply', 'mail:everything'], (world, client) => answerTo(world, client, OTHER), (world) => allow(world, ['reply', 'mail'])],
];

test.each(NARROWINGS)('%s: it waits no longer, the owner and the client are told, and nothing is written', async (_name, grants, request, narrow) => {
  const { world, client } = await writing(grants);
  await using _ = world;
  using ui = uiOf(world.engine);
  await ui.call.app.snapshot({});
  const id = await request(world, client);
  expect(waiting(world)).toMatchObject([{ id }]);
  const outcome = narrow(world);
  if (outcome !== undefined) expect(outcome).toMatchObject({ ok: true });
  expect(waiting(world)).toEqual([]);
  expect(words(world)).toEqual(['No longer allowed by settings', 'The owner was asked']);
  expect(await ui.call.clients.answer({ id, accept: true, options: {} })).toEqual({ ok: false, code: 'refused', message: NO_LONGER });
  expect(world.engine.outgoing.find(id, ownIdentity(world).id)).toMatchObject({ state: 'declined', sentence: NO_LONGER, writing: null });
  expect(world.osascript.runs).toEqual([]);
});

test('once it is allowed again it may be asked for again', async () => {
  const { world, client } = await writing(['reply']);
  await using _ = world;
  const id = await replyTo(world, client);
  policyOf(world).removeSenders([NUMBER]);
  expect(await ask(client, 'reply_status', { request: id })).toMatchObject({ state: 'declined', note: NO_LONGER });
  policyOf(world).undoRemoval();
  expect(waiting(world)).toEqual([]);
  const again = await ask(client, 'messages_reply', { chat: `any;-;${NUMBER}`, isGroup: false, text: 'Words' });
  expect(again).toMatchObject({ state: 'waiting' });
  expect(await answerWaiting(world.engine, again['request'] as string, true)).toMatchObject({ ok: true, sentence: 'Sent.' });
});

test('a mail that was filed into an excluded mailbox meanwhile is not answered when the owner allows it', async () => {
  const { world, client } = await writing(['reply', 'mail:everything']);
  await using _ = world;
  const { result: secret } = await world.writer.mail.addMailbox(world.account, 'Secret');
  expect(policyOf(world).exclude([`${world.account}/Secret`])).toMatchObject({ ok: true });
  const { result: rowid } = await world.writer.mail.arrive({ from: ADA, subject: 'Plans' });
  const { request } = await ask(client, 'mail_draft', { answers: String(rowid), text: 'Words' });
  await world.writer.store.exec('mail', `UPDATE messages SET mailbox = ${secret} WHERE ROWID = ${rowid}`);
  expect(await answerWaiting(world.engine, request as string, true)).toEqual({ ok: false, code: 'refused', message: NO_LONGER });
  expect([waiting(world), world.osascript.runs]).toEqual([[], []]);
});

test('what narrows something else, and a pause, leaves it waiting; allowed, it is written', async () => {
  const { world, client } = await writing(['reply']);
  await using _ = world;
  const reply = await replyTo(world, client);
  const answer = await answerTo(world, client);
  const fresh = (await ask(client, 'mail_draft', { to: ['bob@x.example'], subject: 'S', text: 'Words' }))['request'] as string;
  for (const narrow of [
    () => policyOf(world).addSenders(['carol@x.example']), () => policyOf(world).removeSenders(['carol@x.example']), () => policyOf(world).exclude([`${world.account}/Secret`]),
    () => policyOf(world).setSetting('hideCodes', false), () => policyOf(world).addHosts(['hooks.example.net']), () => policyOf(world).pause(null),
  ]) {
    expect(narrow()).toMatchObject({ ok: true });
    expect(waiting(world).map(({ id }) => id)).toEqual([reply, answer, fresh]);
  }
  for (const [id, sentence] of [[reply, 'Sent.'], [answer, 'Opened in Mail.'], [fresh, 'Opened in Mail.']] as const) {
    expect(await answerWaiting(world.engine, id, true)).toEqual({ ok: true, changed: true, sentence });
  }
  expect(world.osascript.runs).toHaveLength(3);
});

test('a reply whose message is gone is judged by who is in its chat', async () => {
  const { world, client } = await writing(['reply']);
  await using _ = world;
  const id = await replyTo(world, client);
  await world.writer.store.exec('messages', 'DELETE FROM message');
  policyOf(world).addSenders(['carol@x.example']);
  expect(waiting(world)).toMatchObject([{ id }]);
  policyOf(world).removeSenders([NUMBER]);
  expect(waiting(world)).toEqual([]);
});
