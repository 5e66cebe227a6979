import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { cleanName } from '../parts/clean-name.ts';
import { fixtures } from '../fixtures/fixtures.ts';
import { eventually } from './open-pages.ts';
import { settled, startHarness, type Harness, type OpenPage, type PageOptions } from './page.ts';
import { openSection } from './screens.ts';

vi.setConfig({ testTimeout: 120_000 });
let harness: Harness;
let opened: OpenPage;
let page: Page;
beforeAll(async () => {
  harness = await startHarness();
  opened = await harness.open();
  page = opened.page;
}, 300_000);
afterAll(() => harness?.close());

const go = (options: PageOptions) => harness.go(opened, options);

/** Control, zero-width and direction characters that make a text look like another (ui.md, Live). The joiners stay. */
const OVERRIDES = /(?![\t\n\v\f\r])[\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/u;

interface Written {
  readonly texts: readonly string[];
  /** `button aria-label`, and its value: every attribute, whatever its name. */
  readonly attributes: readonly (readonly [where: string, value: string])[];
}

/** All that the page says, on screen and to who can't see it. */
const written = (): Promise<Written> => page.evaluate(() => {
  const texts: string[] = [document.title];
  const attributes: [string, string][] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node instanceof Element) {
      for (const { name, value } of node.attributes) attributes.push([`${node.tagName.toLowerCase()} ${name}`, value]);
      if (node instanceof HTMLInputElement || node instanceof HTMLTextAreaElement) attributes.push([`${node.tagName.toLowerCase()} its value`, node.value]);
    } else texts.push(node.nodeValue ?? '');
  }
  return { texts, attributes };
});

/** Where the page says one of these. */
async function told(secrets: readonly string[]): Promise<readonly (readonly [string, string])[]> {
  const { texts, attributes } = await written();
  return [...texts.map((text) => ['text', text] as const), ...attributes].filter(([, text]) => secrets.some((secret) => text.includes(secret)));
}

/** No override character is left, no attribute holds a text of any length, and no markup runs. */
async function expectHarmless(where: string): Promise<void> {
  const { texts, attributes } = await written();
  expect([...texts.map((text) => ['text', text] as const), ...attributes].filter(([, text]) => OVERRIDES.test(text)), where).toEqual([]);
  // The longest label is a sentence; what holds more is a list of classes, a path of an icon, or what its owner typed.
  expect(attributes.filter(([name, value]) => /aria-|title|alt|data-|placeholder/.test(name) && value.length > 320), where).toEqual([]);
  expect(await page.title()).not.toMatch(/taken|^1$/);
  expect(await page.locator('#root img, #root script').count()).toBe(0);
  expect(opened.errors, where).toEqual([]);
}

/** What opens a sheet about a sender, chat, client, mailbox or token. */
const SHEETS = [
  ['senders', /^Edit /], ['senders', 'Group Chats...'], ['clients', /^Allow\.\.\.: /], ['settings', 'Choose...'], ['settings', /^Revoke/],
] as const;

describe.each(['long-names', 'rtl-emoji', 'hostile-names'])('U6: %s', (fixture) => {
  test('rows of Live stay 56 px high and show the address, wide and narrow', async () => {
    await go({ screen: 'live', fixture });
    await page.locator('.live-item').first().waitFor();
    for (const width of [960, 320]) {
      await page.setViewportSize({ width, height: 640 });
      await settled(page);
      for (const item of await page.locator('.live-item').all()) {
        expect((await item.boundingBox())!.height).toBe(56);
        const address = item.locator('.person-address').first();
        expect(await address.textContent()).toContain('example.');
        const [box, row] = [(await address.boundingBox())!, (await item.boundingBox())!];
        expect(box.width).toBeGreaterThan(40);
        expect(box.x + box.width).toBeLessThanOrEqual(row.x + row.width);
      }
    }
    expect(opened.errors).toEqual([]);
  });

  test('in every section no override character is left, no label is endless, and no markup runs', async () => {
    await go({ fixture });
    for (const section of ['events', 'senders', 'live', 'clients', 'activity', 'settings'] as const) {
      await openSection(page, section);
      if (section === 'live') await page.locator('.live-item').first().getByRole('button').first().click();
      await settled(page);
      await expectHarmless(section);
    }
  });

  test('nor in the sheets about them, in the panel and in the set-up', async () => {
    await go({ fixture });
    for (const [section, name] of SHEETS) {
      await openSection(page, section);
      const opener = page.getByRole('button', { name }).first();
      if ((await opener.count()) === 0) continue;
      await opener.click();
      await page.locator('dialog[open] h2').waitFor();
      await settled(page);
      await expectHarmless(`${section} ${String(name)}`);
      await page.keyboard.press('Escape');
      await page.locator('dialog').waitFor({ state: 'detached' });
    }
    for (const options of [{ view: 'panel' }, { view: 'onboarding', screen: 'senders' }] as const) {
      await go({ ...options, fixture });
      await expectHarmless(options.view);
    }
  });
});

