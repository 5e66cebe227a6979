import { renameSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CODE, descriptorsOf, errorOf, EXTENSION, MAIL, mailArgs, MESSAGES, messagesArgs, OTHER, poll, quiet, ring, subjects, SUBSCRIPTION_ID, text, trafficFaults } from './conformance-kit.ts';
import type { RawClient } from './raw-client.ts';
import { NUMBER, startWorld, type World } from './world.ts';

/* Architecture 5, "State | discover, events/list | poll; stream being opened | open stream": row by row, on connections that were open before. */

const declared = async (client: RawClient): Promise<boolean> =>
  EXTENSION in (((await client.request('server/discover'))['result']['capabilities']['extensions'] ?? {}) as object);
const listed = async (client: RawClient) => (await descriptorsOf(client)).map((descriptor) => descriptor['name'] as string);
const answers = async (client: RawClient, name: string, args: object, params: object = {}) =>
  [await client.request('events/poll', { name, arguments: args, ...params }), await client.stream(name, args, params)];
/** The id that the owner sees for a client. */
const idOf = async (world: World): Promise<string> => {
  await expect.poll(() => [...world.engine.peers].find((peer) => peer.identity !== null)?.identity?.id).toBeTypeOf('string');
  return [...world.engine.peers].find((peer) => peer.identity !== null)!.identity!.id;
};
/** `terminated` with this error, then the final result, then nothing (ruling 2). */
const ended = async (client: RawClient, id: number, error: object): Promise<void> => {
  const { message } = await client.until((frame) => frame.message['id'] === id && 'result' in frame.message);
  // Only these two; the core may stamp `_meta` further.
  expect(Object.keys(message['result'] as object).sort()).toEqual(['_meta', 'resultType']);
  expect(message['result']).toMatchObject({ resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: id } });
  const at = client.frames.findIndex((frame) => frame.message === message);
  const terminated = client.of(id, 'terminated');
  expect(terminated).toHaveLength(1);
  expect(terminated[0]!.message['params']).toMatchObject({ error, _meta: { [SUBSCRIPTION_ID]: id } });
  expect(client.frames.indexOf(terminated[0]!)).toBeLessThan(at);
  expect(client.of(id).at(-1)).toBe(terminated[0]);
};

test('all types off: not declared, -32601, open streams end with Forbidden; on again, new ones open', async () => {
  await using world = await startWorld({ settings: { events: { 'mail.received': true, 'messages.received': false } } });
  const client = world.client();
  await client.stream(MAIL, mailArgs, {}, 1);
  const { cursor } = await poll(client, MAIL, mailArgs);
  expect(world.engine.policy.setEvent(MAIL, false)).toMatchObject({ ok: true });
  await ended(client, 1, { code: CODE.forbidden, message: 'Forbidden' });
  expect(await declared(client)).toBe(false);
  for (const method of ['events/list', 'events/poll', 'events/stream', 'events/subscribe']) {
    expect(errorOf(await client.request(method, { name: MAIL, arguments: mailArgs })).code, method).toBe(CODE.methodNotFound);
  }
  await ring(world, 'While off');
  expect(world.engine.policy.setEvent(MAIL, true)).toMatchObject({ ok: true });
  expect(await declared(client)).toBe(true);
  // Ruling 4: an old cursor finds what came while it was off; nothing is pushed for it.
  await client.stream(MAIL, mailArgs, {}, 2);
  expect(subjects((await poll(client, MAIL, mailArgs, { cursor }))['events'])).toEqual(['While off']);
  await ring(world, 'On again');
  expect(subjects(await client.untilEvents(1, 2))).toEqual(['On again']);
  expect(client.events(1)).toEqual([]);
});

test('this type off: declared, the type absent, NotFound; its open stream ends with NotFound, the other type goes on', async () => {
  await using world = await startWorld();
  const client = world.client();
  await client.stream(MAIL, mailArgs, {}, 1);
  await client.stream(MESSAGES, messagesArgs, {}, 2);
  world.engine.policy.setEvent(MAIL, false);
  await ended(client, 1, { code: CODE.notFound, data: { kind: 'event' } });
  expect(await declared(client)).toBe(true);
  expect(await listed(client)).toEqual([MESSAGES]);
  for (const answer of await answers(client, MAIL, mailArgs)) expect(errorOf(answer)).toMatchObject({ code: CODE.notFound, data: { kind: 'event' } });
  await text(world);
  expect(await client.untilEvents(1, 2)).toHaveLength(1);
  expect(client.of(2, 'terminated')).toEqual([]);
});

