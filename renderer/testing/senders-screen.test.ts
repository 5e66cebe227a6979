import { describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { eventually, openPages } from './open-pages.ts';

const open = openPages();
async function senders(fixture = 'listening'): Promise<Page> {
  const { page } = await open({ screen: 'senders', fixture });
  await page.locator('.senders-table, .empty-state').first().waitFor();
  return page;
}

const ruleRow = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
const titles = (page: Page) => page.locator('.senders-row:not(.senders-head) .senders-name').allTextContents();

test('the list says who may trigger an event, and that From proves nothing', async () => {
  const page = await senders();
  const text = await page.getByRole('main').innerText();
  expect(text).toContain('Only these senders can trigger an event. 5 of 6 on.');
  expect(text).toContain('Anyone can put any name in From. Treat an event as a hint, not as proof.');
  expect(await ruleRow(page, 'Everyone at example.org').innerText()).toContain('includes subdomains, but not noreply@example.org');
  expect(await ruleRow(page, '+1 555 010 1234').innerText()).toMatch(/Phone[^]*Messages[^]*10:41/);
});

test('without senders nothing is sent, and the list says so', async () => {
  const page = await senders('no-senders');
  await page.getByText('No senders yet. Until you add one, nothing is sent.').waitFor();
  await page.getByRole('button', { name: 'Add Senders' }).last().click();
  await page.getByRole('dialog', { name: 'Add senders' }).waitFor();
});

describe('adding', () => {
  test('a refused entry keeps the rest, and a domain for everybody has to be confirmed', async () => {
    const page = await senders();
    await page.keyboard.press('ControlOrMeta+n');
    const sheet = page.getByRole('dialog', { name: 'Add senders' });
    await sheet.getByLabel('Senders', { exact: true }).fill('new@example.com, gmail.com\nbob@');
    const line = (text: string) => sheet.locator('.paste-line').filter({ hasText: text });
    await line('bob@').getByText('Not an address, domain or number').waitFor();
    await line('new@example.com').getByText('Address').waitFor();
    await sheet.getByRole('button', { name: 'Add 1 sender' }).waitFor();
    await sheet.getByLabel('Matches everyone at gmail.com').check();
    await sheet.getByRole('button', { name: 'Add 2 senders' }).click();
    await sheet.waitFor({ state: 'detached' });
    await eventually(() => titles(page)).toEqual(expect.arrayContaining(['new@example.com', 'Everyone at gmail.com']));
    expect(await titles(page)).toHaveLength(8);
  });

  test('with subdomains and without one of them: everyone at example.net but noreply@', async () => {
    const page = await senders();
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const sheet = page.getByRole('dialog', { name: 'Add senders' });
    await sheet.getByLabel('Senders', { exact: true }).fill('@example.net');
    await sheet.getByLabel('Include subdomains').check();
    await sheet.getByLabel('But not').fill('noreply');
    await sheet.getByText('noreply: Not an address, domain or number').waitFor();
    await sheet.getByLabel('But not').fill('noreply@example.net');
    await sheet.getByRole('radio', { name: 'Mail', exact: true }).check();
    await sheet.getByRole('button', { name: 'Add 1 sender' }).click();
    await eventually(() => ruleRow(page, 'Everyone at example.net').innerText()).toContain('includes subdomains, but not noreply@example.net');
  });

  test('suggestions come while one types, and take the place of what was typed', async () => {
    const page = await senders();
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const sheet = page.getByRole('dialog', { name: 'Add senders' });
    const area = sheet.getByLabel('Senders', { exact: true });
    await area.fill('new@example.com, kath');
    await sheet.getByRole('list', { name: 'Suggestions' }).getByRole('button', { name: /Katherine Johnson/ }).click();
    expect(await area.inputValue()).toBe('new@example.com,katherine@example.com\n');
    expect(await area.evaluate((element) => element === document.activeElement)).toBe(true);
    await sheet.getByRole('button', { name: 'Show recent senders' }).click();
    await sheet.getByRole('button', { name: /Alan Turing/ }).waitFor();
  });

  test('how often it would have rung is looked up only when asked', async () => {
    const page = await senders();
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const sheet = page.getByRole('dialog', { name: 'Add senders' });
    await sheet.getByLabel('Senders', { exact: true }).fill('new@example.com');
    await sheet.getByRole('button', { name: 'Add 1 sender' }).waitFor();
    expect(await sheet.getByText(/Would have rung/).count()).toBe(0);
    await sheet.getByRole('button', { name: 'Try on the Last 30 Days' }).click();
    await sheet.getByText('Would have rung 6 times in the last 30 days.').waitFor();
    expect(await sheet.getByRole('list', { name: 'The newest of them' }).getByRole('listitem').count()).toBeGreaterThan(0);
    // Another question makes the answer void.
    await sheet.getByLabel('Senders', { exact: true }).fill('other@example.com');
    await eventually(() => sheet.getByText(/Would have rung/).count()).toBe(0);
  });
});

describe('removing', () => {
  test('Delete removes the focused row, the undo bar puts it back', async () => {
    const page = await senders();
    const before = await titles(page);
    await ruleRow(page, 'grace@example.net').focus();
    await page.keyboard.press('Delete');
    await ruleRow(page, 'grace@example.net').waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('row');
    await page.getByRole('button', { name: 'Undo' }).click();
    await ruleRow(page, 'grace@example.net').waitFor();
    expect((await titles(page)).toSorted()).toEqual(before.toSorted());
  });

  test('a selection goes at once, and Cmd-Z puts it back', async () => {
    const page = await senders();
    await page.getByLabel('Select all').check();
    await page.getByText('6 selected').waitFor();
    await page.getByRole('group', { name: 'Selected senders' }).getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No senders yet. Until you add one, nothing is sent.').waitFor();
    await page.locator('h1').focus();
    await page.keyboard.press('ControlOrMeta+z');
    await eventually(() => titles(page)).toHaveLength(6);
  });
});

test('a selection is turned off, and on again', async () => {
  const page = await senders();
  await page.getByLabel('Select ada@example.com').check();
  await page.getByLabel('Select grace@example.net').check();
  await page.getByRole('button', { name: 'Turn Off' }).click();
  await page.getByText('3 of 6 on.', { exact: false }).waitFor();
  await page.getByRole('button', { name: 'Turn On' }).click();
  await page.getByText('5 of 6 on.', { exact: false }).waitFor();
});

test('one switch turns one rule off', async () => {
  const page = await senders();
  await page.getByRole('switch', { name: 'ada@example.com' }).click();
  await page.getByText('4 of 6 on.', { exact: false }).waitFor();
  expect(await page.getByRole('switch', { name: 'ada@example.com' }).getAttribute('aria-checked')).toBe('false');
});

test('Return opens the rule, and what is saved shows', async () => {
  const page = await senders();
  await ruleRow(page, 'Everyone at example.org').focus();
  await page.keyboard.press('Enter');
  const sheet = page.getByRole('dialog', { name: 'Edit sender' });
  await sheet.getByLabel('Include subdomains').uncheck();
  await sheet.getByLabel('But not').fill('');
  await sheet.getByRole('radio', { name: 'Mail and Messages' }).check();
  await sheet.getByRole('button', { name: 'Save' }).click();
  await sheet.waitFor({ state: 'detached' });
  await eventually(() => ruleRow(page, 'Everyone at example.org').innerText()).toContain('Mail and Messages');
  expect(await ruleRow(page, 'Everyone at example.org').innerText()).not.toContain('subdomains');
  expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Everyone at example.org');
});

test('a group chat becomes a rule, and goes again with undo', async () => {
  const page = await senders();
  await page.getByRole('button', { name: 'Group Chats...' }).click();
  const sheet = page.getByRole('dialog', { name: 'Allow a group chat' });
  await sheet.getByLabel('Name of the chat').fill('fam');
  await sheet.getByRole('button', { name: 'Allow Family' }).click();
  await sheet.getByText('Allowed', { exact: true }).waitFor();
  await sheet.getByRole('button', { name: 'Done' }).click();
  await ruleRow(page, 'Family').getByText('Group chat').waitFor();
  await ruleRow(page, 'Family').focus();
  await page.keyboard.press('Delete');
  await ruleRow(page, 'Family').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await ruleRow(page, 'Family').waitFor();
});

test('Cmd-F finds; what is not there says so', async () => {
  const page = await senders();
  await page.locator('h1').focus();
  await page.keyboard.press('ControlOrMeta+f');
  await page.keyboard.type('bücher');
  await eventually(() => titles(page)).toEqual(['Everyone at bücher.example (xn--bcher-kva.example)']);
  await page.keyboard.type('zzz');
  await page.getByText('Nothing matches.').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await eventually(() => titles(page)).toHaveLength(6);
});
