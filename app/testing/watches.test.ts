import { readFileSync, renameSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runCommand } from '../cli/run-command.ts';
import { engineApi } from '../engine/commands.ts';
import { stopWatch, addWatch, watchRows } from '../engine/watch-calls.ts';
import { clientRows, slicesOf } from '../engine/report.ts';
import { testClient } from '../engine/test-event.ts';
import { slices as slicesSchema, type LiveRow } from '../contract/values.ts';
import { CODE, errorOf, MAIL, mailArgs, MESSAGES, messagesArgs, quiet, ring, schemaChecker, text } from './conformance-kit.ts';
import { findCanary } from './canary.ts';
import { modernMeta, type RawClient } from './raw-client.ts';
import { ask, ownIdentity, refusal, subjectsOf, untilUnread, watch } from './watch-kit.ts';
import { NUMBER, startWorld, type World } from './world.ts';

const FOREIGN = '0a0b0c0d';
const eras = ['legacy', 'modern'] as const;

async function open(world: World, era: 'legacy' | 'modern'): Promise<RawClient> {
  const client = world.client();
  if (era === 'legacy') await client.initialize();
  return client;
}

/** One world; each test begins without watches and unread items. */
describe('with one engine', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    for (const { id } of world.engine.watches.list(null)) world.engine.watches.stop(id, null);
  });

  describe.each(eras)('%s: tools', (era) => {
    test('every tool is listed with a strict schema, annotations and an output that its answers fit', async () => {
      const client = await open(world, era);
      const { tools } = (era === 'legacy' ? await client.ask('tools/list') : await client.request('tools/list'))['result'] as { tools: Record<string, any>[] };
      expect(tools.map((tool) => tool['name'])).toEqual(['list_event_types', 'watch_events', 'wait_for_events', 'check_inbox', 'list_watches', 'stop_watch', 'request_access']);
      const output = new Map<string, (value: unknown) => boolean>();
      for (const tool of tools) {
        expect(tool['inputSchema'], tool['name']).toMatchObject({ type: 'object', additionalProperties: false });
        expect(Object.keys(tool['annotations'] as object).sort()).toEqual(['destructiveHint', 'idempotentHint', 'openWorldHint', 'readOnlyHint']);
        expect(tool['description']).toMatch(/\S.{20}/);
        output.set(tool['name'] as string, schemaChecker().compile(tool['outputSchema'] as object) as never);
      }
      const id = await watch(client);
      await ring(world);
      await untilUnread(world, 1);
      for (const [name, args] of Object.entries({
        list_event_types: {}, watch_events: { event: MAIL, arguments: mailArgs }, list_watches: {}, check_inbox: {}, wait_for_events: { timeoutSeconds: 1 }, request_access: {}, stop_watch: { watch: id },
      })) {
        const result = await client.tool(name, args);
        expect(result['isError'], name).toBeUndefined();
        expect(output.get(name)!(result['structuredContent']), name).toBe(true);
        // A sentence first, and the same data as text for clients that read no structured content.
        expect(result['content'][0].text).toMatch(/\.$/);
        // The sentence stands in the structured content as well: some clients show their model nothing else.
        expect({ note: result['content'][0].text, ...JSON.parse(result['content'][1].text as string) }).toEqual(result['structuredContent']);
      }
    });

    test('a wait that is under way gets an arrival; one that finds something unread returns at once', async () => {
      const client = await open(world, era);
      const id = await watch(client);
      const waiting = ask(client, 'wait_for_events', { timeoutSeconds: 50 });
      await quiet(50);
      await ring(world, 'First');
      const first = await waiting;
      expect(subjectsOf(first)).toEqual(['First']);
      expect(first['items'][0]).toMatchObject({ watch: id, event: MAIL, gone: false, test: false });
      await ring(world, 'Second');
      await untilUnread(world, 2);
      const second = await ask(client, 'wait_for_events', { timeoutSeconds: 50, confirm: first['batch'] });
      expect(second['confirmed']).toBe(1);
      expect(subjectsOf(second)).toEqual(['Second']);
    });

    test('a wait ends after timeoutSeconds with nothing, and says how to go on', async () => {
      const client = await open(world, era);
      await watch(client);
      const result = await client.tool('wait_for_events', { timeoutSeconds: 1 });
      expect(result['structuredContent']).toMatchObject({ items: [], batch: null });
      expect(result['content'][0].text).toBe('Nothing arrived within 1 seconds. Call wait_for_events again to go on waiting.');
    });

    test('progress is told where a token was given, rising, and not otherwise', async () => {
      const client = await open(world, era);
      await watch(client);
      const progress = () => client.frames.filter(({ message }) => message['method'] === 'notifications/progress').map(({ message }) => message['params']);
      await client.tool('wait_for_events', { timeoutSeconds: 1 });
      expect(progress()).toEqual([]);
      const waiting = client.tool('wait_for_events', { timeoutSeconds: 50 }, { _meta: { ...(era === 'modern' && modernMeta), progressToken: 'p' } });
      await client.until(() => progress().length > 0, client.frames.length);
      expect(progress()[0]).toMatchObject({ progressToken: 'p', progress: 0, total: 50 });
      await ring(world);
      await waiting;
    });

    test('oldest first, limit and hasMore', async () => {
      const client = await open(world, era);
      await watch(client);
      for (const subject of ['a', 'b', 'c']) await ring(world, subject);
      await untilUnread(world, 3);
      const one = await ask(client, 'check_inbox', { limit: 2 });
      expect([subjectsOf(one), one['hasMore']]).toEqual([['a', 'b'], true]);
      const two = await ask(client, 'check_inbox', { limit: 2, confirm: one['batch'] });
      expect([subjectsOf(two), two['hasMore'], two['confirmed']]).toEqual([['c'], false, 2]);
      expect(await ask(client, 'check_inbox', { confirm: two['batch'] })).toMatchObject({ items: [], batch: null, confirmed: 1 });
    });

    test('bad arguments are sentences that name the field and the rule', async () => {
      const client = await open(world, era);
      await watch(client);
      const refusals: readonly (readonly [string, object, RegExp])[] = [
        ['watch_events', { event: MAIL }, /^arguments: /],
        ['watch_events', { event: 7, arguments: mailArgs }, /^event: /],
        ['watch_events', { event: 'calendar.changed', arguments: mailArgs }, /^event: no such event is on/],
        ['watch_events', { event: MAIL, arguments: {} }, /^arguments: a subscription needs a sender/],
        ['watch_events', { event: MAIL, arguments: { from: ['not an address'] } }, /^arguments\.from\[0\]: /],
        ['watch_events', { event: MAIL, arguments: { ...mailArgs, mailboxes: ['Nowhere'] } }, /^arguments\.mailboxes: no mailbox is called "Nowhere"/],
        ['watch_events', { event: MAIL, arguments: { ...mailArgs, colour: 'red' } }, /^arguments: unknown field "colour"/],
        ['watch_events', { event: MAIL, arguments: mailArgs, note: 'x' }, /^arguments: unknown field "note"; known are event, arguments$/],
        ['check_inbox', { limit: 0 }, /^limit: /],
        ['check_inbox', { limit: 101 }, /^limit: /],
        ['check_inbox', { confirm: 'b99999' }, /^confirm: no such batch of yours/],
        ['check_inbox', { confirm: '../x' }, /^confirm: no such batch of yours/],
        ['wait_for_events', { timeoutSeconds: 51 }, /^timeoutSeconds: /],
        ['wait_for_events', { timeoutSeconds: 0.5 }, /^timeoutSeconds: /],
        ['stop_watch', { watch: 'x' }, /^watch: must be the id of a watch/],
        ['stop_watch', {}, /^watch: /],
        ['request_access', { from: [] }, /^from: /],
        ['list_watches', { all: true }, /^arguments: unknown field "all"; known are none$/],
      ];
      for (const [name, args, sentence] of refusals) expect(await refusal(client, name, args), `${name} ${JSON.stringify(args)}`).toMatch(sentence);
      const unknown = { name: 'send_mail', arguments: {} };
      expect(errorOf(era === 'legacy' ? await client.ask('tools/call', unknown) : await client.request('tools/call', unknown))).toMatchObject({ code: CODE.invalidParams, message: expect.stringContaining('there is no tool of this name') });
    });

    test('a watch of another client is unknown, in the same words as one that never was', async () => {
      const client = await open(world, era);
      await watch(client);
      const foreign = (world.engine.watches.add(FOREIGN, MAIL, mailArgs, 'tool') as { watch: { id: string } }).watch.id;
      await ring(world, 'Mine and theirs');
      await untilUnread(world, 1, foreign);
      for (const name of ['stop_watch', 'check_inbox', 'wait_for_events']) {
        expect(await refusal(client, name, { watch: foreign })).toBe(await refusal(client, name, { watch: 'ffffffff' }));
      }
      expect((await ask(client, 'list_watches'))['watches']).toHaveLength(1);
      expect(subjectsOf(await ask(client, 'check_inbox'))).toEqual(['Mine and theirs']);
      const taken = world.engine.inbox.take(FOREIGN, { watch: null, limit: 10 }) as { batch: string };
      expect(await refusal(client, 'check_inbox', { confirm: taken.batch })).toMatch(/^confirm: no such batch of yours/);
      expect(world.engine.watches.find(foreign, null)).toMatchObject({ sent: 1 });
    });
  });

  test('2026-07-28: nothing is confirmed without confirm, so that a lost answer is repeated; a batch is confirmed once', async () => {
    const client = await open(world, 'modern');
    await watch(client);
    await ring(world, 'Kept');
    await untilUnread(world, 1);
    const first = await ask(client, 'check_inbox');
    const again = await ask(client, 'check_inbox');
    expect([subjectsOf(first), subjectsOf(again)]).toEqual([['Kept'], ['Kept']]);
    expect((await ask(client, 'check_inbox', { confirm: first['batch'] }))).toMatchObject({ confirmed: 1, items: [] });
    for (const batch of [first['batch'], again['batch']]) expect((await ask(client, 'check_inbox', { confirm: batch }))['confirmed']).toBe(0);
    expect((await ask(client, 'list_watches'))['watches'][0]).toMatchObject({ unread: 0, confirmed: 1 });
  });

  test('legacy: an omitted confirm is this connection\'s last batch, and only this connection\'s', async () => {
    const client = await open(world, 'legacy');
    await watch(client);
    await ring(world, 'Old');
    await untilUnread(world, 1);
    await ask(client, 'check_inbox');
    const other = await open(world, 'legacy');
    expect(subjectsOf(await ask(other, 'check_inbox'))).toEqual(['Old']);
    expect(await ask(client, 'check_inbox')).toMatchObject({ confirmed: 1, items: [] });
    // The other one was handed the same item, and confirms nothing a second time.
    expect(await ask(other, 'check_inbox')).toMatchObject({ confirmed: 0, items: [] });
  });

  test('an item is rendered when it is read: gone if it was deleted, still there if it was moved', async () => {
    const client = await open(world, 'modern');
    await watch(client);
    const deleted = await ring(world, 'Deleted');
    const moved = await ring(world, 'Moved');
    await untilUnread(world, 2);
    await world.writer.mail.remove(deleted);
    await world.writer.mail.move(moved, 'Archive');
    await quiet(1500);
    const { items } = await ask(client, 'check_inbox');
    expect(items[0]).toMatchObject({ gone: true, data: null, timestamp: null, eventId: expect.any(String) });
    expect(items[1]).toMatchObject({ gone: false, data: { subject: 'Moved', mailbox: 'Archive' } });
  });

  test('the owner\'s word counts at the reading too: subjects off, a sender taken away', async () => {
    const client = await open(world, 'modern');
    await watch(client, { domains: ['example.org', 'fleeting.example'] });
    world.engine.policy.addSenders(['fleeting.example']);
    await ring(world, 'Secret');
    await ring(world, 'Taken back', { from: { address: 'x@fleeting.example', name: 'X' } });
    await untilUnread(world, 2);
    await quiet(1200);
    world.engine.policy.setSetting('subjects', false);
    world.engine.policy.removeSenders(['fleeting.example']);
    const answer = await ask(client, 'check_inbox');
    expect(subjectsOf(answer)).toEqual([null]);
    expect(JSON.stringify(answer)).not.toContain('fleeting');
    world.engine.policy.setSetting('subjects', true);
    expect((await ask(client, 'list_watches'))['watches'][0].unread).toBe(1);
  });

  test('a pause holds: nothing is handed out, what arrives comes after it', async () => {
    const client = await open(world, 'modern');
    await watch(client);
    await ring(world, 'Before');
    await untilUnread(world, 1);
    world.engine.policy.pause(null);
    expect(await ask(client, 'check_inbox')).toMatchObject({ items: [], paused: true });
    const waiting = ask(client, 'wait_for_events', { timeoutSeconds: 50 });
    await ring(world, 'During');
    await quiet();
    world.engine.policy.resume();
    expect(subjectsOf(await waiting).at(0)).toBe('Before');
    await untilUnread(world, 2);
    expect(subjectsOf(await ask(client, 'check_inbox'))).toEqual(['Before', 'During']);
  });

  test('the same wish is the same watch, whatever the order of its fields; another one is another', async () => {
    const client = await open(world, 'modern');
    const first = await ask(client, 'watch_events', { event: MAIL, arguments: { domains: ['example.org'], has_attachment: false } });
    const second = await ask(client, 'watch_events', { event: MAIL, arguments: { has_attachment: false, domains: ['example.org'] } });
    const third = await ask(client, 'watch_events', { event: MAIL, arguments: { domains: ['example.org'] } });
    expect([first['isNew'], second['isNew'], third['isNew']]).toEqual([true, false, true]);
    expect(second['watch'].watch).toBe(first['watch'].watch);
  });

  test('one eventId waits once in a watch, and is one delivery to a client however many of its watches and sessions got it', async () => {
    const [client, other] = [await open(world, 'modern'), await open(world, 'legacy')];
    await watch(client);
    await watch(other, { from: ['ada@example.org'] });
    await watch(other, messagesArgs, MESSAGES);
    const rowid = await ring(world, 'Twice');
    await text(world);
    await untilUnread(world, 3);
    const answers = [await ask(client, 'check_inbox'), await ask(other, 'check_inbox')];
    const eventId = answers[0]!['items'][0].eventId as string;
    for (const answer of answers) expect(answer['items'].filter((item: { eventId: string }) => item.eventId === eventId)).toHaveLength(2);
    await ask(client, 'check_inbox', { confirm: answers[0]!['batch'] });
    const rows = world.engine.activity.recent(100, { kind: 'delivered' }).filter((row) => row.eventId === eventId);
    expect(rows).toMatchObject([{ client: ownIdentity(world).id, rowid }]);
  });

  test('at most 200 watches a client, said with the limit', async () => {
    const client = await open(world, 'modern');
    for (let nth = 0; nth < 200; nth += 1) world.engine.watches.add(ownIdentity(world).id, MAIL, { from: [`n${nth}@example.org`] }, 'tool');
    expect(await refusal(client, 'watch_events', { event: MAIL, arguments: mailArgs })).toBe('There is a limit: watches may be at most 200. Stop a watch that is no longer needed.');
  });

  test('a cancelled wait hands nothing out', async () => {
    const client = await open(world, 'modern');
    await watch(client);
    client.send({ id: 'wait', method: 'tools/call', params: { _meta: modernMeta, name: 'wait_for_events', arguments: {} } });
    await expect.poll(() => [...world.engine.peers].some(({ connection }) => connection.liveRequests > 0)).toBe(true);
    client.notify('notifications/cancelled', { requestId: 'wait' });
    // What is written to the store takes another way: the answer says that the cancel has arrived.
    await client.request('tools/list');
    await ring(world, 'Unseen');
    await untilUnread(world, 1);
    expect(world.engine.watches.list(null)[0]).toMatchObject({ waiting: 1, sent: 0 });
    expect(client.frames.some(({ message }) => message['id'] === 'wait')).toBe(false);
  });

  test('belfry watches list and stop; the contract\'s calls and slice', async () => {
    const client = await open(world, 'modern');
    const id = await watch(client);
    await ring(world);
    await untilUnread(world, 1);
    const row = { id, client: ownIdentity(world).id, type: MAIL, senders: 1, source: 'tool', state: 'watching', waiting: 1, sent: 0, confirmed: 0, dropped: 0, gap: false, inbox: null, problem: null };
    expect(slicesSchema.parse(slicesOf(world.engine)).watches).toMatchObject([row]);
    const run = (line: string) => runCommand(line.split(' '), engineApi(world.engine), { headless: false, isOwnerConsole: false });
    expect(JSON.parse((await run('watches list --json')).stdout).watches).toMatchObject([row]);
    expect((await run('watches list')).stdout).toContain(`${id}  ${row.client}  mail.received  1 sender  watching  1 waiting, 0 sent, not confirmed`);
    expect(await run(`watches stop ${id}`)).toMatchObject({ code: 0, stdout: `Watch ${id} is stopped.\n` });
    expect(await run(`watches stop ${id}`)).toMatchObject({ code: 3 });
    expect((await ask(client, 'list_watches'))['watches']).toEqual([]);
  });

  test('the owner makes a watch: kept in settings, no tool can stop it', async () => {
    const client = await open(world, 'modern');
    await ask(client, 'list_watches');
    const { id: own } = ownIdentity(world);
    expect(addWatch(world.engine, own, MAIL, mailArgs)).toMatchObject({ ok: true, changed: true });
    expect(addWatch(world.engine, own, MAIL, { from: ['x'] })).toMatchObject({ ok: false, code: 'invalid', message: expect.stringMatching(/^arguments\.from\[0\]/) });
    expect(addWatch(world.engine, FOREIGN, MAIL, mailArgs)).toMatchObject({ ok: false, code: 'unknown' });
    const id = watchRows(world.engine)[0]!.id;
    expect(world.engine.policy.settings.watches).toMatchObject([{ id, client: own, type: MAIL, arguments: mailArgs, inbox: null }]);
    expect((await ask(client, 'list_watches'))['watches']).toMatchObject([{ watch: id, madeBy: 'owner' }]);
    expect(await refusal(client, 'stop_watch', { watch: id })).toMatch(/only they can stop it/);
    expect(stopWatch(world.engine, id)).toMatchObject({ ok: true });
    expect(world.engine.policy.settings.watches).toEqual([]);
  });

  test('how a client hears is told from what it does: pulls make it listen', async () => {
    const client = await open(world, 'modern');
    await ask(client, 'list_watches');
    const stateOf = () => clientRows(world.engine).find(({ id }) => id === ownIdentity(world).id)!;
    await ask(client, 'watch_events', { event: MAIL, arguments: mailArgs });
    await ask(client, 'check_inbox');
    expect(stateOf()).toMatchObject({ state: 'listening', subscriptions: [{ type: MAIL, senders: 1, mode: 'poll' }] });
  });

  test('nothing of an envelope lies in state.db', async () => {
    const client = await open(world, 'modern');
    await watch(client, { domains: ['example.org'] });
    await ring(world, 'A subject that must not lie there', { from: { address: 'hidden-sender@example.org', name: 'Hidden Name' } });
    await untilUnread(world, 1);
    await ask(client, 'check_inbox');
    const bytes = Buffer.concat(['state.db', 'state.db-wal'].map((name) => readFileSync(`${world.dataDir}/${name}`))).toString('latin1');
    for (const word of ['must not lie', 'hidden-sender', 'Hidden Name']) expect(bytes).not.toContain(word);
    expect(findCanary(bytes)).toBeNull();
  });
});

