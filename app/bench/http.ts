import { HttpConnection, requestBytes } from './http-connection.ts';
import { median, msBetween, percentile } from './samples.ts';
import { openStage, type Stage } from './stage.ts';
import type { Figure } from './table.ts';

/** Polls are counted over this long. */
const POLL_SECONDS = 10;
/** Each with a connection that it keeps. */
const POLLERS = 30;
/** Polls of one in a second at most, however fast the machine is: below the 200 requests that a credential may make. */
const OF_ONE_POLLER = 150;
const STREAMS = 200;
/** Streams of one credential. */
const OF_ONE = 10;
const PER_SECOND = 100;
const STREAM_SECONDS = 20;
const MAIL = 'mail.received';

export async function http(): Promise<Figure[]> {
  return [await polls(), await streams()];
}

/** Reads no more of a stream than which row each event is of: what the client costs is not the engine's. */
class Ears {
  #rest = '';
  #heard = false;

  /** Nothing was read yet: the first of a stream says that it is open. */
  get isFirst(): boolean {
    return !this.#heard;
  }

  rowids(chunk: string): number[] {
    this.#heard = true;
    const text = this.#rest + chunk;
    const found: number[] = [];
    let from = 0;
    // Behind the data of an event; a heartbeat's cursor stands alone.
    for (let at = text.indexOf(MARK); at !== -1; at = text.indexOf(MARK, from)) {
      const end = text.indexOf('"', at + MARK.length);
      if (end === -1) {
        this.#rest = text.slice(at);
        return found;
      }
      found.push(Number(text.slice(at + MARK.length, end).split('.')[1]));
      from = end;
    }
    this.#rest = text.slice(Math.max(from, text.length - MARK.length));
    return found;
  }
}
const MARK = '},"cursor":"v1.';

const stageWithHttp = (): Promise<Stage> => openStage({ engine: { httpPort: 0 } });

async function polls(): Promise<Figure> {
  await using stage = await stageWithHttp();
  const url = stage.http!;
  const pollers = await Promise.all(Array.from({ length: POLLERS }, async (_, nth) => {
    const connection = new HttpConnection(url);
    const ask = (cursor: string | null) => requestBytes(url, `test-${nth}`, 'events/poll', { name: MAIL, arguments: { domains: ['example.org'] }, cursor } as never, 1);
    const first = JSON.parse(await connection.ask(ask(null))) as { result: { cursor: string } };
    return { connection, bytes: ask(first.result.cursor) };
  }));
  const run = async (seconds: number) => {
    const ms: number[] = [];
    const end = performance.now() + seconds * 1000;
    await Promise.all(pollers.map(async ({ connection, bytes }) => {
      for (let next = performance.now(); next < end; next = Math.max(performance.now(), next + 1000 / OF_ONE_POLLER)) {
        if (next > performance.now()) await new Promise((done) => void setTimeout(done, next - performance.now()));
        const from = process.hrtime.bigint();
        const answer = await connection.ask(bytes);
        ms.push(msBetween(from, process.hrtime.bigint()));
        if (!answer.includes('"events":[]')) throw new Error(`A poll was not answered: ${answer.slice(0, 200)}`);
      }
    }));
    return ms;
  };
  // The first ones compile what the others run.
  await run(2);
  const before = await stage.usage();
  const ms = await run(POLL_SECONDS);
  const after = await stage.usage();
  for (const { connection } of pollers) connection.close();
  return {
    figure: `polls over HTTP, ${POLLERS} credentials, each as soon as the last was answered, at most ${OF_ONE_POLLER} a second`,
    measured: [
      { what: 'polls', value: ms.length / POLL_SECONDS, unit: '/s', atLeast: 2000 }, { what: 'median', value: median(ms), unit: 'ms' },
      { what: 'p99', value: percentile(ms, 0.99), unit: 'ms', atMost: 20 }, { what: 'engine CPU', value: (after.cpuMs - before.cpuMs) / (POLL_SECONDS * 10), unit: '%' },
      { what: 'engine', value: after.peakRssMb, unit: 'MB' },
    ],
    samples: { ms: ms.filter((_, nth) => nth % 10 === 0) },
  };
}

async function streams(): Promise<Figure> {
  await using stage = await stageWithHttp();
  const url = stage.http!;
  const heard: { readonly rowid: number; readonly at: bigint; readonly stream: number }[] = [];
  let active = 0;
  const connections = Array.from({ length: STREAMS }, (_, nth) => {
    const connection = new HttpConnection(url);
    const ears = new Ears();
    connection.stream(requestBytes(url, `test-${Math.floor(nth / OF_ONE)}`, 'events/stream', { name: MAIL, arguments: { domains: ['example.org'] } } as never, nth), (text, at) => {
      if (ears.isFirst) active += 1;
      for (const rowid of ears.rowids(text)) heard.push({ rowid, at, stream: nth });
    });
    return connection;
  });
  const until = async (fits: () => boolean, ms: number) => {
    for (const end = performance.now() + ms; !fits() && performance.now() < end;) await new Promise((done) => setTimeout(done, 20));
  };
  await until(() => active === STREAMS, 10_000);
  if (active !== STREAMS) throw new Error(`Only ${active} streams opened`);
  const senders = Array.from({ length: 20 }, (_, nth) => `s${nth}@example.org`);
  const warmUp = await stage.writer.burst({ store: 'mail', n: 100, perSecond: 50, senders });
  const before = await stage.usage();
  const own = process.cpuUsage();
  const n = PER_SECOND * STREAM_SECONDS;
  const arrivals = await stage.writer.burst({ store: 'mail', n, perSecond: PER_SECOND, senders });
  const wanted = (n + warmUp.length) * STREAMS;
  await until(() => heard.length >= wanted, 10_000);
  const after = await stage.usage();
  const spent = process.cpuUsage(own);
  for (const connection of connections) connection.close();
  const committed = new Map(arrivals.map(({ rowid, committedAt }) => [rowid, committedAt]));
  const ms = heard.flatMap(({ rowid, at }) => (committed.has(rowid) ? [msBetween(committed.get(rowid)!, at)] : []));
  const distinct = new Set(heard.map(({ rowid, stream }) => `${stream} ${rowid}`)).size;
  return {
    figure: `${STREAMS} streams over HTTP, all of them matched by ${PER_SECOND} arrivals/s for ${STREAM_SECONDS} s`,
    measured: [
      { what: 'lost', value: wanted - distinct, unit: '', atMost: 0 }, { what: 'twice', value: heard.length - distinct, unit: '', atMost: 0 },
      { what: 'median', value: median(ms), unit: 'ms' }, { what: 'p99', value: percentile(ms, 0.99), unit: 'ms', atMost: 50 },
      { what: 'engine', value: after.peakRssMb, unit: 'MB' }, { what: 'engine CPU', value: (after.cpuMs - before.cpuMs) / (STREAM_SECONDS * 10), unit: '%' },
      { what: 'client CPU', value: (spent.user + spent.system) / 1000 / (STREAM_SECONDS * 10), unit: '%' },
    ],
    against: `${n * STREAMS} notifications of ${n} arrivals, counted by stream and rowid`,
    samples: { ms: ms.filter((_, nth) => nth % 20 === 0) },
  };
}
