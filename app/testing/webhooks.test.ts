import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { engineOf } from '../engine/host.ts';
import { belongsTo, parseCursor } from '../events/cursor.ts';
import { authority } from './certificates.ts';
import { ADA, CODE, errorOf, faultsOf, MAIL, mailArgs, MESSAGES, messagesArgs, OTHER, ring, text } from './conformance-kit.ts';
import { credentialClient } from './credential-client.ts';
import { mailIndex, replaceStore } from './store-surgery.ts';
import { VirtualClock } from './virtual-clock.ts';
import { look, newSecret, sealKey, secret, startWebhookWorld, untilTrue, verified, viewOf, type WebhookWorld } from './webhook-kit.ts';
import { agreeing, right, startReceiver, type Received } from './webhook-receiver.ts';

const isEvent = ({ body }: Received) => body['type'] === undefined;
const subjectOf = ({ body }: Received) => body['data']?.subject as string | undefined;
const unverified = ({ body }: Received) => body['type'] !== 'verification';

describe('a delivery', () => {
  test('is the event as other modes have it, signed, with a position before what is not accepted yet', async () => {
    await using it = await startWebhookWorld();
    const grant = await it.granted();
    const rows = [await ring(it.world, 'One'), await ring(it.world, 'Two')];
    const deliveries = await it.receiver.until(isEvent, 2);
    for (const delivery of deliveries) {
      expect(verified(delivery)).toEqual(delivery.body);
      expect(faultsOf('occurrence', delivery.body)).toEqual([]);
    }
    const { result } = await it.client.request('events/poll', { name: MAIL, arguments: mailArgs, cursor: grant['cursor'] });
    // The cursor is the delivery's own: an event of a poll has none.
    expect(deliveries.map(({ body }) => ({ ...body, cursor: undefined }))).toEqual(result['events']);
    expect(deliveries.map(({ body }) => parseCursor(body['cursor'] as string)!.rowid < rows[deliveries.findIndex((each) => each.body === body)]!)).toEqual([true, true]);
  });

  test('holds an envelope only, also for messages, and no subject once they are off', async () => {
    await using it = await startWebhookWorld();
    await it.granted({ name: MESSAGES, arguments: messagesArgs }, { url: it.receiver.url('/messages') });
    await it.granted();
    it.world.engine.policy.setSetting('subjects', false);
    await ring(it.world, 'Hidden');
    await text(it.world, { text: 'never sent' });
    const all = await it.receiver.until(isEvent, 2);
    expect(all.map(({ raw }) => raw).join()).not.toMatch(/Hidden|never sent/);
  });

  test('the owner\'s rules are a ceiling: who is not allowed does not ring, and one removed between two tries rings no more', async () => {
    const clock = new VirtualClock();
    await using it = await startWebhookWorld({ edges: { clock } });
    it.receiver.answer('/a', agreeing(500));
    await it.granted({ arguments: { domains: ['example.org', 'other.example'] } });
    await it.world.writer.mail.arrive({ from: OTHER, subject: 'Not allowed', file: false });
    await ring(it.world, 'Allowed at first');
    look(clock);
    await untilTrue(clock, () => viewOf(it).failures === 1, 'the first try');
    it.receiver.answer('/a', right);
    it.world.engine.policy.removeSenders(['@example.org']);
    clock.advance(2500);
    // Decided without a word to anybody, in the turns that follow the timer.
    for (let turns = 0; turns < 5; turns += 1) await new Promise((done) => void setImmediate(done));
    it.world.engine.policy.addSenders(['@example.org']);
    await ring(it.world, 'Allowed again');
    look(clock);
    await untilTrue(clock, () => viewOf(it).delivered === 1, 'the one after it');
    expect(it.receiver.deliveries().map(subjectOf)).toEqual(['Allowed at first', 'Allowed again']);
  });

  test('what left the store between two tries is not sent again', async () => {
    const clock = new VirtualClock();
    await using it = await startWebhookWorld({ edges: { clock } });
    it.receiver.answer('/a', agreeing(500));
    await it.granted();
    const rowid = await ring(it.world, 'Deleted');
    look(clock);
    await untilTrue(clock, () => viewOf(it).failures === 1, 'the first try');
    await it.world.writer.mail.remove(rowid);
    it.receiver.answer('/a', right);
    clock.advance(2500);
    await ring(it.world, 'Next');
    look(clock);
    await untilTrue(clock, () => viewOf(it).delivered === 1, 'the next');
    expect(it.receiver.deliveries().map(subjectOf)).toEqual(['Deleted', 'Next']);
  });

  test('one that its receiver never takes is given up once others were taken; the position never passes what is open', async () => {
    const clock = new VirtualClock();
    await using it = await startWebhookWorld({ edges: { clock } });
    it.receiver.answer('/a', (received, response) => (subjectOf(received) === 'Poison' ? void response.writeHead(500).end() : right(received, response)));
    await it.granted();
    const poison = await ring(it.world, 'Poison');
    look(clock);
    await untilTrue(clock, () => viewOf(it).failures === 1, 'a failure');
    for (let n = 1; n <= 4; n += 1) await ring(it.world, `Good ${n}`);
    look(clock);
    await untilTrue(clock, () => viewOf(it).delivered === 4, 'the others');
    for (const { body } of it.receiver.deliveries()) expect(parseCursor(body['cursor'] as string)!.rowid).toBeLessThan(poison);
    for (const wait of [2500, 10_000, 75_000, 750_000]) {
      const tries = it.receiver.deliveries().filter((each) => subjectOf(each) === 'Poison').length;
      clock.advance(wait);
      await untilTrue(clock, () => it.receiver.deliveries().filter((each) => subjectOf(each) === 'Poison').length > tries && viewOf(it).failures > 0, 'another try');
      await untilTrue(clock, () => viewOf(it).failures === tries || viewOf(it).givenUp === 1, 'its answer');
    }
    expect(viewOf(it)).toMatchObject({ givenUp: 1, delivered: 4 });
    const { cursor } = await it.granted();
    expect(parseCursor(cursor as string)!.rowid).toBeGreaterThanOrEqual(poison + 4);
    it.world.engine.activity.flush();
    expect(it.world.engine.activity.recent(50).filter(({ reason }) => reason === 'webhook')).toMatchObject([{ kind: 'not_sent', client: it.client.id }]);
  });
});

