import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { declarations, licences } from '../mcp/emission.ts';
import { CODE, errorOf, MAIL, mailArgs, MESSAGES, messagesArgs, ring } from './conformance-kit.ts';
import { licenceRules } from './licence-audit.ts';
import { modernMeta, type RawClient } from './raw-client.ts';
import { ask, ownIdentity, pushes, untilUnread, watch } from './watch-kit.ts';
import { startWorld, type World } from './world.ts';

/**
 * Two audits. First: a channel is surfaced if and only if it is declared, on the older handshake, to a session that opted
 * in. Second: what any code path can send, what was sent, and what licenses it are the same list, both ways round.
 */
const app = fileURLToPath(new URL('../', import.meta.url));
const table = declarations as Record<string, object>;
const original = { ...declarations } as Record<string, object>;
afterEach(() => {
  Object.assign(table, original);
});

interface Cell {
  readonly declared: boolean;
  readonly era: 'legacy' | 'modern';
  readonly optedIn: boolean;
}
const cells: readonly Cell[] = [true, false].flatMap((declared) => (['legacy', 'modern'] as const).flatMap((era) => [true, false].map((optedIn) => ({ declared, era, optedIn }))));

/**
 * A client that registers by Claude Code's rule (peers.md 2): a listener exists only if the handshake of a legacy
 * connection holds the key and the session was started for the channel. Everything else is thrown away without a word.
 */
class StubSession {
  readonly client: RawClient;
  readonly optedIn: boolean;
  registered = false;

  constructor(client: RawClient, optedIn: boolean) {
    this.client = client;
    this.optedIn = optedIn;
  }
  async open(era: Cell['era']): Promise<void> {
    if (era === 'modern') {
      // It insists on the newer revision; whatever discover says, there is no channel on it.
      await this.client.request('server/discover');
      await this.client.request('tools/list');
      return;
    }
    const { capabilities } = await this.client.initialize();
    this.registered = this.optedIn && capabilities['experimental']?.['claude/channel'] !== undefined;
  }
  get surfaced(): number {
    return this.registered ? pushes(this.client).length : 0;
  }
}

/** In which cells an arrival was surfaced, each with an engine of its own. */
async function surfacedCells(lenient = false): Promise<Cell[]> {
  const found: Cell[] = [];
  for (const cell of cells) {
    await using world = await startWorld();
    const session = new StubSession(world.client(cell.declared ? ['--channel'] : [], lenient), cell.optedIn);
    await session.open(cell.era);
    await watch(session.client);
    await ring(world);
    await untilUnread(world, 1);
    // A push leaves in the turn in which the item was kept: an answer that was asked for later comes after it.
    await session.client.tool('list_watches');
    if (session.surfaced > 0) found.push(cell);
  }
  return found;
}

describe('declared if and only if surfaced', () => {
  test('of eight cells exactly one surfaces: declared, legacy, opted in', async () => {
    expect(await surfacedCells()).toEqual([{ declared: true, era: 'legacy', optedIn: true }]);
  }, 120_000);
  test('mutation: with the declaration deleted no cell surfaces, so the audit fails', async () => {
    delete table['experimental.claude/channel'];
    expect(await surfacedCells(true)).toEqual([]);
  }, 120_000);
  test('mutation: sent but left out of the handshake, it surfaces in no cell either', async () => {
    table['experimental.claude/channel'] = {};
    expect(await surfacedCells(true)).toEqual([]);
  }, 120_000);
  test('events/* answer -32601 if and only if the extension is not declared', async () => {
    await using world = await startWorld();
    const client = world.client();
    for (const on of [true, false]) {
      world.engine.policy.setEvent(MAIL, on);
      world.engine.policy.setEvent(MESSAGES, on);
      const { capabilities } = (await client.request('server/discover'))['result'] as { capabilities: object };
      const answer = await client.request('events/list');
      expect('extensions' in capabilities).toBe(on);
      expect(answer['error'] === undefined).toBe(on);
      if (!on) expect(errorOf(answer).code).toBe(CODE.methodNotFound);
    }
  });
});

