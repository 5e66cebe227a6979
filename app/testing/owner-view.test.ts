import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { runCommand } from '../cli/run-command.ts';
import { engineApi } from '../engine/commands.ts';
import { AddressBookStore } from './address-book-store.ts';
import { ADA, MAIL, mailArgs, OTHER, poll } from './conformance-kit.ts';
import { uiOf } from './memory-ports.ts';
import { NUMBER, startWorld } from './world.ts';

const within = { timeout: 30_000 };
afterEach(() => void vi.unstubAllEnvs());

/** Moves this process to a zone where the day is half over, so that none of its midnights falls into a test. */
function atMidday(): void {
  const ahead = 12 - new Date().getUTCHours();
  // The names of these zones have the sign the other way round.
  vi.stubEnv('TZ', `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`);
  expect(Math.abs(new Date().getHours() - 12)).toBeLessThanOrEqual(1);
}

test('event rows: accounts, what is allowed and used, and what was delivered today, over a restart', async () => {
  atMidday();
  await using world = await startWorld();
  {
    using ui = uiOf(world.engine);
    const client = world.client();
    await client.stream(MAIL, mailArgs, {}, 1);
    await world.writer.mail.arrive({ from: ADA });
    await world.writer.mail.arrive({ from: OTHER });
    await client.untilEvents(1, 1);
    await expect.poll(async () => (await ui.call.events.list({}))[0], within).toMatchObject({
      type: MAIL, on: true, sourceOpen: null, accounts: 1, mailboxes: null, allowed: 1, usedBy: ['"test"'], deliveredToday: 1,
      readAt: expect.any(Number), lastAt: expect.any(Number),
    });
    expect((await ui.call.events.list({}))[1]).toMatchObject({ accounts: null, allowed: 2, usedBy: [], deliveredToday: 0, lastAt: null });
    const snapshot = await ui.call.app.snapshot({});
    expect(snapshot.senders.map(({ value, display, lastAt }) => [value, display, lastAt !== null])).toEqual([
      ['example.org', 'Everyone at example.org', true], [NUMBER, NUMBER, false],
    ]);
    expect(snapshot.status).toMatchObject({ seal: 'none', lastEventAt: expect.any(Number) });
    expect(snapshot.clients[0]).toMatchObject({ state: 'listening', lastEventAt: expect.any(Number) });
    await client.end();
  }
  await world.engine.stop();
  await world.startEngine();
  using again = uiOf(world.engine);
  expect((await again.call.events.list({}))[0]).toMatchObject({ deliveredToday: 1, usedBy: [] });
  expect(await again.call.events.set({ type: MAIL, on: false })).toMatchObject({ ok: true });
  expect((await again.call.events.list({}))[0]).toMatchObject({ on: false, accounts: null, readAt: null, deliveredToday: 1 });
});

test('a page is told the slices that changed, and no others', async () => {
  await using world = await startWorld();
  using ui = uiOf(world.engine);
  await ui.call.app.snapshot({});
  await ui.call.settings.set({ key: 'subjects', value: false });
  await expect.poll(() => ui.changed.length, within).toBeGreaterThan(0);
  ui.changed.length = 0;
  await ui.call.senders.add({ senders: ['eve@x.example'], options: {} });
  await expect.poll(() => ui.changed.find(({ senders }) => senders !== undefined), within).toBeDefined();
  const told = ui.changed.find(({ senders }) => senders !== undefined)!;
  expect(Object.keys(told).toSorted()).toEqual(expect.not.arrayContaining(['settings', 'access', 'chats']));
});

