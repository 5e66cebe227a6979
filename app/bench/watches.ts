import Database from 'better-sqlite3';
import { existsSync, statSync } from 'node:fs';
import { nativeFile } from '../engine/host.ts';
import { WatchStore } from '../delivery/watch-store.ts';
import { ITEM_STATE, newWatchId } from '../delivery/watch.ts';
import { median, msBetween, percentile } from './samples.ts';
import type { ShimClient } from './shim-client.ts';
import { openStage, type Stage } from './stage.ts';
import type { Figure } from './table.ts';

const SENDER = 'ann@example.org';
const ARRIVALS = 300;
const PER_SECOND = 25;
const WARM_UP = 50;
const WATCHES = 1000;
const OF_ONE = 200;
const ITEMS = 100;

/** Clients as they are today, beside the event's own way: waiting tools, the channel, and many watches. */
export async function watches(): Promise<Figure[]> {
  return [await added('wait_for_events', waits), await added('the channel', pushes), ...await many()];
}

type Told = Map<string, bigint>;

/** The same arrivals on a stream and by another way: what the other way adds. */
async function added(what: string, open: (stage: Stage) => Promise<{ told: Told; stop: () => void }>): Promise<Figure> {
  await using stage = await openStage();
  const stream = stage.client();
  stream.send('events/stream', { name: 'mail.received', arguments: { from: [SENDER] } }, 1);
  if (!(await stream.until(() => stream.active === 1))) throw new Error('The stream did not open.');
  const other = await open(stage);
  await stage.writer.burst({ store: 'mail', n: WARM_UP, perSecond: 50, senders: [SENDER] });
  const arrivals = await stage.writer.burst({ store: 'mail', n: ARRIVALS, perSecond: PER_SECOND, senders: [SENDER] });
  await stream.until(() => stream.heard.length >= ARRIVALS + WARM_UP, 3000);
  for (const end = performance.now() + 3000; other.told.size < ARRIVALS + WARM_UP && performance.now() < end;) await new Promise((done) => setTimeout(done, 20));
  other.stop();
  const heard = new Map(stream.heard.map(({ rowid, at, eventId }) => [rowid, { at, eventId }]));
  const own: number[] = [];
  const ms: number[] = [];
  for (const { rowid, committedAt } of arrivals) {
    const event = heard.get(rowid);
    const at = event && other.told.get(event.eventId);
    if (!event || at === undefined) continue;
    own.push(msBetween(committedAt, event.at));
    ms.push(msBetween(committedAt, at));
  }
  const more = ms.map((each, nth) => each - own[nth]!);
  return {
    figure: `${what}: COMMIT to last byte read, ${ARRIVALS} arrivals`,
    measured: [
      { what: 'added, median', value: median(more), unit: 'ms', atMost: 1 }, { what: 'median', value: median(ms), unit: 'ms' }, { what: 'p99', value: percentile(ms, 0.99), unit: 'ms' },
      { what: 'lost', value: ARRIVALS - ms.length, unit: '', atMost: 0 },
    ],
    against: `the event's own way: median ${median(own).toFixed(2)} ms, p99 ${percentile(own, 0.99).toFixed(1)} ms`,
    samples: { ms, own },
  };
}

/** A client that waits, confirms and waits again. */
async function waits(stage: Stage): Promise<{ told: Told; stop: () => void }> {
  const client = stage.client();
  client.send('tools/call', { name: 'watch_events', arguments: { event: 'mail.received', arguments: { from: [SENDER] } } }, 1);
  await client.answer(1);
  const told: Told = new Map();
  const stop = new AbortController();
  void (async () => {
    let confirm: string | undefined;
    for (let id = 2; !stop.signal.aborted; id += 1) {
      client.send('tools/call', { name: 'wait_for_events', arguments: { timeoutSeconds: 50, limit: 100, ...(confirm !== undefined && { confirm }) } }, id);
      const { at, text } = await client.answer(id);
      client.others.length = 0;
      const { batch, items } = (JSON.parse(text) as { result: { structuredContent: { batch: string | null; items: { eventId: string }[] } } }).result.structuredContent;
      for (const { eventId } of items) if (!told.has(eventId)) told.set(eventId, at);
      confirm = batch ?? undefined;
    }
  })().catch(() => undefined);
  return { told, stop: () => stop.abort() };
}

async function pushes(stage: Stage): Promise<{ told: Told; stop: () => void }> {
  const client = stage.client([nativeFile('belfry-mcp'), '--client=bench', '--channel', '--socket']);
  await handshake(client);
  client.sendAs({ id: 2, method: 'tools/call', params: { name: 'watch_events', arguments: { event: 'mail.received', arguments: { from: [SENDER] } } } });
  await client.answer(2);
  const told: Told = new Map();
  const timer = setInterval(() => {
    for (const { at, text } of client.others.splice(0)) {
      const id = /"event_id":"([^"]+)"/.exec(text)?.[1];
      if (id !== undefined && !told.has(id)) told.set(id, at);
    }
  }, 10);
  return { told, stop: () => clearInterval(timer) };
}

async function handshake(client: ShimClient): Promise<void> {
  client.sendAs({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } } });
  await client.answer(1);
  client.sendAs({ method: 'notifications/initialized' });
}

/** The identity under which this process's helpers are known: whose watch it is says so. */
async function ownIdentity(): Promise<string> {
  await using stage = await openStage();
  const client = stage.client();
  client.send('tools/call', { name: 'watch_events', arguments: { event: 'mail.received', arguments: { from: [SENDER] } } }, 1);
  await client.answer(1);
  const db = new Database(`${stage.dataDir}/state.db`, { readonly: true });
  const own = db.prepare('SELECT client FROM watch').pluck().get() as string;
  db.close();
  return own;
}

