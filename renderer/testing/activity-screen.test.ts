import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { eventually, openPages } from './open-pages.ts';

const open = openPages();
const activity = async (fixture = 'listening'): Promise<Page> => (await open({ screen: 'activity', fixture })).page;

const lines = async (page: Page) => (await page.locator('.activity-row').allInnerTexts()).map((text) => text.split('\n').filter(Boolean).join(' | '));

test('what happened, by days, in words', async () => {
  const page = await activity();
  await page.locator('.activity-row').first().waitFor();
  expect(await page.locator('.activity-day h2').allTextContents()).toEqual(['Today', 'Yesterday', 'Mon 9 Nov']);
  const all = await lines(page);
  expect(all).toHaveLength(9);
  expect(all.slice(0, 4)).toEqual([
    '10:42:08 | Delivered | mail.received | "Claude Code"',
    '10:40:12 | Not sent | mail.received | No allowed sender matches',
    '10:02:31 | Subscribed | mail.received | "Claude Code"',
    '09:58:00 | Changed | mail.received | New mail turned on',
  ]);
  expect(await page.getByRole('main').innerText()).toContain("Senders aren't kept here.");
});

test('filters by kind and client, and searches what is shown', async () => {
  const page = await activity();
  await page.getByLabel('Kind').selectOption({ label: 'Delivered' });
  await eventually(async () => (await lines(page)).length).toBe(2);
  await page.getByLabel('Client', { exact: true }).selectOption({ label: '"Cursor"' });
  await page.getByText('Nothing matches.').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await eventually(async () => (await lines(page)).length).toBe(9);
  await page.locator('h1').focus();
  await page.keyboard.press('ControlOrMeta+f');
  await page.keyboard.type('caught up');
  await eventually(() => lines(page)).toEqual(['09:12:44 | Woke up | Caught up 4 mails, 1 message, 0 missed']);
});

test('export saves all that is kept', async () => {
  const page = await activity();
  await page.getByRole('button', { name: 'Export...' }).click();
  await eventually(() => page.evaluate(() => window.belfryFixture!.done.filter((each) => each.startsWith('save ')))).toEqual(['save belfry-activity-2026-11-12.jsonl']);
});

test('nothing yet says so', async () => {
  const page = await activity('fresh');
  await page.getByText('Nothing yet. What Belfry does shows up here.').waitFor();
});

test('older pages come when asked for, each row once and newest first', async () => {
  const page = await activity('ten-thousand');
  const count = () => page.locator('.activity-row').count();
  const older = page.getByRole('button', { name: 'Show Older' });
  await eventually(count).toBe(200);
  await older.click();
  await eventually(count).toBe(400);
  await older.click();
  await eventually(count).toBe(450);
  expect(await older.count()).toBe(0);
  const days = await page.locator('.activity-day h2').allTextContents();
  expect(days.slice(0, 2)).toEqual(['Today', 'Yesterday']);
  expect(new Set(days).size).toBe(days.length);
});

test('a search reads on by itself until it has found enough or everything was read', async () => {
  const page = await activity('ten-thousand');
  await page.getByLabel('Search activity').fill('a1b2c3d4-42');
  await eventually(() => page.locator('.activity-row').count()).toBe(11);
  expect(await page.getByRole('button', { name: 'Show Older' }).count()).toBe(0);
});

test('what a client read and what became of its texts, each under a filter of its own', async () => {
  const page = await activity('reading');
  await page.locator('.activity-row').first().waitFor();
  expect((await lines(page)).slice(0, 3)).toEqual([
    '10:42:20 | Read | mail.received | "Claude Code", 1 mail, mail_get',
    '10:42:15 | Read | messages.received | "Claude Code", 25 messages, messages_list',
    '10:42:10 | Reply | messages.received | "Claude Code", Written',
  ]);
  await page.getByLabel('Kind').selectOption({ label: 'Read' });
  await eventually(async () => (await lines(page)).length).toBe(2);
  await page.getByLabel('Kind').selectOption({ label: 'Reply' });
  await eventually(async () => (await lines(page)).length).toBe(1);
});
