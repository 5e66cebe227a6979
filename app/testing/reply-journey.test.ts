import { readFileSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runCommand } from '../cli/run-command.ts';
import type { WaitingRow } from '../contract/values.ts';
import { engineApi } from '../engine/commands.ts';
import type { GrantName } from '../policy/change.ts';
import { findCanary } from './canary.ts';
import { ADA, MESSAGES, messagesArgs, OTHER, ring, schemaChecker } from './conformance-kit.ts';
import { uiOf } from './memory-ports.ts';
import { complaint, OsascriptStandIn, stoppedAt, type ScriptEnd } from './osascript-stand-in.ts';
import { engineOf } from '../engine/host.ts';
import { tempFolder } from './temp.ts';
import type { RawClient } from './raw-client.ts';
import { ask, ownIdentity, refusal, untilUnread, watch } from './watch-kit.ts';
import { NUMBER, startWorld, type World } from './world.ts';

const OTHER_NUMBER = '+15550109999';
const NO_EVENT = 'event: there is no message with this id that you may answer.';
const OTHER_KIND = /^isGroup: the chat is not what you expect\. Nothing was asked for\./;
const grant = (world: World, ...grants: GrantName[]): void => {
  expect(world.engine.policy.allowClient(ownIdentity(world).id, { grants })).toMatchObject({ ok: true });
};
const cli = (world: World, line: string) => runCommand(line.split(' '), engineApi(world.engine), { headless: true, isOwnerConsole: false });
const waiting = async (world: World) => (JSON.parse((await cli(world, 'waiting list --json')).stdout) as { waiting: WaitingRow[] }).waiting;
const list = async (client: RawClient): Promise<string[]> => ((await client.request('tools/list'))['result']['tools'] as { name: string }[]).map(({ name }) => name);
const guidOf = async (world: World, message: object = {}): Promise<string> => {
  const guid = crypto.randomUUID().toUpperCase();
  await world.writer.messages.arrive({ from: NUMBER, guid, ...message });
  return guid;
};
const spoken = (world: World) => world.engine.activity.recent(50).filter(({ kind }) => kind === 'reply' || kind === 'draft').map(({ kind, reason }) => `${kind} ${reason}`);

test('watch, event, reply: refused without the grant, asked for, granted, shown, allowed, sent once to the chat of its row', async () => {
  await using world = await startWorld();
  const client = world.client();
  await watch(client, messagesArgs, MESSAGES);
  const guid = await guidOf(world);
  const { items } = await ask(client, 'wait_for_events');
  const { chat } = items[0].data;
  expect(items[0]).toMatchObject({ eventId: guid, data: { chat: { isGroup: false, participantCount: 1 } } });

  const reply = { event: guid, isGroup: chat.isGroup, text: 'On my way\n"in" 5' };
  expect(await list(client)).not.toContain('messages_reply');
  expect(await refusal(client, 'messages_reply', reply)).toBe('The owner of this Mac has not let this client write. request_access with write true asks for it.');
  expect(await ask(client, 'request_access', { write: true })).toMatchObject({ access: 'allowed', mayWrite: false });
  const [request] = await waiting(world);
  expect(request).toMatchObject({ kind: 'change', sentence: expect.stringMatching(/^Let the client .* write replies that the owner allows one by one$/) });
  expect(await cli(world, `waiting allow ${request!.id}`)).toMatchObject({ code: 0 });
  expect((await list(client)).slice(-3)).toEqual(['messages_reply', 'mail_draft', 'reply_status']);

  const asked = await ask(client, 'messages_reply', reply);
  expect(asked).toMatchObject({ state: 'waiting', chat: chat.id, isGroup: false, participantCount: 1 });
  expect(Date.parse(asked['expiresAt'] as string)).toBeGreaterThan(Date.now());
  // Nothing goes out before the owner has answered, and asking again is the same request.
  expect(await ask(client, 'messages_reply', reply)).toMatchObject({ request: asked['request'], state: 'waiting' });
  expect(world.osascript.runs).toEqual([]);
  expect(await waiting(world)).toMatchObject([{
    kind: 'send', id: asked['request'], client: ownIdentity(world).id, text: 'On my way\n"in" 5', chat: { id: chat.id, isGroup: false, memberCount: 1, members: [NUMBER], service: 'iMessage' },
  }]);

  const told = ask(client, 'reply_status', { request: asked['request'], timeoutSeconds: 50 });
  expect(await cli(world, `waiting allow ${asked['request']}`)).toMatchObject({ code: 0, stdout: 'Sent.\n' });
  expect(await told).toMatchObject({ state: 'done', note: 'It was sent.', expiresAt: null });
  expect(world.osascript.runs).toMatchObject([{ argv: ['-', chat.id, 'On my way\n"in" 5', '0'] }]);

  expect(await ask(client, 'messages_reply', reply)).toMatchObject({ request: asked['request'], state: 'done' });
  expect(world.osascript.runs).toHaveLength(1);
  expect(await waiting(world)).toEqual([]);
  expect(spoken(world)).toEqual(['reply Written', 'reply The owner was asked']);
});

