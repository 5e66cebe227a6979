import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type Harness } from './page.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
}, 300_000);
afterAll(() => harness?.close());

test.each([['', 'Events'], ['?screen=clients', 'Clients'], ['?screen=nowhere', 'Events']])('the window at "%s" stands before anybody has answered', async (query, title) => {
  const context = await harness.browser.newContext();
  const page = await context.newPage();
  // Nobody serves the bridge here.
  await page.goto(`${harness.address}${query}`);
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
  expect(await page.title()).toBe(`${title} - Belfry`);
  expect(await page.getByRole('navigation', { name: 'Sections' }).first().getByRole('button').allInnerTexts()).toEqual([
    'Events', 'Senders', 'Live', 'Clients', 'Activity', 'Diagnostics', 'Settings',
  ]);
  expect(await page.locator('.window-nav .window-health').innerText()).toBe('Checking...');
  // No claim is made before there is something to claim.
  expect(await page.locator('[data-headline], [role=switch]').count()).toBe(0);
  // Nothing takes the focus uninvited.
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('BODY');
  await context.close();
}, 120_000);