test('who may be suggested: recent ones, Contacts and VIPs, and nobody of a type that is off', async () => {
  await using world = await startWorld();
  using ui = uiOf(world.engine);
  const now = Math.floor(Date.now() / 1000);
  await world.writer.mail.arrive({ from: { address: 'Old@Shop.example', name: 'Old Shop' }, dateReceived: now - 86_400 });
  await world.writer.mail.arrive({ from: ADA, dateReceived: now - 60 });
  await world.writer.mail.send({ to: [ADA] });
  await world.writer.messages.arrive({ from: NUMBER });
  writeFileSync(join(world.mailDir, 'MailData', 'VIPs.plist'), `<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict><key>A1</key><dict><key>EmailAddresses</key><array><string>vip&amp;co@x.example</string></array><key>Name</key><string>Grace &lt;VIP&gt;</string></dict></dict></plist>`);
  const suggest = async (wanted: string, limit = 10) => (await ui.call.senders.suggest({ text: wanted, limit })).map(({ value, name, source, for: which }) => [value, name, source, which]);
  const recent = await suggest('');
  expect(recent).toEqual(expect.arrayContaining([['ada@example.org', 'Ada', 'recent', 'both'], ['old@shop.example', 'Old Shop', 'recent', 'both'], [NUMBER, null, 'recent', 'messages']]));
  expect(recent.map(([value]) => value)).not.toContain('me@icloud.example');
  expect(recent.findIndex(([value]) => value === 'ada@example.org')).toBeLessThan(recent.findIndex(([value]) => value === 'old@shop.example'));
  expect(await suggest('GRACE')).toEqual([['vip&co@x.example', 'Grace <VIP>', 'vip', 'both']]);
  expect(await suggest('shop')).toEqual([['old@shop.example', 'Old Shop', 'recent', 'both']]);
  expect(await suggest('', 1)).toHaveLength(1);
  await ui.call.events.set({ type: 'mail.received', on: false });
  expect(await suggest('grace')).toEqual([]);
  expect((await suggest('')).map(([value]) => value)).toEqual([NUMBER]);
});

test('Contacts by name, address and number', async () => {
  await using world = await startWorld({ start: false });
  const book = AddressBookStore.create(world.folder.at('AddressBook'));
  book.addContact({ first: 'Grace', last: 'Hopper', phones: ['(202) 555-0143'], emails: ['Grace@Navy.example'] });
  book.close();
  writeFileSync(join(world.dataDir, 'settings.json'), JSON.stringify({ version: 2, region: 'US' }));
  await world.startEngine();
  using ui = uiOf(world.engine);
  const suggest = async (wanted: string) => (await ui.call.senders.suggest({ text: wanted, limit: 10 })).map(({ value, name, source, for: which }) => [value, name, source, which]);
  const grace = [['grace@navy.example', 'Grace Hopper', 'contacts', 'both'], ['+12025550143', 'Grace Hopper', 'contacts', 'messages']];
  expect(await suggest('hopper')).toEqual(grace);
  expect(await suggest('navy')).toEqual([grace[0]]);
  expect(await suggest('555-01')).toEqual([grace[1]]);
  // An empty text never lists the whole book.
  expect(await suggest('')).toEqual([]);
});

test('chats are found by name, become rules with their names, and let their members ring', async () => {
  await using world = await startWorld();
  using ui = uiOf(world.engine);
  const client = world.client();
  await client.stream('messages.received', { from: ['+15550109999', NUMBER] }, {}, 2);
  const family = { group: true, identifier: 'chat77', name: 'Family', members: ['+15550109999', NUMBER] };
  await world.writer.messages.arrive({ from: '+15550109999', chat: family, text: 'hello' });
  // Rows are judged in their order: once this one rang, the one before it was held back, and no later rule lets it ring.
  await world.writer.messages.arrive({ from: NUMBER, chat: family });
  expect(await client.untilEvents(1, 2)).toMatchObject([{ data: { from: { handle: NUMBER } } }]);
  const [found] = await ui.call.chats.find({ text: 'fam', limit: 5 });
  expect(found).toMatchObject({ name: 'Family', isGroup: true, participants: 2, lastAt: expect.any(Number) });
  expect(await ui.call.chats.find({ text: 'nobody', limit: 5 })).toEqual([]);
  expect(await ui.call.chats.add({ ids: ['Nowhere'] })).toMatchObject({ ok: false, message: expect.stringMatching(/No chat is called "Nowhere"; there are "Family"/) });
  expect(await ui.call.chats.add({ ids: [found!.id] })).toMatchObject({ ok: true, changed: true });
  expect((await ui.call.app.snapshot({})).chats).toMatchObject([{ id: found!.id, name: 'Family' }]);
  await world.writer.messages.arrive({ from: '+15550109999', chat: family, text: 'again' });
  expect(await client.untilEvents(2, 2)).toMatchObject([{}, { data: { chat: { name: 'Family' } } }]);
  expect(await ui.call.chats.remove({ ids: [found!.id] })).toMatchObject({ ok: true });
  expect((await ui.call.app.snapshot({})).chats).toEqual([]);
});