test('U6: names are isolated, so that one in Arabic leaves its address as it is', async () => {
  await go({ screen: 'live', fixture: 'rtl-emoji' });
  const row = page.locator('.live-item').first();
  await row.waitFor();
  expect(await row.locator('bdi[dir="auto"]').count()).toBeGreaterThanOrEqual(3);
  expect(await row.locator('.live-address').textContent()).toBe('<omar@example.com>');
});

describe('hidden details are nowhere on the page: in no text, and in no attribute', () => {
  test.each(['listening', 'long-names', 'rtl-emoji', 'hostile-names'])('with the fixture %s', async (fixture) => {
    await go({ screen: 'live', fixture });
    // The fixture gives clients the same names, which are not hidden.
    await page.evaluate(() => window.belfryFixture!.change({ waiting: [], clients: [] }));
    await page.keyboard.press('Control+Shift+H');
    await page.getByRole('button', { name: 'Not matched' }).click();
    const strange = page.getByRole('button', { name: /^Allow sender: Mail at \d\d:\d\d:\d\d$/ });
    await strange.first().waitFor();
    // Its sheet shows the sender, and the button says so.
    expect(await strange.first().getAttribute('title')).toBe('Opens a sheet that shows the sender');
    const secrets = fixtures[fixture]!().live.flatMap(({ name, sender, subject, place }) => [name, sender, subject, place])
      .flatMap((text) => (text === null || text === '' ? [] : [text, cleanName(text), cleanName(text).slice(0, 60)])).filter((text) => text !== '');
    expect(secrets.length).toBeGreaterThan(10);
    const count = await page.locator('.live-item').count();
    for (let index = 0; index < count; index += 1) {
      await page.locator('.live-item').nth(index).getByRole('button').first().click();
      await page.locator('.live-detail').waitFor();
      await page.locator(`.live-item:nth-child(${index + 1}) [aria-expanded=true]`).waitFor();
      expect(await told(secrets)).toEqual([]);
    }
    await openSection(page, 'activity');
    expect(await told(secrets)).toEqual([]);
  });
});

describe('U13: what a client calls itself', () => {
  test('markup is shown as text, in quotes', async () => {
    await go({ screen: 'clients', fixture: 'hostile-names' });
    await page.locator('.client').getByText('"</script><script>document.title=taken</script>"', { exact: true }).waitFor();
    expect(await page.title()).toBe('Clients - Belfry');
    expect(opened.errors).toEqual([]);
  });

  test('4,000 characters are cut at 64, and the details show all of them', async () => {
    await go({ screen: 'clients', fixture: 'long-names' });
    const name = page.locator('.client-name', { hasText: 'xxx' });
    expect(await name.textContent()).toBe(`"${'x'.repeat(63)}…"`);
    await name.click();
    await eventually(() => page.getByRole('heading', { level: 1 }).textContent()).toBe(`"${'x'.repeat(63)}…"`);
    await page.getByText('x'.repeat(4000), { exact: true }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(960);
  });

  test('one that waits for an answer is shown the same way in the list and in its sheet', async () => {
    await go({ screen: 'clients', fixture: 'hostile-names' });
    const shown = `"${'A'.repeat(63)}…"`;
    await page.locator('.waiting-name', { hasText: shown }).waitFor();
    await page.getByRole('button', { name: /^Allow\.\.\.: "AAA/ }).click();
    const sheet = page.getByRole('dialog');
    await sheet.getByText(shown, { exact: true }).waitFor();
    await sheet.getByText('All of its name').click();
    await sheet.getByText('A'.repeat(4000), { exact: true }).waitFor();
  });
});