describe('approval', () => {
  test.each(eras)('%s: only what is granted is listed; a grant is told, and lets the rest in', async (era) => {
    await using world = await startWorld({ trust: false });
    const client = await open(world, era);
    const list = async () => ((era === 'legacy' ? await client.ask('tools/list') : await client.request('tools/list'))['result']['tools'] as { name: string }[]).map(({ name }) => name);
    expect(await list()).toEqual(['list_event_types', 'request_access']);
    expect(await refusal(client, 'watch_events', { event: MAIL, arguments: mailArgs })).toMatch(/Call request_access/);
    if (era === 'modern') {
      client.send({ id: 'listen', method: 'subscriptions/listen', params: { _meta: modernMeta, notifications: { toolsListChanged: true } } });
      await client.until(({ message }) => message['method'] === 'notifications/subscriptions/acknowledged');
    }
    expect(await ask(client, 'request_access', { event: MAIL, domains: ['example.org'] })).toMatchObject({ access: 'waiting' });
    const { id } = ownIdentity(world);
    expect(world.engine.policy.snapshot().waiting).toMatchObject([{ kind: 'client', id }]);
    const from = client.frames.length;
    world.engine.policy.allowClient(id);
    await client.until(({ message }) => message['method'] === 'notifications/tools/list_changed', from);
    expect(await list()).toContain('watch_events');
    expect(await ask(client, 'request_access')).toMatchObject({ access: 'allowed' });
    const watched = await ask(client, 'watch_events', { event: MAIL, arguments: mailArgs });
    expect(watched['waitingForOwner']).toBe(false);
    world.engine.policy.revokeClient(id);
    expect(world.engine.watches.size).toBe(0);
    expect(await list()).toEqual(['list_event_types', 'request_access']);
    expect(await ask(client, 'request_access')).toMatchObject({ access: 'not_allowed' });
  });

  test('2026-07-28: list_changed is never sent to a connection that did not ask', async () => {
    await using world = await startWorld({ trust: false });
    const client = await open(world, 'modern');
    await ask(client, 'request_access');
    world.engine.policy.allowClient(ownIdentity(world).id);
    await client.request('tools/list');
    expect(client.frames.filter(({ message }) => 'method' in message)).toEqual([]);
  });

  test('a watch outside the owner\'s rules waits for the owner, without a word of who is allowed', async () => {
    await using world = await startWorld();
    const client = await open(world, 'modern');
    const result = await client.tool('watch_events', { event: MAIL, arguments: { from: ['bob@other.example', 'ada@example.org'] } });
    expect(result['structuredContent']).toMatchObject({ waitingForOwner: true, watch: { waitingForOwner: true } });
    expect(result['content'][0].text).not.toMatch(/bob|ada|example/);
    await ring(world, 'No', { from: { address: 'bob@other.example', name: 'Bob' } });
    await ring(world, 'Yes');
    await untilUnread(world, 1);
    expect(subjectsOf(await ask(client, 'check_inbox'))).toEqual(['Yes']);
    expect(clientRows(world.engine)[0]!.asks).toMatchObject([{ type: MAIL, notAllowed: ['bob@other.example'] }]);
    world.engine.policy.addSenders(['bob@other.example']);
    expect((await ask(client, 'list_watches'))['watches'][0].waitingForOwner).toBe(false);
  });

  test('a client allowed for one event only cannot watch the other, and its watches of it take nothing', async () => {
    await using world = await startWorld();
    const client = await open(world, 'modern');
    const id = await watch(client, messagesArgs, MESSAGES);
    world.engine.policy.allowClient(ownIdentity(world).id, { events: [MAIL] });
    expect(await refusal(client, 'watch_events', { event: MESSAGES, arguments: { from: [NUMBER], has_attachment: true } })).toMatch(/^event: the owner does not let this client have it/);
    await text(world);
    await quiet();
    expect(world.engine.watches.find(id, null)).toMatchObject({ held: 'refused', waiting: 0 });
    expect(watchRows(world.engine)[0]).toMatchObject({ state: 'waiting-for-owner' });
  });

  test('every event off: nothing but the two tools that need no grant', async () => {
    await using world = await startWorld({ settings: { events: { 'mail.received': false, 'messages.received': false } } });
    const client = await open(world, 'modern');
    expect(await ask(client, 'list_event_types')).toMatchObject({ events: [] });
    expect(await refusal(client, 'check_inbox')).toMatch(/^Every event is switched off/);
    expect(await ask(client, 'request_access')).toMatchObject({ access: 'off' });
  });
});

