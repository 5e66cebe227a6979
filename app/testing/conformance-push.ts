import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ADA, CODE, descriptorsOf, errorOf, faultsOf, MAIL, mailArgs, MESSAGES, messagesArgs, OTHER, poll, quiet, ring, subjects, SUBSCRIPTION_ID, text, trafficFaults, type Way,
} from './conformance-kit.ts';
import type { MailStore } from './mail-store.ts';
import { subscriptionOf } from './frame-log.ts';
import { mailIndex, replaceStore } from './store-surgery.ts';
import type { World } from './world.ts';

/** Rows of conformance-rows.md, over the socket and over HTTP. Titles begin with the ids. */
export function pushRows(way: Way): void {
  let world: World;
  beforeAll(async () => {
    world = await way.world();
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
  });

  describe('opening', () => {
    test('stream-implemented, stream-active-confirmation, own-stream-active-first, stream-subscription-id-meta: active comes first, within 3 s, with the id as sent', async () => {
      const client = way.client(world);
      const started = performance.now();
      const active = await client.stream(MAIL, mailArgs, { cursor: null }, 21);
      expect(performance.now() - started).toBeLessThan(3000);
      expect(active).toMatchObject({ method: 'notifications/events/active', params: { truncated: false, _meta: { [SUBSCRIPTION_ID]: 21 } } });
      expect(active['params']['cursor']).toBeTypeOf('string');
      expect(client.frames[0]!.message).toEqual(active);
    });
    test('stream-error-before-open: an error answer, and no frame before or after it', async () => {
      const client = way.client(world);
      expect(errorOf(await client.stream('conformance.nonexistent.x', mailArgs))).toMatchObject({ code: CODE.notFound });
      expect(errorOf(await client.stream(MAIL, {})).code).toBe(CODE.invalidParams);
      await ring(world);
      await client.request('events/list');
      expect(client.of()).toEqual([]);
    });
    test('stream-exempt-from-concurrency-cap: three at once all confirm', async () => {
      const client = way.client(world);
      const opened = await Promise.all([1, 2, 3].map((id) => client.stream(MAIL, mailArgs, {}, id)));
      expect(opened.map((message) => message['method'])).toEqual(Array.from({ length: 3 }, () => 'notifications/events/active'));
    });
    test('own-stream-quota, error-resource-exhausted: the eleventh is -32025 with limit and max; a cancel frees one', async () => {
      const client = way.client(world);
      for (let id = 0; id < 10; id += 1) expect(await client.stream(MAIL, mailArgs, {}, id)).toHaveProperty('method');
      expect(errorOf(await client.stream(MAIL, mailArgs, {}, 10))).toMatchObject({ code: CODE.exhausted, data: { limit: 'streams', max: 10 } });
      await way.cancel(world, client, 3);
      expect(await client.stream(MAIL, mailArgs, {}, 11)).toHaveProperty('method');
      expect(errorOf(await client.stream(MESSAGES, messagesArgs, {}, 12)).code).toBe(CODE.exhausted);
    });
  });

  describe('events', () => {
    test('stream-event-notification, stream-carries-only-event-notifications: a mail and a message, whole occurrences with a cursor', async () => {
      const client = way.client(world);
      await client.stream(MAIL, mailArgs, {}, 'm');
      await client.stream(MESSAGES, messagesArgs, {}, 't');
      await ring(world, 'Pushed');
      await text(world);
      const [[mail], [message]] = [await client.untilEvents(1, 'm'), await client.untilEvents(1, 't')];
      expect(mail).toMatchObject({ name: MAIL, cursor: expect.any(String), data: { subject: 'Pushed' } });
      expect(message).toMatchObject({ name: MESSAGES, cursor: expect.any(String) });
      for (const event of [mail, message]) expect(faultsOf('event', event)).toEqual([]);
      expect(client.frames.every(({ message: frame }) => (frame['method'] as string).startsWith('notifications/events/'))).toBe(true);
    });
    test('own-stream-id-type: "7" and 7 are two streams, each id in its own type', async () => {
      const client = way.client(world);
      await client.stream(MAIL, mailArgs, {}, '7');
      await client.stream(MESSAGES, messagesArgs, {}, 7);
      await ring(world);
      await text(world);
      await client.untilEvents(1, '7');
      await client.untilEvents(1, 7);
      expect(client.of().map(({ message }) => [subscriptionOf(message), (message['params']['name'] ?? null) as string | null])).toEqual(
        expect.arrayContaining([['7', MAIL], [7, MESSAGES]]));
      await way.cancel(world, client, '7');
      // What arrives before the cancel was read may still be written: its answer stands behind it in the same lane.
      await client.request('events/list');
      await ring(world, 'After the cancel of "7"');
      await text(world);
      await client.untilEvents(2, 7);
      await client.request('events/list');
      expect(client.events('7')).toHaveLength(1);
    });
    test('own-stream-demux: two filters, interleaved arrivals, each frame has the right id', async () => {
      const client = way.client(world);
      await client.stream(MAIL, { from: ['ada@example.org'] }, {}, 1);
      await client.stream(MAIL, { from: ['bea@example.org'] }, {}, 2);
      for (let index = 0; index < 20; index += 1) {
        await ring(world, `${index}`, { from: index % 2 ? ADA : { address: 'bea@example.org' } });
      }
      const [odd, even] = [await client.untilEvents(10, 1), await client.untilEvents(10, 2)];
      expect(subjects(odd)).toEqual(Array.from({ length: 10 }, (_, index) => `${2 * index + 1}`));
      expect(subjects(even)).toEqual(Array.from({ length: 10 }, (_, index) => `${2 * index}`));
    });
    test('own-stream-resume: reopened with the last cursor it repeats nothing and loses nothing', async () => {
      const client = way.client(world);
      await client.stream(MAIL, mailArgs, {}, 1);
      await ring(world, 'First');
      const [first] = await client.untilEvents(1, 1);
      await way.cancel(world, client, 1);
      for (let index = 0; index < 60; index += 1) await ring(world, `Meanwhile ${index}`);
      expect((await client.stream(MAIL, mailArgs, { cursor: first!['cursor'] }, 2))['params']['truncated']).toBe(false);
      await ring(world, 'Live again');
      expect(subjects(await client.untilEvents(61, 2))).toEqual([...Array.from({ length: 60 }, (_, index) => `Meanwhile ${index}`), 'Live again']);
      expect(new Set(client.events().map((event) => event['eventId'])).size).toBe(62);
    });
  });

  describe('ending', () => {
    test('stream-cancel-stops-delivery: after the cancel no frame and no answer, in 500 ms', async () => {
      const client = way.client(world);
      await client.stream(MAIL, mailArgs, {}, 1);
      await way.cancel(world, client, 1);
      await client.request('events/list');
      const from = client.frames.length;
      await ring(world, 'Too late');
      await quiet(500);
      expect(client.frames.slice(from)).toEqual([]);
      expect(client.frames.some(({ message }) => message['id'] === 1)).toBe(false);
    });
    test('own-stream-cancel-race: cancelled in a burst; once the cancel was processed nothing comes', async () => {
      const client = way.client(world);
      await client.stream(MAIL, mailArgs, {}, 1);
      const burst = world.writer.burst({ store: 'mail', n: 200, perSecond: 400, senders: ['ada@example.org'] });
      await client.untilEvents(20, 1);
      await way.cancel(world, client, 1);
      await client.request('events/list');
      const seen = client.of(1).length;
      await burst;
      await client.request('events/list');
      expect(client.of(1)).toHaveLength(seen);
      expect(seen).toBeLessThan(200);
      expect(client.frames.some(({ message }) => message['id'] === 1)).toBe(false);
    });
  });

  describe('gaps', () => {
    test('own-stream-gap-midway, stream-gap-resends-active: the store is replaced; a second active says so and the stream goes on', async () => {
      await using other = await way.world();
      const client = way.client(other);
      const active = await client.stream(MAIL, mailArgs, {}, 1);
      await ring(other, 'Before');
      await client.untilEvents(1, 1);
      await other.writer.store.close('mail');
      replaceStore(`${other.mailDir}/MailData/Envelope Index`, mailIndex({}, (store: MailStore) => {
        store.addAccount({ description: 'New', email: 'me@new.example', kind: 'imap' });
        store.arrive({ from: ADA, subject: 'In the new store from its start', file: false });
      }));
      await other.writer.store.reopen('mail');
      const { message } = await client.until((frame) => frame.message['params']?.['truncated'] === true);
      expect(message).toMatchObject({ method: 'notifications/events/active', params: { truncated: true, _meta: { [SUBSCRIPTION_ID]: 1 } } });
      expect(message['params']['cursor']).not.toBe(active['params']['cursor']);
      await ring(other, 'After');
      expect(subjects(await client.untilEvents(2, 1))).toEqual(['Before', 'After']);
      expect(client.of(1, 'terminated')).toEqual([]);
    });
    test('truncated-returns-fresh-cursor: a stream opened with a cursor of the other store begins now, with truncated', async () => {
      const client = way.client(world);
      const foreign = (await poll(client, MESSAGES, messagesArgs))['cursor'] as string;
      const active = await client.stream(MAIL, mailArgs, { cursor: foreign }, 1);
      expect(active['params']).toMatchObject({ truncated: true, cursor: expect.any(String) });
      await ring(world, 'Now');
      expect(subjects(await client.untilEvents(1, 1))).toEqual(['Now']);
    });
    test('max-age-ms-sets-truncated: a stream skips a match under the floor and says so in active', async () => {
      const client = way.client(world);
      const cursor = (await poll(client, MAIL, mailArgs))['cursor'] as string;
      await ring(world, 'Old', { dateReceived: Math.floor(Date.now() / 1000) - 600 });
      await ring(world, 'Young');
      expect((await client.stream(MAIL, mailArgs, { cursor, maxAgeMs: 60_000 }, 1))['params']['truncated']).toBe(true);
      expect(subjects(await client.untilEvents(1, 1))).toEqual(['Young']);
    });
  });

  describe('heartbeats', () => {
    test('stream-heartbeat-required, stream-heartbeat-interval, stream-heartbeat-carries-cursor, wire-schema-valid, own-stream-heartbeat, own-stream-heartbeat-cursor-order: past 60 s of real time, at most 30 s apart', { timeout: 90_000 }, async () => {
      const client = way.client(world);
      const opened = process.hrtime.bigint();
      await client.stream(MAIL, mailArgs, {}, 1);
      // An event now and then, and rows that do not match, all the while.
      let count = 0;
      for (let beats = 0; beats < 2 || process.hrtime.bigint() - opened < 61_000_000_000n; beats = client.of(1, 'heartbeat').length) {
        await ring(world, `Beat ${count}`);
        await world.writer.mail.arrive({ from: OTHER, file: false });
        count += 1;
        await quiet(250);
      }
      const beats = client.of(1, 'heartbeat');
      const times = [opened, ...beats.map((frame) => frame.at), process.hrtime.bigint()];
      for (let index = 1; index < times.length; index += 1) expect(Number(times[index]! - times[index - 1]!) / 1e6).toBeLessThanOrEqual(30_000);
      // Each heartbeat's cursor: nothing written before it comes again, nothing written after it is behind it.
      const all = subjects(await client.untilEvents(count, 1));
      expect(all).toEqual(Array.from({ length: count }, (_, index) => `Beat ${index}`));
      expect(new Set(beats.map(({ message }) => message['params']['cursor'] as string)).size).toBe(beats.length);
      for (const beat of beats) {
        const written = client.frames.slice(0, client.frames.indexOf(beat)).filter(({ message }) => message['method'] === 'notifications/events/event').length;
        let cursor = beat.message['params']['cursor'] as string;
        const rest: string[] = [];
        for (let more = true; more;) {
          const page = await poll(client, MAIL, mailArgs, { cursor, maxEvents: 200 });
          rest.push(...subjects(page['events']));
          [cursor, more] = [page['cursor'] as string, page['hasMore'] as boolean];
        }
        expect(rest).toEqual(all.slice(written));
      }
      expect(trafficFaults(client, await descriptorsOf(client))).toEqual([]);
    });
  });
}
