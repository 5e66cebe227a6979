import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import type { Page } from 'playwright-core';
import { startHarness, type Harness, type OpenPage, type PageOptions } from './page.ts';

/** One harness for a test file; pages are closed after the test that opened them. */
export function openPages(): (options: PageOptions) => Promise<OpenPage> {
  // A busy machine is slow, not wrong.
  vi.setConfig({ testTimeout: 120_000 });
  let harness: Harness | undefined;
  const opened: OpenPage[] = [];
  beforeAll(async () => {
    harness = await startHarness();
  }, 300_000);
  afterEach(() => Promise.all(opened.splice(0).map(({ page }) => page.context().close())));
  afterAll(() => harness?.close());
  return async (options) => {
    const page = await harness!.open(options);
    opened.push(page);
    return page;
  };
}

/** Effects outside the page: copied text, saved files, opened settings. */
export const outside = (page: Page): Promise<string[]> => page.evaluate(() => window.belfryFixture!.done);

/** Asks again until the matcher holds. */
export const eventually = <T>(look: () => T | Promise<T>) => expect.poll(look, { timeout: 30_000 });
