import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settled, startHarness, type Harness, type OpenPage } from './page.ts';
import { openerOf, SCREENS, screenName, SHEETS } from './screens.ts';

let harness: Harness;
let opened: OpenPage;
beforeAll(async () => {
  harness = await startHarness();
  opened = await harness.open();
}, 120_000);
afterAll(() => harness?.close());

interface Stop {
  readonly name: string;
  /** Its place among the controls of the document, or -1 for an area that only scrolls. */
  readonly index: number;
  readonly ring: boolean;
}

/** Numbers the controls in reading order: what Tab has to reach. Radio buttons of a group are one stop. */
async function numberControls(page: Page): Promise<number> {
  return page.evaluate(() => {
    const within = document.querySelector('dialog[open]') ?? document.body;
    const controls = [...within.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary, [tabindex]')].filter((element) =>
      element.tabIndex >= 0 && !element.matches(':disabled') && element.checkVisibility({ visibilityProperty: true }) && !(element instanceof HTMLInputElement && element.type === 'radio' && !element.checked));
    controls.forEach((element, index) => { element.dataset.stop = String(index); });
    return controls.length;
  });
}

/** Presses Tab until the focus leaves the page. @param most a trap would never end */
async function tabThrough(page: Page, most: number): Promise<readonly Stop[]> {
  const stops: Stop[] = [];
  for (let presses = 0; presses < most; presses += 1) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate((): Stop | null => {
      const element = document.activeElement as HTMLElement | null;
      if (!element || element === document.body || element.tagName === 'DIALOG') return null;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return {
        name: `${element.tagName.toLowerCase()} "${(element.getAttribute('aria-label') ?? element.innerText).slice(0, 40)}"`,
        index: Number(element.dataset.stop ?? -1),
        ring: element.matches(':focus-visible') && outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2,
      };
    });
    if (stop === null || (stop.index >= 0 && stops.some(({ index }) => index === stop.index))) return stops;
    stops.push(stop);
  }
  throw new Error(`Tab never left the page: ${stops.slice(-5).map(({ name }) => name).join(', ')}`);
}

describe('U2: everything is reached with Tab, in reading order, with a visible ring', () => {
  it.each(SCREENS.map((screen) => [screenName(screen), screen] as const))('%s', async (_, screen) => {
    for (const fixture of ['listening', 'client-asking', 'texts-waiting', 'network']) {
      await harness.go(opened, { ...screen, fixture });
      const { page } = opened;
      // Some steps put the focus where it is needed next; the tour starts at the top.
      await page.evaluate(() => {
        document.body.tabIndex = -1;
        document.body.focus();
        document.body.removeAttribute('tabindex');
      });
      const count = await numberControls(page);
      const stops = await tabThrough(page, count + 10);
      expect(stops.filter(({ index }) => index >= 0).map(({ index }) => index), fixture).toEqual(Array.from({ length: count }, (__, index) => index));
      expect(stops.filter(({ ring }) => !ring).map(({ name }) => name), fixture).toEqual([]);
    }
  }, 120_000);

  it.each(SHEETS)('the sheet that $opens opens: all of it, Esc closes it, and the focus returns', async (sheet) => {
    await harness.go(opened, { screen: sheet.screen, fixture: sheet.fixture ?? 'listening' });
    const { page } = opened;
    const opener = await openerOf(page, sheet);
    await opener.focus();
    await page.keyboard.press('Enter');
    await page.locator('dialog[open] h2').waitFor();
    await settled(page);
    const count = await numberControls(page);
    const reached = new Set<number>();
    // The dialog may start at its first field: one round through it meets everything.
    const start = await page.evaluate(() => Number((document.activeElement as HTMLElement).dataset.stop ?? -1));
    if (start >= 0) reached.add(start);
    for (const { index, ring, name } of [...await tabThrough(page, count + 10), ...await tabThrough(page, count + 10)]) {
      expect(ring, name).toBe(true);
      if (index >= 0) reached.add(index);
    }
    expect([...reached].toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (__, index) => index));
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await opener.evaluate((element) => element === document.activeElement)).toBe(true);
  }, 120_000);

  it('a menu: arrows move, Esc closes it, and the focus returns', async () => {
    await harness.go(opened, {});
    const { page } = opened;
    const button = page.getByRole('button', { name: 'Pause' });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: '15 minutes' }).waitFor();
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate(() => document.activeElement!.textContent)).toBe('1 hour');
    await page.keyboard.press('End');
    expect(await page.evaluate(() => document.activeElement!.textContent)).toBe('Until I resume');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('menu').count()).toBe(0);
    expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
  }, 120_000);
});

describe('the keys of ui.md, section 5', () => {
  it('opens sections, Settings, the filter and the Add sheet, pauses, and hides details', async () => {
    await harness.go(opened, {});
    const { page } = opened;
    for (const [key, title] of [['2', 'Senders'], ['3', 'Live'], ['4', 'Clients'], ['5', 'Activity'], [',', 'Settings'], ['1', 'Events']] as const) {
      await page.keyboard.press(`Control+${key}`);
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
    }
    await page.keyboard.press('Control+3');
    await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor();
    await page.keyboard.press('Control+f');
    await page.waitForFunction(() => document.activeElement instanceof HTMLInputElement);
    await page.keyboard.press('Control+Shift+H');
    await page.getByText('An allowed sender').first().waitFor();
    expect(await page.getByText('ada@example.com').count()).toBe(0);
    await page.keyboard.press('Control+.');
    await page.waitForFunction(() => document.querySelector('[data-health]')?.getAttribute('data-health') === 'paused');
    await page.keyboard.press('Control+.');
    await page.waitForFunction(() => document.querySelector('[data-health]')?.getAttribute('data-health') === 'listening');
    await page.keyboard.press('Control+n');
    await page.locator('dialog[open]').getByRole('heading', { name: 'Add senders' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
  }, 120_000);

  it('turning the first event on without a sender opens the Add sheet', async () => {
    await harness.go(opened, { fixture: 'all-off' });
    const { page } = opened;
    await page.evaluate(() => window.belfryFixture!.change({ senders: [] }));
    await page.getByRole('switch', { name: 'New mail' }).focus();
    await page.keyboard.press('Space');
    await page.locator('dialog[open]').getByRole('heading', { name: 'Add senders' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await page.getByRole('switch', { name: 'New mail' }).getAttribute('aria-checked')).toBe('true');
  }, 120_000);

  it('a switch that cannot be turned says why and stays', async () => {
    await harness.go(opened, {});
    const { page } = opened;
    await page.evaluate(() => window.belfryFixture!.engineLeaves());
    await page.getByRole('switch', { name: 'New mail' }).focus();
    await page.keyboard.press('Space');
    await page.locator('[data-notice=problem]').getByText('Belfry is starting. Try again in a moment.').waitFor();
    expect(await page.getByRole('switch', { name: 'New mail' }).getAttribute('aria-checked')).toBe('true');
  }, 120_000);
});
