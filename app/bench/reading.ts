import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readAttributedBody, readBodyText } from '../apple/messages/typedstream.ts';
import { buildReadingStore } from '../testing/reading-store.ts';
import { tempFolder } from '../testing/temp.ts';
import { encodeAttributedBody } from '../testing/typedstream.ts';
import { FREQUENT_PHRASES, QUERIES } from './queries.ts';
import { median, percentile, short, timed, worst } from './samples.ts';
import type { ReadingResult } from './reading-process.ts';
import type { Figure } from './table.ts';

const MAILS = 100_000;
const BODIES = 20_000;

/** Mail and message bodies, and the full-text index over 100,000 real .emlx files. */
export async function reading(): Promise<Figure[]> {
  using folder = tempFolder('bench-reading');
  const store = buildReadingStore(fileURLToPath(new URL('../../.cache/reading', import.meta.url)), MAILS);
  const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(new URL('reading-process.ts', import.meta.url)), store.mailDir, folder.at('index'), JSON.stringify([...QUERIES, ...FREQUENT_PHRASES])], { maxBuffer: 64 * 1024 * 1024 });
  const { build, spared, size, search: searched, getMs, diffMs } = JSON.parse(stdout) as ReadingResult;
  const [search, phrases] = [searched.slice(0, QUERIES.length), searched.slice(QUERIES.length)];
  const ofQuery = search.map(({ ms }) => median(ms));
  const bare = search.map(({ bareMs }) => median(bareMs));
  const cpu = search.map(({ cpuMs }) => cpuMs);
  const slowest = search[ofQuery.indexOf(worst(ofQuery))]!;
  return [
    {
      figure: `index of ${MAILS.toLocaleString('en')} mails (${short(store.bytes / 1e6)} MB of .emlx; 55 % text and HTML, 30 % HTML only) built from nothing`,
      measured: [
        { what: 'mails', value: MAILS / build.seconds, unit: '/s', atLeast: 1000 }, { what: 'memory', value: build.maxRssMb, unit: 'MB', atMost: 250 },
        { what: 'CPU', value: build.cpuSeconds, unit: 's' }, { what: 'not read whole', value: build.failures, unit: '', atMost: 0 },
      ],
      why: `The work took ${short(build.cpuSeconds)} s of CPU in ${short(build.seconds)} s: the rest was spent waiting for a core or the disk.`,
    },
    {
      figure: 'the same where a text part spares the HTML',
      measured: [{ what: 'mails', value: spared.mails / spared.seconds, unit: '/s', atLeast: 1500 }],
      why: `The work took ${short(spared.cpuSeconds)} s of CPU in ${short(spared.seconds)} s.`,
    },
    {
      figure: 'size of the index, encrypted',
      measured: [{ what: 'of the text', value: size.fileBytes / size.textBytes, unit: 'times', atMost: 1.1 }, { what: 'file', value: size.fileBytes / 1e6, unit: 'MB' }],
    },
    {
      figure: '`mail_search` over all bodies, 50 different queries, 20 results with snippets',
      measured: [{ what: 'median', value: median(ofQuery), unit: 'ms', atMost: 3 }, { what: 'p95', value: percentile(ofQuery, 0.95), unit: 'ms', atMost: 10 }, { what: 'slowest', value: worst(ofQuery), unit: 'ms' }],
      against: `without snippets: median ${short(median(bare))} ms, p95 ${short(percentile(bare, 0.95))} ms; ${phrases.map(({ query, ms }) => `${query}, of words that most mails hold: ${short(median(ms))} ms`).join('; ')}`,
      why: `Of CPU a query takes ${short(median(cpu))} ms (median) and ${short(percentile(cpu, 0.95))} ms (p95): the rest is waiting for a core or the disk. Slowest: ${slowest.query} (${slowest.count} hits).`,
      samples: Object.fromEntries(search.map(({ query, ms }) => [query, ms])),
    },
    {
      figure: 'one mail with body, links and attachments',
      measured: [{ what: 'median', value: median(getMs), unit: 'ms', atMost: 1 }, { what: 'p95', value: percentile(getMs, 0.95), unit: 'ms' }],
      samples: { getMs },
    },
    {
      figure: 'comparison at start, nothing changed',
      measured: [{ what: 'median', value: median(diffMs), unit: 'ms', atMost: 600 }, { what: 'worst', value: worst(diffMs), unit: 'ms' }],
      samples: { diffMs },
    },
    typedstream(),
  ];
}

/** Bodies of 200 bytes in both forms, in this thread. */
function typedstream(): Figure {
  const bodies = Array.from({ length: BODIES }, (_, nth) => {
    const form = nth % 2 === 0 ? 'immutable' : 'mutable';
    const bare = encodeAttributedBody('x', { form }).length;
    return encodeAttributedBody(`${nth} `.padEnd(Math.max(8, 201 - bare), 'abc '), { form });
  });
  const rate = (read: (body: Buffer) => unknown): number[] => timed(10, () => { for (const body of bodies) read(body); }).map((ms) => BODIES / (ms / 1000));
  const [text, full] = [rate(readBodyText), rate(readAttributedBody)];
  return {
    figure: '`attributedBody` of 200 bytes, decoded in one thread',
    measured: [{ what: 'texts', value: median(text), unit: '/s', atLeast: 500_000 }, { what: 'with all attributes', value: median(full), unit: '/s' }],
    samples: { text, full },
  };
}
