import { describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import type { WaitingRow } from '../../app/contract/values.ts';
import { waitingSignIn } from '../fixtures/made-up.ts';
import { eventually, openPages, outside } from './open-pages.ts';

const open = openPages();
const at = async (screen: string, fixture = 'network'): Promise<Page> => (await open({ screen, fixture })).page;
const group = (page: Page, title: string) => page.locator('.settings-group').filter({ has: page.getByRole('heading', { name: title, exact: true }) });

describe('tokens', () => {
  test('a new one is made for what is chosen, shown once and copied; it is a client of its own', async () => {
    const page = await at('settings');
    await page.getByRole('button', { name: 'New Token...' }).click();
    const sheet = page.getByRole('dialog');
    await sheet.getByRole('heading', { name: 'New token' }).waitFor();
    expect(await sheet.getByRole('button', { name: 'Make Token' }).isDisabled()).toBe(true);
    for (const title of ['Read mail', 'Read messages', 'Search', 'Write']) expect(await sheet.getByLabel(title, { exact: true }).inputValue()).toBe('no');
    await sheet.getByLabel('Name', { exact: true }).fill('CI');
    await sheet.getByLabel('Read mail').selectOption({ label: 'From allowed senders' });
    await sheet.getByRole('button', { name: 'Make Token' }).click();
    await sheet.getByText('This is the only time that it is shown.').waitFor();
    const token = (await sheet.getByRole('group', { name: 'the new token' }).textContent())!;
    expect(token).toMatch(/^belfry_/);
    await sheet.getByRole('button', { name: 'Copy: the new token' }).click();
    await eventually(() => outside(page)).toContain(`copy ${token}`);
    await sheet.getByRole('button', { name: 'Done' }).click();
    await sheet.waitFor({ state: 'detached' });
    expect(await group(page, 'HTTP').innerText()).toContain('"CI"');
    expect(await page.locator('body').innerText()).not.toContain(token);
  });

  test('those that there are say when they were made and used; a revoked one is gone after it was asked', async () => {
    const page = await at('settings');
    const shown = await group(page, 'HTTP').innerText();
    for (const words of ['"Nightly build"', 'used last 11 Nov 2026', '"Notebook"', 'never used']) expect(shown).toContain(words);
    await page.getByRole('button', { name: 'Revoke...: "Nightly build"' }).click();
    const sheet = page.getByRole('dialog', { name: 'Revoke it?' });
    await sheet.getByText("This can't be undone").waitFor();
    await sheet.getByRole('button', { name: 'Revoke', exact: true }).click();
    await sheet.waitFor({ state: 'detached' });
    expect(await group(page, 'HTTP').innerText()).not.toContain('Nightly build');
  });
});

describe('hosts for webhooks', () => {
  test('none: webhooks are off; one is added, one that is no host is refused, one is removed with undo', async () => {
    const page = await at('settings', 'listening');
    const webhooks = group(page, 'Webhooks');
    expect(await webhooks.innerText()).toContain('None, so webhooks are off.');
    const field = webhooks.getByLabel('Add a host');
    await field.fill('not a host');
    await field.press('Enter');
    await page.locator('[data-notice=problem]').getByText('is no name of a host.').waitFor();
    await field.fill('hooks.example.com');
    await webhooks.getByRole('button', { name: 'Add' }).click();
    await webhooks.getByRole('button', { name: 'Remove: hooks.example.com' }).click();
    await page.locator('[data-notice=undo]').getByText('hooks.example.com is no longer allowed.').waitFor();
    expect(await webhooks.innerText()).toContain('None, so webhooks are off.');
    await page.getByRole('button', { name: 'Undo' }).click();
    await webhooks.getByRole('button', { name: 'Remove: hooks.example.com' }).waitFor();
  });

  test("a client's webhooks stand on its page with how it goes, and are stopped at once", async () => {
    const page = await at('clients');
    await page.locator('.client').filter({ hasText: 'Notebook' }).click();
    const list = page.getByRole('list', { name: 'Webhooks' });
    const shown = await list.innerText();
    for (const words of ['New mail from 2 senders', 'To hooks.example.com', '12 accepted', 'Trying again', "It doesn't answer in time. What is due is kept and tried again.", '1 event given up']) expect(shown).toContain(words);
    await list.getByRole('button', { name: 'Stop: New message from 1 sender' }).click();
    await eventually(() => list.getByRole('listitem').count()).toBe(1);
  });
});

describe('a program that asks to sign in', () => {
  const entry = (page: Page) => page.locator('.waiting').filter({ hasText: 'Asks in the browser' });

  test('shows the number of the page, where it goes on to, and until when', async () => {
    const page = await at('clients');
    const shown = await entry(page).innerText();
    for (const words of ['"Notebook"', 'goes on to notebook.example.com:8443 afterwards', '4711', 'ends in 9 minutes']) expect(shown).toContain(words);
    await entry(page).getByRole('button', { name: /^Don't Allow/ }).click();
    await entry(page).waitFor({ state: 'detached' });
  });

  test('is let in for what is chosen: what it hinted at is told and not chosen', async () => {
    const page = await at('clients');
    await entry(page).getByRole('button', { name: /^Allow\.\.\./ }).click();
    const sheet = page.getByRole('dialog', { name: 'Let this program sign in?' });
    expect(await sheet.innerText()).toContain('It goes back to notebook.example.com:8443 afterwards.');
    expect(await sheet.innerText()).toContain('The page in the browser shows 4711.');
    await sheet.getByText('read mail from allowed senders and search what it reads').waitFor();
    expect(await sheet.getByLabel('Read mail').inputValue()).toBe('no');
    expect(await sheet.getByRole('radio', { name: 'Once, until it quits' }).count()).toBe(0);
    await sheet.getByRole('button', { name: 'Allow', exact: true }).click();
    await entry(page).waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
    expect(await page.locator('[data-notice=problem]').count()).toBe(0);
  });

  test('a sheet that is closed is no answer, and nothing is said of it', async () => {
    const page = await at('clients');
    await entry(page).getByRole('button', { name: /^Allow\.\.\./ }).click();
    const sheet = page.getByRole('dialog', { name: 'Let this program sign in?' });
    await sheet.getByRole('button', { name: 'Cancel' }).click();
    await sheet.waitFor({ state: 'detached' });
    expect(await page.locator('[data-notice=problem]').count()).toBe(0);
    expect(await entry(page).count()).toBe(1);
  });

  const another = { code: '9999', host: 'elsewhere.example' };
  const over = 'The program no longer waits to sign in: it was answered, or its time ran out.';
  const changed = 'The request to sign in changed while you looked at it, so it was closed. Look at it again.';
  test.each<[string, WaitingRow[], string]>([
    ['is over, and nothing else waits', [], over],
    ['is over, and another one of the program waits', [waitingSignIn({ ...another, id: 'sign-in-2' })], over],
    ['shows another code', [waitingSignIn({ code: another.code })], changed],
    ['goes back somewhere else', [waitingSignIn({ host: another.host })], changed],
  ])('a request that %s closes its sheet with a sentence, and the sheet never shows another one', async (_, waiting, sentence) => {
    const page = await at('clients');
    await entry(page).getByRole('button', { name: /^Allow\.\.\./ }).click();
    const sheet = page.getByRole('dialog', { name: 'Let this program sign in?' });
    await sheet.waitFor();
    await page.evaluate(() => {
      const seen: string[] = [];
      Object.assign(window, { seenInSheet: seen });
      const look = () => document.querySelectorAll('dialog').forEach((dialog) => seen.push(dialog.textContent ?? ''));
      new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    await page.evaluate((rows) => window.belfryFixture!.change({ waiting: rows }), waiting);
    await sheet.waitFor({ state: 'detached' });
    await page.locator('[data-notice=problem]').getByText(sentence).waitFor();
    expect(await page.locator('[role=status]').first().textContent()).toContain(sentence);
    expect((await page.evaluate(() => (window as unknown as { seenInSheet: string[] }).seenInSheet)).join('\n')).not.toMatch(/9999|elsewhere/);
    await eventually(() => page.evaluate(() => document.activeElement?.tagName)).not.toBe('BODY');
  });

  test('the headline tells of it without its number', async () => {
    const page = await at('events');
    await page.locator('[data-headline]').waitFor();
    expect(await page.locator('[data-headline]').innerText()).toBe('"Notebook" asks to sign in.');
  });
});
