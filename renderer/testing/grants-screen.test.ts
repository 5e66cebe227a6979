import { describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { eventually, openPages } from './open-pages.ts';

const open = openPages();

async function clientPage(fixture: string, name = 'Claude Code'): Promise<Page> {
  const { page } = await open({ screen: 'clients', fixture });
  await page.locator('.client').filter({ hasText: name }).click();
  await page.getByRole('heading', { name: 'Reading and writing' }).waitFor();
  return page;
}
const choice = (page: Page, title: string) => page.getByLabel(title, { exact: true });
const undo = (page: Page) => page.locator('[data-notice=undo]');

describe('what a client may do', () => {
  test('is nothing beyond events until it is chosen', async () => {
    const page = await clientPage('listening');
    for (const title of ['Read mail', 'Read messages', 'Search', 'Write']) expect(await choice(page, title).inputValue()).toBe('no');
    await page.getByText("It hears that mail arrived and can't open it.").waitFor();
  });

  test('more is given only after it was said what that means, and can be undone', async () => {
    const page = await clientPage('listening');
    await choice(page, 'Read mail').selectOption({ label: 'All mail' });
    const sheet = page.getByRole('dialog', { name: 'Let this client do more?' });
    await sheet.getByText('It can open all mail on this Mac, whoever wrote it, also what you sent.').waitFor();
    await sheet.getByRole('button', { name: 'Cancel' }).click();
    await sheet.waitFor({ state: 'detached' });
    expect(await choice(page, 'Read mail').inputValue()).toBe('no');
    await choice(page, 'Read mail').selectOption({ label: 'All mail' });
    await sheet.getByRole('button', { name: 'Allow' }).click();
    await undo(page).getByText('"Claude Code" may read all mail.').waitFor();
    expect(await choice(page, 'Read mail').inputValue()).toBe('everything');
    await undo(page).getByRole('button', { name: 'Undo' }).click();
    await eventually(() => choice(page, 'Read mail').inputValue()).toBe('no');
  });

  test('less is taken at once, and can be undone; the rest stays as it is', async () => {
    const page = await clientPage('reading');
    expect(await choice(page, 'Read mail').inputValue()).toBe('rules');
    await choice(page, 'Read mail').selectOption({ label: 'No' });
    await undo(page).getByText('"Claude Code" no longer reads mail.').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await choice(page, 'Search').inputValue()).toBe('yes');
    await page.getByText('It may read nothing yet, so it finds nothing.').waitFor();
    await page.keyboard.press('ControlOrMeta+z');
    await eventually(() => choice(page, 'Read mail').inputValue()).toBe('rules');
  });

  test('an undo never allows a client again that was disconnected since', async () => {
    const page = await clientPage('reading');
    await choice(page, 'Read mail').selectOption({ label: 'No' });
    await undo(page).waitFor();
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('button', { name: 'Allow...' }).waitFor();
    await undo(page).getByRole('button', { name: 'Undo' }).click();
    await page.locator('[data-notice=problem]').getByText('"Claude Code" is not allowed any more, so nothing was changed.').waitFor();
    expect(await page.getByRole('button', { name: 'Allow...' }).count()).toBe(1);
  });

  test('what it asked for stands on its own page too, and is answered there', async () => {
    const page = await clientPage('reading', 'Cursor');
    const asks = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Asks for' }) });
    await asks.getByText('Wants to read messages from allowed senders.').waitFor();
    expect(await asks.getByRole('button', { name: 'Don\'t Allow: "Cursor"' }).count()).toBe(1);
    await asks.getByRole('button', { name: 'Allow: "Cursor"', exact: true }).click();
    await asks.waitFor({ state: 'detached' });
    expect(await choice(page, 'Read messages').inputValue()).toBe('rules');
  });
});

test('a new client gets what is chosen in its sheet, and nothing beyond events unless chosen', async () => {
  const { page } = await open({ screen: 'clients', fixture: 'client-asking' });
  await page.getByRole('button', { name: /^Allow.*my-agent/ }).click();
  const sheet = page.getByRole('dialog', { name: 'Allow this client?' });
  for (const title of ['Read mail', 'Read messages', 'Search', 'Write']) expect(await sheet.getByLabel(title, { exact: true }).inputValue()).toBe('no');
  await sheet.getByLabel('Read messages').selectOption({ label: 'From allowed senders' });
  await sheet.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.locator('.client').filter({ hasText: 'my-agent' }).click();
  expect(await choice(page, 'Read messages').inputValue()).toBe('rules');
  expect(await choice(page, 'Write').inputValue()).toBe('no');
});

describe('a text that a client would like to send', () => {
  test('is shown whole, with who reads it and when it ends; nothing is sent without an answer', async () => {
    const { page } = await open({ screen: 'clients', fixture: 'texts-waiting' });
    const send = page.locator('.waiting').filter({ hasText: 'Climbing on Sunday' });
    expect(await send.getByRole('group', { name: 'The message' }).innerText()).toBe('I am ten minutes late.\nStart without me.');
    const shown = await send.innerText();
    for (const words of ['"Claude Code"', 'Wants to send this to the group:', 'Climbing on Sunday (iMessage)', 'Ada Lovelace, Grace Hopper, +1 555 010 4321 and 4 others', 'ends in']) expect(shown).toContain(words);
    await send.getByRole('button', { name: /^Don't Send/ }).click();
    await send.waitFor({ state: 'detached' });
  });

  test('a draft says whom it goes to and that nothing is sent', async () => {
    const { page } = await open({ screen: 'clients', fixture: 'texts-waiting' });
    const draft = page.locator('.waiting').filter({ hasText: 'Lunch on Friday' });
    const shown = await draft.innerText();
    expect(shown).toContain('Wants to open this answer as a draft in Mail. Nothing is sent.');
    expect(await draft.locator('.outgoing-facts > div').allInnerTexts().then((facts) => facts.map((fact) => fact.replace(/\s+/g, ' ')))).toEqual([
      'Answers Lunch on Friday, from grace@example.net, to everyone in it', 'Goes to lunch@example.com', 'To ada@example.org, alan@example.net and 12 more',
    ]);
    await draft.getByRole('button', { name: /^Open Draft/ }).click();
    await draft.waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
  });

  test('the headline names the client and none of the words; the panel the same', async () => {
    for (const view of ['window', 'panel'] as const) {
      const { page } = await open({ view, fixture: 'texts-waiting' });
      await page.getByText('"Claude Code" wants to send a message.').first().waitFor();
      if (view === 'panel') expect(await page.locator('body').innerText()).not.toMatch(/ten minutes|Climbing|grace@/i);
    }
  });

  test('characters that hide are shown by their number', async () => {
    const { page } = await open({ screen: 'clients', fixture: 'hostile-names' });
    const text = await page.getByRole('group', { name: 'The message' }).innerText();
    expect(text).toContain('[U+202E]evil');
    expect(text).toContain('hidden[U+2060]words');
    expect(text).toContain('<img src=x onerror="document.title=1">');
  });
});