async function many(): Promise<Figure[]> {
  const own = await ownIdentity();
  let seeded = 0;
  const prepare = async (writer: Stage['writer'], dataDir: string) => {
    await writer.burst({ store: 'mail', n: ITEMS, perSecond: 1000, senders: [SENDER] });
    const { result: mails } = await writer.store.query<{ row: number; id: number }>('mail', 'SELECT ROWID AS row, global_message_id AS id FROM messages ORDER BY ROWID DESC LIMIT ?', ITEMS);
    const { result: [uuid] } = await writer.store.query<{ value: string }>('mail', `SELECT value FROM properties WHERE key = 'UUID'`);
    seeded = seed(`${dataDir}/state.db`, own, mails.map(({ row, id }) => ({ row, eventId: `${uuid!.value.slice(0, 8)}-${id}` })));
  };
  await using stage = await openStage({ prepare });
  const before = sizeOf(stage.dataDir);
  const client = stage.client();
  const asks: number[] = [];
  for (let id = 1; id <= 220; id += 1) {
    const from = process.hrtime.bigint();
    client.send('tools/call', { name: 'check_inbox', arguments: { limit: 20 } }, id);
    const { at, text } = await client.answer(id);
    if (!text.includes('"hasMore":true')) throw new Error(`Nothing was unread: ${text.slice(0, 200)}`);
    client.others.length = 0;
    if (id > 20) asks.push(msBetween(from, at));
  }

  // A notice of the last watch leaves after the items of all were kept.
  const follower = stage.client([nativeFile('belfry-mcp'), '--client=bench', '--socket']);
  await handshake(follower);
  follower.sendAs({ id: 2, method: 'resources/subscribe', params: { uri: 'belfry://status' } });
  await follower.answer(2);
  await stage.writer.burst({ store: 'mail', n: 20, perSecond: 10, senders: [SENDER] });
  await new Promise((done) => setTimeout(done, 300));
  follower.others.length = 0;
  const n = 200;
  const arrivals = await stage.writer.burst({ store: 'mail', n, perSecond: 10, senders: [SENDER] });
  await follower.until(() => follower.others.length >= n, 5000);
  const told = follower.others.map(({ at }) => at);
  const fanOut = arrivals.map(({ committedAt }) => told.find((at) => at > committedAt)).flatMap((at, nth) => (at === undefined ? [] : [msBetween(arrivals[nth]!.committedAt, at)]));
  const grown = sizeOf(stage.dataDir) - before;
  const usage = await stage.usage();
  return [
    {
      figure: `${WATCHES} watches, ${seeded} waiting items: an arrival that all of them match is kept for each, ${n} arrivals`,
      measured: [
        { what: 'p99', value: percentile(fanOut, 0.99), unit: 'ms', atMost: 50 }, { what: 'median', value: median(fanOut), unit: 'ms' }, { what: 'lost', value: n - fanOut.length, unit: '', atMost: 0 },
        { what: 'engine', value: usage.peakRssMb, unit: 'MB' },
      ],
      against: 'COMMIT to the change notice behind the helper, which follows the keeping',
      samples: { fanOut },
    },
    {
      figure: `the same: check_inbox of a client with ${OF_ONE} watches and ${OF_ONE * ITEMS} unread, 20 items an answer`,
      measured: [{ what: 'median', value: median(asks), unit: 'ms', atMost: 5 }, { what: 'p99', value: percentile(asks, 0.99), unit: 'ms' }],
      samples: { asks },
    },
    {
      figure: 'the same: state.db',
      measured: [
        { what: 'for 100,000 items', value: before / 1_000_000, unit: 'MB', atMost: 10 }, { what: 'a waiting item', value: grown / ((n + 20) * WATCHES), unit: 'bytes', atMost: 100 },
      ],
      against: `at most 1,000 unread and 200 remembered items a watch and 2,000 watches; the write-ahead log is counted in`,
    },
  ];
}

/** Watches of five clients, one of them ours, with the same arrivals waiting in each. Gives the number of items. */
function seed(file: string, own: string, mails: readonly { row: number; eventId: string }[]): number {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  new WatchStore(db).watches();
  const insert = db.prepare('INSERT INTO watch (id, client, type, arguments, created_at) VALUES (?, ?, ?, ?, ?)');
  const item = db.prepare('INSERT INTO watch_item (client, event, watch, state) VALUES (?, ?, ?, ?)');
  let items = 0;
  db.transaction(() => {
    const events = mails.map(({ row, eventId }) => Number(db.prepare('INSERT INTO watch_event (type, event_id, store_row, at) VALUES (?, ?, ?, ?)').run('mail.received', eventId, row, Date.now()).lastInsertRowid));
    for (let nth = 0; nth < WATCHES; nth += 1) {
      const client = nth < OF_ONE ? own : `0000000${Math.floor(nth / OF_ONE)}`;
      const { lastInsertRowid } = insert.run(newWatchId(), client, 'mail.received', JSON.stringify({ from: [SENDER, `w${nth}@example.org`] }), Date.now());
      for (const event of events) item.run(client, event, lastInsertRowid, ITEM_STATE.waiting);
      items += events.length;
    }
  })();
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  return items;
}

const sizeOf = (dataDir: string): number => ['', '-wal'].map((end) => `${dataDir}/state.db${end}`).reduce((sum, path) => sum + (existsSync(path) ? statSync(path).size : 0), 0);
