import { randomBytes } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { mailArgs, MAIL } from './conformance-kit.ts';
import { credentialClient, type CredentialClient } from './credential-client.ts';
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

export async function startWebhookWorld(options: WorldOptions & { readonly resolve?: typeof toLoopback; readonly receiver?: Receiver } = {}): Promise<WebhookWorld> {
  const receiver = options.receiver ?? await startReceiver();
  const world = await startWorld({
    ...options,
    settings: { ...openSettings, hosts: [receiver.host, `other.example.net:${receiver.port}`], ...options.settings },
    edges: { loopbackReceivers: { ca: receiver.ca, resolve: options.resolve ?? toLoopback }, ...options.edges },
  });
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

/** Throws where the signature does not hold; by the published package, not by ours. */
export function verified({ raw, headers }: Received, by = secret): Record<string, any> {
  return new StandardWebhook(by).verify(raw, headers as Record<string, string>) as Record<string, any>;
}