describe('a receiver that', () => {
  test('hangs holds up nobody else: others hear at once, and it is tried again', async () => {
    await using it = await startWebhookWorld();
    it.receiver.answer('/hangs', (received, response) => (unverified(received) ? undefined : right(received, response)));
    await it.granted({}, { url: it.receiver.url('/hangs') });
    for (let n = 0; n < 30; n += 1) await it.granted({ arguments: { from: [`w${n}@example.org`, ADA.address] } }, { url: it.receiver.url(`/right/${n % 3}`) });
    await ring(it.world);
    const heard = await it.receiver.until((each) => each.path.startsWith('/right') && isEvent(each), 30);
    expect(new Set(heard.map(({ headers }) => headers['x-mcp-subscription-id'])).size).toBe(30);
    // Before the one that hangs ran out of time: a 5 s wait that nobody else had.
    expect(it.world.engine.webhooks.list().every(({ failures }) => failures === 0)).toBe(true);
    await it.receiver.until((each) => each.path === '/hangs' && isEvent(each), 2);
    expect(it.world.engine.webhooks.list().find(({ failures }) => failures > 0)).toMatchObject({ lastError: 'timeout', state: 'retrying' });
  });
  test('drips its answer has answered; one that sends without end is cut off', async () => {
    await using it = await startWebhookWorld();
    it.receiver.answer('/drips', (received, response) => {
      if (!unverified(received)) return right(received, response);
      response.writeHead(200).write('.');
      return undefined;
    });
    let written = 0;
    it.receiver.answer('/floods', (received, response) => {
      if (!unverified(received)) return right(received, response);
      response.writeHead(200);
      const more = () => {
        if (response.destroyed) return;
        written += 65_536;
        if (response.write(Buffer.alloc(65_536))) setImmediate(more);
        else response.once('drain', more);
      };
      return more();
    });
    for (const path of ['/drips', '/floods']) await it.granted({}, { url: it.receiver.url(path) });
    await ring(it.world);
    await expect.poll(() => it.world.engine.webhooks.list().map(({ delivered }) => delivered), { timeout: 20_000 }).toEqual([1, 1]);
    // What fits into the buffers between the two, and not more.
    expect(written).toBeLessThan(20 * 1024 * 1024);
  });
  test.each<[string, () => Promise<WebhookWorld>]>([
    ['shows a certificate of another authority', async () => startWebhookWorld({ receiver: { ...await startReceiver(), ca: authority().ca } })],
    ['shows a certificate for another name', async () => startWebhookWorld({ receiver: await startReceiver({ names: ['hooks.example.net'], issuedFor: ['wrong.example.net'] }) })],
    ['shows a certificate that is over', async () => startWebhookWorld({ receiver: await startReceiver({ validity: { from: new Date(0), to: new Date(86_400_000) } }) })],
  ])('%s is a tls_error, whatever the environment says', async (_, start) => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      await using it = await start();
      expect(errorOf(await it.subscribe())).toMatchObject({ code: -32027, data: { reason: 'tls_error' } });
      expect(it.receiver.received).toEqual([]);
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
  });
  test('is not there is connection_refused; a proxy of the environment is not asked', async () => {
    await using it = await startWebhookWorld();
    const nobody = await startReceiver();
    const { host } = nobody;
    await nobody[Symbol.asyncDispose]();
    it.world.engine.policy.addHosts([host]);
    process.env['HTTPS_PROXY'] = `http://127.0.0.1:${it.receiver.port}`;
    try {
      const before = it.receiver.connections();
      expect(errorOf(await it.subscribe({}, { url: `https://${host}/a` }))).toMatchObject({ code: -32027, data: { reason: 'connection_refused' } });
      expect(it.receiver.connections()).toBe(before);
    } finally {
      delete process.env['HTTPS_PROXY'];
    }
  });
  test('closes connections that were kept open is written to anew, which is no failure', async () => {
    await using it = await startWebhookWorld();
    await it.granted();
    for (let n = 1; n <= 4; n += 1) {
      it.receiver.dropIdle();
      await ring(it.world, `Mail ${n}`);
      await it.receiver.until((each) => subjectOf(each) === `Mail ${n}`);
    }
    await expect.poll(() => viewOf(it)).toMatchObject({ delivered: 4, failures: 0, lastError: null });
  });
});