test('paused: unchanged lists, empty polls with a frozen cursor, streams open frozen, silence; all held is delivered after', async () => {
  await using world = await startWorld();
  const client = world.client();
  await client.stream(MAIL, mailArgs, {}, 1);
  const { cursor } = await poll(client, MAIL, mailArgs);
  world.engine.policy.pause(null);
  expect(await declared(client)).toBe(true);
  expect(await listed(client)).toEqual([MAIL, MESSAGES]);
  for (let index = 0; index < 70; index += 1) await ring(world, `Held ${index}`);
  expect(await poll(client, MAIL, mailArgs, { cursor })).toMatchObject({ events: [], cursor, hasMore: false, truncated: false });
  expect((await client.stream(MAIL, mailArgs, { cursor }, 2))['method']).toBe('notifications/events/active');
  await quiet();
  expect(client.events()).toEqual([]);
  expect(client.of(undefined, 'error')).toEqual([]);
  world.engine.policy.resume();
  const held = Array.from({ length: 70 }, (_, index) => `Held ${index}`);
  for (const id of [1, 2]) expect(subjects(await client.untilEvents(70, id))).toEqual(held);
  await ring(world, 'Live');
  for (const id of [1, 2]) expect(subjects(await client.untilEvents(71, id))).toEqual([...held, 'Live']);
  expect((await poll(client, MAIL, mailArgs, { cursor, maxEvents: 200 }))['events']).toHaveLength(71);
});

test('client not approved yet: poll Forbidden with reason approval; a stream is active, told once, silent, and delivers after approval', async () => {
  await using world = await startWorld({ trust: false });
  const client = world.client();
  expect(await declared(client)).toBe(true);
  expect(await listed(client)).toEqual([MAIL, MESSAGES]);
  expect(errorOf(await client.request('events/poll', { name: MAIL, arguments: mailArgs }))).toMatchObject({ code: CODE.forbidden, data: { reason: 'approval' } });
  expect(await client.stream(MAIL, mailArgs, {}, 1)).toMatchObject({ method: 'notifications/events/active' });
  const { message } = await client.until((frame) => frame.message['method'] === 'notifications/events/error');
  expect(message['params']).toMatchObject({ error: { code: CODE.forbidden, data: { reason: 'approval' } }, _meta: { [SUBSCRIPTION_ID]: 1 } });
  await ring(world, 'Held for approval');
  await quiet();
  expect(client.of(1).map((frame) => frame.message['method'])).toEqual(['notifications/events/active', 'notifications/events/error']);
  const id = await idOf(world);
  expect(world.engine.policy.allowClient(id)).toMatchObject({ ok: true });
  expect(subjects(await client.untilEvents(1, 1))).toEqual(['Held for approval']);
  expect(await poll(client, MAIL, mailArgs)).toMatchObject({ events: [] });
});

test('client not approved yet, or refused: a wrong mailbox or chat name is refused without the list of those that exist', async () => {
  await using world = await startWorld({ trust: false });
  await text(world, { chat: { group: true, name: 'Secret crew', members: [NUMBER, '+15550100'] } });
  const client = world.client();
  const wrong: [string, object][] = [[MAIL, { ...mailArgs, mailboxes: ['No such'] }], [MESSAGES, { ...messagesArgs, chats: ['No such'] }]];
  const heard = async () => {
    let all = '';
    for (const [name, args] of wrong) {
      for (const answer of await answers(client, name, args)) {
        expect(errorOf(answer).code).toBe(CODE.invalidParams);
        all += errorOf(answer).message;
      }
    }
    return all;
  };
  expect(await heard()).not.toMatch(/Secret crew|INBOX|iCloud|555/);
  const id = await idOf(world);
  world.engine.policy.denyClient(id);
  expect(await heard()).not.toMatch(/Secret crew|INBOX|iCloud|555/);
  world.engine.policy.allowClient(id);
  expect(await heard()).toMatch(/INBOX[^]*Secret crew/);
});

