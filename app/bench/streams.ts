import { median, msBetween, percentile } from './samples.ts';
import type { ShimClient } from './shim-client.ts';
import { openStage, type Stage } from './stage.ts';
import type { Figure } from './table.ts';

export const CONNECTIONS = 50;
export const STREAMS = 500;

/** 500 streams over 50 connections, each behind its own shim; the stream `n` listens to `senderOf(n)`. */
export async function openStreams(stage: Stage, senderOf: (stream: number) => string): Promise<ShimClient[]> {
  const clients: ShimClient[] = [];
  const each = STREAMS / CONNECTIONS;
  for (let at = 0; at < CONNECTIONS; at += 1) {
    const client = stage.client();
    clients.push(client);
    for (let nth = 0; nth < each; nth += 1) client.send('events/stream', { name: 'mail.received', arguments: { from: [senderOf(at * each + nth)] } }, at * each + nth);
    if (!(await client.until(() => client.active === each))) throw new Error(`Streams did not open: ${client.others[0]?.text}`);
  }
  return clients;
}

interface Load {
  readonly figure: string;
  /** Different senders, each heard by 500 / `senders` streams. */
  readonly senders: number;
  readonly perSecond: number;
  readonly seconds: number;
  readonly p99: number | null;
}

const loads: readonly Load[] = [
  { figure: '500 streams, 50 connections, 200 arrivals/s for 30 s, one match each', senders: 500, perSecond: 200, seconds: 30, p99: 10 },
  { figure: 'the same, 25 matches each', senders: 20, perSecond: 200, seconds: 30, p99: 50 },
  { figure: 'the same, all 500 match, 20 arrivals/s for 10 s', senders: 1, perSecond: 20, seconds: 10, p99: null },
];

export async function streams(): Promise<Figure[]> {
  const figures: Figure[] = [];
  // An engine for each: rings are counted by the hour.
  for (const load of loads) figures.push(await run(load));
  return figures;
}

async function run({ figure, senders, perSecond, seconds, p99 }: Load): Promise<Figure> {
  await using stage = await openStage();
  const matches = STREAMS / senders;
  const clients = await openStreams(stage, (stream) => `s${stream % senders}@example.org`);
  const names = Array.from({ length: senders }, (_, nth) => `s${nth}@example.org`);
  // The first arrivals compile what the others run.
  const warmUp = await stage.writer.burst({ store: 'mail', n: 100, perSecond: 50, senders: names });
  const before = await stage.usage();
  const n = perSecond * seconds;
  const arrivals = await stage.writer.burst({ store: 'mail', n, perSecond, senders: names });
  const heard = () => clients.reduce((sum, client) => sum + client.heard.length, 0);
  const wanted = (n + warmUp.length) * matches;
  for (const end = performance.now() + 5000; heard() < wanted && performance.now() < end;) await new Promise((done) => setTimeout(done, 20));
  const after = await stage.usage();

  const committed = new Map(arrivals.map(({ rowid, committedAt }) => [rowid, committedAt]));
  const ms: number[] = [];
  const known = new Set<string>();
  let twice = 0;
  for (const { rowid, at, stream, eventId } of clients.flatMap((client) => client.heard)) {
    const key = `${stream} ${eventId}`;
    if (known.has(key)) twice += 1;
    known.add(key);
    const from = committed.get(rowid);
    if (from !== undefined) ms.push(msBetween(from, at));
  }
  const tail = arrivals.slice(-perSecond).map(({ rowid }) => rowid);
  const last = new Set(tail);
  const behind = clients.flatMap((client) => client.heard.filter(({ rowid }) => last.has(rowid)).map(({ rowid, at }) => msBetween(committed.get(rowid)!, at)));
  return {
    figure,
    measured: [
      { what: 'lost', value: wanted - known.size, unit: '', atMost: 0 }, { what: 'twice', value: twice, unit: '', atMost: 0 },
      { what: 'median', value: median(ms), unit: 'ms' }, { what: 'p99', value: percentile(ms, 0.99), unit: 'ms', ...(p99 !== null && { atMost: p99 }) },
      // No backlog: what comes in the last second is as fresh as an arrival's own interval.
      ...(p99 === null ? [{ what: 'median of the last second', value: median(behind), unit: 'ms', atMost: 1000 / perSecond }] : []),
      { what: 'engine', value: after.peakRssMb, unit: 'MB', atMost: 150 }, { what: 'engine CPU', value: (after.cpuMs - before.cpuMs) / (seconds * 10), unit: '%' },
    ],
    against: `${n * matches} notifications of ${n} arrivals, counted by stream and event id`,
    samples: { ms: ms.length > 20_000 ? ms.filter((_, nth) => nth % 10 === 0) : ms },
  };
}