/** Waits for what may never come in a mutated world. */
const attemptFor = (ms: number) => async (work: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work.catch(() => undefined), new Promise((done) => { timer = setTimeout(done, ms); })]);
  clearTimeout(timer);
};
const MUTATED_MS = 1500;
const heardOf = (clients: readonly RawClient[]): string[] => clients.flatMap((client) => client.frames.flatMap(({ message }) => ('method' in message ? [message['method'] as string] : [])));

/** Provokes every notification that there is, over real helpers. Gives the clients that heard. */
async function provokeAll(world: World, patience = 8000): Promise<RawClient[]> {
  const attempt = attemptFor(patience);
  const modern = world.client([], true);
  const channel = world.client(['--channel'], true);
  const catalogue = world.client([], true);
  const clients = [modern, channel, catalogue];
  const until = (client: RawClient, method: string) => (heardOf([client]).includes(method) ? Promise.resolve() : attempt(client.until(({ message }) => message['method'] === method)));
  await modern.request('server/discover');
  await channel.initialize();
  modern.send({ id: 'l', method: 'subscriptions/listen', params: { _meta: modernMeta, notifications: { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ['belfry://status'] } } });
  await until(modern, 'notifications/subscriptions/acknowledged');
  await attempt(modern.stream(MAIL, mailArgs, {}, 'm'));
  await attempt(modern.stream(MESSAGES, messagesArgs, {}, 't'));
  const id = await watch(channel);
  await attempt(channel.ask('resources/subscribe', { uri: `belfry://watch/${id}` }));
  await ring(world);
  await until(modern, 'notifications/events/event');
  await until(channel, 'notifications/claude/channel');
  await until(channel, 'notifications/resources/updated');
  await until(modern, 'notifications/resources/list_changed');
  await modern.tool('wait_for_events', { timeoutSeconds: 1 }, { _meta: { ...modernMeta, progressToken: 1 } });
  for (const hub of world.engine.hubs) hub.heartbeat();
  await until(modern, 'notifications/events/heartbeat');
  world.engine.policy.setSetting('ratePerHour', 1);
  await ring(world, 'Over the ceiling');
  await until(modern, 'notifications/events/error');
  // Declared while webhooks are switched on.
  world.engine.policy.addHosts(['hooks.example.net']);
  await catalogue.request('server/discover');
  catalogue.send({ id: 'c', method: 'subscriptions/listen', params: { _meta: modernMeta, notifications: { eventsListChanged: true } } });
  await until(catalogue, 'notifications/subscriptions/acknowledged');
  world.engine.policy.setEvent(MESSAGES, false);
  await until(modern, 'notifications/events/terminated');
  await until(catalogue, 'notifications/events/list_changed');
  world.engine.policy.denyClient(ownIdentity(world).id);
  await until(channel, 'notifications/tools/list_changed');
  return clients;
}

/** What is wrong between what was heard and what is licensed; empty if nothing is. */
async function emissionFaults(patience?: number): Promise<string[]> {
  await using world = await startWorld();
  const clients = await provokeAll(world, patience);
  const heard = new Set(heardOf(clients));
  return [
    ...Object.keys(licences).filter((method) => !heard.has(method)).map((method) => `${method} is licensed and was never heard`),
    ...[...heard].filter((method) => !Object.hasOwn(licences, method)).map((method) => `${method} was heard and is not licensed`),
    ...clients.flatMap((client) => client.licenceFaults),
  ];
}

