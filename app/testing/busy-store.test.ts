import { expect, test } from 'vitest';
import { startWorld } from './world.ts';

/** Architecture 4: busy for over 2 s is reported; it stops nothing else, and nothing is lost. */
test('a store that another program holds: busy is answered and told, the other store goes on, then all is served', async () => {
  await using world = await startWorld({ start: false });
  await world.writer.store.holdExclusive('mail');
  await world.startEngine();
  const client = world.client();
  const ask = () => client.request('events/poll', { name: 'mail.received', arguments: { domains: ['example.org'] } });
  expect((await ask())['error']).toMatchObject({ code: -32603, data: { reason: 'busy', retryAfterMs: 1000 } });
  const other = await client.request('events/poll', { name: 'messages.received', arguments: { from: ['+15550101234'] } });
  expect(other['result']).toMatchObject({ events: [] });
  await expect.poll(() => world.log).toContain('mail.received: the store cannot be read (busy)');
  await world.writer.store.releaseExclusive('mail');
  await expect.poll(async () => (await ask())['result']).toMatchObject({ events: [], truncated: false });
  await client.stream('mail.received', { domains: ['example.org'] }, {}, 'after');
  await world.writer.mail.arrive({ from: { address: 'ada@example.org' } });
  expect(await client.untilEvents(1, 'after')).toHaveLength(1);
});
