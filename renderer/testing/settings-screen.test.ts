import { describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { eventually, openPages } from './open-pages.ts';

const open = openPages();
const settings = async (fixture = 'listening'): Promise<Page> => (await open({ screen: 'settings', fixture })).page;

describe('ask before a new client gets events', () => {
  const ask = (page: Page) => page.getByRole('switch', { name: 'Ask before a new client gets events' });

  test('is on, and goes off only after it was said what that means', async () => {
    const page = await settings();
    expect(await ask(page).getAttribute('aria-checked')).toBe('true');
    await ask(page).click();
    const sheet = page.getByRole('dialog', { name: 'Let new clients in without asking?' });
    await sheet.getByText('Any program on this Mac that connects to Belfry then gets events from the senders you allow').waitFor();
    await sheet.getByText('Reading, search and replies are still asked for.').waitFor();
    await sheet.getByRole('button', { name: 'Cancel' }).click();
    await sheet.waitFor({ state: 'detached' });
    expect(await ask(page).getAttribute('aria-checked')).toBe('true');
    await ask(page).click();
    await sheet.getByRole('button', { name: 'Turn Off' }).click();
    await eventually(() => ask(page).getAttribute('aria-checked')).toBe('false');
    await page.getByText('Off: any program that connects gets events from the senders you allow.').waitFor();
  });

  test('goes on again at once', async () => {
    const page = await settings();
    await ask(page).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Turn Off' }).click();
    await eventually(() => ask(page).getAttribute('aria-checked')).toBe('false');
    await ask(page).click();
    await eventually(() => ask(page).getAttribute('aria-checked')).toBe('true');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });
});
