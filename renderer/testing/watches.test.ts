import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { eventually, openPages } from './open-pages.ts';

const open = openPages();
async function client(name: string): Promise<Page> {
  const { page } = await open({ screen: 'clients', fixture: 'listening' });
  await page.locator('.client').filter({ hasText: name }).click();
  await page.getByRole('heading', { level: 2, name: 'Watches' }).waitFor();
  return page;
}

const watch = (page: Page, text: string) => page.getByRole('list', { name: 'Watches' }).getByRole('listitem').filter({ hasText: text });
const lines = async (page: Page, text: string) => (await watch(page, text).innerText()).split('\n').filter(Boolean);

test('a watch says who made it, where it stands, what waits and what was lost', async () => {
  const page = await client('Claude Code');
  expect(await lines(page, 'New mail from 2 senders')).toEqual(expect.arrayContaining(['2 unread - 1 sent, not confirmed - 5 confirmed', 'Made by the client, 10:02']));
  expect(await watch(page, 'New mail from 2 senders').locator('.badge').innerText()).toBe('Watching');
  expect(await lines(page, 'New message from 1 sender')).toEqual(expect.arrayContaining([
    '0 unread - 12 confirmed', 'Made by you, Tue', "The client or some of its senders aren't allowed yet. For those nothing is kept.",
    '3 unread items had to go because the watch was full.', 'The database of Messages was replaced, so events may be missing.', 'Also written to /Users/ada/agent',
  ]));
});

test('unread items show in the list of clients', async () => {
  const { page } = await open({ screen: 'clients', fixture: 'listening' });
  await page.locator('.client').filter({ hasText: 'Claude Code' }).getByText('2 unread').waitFor();
});

test('Stop takes it away at once and says so', async () => {
  const page = await client('Claude Code');
  await page.getByRole('button', { name: 'Stop: New mail from 2 senders' }).click();
  await watch(page, 'New mail from 2 senders').waitFor({ state: 'detached' });
  expect(await page.getByRole('status').allInnerTexts()).toContain('Watch 51a0c3e7 is stopped.');
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Watches');
});

test('the owner makes a watch; what is no sender is refused and the rest kept', async () => {
  const page = await client('Cursor');
  await page.getByText('None. A watch keeps events until the client has read them').waitFor();
  await page.getByRole('button', { name: 'New Watch' }).click();
  const sheet = page.getByRole('dialog', { name: 'New watch' });
  await sheet.getByLabel('Senders', { exact: true }).fill('ada@example.com, example.org, 55501, bob@');
  const line = (text: string) => sheet.locator('.paste-line').filter({ hasText: text });
  await line('55501').getByText('A number sends no mail').waitFor();
  await line('bob@').getByText('Not an address, domain or number').waitFor();
  await sheet.getByRole('button', { name: 'Watch 2 senders' }).click();
  await sheet.waitFor({ state: 'detached' });
  expect(await lines(page, 'New mail from 2 senders')).toEqual(expect.arrayContaining(['0 unread']));
  expect(await watch(page, 'New mail from 2 senders').innerText()).toContain('Made by you');
});

test('only events that are on can be watched', async () => {
  const page = await client('Cursor');
  await page.evaluate(() => window.belfryFixture!.navigate('events'));
  await page.getByRole('switch', { name: 'New mail' }).click();
  await page.evaluate(() => window.belfryFixture!.navigate('clients'));
  await page.locator('.client').filter({ hasText: 'Cursor' }).click();
  await page.getByRole('button', { name: 'New Watch' }).click();
  const sheet = page.getByRole('dialog', { name: 'New watch' });
  await sheet.getByRole('radio', { name: 'New message' }).waitFor();
  expect(await sheet.getByRole('radio', { name: 'New mail' }).count()).toBe(0);
});

test('items are written to a folder only where the owner names one', async () => {
  const page = await client('Claude Code');
  await page.getByRole('button', { name: 'Folder...: New mail from 2 senders' }).click();
  const sheet = page.getByRole('dialog', { name: 'Folder for this watch' });
  expect(await sheet.getByLabel('Also write items to a folder').isChecked()).toBe(false);
  expect(await sheet.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await sheet.getByLabel('Also write items to a folder').check();
  await sheet.getByText('Never the text.').waitFor();
  await sheet.getByLabel('Folder', { exact: true }).fill('agent');
  await sheet.getByRole('button', { name: 'Save' }).click();
  await sheet.getByText('The folder must be an absolute path.').waitFor();
  await sheet.getByLabel('Folder', { exact: true }).fill('/Users/ada/inbox');
  await sheet.getByRole('button', { name: 'Save' }).click();
  await sheet.waitFor({ state: 'detached' });
  await watch(page, 'New mail from 2 senders').getByText('Also written to /Users/ada/inbox').waitFor();
  await page.getByRole('button', { name: 'Folder...: New mail from 2 senders' }).click();
  await sheet.getByLabel('Also write items to a folder').uncheck();
  await sheet.getByRole('button', { name: 'Save' }).click();
  await eventually(() => watch(page, 'New mail from 2 senders').innerText()).not.toContain('Also written');
});
