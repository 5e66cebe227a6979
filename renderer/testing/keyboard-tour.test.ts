import { expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { eventually, openPages, outside } from './open-pages.ts';

const open = openPages();

const hasFocus = (target: Locator) => target.evaluate((element) => element === document.activeElement);

/** Tab until the target has the focus: the way a person without a pointer comes there. */
async function tabTo(page: Page, target: Locator, limit = 80): Promise<void> {
  await target.waitFor();
  for (let step = 0; step < limit; step += 1) {
    if (await hasFocus(target)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${String(target)}.`);
}

async function press(page: Page, target: Locator, key = 'Enter'): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press(key);
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

test('U3: from the first start to a test event, by keyboard alone', async () => {
  const { page, errors } = await open({ view: 'onboarding', fixture: 'fresh' });
  await press(page, button(page, 'Set Up'));

  await page.getByRole('heading', { name: 'Full Disk Access' }).waitFor();
  await press(page, button(page, 'Open System Settings'));
  await eventually(() => outside(page)).toContain('act open-full-disk-access');
  await page.evaluate(() => {
    const store = { state: 'readable', everRead: true, version: null } as const;
    window.belfryFixture!.change({ access: { mail: store, messages: store, checkedAt: null } });
  });
  // Continue takes the focus by itself.
  await eventually(() => hasFocus(button(page, 'Continue'))).toBe(true);
  await page.keyboard.press('Enter');

  const mail = page.getByRole('switch', { name: 'New mail' });
  await press(page, mail, 'Space');
  await eventually(() => mail.getAttribute('aria-checked')).toBe('true');
  await press(page, button(page, 'Continue'));

  await tabTo(page, page.getByLabel('Senders', { exact: true }));
  await page.keyboard.type('ada@example.com');
  await press(page, button(page, 'Add 1 sender'));
  const chip = button(page, 'Remove ada@example.com');
  await press(page, chip);
  await chip.waitFor({ state: 'detached' });
  await page.keyboard.press('ControlOrMeta+z');
  await chip.waitFor();
  await press(page, button(page, 'Continue'));

  await press(page, button(page, 'Connect: VS Code'));
  await page.getByRole('dialog').getByRole('group', { name: 'The change' }).waitFor();
  await press(page, button(page, 'Add'));
  await press(page, button(page, 'Done'));
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  // The program that was connected starts and listens.
  await page.evaluate(() => window.belfryFixture!.change({
    clients: [{
      id: '0a0b0c0d', display: '/Applications/Code.app', signed: true, persistable: true, label: 'VS Code', decision: 'always', events: 'all', senders: 'all', grants: [], asks: [],
      seenAt: 0, state: 'listening', connections: 1, connectedAt: 0, subscriptions: [{ type: 'mail.received', senders: 1, mode: 'push', delivered: 0 }], lastEventAt: null,
    }],
  }));
  await press(page, button(page, 'Continue'));

  await press(page, button(page, 'Send a Test Event'));
  await page.getByText('It was handed to VS Code.').waitFor();
  await press(page, button(page, 'Done'));
  await eventually(() => outside(page)).toContain('act finish-onboarding');
  expect(errors).toEqual([]);
});

test('U3: add a sender, connect, pause and undo in the window, by keyboard alone', async () => {
  const { page, errors } = await open({ view: 'window', fixture: 'listening' });
  await page.keyboard.press('ControlOrMeta+2');
  await page.getByRole('heading', { level: 1, name: 'Senders' }).waitFor();

  await page.keyboard.press('ControlOrMeta+n');
  const sheet = page.getByRole('dialog', { name: 'Add senders' });
  await tabTo(page, sheet.getByLabel('Senders', { exact: true }));
  await page.keyboard.type('new@example.com\nicloud.com');
  await press(page, sheet.getByLabel('Matches everyone at icloud.com'), 'Space');
  await press(page, sheet.getByRole('button', { name: 'Add 2 senders' }));
  const added = page.getByRole('row').filter({ hasText: 'new@example.com' });
  await added.waitFor();

  // One tab stop leads into the list, arrows move in it.
  await tabTo(page, page.getByRole('row').filter({ hasText: 'ada@example.com' }));
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowUp');
  await eventually(() => hasFocus(added)).toBe(true);
  await page.keyboard.press('Delete');
  await added.waitFor({ state: 'detached' });
  await page.keyboard.press('ControlOrMeta+z');
  await added.waitFor();

  await page.keyboard.press('ControlOrMeta+4');
  const connect = button(page, 'Connect: VS Code');
  await press(page, connect);
  await page.getByRole('dialog').getByRole('group', { name: 'The change' }).waitFor();
  await page.keyboard.press('Escape');
  await eventually(() => hasFocus(connect)).toBe(true);
  await page.keyboard.press('Enter');
  await press(page, button(page, 'Add'));
  await eventually(() => hasFocus(button(page, 'Done'))).toBe(true);
  await page.keyboard.press('Enter');
  await eventually(() => page.locator('.wiring').filter({ hasText: 'VS Code' }).innerText()).toContain('Set up');

  await page.keyboard.press('ControlOrMeta+.');
  await page.locator('[data-health="paused"]').first().waitFor({ state: 'attached' });
  await page.keyboard.press('ControlOrMeta+.');
  await page.locator('[data-health="listening"]').first().waitFor({ state: 'attached' });
  expect(errors).toEqual([]);
});