test('a reply never rings, also not in a chat with oneself', async () => {
  await using world = await startWorld({ settings: { senders: [{ kind: 'address', value: 'me@example.org' }, { kind: 'phone', value: NUMBER }] } });
  const client = world.client();
  await watch(client, { from: ['me@example.org', NUMBER] }, MESSAGES);
  grant(world, 'reply:unasked');
  const own = { from: 'me@example.org' };
  const guid = await guidOf(world, { ...own, text: 'A note' });
  await untilUnread(world, 1);
  expect(await ask(client, 'messages_reply', { event: guid, isGroup: false, text: 'Noted' })).toMatchObject({ state: 'done' });
  await world.writer.messages.selfChatTwin('Noted', 'me@example.org');
  await guidOf(world, { text: 'Something else' });
  await untilUnread(world, 2);
  const { items } = await ask(client, 'check_inbox');
  const texts = await Promise.all((items as { eventId: string }[]).map(({ eventId }) => world.writer.store.query('messages', 'SELECT h.id AS id FROM message m JOIN handle h ON h.ROWID = m.handle_id WHERE m.guid = ?', eventId)));
  expect(texts.map(({ result }) => (result as { id: string }[])[0]!.id)).toEqual(['me@example.org', NUMBER]);
});

let world: World;
let client: RawClient;
let text = 0;
const words = () => `Text ${(text += 1)}`;
const allow = (request: string) => cli(world, `waiting allow ${request}`);
/** An engine for the tests of a group: a client may ask for twenty texts in an hour. */
function shareWorld(): void {
  beforeAll(async () => {
    world = await startWorld();
    client = world.client();
    await ask(client, 'list_watches');
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    for (const { id } of await waiting(world)) await cli(world, `waiting deny ${id}`);
    grant(world, 'reply');
    world.osascript.ends({});
  });
}

