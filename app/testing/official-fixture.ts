import {
  acceptedContent, completable, createRequestStateCodec, fromJsonSchema, inputRequired, McpServer, ResourceTemplate, type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { EnvelopeIndex } from '../apple/mail/envelope-index.ts';
import type { ChatDatabase } from '../apple/messages/chat-database.ts';
import { AttachmentCache } from '../delivery/attachment-cache.ts';
import { backendOf } from '../engine/backend.ts';
import type { Engine } from '../engine/engine.ts';
import { HttpEndpoint } from '../endpoint/http/http-endpoint.ts';
import { systemClock } from '../events/clock.ts';
import { CredentialServer } from '../mcp/credential-server.ts';
import type { Backend } from '../mcp/session.ts';
import { TestCredentials } from './test-credentials.ts';
import type { World } from './world.ts';

/**
 * The tools, resources and prompts that the official suite calls by name, on Belfry's own endpoint: what travels over it
 * is then graded also where Belfry itself has nothing of the kind (pictures, prompts, questions to the client).
 */
class FixtureServer extends CredentialServer {
  readonly #engine: Engine;

  constructor(engine: Engine, backend: Backend, id: string) {
    super({ identity: { name: 'fixture', version: '1' }, backend, principal: { id }, onemit: () => undefined });
    this.#engine = engine;
  }

  protected override serverFor(): McpServer {
    const server = new McpServer({ name: 'fixture', version: '1' }, {
      capabilities: { tools: { listChanged: true }, resources: { listChanged: true }, prompts: {}, completions: {}, logging: {} },
      cacheHints: Object.fromEntries(['server/discover', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'resources/read'].map((method) => [method, { ttlMs: 1000, cacheScope: 'private' as const }])),
      requestState: { verify: state.verify },
    });
    registerContent(server, () => this.#toolsChange());
    registerQuestions(server);
    registerResources(server);
    registerPrompts(server);
    return server;
  }

  /** What Belfry would list for this client is not what it was: whoever listens for that is told. */
  #toolsChange(): void {
    const { policy } = this.#engine;
    const { id } = this.principal;
    policy.allowClient(id, { grants: policy.reach(this.principal, 'mail') === null ? ['mail'] : [] });
    this.policyChanged();
  }
}

/** An endpoint that serves the fixture to anybody with a token of a test. */
export async function startFixture({ engine, folder }: World): Promise<{ readonly url: string; close(): Promise<void> }> {
  const backend = backendOf(engine, {
    mail: engine.hub('mail.received').reader as EnvelopeIndex, messages: engine.hub('messages.received').reader as ChatDatabase, attachments: new AttachmentCache(folder.at('attachments'), { now: () => engine.clock.now() }),
  });
  const endpoint = new HttpEndpoint({
    clock: systemClock, credentials: new TestCredentials(), routes: { handle: () => false, challenge: () => 'Bearer' },
    handler: {
      serve: ({ identity, label }) => {
        engine.policy.seen(identity, label);
        return new FixtureServer(engine, backend, identity.id);
      },
      away: () => undefined,
      fault: (error) => console.error(error),
    },
  });
  await endpoint.listen(0);
  return { url: `${endpoint.origin}/mcp`, close: () => endpoint.close(null) };
}

const state = createRequestStateCodec({ key: 'a key of the fixture, and of no other server' });
const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const SOUND = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';
const text = (words: string) => ({ type: 'text' as const, text: words });
const picture = { type: 'image' as const, data: PICTURE, mimeType: 'image/png' };
const embedded = (uri: string, mimeType: string, words: string) => ({ type: 'resource' as const, resource: { uri, mimeType, text: words } });
const NOTHING = z.object({});

function registerContent(server: McpServer, toolsChange: () => void): void {
  const tool = (name: string, answer: (ctx: ServerContext) => object) => {
    server.registerTool(name, { description: name, inputSchema: NOTHING }, (_args, ctx) => answer(ctx) as never);
  };
  tool('test_simple_text', () => ({ content: [text('This is a simple text response for testing.')] }));
  tool('test_image_content', () => ({ content: [picture] }));
  tool('test_audio_content', () => ({ content: [{ type: 'audio', data: SOUND, mimeType: 'audio/wav' }] }));
  tool('test_embedded_resource', () => ({ content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')] }));
  tool('test_multiple_content_types', () => ({
    content: [text('Multiple content types test:'), picture, embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}')],
  }));
  tool('test_error_handling', () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  tool('test_logging_tool', () => ({ content: [text('Nothing was logged.')] }));
  tool('test_trigger_tool_change', () => {
    toolsChange();
    return { content: [text('The tools are others now.')] };
  });
  tool('test_tool_with_logging', (async ({ mcpReq }: ServerContext) => {
    for (const words of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', words);
      await new Promise((done) => setTimeout(done, 50));
    }
    return { content: [text('Logged.')] };
  }) as never);
  tool('test_tool_with_progress', (async ({ mcpReq }: ServerContext) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await new Promise((done) => setTimeout(done, 50));
    }
    return { content: [text('Done.')] };
  }) as never);
  server.registerTool('test_header_tool', { description: 'Repeats an argument in a header', inputSchema: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }) }, ({ region }) => ({ content: [text(region)] }));
  server.registerTool('json_schema_2020_12_tool', {
    description: 'A schema of 2020-12',
    inputSchema: fromJsonSchema({
      $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', additionalProperties: false,
      $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' }, contactMethod: { type: 'string', enum: ['phone', 'email'] }, phone: { type: 'string' }, email: { type: 'string' } },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      ...JSON.parse('{"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]}}') as object,
    }),
  }, () => ({ content: [text('Fine.')] }));
}

const ask = (message: string, properties: object) => inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required: Object.keys(properties) } as never });