describe('refused or revoked', () => {
  test('poll and new streams Forbidden, open streams end with Forbidden, lists unchanged; allowed again, it works', async () => {
    await using world = await startWorld();
    const client = world.client();
    await client.stream(MAIL, mailArgs, {}, 1);
    await client.stream(MESSAGES, messagesArgs, {}, 2);
    const id = await idOf(world);
    expect(world.engine.policy.revokeClient(id)).toMatchObject({ ok: true });
    for (const stream of [1, 2]) await ended(client, stream, { code: CODE.forbidden });
    expect(await declared(client)).toBe(true);
    expect(await listed(client)).toEqual([MAIL, MESSAGES]);
    for (const answer of await answers(client, MAIL, mailArgs)) expect(errorOf(answer).code).toBe(CODE.forbidden);
    await ring(world, 'Not for you');
    await quiet();
    expect(client.events()).toEqual([]);
    world.engine.policy.allowClient(id);
    await client.stream(MAIL, mailArgs, {}, 3);
    await ring(world, 'Again');
    expect(subjects(await client.untilEvents(1, 3))).toEqual(['Again']);
  });
  test('a client that waits for approval and is denied: its open stream ends with Forbidden', async () => {
    await using world = await startWorld({ trust: false });
    const client = world.client();
    await client.stream(MAIL, mailArgs, {}, 1);
    world.engine.policy.denyClient(await idOf(world));
    await ended(client, 1, { code: CODE.forbidden });
  });
});

describe('store unreadable', () => {
  for (const [name, args, path] of [
    [MAIL, mailArgs, (world: World) => `${world.mailDir}/MailData/Envelope Index`],
    [MESSAGES, messagesArgs, (world: World) => world.messagesDb],
  ] as const) {
    test(`${name}: -32603 with reason and retryAfterMs; an open stream is told, resumes and loses nothing; the other type is unharmed`, async () => {
      await using world = await startWorld();
      const other = name === MAIL ? MESSAGES : MAIL;
      const arrive = (type: string) => (type === MAIL ? ring(world) : text(world));
      const client = world.client();
      await client.stream(name, args, {}, 1);
      await client.stream(other, name === MAIL ? messagesArgs : mailArgs, {}, 2);
      const { cursor } = await poll(client, name, args);
      renameSync(path(world), `${path(world)}.away`);
      const { message } = await client.until((frame) => frame.message['method'] === 'notifications/events/error');
      expect(message['params']).toMatchObject({ error: { code: CODE.internal, data: { reason: 'not_there', retryAfterMs: expect.any(Number) } }, _meta: { [SUBSCRIPTION_ID]: 1 } });
      for (const answer of await answers(client, name, args, { cursor })) {
        expect(errorOf(answer)).toMatchObject({ code: CODE.internal, data: { reason: 'not_there', retryAfterMs: expect.any(Number) } });
        expect(JSON.stringify(answer)).not.toContain(world.folder.path);
      }
      expect(await declared(client)).toBe(true);
      expect(await listed(client)).toEqual([MAIL, MESSAGES]);
      await arrive(name);
      await arrive(other);
      expect(await client.untilEvents(1, 2)).toHaveLength(1);
      expect(client.events(1)).toEqual([]);
      renameSync(`${path(world)}.away`, path(world));
      // Ruling 19: served within 1 s.
      expect(await client.untilEvents(1, 1, 1500)).toHaveLength(1);
      await arrive(name);
      expect(await client.untilEvents(2, 1)).toHaveLength(2);
      expect((await poll(client, name, args, { cursor }))['events']).toHaveLength(2);
      // It was the same store: no gap, no end.
      expect(client.of(1, 'active')).toHaveLength(1);
      expect(client.of(1, 'terminated')).toEqual([]);
      expect(client.of(1, 'error')).toHaveLength(1);
      expect(trafficFaults(client, await descriptorsOf(client))).toEqual([]);
    });
  }
});

test("sender outside the owner's rules: accepted, empty and silent; the owner sees it; once allowed it rings", async () => {
  await using world = await startWorld();
  const client = world.client();
  const args = { domains: ['other.example'] };
  expect((await client.stream(MAIL, args, {}, 1))['method']).toBe('notifications/events/active');
  const { cursor } = await poll(client, MAIL, args);
  await world.writer.mail.arrive({ from: OTHER, subject: 'Outside', file: false });
  expect(await poll(client, MAIL, args, { cursor })).toMatchObject({ events: [], truncated: false, hasMore: false });
  await quiet();
  expect(client.of(1).map((frame) => frame.message['method'])).toEqual(['notifications/events/active']);
  expect(JSON.stringify(world.engine.policy.snapshot())).toContain('other.example');
  expect(world.engine.policy.addSenders(['@other.example'])).toMatchObject({ ok: true });
  await world.writer.mail.arrive({ from: OTHER, subject: 'Inside', file: false });
  expect(subjects(await client.untilEvents(1, 1))).toEqual(['Inside']);
  world.engine.policy.removeSenders(['@other.example']);
  await world.writer.mail.arrive({ from: OTHER, subject: 'Outside again', file: false });
  await quiet();
  expect(client.events(1)).toHaveLength(1);
  expect(client.of(1, 'terminated')).toEqual([]);
});
