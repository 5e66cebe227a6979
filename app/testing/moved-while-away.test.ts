import { describe, expect, test } from 'vitest';
import { startWorld } from './world.ts';

const ARGS = { domains: ['example.org'] };

/** Architecture 7: no event is lost for a client that replays its cursor, also if the mail was filed meanwhile. */
describe('a mail that arrives and is moved while the client is away', () => {
  test('is told once, by stream and by poll, under the id it had', async () => {
    await using world = await startWorld();
    const client = world.client();
    const start = (await client.request('events/poll', { name: 'mail.received', arguments: ARGS }))['result'].cursor as string;
    const watcher = world.client();
    await watcher.stream('mail.received', ARGS, {}, 'live');
    const { result: rowid } = await world.writer.mail.arrive({ from: { address: 'ada@example.org' } });
    const [seen] = await watcher.untilEvents(1, 'live');
    await world.writer.mail.move(rowid, 'Archive');
    const { result: later } = await world.writer.mail.arrive({ from: { address: 'bob@example.org' } });
    await watcher.untilEvents(2, 'live');

    const polled = (await client.request('events/poll', { name: 'mail.received', arguments: ARGS, cursor: start }))['result'];
    expect(polled.events.map((event: { eventId: string }) => event.eventId)).toContain(seen!['eventId']);
    expect(polled.events).toHaveLength(2);
    await client.stream('mail.received', ARGS, { cursor: start }, 'again');
    const replayed = await client.untilEvents(2, 'again');
    expect(new Set(replayed.map((event) => event['eventId']))).toEqual(new Set(watcher.events('live').map((event) => event['eventId'])));

    // What this client was told before and is moved afterwards stays silent.
    await world.writer.mail.move(later, 'Archive');
    const next = (await client.request('events/poll', { name: 'mail.received', arguments: ARGS, cursor: polled.cursor }))['result'];
    expect(next.events).toEqual([]);
    expect(watcher.events('live')).toHaveLength(2);
  });

  test('is told though the poll that passes its place ends before its copy', async () => {
    await using world = await startWorld();
    const client = world.client();
    const poll = async (more: object) => (await client.request('events/poll', { name: 'mail.received', arguments: ARGS, ...more }))['result'];
    let { cursor } = await poll({});
    const arrive = async (subject: string) => (await world.writer.mail.arrive({ from: { address: 'ada@example.org' }, subject })).result;
    await arrive('one');
    const moved = await arrive('two');
    for (const subject of ['three', 'four', 'five']) await arrive(subject);
    // The engine saw it where it arrived before it was filed.
    await poll({ cursor, maxEvents: 200 });
    await world.writer.mail.move(moved, 'Archive');

    const pages: string[][] = [];
    for (let more = true; more;) {
      const page = await poll({ cursor, maxEvents: 2 });
      pages.push(page.events.map(({ data }: { data: { subject: string } }) => data.subject));
      ({ cursor, hasMore: more } = page);
    }
    expect(pages).toEqual([['one', 'two'], ['three', 'four'], ['five']]);
    expect((await poll({ cursor })).events).toEqual([]);
  });
});
