import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CODE, descriptorsOf, errorOf, EXTENSION, faultsOf, MAIL, mailArgs, MESSAGES, messagesArgs, ring, schemaChecker, text, trafficFaults, type SuiteClient, type Way } from './conformance-kit.ts';
import { modernMeta } from './raw-client.ts';
import type { World } from './world.ts';

/** Rows of conformance-rows.md, over the socket and over HTTP. Titles begin with the ids. */
export function discoveryRows(way: Way): void {
  let world: World;
  let client: SuiteClient;
  beforeAll(async () => {
    world = await way.world();
    client = way.client(world);
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
  });

  const discover = async (of: SuiteClient): Promise<Record<string, any>> => (await of.request('server/discover'))['result'] as Record<string, any>;

  describe('what the server says of itself', () => {
    test('capability-events-object: the extension is an object under capabilities.extensions', async () => {
      expect((await discover(client))['capabilities']['extensions'][EXTENSION]).toBeTypeOf('object');
    });
    test('capability-empty-settings: its settings are {}', async () => {
      expect((await discover(client))['capabilities']['extensions'][EXTENSION]).toEqual({});
    });
    test('own-discover-shape: nothing of events stands at the top level of capabilities', async () => {
      const { capabilities } = await discover(client);
      expect(Object.keys(capabilities as object)).not.toContain('events');
      expect(Object.keys(capabilities as object)).not.toContain(EXTENSION);
    });
    test('own-client-cap-optional: it works for a client that declares the extension, and for one that does not', async () => {
      const declared = { ...modernMeta, 'io.modelcontextprotocol/clientCapabilities': { extensions: { [EXTENSION]: {} } } };
      for (const _meta of [modernMeta, declared]) {
        expect((await client.request('events/list', { _meta }))['result']['events']).toHaveLength(2);
      }
    });
    test('own-meta-extra-keys: a progress token and trace keys in _meta change nothing', async () => {
      const _meta = { ...modernMeta, progressToken: 7, traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'com.example/x': { y: [] } };
      const from = client.frames.length;
      const { result } = await client.request('events/poll', { _meta, name: MAIL, arguments: mailArgs });
      expect(faultsOf('poll', result)).toEqual([]);
      expect(client.frames.slice(from)).toHaveLength(1);
    });
  });

  describe('events/list', () => {
    test('list-implemented, result-type-complete: an array of events, resultType complete', async () => {
      const { result } = await client.request('events/list');
      expect(faultsOf('list', result)).toEqual([]);
      expect(result['resultType']).toBe('complete');
    });
    test('list-implemented: params may be absent but for _meta, and an empty page cursor is no page', async () => {
      expect(errorOf(await client.request('events/list', { cursor: 'next' })).code).toBe(CODE.invalidParams);
    });
    test('descriptor-name: both types, by their names', async () => {
      expect((await descriptorsOf(client)).map((descriptor) => descriptor['name'])).toEqual([MAIL, MESSAGES]);
    });
    test('descriptor-description: a text each', async () => {
      for (const descriptor of await descriptorsOf(client)) expect(descriptor['description']).toMatch(/\S/);
    });
    test('descriptor-delivery-subset: poll and push', async () => {
      for (const descriptor of await descriptorsOf(client)) expect(descriptor['delivery']).toEqual(['poll', 'push']);
    });
    test('descriptor-input-schema: 2020-12, compiles, accepts its own examples and refuses what has no sender', async () => {
      for (const descriptor of await descriptorsOf(client)) {
        const check = schemaChecker().compile(descriptor['inputSchema'] as object);
        expect(check({})).toBe(false);
        expect(check({ from: ['ada@example.org'] })).toBe(true);
        expect(check({ domains: ['example.org'] })).toBe(true);
        expect(check({ domains: [] })).toBe(false);
        expect(check({ domains: ['example.org'], color: 'red' })).toBe(false);
        for (const [name, property] of Object.entries(descriptor['inputSchema']['properties'] as Record<string, Record<string, any>>)) {
          for (const example of (property['examples'] ?? []) as unknown[]) expect(check({ domains: ['example.org'], [name]: example }), name).toBe(true);
        }
      }
    });
    test('descriptor-input-schema: the arguments of architecture 5, no others', async () => {
      const [mail, messages] = await descriptorsOf(client);
      const names = (descriptor: Record<string, any>) => Object.keys(descriptor['inputSchema']['properties'] as object).sort();
      expect(names(mail!)).toEqual(['addressed_to_me', 'domains', 'from', 'has_attachment', 'mailboxes', 'subdomains', 'subject_contains']);
      expect(names(messages!)).toEqual(['chats', 'domains', 'from', 'has_attachment', 'subdomains']);
    });
    test('descriptor-payload-schema: the fields of architecture 5, all required, and nothing of a body', async () => {
      const [mail, messages] = await descriptorsOf(client);
      const schema = (descriptor: Record<string, any>) => descriptor['payloadSchema'] as Record<string, any>;
      expect(Object.keys(schema(mail!)['properties'] as object).sort()).toEqual(
        ['account', 'conversationId', 'dateReceived', 'dateSent', 'from', 'hasAttachments', 'id', 'mailbox', 'messageId', 'subject', 'to', 'toCount']);
      expect(Object.keys(schema(messages!)['properties'] as object).sort()).toEqual(
        ['attachmentCount', 'chat', 'date', 'from', 'hasAttachments', 'id', 'replyTo', 'service']);
      for (const each of [schema(mail!), schema(messages!)]) {
        expect([...(each['required'] as string[])].sort()).toEqual(Object.keys(each['properties'] as object).sort());
        schemaChecker().compile(each);
      }
    });
    test('descriptor-meta: an object if there is one', async () => {
      for (const descriptor of await descriptorsOf(client)) expect(['undefined', 'object']).toContain(typeof descriptor['_meta']);
    });
  });

  describe('errors', () => {
    test('error-not-found, error-server-range: an unknown event name', async () => {
      const error = errorOf(await client.request('events/poll', { name: 'conformance.nonexistent.x', arguments: {} }));
      expect(error).toMatchObject({ code: CODE.notFound, data: { kind: 'event' } });
      expect(error.code).toBeGreaterThanOrEqual(-32099);
      expect(error.code).toBeLessThanOrEqual(-32000);
    });
    test('error-unsupported: subscribe and unsubscribe on a type without webhook (ruling 24)', async () => {
      for (const method of ['events/subscribe', 'events/unsubscribe']) {
        const error = errorOf(await client.request(method, { name: MAIL, arguments: mailArgs, delivery: { mode: 'webhook', url: 'https://hooks.example.net/a' } }));
        expect(error).toMatchObject({ code: CODE.unsupported, data: { feature: 'deliveryMode', value: 'webhook' } });
      }
    });
  });

  describe('eras and the switch', () => {
    test('own-era-switch-off, fallback-method-not-found: all types off is no declaration and -32601', async () => {
      await using off = await way.world({ settings: { events: { 'mail.received': false, 'messages.received': false } } });
      const peer = way.client(off);
      expect((await discover(peer))['capabilities']).not.toHaveProperty('extensions');
      for (const method of ['events/list', 'events/poll', 'events/stream', 'events/subscribe', 'events/unsubscribe']) {
        expect(errorOf(await peer.request(method, { name: MAIL, arguments: mailArgs })).code, method).toBe(CODE.methodNotFound);
      }
    });
    test('wire-schema-valid: all traffic of this connection and of two streams, against the published schemas', async () => {
      const descriptors = await descriptorsOf(client);
      await client.stream(MAIL, mailArgs, {}, 'mail');
      await client.stream(MESSAGES, messagesArgs, {}, 'messages');
      await Promise.all([ring(world), text(world)]);
      await Promise.all([client.untilEvents(1, 'mail'), client.untilEvents(1, 'messages')]);
      expect(trafficFaults(client, descriptors)).toEqual([]);
    });
  });
}