describe('over time', () => {
  test('watches and items survive the engine; what arrived meanwhile is caught up, what was confirmed stays so', async () => {
    await using world = await startWorld();
    const client = await open(world, 'modern');
    const id = await watch(client);
    for (const subject of ['Confirmed', 'Unread']) await ring(world, subject);
    await untilUnread(world, 2);
    const { batch } = await ask(client, 'check_inbox', { limit: 1 });
    await ask(client, 'check_inbox', { limit: 1, confirm: batch });
    await world.engine.stop();
    await ring(world, 'Meanwhile');
    await world.startEngine();
    const again = world.client();
    await untilUnread(world, 2);
    expect((await ask(again, 'list_watches'))['watches']).toMatchObject([{ watch: id, arguments: mailArgs, unread: 2, confirmed: 1 }]);
    expect(subjectsOf(await ask(again, 'check_inbox'))).toEqual(['Unread', 'Meanwhile']);
  });

  test('an event that was off is history: there to be read, never pushed (ruling 4)', async () => {
    await using world = await startWorld();
    const client = world.client(['--channel']);
    await client.initialize();
    await watch(client);
    world.engine.policy.setEvent(MAIL, false);
    await ring(world, 'While off');
    await quiet();
    world.engine.policy.setEvent(MAIL, true);
    await untilUnread(world, 1);
    await ring(world, 'After');
    await client.until(({ message }) => message['method'] === 'notifications/claude/channel');
    const told = client.frames.filter(({ message }) => message['method'] === 'notifications/claude/channel').map(({ message }) => message['params'].content as string);
    expect(told).toHaveLength(1);
    expect(told[0]).toContain('After');
    expect(subjectsOf(await ask(client, 'check_inbox'))).toEqual(['While off', 'After']);
  });

  test('a store that is not there stops the reading of its items, not of others, and comes back', async () => {
    await using world = await startWorld();
    const client = await open(world, 'modern');
    await watch(client);
    await watch(client, messagesArgs, MESSAGES);
    await ring(world, 'Mail');
    await text(world);
    await untilUnread(world, 2);
    await quiet(1200);
    const index = `${world.mailDir}/MailData/Envelope Index`;
    renameSync(index, `${index}.away`);
    await expect.poll(() => world.engine.hub(MAIL).tail.trouble).not.toBeNull();
    const answer = await ask(client, 'check_inbox');
    expect(answer).toMatchObject({ unreadable: [MAIL], items: [{ event: MESSAGES }] });
    expect(await refusal(client, 'watch_events', { event: MAIL, arguments: { from: ['new@example.org'] } })).toMatch(/cannot be read at the moment/);
    renameSync(`${index}.away`, index);
    await expect.poll(() => world.engine.hub(MAIL).tail.trouble).toBeNull();
    expect((await ask(client, 'check_inbox', { confirm: answer['batch'] }))['items']).toMatchObject([{ event: MAIL }]);
  });

  test('the owner\'s ceiling holds what is kept, and lets it in later', async () => {
    await using world = await startWorld({ settings: { ratePerHour: 2 } });
    const client = await open(world, 'modern');
    await watch(client);
    for (const subject of ['1', '2', '3']) await ring(world, subject);
    await untilUnread(world, 2);
    await quiet();
    expect(watchRows(world.engine)).toMatchObject([{ state: 'ceiling', waiting: 2 }]);
    expect(subjectsOf(await ask(client, 'check_inbox'))).toEqual(['1', '2']);
  });

  test('a test item goes the same way, marked', async () => {
    await using world = await startWorld();
    const client = world.client(['--channel']);
    await client.initialize();
    await ask(client, 'list_watches');
    expect(world.engine.watches.addTest(ownIdentity(world).id, 'test-1')).not.toBeNull();
    const push = (await client.until(({ message }) => message['method'] === 'notifications/claude/channel')).message['params'];
    expect(push).toMatchObject({ meta: { event: 'test', event_id: 'test-1', test: 'true' }, content: expect.stringMatching(/^A test from Belfry/) });
    const { items, batch } = await ask(client, 'check_inbox');
    expect(items).toMatchObject([{ test: true, watch: null, eventId: 'test-1', event: 'test' }]);
    expect(await ask(client, 'check_inbox', { confirm: batch })).toMatchObject({ confirmed: 1, items: [] });
  });

  test.each([['by channel', ['--channel'], 'sent'], ['by pulling', [], 'waiting']] as const)('the owner tests a client that hears %s: each hop is told, and Live follows it to its confirmation', async (_how, flags, first) => {
    await using world = await startWorld();
    const client = world.client([...flags]);
    await client.initialize();
    await watch(client);
    const rows: LiveRow[] = [];
    world.engine.live.look({ rows: (told) => rows.push(...told) }, false);
    const hops = testClient(world.engine, ownIdentity(world).id)!;
    expect(hops.map(({ hop, ok }) => [hop, ok])).toEqual([['helper', true], ['engine', true], ['client', null], ['confirmed', null]]);
    expect(hops[2]!.sentence).toMatch(/lies in its inbox/);
    const { items, batch } = await ask(client, 'check_inbox');
    expect(items).toMatchObject([{ test: true, event: 'test', eventId: expect.stringMatching(/^test-/) }]);
    await ask(client, 'check_inbox', { confirm: batch });
    await expect.poll(() => rows.at(-1)).toMatchObject({ test: true, eventId: items[0].eventId, status: 'delivered', verdicts: [{ sent: true, confirmed: true }] });
    expect(rows[0]).toMatchObject({ test: true, status: first });
    // It counts as nothing: no ring was taken, no arrival is told.
    expect(world.engine.activity.deliveredToday('mail.received')).toBe(0);
  });
});