describe('who is written to', () => {
  shareWorld();

  test('every answer fits the schema that was listed', async () => {
    const { tools } = (await client.request('tools/list'))['result'] as { tools: Record<string, any>[] };
    const event = await guidOf(world);
    const asked = await ask(client, 'messages_reply', { event, isGroup: false, text: words() });
    const answers: Record<string, object> = {
      messages_reply: asked, reply_status: await ask(client, 'reply_status', { request: asked['request'] }),
      mail_draft: await ask(client, 'mail_draft', { to: ['a@x.example'], subject: 'S', text: words() }), request_access: await ask(client, 'request_access', { write: true }),
    };
    for (const [name, answer] of Object.entries(answers)) {
      const described = tools.find((tool) => tool['name'] === name)!;
      expect(described['inputSchema'], name).toMatchObject({ type: 'object', additionalProperties: false });
      expect(schemaChecker().compile(described['outputSchema'] as object)(answer), `${name} ${JSON.stringify(answer)}`).toBe(true);
    }
    expect(tools.find(({ name }) => name === 'messages_reply')!['annotations']).toEqual({ readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true });
  });

  test('a reply meant for one person is refused in a group, and the other way round', async () => {
    const one = await guidOf(world);
    const group = await guidOf(world, { chat: { group: true, identifier: 'chat900', members: [NUMBER, OTHER_NUMBER] } });
    expect(await refusal(client, 'messages_reply', { event: group, isGroup: false, text: words() })).toMatch(OTHER_KIND);
    expect(await refusal(client, 'messages_reply', { event: one, isGroup: true, participantCount: 1, text: words() })).toMatch(OTHER_KIND);
    expect(await refusal(client, 'messages_reply', { event: group, isGroup: true, text: words() })).toMatch(/^participantCount: for a group/);
    expect(await refusal(client, 'messages_reply', { event: group, isGroup: true, participantCount: 3, text: words() })).toMatch(/^participantCount: the chat has more or fewer members than that\. Nothing was asked for\./);
    expect(await ask(client, 'messages_reply', { event: group, isGroup: true, participantCount: 2, text: words() })).toMatchObject({ state: 'waiting', participantCount: 2 });
    expect(world.osascript.runs).toEqual([]);
  });

  test('a chat whose row contradicts itself is written to by nobody', async () => {
    const rowid = await world.writer.messages.arrive({ from: NUMBER, guid: 'CONTRA-1', chat: { identifier: '+15550107777' } });
    await world.writer.store.query('messages', "UPDATE chat SET style = 43 WHERE guid LIKE '%+15550107777' RETURNING ROWID");
    expect(rowid).toBeDefined();
    for (const isGroup of [true, false]) expect(await refusal(client, 'messages_reply', { event: 'CONTRA-1', isGroup, participantCount: 1, text: words() })).toBe(NO_EVENT);
  });

  test('somebody who joined while it waited: nothing is sent, and it is said', async () => {
    const event = await guidOf(world, { chat: { group: true, identifier: 'chat901', members: [NUMBER, OTHER_NUMBER] } });
    const { request } = await ask(client, 'messages_reply', { event, isGroup: true, participantCount: 2, text: words() });
    await world.writer.store.query('messages', "INSERT INTO handle (id, service) VALUES ('+15550103333', 'iMessage') RETURNING ROWID");
    await world.writer.store.query('messages', "INSERT INTO chat_handle_join (chat_id, handle_id) SELECT c.ROWID, h.ROWID FROM chat c, handle h WHERE c.guid LIKE '%chat901' AND h.id = '+15550103333' RETURNING chat_id");
    const before = world.osascript.runs.length;
    expect(await allow(request as string)).toMatchObject({ code: 2, stderr: 'belfry: The members of this chat are others than those that were shown. Nothing was written.\n' });
    expect(await ask(client, 'reply_status', { request })).toMatchObject({ state: 'failed', note: expect.stringMatching(/^The members of this chat are others/) });
    expect(world.osascript.runs).toHaveLength(before);
  });

  test('whom this client may not answer is unknown, in the same words', async () => {
    const stranger = await guidOf(world, { from: OTHER_NUMBER });
    for (const event of [stranger, 'nothing', '99999', '../x']) expect(await refusal(client, 'messages_reply', { event, isGroup: false, text: words() })).toBe(NO_EVENT);
    const chat = `any;-;${OTHER_NUMBER}`;
    for (const name of [chat, 'any;-;+15550100001', 'Ada', '']) {
      expect(await refusal(client, 'messages_reply', { chat: name, isGroup: false, text: words() })).toMatch(name === '' ? /^chat: / : /^chat: there is no chat of this id that you may write to/);
    }
    await guidOf(world);
    expect(await ask(client, 'messages_reply', { chat: `any;-;${NUMBER}`, isGroup: false, text: words() })).toMatchObject({ state: 'waiting' });
    // A group counts as allowed if all in it are, or the owner allowed the chat itself.
    await guidOf(world, { chat: { group: true, identifier: 'chat902', members: [NUMBER, OTHER_NUMBER] } });
    const group = { chat: 'any;+;chat902', isGroup: true, participantCount: 2 };
    expect(await refusal(client, 'messages_reply', { ...group, text: words() })).toMatch(/^chat: there is no chat/);
    expect(world.engine.policy.addChats(['any;+;chat902'])).toMatchObject({ ok: true });
    expect(await ask(client, 'messages_reply', { ...group, text: words() })).toMatchObject({ state: 'waiting' });
    expect(await refusal(client, 'messages_reply', { isGroup: false, text: words() })).toMatch(/^event: name one event or one chat/);
    expect(await refusal(client, 'messages_reply', { event: stranger, chat, isGroup: false, text: words() })).toMatch(/^event: name one event or one chat/);
  });

});