function registerQuestions(server: McpServer): void {
  const tool = (name: string, answer: (ctx: ServerContext) => object | Promise<object>) => {
    server.registerTool(name, { description: name, inputSchema: NOTHING }, async (_args, ctx) => (await answer(ctx)) as never);
  };
  const answered = ({ mcpReq }: ServerContext, ...keys: string[]) => keys.every((key) => mcpReq.inputResponses !== undefined && Object.hasOwn(mcpReq.inputResponses, key));
  const name = { user_name: ask('What is your name?', { name: { type: 'string' } }) };
  const sample = (words: string, maxTokens: number) => inputRequired.createMessage({ messages: [{ role: 'user', content: text(words) }], maxTokens });
  tool('test_input_required_result_elicitation', (ctx) => {
    const given = acceptedContent<{ name: string }>(ctx.mcpReq.inputResponses, 'user_name');
    return typeof given?.name === 'string' ? { content: [text(`Hello, ${given.name}!`)] } : inputRequired({ inputRequests: name });
  });
  tool('test_missing_capability', () => inputRequired({ inputRequests: { greeting: sample('Greet', 50) } }));
  tool('test_streaming_elicitation', () => inputRequired({ inputRequests: name }));
  tool('test_input_required_result_sampling', (ctx) => (answered(ctx, 'capital_question') ? { content: [text('Paris')] } : inputRequired({ inputRequests: { capital_question: sample('What is the capital of France?', 100) } })));
  tool('test_input_required_result_list_roots', (ctx) => (answered(ctx, 'client_roots')
    ? { content: [text(JSON.stringify(ctx.mcpReq.inputResponses!['client_roots']))] } : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })));
  tool('test_input_required_result_capabilities', (ctx) => {
    const { elicitation, sampling, roots } = (ctx.mcpReq.envelope as unknown as Record<string, Record<string, object>>)['io.modelcontextprotocol/clientCapabilities'] ?? {};
    return inputRequired({ inputRequests: { ...(elicitation && name), ...(sampling && { greeting: sample('Greet', 50) }), ...(roots && { client_roots: inputRequired.listRoots() }) } });
  });
  const stateful = (tool_: string, requests: Parameters<typeof inputRequired>[0]['inputRequests'], words: string) => tool(tool_, async (ctx) => (answered(ctx, ...Object.keys(requests!)) && ctx.mcpReq.requestState() !== undefined
    ? { content: [text(words)] } : inputRequired({ inputRequests: requests!, requestState: await state.mint({ round: 1 }) })));
  stateful('test_input_required_result_request_state', { confirm: ask('Please confirm', { ok: { type: 'boolean' } }) }, 'state-ok');
  stateful('test_input_required_result_tampered_state', { confirm: ask('Please confirm', { ok: { type: 'boolean' } }) }, 'state-ok');
  stateful('test_input_required_result_multiple_inputs', { ...name, greeting: sample('Generate a greeting', 50), client_roots: inputRequired.listRoots() }, 'All of it came.');
  tool('test_input_required_result_multi_round', async (ctx) => {
    const held = ctx.mcpReq.requestState<{ round: number }>();
    if (held?.round === 2 && answered(ctx, 'step2')) return { content: [text('Done.')] };
    return held?.round === 1 && answered(ctx, 'step1')
      ? inputRequired({ inputRequests: { step2: ask('Step 2: What is your favorite color?', { color: { type: 'string' } }) }, requestState: await state.mint({ round: 2 }) })
      : inputRequired({ inputRequests: { step1: ask('Step 1: What is your name?', { name: { type: 'string' } }) }, requestState: await state.mint({ round: 1 }) });
  });
}

function registerResources(server: McpServer): void {
  server.registerResource('text', 'test://static-text', { mimeType: 'text/plain' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
  }));
  server.registerResource('binary', 'test://static-binary', { mimeType: 'image/png' }, (uri) => ({ contents: [{ uri: uri.href, mimeType: 'image/png', blob: PICTURE }] }));
  server.registerResource('template', new ResourceTemplate('test://template/{id}/data', { list: undefined }), { mimeType: 'application/json' }, (uri, { id }) => ({
    contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }) }],
  }));
}

function registerPrompts(server: McpServer): void {
  const says = (...contents: object[]) => ({ messages: contents.map((content) => ({ role: 'user', content })) }) as never;
  server.registerPrompt('test_simple_prompt', { description: 'test_simple_prompt' }, () => says(text('This is a simple prompt for testing.')));
  server.registerPrompt('test_prompt_with_image', { description: 'test_prompt_with_image' }, () => says(picture, text('Please analyze the image above.')));
  const word = completable(z.string(), (start) => ['paris', 'park', 'party'].filter((each) => each.startsWith(start)));
  server.registerPrompt('test_prompt_with_arguments', { description: 'test_prompt_with_arguments', argsSchema: z.object({ arg1: word, arg2: z.string() }) }, ({ arg1, arg2 }) => says(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)));
  server.registerPrompt('test_prompt_with_embedded_resource', { description: 'test_prompt_with_embedded_resource', argsSchema: z.object({ resourceUri: z.string() }) }, ({ resourceUri }) => says(
    embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'), text('Please process the embedded resource above.')));
  server.registerPrompt('test_input_required_result_prompt', { description: 'test_input_required_result_prompt' }, (ctx) => {
    const given = acceptedContent<{ context: string }>(ctx.mcpReq.inputResponses, 'user_context');
    return (given === undefined ? inputRequired({ inputRequests: { user_context: ask('What context should the prompt use?', { context: { type: 'string' } }) } }) : says(text(given.context))) as never;
  });
}