describe('the owner\'s word (architecture 5, state table)', () => {
  const ended = async (it: WebhookWorld) => (await it.receiver.until(({ body }) => body['type'] === 'terminated')).map((each) => verified(each)['error']);

  test('revoked: terminated with Forbidden, and nothing more', async () => {
    await using it = await startWebhookWorld();
    await it.granted();
    it.world.engine.policy.revokeClient(it.client.id);
    expect(await ended(it)).toMatchObject([{ code: CODE.forbidden }]);
    await ring(it.world);
    expect(errorOf(await it.subscribe())).toMatchObject({ code: CODE.forbidden });
    expect(it.receiver.deliveries()).toEqual([]);
  });
  test('every event off: terminated with Forbidden; one off: NotFound for its own', async () => {
    await using it = await startWebhookWorld();
    await it.granted();
    await it.granted({ name: MESSAGES, arguments: messagesArgs }, { url: it.receiver.url('/messages') });
    it.world.engine.policy.setEvent(MAIL, false);
    expect(await ended(it)).toMatchObject([{ code: CODE.notFound, data: { kind: 'event' } }]);
    it.world.engine.policy.setEvent(MESSAGES, false);
    await it.receiver.until(({ body }) => body['type'] === 'terminated', 2);
    expect(verified(it.receiver.envelopes('terminated', '/messages')[0]!)['error']).toMatchObject({ code: CODE.forbidden });
  });
  test('paused: nothing leaves, not even another try; all that was held follows', async () => {
    const clock = new VirtualClock();
    await using it = await startWebhookWorld({ edges: { clock } });
    it.receiver.answer('/a', agreeing(500));
    await it.granted();
    await ring(it.world, 'Failing');
    look(clock);
    await untilTrue(clock, () => viewOf(it).failures === 1, 'a failure');
    it.world.engine.policy.pause(null);
    it.receiver.answer('/a', right);
    await ring(it.world, 'Held');
    clock.advance(60_000);
    expect(viewOf(it).state).toBe('paused');
    expect(it.receiver.deliveries()).toHaveLength(1);
    it.world.engine.policy.resume();
    await untilTrue(clock, () => viewOf(it).delivered === 2, 'both');
    expect(it.receiver.deliveries().slice(1).map(subjectOf).sort()).toEqual(['Failing', 'Held']);
  });
  test('a host that is removed hears once that it is over, and nothing else, however it answers', async () => {
    const clock = new VirtualClock();
    await using it = await startWebhookWorld({ edges: { clock } });
    it.receiver.answer('/a', agreeing(500));
    await it.granted();
    await ring(it.world);
    look(clock);
    await untilTrue(clock, () => viewOf(it).failures === 1, 'a failure');
    it.world.engine.policy.removeHosts([it.receiver.host]);
    await untilTrue(clock, () => it.world.engine.webhooks.size === 0, 'over');
    await ring(it.world);
    clock.advance(20 * 60_000);
    expect(it.receiver.received.filter(unverified).map(({ body }) => body['type'] ?? 'event')).toEqual(['event', 'terminated']);
    expect(errorOf(await it.subscribe())).toMatchObject({ code: CODE.forbidden, data: { reason: 'host' } });
    // Listed again, it has to agree again.
    it.world.engine.policy.addHosts([it.receiver.host]);
    it.receiver.answer('/a', right);
    await it.granted();
    expect(it.receiver.envelopes('verification')).toHaveLength(2);
  });
  test('stopped by the owner: terminated, and gone from the list', async () => {
    await using it = await startWebhookWorld();
    const { id } = await it.granted();
    expect(it.world.engine.webhooks.stop(id as string)).toBe(true);
    expect(await ended(it)).toMatchObject([{ code: CODE.forbidden }]);
    await expect.poll(() => it.world.engine.webhooks.list()).toEqual([]);
    expect(it.world.engine.webhooks.stop(id as string)).toBe(false);
  });
  test('a client that nobody decided on gets Forbidden, approval, and comes into Waiting for you', async () => {
    await using it = await startWebhookWorld({ trust: false });
    expect(errorOf(await it.subscribe())).toMatchObject({ code: CODE.forbidden, data: { reason: 'approval' } });
    expect(it.world.engine.policy.snapshot().waiting).toMatchObject([{ kind: 'client', id: it.client.id }]);
    expect(it.receiver.received).toEqual([]);
    it.world.engine.policy.allowClient(it.client.id);
    await it.granted();
    await ring(it.world);
    await it.receiver.until(isEvent);
  });
  test('past the ceiling of rings nothing is sent; what was held follows', async () => {
    const clock = new VirtualClock();
    await using it = await startWebhookWorld({ edges: { clock } });
    it.world.engine.policy.setSetting('ratePerHour', 2);
    await it.granted();
    for (let n = 1; n <= 4; n += 1) await ring(it.world, `Mail ${n}`);
    look(clock);
    await untilTrue(clock, () => viewOf(it).delivered === 2, 'two');
    expect(viewOf(it).state).toBe('ceiling');
    await it.granted({ ttlMs: 3_600_000 });
    clock.advance(55 * 60_000);
    await it.granted({ ttlMs: 3_600_000 });
    clock.advance(10 * 60_000);
    await untilTrue(clock, () => viewOf(it).delivered === 4, 'all');
    expect(it.receiver.deliveries().map(subjectOf)).toEqual(['Mail 1', 'Mail 2', 'Mail 3', 'Mail 4']);
  });
});

