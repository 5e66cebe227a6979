import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FIXTURE_NAMES, fixtures } from '../fixtures/fixtures.ts';
import { axeViolations } from './axe.ts';
import { become, startHarness, type Harness, type OpenPage, type PageOptions } from './page.ts';
import { openerOf, SECTIONS, setTheme, SHEETS, STEPS } from './screens.ts';

let harness: Harness;
let opened: OpenPage;
beforeAll(async () => {
  harness = await startHarness();
  opened = await harness.open();
}, 120_000);
afterAll(() => harness?.close());

/**
 * Axe in both themes, and nothing on the console. Of what is the same in both only colours can differ.
 * @param dark `all` rules too, which each view, section and step gets once
 */
async function check(where = '', dark: 'all' | 'colour' = 'colour', { page, errors }: OpenPage = opened): Promise<void> {
  await setTheme(page, 'light');
  expect(await axeViolations(page), `${where} light`).toEqual([]);
  await setTheme(page, 'dark');
  expect(await axeViolations(page, dark), `${where} dark`).toEqual([]);
  expect(errors, where).toEqual([]);
}

/** What is drawn in a part of the page, apart from ids that are made anew with each drawing. */
const drawnIn = (page: Page, part: string): Promise<string> => page.locator(part).evaluate((element) => element.innerHTML.replace(/\b_r_\w+_/g, ''));

/** Every fixture in turn; axe looks where it draws the part in a way that was not looked at yet. @returns how many looks differed */
async function checkFixtures(part: string, options: PageOptions): Promise<number> {
  const seen = new Set<string>();
  const own = await harness.open(options);
  for (const fixture of FIXTURE_NAMES) {
    const begins = fixtures[fixture]!();
    // A page that has told nothing yet, and a set-up that is under way, begin anew.
    if (begins.slices === null || (options.view === 'onboarding' && begins.shell.preferences.onboarding !== 'done')) await harness.go(own, { ...options, fixture });
    else await become(own, fixture);
    const look = await drawnIn(own.page, part);
    if (seen.has(look)) continue;
    await check(fixture, seen.size === 0 ? 'all' : 'colour', own);
    seen.add(look);
  }
  await own.page.context().close();
  return seen.size;
}

// A page waits more than it works until it has come to rest: several do so side by side.
vi.setConfig({ maxConcurrency: 3 });
describe.concurrent('U1: axe-core finds nothing, and nothing stands on the console, with every fixture that draws it in another way', () => {
  it.each(['window', 'panel', 'onboarding'] as const)('in the view %s', async (view) => {
    expect(await checkFixtures('#root', { view })).toBeGreaterThan(6);
  }, 300_000);

  // Diagnostics says what the engine found, which the fixtures leave as it is.
  it.each(SECTIONS.slice(1))('in the section %s', async (section) => {
    expect(await checkFixtures('.window-view', { screen: section })).toBeGreaterThan(section === 'diagnostics' ? 0 : 4);
  }, 300_000);
});

describe('U1: axe-core finds nothing, and nothing stands on the console', () => {
  it.each(STEPS)('in the step %s of the set-up', async (screen) => {
    for (const fixture of ['fresh', 'listening']) {
      await harness.go(opened, { view: 'onboarding', screen, fixture });
      await check(fixture, fixture === 'fresh' ? 'all' : 'colour');
    }
  }, 300_000);

  it.each(['listening', 'reading', 'long-names', 'network'])('on the page of a client, with the fixture %s', async (fixture) => {
    await harness.go(opened, { screen: 'clients', fixture });
    await opened.page.locator('.client').nth(fixture === 'network' ? 1 : 0).click();
    await opened.page.getByRole('heading', { name: 'Reading and writing' }).waitFor();
    await check();
  }, 300_000);

  it.each(SHEETS)('in the sheet that $opens opens', async (sheet) => {
    await harness.go(opened, { screen: sheet.screen, fixture: sheet.fixture ?? 'listening' });
    await (await openerOf(opened.page, sheet)).click();
    await opened.page.locator('dialog[open] h2').waitFor();
    await check();
  }, 300_000);
});
