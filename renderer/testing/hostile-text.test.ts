import { describe, expect, test } from 'vitest';
import { eventually, openPages } from './open-pages.ts';

const open = openPages();

/** Control, zero-width and direction characters that make a text look like another (ui.md, Live). The joiners stay. */
const OVERRIDES = /(?![\t\n\v\f\r])[\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/u;

describe.each(['long-names', 'rtl-emoji', 'hostile-names'])('U6: %s', (fixture) => {
  test.each([960, 320])('rows of Live stay 56 px high and show the address, at %i px', async (width) => {
    const { page, errors } = await open({ screen: 'live', fixture, width });
    await page.locator('.live-item').first().waitFor();
    for (const item of await page.locator('.live-item').all()) {
      expect((await item.boundingBox())!.height).toBe(56);
      const address = item.locator('.person-address').first();
      expect(await address.textContent()).toContain('example.');
      const [box, row] = [(await address.boundingBox())!, (await item.boundingBox())!];
      expect(box.width).toBeGreaterThan(40);
      expect(box.x + box.width).toBeLessThanOrEqual(row.x + row.width);
    }
    expect(errors).toEqual([]);
  });

  test.each(['events', 'senders', 'live', 'clients', 'activity', 'settings'])('in %s no override character is left and no markup runs', async (screen) => {
    const { page, errors } = await open({ screen, fixture });
    const found = await page.evaluate(() => {
      const texts: string[] = [document.title];
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (node instanceof Element) for (const { value } of node.attributes) texts.push(value);
        else texts.push(node.nodeValue ?? '');
      }
      return texts;
    });
    expect(found.filter((text) => OVERRIDES.test(text))).toEqual([]);
    expect(await page.title()).not.toMatch(/taken|^1$/);
    expect(await page.locator('#root img, #root script').count()).toBe(0);
    expect(errors).toEqual([]);
  });
});

test('U6: names are isolated, so that one in Arabic leaves its address as it is', async () => {
  const { page } = await open({ screen: 'live', fixture: 'rtl-emoji' });
  const row = page.locator('.live-item').first();
  await row.waitFor();
  expect(await row.locator('bdi[dir="auto"]').count()).toBeGreaterThanOrEqual(3);
  expect(await row.locator('.live-address').textContent()).toBe('<omar@example.com>');
});

describe('U13: what a client calls itself', () => {
  test('markup is shown as text, in quotes', async () => {
    const { page, errors } = await open({ screen: 'clients', fixture: 'hostile-names' });
    await page.locator('.client').getByText('"</script><script>document.title="taken"</script>"', { exact: true }).waitFor();
    expect(await page.title()).toBe('Clients - Belfry');
    expect(errors).toEqual([]);
  });

  test('4,000 characters are cut at 64, and the details show all of them', async () => {
    const { page } = await open({ screen: 'clients', fixture: 'long-names' });
    const name = page.locator('.client-name', { hasText: 'xxx' });
    expect(await name.textContent()).toBe(`"${'x'.repeat(63)}…"`);
    await name.click();
    await eventually(() => page.getByRole('heading', { level: 1 }).textContent()).toBe(`"${'x'.repeat(63)}…"`);
    await page.getByText('x'.repeat(4000), { exact: true }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(960);
  });

  test('one that waits for an answer is shown the same way in the list and in its sheet', async () => {
    const { page } = await open({ screen: 'clients', fixture: 'hostile-names' });
    const shown = `"${'A'.repeat(63)}…"`;
    await page.locator('.waiting-name', { hasText: shown }).waitFor();
    await page.getByRole('button', { name: /^Allow\.\.\.: "AAA/ }).click();
    const sheet = page.getByRole('dialog');
    await sheet.getByText(shown, { exact: true }).waitFor();
    await sheet.getByText('All of its name').click();
    await sheet.getByText('A'.repeat(4000), { exact: true }).waitFor();
  });
});
