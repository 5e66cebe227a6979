import { afterAll, beforeAll, expect, test } from 'vitest';
import { CODE, MAIL, mailArgs, MESSAGES, messagesArgs, ring } from './conformance-kit.ts';
import { startControls } from './events-controls.ts';
import { HttpClient, streamOf, type HttpStream } from './http-client.ts';
import { secret, startWebhookWorld, verified, type WebhookWorld } from './webhook-kit.ts';

let it: WebhookWorld;
let controls: Awaited<ReturnType<typeof startControls>>;
let client: HttpClient;
beforeAll(async () => {
  it = await startWebhookWorld();
  controls = await startControls(it.world);
  client = new HttpClient(controls.url, 'test-suite');
});
afterAll(async () => {
  client.close();
  await controls.close();
  await it[Symbol.asyncDispose]();
});

const control = async (name: string, args: object = {}) => {
  const answer = await client.request('tools/call', { name: `events_conformance_${name}`, arguments: args });
  return JSON.parse(answer['result']['content'][0]['text'] as string) as unknown;
};
const open = async (name: string, args: object): Promise<HttpStream> => {
  const stream = streamOf(await client.listen('events/stream', { name, arguments: args }));
  await stream.until(({ message }) => message['method'] === 'notifications/events/active');
  return stream;
};
const next = (stream: HttpStream, kind: string, from: number) => stream.until(({ message }) => message['method'] === `notifications/events/${kind}`, from).then(({ message }) => message['params'] as Record<string, any>);

test('yield_error: a recoverable error, and the stream delivers on', async () => {
  const stream = await open(MAIL, mailArgs);
  await control('yield_error', { name: MAIL });
  expect(await next(stream, 'error', 1)).toMatchObject({ error: { code: CODE.internal, data: { reason: 'busy' } } });
  await ring(it.world, 'After the error');
  expect(await next(stream, 'event', 1)).toMatchObject({ data: { subject: 'After the error' } });
  stream.close();
});
test('yield_gap: active again, truncated, and the stream delivers on', async () => {
  const stream = await open(MAIL, mailArgs);
  await control('yield_gap', { name: MAIL });
  expect(await next(stream, 'active', 1)).toMatchObject({ truncated: true, cursor: expect.stringMatching(/^v1\./) });
  await ring(it.world, 'After the gap');
  expect(await next(stream, 'event', 1)).toMatchObject({ data: { subject: 'After the gap' } });
  stream.close();
});
test('terminate: terminated with NotFound, the stream ends, and the type is there again', async () => {
  const stream = await open(MAIL, mailArgs);
  await control('terminate', { name: MAIL });
  expect(await next(stream, 'terminated', 1)).toMatchObject({ error: { code: CODE.notFound, data: { kind: 'event' } } });
  await stream.untilEnd();
  (await open(MAIL, mailArgs)).close();
});
test('catalog: whoever listens hears that the catalogue changed; streams of what was removed end, others go on', async () => {
  const listen = streamOf(await client.listen('subscriptions/listen', { notifications: { eventsListChanged: true } }));
  await listen.until(({ message }) => message['method'] === 'notifications/subscriptions/acknowledged');
  const [mail, messages] = [await open(MAIL, mailArgs), await open(MESSAGES, messagesArgs)];
  await control('catalog');
  await listen.until(({ message }) => message['method'] === 'notifications/events/list_changed');
  expect(await next(messages, 'terminated', 1)).toMatchObject({ error: { code: CODE.notFound } });
  const names = async () => ((await client.request('events/list'))['result']['events'] as { name: string }[]).map(({ name }) => name);
  expect(await names()).toEqual([MAIL]);
  await control('catalog');
  expect(await names()).toEqual([MAIL, MESSAGES]);
  await ring(it.world, 'Unharmed');
  expect(await next(mail, 'event', 1)).toMatchObject({ data: { subject: 'Unharmed' } });
  for (const stream of [listen, mail, messages]) stream.close();
});
test('webhook_gap, webhook_terminate, subscription_exists, subscription_state: what is told to a receiver, and what stands', async () => {
  const { result } = await client.request('events/subscribe', { name: MAIL, arguments: mailArgs, delivery: { mode: 'webhook', url: it.receiver.url('/controls'), secret } });
  const { id } = result as { id: string };
  expect(await control('subscription_exists', { id })).toBe(true);
  await control('webhook_gap', { name: MAIL });
  const [gap] = await it.receiver.until(({ body }) => body['type'] === 'gap');
  expect(verified(gap!)).toMatchObject({ type: 'gap' });
  expect(await control('subscription_state', { id })).toMatchObject({ id, state: 'ok' });
  await control('webhook_terminate');
  const [ended] = await it.receiver.until(({ body }) => body['type'] === 'terminated');
  expect(verified(ended!)).toMatchObject({ type: 'terminated', error: { code: CODE.forbidden } });
  await expect.poll(() => control('subscription_exists', { id })).toBe(false);
});
test('allow_callback_origin: the host of a suite\'s receiver is listed', async () => {
  await control('allow_callback_origin', { origin: 'https://callback.example.net:9443' });
  expect(it.world.engine.policy.isWebhookHost('callback.example.net:9443')).toBe(true);
});
