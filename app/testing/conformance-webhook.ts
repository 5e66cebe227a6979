import { afterAll, beforeAll, expect, test } from 'vitest';
import { CODE, errorOf, MAIL, mailArgs, ring } from './conformance-kit.ts';
import { credentialClient } from './credential-client.ts';
import { VirtualClock } from './virtual-clock.ts';
import { CALLBACK_ERROR, failAll, look, newSecret, sealKey, secret, startWebhookWorld, untilTrue, verified, viewOf, type WebhookWorld } from './webhook-kit.ts';
import { agreeing, right } from './webhook-receiver.ts';

const HOUR = 3_600_000;

/** Rows of conformance-rows.md section 4, over HTTP. Titles begin with the ids. */
export function webhookRows(): void {
  let it: WebhookWorld;
  beforeAll(async () => {
    it = await startWebhookWorld({ sealKey });
  });
  afterAll(async () => {
    await it[Symbol.asyncDispose]();
  });
  const unsubscribe = (url: string, args: object = mailArgs) => it.client.request('events/unsubscribe', { name: MAIL, arguments: args, delivery: { url } });

  test('subscribe-webhook-only: a type that offers webhook is subscribed to', async () => {
    const { result } = await it.client.request('events/list');
    expect((result['events'] as { delivery: string[] }[]).map(({ delivery }) => delivery)).toEqual([['poll', 'push', 'webhook'], ['poll', 'push', 'webhook']]);
    expect(await it.granted()).toMatchObject({ resultType: 'complete' });
  });
  test('subscribe-secret-required: without a secret -32602', async () => {
    expect(errorOf(await it.subscribe({}, { secret: undefined }))).toMatchObject({ code: CODE.invalidParams, message: expect.stringMatching(/^delivery\.secret/) });
  });
  test.each([24, 64])('subscribe-secret-format: whsec_ and base64 of %i bytes', async (bytes) => {
    expect(await it.subscribe({}, { secret: newSecret(bytes) })).toHaveProperty('result');
  });
  test.each([newSecret(8), newSecret(23), newSecret(65), 'whsec_', 'secret', 7, null])('subscribe-secret-rejected: %j', async (bad) => {
    expect(errorOf(await it.subscribe({}, { secret: bad })).code).toBe(CODE.invalidParams);
  });
  test('subscribe-url-https-required, subscribe-url-non-https-rejected: https is taken, http is -32602', async () => {
    expect(await it.subscribe({}, { url: it.receiver.url('/https') })).toHaveProperty('result');
    expect(errorOf(await it.subscribe({}, { url: it.receiver.url('/https').replace('https:', 'http:') })).code).toBe(CODE.invalidParams);
  });
  test('subscribe-auth-required: a connection that showed no credential gets Forbidden, and is not offered the mode', async () => {
    const local = it.world.client();
    for (const method of ['events/subscribe', 'events/unsubscribe']) {
      const answer = await local.request(method, { name: MAIL, arguments: mailArgs, delivery: { mode: 'webhook', url: it.receiver.url('/a'), secret } });
      expect(errorOf(answer)).toMatchObject({ code: CODE.forbidden, data: { reason: 'authentication' } });
    }
    const { result } = await local.request('events/list');
    expect((result['events'] as { delivery: string[] }[])[0]!.delivery).toEqual(['poll', 'push']);
  });
  test('subscribe-key-composition, subscribe-key-immutable: another url, name or arguments is another id', async () => {
    const { id } = await it.granted({}, { url: it.receiver.url('/key') });
    const ids = [
      await it.granted({}, { url: it.receiver.url('/key2') }),
      await it.granted({ arguments: { domains: ['example.org'], subdomains: true } }, { url: it.receiver.url('/key') }),
      await it.granted({ name: 'messages.received' }, { url: it.receiver.url('/key') }),
    ].map((grant) => grant['id'] as string);
    expect(new Set([id, ...ids]).size).toBe(4);
  });
  test('subscribe-idempotent-upsert, subscribe-id-derived: the same key is the same id, and one subscription', async () => {
    const first = await it.granted({ arguments: { from: ['ada@example.org'], subdomains: false } });
    const size = it.world.engine.webhooks.size;
    const again = await it.granted({ arguments: { subdomains: false, from: ['ada@example.org'] } });
    expect(again['id']).toBe(first['id']);
    expect(it.world.engine.webhooks.size).toBe(size);
  });
  test('subscribe-id-not-an-input: an id in params changes nothing', async () => {
    const { id } = await it.granted();
    expect((await it.granted({ id: 'sub_0' }))['id']).toBe(id);
  });
  test('subscribe-response-cursor, subscribe-response-truncated: a position, and whether the asked one could be served', async () => {
    const grant = await it.granted();
    expect(grant['cursor']).toMatch(/^v1\./);
    expect(grant['truncated']).toBe(false);
    const stale = await it.granted({ cursor: 'v1.1-1.999999.deadbeef', arguments: { from: ['stale@example.org'] } });
    expect(stale).toMatchObject({ truncated: true });
    expect(stale['cursor']).not.toBe('v1.1-1.999999.deadbeef');
    expect(errorOf(await it.subscribe({ cursor: 'x', arguments: { from: ['x@example.org'] } })).code).toBe(CODE.invalidParams);
  });
  test('subscribe-cross-tenant-isolation: another principal has another id, is asked itself, and cannot end this one', async () => {
    const { id } = await it.granted({}, { url: it.receiver.url('/tenant') });
    const other = credentialClient(it.world, 'test-other');
    expect(errorOf(await other.request('events/unsubscribe', { name: MAIL, arguments: mailArgs, delivery: { url: it.receiver.url('/tenant') } })).code).toBe(CODE.notFound);
    const { result } = await other.request('events/subscribe', { name: MAIL, arguments: mailArgs, delivery: { mode: 'webhook', url: it.receiver.url('/tenant'), secret } });
    expect(result['id']).not.toBe(id);
    expect(it.receiver.envelopes('verification', '/tenant')).toHaveLength(2);
  });
  test('ttl-refresh-before-lte-suggestion: no later than suggested, but for a very short one', async () => {
    const before = Date.now();
    const at = async (ttlMs: number) => Date.parse((await it.granted({ ttlMs }))['refreshBefore'] as string);
    expect(await at(HOUR)).toBeLessThanOrEqual(Date.now() + HOUR);
    expect(await at(HOUR)).toBeGreaterThanOrEqual(before + HOUR - 1000);
    expect(await at(1000)).toBeGreaterThanOrEqual(before + 299_000);
  });
  test.each([1000, 0, -1, 0.5, 30 * 24 * HOUR, Number.MAX_SAFE_INTEGER])('ttl-no-rejection-path: %d is answered with what can be had', async (ttlMs) => {
    const { refreshBefore } = await it.granted({ ttlMs });
    expect(Date.parse(refreshBefore as string)).toBeGreaterThan(Date.now());
    expect(Date.parse(refreshBefore as string)).toBeLessThanOrEqual(Date.now() + 24 * HOUR);
  });
  test('ttl-null-only-when-requested, ttl-omitted-means-default: null for null, an hour for nothing', async () => {
    expect((await it.granted({ ttlMs: null }))['refreshBefore']).toBeNull();
    const { refreshBefore } = await it.granted();
    expect(Math.abs(Date.parse(refreshBefore as string) - Date.now() - HOUR)).toBeLessThan(60_000);
  });
  test('unsubscribe-by-key: a result, and nothing comes any more', async () => {
    const url = it.receiver.url('/gone');
    await it.granted({}, { url });
    expect(await unsubscribe(url)).toMatchObject({ result: { resultType: 'complete' } });
    await it.granted({}, { url: it.receiver.url('/stays') });
    await ring(it.world, 'After');
    await it.receiver.until(({ path, body }) => path === '/stays' && body['data']?.subject === 'After');
    expect(it.receiver.deliveries('/gone')).toEqual([]);
    expect(it.receiver.envelopes('terminated', '/gone')).toEqual([]);
  });
  test('unsubscribe-unknown-not-found: NotFound, kind subscription', async () => {
    for (const [url, args] of [[it.receiver.url('/never'), mailArgs], [it.receiver.url('/a'), { from: ['never@example.org'] }]] as const) {
      expect(errorOf(await unsubscribe(url, args))).toMatchObject({ code: CODE.notFound, data: { kind: 'subscription' } });
    }
  });
  test('error-unsupported: with no host listed, the mode is not there (ruling 24)', async () => {
    await using off = await startWebhookWorld({ settings: { hosts: [] } });
    for (const method of ['events/subscribe', 'events/unsubscribe']) {
      const answer = await off.client.request(method, { name: MAIL, arguments: mailArgs, delivery: { mode: 'webhook', url: off.receiver.url('/a'), secret } });
      expect(errorOf(answer)).toMatchObject({ code: CODE.unsupported, data: { feature: 'deliveryMode', value: 'webhook' } });
    }
    expect(off.receiver.received).toEqual([]);
  });
  test('own-check-order: the name before the delivery, the delivery before the arguments', async () => {
    expect(errorOf(await it.subscribe({ name: 'conformance.nonexistent.x', arguments: {} }, { url: 7 }))).toMatchObject({ code: CODE.notFound, data: { kind: 'event' } });
    expect(errorOf(await it.subscribe({ arguments: {} })).message).toMatch(/needs a sender/);
    expect(errorOf(await it.client.request('events/subscribe', { name: MAIL, arguments: mailArgs })).message).toMatch(/^delivery: /);
    expect(errorOf(await it.subscribe({}, { mode: 'push' })).message).toMatch(/^delivery\.mode/);
    expect(errorOf(await it.subscribe({ ttlMs: 'long' })).message).toMatch(/^ttlMs/);
  });

  test('ttl-long-grant-retained, ttl-no-expiry-persisted: after a restart events come, for a long grant and an endless one', async () => {
    await using kept = await startWebhookWorld({ sealKey });
    const long = await kept.granted({ ttlMs: 12 * HOUR }, { url: kept.receiver.url('/long') });
    const endless = await kept.granted({ ttlMs: null }, { url: kept.receiver.url('/endless') });
    await kept.world.engine.stop();
    // It arrives while nothing runs.
    await ring(kept.world, 'Meanwhile');
    await kept.world.startEngine();
    for (const [path, { id }] of [['/long', long], ['/endless', endless]] as const) {
      const [delivery] = await kept.receiver.until((each) => each.path === path && each.body['data']?.subject === 'Meanwhile');
      expect(verified(delivery!)).toHaveProperty('eventId');
      expect(delivery!.headers['x-mcp-subscription-id']).toBe(id);
    }
    kept.client = credentialClient(kept.world);
    expect((await kept.granted({ ttlMs: null }, { url: kept.receiver.url('/endless') }))['id']).toBe(endless['id']);
    expect(kept.receiver.envelopes('verification')).toHaveLength(2);
  });
  test('own-grant-without-key: without a key to keep them under, no grant is long and none is endless', async () => {
    await using plain = await startWebhookWorld();
    for (const ttlMs of [null, 30 * 24 * HOUR]) {
      const { refreshBefore } = await plain.granted({ ttlMs });
      expect(Date.parse(refreshBefore as string)).toBeLessThanOrEqual(Date.now() + HOUR);
    }
  });
  test('ttl-no-expiry-gc-terminated: an endless one whose receiver fails for three days goes, and is told', async () => {
    const clock = new VirtualClock();
    await using world = await startWebhookWorld({ sealKey, edges: { clock } });
    world.receiver.answer('/a', agreeing(500));
    await world.granted({ ttlMs: null });
    await ring(world.world);
    await failAll(clock, world);
    world.receiver.answer('/a', right);
    clock.sleep(3 * 24 * HOUR + 60_000);
    await untilTrue(clock, () => world.receiver.envelopes('terminated').length === 1, 'terminated');
    expect(verified(world.receiver.envelopes('terminated')[0]!, secret, clock.now())).toMatchObject({ error: { code: CALLBACK_ERROR, data: { reason: 'http_5xx' } } });
    await untilTrue(clock, () => world.world.engine.webhooks.size === 0, 'gone');
  });
  test('subscribe-refresh-replaces-secret: what leaves after a while is signed with the new secret alone', async () => {
    const clock = new VirtualClock();
    await using world = await startWebhookWorld({ edges: { clock } });
    const [older, newer] = [newSecret(), newSecret()];
    await world.granted({}, { secret: older });
    expect(await world.granted({}, { secret: newer })).toHaveProperty('deliveryStatus');
    clock.advance(11 * 60_000);
    await ring(world.world);
    look(clock);
    await untilTrue(clock, () => world.receiver.deliveries().length === 1, 'a delivery');
    const [delivery] = world.receiver.deliveries();
    expect(verified(delivery!, newer, clock.now())).toHaveProperty('eventId');
    expect(() => verified(delivery!, older, clock.now())).toThrow(/signature/);
  });
  test('subscribe-refresh-reactivates: after its receiver failed for long, a refresh sends what it missed', async () => {
    const clock = new VirtualClock();
    await using world = await startWebhookWorld({ edges: { clock } });
    world.receiver.answer('/a', agreeing(503));
    await world.granted();
    await ring(world.world, 'Missed');
    await failAll(clock, world);
    world.receiver.answer('/a', right);
    expect((await world.granted())['deliveryStatus']).toMatchObject({ active: true, lastError: 'http_5xx' });
    await untilTrue(clock, () => viewOf(world).delivered === 1, 'delivered');
    expect(world.receiver.deliveries().at(-1)!.body['data']['subject']).toBe('Missed');
  });
}
