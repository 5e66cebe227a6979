import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { nativeFile } from '../engine/host.ts';
import { CODE, EXTENSION, MAIL, mailArgs, MESSAGES, messagesArgs, ring, text } from './conformance-kit.ts';
import { startWorld, type World } from './world.ts';

const listResult = z.looseObject({ events: z.array(z.looseObject({ name: z.string() })) });
const pollResult = z.looseObject({ events: z.array(z.looseObject({ eventId: z.string(), data: z.looseObject({}) })), cursor: z.string(), truncated: z.boolean(), hasMore: z.boolean() });
const streamResult = z.looseObject({});
const anything = z.looseObject({});

/** The official client behind the real shim, with what it was notified of. */
async function connect(world: World): Promise<{ client: Client; heard: { method: string; params: Record<string, any> }[] }> {
  const client = new Client({ name: 'official', version: '1.0.0' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const heard: { method: string; params: Record<string, any> }[] = [];
  for (const kind of ['active', 'event', 'heartbeat', 'error', 'terminated']) {
    const method = `notifications/events/${kind}`;
    client.setNotificationHandler(method, { params: anything }, (params) => void heard.push({ method: kind, params }));
  }
  await client.connect(new StdioClientTransport({ command: nativeFile('belfry-mcp'), args: ['--client=official', '--socket', world.engine.socketPath] }));
  return { client, heard };
}

test('the official client finds the extension, lists, polls and gets errors with their codes', async () => {
  await using world = await startWorld();
  const { client } = await connect(world);
  try {
    expect(client.getServerCapabilities()?.extensions).toEqual({ [EXTENSION]: {} });
    const { events } = await client.request({ method: 'events/list' }, listResult);
    expect(events.map((event) => event.name)).toEqual([MAIL, MESSAGES]);
    const first = await client.request({ method: 'events/poll', params: { name: MAIL, arguments: mailArgs, cursor: null } }, pollResult);
    expect(first.events).toEqual([]);
    await ring(world, 'Polled');
    const second = await client.request({ method: 'events/poll', params: { name: MAIL, arguments: mailArgs, cursor: first.cursor } }, pollResult);
    expect(second.events.map((event) => event.data['subject'])).toEqual(['Polled']);
    await expect(client.request({ method: 'events/poll', params: { name: 'none', arguments: {} } }, pollResult)).rejects.toMatchObject({ code: CODE.notFound });
    await expect(client.request({ method: 'events/poll', params: { name: MAIL, arguments: {} } }, pollResult)).rejects.toMatchObject({ code: CODE.invalidParams });
  } finally {
    await client.close();
  }
});

test('the official client holds a stream, cancels it by abort, and sees another one end', async () => {
  await using world = await startWorld();
  const { client, heard } = await connect(world);
  try {
    const abort = new AbortController();
    const mail = client.request({ method: 'events/stream', params: { name: MAIL, arguments: mailArgs } }, streamResult, { signal: abort.signal, timeout: 60_000 });
    mail.catch(() => undefined);
    const messages = client.request({ method: 'events/stream', params: { name: MESSAGES, arguments: messagesArgs } }, streamResult, { timeout: 60_000 });
    await expect.poll(() => heard.filter(({ method }) => method === 'active').length).toBe(2);
    await ring(world, 'Streamed');
    await text(world);
    await expect.poll(() => heard.filter(({ method }) => method === 'event').map(({ params }) => params['name'] as string).sort()).toEqual([MAIL, MESSAGES]);
    abort.abort();
    await expect(mail).rejects.toThrow();
    await expect.poll(() => world.engine.hub(MAIL).size).toBe(0);
    world.engine.policy.setEvent(MESSAGES, false);
    // The final result, after `terminated`.
    expect(await messages).toBeTypeOf('object');
    await expect.poll(() => heard.at(-1)).toMatchObject({ method: 'terminated', params: { error: { code: CODE.notFound } } });
    expect(heard.filter(({ method }) => method === 'event')).toHaveLength(2);
  } finally {
    await client.close();
  }
});
