import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { ring } from './conformance-kit.ts';
import { KillableEngine } from './killable-engine.ts';
import { Random } from './random.ts';
import { startWebhookWorld, verified } from './webhook-kit.ts';
import { right, startReceiver } from './webhook-receiver.ts';

/** Schedules with a real `kill -9` of the engine. `BELFRY_SEED=n` runs one again. */
const SCHEDULES = 10;
const engine = new KillableEngine();
afterEach(() => engine.kill());

test(`a kill -9 between a delivery and its confirmation, or at any other moment: nothing is lost, what comes twice comes under one id, ${SCHEDULES} times`, { timeout: 180_000 }, async () => {
  const sealKey = randomBytes(32).toString('base64');
  await using it = await startWebhookWorld({ sealKey, receiver: await startReceiver({ names: ['localhost'] }), resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]) });
  const { receiver, world } = it;
  await it.granted({ ttlMs: null });
  await world.engine.stop();
  const owed: string[] = [];
  let killAt: 'before-answer' | 'after-answer' | null = null;
  receiver.answer('/a', (received, response) => {
    const when = killAt;
    killAt = null;
    if (when === 'before-answer') void engine.kill();
    else {
      right(received, response);
      if (when === 'after-answer') void engine.kill();
    }
  });
  const only = process.env['BELFRY_SEED'];
  const seeds = only === undefined ? Array.from({ length: SCHEDULES }, (_, index) => index + 1) : [Number(only)];
  for (const seed of seeds) {
    const random = new Random(seed);
    await engine.start(world, { sealKey, webhookCa: receiver.ca });
    // Any delivery of this run may be the one: also one that the last run left behind.
    const exit = engine.gone();
    killAt = random.pick(['before-answer', 'after-answer', null] as const);
    const kills = killAt !== null;
    for (let left = random.between(1, 5); left > 0; left -= 1) {
      owed.push(`${seed}.${left}`);
      await ring(world, owed.at(-1)!);
    }
    if (kills) await exit;
    else await new Promise((done) => void setTimeout(done, random.pick([0, 2, 10, 50, 150])));
    await engine.kill();
    if (random.chance(0.4)) {
      owed.push(`${seed}.away`);
      await ring(world, owed.at(-1)!);
    }
  }
  await engine.start(world, { sealKey, webhookCa: receiver.ca });
  const heard = () => new Set(receiver.deliveries('/a').map(({ body }) => body['data'].subject as string));
  await expect.poll(() => owed.filter((subject) => !heard().has(subject)), { timeout: 60_000 }).toEqual([]);
  const ids = new Map<string, Set<string>>();
  for (const delivery of receiver.deliveries('/a')) {
    verified(delivery);
    const eventId = delivery.body['eventId'] as string;
    ids.set(eventId, (ids.get(eventId) ?? new Set()).add(delivery.headers['webhook-id']!));
  }
  expect(ids.size).toBe(owed.length);
  expect([...ids.values()].every((each) => each.size === 1)).toBe(true);
  // Nobody was asked again, and no gap was told: each start went on where the last one stood.
  expect(receiver.envelopes('verification')).toHaveLength(1);
  expect(receiver.envelopes('gap')).toEqual([]);
});
