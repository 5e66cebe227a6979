import { constants, copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MailList } from '../apple/mail/mail-list.ts';
import { runRemote } from '../cli/remote-command.ts';
import type { SearchState } from '../contract/search.ts';
import { version } from '../engine/version.ts';
import { openForReading } from '../search/index-file.ts';
import { IndexReader } from '../search/index-reader.ts';
import { parseQuery } from '../search/query.ts';
import { needlesOf } from '../search/snippet.ts';
import { noneTaken, SnippetCutter } from '../search/snippet-cutter.ts';
import { markerWord } from '../testing/mail-corpus.ts';
import { buildReadingStore } from '../testing/reading-store.ts';
import { FREQUENT_PHRASES, QUERIES } from './queries.ts';
import { median, msBetween, percentile, short, worst } from './samples.ts';
import type { ShimClient } from './shim-client.ts';
import { openStage, type Stage } from './stage.ts';
import type { Figure } from './table.ts';

const MAILS = 100_000;
const KEY = Buffer.alloc(32, 7);
/** Hits of a page, as of a client that asks for no other number. */
const PAGE = 10;
const RUNS = 9;
const SENDER = 'ann@example.org';
const PER_SECOND = 20;
/** The owner's ceiling of rings an hour holds back what comes after 10,000: a build on a busy machine may take that long. */
const MOST_ARRIVALS = 8000;
/** Comparisons, and arrivals in the fifth of a second that each begins with: it takes about as long. */
const COMPARISONS = 15;
const MEANWHILE = 20;
const MEANWHILE_PER_SECOND = 100;

/** The engine as it is shipped, over 100,000 real .emlx files: it builds its index while mail arrives, then answers behind the shim. */
export async function searching(): Promise<Figure[]> {
  const store = buildReadingStore(fileURLToPath(new URL('../../.cache/reading', import.meta.url)), MAILS);
  const mailDir = liveTree(store.mailDir);
  await using stage = await openStage({ engine: { searchKey: KEY.toString('base64') }, mailDir });
  const listener = stage.client();
  listener.send('events/stream', { name: 'mail.received', arguments: { from: [SENDER] } }, 1);
  if (!(await listener.until(() => listener.active === 1))) throw new Error('The stream did not open.');
  const quiet = await latencyOf(stage, listener, 200);
  const build = await built(stage, listener);
  const compared = await whileComparing(stage, listener);
  const client = stage.client();
  const searched: { query: string; count: number; ms: number[] }[] = [];
  for (const query of [...QUERIES, ...FREQUENT_PHRASES]) searched.push(await timesOf(client, query));
  const twenty: number[] = [];
  for (const query of QUERIES) twenty.push(median((await timesOf(client, query, 20)).ms));
  const [mix, phrases] = [searched.slice(0, QUERIES.length), searched.slice(QUERIES.length)];
  const ofQuery = mix.map(({ ms }) => median(ms));
  const slowest = mix[ofQuery.indexOf(worst(ofQuery))]!;
  // Those that arrived meanwhile have no file.
  const rows = (await tool(client, 'mail_search', { query: markerWord(100), limit: 100 })).value['mails'] as { row: number }[];
  const get = [];
  for (const { row } of rows) get.push((await tool(client, 'mail_get', { id: String(row) })).ms);
  const bare = await bareTimes(join(stage.dataDir, 'search', 'mail.db'), mailDir);
  const list = [];
  for (let run = 0; run < 50; run += 1) list.push((await tool(client, 'mail_list', {})).ms);
  return [
    {
      figure: `index of ${MAILS.toLocaleString('en')} mails built by the engine, ${PER_SECOND} mails a second arriving meanwhile`,
      measured: [
        { what: 'mails', value: MAILS / build.seconds, unit: '/s', atLeast: 1000 }, { what: 'memory of the engine', value: build.peakRssMb, unit: 'MB', atMost: 250 },
        { what: 'event p99', value: percentile(build.lag, 0.99), unit: 'ms', atMost: 50 }, { what: 'event median', value: median(build.lag), unit: 'ms' },
        { what: 'lost', value: build.arrivals - build.lag.length, unit: '', atMost: 0 },
      ],
      against: `events before the build: median ${short(median(quiet))} ms, p99 ${short(percentile(quiet, 0.99))} ms`,
      samples: { lag: build.lag, quiet },
    },
    {
      figure: `events while the engine compares its index with ${MAILS.toLocaleString('en')} mails that are the same, as at each start`,
      measured: [{ what: 'p99', value: percentile(compared, 0.99), unit: 'ms', atMost: 50 }, { what: 'median', value: median(compared), unit: 'ms' }, { what: 'worst', value: worst(compared), unit: 'ms' }, { what: 'lost', value: COMPARISONS * MEANWHILE - compared.length, unit: '', atMost: 0 }],
      against: `at rest: median ${short(median(quiet))} ms, p99 ${short(percentile(quiet, 0.99))} ms`,
      samples: { compared },
    },
    {
      figure: '`mail_search` over the shim, full coverage, 50 different queries, 10 results with snippets',
      measured: [{ what: 'median', value: median(ofQuery), unit: 'ms', atMost: 3 }, { what: 'p95', value: percentile(ofQuery, 0.95), unit: 'ms', atMost: 10 }, { what: 'slowest', value: worst(ofQuery), unit: 'ms' }],
      against: [`the same in one thread, without engine, rights and protocol: median ${short(median(bare))} ms, p95 ${short(percentile(bare, 0.95))} ms`, `20 results: median ${short(median(twenty))} ms, p95 ${short(percentile(twenty, 0.95))} ms`, ...phrases.map(({ query, count, ms }) => `${query}, of words that most mails hold (${count} counted): ${short(median(ms))} ms`)].join('; '),
      why: `Without engine, rights and protocol the median alone was ${short(median(bare))} ms. Slowest: ${slowest.query} (${slowest.count} hits).`,
      samples: Object.fromEntries(searched.map(({ query, ms }) => [query, ms])),
    },
    { figure: '`mail_get` with body over the shim', measured: [{ what: 'median', value: median(get), unit: 'ms', atMost: 1 }, { what: 'p95', value: percentile(get, 0.95), unit: 'ms' }], samples: { get } },
    { figure: '`mail_list` of 50 over the shim', measured: [{ what: 'median', value: median(list), unit: 'ms', atMost: 2 }, { what: 'p95', value: percentile(list, 0.95), unit: 'ms' }], samples: { list } },
  ];
}

