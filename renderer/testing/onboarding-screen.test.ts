import { expect, test } from 'vitest';
import { eventually, openPages, outside } from './open-pages.ts';

const open = openPages();

test('senders are typed on the page; what needs another look stays in the field', async () => {
  const { page } = await open({ view: 'onboarding', screen: 'senders', fixture: 'fresh' });
  await page.getByText('No senders yet. Until you add one, nothing is sent.').waitFor();
  const field = page.getByLabel('Senders', { exact: true });
  await field.fill('ada@example.com, gmail.com, bob@');
  await page.locator('.paste-line').filter({ hasText: 'bob@' }).getByText('Not an address, domain or number').waitFor();
  await page.getByRole('button', { name: 'Add 1 sender' }).click();
  await page.getByRole('button', { name: 'Remove ada@example.com' }).waitFor();
  expect(await field.inputValue()).toBe('gmail.com\nbob@\n');
  await eventually(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
});

test('recent senders are read only when asked for', async () => {
  const { page } = await open({ view: 'onboarding', screen: 'senders', fixture: 'fresh' });
  await page.getByText('Recent on this Mac, never sent anywhere:').waitFor();
  expect(await page.getByRole('list', { name: 'Suggestions' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Show recent senders' }).click();
  await page.getByRole('button', { name: /Alan Turing/ }).click();
  await page.getByRole('button', { name: 'Add 1 sender' }).waitFor();
});

test('Continue takes along what was typed, and goes on with nothing', async () => {
  const { page } = await open({ view: 'onboarding', screen: 'senders', fixture: 'fresh' });
  await page.getByLabel('Senders', { exact: true }).fill('@example.org');
  await page.getByRole('button', { name: 'Add 1 sender' }).waitFor();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { level: 1, name: 'Connect an app' }).waitFor();
  await page.getByRole('button', { name: 'Back' }).click();
  await page.getByRole('button', { name: 'Remove Everyone at example.org' }).click();
  await page.getByText('No senders yet.').waitFor();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { level: 1, name: 'Connect an app' }).waitFor();
});

test('the tile hands the drag of the app to the shell; a browser has none', async () => {
  const { page } = await open({ view: 'onboarding', screen: 'access', fixture: 'fresh' });
  const prevented = await page.locator('.access-tile').evaluate((tile) => !tile.dispatchEvent(new DragEvent('dragstart', { bubbles: true, cancelable: true })));
  expect(prevented).toBe(true);
  await eventually(() => outside(page)).toContain('act drag-app');
  const browser = await open({ view: 'onboarding', screen: 'access', fixture: 'browser' });
  await browser.page.getByText('This page runs in a browser.').waitFor();
  expect(await browser.page.locator('.access-tile').count()).toBe(0);
});

/** ui.md, Full Disk Access: what the step shows in each state. */
test.each<[row: string, fixture: string, state: string, shown: readonly string[]]>([
  ['waiting', 'fresh', 'waiting', ['Waiting. This page updates by itself.', 'Turn on Belfry. Not listed? Drag this icon into the list.']],
  ['granted', 'listening', 'granted', ['Belfry can read Mail and Messages.']],
  ['a restart of the engine did not help', 'needs-reopen', 'reopen', ['Access is on. Reopen Belfry to use it.']],
  ['not signed', 'unsigned', 'waiting', ["This build isn't signed, so macOS may ignore or forget the permission after an update."]],
  ['one store missing', 'messages-unused', 'granted', ["Messages hasn't been used on this Mac."]],
  ['managed, or no administrator', 'managed', 'waiting', ['An administrator has to allow this.']],
])('the access step: %s', async (_, fixture, state, shown) => {
  const { page } = await open({ view: 'onboarding', screen: 'access', fixture });
  await page.locator(`[data-access="${state}"]`).waitFor();
  for (const sentence of shown) await page.getByText(sentence).first().waitFor();
  // Never a dead end.
  await page.getByRole('button', { name: state === 'granted' ? 'Continue' : 'Skip' }).waitFor();
  if (state === 'reopen') {
    await page.getByRole('button', { name: 'Reopen Belfry' }).click();
    await eventually(() => outside(page)).toContain('act reopen');
  }
});

test('the access step: granted while it shows, Continue takes the focus', async () => {
  const { page } = await open({ view: 'onboarding', screen: 'access', fixture: 'fresh' });
  await page.evaluate(() => {
    const store = { state: 'readable', everRead: true, version: null } as const;
    window.belfryFixture!.change({ access: { mail: store, messages: store, checkedAt: 0 } });
  });
  await eventually(() => page.getByRole('button', { name: 'Continue' }).evaluate((element) => element === document.activeElement)).toBe(true);
});

test('the access step: 30 s after System Settings was opened it says what to do where the switch is on already', async () => {
  const { page } = await open({ view: 'onboarding', screen: 'access', fixture: 'fresh' });
  const hint = page.locator('.step-note').filter({ hasText: 'Already on? Select Belfry in the list, remove it with the minus button, then add it again.' });
  expect(await hint.count()).toBe(0);
  await page.evaluate(() => window.belfryFixture!.changeShell({ settingsOpenedAt: 0 }));
  await hint.waitFor();
});