describe('what becomes of a text', () => {
  shareWorld();

  test('a declined text stays declined; a revoke takes back what waits', async () => {
    const event = await guidOf(world);
    const reply = { event, isGroup: false, text: words() };
    const { request } = await ask(client, 'messages_reply', reply);
    expect(await cli(world, `waiting deny ${request}`)).toMatchObject({ code: 0, stdout: 'Not allowed. Nothing was written.\n' });
    expect(await ask(client, 'messages_reply', reply)).toMatchObject({ request, state: 'declined' });
    expect(await cli(world, `waiting allow ${request}`)).toMatchObject({ code: 3, stderr: 'belfry: This request is no longer waiting.\n' });
    const second = await ask(client, 'messages_reply', { ...reply, key: 'again' });
    expect(second).toMatchObject({ state: 'waiting' });
    grant(world, 'messages');
    expect(await waiting(world)).toEqual([]);
    grant(world, 'reply');
    expect(await ask(client, 'reply_status', { request: second['request'] })).toMatchObject({ state: 'declined' });
  });

  test('a key is one text: the same again is the same request, another text is refused', async () => {
    const event = await guidOf(world);
    const first = await ask(client, 'messages_reply', { event, isGroup: false, text: 'One', key: 'k1' });
    expect(await ask(client, 'messages_reply', { event, isGroup: false, text: 'One', key: 'k1' })).toMatchObject({ request: first['request'] });
    expect(await refusal(client, 'messages_reply', { event, isGroup: false, text: 'Two', key: 'k1' })).toMatch(/^key: another text was written with this key/);
  });

  const SENT_MAYBE = ' The text may have been sent, or may still be: look in the chat before you write it again.';
  test.each<[string, 'failed' | 'unknown', ScriptEnd, string]>([
    ['-1743 before', 'failed', stoppedAt('before', -1743), 'macOS does not let Belfry control Messages. The owner can turn it on in System Settings > Privacy & Security > Automation. Nothing was written.'],
    ['-600 before', 'failed', stoppedAt('before', -600), 'Messages is not running. Nothing was written.'],
    ['-1728 before', 'failed', stoppedAt('before', -1728), 'Messages does not have this chat any more. Nothing was written.'],
    ['-1712 before', 'failed', stoppedAt('before', -1712), 'Messages did not answer in time. Nothing was written.'],
    ['9001 before', 'failed', stoppedAt('before', 9001), 'Messages says that this chat has more than one other member. Nothing was written.'],
    ['a number of no table before', 'failed', stoppedAt('before', -10000), 'Messages answered with an error. Nothing was written.'],
    ['-600 since', 'unknown', stoppedAt('since', -600), `Messages is not running.${SENT_MAYBE}`],
    ['-609 since', 'unknown', stoppedAt('since', -609), `Messages is not running.${SENT_MAYBE}`],
    ['-1728 since', 'unknown', stoppedAt('since', -1728), `Messages answered with an error.${SENT_MAYBE}`],
    ['-1712 since', 'unknown', stoppedAt('since', -1712), `Messages did not answer in time.${SENT_MAYBE}`],
    ['a number of no table since', 'unknown', stoppedAt('since', -10000), `Messages answered with an error.${SENT_MAYBE}`],
    ['an error without the point', 'unknown', complaint(-1743), `macOS does not let Belfry control Messages. The owner can turn it on in System Settings > Privacy & Security > Automation.${SENT_MAYBE}`],
    ['no word, killed', 'unknown', { dies: true }, `What Messages answered could not be read.${SENT_MAYBE}`],
  ])('%s: %s', async (_name, state, end, note) => {
    // Each on its own: a client may ask for twenty in an hour.
    await using own = await startWorld();
    const peer = own.client();
    await ask(peer, 'list_watches');
    grant(own, 'reply');
    const reply = { event: await guidOf(own), isGroup: false, text: words() };
    const { request } = await ask(peer, 'messages_reply', reply);
    own.osascript.ends(end);
    expect(await cli(own, `waiting allow ${request}`)).toMatchObject({ code: 2, stderr: `belfry: ${note}\n` });
    expect(await ask(peer, 'reply_status', { request })).toMatchObject({ state, note });
    // What certainly did not go out may be asked for again; what may have gone out is never tried again.
    const again = await ask(peer, 'messages_reply', reply);
    expect(again['request'] === request).toBe(state === 'unknown');
    expect(again['state']).toBe(state === 'unknown' ? 'unknown' : 'waiting');
    expect(own.osascript.runs).toHaveLength(1);
  });

  test('at most three of a client wait, and none of another client can be asked about', async () => {
    const event = await guidOf(world);
    for (let left = 3; left > 0; left -= 1) await ask(client, 'messages_reply', { event, isGroup: false, text: words() });
    expect(await refusal(client, 'messages_reply', { event, isGroup: false, text: words() })).toMatch(/^3 texts of yours wait for the owner already/);
    expect(world.engine.outgoing.find((await waiting(world))[0]!.id, 'ffffffff')).toBeNull();
    expect(await refusal(client, 'reply_status', { request: 'message-000000000000' })).toMatch(/^request: there is no such request of yours/);
  });

  test('off and paused are said', async () => {
    const event = await guidOf(world);
    const reply = { event, isGroup: false, text: words() };
    world.engine.policy.pause(null);
    expect(await refusal(client, 'messages_reply', reply)).toMatch(/^The owner paused Belfry/);
    expect(await refusal(client, 'mail_draft', { to: ['a@x.example'], subject: 'S', text: words() })).toMatch(/^The owner paused Belfry/);
    world.engine.policy.resume();
    world.engine.policy.setEvent(MESSAGES, false);
    expect(await refusal(client, 'messages_reply', reply)).toMatch(/^New message is switched off/);
    world.engine.policy.setEvent(MESSAGES, true);
    await expect.poll(() => client.tool('messages_reply', reply), { timeout: 20_000 }).not.toHaveProperty('isError', true);
  });
});

