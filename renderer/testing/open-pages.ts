import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import type { Page } from 'playwright-core';
import { startHarness, type Harness, type OpenPage, type PageOptions } from './page.ts';

/** One harness for a test file. A page serves the next test too: it loads anew and its storage is empty, which takes less than half as long as another context. */
export function openPages(): (options: PageOptions) => Promise<OpenPage> {
  // A busy machine is slow, not wrong.
  vi.setConfig({ testTimeout: 120_000 });
  let harness: Harness | undefined;
  const [free, taken]: [OpenPage[], OpenPage[]] = [[], []];
  beforeAll(async () => {
    harness = await startHarness();
  }, 300_000);
  afterEach(() => void free.push(...taken.splice(0)));
  afterAll(() => harness?.close());
  return async (options) => {
    const again = free.pop();
    if (again) {
      await again.page.evaluate(() => localStorage.clear());
      await harness!.go(again, options);
    }
    const opened = again ?? await harness!.open(options);
    taken.push(opened);
    return opened;
  };
}

/** Effects outside the page: copied text, saved files, opened settings. */
export const outside = (page: Page): Promise<string[]> => page.evaluate(() => window.belfryFixture!.done);

/** Asks again until the matcher holds. */
export const eventually = <T>(look: () => T | Promise<T>) => expect.poll(look, { timeout: 30_000 });