/** Arrivals one after the other, until the index is ready. */
async function built(stage: Stage, listener: ShimClient): Promise<{ seconds: number; peakRssMb: number; lag: number[]; arrivals: number }> {
  const [client] = (await command(stage, 'clients', 'list'))['clients'] as { id: string }[];
  const from = performance.now();
  await command(stage, 'clients', 'allow', client!.id, '--grants', 'mail:everything,search');
  const lag: number[] = [];
  let arrivals = 0;
  for (;;) {
    if (arrivals < MOST_ARRIVALS) {
      lag.push(...(await latencyOf(stage, listener, PER_SECOND)));
      arrivals += PER_SECOND;
    } else await new Promise((done) => void setTimeout(done, 1000));
    const { phase, sentence, indexed } = (await command(stage, 'search', 'status'))['search'] as SearchState;
    if (phase === 'failed') throw new Error(`The index was not built: ${sentence}`);
    // What arrived meanwhile may still be on its way in.
    if (phase === 'ready' && indexed >= MAILS) break;
  }
  return { seconds: (performance.now() - from) / 1000, peakRssMb: (await stage.usage()).peakRssMb, lag, arrivals };
}

/** A pause closes the index, and its end opens it as a start of the engine does. */
async function whileComparing(stage: Stage, listener: ShimClient): Promise<number[]> {
  const lag: number[] = [];
  for (let run = 0; run < COMPARISONS; run += 1) {
    await command(stage, 'pause');
    await command(stage, 'resume');
    lag.push(...(await latencyOf(stage, listener, MEANWHILE, MEANWHILE_PER_SECOND)));
    while (((await command(stage, 'search', 'status'))['search'] as SearchState).phase !== 'ready') await new Promise((done) => void setTimeout(done, 100));
  }
  return lag;
}

