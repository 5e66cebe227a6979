import { afterAll, beforeAll, expect, test } from 'vitest';
import { CODE, errorOf, MAIL, mailArgs, ring } from './conformance-kit.ts';
import { credentialClient } from './credential-client.ts';
import { VirtualClock } from './virtual-clock.ts';
import { CALLBACK_ERROR, failAll, look, newSecret, sealKey, secret, startWebhookWorld, untilTrue, verified, viewOf, type WebhookWorld } from './webhook-kit.ts';
import { agreeing, right } from './webhook-receiver.ts';

const HOUR = 3_600_000;

/** Rows of conformance-rows.md section 5. Titles begin with the ids. */
export function webhookDeliveryRows(): void {
  let it: WebhookWorld;
  beforeAll(async () => {
    it = await startWebhookWorld({ sealKey });
  });
  afterAll(async () => {
    await it[Symbol.asyncDispose]();
  });
  const unsubscribe = (url: string, args: object = mailArgs) => it.client.request('events/unsubscribe', { name: MAIL, arguments: args, delivery: { url } });

  test('delivery-post-json, delivery-standard-webhooks-headers, delivery-subscription-id-header, delivery-signature-formula, delivery-body-size: a small signed POST with four headers', async () => {
    const { id } = await it.granted({}, { url: it.receiver.url('/headers') });
    await ring(it.world, 'Headers');
    const [delivery] = await it.receiver.until(({ path, body }) => path === '/headers' && body['data']?.subject === 'Headers');
    expect(delivery).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json', 'x-mcp-subscription-id': id } });
    expect(delivery!.headers['webhook-id']).toMatch(/^msg_/);
    expect(delivery!.headers['webhook-timestamp']).toMatch(/^\d{10}$/);
    expect(verified(delivery!)).toEqual(delivery!.body);
    expect(Buffer.byteLength(delivery!.raw)).toBeLessThan(256 * 1024);
  });
  test('delivery-retry-regenerates-signature: after two 503 a third try, each with its own time and signature, all with one id', async () => {
    const clock = new VirtualClock();
    await using world = await startWebhookWorld({ edges: { clock } });
    let failures = 2;
    world.receiver.answer('/a', (received, response) => (received.body['type'] !== 'verification' && failures-- > 0 ? void response.writeHead(503).end() : right(received, response)));
    await world.granted();
    await ring(world.world);
    look(clock);
    for (const [tries, wait] of [[1, 2500], [2, 10_000]] as const) {
      await untilTrue(clock, () => viewOf(world).failures === tries, `try ${tries}`);
      expect(viewOf(world)).toMatchObject({ state: 'retrying', lastError: 'http_5xx' });
      clock.advance(wait);
    }
    await untilTrue(clock, () => viewOf(world).delivered === 1, 'delivered');
    const tries = world.receiver.deliveries();
    expect(tries).toHaveLength(3);
    const different = (header: string) => new Set(tries.map(({ headers }) => headers[header])).size;
    expect([different('webhook-id'), different('webhook-timestamp'), different('webhook-signature')]).toEqual([1, 3, 3]);
    for (const each of tries) expect(verified(each, secret, clock.now())).toHaveProperty('eventId');
    expect(viewOf(world)).toMatchObject({ state: 'ok', lastError: null, failedSince: null });
  });
  test('delivery-dual-sign-on-rotation: after another secret both hold for a while, then the new one alone', async () => {
    const clock = new VirtualClock();
    await using world = await startWebhookWorld({ edges: { clock } });
    const [older, newer] = [newSecret(), newSecret()];
    await world.granted({}, { secret: older });
    await world.granted({}, { secret: newer });
    const next = async (count: number) => {
      await ring(world.world);
      look(clock);
      await untilTrue(clock, () => world.receiver.deliveries().length === count, `delivery ${count}`);
      return world.receiver.deliveries()[count - 1]!;
    };
    const both = await next(1);
    for (const each of [older, newer]) expect(verified(both, each, clock.now())).toHaveProperty('eventId');
    clock.advance(11 * 60_000);
    const alone = await next(2);
    expect(verified(alone, newer, clock.now())).toHaveProperty('eventId');
    expect(() => verified(alone, older, clock.now())).toThrow(/signature/);
  });
  test.each([410, 413])('delivery-%i-non-retryable: no second try, and the subscription goes on', async (status) => {
    const clock = new VirtualClock();
    await using world = await startWebhookWorld({ edges: { clock } });
    world.receiver.answer('/a', agreeing(status));
    await world.granted();
    await ring(world.world, 'Refused');
    look(clock);
    await untilTrue(clock, () => viewOf(world).givenUp === 1, 'given up');
    world.receiver.answer('/a', right);
    clock.advance(20 * 60_000);
    await ring(world.world, 'Next');
    look(clock);
    await untilTrue(clock, () => viewOf(world).delivered === 1, 'the next one');
    expect(world.receiver.deliveries().map(({ body }) => body['data'].subject)).toEqual(['Refused', 'Next']);
  });
  test('delivery-retries-bounded, delivery-status-last-error-category: five tries, then it waits for a refresh and loses nothing', async () => {
    const clock = new VirtualClock();
    await using world = await startWebhookWorld({ edges: { clock } });
    world.receiver.answer('/a', agreeing(500, { 'x-told': 'secret of the endpoint' }));
    await world.granted({ ttlMs: HOUR });
    await ring(world.world, 'Kept');
    await failAll(clock, world);
    clock.advance(20 * 60_000);
    await ring(world.world, 'Later');
    look(clock);
    await untilTrue(clock, () => true, '');
    expect(world.receiver.deliveries()).toHaveLength(5);
    world.receiver.answer('/a', right);
    const again = await world.granted();
    expect(again['deliveryStatus']).toEqual({ active: true, lastDeliveryAt: null, lastError: 'http_5xx', failedSince: expect.stringMatching(/Z$/) });
    expect(JSON.stringify(again)).not.toContain('secret of the endpoint');
    await untilTrue(clock, () => viewOf(world).delivered === 2, 'both');
    expect(world.receiver.deliveries().slice(5).map(({ body }) => body['data'].subject)).toEqual(['Kept', 'Later']);
    expect(world.receiver.envelopes('gap')).toEqual([]);
    expect((await world.granted())['deliveryStatus']).toEqual({ active: true, lastDeliveryAt: expect.stringMatching(/Z$/), lastError: null });
  });
  test('verification-required-before-delivery, verification-challenge-echo, envelope-signed-like-deliveries, envelope-webhook-id-format: asked first, with a signed nonce', async () => {
    const { id } = await it.granted({}, { url: it.receiver.url('/asked') });
    const [first, ...others] = it.receiver.received.filter(({ path }) => path === '/asked');
    expect(others).toEqual([]);
    expect(verified(first!)).toEqual({ type: 'verification', challenge: expect.stringMatching(/^[\w-]{32}$/) });
    expect(first!.headers['webhook-id']).toMatch(/^msg_verification_[\w-]+$/);
    expect(first!.headers['x-mcp-subscription-id']).toBe(id);
  });
  test.each<[string, (challenge: string) => string]>([
    ['another nonce', () => '{"challenge":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}'], ['the nonce as text', (challenge) => challenge], ['the nonce inside', (challenge) => JSON.stringify({ data: { challenge } })],
    ['nothing', () => ''], ['a number', () => '{"challenge":7}'], ['null', () => 'null'], ['more than is read', (challenge) => `${' '.repeat(100_000)}${JSON.stringify({ challenge })}`],
  ])('verification-failure-error, error-callback-endpoint-error, verification-no-raw-endpoint-responses: an answer of %s is challenge_failed', async (what, answer) => {
    const path = `/wrong/${what.replaceAll(' ', '-')}`;
    it.receiver.answer(path, ({ body }, response) => void response.writeHead(200).end(answer(body['challenge'] as string)));
    const size = it.world.engine.webhooks.size;
    expect(errorOf(await it.subscribe({}, { url: it.receiver.url(path) }))).toEqual({ code: CALLBACK_ERROR, message: 'CallbackEndpointError', data: { reason: 'challenge_failed' } });
    expect(it.world.engine.webhooks.size).toBe(size);
  });
  test.each([[404, 'http_4xx'], [503, 'http_5xx']] as const)('error-callback-endpoint-error: %i to the challenge is %s, without what it said', async (status, reason) => {
    it.receiver.answer(`/status/${status}`, (_, response) => void response.writeHead(status, { 'x-internal': 'y' }).end('stack trace of the endpoint'));
    const answer = await it.subscribe({}, { url: it.receiver.url(`/status/${status}`) });
    expect(errorOf(answer)).toEqual({ code: CALLBACK_ERROR, message: 'CallbackEndpointError', data: { reason } });
  });
  test('verification-persisted-for-no-expiry: after a restart nobody is asked again', async () => {
    await using kept = await startWebhookWorld({ sealKey });
    await kept.granted({ ttlMs: null });
    await kept.world.engine.stop();
    await kept.world.startEngine();
    kept.client = credentialClient(kept.world);
    await kept.granted({ ttlMs: null });
    await ring(kept.world);
    await kept.receiver.until(({ body }) => body['type'] === undefined);
    expect(kept.receiver.envelopes('verification')).toHaveLength(1);
  });
  test('verification-cached-per-principal-url: other arguments and refreshes ask nobody again', async () => {
    const url = it.receiver.url('/once');
    for (const args of [mailArgs, { from: ['ada@example.org'] }, mailArgs]) await it.granted({ arguments: args }, { url });
    expect(it.receiver.envelopes('verification', '/once')).toHaveLength(1);
  });
  test('verification-uses-ssrf-hardened-path: a redirect of the challenge is not followed', async () => {
    it.receiver.answer('/moved', (_, response) => void response.writeHead(307, { location: it.receiver.url('/elsewhere') }).end());
    expect(errorOf(await it.subscribe({}, { url: it.receiver.url('/moved') }))).toMatchObject({ code: CALLBACK_ERROR, data: { reason: 'challenge_failed' } });
    expect(it.receiver.received.filter(({ path }) => path === '/elsewhere')).toEqual([]);
  });
  test('ssrf-no-redirects: a redirect of a delivery is a failure and is not followed', async () => {
    it.receiver.answer('/redirects', agreeing(302, { location: it.receiver.url('/target') }));
    await it.granted({}, { url: it.receiver.url('/redirects') });
    await ring(it.world);
    await it.receiver.until(({ path, body }) => path === '/redirects' && body['type'] === undefined);
    await expect.poll(() => it.world.engine.webhooks.list().filter(({ state }) => state === 'retrying').length, { timeout: 20_000 }).toBeGreaterThan(0);
    expect(it.receiver.received.filter(({ path }) => path === '/target')).toEqual([]);
    await unsubscribe(it.receiver.url('/redirects'));
  });
  test.each(['http://127.0.0.1:9/a', 'https://127.0.0.1:9/a', 'https://[::1]/a', 'https://2130706433/a'])('ssrf-validate-callback-url: %s is -32602', async (url) => {
    expect(errorOf(await it.subscribe({}, { url })).code).toBe(CODE.invalidParams);
  });
  test('ssrf-validate-callback-url: a host that the owner did not list is Forbidden, and nobody is asked', async () => {
    const before = it.receiver.connections();
    for (const url of [`https://stranger.example.net:${it.receiver.port}/a`, 'https://hooks.example.net/a', `https://sub.hooks.example.net:${it.receiver.port}/a`]) {
      expect(errorOf(await it.subscribe({}, { url }))).toMatchObject({ code: CODE.forbidden, data: { reason: 'host' } });
    }
    expect(it.receiver.connections()).toBe(before);
  });
  test.each(['10.0.0.7', '169.254.169.254', '192.168.1.1', '100.64.0.1', '::ffff:127.0.0.1', 'fd00::1', 'fe80::1', '64:ff9b::7f00:1', '224.0.0.1'])('ssrf-reject-non-routable: a listed name that means %s gets no connection', async (address) => {
    await using world = await startWebhookWorld({ resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }, { address, family: address.includes(':') ? 6 : 4 }]) });
    expect(errorOf(await world.subscribe())).toMatchObject({ code: CALLBACK_ERROR, data: { reason: 'connection_refused' } });
    expect(world.receiver.connections()).toBe(0);
  });
  test('ssrf-validate-at-delivery-time: a name that means another address since gets no connection there', async () => {
    let address = '127.0.0.1';
    const asked: string[] = [];
    await using world = await startWebhookWorld({ resolve: (hostname) => {
      asked.push(`${hostname} ${address}`);
      return Promise.resolve([{ address, family: 4 }]);
    } });
    // No connection is left open to be used again.
    world.receiver.answer('/a', (received, response) => {
      response.setHeader('connection', 'close');
      right(received, response);
    });
    await world.granted();
    const before = world.receiver.connections();
    address = '10.0.0.7';
    await ring(world.world);
    await expect.poll(() => viewOf(world).lastError, { timeout: 20_000 }).toBe('connection_refused');
    expect(asked.at(-1)).toBe('hooks.example.net 10.0.0.7');
    expect(world.receiver.connections()).toBe(before);
    expect(world.receiver.deliveries()).toEqual([]);
    // It means the right one again: the next try gets through.
    address = '127.0.0.1';
    await world.receiver.until(({ body }) => body['type'] === undefined);
  });
  test('envelope-gap, envelope-type-discriminator: another store is told before what follows it', async () => {
    await using world = await startWebhookWorld();
    await world.granted();
    const [webhook] = [...world.world.engine.hub(MAIL).subscriptions].filter(({ keeps }) => keeps);
    webhook!.gap();
    await ring(world.world, 'After the gap');
    const [gap] = await world.receiver.until(({ body }) => body['type'] === 'gap');
    expect(verified(gap!)).toEqual({ type: 'gap', cursor: expect.stringMatching(/^v1\./) });
    expect(gap!.headers['webhook-id']).toMatch(/^msg_gap_[\w-]+$/);
    const [delivery] = await world.receiver.until(({ body }) => body['type'] === undefined);
    expect(delivery!.body).not.toHaveProperty('type');
    expect(delivery!.at).toBeGreaterThan(gap!.at);
    expect((await world.granted())['truncated']).toBe(false);
  });
  test('envelope-terminated: a type that is switched off ends it with NotFound, signed', async () => {
    await using world = await startWebhookWorld();
    await world.granted();
    world.world.engine.policy.setEvent(MAIL, false);
    const [ended] = await world.receiver.until(({ body }) => body['type'] === 'terminated');
    expect(verified(ended!)).toEqual({ type: 'terminated', error: { code: CODE.notFound, message: 'NotFound', data: { kind: 'event' } } });
    expect(ended!.headers['webhook-id']).toMatch(/^msg_terminated_[\w-]+$/);
    await expect.poll(() => world.world.engine.webhooks.size, { timeout: 20_000 }).toBe(0);
    // The client may not learn more by asking again.
    expect(errorOf(await world.subscribe())).toMatchObject({ code: CODE.notFound });
  });
  test('server-identity-key-discovery: one signature, by the secret of the client; nothing in a body offers a key', async () => {
    await it.granted({}, { url: it.receiver.url('/identity') });
    await ring(it.world, 'Identity');
    const [delivery] = await it.receiver.until(({ path, body }) => path === '/identity' && body['data']?.subject === 'Identity');
    expect(delivery!.headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
    expect(Object.keys(delivery!.body).sort()).toEqual(['cursor', 'data', 'eventId', 'name', 'timestamp']);
  });
  test('own-rebinding: with a resolver that never answers alike, only addresses that were looked at are connected to', async () => {
    let turn = 0;
    await using world = await startWebhookWorld({ resolve: () => Promise.resolve([{ address: (turn += 1) % 2 === 1 ? '127.0.0.1' : '192.168.0.10', family: 4 }]) });
    await world.granted();
    await ring(world.world);
    await world.receiver.until(({ body }) => body['type'] === undefined);
  });
}
