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

describe('accounts and mailboxes left out', () => {
  async function sheetOf(fixture = 'listening') {
    const page = await settings(fixture);
    await page.getByRole('button', { name: 'Choose...' }).click();
    const sheet = page.getByRole('dialog', { name: 'Left out' });
    await sheet.getByText('No client hears of mail there, reads it or finds it, whatever else it may do.').waitFor();
    return { page, sheet };
  }

  test('leaving out takes along what is below; it is saved at the end and can be undone', async () => {
    const { page, sheet } = await sheetOf();
    expect(await sheet.getByLabel('Receipts').isChecked()).toBe(true);
    await sheet.getByLabel('Projects', { exact: true }).check();
    expect(await sheet.getByLabel('Projects/Payroll').isChecked()).toBe(true);
    expect(await sheet.getByLabel('Projects/Payroll').isDisabled()).toBe(true);
    await sheet.getByRole('button', { name: 'Save' }).click();
    await page.locator('[data-notice=undo]').getByText('1 place left out.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Choose...' }).click();
    expect(await sheet.getByLabel('Projects', { exact: true }).isChecked()).toBe(false);
    expect(await sheet.getByLabel('Receipts').isChecked()).toBe(true);
  });

  test('what is lifted is named before it is saved', async () => {
    const { sheet } = await sheetOf();
    await sheet.getByLabel('Receipts').uncheck();
    expect(await sheet.locator('.left-out-lifted').innerText()).toContain('No longer left out: iCloud/Receipts. Clients may then hear of mail there and read it');
  });

  test('a long list is searched', async () => {
    const { sheet } = await sheetOf();
    await sheet.getByLabel('Search accounts and mailboxes').fill('pay');
    await eventually(() => sheet.getByRole('checkbox').count()).toBe(2);
    await sheet.getByLabel('Search accounts and mailboxes').fill('nothing like it');
    await sheet.getByText('Nothing matches.').waitFor();
  });

  test('names by strangers are cleaned and run nothing', async () => {
    const { page, sheet } = await sheetOf('hostile-names');
    await sheet.getByLabel('<img src=x onerror="document.title=1">').waitFor();
    expect(await sheet.innerText()).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b\ufeff]/);
    expect(await page.title()).toBe('Settings - Belfry');
  });
});

describe('the index of mail', () => {
  const row = (page: Page) => page.locator('.settings-group').filter({ has: page.getByRole('heading', { name: 'Search' }) });

  test('without a client that searches there is none', async () => {
    const page = await settings();
    expect(await row(page).innerText()).toContain('No client may search mail, so there is no index.');
    expect(await row(page).getByRole('progressbar').count()).toBe(0);
    expect(await row(page).getByRole('button', { name: 'Rebuild' }).count()).toBe(0);
  });

  test('while it is built: how far, how fast, how large', async () => {
    const page = await settings('reading');
    const shown = await row(page).innerText();
    for (const words of ['Building', '31,870 of 48,210 mails, 1,240 a second', '140.3 MB for 131.0 MB of text, encrypted']) expect(shown).toContain(words);
    expect(await row(page).getByRole('progressbar', { name: 'Mails in the index' }).evaluate((bar: HTMLProgressElement) => [bar.value, bar.max])).toEqual([31_870, 48_210]);
  });

  test('ready: what could not be read whole is counted by its kind, and the newest of each kind are named', async () => {
    const page = await settings('search-ready');
    await row(page).getByText('33 mails could not be read whole; what was read of them is found.').click();
    const large = row(page).getByRole('listitem').filter({ hasText: '31: a part is larger than is read' });
    await eventually(() => large.getByRole('listitem').count()).toBe(21);
    expect(await large.getByRole('listitem').allInnerTexts()).toEqual(expect.arrayContaining([
      expect.stringMatching(/^row 48210, mailbox not known, \d{4}-\d\d-\d\d$/), 'row 48209, iCloud/INBOX, no date', 'and 11 more',
    ]));
    await row(page).getByRole('button', { name: 'Rebuild' }).click();
    await eventually(() => row(page).innerText()).toContain('Building');
  });

  test('failed and paused say why', async () => {
    expect(await row(await settings('search-failed')).innerText()).toContain('The index file is damaged. It is made anew. It is tried again by itself.');
    const page = await settings('search-paused');
    expect(await row(page).innerText()).toContain('It waits while this Mac runs on battery.');
    const battery = row(page).getByRole('switch', { name: 'Build the index on battery' });
    expect(await battery.getAttribute('aria-checked')).toBe('false');
    await battery.click();
    await eventually(() => battery.getAttribute('aria-checked')).toBe('true');
  });
});

describe('the endpoint over HTTP', () => {
  const group = (page: Page) => page.locator('.settings-group').filter({ has: page.getByRole('heading', { name: 'HTTP', exact: true }) });

  test('is off until it is turned on, and then shows its address to copy', async () => {
    const page = await settings();
    const toggle = group(page).getByRole('switch', { name: 'Serve MCP on 127.0.0.1' });
    expect(await toggle.getAttribute('aria-checked')).toBe('false');
    expect(await group(page).getByRole('group').count()).toBe(0);
    await toggle.click();
    await group(page).getByRole('group', { name: 'the address for clients' }).waitFor();
    expect(await group(page).getByRole('group', { name: 'the address for clients' }).textContent()).toBe('http://127.0.0.1:23537/mcp');
    const port = group(page).getByLabel('Port', { exact: true });
    await port.fill('80');
    await group(page).getByText('A number from 1024 to 65535.').waitFor();
    await port.fill('4000');
    await port.press('Enter');
    await eventually(() => group(page).getByRole('group', { name: 'the address for clients' }).textContent()).toBe('http://127.0.0.1:4000/mcp');
  });

  test('wanted and not possible: says why', async () => {
    const page = await settings('http-trouble');
    expect(await group(page).innerText()).toMatch(/Another program has this port\. Belfry looks again every 10 seconds\.[^]*Not open/);
  });
});