describe('sent if and only if licensed', () => {
  test('the engine\'s table is that of the specifications', () => {
    expect(Object.keys(licences).sort()).toEqual(Object.keys(licenceRules).sort());
  });

  test('statically: every notification named in the sources is in the table or comes from clients, and none of the table is only a name', () => {
    const fromClients = new Set(['notifications/cancelled', 'notifications/initialized']);
    const named = new Map<string, string[]>();
    const writers: string[] = [];
    for (const file of sources(app)) {
      const text = readFileSync(file, 'utf8');
      const name = relative(app, file);
      // The other side: a client of any server, and a server for those who write clients.
      if (name.startsWith('probe/')) continue;
      for (const [method] of text.matchAll(/(?<=['"`])notifications\/[a-z_/]+[a-z]/g)) named.set(method, [...named.get(method) ?? [], name]);
      if (name.startsWith('mcp/') && /\.(?:write|end)\(/.test(text)) writers.push(name);
    }
    expect([...named.keys()].filter((method) => !Object.hasOwn(licences, method) && !fromClients.has(method))).toEqual([]);
    expect(Object.keys(licences).filter((method) => !named.get(method)?.some((name) => name !== 'mcp/emission.ts'))).toEqual([]);
    // The only places that write to a peer are behind the table.
    expect(writers).toEqual(['mcp/connection.ts', 'mcp/exchange.ts']);
    for (const [method, names] of named) if (names.some((name) => name.endsWith('.c'))) expect(fromClients.has(method), `${method} in the helper`).toBe(true);
  });

  test('at run time: all of the table is heard, nothing else is, each after the handshake that declares it', async () => {
    expect(await emissionFaults()).toEqual([]);
  });

  test.each(Object.keys(original))('mutation: %s deleted, or left out of the handshake, and the audit fails', async (name) => {
    const methods = Object.entries(licences).flatMap(([method, licence]) => (licence === name ? [method] : []));
    delete table[name];
    const deleted = await emissionFaults(MUTATED_MS);
    expect(deleted).toEqual(expect.arrayContaining(methods.map((method) => `${method} is licensed and was never heard`)));
    // A capability that the SDK itself looks at is then not served at all; else it is sent without a word in the handshake.
    table[name] = {};
    const silent = await emissionFaults(MUTATED_MS);
    for (const method of methods) {
      expect(silent.some((fault) => [`${method} is licensed and was never heard`, `${method} was never declared on this connection`].includes(fault)), `${method}: ${silent.join('; ')}`).toBe(true);
    }
  }, 120_000);

  test('one log line and one count for each notification: method, licence, connection, never what was in it', async () => {
    await using world = await startWorld();
    const clients = await provokeAll(world);
    const logged = () => world.log.filter((line) => line.startsWith('emitted '));
    // Each client hears its last ones in its own time.
    await expect.poll(() => logged().length - heardOf(clients).length).toBe(0);
    const sent = heardOf(clients);
    for (const line of logged()) expect(line).toMatch(/^emitted notifications\/[a-z_/]+, licence [\w./-]+, connection \d+$/);
    const counts = (lines: readonly string[]) => lines.reduce<Record<string, number>>((sum, method) => ({ ...sum, [method]: (sum[method] ?? 0) + 1 }), {});
    expect(counts(logged().map((line) => line.split(/[ ,]/)[1]!))).toEqual(counts(sent));
    const counted: Record<string, number> = {};
    for (const { connection } of world.engine.peers) for (const [{ method }, count] of connection.emitted) counted[method] = (counted[method] ?? 0) + count;
    expect(counted).toEqual(counts(sent));
    expect(world.log.filter((line) => line.startsWith('held back'))).toEqual([]);
  });

  test('a channel that was never declared is not even tried on other connections', async () => {
    await using world = await startWorld();
    const client = world.client();
    await client.initialize();
    await watch(client);
    await ring(world);
    await untilUnread(world, 1);
    await ask(client, 'list_watches');
    expect(world.log.filter((line) => /channel/.test(line))).toEqual([]);
  });
});

/** What ships: no tests, no stand-ins, no bench. */
function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ['testing', 'bench'].includes(relative(app, path)) ? [] : sources(path);
    return /\.(?:ts|c|h)$/.test(entry.name) && !/\.test\.ts$|stand-ins\.ts$/.test(entry.name) ? [path] : [];
  });
}
