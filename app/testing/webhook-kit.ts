import { randomBytes } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import type { Resolve } from '../delivery/webhook/https-post.ts';
import { mailArgs, MAIL } from './conformance-kit.ts';
import { credentialClient, type CredentialClient } from './credential-client.ts';
import type { VirtualClock } from './virtual-clock.ts';
import { startReceiver, toLoopback, type Received, type Receiver } from './webhook-receiver.ts';
import { openSettings, startWorld, type World, type WorldOptions } from './world.ts';

export const newSecret = (bytes = 32): string => `whsec_${randomBytes(bytes).toString('base64')}`;

/** A world whose owner lists the receiver's host, and a client with a credential. */
export interface WebhookWorld extends AsyncDisposable {
  readonly world: World;
  readonly receiver: Receiver;
  client: CredentialClient;
  /** `events/subscribe`; the whole answer. */
  subscribe(params?: object, delivery?: object): Promise<Record<string, any>>;
  /** Its result. */
  granted(params?: object, delivery?: object): Promise<Record<string, any>>;
}

export const secret = newSecret();

export async function startWebhookWorld(options: WorldOptions & { readonly resolve?: Resolve; readonly receiver?: Receiver } = {}): Promise<WebhookWorld> {
  const receiver = options.receiver ?? await startReceiver();
  const world = await startWorld({
    ...options, http: true,
    settings: { ...openSettings, hosts: [receiver.host, `other.example.net:${receiver.port}`], ...options.settings },
    edges: { loopbackReceivers: { ca: receiver.ca, resolve: options.resolve ?? toLoopback }, ...options.edges },
  });
  // The test wrote the settings, not the engine: the owner says that they hold, and they are sealed.
  if (options.start !== false && world.engine.policy.seal === 'broken') world.engine.policy.answerSeal(true);
  const it: WebhookWorld = {
    world, receiver,
    client: options.start === false ? undefined as unknown as CredentialClient : credentialClient(world),
    subscribe: (params = {}, delivery = {}) => it.client.request('events/subscribe', {
      name: MAIL, arguments: mailArgs, delivery: { mode: 'webhook', url: receiver.url('/a'), secret, ...delivery }, ...params,
    }),
    granted: async (params = {}, delivery = {}) => {
      const answer = await it.subscribe(params, delivery);
      if (!answer['result']) throw new Error(`A grant was expected: ${JSON.stringify(answer)}`);
      return answer['result'] as Record<string, any>;
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
  return it;
}

/**
 * Throws where the signature does not hold; by the published package, not by ours. @param now Unix ms of a clock that stands:
 * the package takes no time but the machine's, so its own look at the age is put aside then, and done here.
 */
export function verified({ raw, headers }: Received, by = secret, now?: number): Record<string, any> {
  const given = headers as Record<string, string>;
  if (now === undefined) return new StandardWebhook(by).verify(raw, given) as Record<string, any>;
  const at = Number(given['webhook-timestamp']);
  if (Math.abs(now / 1000 - at) > 4 * 86_400) throw new Error('The timestamp is out of place.');
  const own = new StandardWebhook(by).sign(given['webhook-id']!, new Date(at * 1000), raw);
  if (!given['webhook-signature']!.split(' ').includes(own)) throw new Error('No matching signature found');
  return JSON.parse(raw) as Record<string, any>;
}

/** Waits in real time for what input and output bring; the engine's own time stands still. */
export async function untilTrue(clock: VirtualClock, isSo: () => boolean, what: string, ms = 30_000): Promise<void> {
  for (const end = performance.now() + ms; !isSo();) {
    if (performance.now() > end) throw new Error(`It never came to be: ${what}`);
    clock.advance(0);
    await new Promise((done) => void setTimeout(done, 2));
  }
}

/** Gives the engine one look at its stores. */
export const look = (clock: VirtualClock): void => clock.advance(250);

/** Of the extension's own errors (events-extension 8). */
export const CALLBACK_ERROR = -32027;
/** A key such as the app's host keeps. */
export const sealKey = randomBytes(32).toString('base64');

/** Lets the receiver fail for as often as it is tried; then the subscription waits for its client. */
export async function failAll(clock: VirtualClock, it: WebhookWorld): Promise<void> {
  look(clock);
  for (const [tries, wait] of [[1, 2500], [2, 10_000], [3, 75_000], [4, 750_000]] as const) {
    await untilTrue(clock, () => viewOf(it).failures === tries, `try ${tries}`);
    clock.advance(wait);
  }
  await untilTrue(clock, () => viewOf(it).state === 'suspended', 'suspended');
}

/** What the owner sees of the only webhook. */
export const viewOf = ({ world }: WebhookWorld) => {
  const [view] = world.engine.webhooks.list();
  if (!view) throw new Error('There is no webhook.');
  return view;
};