describe('limits', () => {
  test('a grant that is not renewed ends by itself: nothing comes, and the key is free', async () => {
    const clock = new VirtualClock();
    await using it = await startWebhookWorld({ edges: { clock } });
    const grant = await it.granted({ ttlMs: 300_000 });
    clock.advance(301_000);
    await ring(it.world, 'Too late');
    look(clock);
    await untilTrue(clock, () => it.world.engine.webhooks.size === 0 || (clock.advance(1000), false), 'gone');
    expect(it.receiver.received.filter(unverified)).toEqual([]);
    // Its client comes back with the cursor that it had: nothing is lost.
    await it.granted({ cursor: grant['cursor'] });
    await untilTrue(clock, () => it.receiver.deliveries().length === 1, 'what came meanwhile');
    expect(subjectOf(it.receiver.deliveries()[0]!)).toBe('Too late');
  });
  test('100 subscriptions of a client; the next is ResourceExhausted before its receiver is asked', async () => {
    await using it = await startWebhookWorld();
    for (let n = 0; n < 100; n += 1) await it.granted({ arguments: { from: [`w${n}@example.org`] } });
    const before = it.receiver.received.length;
    expect(errorOf(await it.subscribe({}, { url: it.receiver.url('/new') }))).toMatchObject({ code: CODE.exhausted, data: { limit: 'subscriptions', max: 100 } });
    expect(it.receiver.received).toHaveLength(before);
    // One that is there is renewed all the same, and another client has its own hundred.
    expect(await it.subscribe({ arguments: { from: ['w7@example.org'] } })).toHaveProperty('result');
    const other = credentialClient(it.world, 'test-other');
    expect(await other.request('events/subscribe', { name: MAIL, arguments: mailArgs, delivery: { mode: 'webhook', url: it.receiver.url('/a'), secret } })).toHaveProperty('result');
  });
  test('a host is asked at most 60 times a minute, a client asks at most 8 at once', async () => {
    await using it = await startWebhookWorld();
    for (let n = 0; n < 9; n += 1) it.receiver.answer(`/slow?${n}`, () => undefined);
    const slow = Array.from({ length: 9 }, (_, n) => it.subscribe({}, { url: `${it.receiver.url('/slow')}?${n}` }));
    const refused = (await Promise.all(slow)).map(errorOf).filter(({ code }) => code === CODE.exhausted);
    expect(refused).toEqual([{ code: CODE.exhausted, message: 'ResourceExhausted', data: { limit: 'verifications', max: 8 } }]);
    for (let n = 8; n < 60; n += 1) expect(await it.subscribe({}, { url: it.receiver.url(`/many/${n}`), secret: newSecret() })).toHaveProperty('result');
    expect(errorOf(await it.subscribe({}, { url: it.receiver.url('/one-more') }))).toMatchObject({ code: CODE.exhausted, data: { limit: 'verifications', max: 60, retryAfterMs: expect.any(Number) } });
  });
  test('two calls at once for one key are one subscription, and one question', async () => {
    await using it = await startWebhookWorld();
    const both = await Promise.all([it.granted(), it.granted(), it.granted()]);
    expect(new Set(both.map(({ id }) => id as string)).size).toBe(1);
    expect(it.receiver.envelopes('verification')).toHaveLength(1);
    await ring(it.world);
    await it.receiver.until(isEvent);
    expect(it.world.engine.webhooks.size).toBe(1);
  });
});