test('drafts: a new mail, an answer to a mail within reach, and never more than a draft', async () => {
  await using world = await startWorld();
  const client = world.client();
  await ask(client, 'list_watches');
  grant(world, 'reply');
  const { result: rowid } = await world.writer.mail.arrive({ from: ADA, subject: 'Plans', messageId: '<plans@x.example>' });
  const { result: hidden } = await world.writer.mail.arrive({ from: OTHER, subject: 'Hidden' });
  const allow = async (request: string) => cli(world, `waiting allow ${request}`);

  const fresh = await ask(client, 'mail_draft', { to: ['Bob <bob@x.example>', 'bob@x.example'], cc: ['c@x.example'], subject: 'Hel\u202elo', text: 'Words' });
  expect(await waiting(world)).toMatchObject([{ kind: 'draft', to: ['bob@x.example'], cc: ['c@x.example'], subject: 'Hello', text: 'Words', answers: null }]);
  expect(await allow(fresh['request'] as string)).toMatchObject({ code: 0, stdout: 'Opened in Mail.\n' });
  expect(await ask(client, 'reply_status', { request: fresh['request'] })).toMatchObject({ state: 'done', note: 'The draft is open in Mail. Whether it is sent is up to the owner.' });

  const answer = await ask(client, 'mail_draft', { answers: String(rowid), text: 'Yes', all: true });
  expect(await waiting(world)).toMatchObject([{ kind: 'draft', to: [], subject: '', answers: { from: 'ada@example.org', subject: 'Plans', all: true } }]);
  expect(await allow(answer['request'] as string)).toMatchObject({ code: 0 });
  expect(world.osascript.runs.map(({ argv }) => argv)).toEqual([
    ['-', 'Hello', 'Words', '1', 'bob@x.example', 'c@x.example'],
    ['-', world.account, 'INBOX', String(rowid), 'plans@x.example', 'Yes', '1'],
  ]);
  expect(spoken(world)).toEqual(['draft Written', 'draft The owner was asked', 'draft Written', 'draft The owner was asked']);

  expect(await refusal(client, 'mail_draft', { answers: String(hidden), text: 'x' })).toBe('answers: there is no mail with this id that you may answer.');
  expect(await refusal(client, 'mail_draft', { answers: String(rowid), to: ['a@x.example'], text: 'x' })).toMatch(/^answers: leave out/);
  expect(await refusal(client, 'mail_draft', { to: ['a@x.example'], text: 'x' })).toMatch(/^to: name at least one/);
  expect(await refusal(client, 'mail_draft', { to: ['+15550101234'], subject: '', text: 'x' })).toBe('to[0]: this is no mail address.');
  expect(await refusal(client, 'mail_draft', { to: ['a@x.example', 'b@x.example', 'b'.repeat(3)], subject: '', text: 'x' })).toBe('to[2]: this is no mail address.');
  expect(await refusal(client, 'mail_draft', { to: ['a@x.example'], cc: ['x'.repeat(4)], subject: '', text: 'x' })).toBe('cc[0]: this is no mail address.');
  expect(await refusal(client, 'mail_draft', { to: ['a@x.example'], subject: '', text: ' \u200b ' })).toBe('text: say something.');
  expect(await refusal(client, 'mail_draft', { to: ['a@x.example'], subject: '', text: '漢'.repeat(40_000) })).toBe('text: it is too long, more than 90000 bytes in UTF-8. Shorten it.');
  world.engine.policy.exclude([world.account]);
  expect(await refusal(client, 'mail_draft', { answers: String(rowid), text: 'x' })).toBe('answers: there is no mail with this id that you may answer.');
});

