import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { EnvelopeIndex } from '../apple/mail/envelope-index.ts';
import type { ChatDatabase } from '../apple/messages/chat-database.ts';
import { AttachmentCache } from '../delivery/attachment-cache.ts';
import { backendOf } from '../engine/backend.ts';
import type { Engine } from '../engine/engine.ts';
import { HttpEndpoint } from '../endpoint/http/http-endpoint.ts';
import { isEventType } from '../events/catalogue.ts';
import type { EventType } from '../events/occurrence.ts';
import { CredentialServer } from '../mcp/credential-server.ts';
import type { Backend } from '../mcp/session.ts';
import { TestCredentials } from './test-credentials.ts';
import type { World } from './world.ts';

/**
 * The tools by which a suite of the events extension brings about what only a server can: an error, a gap, an end, another
 * catalogue (conformance-rows.md, control tools). They are tests' own: nothing that ships imports them. The events methods
 * beside them are Belfry's, over its own endpoint and engine.
 */
class ControlledServer extends CredentialServer {
  readonly #engine: Engine;

  constructor(engine: Engine, backend: Backend, id: string) {
    super({ identity: { name: 'controlled', version: '1' }, backend, principal: { id }, onemit: () => undefined });
    this.#engine = engine;
  }

  protected override serverFor(): McpServer {
    const server = new McpServer({ name: 'controlled', version: '1' }, {
      capabilities: { tools: { listChanged: true }, extensions: { 'io.modelcontextprotocol/events': { listChanged: true } } },
      cacheHints: Object.fromEntries(['server/discover', 'tools/list'].map((method) => [method, { ttlMs: 0, cacheScope: 'private' as const }])),
    });
    registerControls(server, this.#engine, this.principal.id);
    return server;
  }
}

const NAME = z.object({ name: z.string().optional() });

function registerControls(server: McpServer, engine: Engine, client: string): void {
  const control = <S extends z.ZodObject>(name: string, input: S, work: (args: z.output<S>) => unknown) => {
    server.registerTool(`events_conformance_${name}`, { description: 'For tests of the events extension.', inputSchema: input }, ((args: z.output<S>) => {
      const value = work(args);
      return { content: [{ type: 'text', text: JSON.stringify(value ?? null) }] };
    }) as never);
  };
  const typeOf = (name: string | undefined): EventType => (name !== undefined && isEventType(name) ? name : 'mail.received');
  /** Those of this client: streams, or what keeps (webhooks). */
  const subscriptions = (name: string | undefined, keeps: boolean) =>
    [...engine.hub(typeOf(name)).subscriptions].filter((each) => each.keeps === keeps && each.principal.id === client);

  control('yield_error', NAME, ({ name }) => {
    const hit = subscriptions(name, false);
    for (const each of hit) each.holdFor('trouble', 'busy');
    for (const each of hit) each.release();
  });
  control('yield_gap', NAME, ({ name }) => {
    for (const each of subscriptions(name, false)) each.gap();
  });
  control('terminate', NAME, ({ name }) => {
    // Removed and there again: what was open ends, and may be opened anew.
    engine.policy.setEvent(typeOf(name), false);
    engine.policy.setEvent(typeOf(name), true);
  });
  control('catalog', NAME, ({ name = 'messages.received' }) => {
    const type = typeOf(name);
    engine.policy.setEvent(type, !engine.policy.eventOn(type));
  });
  control('allow_callback_origin', z.object({ origin: z.string() }), ({ origin }) => engine.policy.addHosts([new URL(origin).host]));
  control('webhook_gap', NAME, ({ name }) => {
    for (const each of subscriptions(name, true)) each.gap();
  });
  const own = () => engine.webhooks.list().filter((each) => each.client === client);
  control('webhook_terminate', NAME, ({ name }) => own().filter(({ type }) => name === undefined || type === name).map(({ id }) => engine.webhooks.stop(id)));
  control('subscription_exists', z.object({ id: z.string() }), ({ id }) => own().some((each) => each.id === id));
  control('subscription_state', z.object({ id: z.string() }), ({ id }) => own().find((each) => each.id === id));
}

/** An endpoint with the controls, for anybody with a token of a test. */
export async function startControls({ engine, folder }: World): Promise<{ readonly url: string; close(): Promise<void> }> {
  const backend = backendOf(engine, {
    mail: engine.hub('mail.received').reader as EnvelopeIndex, messages: engine.hub('messages.received').reader as ChatDatabase, attachments: new AttachmentCache(folder.at('attachments'), { now: () => engine.clock.now() }),
  });
  const servers = new Set<ControlledServer>();
  const ignore = engine.policy.onChange(() => {
    for (const each of servers) each.policyChanged();
  });
  const endpoint = new HttpEndpoint({
    clock: engine.clock, credentials: new TestCredentials(), routes: { handle: () => false, challenge: () => 'Bearer' },
    handler: {
      serve: ({ identity, label }) => {
        engine.policy.seen(identity, label);
        const server = new ControlledServer(engine, backend, identity.id);
        servers.add(server);
        return server;
      },
      away: () => undefined,
      fault: (error) => console.error(error),
    },
  });
  await endpoint.listen(0);
  return {
    url: `${endpoint.origin}/mcp`,
    close: async () => {
      ignore();
      await endpoint.close(null);
    },
  };
}