describe('restarts and gaps', () => {
  test('in memory only, nothing of a subscription is written where no host keeps a key', async () => {
    await using it = await startWebhookWorld();
    await it.granted({}, { url: it.receiver.url('/canary-path') });
    await ring(it.world);
    await it.receiver.until(isEvent);
    await it.world.engine.stop();
    for (const file of readdirSync(it.world.dataDir).filter((name) => name.startsWith('state.db'))) {
      const bytes = readFileSync(`${it.world.dataDir}/${file}`, 'latin1');
      expect(bytes, file).not.toContain('canary-path');
      expect(bytes, file).not.toContain(secret.slice(6));
    }
    expect(existsSync(`${it.world.dataDir}/state.db`)).toBe(true);
    const before = it.receiver.received.length;
    await it.world.startEngine();
    await ring(it.world);
    expect(it.world.engine.webhooks.size).toBe(0);
    expect(it.receiver.received).toHaveLength(before);
  });
  test('a cursor that its client kept replays what came while it was away, once each', async () => {
    await using it = await startWebhookWorld();
    const { cursor } = await it.granted();
    await it.client.request('events/unsubscribe', { name: MAIL, arguments: mailArgs, delivery: { url: it.receiver.url('/a') } });
    for (let n = 1; n <= 40; n += 1) await ring(it.world, `Mail ${n}`);
    await it.granted({ cursor });
    const all = await it.receiver.until(isEvent, 40);
    expect(all.map(subjectOf)).toEqual(Array.from({ length: 40 }, (_, n) => `Mail ${n + 1}`));
    expect(new Set(all.map(({ headers }) => headers['webhook-id'])).size).toBe(40);
    const last = await it.granted();
    expect(belongsTo(parseCursor(last['cursor'] as string)!, it.world.engine.hub(MAIL).tail.storeAt(parseCursor(last['cursor'] as string)!))).toBe(true);
  });
  test('another store in the place of the old one, also while nothing runs: a gap is told before what arrives in it', async () => {
    await using it = await startWebhookWorld({ sealKey });
    const replace = async () => {
      await it.world.writer.store.close('mail');
      replaceStore(`${it.world.mailDir}/MailData/Envelope Index`, mailIndex({}, (store) => {
        store.addAccount({ description: 'New', email: 'me@new.example', kind: 'imap' });
        store.arrive({ from: ADA, subject: 'There from its start', file: false });
      }));
      await it.world.writer.store.reopen('mail');
    };
    await it.granted({ ttlMs: null });
    await ring(it.world, 'Before');
    await it.receiver.until((each) => subjectOf(each) === 'Before');
    await replace();
    await it.receiver.until(({ body }) => body['type'] === 'gap');
    await ring(it.world, 'After');
    await it.receiver.until((each) => subjectOf(each) === 'After');
    await it.world.engine.stop();
    await replace();
    await it.world.startEngine();
    await it.receiver.until(({ body }) => body['type'] === 'gap', 2);
    await ring(it.world, 'After both');
    await it.receiver.until((each) => subjectOf(each) === 'After both');
    expect(it.receiver.received.filter(unverified).map((each) => each.body['type'] as string | undefined ?? subjectOf(each))).toEqual(['Before', 'gap', 'After', 'gap', 'After both']);
  });
  test('with another key nothing of it can be read: it is gone, and the engine runs', async () => {
    await using it = await startWebhookWorld({ sealKey });
    await it.granted({ ttlMs: null });
    await it.world.engine.stop();
    const other = engineOf({ dataDir: it.world.dataDir, mailDir: it.world.mailDir, messagesDb: it.world.messagesDb, sealKey: randomBytes(32).toString('base64') }, 'serve', () => undefined, () => undefined);
    await other.start();
    expect(other.webhooks.size).toBe(0);
    await other.stop();
    await it.world.startEngine();
    expect(it.world.engine.webhooks.size).toBe(0);
  });
});