test.each<[string, 'failed' | 'unknown', ScriptEnd, RegExp]>([
  ['before', 'failed', stoppedAt('before', -609), /^Mail is not running\. Nothing was written\.$/],
  ['since', 'unknown', stoppedAt('since', -609), /^Mail is not running\. The draft may be open, or may still open: look in Mail before you ask for it again\.$/],
])('a draft, and an error %s the point where Mail opens it: %s', async (_stage, state, end, note) => {
  await using world = await startWorld();
  const client = world.client();
  await ask(client, 'list_watches');
  grant(world, 'reply');
  const { result: rowid } = await world.writer.mail.arrive({ from: ADA, subject: 'Plans', messageId: '<plans@x.example>' });
  world.osascript.ends(end);
  for (const draft of [{ to: ['bob@x.example'], subject: 'S', text: 'New' }, { answers: String(rowid), text: 'Answer' }]) {
    const { request } = await ask(client, 'mail_draft', draft);
    expect(await cli(world, `waiting allow ${request}`)).toMatchObject({ code: 2 });
    expect(await ask(client, 'reply_status', { request })).toMatchObject({ state, note: expect.stringMatching(note) });
    expect((await ask(client, 'mail_draft', draft))['request'] === request).toBe(state === 'unknown');
  }
});

test('a session: watch, event, read, search, draft; the window is told and shown all of it, and allows it', async () => {
  await using world = await startWorld({ host: { searchKey: Buffer.alloc(32, 5).toString('base64') } });
  using ui = uiOf(world.engine);
  await ui.call.app.snapshot({});
  const client = world.client();
  await watch(client);
  grant(world, 'mail', 'search', 'reply');
  await ring(world, 'Rota', { file: true });
  const { items } = await ask(client, 'wait_for_events');
  const id = items[0].eventId as string;
  const mail = await ask(client, 'mail_get', { id });
  expect(mail).toMatchObject({ mail: { subject: 'Rota', from: { address: 'ada@example.org' } }, onDisk: 'whole' });
  await expect.poll(async () => (await ask(client, 'mail_search', { query: 'rota' }))['mails'], { timeout: 20_000 }).toMatchObject([{ row: mail['row'], mail: { subject: 'Rota' } }]);

  const { request } = await ask(client, 'mail_draft', { answers: id, text: 'Thank you, I take Tuesday.' });
  await expect.poll(() => ui.changed.flatMap(({ waiting }) => waiting ?? []), { timeout: 20_000 }).toMatchObject([{
    kind: 'draft', id: request, client: ownIdentity(world).id, text: 'Thank you, I take Tuesday.', answers: { from: 'ada@example.org', subject: 'Rota', all: false },
  }]);
  expect((await ui.call.status.get({})).waiting).toBe(1);
  expect(await ui.call.clients.waiting({})).toHaveLength(1);
  expect(await ui.call.clients.answer({ id: request as string, accept: true, options: {} })).toEqual({ ok: true, changed: true, sentence: 'Opened in Mail.' });
  expect(await ask(client, 'reply_status', { request })).toMatchObject({ state: 'done' });
  expect(await ui.call.clients.waiting({})).toEqual([]);
  expect(world.osascript.runs.map(({ argv }) => argv)).toEqual([['-', world.account, 'INBOX', String(mail['row']), (mail['mail'].messageId as string | null)?.replace(/^<|>$/g, '') ?? '', 'Thank you, I take Tuesday.', '0']]);
  expect(world.engine.activity.recent(50).map(({ kind }) => kind).filter((kind) => kind === 'read' || kind === 'draft').slice(0, 3)).toEqual(['draft', 'draft', 'read']);
});

