// Reads, indexes and searches a store in a process of its own, so that its memory is that of this work alone.
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MailFiles } from '../apple/mail/mail-files.ts';
import { MailList } from '../apple/mail/mail-list.ts';
import { readMail } from '../apple/mail/mail-texts.ts';
import { openForWriting } from '../search/index-file.ts';
import { IndexWriter } from '../search/index-writer.ts';
import { Indexer } from '../search/indexer.ts';
import { MailSource } from '../search/mail-source.ts';
import { SearchIndex } from '../search/search-index.ts';
import { bulkRowid } from '../testing/bulk-mail-store.ts';
import { shapeOfNth } from '../testing/mail-corpus.ts';

export interface ReadingResult {
  readonly build: { readonly seconds: number; readonly cpuSeconds: number; readonly maxRssMb: number; readonly failures: number };
  readonly spared: { readonly seconds: number; readonly cpuSeconds: number; readonly mails: number };
  readonly size: { readonly fileBytes: number; readonly textBytes: number };
  /** Milliseconds of each query: with snippets, and without. */
  readonly search: readonly { readonly query: string; readonly count: number; readonly ms: readonly number[]; readonly bareMs: readonly number[]; readonly cpuMs: number }[];
  readonly getMs: readonly number[];
  readonly diffMs: readonly number[];
}

const KEY = { key: Buffer.alloc(32, 7) };
const RUNS = 9;
const SPARED = 10_000;
const GETS = 2000;

const [mailDir, folder, queries] = [process.argv[2]!, process.argv[3]!, JSON.parse(process.argv[4]!) as string[]];
mkdirSync(folder, { recursive: true });
const path = join(folder, 'search.db');
const list = new MailList(join(mailDir, 'MailData', 'Envelope Index'));
list.open();
const places = list.places();
const listed = [...places].map(([id, place]) => ({ id, ...place }));

const index = new SearchIndex({ path, mailDir, key: KEY, places: () => listed });
// The kernel's own high-water mark starts with that of the process that forked this one.
let peak = 0;
const weigh = () => {
  peak = Math.max(peak, process.memoryUsage.rss());
};
const weighing = setInterval(weigh, 100);
const build = await measured(async () => {
  index.start();
  await index.settled();
});
const { counts: { deadLetters, textBytes }, phase, trouble } = index.state();
const failures = deadLetters.reduce((sum, { count }) => sum + count, 0);
if (phase !== 'ready') throw new Error(`The index was not built: ${trouble}`);
clearInterval(weighing);
const maxRssMb = peak / 1024 / 1024;

const search: { query: string; count: number; ms: number[]; bareMs: number[]; cpuMs: number }[] = [];
for (const query of queries) {
  const timesOf = async (snippets: boolean): Promise<number[]> => {
    const times: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const from = performance.now();
      const answer = await index.search({ query, snippets });
      if (answer.ok) await answer.snippets();
      times.push(performance.now() - from);
    }
    return times;
  };
  const answer = await index.search({ query, limit: 1, snippets: false });
  if (!answer.ok) throw new Error(`${query}: ${answer.reason}`);
  const cpu = process.cpuUsage();
  const ms = await timesOf(true);
  const { user, system } = process.cpuUsage(cpu);
  search.push({ query, count: answer.count, ms, bareMs: await timesOf(false), cpuMs: (user + system) / 1000 / RUNS });
}
await index.stop();
const fileBytes = statSync(path).size;

const rows = [...list.rows()];
const files = new MailFiles(mailDir);
const getMs: number[] = [];
for (let nth = 0; nth < GETS; nth += 1) {
  const row = rows[(nth * 7919) % rows.length]!;
  const from = performance.now();
  const found = await readMail(files, places.get(row.mailbox)!, row.rowid);
  getMs.push(performance.now() - from);
  if (found === null || found.text === '') throw new Error(`No text of ${row.rowid}`);
}

const diffMs: number[] = [];
await indexing(path, async (indexer) => {
  for (let run = 0; run < RUNS; run += 1) diffMs.push((await measured(() => indexer.sync())).seconds * 1000);
});

const withText = Array.from({ length: rows.length }, (_, nth) => nth).filter((nth) => shapeOfNth(nth) !== 'html').slice(0, SPARED).map(bulkRowid);
const spared = await indexing(join(folder, 'spared.db'), (indexer) =>
  measured(async () => {
    for (let at = 0; at < withText.length; at += 500) await indexer.take(withText.slice(at, at + 500));
  }),
);
rmSync(folder, { recursive: true, force: true });
list.close();
const result: ReadingResult = { build: { ...build, maxRssMb, failures }, spared: { ...spared, mails: withText.length }, size: { fileBytes, textBytes }, search, getMs, diffMs };
process.stdout.write(JSON.stringify(result));

async function indexing<T>(file: string, work: (indexer: Indexer) => Promise<T>): Promise<T> {
  const { db } = openForWriting(file, KEY);
  const source = new MailSource(mailDir);
  source.open();
  try {
    return await work(new Indexer(new IndexWriter(db), source, { now: Date.now, onProgress: () => undefined, onCompared: () => undefined, onLeft: () => undefined, mayGoOn: async () => 'go', urgent: () => [] }));
  } finally {
    source.close();
    db.close();
  }
}

async function measured(work: () => Promise<unknown>): Promise<{ seconds: number; cpuSeconds: number }> {
  const [from, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const used = process.cpuUsage(cpu);
  return { seconds: (performance.now() - from) / 1000, cpuSeconds: (used.user + used.system) / 1e6 };
}
