import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { ensureChromium } from '../../build/chromium.mjs';
import { startTimes } from '../../main/testing/start-time.ts';
import { pageFolder } from '../engine/page-files.ts';
import { median, percentile, worst } from './samples.ts';
import { openStage, type Stage } from './stage.ts';
import type { Figure } from './table.ts';

const ARRIVALS = 50;
/** The list is painted anew at most four times a second (ui.md, Live): a gap beyond that measures one arrival and not a queue. */
const GAP_MS = 400;
const LOADS = 9;
const STARTS = 5;
const SENDER = 'ann@example.org';

/** The page as a person sees it: from a commit to the painted row, from an address to the first paint, and what is sent for it. */
export async function page(): Promise<Figure[]> {
  const executablePath = ensureChromium((line) => process.stderr.write(`bench: ${line}\n`));
  if (executablePath === null) return [];
  await using stage = await openStage({ engine: { pageHome: '/nonexistent' } });
  const browser = await chromium.launch({ executablePath, headless: true, args: ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking'] });
  try {
    const context = await browser.newContext({ viewport: { width: 960, height: 640 } });
    const { origin } = new URL(stage.page!);
    const first = await context.newPage();
    // Uses up the code; the cookie stays.
    await first.goto(stage.page!);
    await first.close();
    const loads = await firstPaints(context, `${origin}/`);
    const frames = await scrolling(context, `${origin}/?view=window&screen=live&fixture=ten-thousand`);
    const ms = await rowLatency(stage, context, `${origin}/?view=window&screen=live`);
    return [
      {
        figure: `page: COMMIT to the row painted in Live, ${ARRIVALS} arrivals`,
        measured: [
          { what: 'median', value: median(ms), unit: 'ms', atMost: 100 }, { what: 'p99', value: percentile(ms, 0.99), unit: 'ms' }, { what: 'worst', value: worst(ms), unit: 'ms' },
          { what: 'lost', value: ARRIVALS - ms.length, unit: '', atMost: 0 },
        ],
        samples: { ms },
      },
      {
        figure: `page: first paint of the window, ${LOADS} loads`,
        measured: [
          { what: 'median', value: median(loads.paintMs), unit: 'ms', atMost: 300 }, { what: 'worst', value: worst(loads.paintMs), unit: 'ms' },
          { what: 'scripts, gzip', value: loads.gzipKb, unit: 'KB', atMost: 120 },
        ],
        samples: { paintMs: loads.paintMs },
      },
      {
        figure: 'page: 10,000 rows in Live, 50 arrivals/s while scrolling, 5 s',
        measured: [
          { what: 'p95 frame', value: frames.p95, unit: 'ms', atMost: 33 }, { what: 'worst frame', value: frames.max, unit: 'ms', atMost: 120 },
          { what: 'long tasks', value: frames.longTasks, unit: '', atMost: 2 }, { what: 'rows in the document', value: frames.maxRows, unit: '', atMost: 60 },
          { what: 'heap growth', value: frames.heapGrowth / 1024 / 1024, unit: 'MB', atMost: 20 },
        ],
      },
      ...(await appStart()),
    ];
  } finally {
    await browser.close();
  }
}

type FrameFigures = Record<'p95' | 'max' | 'longTasks' | 'maxRows' | 'heapGrowth', number>;

async function scrolling(context: BrowserContext, address: string): Promise<FrameFigures> {
  // By address: what runs in a page is typed with the page's own library.
  const { measureLive } = (await import(new URL('../../renderer/testing/frames.ts', import.meta.url).href)) as { measureLive(tab: Page): Promise<FrameFigures> };
  const tab = await context.newPage();
  await tab.goto(address);
  await tab.locator('.live-item').first().waitFor();
  const figures = await measureLive(tab);
  await tab.close();
  return figures;
}

/** Only told: the runtime of the smoke test is not the one that ships. */
async function appStart(): Promise<Figure[]> {
  const ms = await startTimes(STARTS);
  if ('skipped' in ms) {
    process.stderr.write(`bench: start of the app: skipped, ${ms.skipped}\n`);
    return [];
  }
  return [{ figure: `app: start of the process to the icon, ${STARTS} starts on the smoke test's Electron`, measured: [{ what: 'median', value: median(ms), unit: 'ms' }, { what: 'worst', value: worst(ms), unit: 'ms' }], samples: { ms } }];
}

/** Each in a new tab, nothing from the cache; and the scripts that a tab asked for until the window stood. */
async function firstPaints(context: BrowserContext, address: string): Promise<{ paintMs: number[]; gzipKb: number }> {
  const paintMs: number[] = [];
  let scripts: string[] = [];
  for (let load = 0; load < LOADS; load += 1) {
    const tab = await context.newPage();
    await (await context.newCDPSession(tab)).send('Network.setCacheDisabled', { cacheDisabled: true });
    await tab.goto(address);
    await tab.getByRole('heading', { level: 1 }).waitFor();
    await tab.waitForFunction("performance.getEntriesByName('first-contentful-paint').length > 0");
    const seen = await tab.evaluate(() => ({
      paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
      scripts: performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname).filter((path) => path.endsWith('.js')),
    }));
    paintMs.push(seen.paint);
    ({ scripts } = seen);
    await tab.close();
  }
  const bytes = [...new Set(scripts)].reduce((sum, path) => sum + gzipSync(readFileSync(join(pageFolder(), path)), { level: 9 }).length, 0);
  return { paintMs, gzipKb: bytes / 1024 };
}

/** Milliseconds of each arrival from the stamp before its COMMIT to the end of the frame that shows it. */
async function rowLatency(stage: Stage, context: BrowserContext, address: string): Promise<number[]> {
  const tab = await context.newPage();
  await tab.goto(address);
  await tab.getByText('Nothing yet.').waitFor();
  const client = stage.client();
  client.send('events/stream', { name: 'mail.received', arguments: { from: [SENDER] } }, 1);
  if (!(await client.until(() => client.active === 1))) throw new Error('The stream did not open.');
  await tab.evaluate(WATCH_ROWS);
  // The first ones compile what the others run.
  for (let n = 0; n < 10; n += 1) await stage.writer.mail.arrive({ from: { address: SENDER }, subject: `Warm ${n}.` });
  // One clock for both: this process's monotonic stamps as Unix ms.
  const epoch = performance.timeOrigin + performance.now() - Number(process.hrtime.bigint()) / 1e6;
  const committed = new Map<string, number>();
  for (let n = 0; n < ARRIVALS; n += 1) {
    const { committedAt } = await stage.writer.mail.arrive({ from: { address: SENDER }, subject: `Row ${n}.` });
    committed.set(`Row ${n}.`, Number(committedAt) / 1e6 + epoch);
    await new Promise((resolve) => { setTimeout(resolve, GAP_MS); });
  }
  await tab.waitForFunction(`window.painted.get('Row ${ARRIVALS - 1}.')`, undefined, { timeout: 10_000 }).catch(() => undefined);
  const painted = new Map((await tab.evaluate('[...window.painted]')) as [string, number | null][]);
  await tab.close();
  return [...committed].flatMap(([subject, at]) => {
    const shown = painted.get(subject);
    return typeof shown === 'number' ? [shown - at] : [];
  });
}

/**
 * Runs in the page: `window.painted` maps a subject to the Unix ms of the end of the first frame that shows it. A task
 * that is posted from within a frame runs once that frame was handed to the screen.
 */
const WATCH_ROWS = `{
  const painted = (window.painted = new Map());
  const rows = () => document.querySelector('[aria-label="Events, newest first"]')?.textContent ?? '';
  new MutationObserver(() => {
    const fresh = [...rows().matchAll(/(?:Row|Warm) \\d+\\./g)].map(([subject]) => subject).filter((subject) => !painted.has(subject));
    if (fresh.length === 0) return;
    for (const subject of fresh) painted.set(subject, null);
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => { for (const subject of fresh) painted.set(subject, performance.timeOrigin + performance.now()); };
      port2.postMessage(null);
    });
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}`;