test('unasked goes out at once, twenty times an hour; the text lies nowhere on disk', async () => {
  await using world = await startWorld();
  const client = world.client();
  await ask(client, 'list_watches');
  grant(world, 'reply:unasked');
  const event = await guidOf(world);
  for (let number = 0; number < 20; number += 1) {
    expect(await ask(client, 'messages_reply', { event, isGroup: false, text: `unwritten-words ${number}` })).toMatchObject({ state: 'done' });
  }
  expect(await refusal(client, 'messages_reply', { event, isGroup: false, text: 'one more' })).toMatch(/^At most 20 texts may be written in an hour\. Try again in 60 minutes\.$/);
  expect(world.osascript.runs).toHaveLength(20);
  await world.engine.stop();
  const kept = readdirSync(world.dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, 'latin1')).join('\n');
  expect(kept).not.toContain('unwritten-words');
  expect(world.log.join('\n')).not.toContain('unwritten-words');
  expect(findCanary(kept)).toBeNull();
  await world.startEngine();
});

test.skipIf(process.platform === 'darwin')("the app's engine asks the system's own osascript, whatever it is handed", async () => {
  using folder = tempFolder();
  const standIn = new OsascriptStandIn(folder.at('osascript'));
  const settings = { dataDir: folder.at('data'), mailDir: folder.at('Mail'), messagesDb: folder.at('chat.db'), accountsDb: folder.at('a'), addressBookDir: folder.at('b') };
  const engine = engineOf(settings, 'app', () => undefined, () => undefined, { osascript: standIn.path });
  expect(await engine.scripts.run('return 1', [], 20_000)).toEqual({ ok: false, fault: 'unavailable', nothingWritten: true });
  expect(standIn.runs).toEqual([]);
  await engine.stop();
});
