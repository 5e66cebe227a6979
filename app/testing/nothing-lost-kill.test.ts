import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findCanary } from './canary.ts';
import { KillableEngine } from './killable-engine.ts';
import { Random } from './random.ts';
import { RawClient } from './raw-client.ts';
import { startWorld, type World } from './world.ts';

/** Schedules with a real `kill -9` of the engine. `BELFRY_SEED=n` runs one again. */
const SCHEDULES = 25;
const FROM = 'ada@example.org';
const clients: RawClient[] = [];
let world: World;
const engine = new KillableEngine();

beforeAll(async () => {
  world = await startWorld({ start: false });
});
afterAll(async () => {
  for (const client of clients) client.process.kill('SIGKILL');
  await engine.kill();
  await world[Symbol.asyncDispose]();
});

/** One event type of one client: what it received over all its connections. */
class Listener {
  readonly #name: string;
  readonly received = new Set<string>();
  readonly #seen = new Map<string, number>();
  #client: RawClient | null = null;
  #stream = '';
  #opened = 0;
  cursor: string | null = null;

  constructor(name: string) {
    this.#name = name;
  }

  async connect(socket: string, surviving: boolean): Promise<void> {
    if (this.#client === null || !surviving) {
      this.#client?.process.kill('SIGKILL');
      this.#client = new RawClient(socket);
      clients.push(this.#client);
    }
    for (let left = 20; ; left -= 1) {
      this.#opened += 1;
      this.#stream = `${this.#name}-${this.#opened}`;
      const answer = await this.#client.stream(this.#name, { domains: ['example.org'] }, { cursor: this.cursor }, this.#stream);
      if (answer['method'] === 'notifications/events/active') {
        expect(answer['params'].truncated, 'no store became another').toBe(false);
        this.cursor ??= answer['params'].cursor;
        return;
      }
      if (left === 0) throw new Error(`No stream: ${JSON.stringify(answer)}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Reads what came on the present stream. */
  take(): void {
    const events = this.#client!.events(this.#stream);
    for (const event of events.slice(this.#seen.get(this.#stream) ?? 0)) {
      this.received.add(event['eventId']);
      this.cursor = event['cursor'];
    }
    this.#seen.set(this.#stream, events.length);
    expect(new Set(events.map((event) => event['eventId'])).size, 'one stream sends an event once').toBe(events.length);
  }

  async until(eventIds: readonly string[]): Promise<void> {
    const end = Date.now() + 8000;
    for (;;) {
      this.take();
      const lost = eventIds.filter((id) => !this.received.has(id));
      if (lost.length === 0) return;
      if (Date.now() > end) throw new Error(`${this.#name}: never came: ${lost.join(', ')}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

test(`a kill -9 of the engine loses nothing, ${SCHEDULES} times`, { timeout: 150_000 }, async () => {
  const { writer } = world;
  const only = process.env['BELFRY_SEED'];
  const seeds = only === undefined ? Array.from({ length: SCHEDULES }, (_, index) => index + 1) : [Number(only)];
  const [mail, messages] = [new Listener('mail.received'), new Listener('messages.received')];
  const owed = { mail: [] as string[], messages: [] as string[] };
  const refused = new Set<string>();
  const uuid = (await writer.store.query<{ value: string }>('mail', `SELECT value FROM properties WHERE key = 'UUID'`)).result[0]!.value.slice(0, 8);
  const mailId = async (rowid: number) =>
    `${uuid}-${(await writer.store.query<{ id: number }>('mail', 'SELECT global_message_id AS id FROM messages WHERE ROWID = ?', rowid)).result[0]!.id}`;
  const guid = async (rowid: number) => (await writer.messages.guid(rowid)).result;

  const arrive = async (random: Random): Promise<void> => {
    const way = random.between(0, 6);
    if (way <= 1) owed.mail.push(await mailId((await writer.mail.arrive({ from: { address: FROM }, attachments: random.chance(0.3) ? ['a.pdf'] : [] })).result));
    else if (way <= 3) owed.messages.push(await guid((await writer.messages.arrive({ from: FROM, attachments: random.chance(0.3) ? ['a.jpeg'] : [] })).result));
    else if (way === 4) refused.add(await mailId((await writer.mail.arrive({ from: { address: 'x@other.example' } })).result));
    else if (way === 5) refused.add(await guid((await writer.messages.sent({ from: FROM })).result));
    else {
      const message = { from: FROM };
      const rowid = (await writer.messages.arriveRowFirst(message)).result;
      owed.messages.push(await guid(rowid));
      if (random.chance(0.5)) await writer.messages.joinLater(rowid, message);
    }
  };

  for (const seed of seeds) {
    const random = new Random(seed);
    try {
      const socket = await engine.start(world);
      const surviving = random.chance(0.5);
      await Promise.all([mail.connect(socket, surviving), messages.connect(socket, surviving)]);
      for (let left = random.between(1, 5); left > 0; left -= 1) await arrive(random);
      // Sometimes in the middle of it, sometimes after everything went out.
      await new Promise((resolve) => setTimeout(resolve, random.pick([0, 1, 3, 10, 60, 300])));
      mail.take();
      messages.take();
      await engine.kill();
      for (let left = random.between(0, 4); left > 0; left -= 1) await arrive(random);
    } catch (error) {
      throw new Error(`BELFRY_SEED=${seed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
  const socket = await engine.start(world);
  await Promise.all([mail.connect(socket, false), messages.connect(socket, false)]);
  await Promise.all([mail.until(owed.mail), messages.until(owed.messages)]);
  for (const id of [...mail.received, ...messages.received]) expect(refused.has(id), `sent though it must not be: ${id}`).toBe(false);
  expect(owed.mail.length + owed.messages.length).toBeGreaterThan(seeds.length);
  await engine.kill();

  // Bodies, previews, texts and file names stand nowhere.
  for (const client of clients) for (const frame of client.frames) expect(findCanary(frame.text)).toBeNull();
  for (const client of clients) expect(findCanary(client.stderr)).toBeNull();
  expect(findCanary(engine.logs.join('\n'))).toBeNull();
  const files = readdirSync(world.dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.map((file) => file.name)).toContain('state.db');
  for (const file of files) expect(findCanary(readFileSync(join(file.parentPath, file.name))), file.name).toBeNull();
});
