import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FIXTURE_NAMES, fixtures } from '../fixtures/fixtures.ts';
import { axeViolations } from './axe.ts';
import { become, startHarness, type Harness, type OpenPage } from './page.ts';
import { openerOf, SECTIONS, setTheme, SHEETS, STEPS } from './screens.ts';

let harness: Harness;
let opened: OpenPage;
beforeAll(async () => {
  harness = await startHarness();
  opened = await harness.open();
}, 120_000);
afterAll(() => harness?.close());

/** Axe in both themes, of which only colours differ; nothing on the console. */
async function check(where = ''): Promise<void> {
  await setTheme(opened.page, 'light');
  expect(await axeViolations(opened.page), `${where} light`).toEqual([]);
  await setTheme(opened.page, 'dark');
  expect(await axeViolations(opened.page, 'colour'), `${where} dark`).toEqual([]);
  expect(opened.errors, where).toEqual([]);
}

/** What differs from one section or step to the other is worth a look in these; the others differ in banner and rows only. */
const RICH = ['listening', 'client-asking', 'config-stale', 'long-names', 'hostile-names', 'tampered', 'no-senders', 'browser', 'reading', 'texts-waiting', 'search-ready', 'search-failed', 'http-trouble', 'network'];

describe('U1: axe-core finds nothing, and nothing stands on the console', () => {
  it.each(['window', 'panel', 'onboarding'] as const)('in the view %s with each fixture', async (view) => {
    await harness.go(opened, { view });
    for (const fixture of FIXTURE_NAMES) {
      // A page that has told nothing yet, and a set-up that is under way, begin anew.
      const begins = fixtures[fixture]!();
      if (begins.slices === null || (view === 'onboarding' && begins.shell.preferences.onboarding !== 'done')) await harness.go(opened, { view, fixture });
      else await become(opened, fixture);
      await check(fixture);
    }
  }, 300_000);

  it.each(SECTIONS.slice(1))('in the section %s with every fixture that fills it in another way', async (section) => {
    await harness.go(opened, { screen: section });
    for (const fixture of RICH) {
      await become(opened, fixture);
      await check(fixture);
    }
  }, 300_000);

  it.each(STEPS)('in the step %s of the set-up', async (screen) => {
    for (const fixture of ['fresh', 'listening']) {
      await harness.go(opened, { view: 'onboarding', screen, fixture });
      await check();
    }
  }, 300_000);

  it.each(['listening', 'reading', 'long-names', 'network'])('on the page of a client, with the fixture %s', async (fixture) => {
    await harness.go(opened, { screen: 'clients', fixture });
    await opened.page.locator('.client').nth(fixture === 'network' ? 1 : 0).click();
    await opened.page.getByRole('heading', { name: 'Reading and writing' }).waitFor();
    await check();
  }, 300_000);

  it('in a long list', async () => {
    await harness.go(opened, { screen: 'live', fixture: 'ten-thousand' });
    await check();
  }, 300_000);

  it.each(SHEETS)('in the sheet that $opens opens', async (sheet) => {
    await harness.go(opened, { screen: sheet.screen, fixture: sheet.fixture ?? 'listening' });
    await (await openerOf(opened.page, sheet)).click();
    await opened.page.locator('dialog[open] h2').waitFor();
    await check();
  }, 300_000);
});