async function latencyOf(stage: Stage, listener: ShimClient, n: number, perSecond = PER_SECOND): Promise<number[]> {
  const before = listener.heard.length;
  const arrivals = await stage.writer.burst({ store: 'mail', n, perSecond, senders: [SENDER] });
  await listener.until(() => listener.heard.length >= before + n, 3000);
  const heard = new Map(listener.heard.slice(before).map(({ rowid, at }) => [rowid, at]));
  return arrivals.flatMap(({ rowid, committedAt }) => (heard.has(rowid) ? [msBetween(committedAt, heard.get(rowid)!)] : []));
}

async function timesOf(client: ShimClient, query: string, limit = PAGE): Promise<{ query: string; count: number; ms: number[] }> {
  const { value } = await tool(client, 'mail_search', { query, limit });
  const ms: number[] = [];
  for (let run = 0; run < RUNS; run += 1) ms.push((await tool(client, 'mail_search', { query, limit })).ms);
  return { query, count: value['count'] as number, ms };
}

/** The median of each query where nothing but its work is done: how fast the machine is in this run shows here. @param mailDir folder of Mail's version */
async function bareTimes(indexPath: string, mailDir: string): Promise<number[]> {
  const reader = new IndexReader(openForReading(indexPath, { key: KEY }));
  const list = new MailList(join(mailDir, 'MailData', 'Envelope Index'));
  list.open();
  const cutter = new SnippetCutter();
  cutter.places(list.places(), mailDir);
  const everywhere = { column: null, mailboxes: null, exceptMailboxes: [], after: null, before: null, senders: null };
  const medians: number[] = [];
  for (const text of QUERIES) {
    const ms: number[] = [];
    for (let run = 0; run <= RUNS; run += 1) {
      const from = performance.now();
      const parsed = parseQuery(text);
      if (!parsed.ok) throw new Error(parsed.reason);
      const { hits } = reader.find(parsed.query, everywhere, 0, PAGE);
      await cutter.cut(hits, { needles: needlesOf(parsed.query), hidesCodes: true }, noneTaken(hits.length), 'front');
      ms.push(performance.now() - from);
    }
    medians.push(median(ms.slice(1)));
  }
  list.close();
  reader.close();
  return medians;
}

let calls = 1000;
async function tool(client: ShimClient, name: string, args: object): Promise<{ ms: number; value: Record<string, unknown> }> {
  const id = (calls += 1);
  const from = process.hrtime.bigint();
  client.send('tools/call', { name, arguments: args }, id);
  const { at, text } = await client.answer(id);
  const { result } = JSON.parse(text) as { result: { isError?: boolean; content: { text: string }[]; structuredContent: Record<string, unknown> } };
  if (result.isError === true) throw new Error(`${name}: ${result.content[0]!.text}`);
  return { ms: msBetween(from, at), value: result.structuredContent };
}

async function command(stage: Stage, ...argv: string[]): Promise<Record<string, unknown>> {
  let out = '';
  const code = await runRemote(stage.socketPath, version, [...argv, '--json'], { out: (bytes) => { out += bytes.toString(); }, err: (bytes) => { out += bytes.toString(); } });
  if (code !== 0) throw new Error(`belfry ${argv.join(' ')}: ${out}`);
  return JSON.parse(out) as Record<string, unknown>;
}

/**
 * The same tree to be written to: its files by links, made once, since a file of a mail is only read; its index a copy.
 * @returns the folder of the version
 */
function liveTree(from: string): string {
  const to = join(dirname(from), 'live');
  const done = join(dirname(from), 'live.done');
  if (!existsSync(done)) {
    rmSync(to, { recursive: true, force: true });
    for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      const target = join(to, relative(from, path));
      if (entry.isDirectory()) mkdirSync(target, { recursive: true });
      else if (entry.name.includes('.emlx') || path.includes('/Attachments/')) linkSync(path, target);
    }
    writeFileSync(done, '');
  }
  const index = join('MailData', 'Envelope Index');
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(to, index + suffix), { force: true });
  copyFileSync(join(from, index), join(to, index), constants.COPYFILE_FICLONE);
  return to;
}
