import { describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { skillText } from '../../app/contract/skill.ts';
import { eventually, openPages, outside } from './open-pages.ts';

const open = openPages();
async function clients(fixture: string): Promise<Page> {
  const { page } = await open({ screen: 'clients', fixture });
  await page.locator('.client, .waiting').first().waitFor();
  return page;
}

const entry = (page: Page, name: string) => page.locator('.waiting').filter({ hasText: name });
const wiring = (page: Page, title: string) => page.locator('.wiring').filter({ hasText: title });

describe('waiting for you', () => {
  test('several requests are one list; closing the sheet is no answer', async () => {
    const page = await clients('client-asking');
    await eventually(() => page.locator('.waiting').count()).toBe(3);
    expect(await entry(page, 'my-agent').textContent()).toContain('/Users/ada/bin/my-agent, not signed');
    await entry(page, 'my-agent').getByRole('button', { name: /^Allow/ }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.locator('.waiting').count()).toBe(3);
  });

  test('allowing says how long, which events and which senders', async () => {
    const page = await clients('client-asking');
    await entry(page, 'my-agent').getByRole('button', { name: /^Allow/ }).click();
    const sheet = page.getByRole('dialog', { name: 'Allow this client?' });
    await sheet.getByRole('radio', { name: 'Once, until it quits' }).check();
    await sheet.getByLabel('New message').uncheck();
    await sheet.getByRole('radio', { name: 'Only these' }).check();
    await sheet.getByLabel('ada@example.com').check();
    await sheet.getByRole('button', { name: 'Allow', exact: true }).click();
    await entry(page, 'my-agent').waitFor({ state: 'detached' });
    await page.locator('.client').filter({ hasText: 'my-agent' }).click();
    const facts = page.locator('.client-facts');
    await facts.getByText('Once, until it quits.').waitFor();
    expect(await facts.getByLabel('New mail').isChecked()).toBe(true);
    expect(await facts.getByLabel('New message').isChecked()).toBe(false);
    expect(await facts.innerText()).toContain('Senders: 1 chosen');
  });

  test('what one would like beyond events is told in the list and in the sheet, and nothing of it is chosen', async () => {
    const page = await clients('client-asking');
    await page.evaluate(() => window.belfryFixture!.change({ waiting: [{ kind: 'client', id: 'aa11bb22', since: 0, sentence: '', client: 'aa11bb22', grants: ['mail'] }] }));
    await entry(page, 'my-agent').getByText('It would also like to read mail from allowed senders.').waitFor();
    await entry(page, 'my-agent').getByRole('button', { name: /^Allow/ }).click();
    const sheet = page.getByRole('dialog', { name: 'Allow this client?' });
    await sheet.getByText('It would also like to read mail from allowed senders. Choose below.').waitFor();
    expect(await sheet.getByLabel('Read mail', { exact: true }).locator('option:checked').textContent()).toBe('No');
  });

  test('one that cannot be told from others is allowed once only', async () => {
    const page = await clients('client-asking');
    await entry(page, 'inbox-bot').getByRole('button', { name: /^Allow/ }).click();
    const sheet = page.getByRole('dialog', { name: 'Allow this client?' });
    await sheet.getByText("It can't be told from other programs").waitFor();
    expect(await sheet.getByRole('radio', { name: 'Always' }).count()).toBe(0);
    await sheet.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.locator('.client').filter({ hasText: 'inbox-bot' }).click();
    await page.getByText('Once, until it quits.').waitFor();
  });

  test('one that is not allowed leaves the list and says so where it is listed', async () => {
    const page = await clients('client-asking');
    await entry(page, 'night-shift').getByRole('button', { name: /^Don't Allow/ }).click();
    await entry(page, 'night-shift').waitFor({ state: 'detached' });
    await page.locator('.client').filter({ hasText: 'night-shift' }).getByText('Not allowed').waitFor();
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
  });

  test('a change that a program asks for is answered in the same list', async () => {
    const page = await clients('listening');
    await page.evaluate(() => window.belfryFixture!.change({ waiting: [{ kind: 'change', id: 'request-1', since: 0, sentence: 'Turn on New message', client: null, grants: [] }] }));
    const request = entry(page, 'A program asks for a change');
    expect(await request.innerText()).toContain('Turn on New message');
    expect(await request.getByRole('button', { name: 'Allow: Turn on New message', exact: true }).count()).toBe(1);
    expect(await request.getByRole('button', { name: "Don't Allow: Turn on New message" }).count()).toBe(1);
  });
});

describe('a client', () => {
  test('is listed once, however many windows it has, and opens by Return', async () => {
    const page = await clients('listening');
    expect(await page.locator('.client').count()).toBe(2);
    const row = page.locator('.client').filter({ hasText: 'Claude Code' });
    expect(await row.innerText()).toMatch(/"Claude Code"[^]*Listening[^]*since 10:02[^]*2 windows[^]*4 delivered/);
    await row.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: '"Claude Code"' }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
    await page.getByRole('button', { name: 'All Clients' }).click();
    await eventually(() => page.evaluate(() => document.activeElement?.textContent)).toContain('Claude Code');
  });

  test('a test shows each hop, in words and shape', async () => {
    const page = await clients('listening');
    await page.locator('.client').filter({ hasText: 'Claude Code' }).click();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await eventually(() => page.locator('.hop').allInnerTexts()).toHaveLength(4);
    expect((await page.locator('.hop').allInnerTexts()).map((text) => text.split('\n').filter(Boolean))).toEqual([
      ['Yes', 'The helper is connected.'], ['Yes', 'A test event was made.'], ['Yes', 'It was handed to Claude Code.'],
      ["Can't tell", 'Claude Code did not confirm it. Many programs never do.'],
    ]);
  });

  test('one that does not listen shows the exact command, to copy', async () => {
    const page = await clients('listening');
    await page.evaluate(() => {
      const world = window.belfryFixture!;
      world.change({ clients: [{ id: '3f2a9c01', display: '/bin/claude', signed: true, persistable: true, label: 'claude-code', decision: 'always', events: 'all', senders: 'all', grants: [], asks: [], seenAt: 0, state: 'cant-tell', connections: 1, connectedAt: 0, subscriptions: [], lastEventAt: null }] });
    });
    await page.locator('.client').click();
    await page.getByText("Can't tell").waitFor();
    await page.getByRole('button', { name: /^Copy: how to start Claude Code/ }).click();
    await eventually(() => outside(page)).toContain('copy claude --dangerously-load-development-channels server:belfry');
  });

  test('what it may receive is changed at once, and Disconnect takes it away', async () => {
    const page = await clients('listening');
    await page.locator('.client').filter({ hasText: 'Claude Code' }).click();
    const facts = page.locator('.client-facts');
    await facts.getByLabel('New message').uncheck();
    await eventually(() => facts.getByLabel('New message').isChecked()).toBe(false);
    expect(await facts.getByLabel('New mail').isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('button', { name: 'Allow...' }).waitFor();
    expect(await page.locator('.client-facts').getByLabel('New mail').count()).toBe(0);
  });
});

test('agents with a shell are given a text to copy, with the helper as the command', async () => {
  const page = await clients('listening');
  await page.getByRole('button', { name: 'Text for Agents...' }).click();
  const sheet = page.getByRole('dialog', { name: 'For agents with a shell' });
  const text = (await sheet.getByRole('group', { name: 'the text for agents' }).textContent())!;
  expect(text).toBe(skillText('/Applications/Belfry.app/Contents/MacOS/belfry-mcp'));
  await sheet.getByRole('button', { name: 'Copy: the text for agents' }).click();
  await eventually(() => outside(page)).toContain(`copy ${text}`);
});

describe('on this Mac', () => {
  test('nothing is written before the exact change was shown', async () => {
    const page = await clients('listening');
    await wiring(page, 'VS Code').getByRole('button', { name: 'Connect: VS Code' }).click();
    const sheet = page.getByRole('dialog', { name: 'Add Belfry to VS Code?' });
    await sheet.getByRole('group', { name: 'The change' }).waitFor();
    expect(await sheet.innerText()).toContain('~/Library/Application Support/Code/User/mcp.json');
    expect(await sheet.locator('.diff-added').textContent()).toContain('"belfry": { "command":');
    expect(await sheet.innerText()).toContain('Other entries stay as they are.');
    await sheet.getByRole('button', { name: 'Cancel' }).click();
    expect(await wiring(page, 'VS Code').innerText()).toContain('Not set up');
    await wiring(page, 'VS Code').getByRole('button', { name: 'Connect: VS Code' }).click();
    await sheet.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('dialog').getByText('Restart VS Code to pick this up.').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await eventually(() => wiring(page, 'VS Code').innerText()).toContain('Set up');
  });

  test('one that is set up and does not run is opened by the system; a terminal program is shown as a command to copy', async () => {
    const page = await clients('listening');
    expect(await wiring(page, 'LM Studio').innerText()).toContain('Set up, not running');
    await wiring(page, 'LM Studio').getByRole('button', { name: 'Open: LM Studio' }).click();
    await eventually(() => outside(page)).toContain('open lm-studio');
    expect(await wiring(page, 'Codex').getByRole('button', { name: /^Open/ }).count()).toBe(0);
    await wiring(page, 'Codex').getByRole('button', { name: 'Copy: how to start Codex' }).click();
    await eventually(() => outside(page)).toContain('copy codex');
    // Cursor is connected.
    expect(await wiring(page, 'Cursor').getByRole('button', { name: /^Open/ }).count()).toBe(0);
  });

  test('Copy instead copies the settings and changes nothing', async () => {
    const page = await clients('listening');
    await page.getByRole('button', { name: 'Connect: VS Code' }).click();
    await page.getByRole('button', { name: /^Copy instead/ }).click();
    await eventually(async () => (await outside(page)).filter((each) => each.startsWith('copy ')).length).toBe(1);
    expect(JSON.parse((await outside(page)).find((each) => each.startsWith('copy '))!.slice(5))).toMatchObject({ belfry: { args: ['--client=vscode'] } });
    await page.keyboard.press('Escape');
    expect(await wiring(page, 'VS Code').innerText()).toContain('Not set up');
  });

  test('where our name is taken another one is used, and the preview shows it', async () => {
    const page = await clients('config-stale');
    await page.getByRole('button', { name: 'Use Another Name: Claude Desktop' }).click();
    const sheet = page.getByRole('dialog', { name: 'Add Belfry to Claude Desktop?' });
    await eventually(() => sheet.locator('.diff-added').textContent()).toContain('"belfry-2":');
    await sheet.getByLabel('Name').fill('my name');
    await sheet.getByText('A name has 1 to 32 letters, digits, dashes or underscores.').waitFor();
    expect(await sheet.getByRole('button', { name: 'Add', exact: true }).isDisabled()).toBe(true);
    await sheet.getByLabel('Name').fill('bells');
    await eventually(() => sheet.locator('.diff-added').textContent()).toContain('"bells":');
  });

  test('an older copy is repaired, an unreadable file is shown, YAML is copied', async () => {
    const page = await clients('config-stale');
    expect(await wiring(page, 'VS Code').innerText()).toContain('Points to an older copy');
    await page.getByRole('button', { name: 'Show File: Cursor' }).click();
    await eventually(() => outside(page)).toContain('show cursor');
    await page.getByRole('button', { name: 'Copy: Goose' }).click();
    await eventually(async () => (await outside(page)).some((each) => each.startsWith('copy extensions:'))).toBe(true);
    await page.getByRole('button', { name: 'Repair: VS Code' }).click();
    await page.getByRole('dialog', { name: "Repair Belfry's entry in VS Code?" }).waitFor();
  });

  test('removing shows its change too', async () => {
    const page = await clients('listening');
    await page.getByRole('button', { name: 'Remove...: Cursor' }).click();
    const sheet = page.getByRole('dialog', { name: 'Remove Belfry from Cursor?' });
    await sheet.locator('.diff-removed').waitFor();
    await sheet.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    await eventually(() => wiring(page, 'Cursor').innerText()).toContain('Not set up');
  });
});
