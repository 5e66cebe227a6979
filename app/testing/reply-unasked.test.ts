import { expect, test } from 'vitest';
import { answerWaiting, waitingRows } from '../engine/writing.ts';
import type { GrantName } from '../policy/change.ts';
import { ADA, OTHER } from './conformance-kit.ts';
import type { RawClient } from './raw-client.ts';
import { ask, ownIdentity } from './watch-kit.ts';
import { NUMBER, startWorld, type World } from './world.ts';

/** Writing unasked reaches whom the owner's rules allow; reading everything widens it to nobody. */
const OTHER_NUMBER = '+15550109999';
const GROUP = 'any;+;chat77';
const EVERYTHING: readonly GrantName[] = ['mail:everything', 'messages:everything', 'reply:unasked'];

async function writing(grants: readonly GrantName[] = EVERYTHING): Promise<{ world: World; client: RawClient }> {
  const world = await startWorld();
  const client = world.client();
  await ask(client, 'list_watches');
  grant(world, grants);
  return { world, client };
}
const grant = (world: World, grants: readonly GrantName[]): void => {
  expect(world.engine.policy.allowClient(ownIdentity(world).id, { grants })).toMatchObject({ ok: true });
};
const shown = (world: World): string[] => waitingRows(world.engine).map(({ id }) => id);

let count = 0;
const text = (): string => `Words ${(count += 1)}`;
async function messageFrom(world: World, from: string, chat: object = {}): Promise<string> {
  const guid = crypto.randomUUID().toUpperCase();
  await world.writer.messages.arrive({ from, guid, ...chat });
  return guid;
}
const group = { chat: { group: true, identifier: 'chat77', members: [NUMBER, OTHER_NUMBER] } };
const inGroup = { isGroup: true, participantCount: 2 };

test('a chat goes unasked only if the rules allow all in it, by its id and by an event alike; else the owner is shown it', async () => {
  const { world, client } = await writing();
  await using _ = world;
  const [ada, eve, ofGroup] = [await messageFrom(world, NUMBER), await messageFrom(world, OTHER_NUMBER), await messageFrom(world, NUMBER, group)];
  for (const place of [{ event: eve }, { chat: `any;-;${OTHER_NUMBER}` }]) {
    const { request, state } = await ask(client, 'messages_reply', { ...place, isGroup: false, text: text() });
    expect([state, shown(world), world.osascript.runs]).toEqual(['waiting', [request], []]);
    expect(await answerWaiting(world.engine, request as string, false)).toMatchObject({ ok: true });
  }
  // One who is allowed speaks for no group.
  for (const place of [{ event: ofGroup }, { chat: GROUP }]) {
    const { request, state } = await ask(client, 'messages_reply', { ...place, ...inGroup, text: text() });
    expect([state, world.osascript.runs]).toEqual(['waiting', []]);
    expect(await answerWaiting(world.engine, request as string, false)).toMatchObject({ ok: true });
  }
  for (const place of [{ event: ada }, { chat: `any;-;${NUMBER}` }]) expect(await ask(client, 'messages_reply', { ...place, isGroup: false, text: text() })).toMatchObject({ state: 'done' });
  expect(world.engine.policy.addChats([GROUP])).toMatchObject({ ok: true });
  for (const place of [{ event: ofGroup }, { chat: GROUP }]) expect(await ask(client, 'messages_reply', { ...place, ...inGroup, text: text() })).toMatchObject({ state: 'done' });
  expect(world.osascript.runs).toHaveLength(4);
}, 60_000);

test('without reading everything a group with somebody whom no rule allows is shown as well', async () => {
  const { world, client } = await writing(['reply:unasked']);
  await using _ = world;
  const event = await messageFrom(world, NUMBER, group);
  expect(await ask(client, 'messages_reply', { event, ...inGroup, text: text() })).toMatchObject({ state: 'waiting' });
  expect(world.osascript.runs).toEqual([]);
}, 60_000);

test('an answer to a mail opens unasked only if the rules allow its sender, in its mailbox; a new draft always does', async () => {
  const { world, client } = await writing();
  await using _ = world;
  const { result: ada } = await world.writer.mail.arrive({ from: ADA, subject: 'Plans' });
  const { result: eve } = await world.writer.mail.arrive({ from: OTHER, subject: 'Offer' });
  expect(await ask(client, 'mail_draft', { answers: String(eve), text: text() })).toMatchObject({ state: 'waiting' });
  expect(world.osascript.runs).toEqual([]);
  expect(await ask(client, 'mail_draft', { answers: String(ada), text: text() })).toMatchObject({ state: 'done' });
  expect(await ask(client, 'mail_draft', { to: ['eve@x.example'], subject: 'S', text: text() })).toMatchObject({ state: 'done' });
  expect(world.engine.policy.setMailboxes([`${world.account}/Projects`])).toMatchObject({ ok: true });
  expect(await ask(client, 'mail_draft', { answers: String(ada), text: text() })).toMatchObject({ state: 'waiting' });
  expect(world.osascript.runs).toHaveLength(2);
}, 60_000);

test('rules that change count from the next text on, and what waits is still sent only once the owner allows it', async () => {
  const { world, client } = await writing();
  await using _ = world;
  const [ada, eve] = [await messageFrom(world, NUMBER), await messageFrom(world, OTHER_NUMBER)];
  const reply = { event: eve, isGroup: false, text: text() };
  const { request } = await ask(client, 'messages_reply', reply);
  expect(world.engine.policy.addSenders([OTHER_NUMBER])).toMatchObject({ ok: true });
  expect(await ask(client, 'messages_reply', reply)).toMatchObject({ request, state: 'waiting' });
  expect([shown(world), world.osascript.runs]).toEqual([[request], []]);
  expect(await ask(client, 'messages_reply', { ...reply, text: text() })).toMatchObject({ state: 'done' });
  expect(world.engine.policy.removeSenders([NUMBER, OTHER_NUMBER])).toMatchObject({ ok: true });
  expect(await ask(client, 'messages_reply', { event: ada, isGroup: false, text: text() })).toMatchObject({ state: 'waiting' });
  expect(world.osascript.runs).toHaveLength(1);
  // Reading narrowed again: nobody is left whom it may write to.
  grant(world, ['messages', 'reply:unasked']);
  expect([shown(world), world.osascript.runs.length]).toEqual([[], 1]);
}, 60_000);

test('what waits only since reading is everything goes once the owner allows it, and not by a wider grant', async () => {
  const { world, client } = await writing(['messages:everything', 'reply']);
  await using _ = world;
  const event = await messageFrom(world, OTHER_NUMBER);
  const { request } = await ask(client, 'messages_reply', { event, isGroup: false, text: text() });
  grant(world, EVERYTHING);
  expect([shown(world), world.osascript.runs]).toEqual([[request], []]);
  expect(await answerWaiting(world.engine, request as string, true)).toMatchObject({ ok: true, sentence: 'Sent.' });
  expect(world.osascript.runs).toHaveLength(1);
}, 60_000);
