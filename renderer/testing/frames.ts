import type { Page } from 'playwright-core';

/** How smooth Live stays while events come in (ui.md, U7). Times are ms. */
export interface FrameFigures {
  readonly frames: number;
  readonly p95: number;
  readonly max: number;
  /** Tasks of 50 ms and more. */
  readonly longTasks: number;
  /** Bytes that stay after a collection. */
  readonly heapGrowth: number;
  /** Most rows that were in the document at once. */
  readonly maxRows: number;
  /** Events that were told. */
  readonly events: number;
}

export interface FrameLoad {
  readonly seconds: number;
  readonly eventsPerSecond: number;
}

/**
 * Scrolls the list of a page that shows Live over a fixture, one step a frame, while events arrive. The figures hang on
 * the machine: a bench prints them, a test may hold them to generous bounds only.
 */
export async function measureLive(page: Page, load: FrameLoad = { seconds: 5, eventsPerSecond: 50 }): Promise<FrameFigures> {
  const devtools = await page.context().newCDPSession(page);
  const heap = async () => {
    await devtools.send('HeapProfiler.collectGarbage');
    return (await devtools.send('Runtime.getHeapUsage')).usedSize;
  };
  // Code that is compiled and caches that fill at the first use are no growth.
  await page.evaluate(scrollUnderLoad, { seconds: 0.5, eventsPerSecond: load.eventsPerSecond });
  const before = await heap();
  const { deltas, ...counts } = await page.evaluate(scrollUnderLoad, load);
  const heapGrowth = (await heap()) - before;
  await devtools.detach();
  const sorted = deltas.toSorted((a, b) => a - b);
  return { frames: deltas.length, p95: sorted[Math.floor(sorted.length * 0.95)] ?? 0, max: sorted.at(-1) ?? 0, heapGrowth, ...counts };
}

/** Runs in the page. */
async function scrollUnderLoad({ seconds, eventsPerSecond }: FrameLoad) {
  const STEP = 48;
  const TICK = 100;
  const list = document.querySelector('.live-list')!;
  const rows = document.querySelector('.live-rows')!;
  const world = (window as unknown as { belfryFixture: { arrive(count: number): void } }).belfryFixture;
  let longTasks = 0;
  const observer = new PerformanceObserver((entries) => {
    longTasks += entries.getEntries().length;
  });
  observer.observe({ type: 'longtask' });
  const started = performance.now();
  let events = 0;
  // A page that is busy gets late what was due, not less.
  const tellDue = (seconds: number) => {
    const due = Math.floor(seconds * eventsPerSecond) - events;
    if (due <= 0) return;
    events += due;
    world.arrive(due);
  };
  const feed = setInterval(() => tellDue(Math.min(seconds, (performance.now() - started) / 1000)), TICK);
  const deltas: number[] = [];
  let maxRows = 0;
  let down = true;
  await new Promise<void>((resolve) => {
    const end = started + seconds * 1000;
    let last = performance.now();
    const frame = (now: number) => {
      deltas.push(now - last);
      last = now;
      maxRows = Math.max(maxRows, rows.children.length);
      if (list.scrollTop + list.clientHeight >= list.scrollHeight - 1) down = false;
      else if (list.scrollTop <= 0) down = true;
      list.scrollTop += down ? STEP : -STEP;
      if (now < end) requestAnimationFrame(frame);
      else resolve();
    };
    requestAnimationFrame(frame);
  });
  clearInterval(feed);
  tellDue(seconds);
  observer.disconnect();
  return { deltas: deltas.slice(1), longTasks, maxRows, events };
}
