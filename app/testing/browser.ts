import { chromium, type Browser, type Page as Tab } from 'playwright-core';

/** Path of a Chromium, from the test runner's set-up; without one the browser tests are skipped. */
export const browserPath = process.env['BELFRY_CHROMIUM'];

/** As root there is no sandbox, and nothing may call home. */
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export interface OpenedTab extends AsyncDisposable {
  readonly tab: Tab;
  readonly browser: Browser;
  /** Errors of the page and of its console. */
  readonly faults: string[];
}

export async function openTab(address: string, viewport = { width: 960, height: 640 }): Promise<OpenedTab> {
  const browser = await chromium.launch({ executablePath: browserPath!, headless: true, args: FLAGS });
  const tab = await browser.newPage({ viewport });
  // Both cores may be busy.
  tab.setDefaultTimeout(30_000);
  const faults: string[] = [];
  tab.on('pageerror', (error) => faults.push(error.message));
  tab.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  await tab.goto(address);
  return { tab, browser, faults, [Symbol.asyncDispose]: () => browser.close() };
}