test('access: both stores are read, whether or not their event is on; a store that is off is not opened', async () => {
  await using world = await startWorld({ settings: { events: {} } });
  using ui = uiOf(world.engine);
  expect(await ui.call.access.probe({})).toEqual({
    mail: { state: 'readable', everRead: true, version: 'V10' }, messages: { state: 'readable', everRead: true, version: null }, checkedAt: expect.any(Number),
  });
  expect([world.engine.hub('mail.received').reader.isOpen, world.engine.hub('messages.received').reader.isOpen]).toEqual([false, false]);
  expect((await ui.call.app.snapshot({})).access).toMatchObject({ mail: { state: 'readable' } });
});

test('a poll of one client counts as its subscription for as long as it goes on', async () => {
  await using world = await startWorld();
  using ui = uiOf(world.engine);
  const client = world.client();
  const { cursor } = await poll(client, MAIL, mailArgs);
  await world.writer.mail.arrive({ from: ADA });
  await poll(client, MAIL, mailArgs, { cursor });
  await expect.poll(async () => (await ui.call.clients.list({}))[0], within).toMatchObject({
    state: 'listening', subscriptions: [{ type: MAIL, mode: 'poll', senders: 1, delivered: 1 }],
  });
  expect((await ui.call.events.list({}))[0]).toMatchObject({ usedBy: ['"test"'] });
});

test('the command line names chats by name, tests a client, and counts what is kept of senders', async () => {
  await using world = await startWorld();
  const api = engineApi(world.engine);
  const run = async (...argv: string[]) => runCommand(argv, api, { headless: true, isOwnerConsole: false });
  await world.writer.messages.arrive({ from: '+15550109999', chat: { group: true, identifier: 'chat77', name: 'Book club', members: ['+15550109999', NUMBER] } });
  await expect.poll(async () => (await run('senders', 'add', 'chat:Book club')).code, within).toBe(0);
  const [guid] = world.engine.policy.snapshot().chats;
  expect((await run('senders', 'list')).stdout).toMatch(new RegExp(`chat:${guid!.replaceAll(/[;+]/g, String.raw`\$&`)} +chat +messages +on +"Book club"`));
  expect(await run('senders', 'add', 'chat:Nobody')).toMatchObject({ code: 3, stderr: expect.stringMatching(/No chat is called "Nobody"; there are "Book club"/) });
  expect((await run('senders', 'remove', 'chat:Book club')).code).toBe(0);
  expect(world.engine.policy.snapshot().chats).toEqual([]);

  const client = world.client();
  await client.stream(MAIL, mailArgs, {}, 1);
  await expect.poll(() => [...world.engine.peers][0]?.identity?.id, within).toBeTypeOf('string');
  const { code, stdout } = await run('clients', 'test', [...world.engine.peers][0]!.identity!.id);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^Helper: 1 connected\.\nBelfry: .*allowed\.\nClient: a test event went to 1 open stream\.\nConfirmed: can't tell\./)]);
  await client.untilEvents(1, 1);

  expect((await run('settings', 'set', 'keepSendersDays', '7')).code).toBe(0);
  await world.writer.mail.arrive({ from: ADA });
  await client.untilEvents(2, 1);
  const kept = () => world.engine.activity.recent(10, { kind: 'delivered' }).map(({ sender }) => sender);
  await expect.poll(kept, within).toEqual(['ada@example.org']);
  expect((await run('settings', 'set', 'keepSendersDays', '0')).code).toBe(0);
  expect(kept()).toEqual([null]);
});

test('groups without a name are called by their members; spam chats and plain conversations are not offered', async () => {
  await using world = await startWorld();
  using ui = uiOf(world.engine);
  await world.writer.messages.arrive({ from: NUMBER });
  await world.writer.messages.spamChat({ from: '+15550107777' });
  await world.writer.messages.arrive({ from: '+15550108888', chat: { group: true, identifier: 'chat88', members: ['+15550108888', 'ada@x.example', '+15550101111', '+15550102222', '+15550103333'] } });
  await expect.poll(async () => (await ui.call.chats.find({ text: '', limit: 10 })).map(({ name, isGroup }) => [name, isGroup]), within)
    .toEqual([[expect.stringMatching(/^.+, .+, .+, .+ and 1 more$/), true]]);
  expect(await ui.call.chats.find({ text: 'ADA@', limit: 10 })).toHaveLength(1);
});
