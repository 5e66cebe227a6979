import type { Principal } from '../events/verdict.ts';
import { MAIL, mailArgs } from './conformance-kit.ts';
import type { RawClient } from './raw-client.ts';
import type { World } from './world.ts';

/** What a tool said as data; throws for a refusal. */
export async function ask(client: RawClient, name: string, args: object = {}): Promise<Record<string, any>> {
  const result = await client.tool(name, args);
  if (result['isError'] === true) throw new Error(`A refusal: ${String(result['content'][0].text)}`);
  return result['structuredContent'] as Record<string, any>;
}

/** The sentence of a refusal; throws where there was none. */
export async function refusal(client: RawClient, name: string, args: object = {}): Promise<string> {
  const result = await client.tool(name, args);
  if (result['isError'] !== true) throw new Error(`A refusal was expected: ${JSON.stringify(result['structuredContent'])}`);
  return result['content'][0].text as string;
}

/** Sets a watch; gives its id. */
export const watch = async (client: RawClient, args: object = mailArgs, event = MAIL): Promise<string> =>
  (await ask(client, 'watch_events', { event, arguments: args }))['watch'].watch as string;

export const subjectsOf = (answer: Record<string, any>): (string | null)[] =>
  (answer['items'] as Record<string, any>[]).map((item) => (item['data'] === null ? null : item['data'].subject as string));

/** Waits until a watch has this many unread items: they are kept in their own turn, after the streams. */
export async function untilUnread(world: World, count: number, id?: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (performance.now() < deadline) {
    const views = world.engine.watches.list(null).filter((view) => id === undefined || view.id === id);
    if (views.reduce((sum, view) => sum + view.waiting + view.sent, 0) >= count) return;
    await new Promise((done) => void setTimeout(done, 10));
  }
  throw new Error(`No ${count} unread items came: ${JSON.stringify(world.engine.watches.list(null))}`);
}

/** The identity under which this test's own clients are known. */
export function ownIdentity(world: World): Principal {
  for (const { identity } of world.engine.peers) if (identity) return { id: identity.id };
  throw new Error('No client is known yet');
}

/** Pushes of the channel that a client has had. */
export const pushes = (client: RawClient): Record<string, any>[] =>
  client.frames.filter(({ message }) => message['method'] === 'notifications/claude/channel').map(({ message }) => message['params'] as Record<string, any>);

export async function untilPushes(client: RawClient, count: number): Promise<Record<string, any>[]> {
  if (pushes(client).length < count) await client.until(() => pushes(client).length >= count, Math.max(0, client.frames.length - 1)).catch((error: unknown) => {
    if (pushes(client).length < count) throw error;
  });
  return pushes(client);
}
