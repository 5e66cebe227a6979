import { expect, test } from 'vitest';
import { startWorld } from './world.ts';

/** Architecture 4: busy for over 2 s is reported; it stops nothing else, and nothing is lost. */
test('a store that another program holds for 5 s: busy is answered and told, the other store goes on, then all is served', async () => {
  await using world = await startWorld({ start: false });
  const held = world.writer.store.holdExclusive('mail', 5000);
  // The lock is there once the writer started on it; the engine's first look then meets it.
  await new Promise((resolve) => { setTimeout(resolve, 200); });
  await world.startEngine();
  const client = world.client();
  const ask = () => client.request('events/poll', { name: 'mail.received', arguments: { domains: ['example.org'] } });
  expect((await ask())['error']).toMatchObject({ code: -32603, data: { reason: 'busy', retryAfterMs: 1000 } });
  const other = await client.request('events/poll', { name: 'messages.received', arguments: { from: ['+15550101234'] } });
  expect(other['result']).toMatchObject({ events: [] });
  await held;
  expect(world.log).toContain('mail.received: the store cannot be read (busy)');
  const deadline = Date.now() + 1500;
  let answer = await ask();
  while (answer['error'] && Date.now() < deadline) answer = await ask();
  expect(answer['result']).toMatchObject({ events: [], truncated: false });
  await client.stream('mail.received', { domains: ['example.org'] }, {}, 'after');
  await world.writer.mail.arrive({ from: { address: 'ada@example.org' } });
  expect(await client.untilEvents(1, 'after')).toHaveLength(1);
}, 20_000);
