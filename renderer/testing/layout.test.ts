import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { layoutFaults } from './geometry.ts';
import { SCREENSHOTS, settled, startHarness, type Harness, type OpenPage } from './page.ts';
import { openerOf, SCREENS, screenName, setTheme, SHEETS } from './screens.ts';

let harness: Harness;
let opened: OpenPage;
beforeAll(async () => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  harness = await startHarness();
  opened = await harness.open();
}, 120_000);
afterAll(() => harness?.close());

const WIDTHS = [1280, 960, 560, 320] as const;
const FIXTURES = ['listening', 'long-names', 'client-asking', 'config-stale', 'reading', 'texts-waiting', 'network', 'hostile-names'] as const;
const TIME_OUT = 300_000;

describe('U4: nothing is clipped, lies over another or makes the page scroll sideways', () => {
  it.each(SCREENS.map((screen) => [screenName(screen), screen] as const))('%s at every width, in both themes', async (name, screen) => {
    for (const fixture of FIXTURES) {
      await harness.go(opened, { ...screen, fixture });
      for (const width of WIDTHS) {
        await opened.page.setViewportSize({ width, height: 640 });
        await settled(opened.page);
        // Places are the same in both themes: colours change none.
        expect(await layoutFaults(opened.page), `${fixture} at ${width}`).toEqual([]);
        if (fixture !== 'listening' && fixture !== 'long-names') continue;
        for (const theme of ['light', 'dark'] as const) {
          await setTheme(opened.page, theme);
          await opened.page.screenshot({ path: join(SCREENSHOTS, `${`${name} ${fixture} ${width} ${theme}`.replaceAll(' ', '-')}.png`) });
        }
      }
    }
  }, TIME_OUT);

  it.each(['listening', 'reading', 'long-names'])('the page of a client, with the fixture %s', async (fixture) => {
    await harness.go(opened, { screen: 'clients', fixture });
    await opened.page.locator('.client').first().click();
    await opened.page.getByRole('heading', { name: 'Reading and writing' }).waitFor();
    for (const width of WIDTHS) {
      await opened.page.setViewportSize({ width, height: 640 });
      await settled(opened.page);
      expect(await layoutFaults(opened.page), `at ${width}`).toEqual([]);
    }
  }, TIME_OUT);

  it.each(SHEETS)('the sheet that $opens opens', async (sheet) => {
    await harness.go(opened, { screen: sheet.screen, fixture: sheet.fixture ?? 'listening' });
    await (await openerOf(opened.page, sheet)).click();
    await opened.page.locator('dialog[open] h2').waitFor();
    for (const width of WIDTHS) {
      await opened.page.setViewportSize({ width, height: 640 });
      await settled(opened.page);
      expect(await layoutFaults(opened.page), `at ${width}`).toEqual([]);
    }
  }, TIME_OUT);
});

describe('U5: text at 200 %, reduced motion, increased contrast', () => {
  it.each(SCREENS.map((screen) => [screenName(screen), screen] as const))('%s with text twice as large', async (_, screen) => {
    for (const fixture of ['listening', 'long-names']) {
      await harness.go(opened, { ...screen, fixture });
      // What a larger default text size of the reader does: all sizes are in rem.
      await opened.page.evaluate(() => { document.documentElement.style.fontSize = '200%'; });
      await settled(opened.page);
      expect(await layoutFaults(opened.page), fixture).toEqual([]);
    }
  }, TIME_OUT);

  it.each(SCREENS.map((screen) => [screenName(screen), screen] as const))('%s stands still where motion is reduced', async (_, screen) => {
    await harness.go(opened, { ...screen, reducedMotion: 'reduce' });
    const moving = await opened.page.evaluate(() => [...document.querySelectorAll('*')].flatMap((element) => {
      const { transitionDuration, animationDuration } = getComputedStyle(element);
      return [...transitionDuration.split(','), ...animationDuration.split(',')].some((each) => Number.parseFloat(each) !== 0) ? [element.className] : [];
    }));
    expect(moving).toEqual([]);
  }, TIME_OUT);

  it.each(SCREENS.map((screen) => [screenName(screen), screen] as const))('%s draws borders in the colour of text where contrast is increased', async (_, screen) => {
    await harness.go(opened, { ...screen, contrast: 'more' });
    const faint = await opened.page.evaluate(() => {
      const { color } = getComputedStyle(document.body);
      return [...document.querySelectorAll('.button-normal:not([aria-pressed=true]), .field-input, .select-input, .switch-button[aria-checked=false] .switch-track, .events-card, .settings-card, .step-card')].flatMap((element) => {
        const { borderTopColor, borderTopWidth, borderTopStyle } = getComputedStyle(element);
        const disabled = element.matches(':disabled, :disabled *');
        return !disabled && (borderTopColor !== color || borderTopStyle === 'none' || Number.parseFloat(borderTopWidth) < 1) ? [`${element.className} ${borderTopColor}`] : [];
      });
    });
    expect(faint).toEqual([]);
  }, TIME_OUT);
});
