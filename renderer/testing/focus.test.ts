import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ShellState } from '../../app/contract/shell.ts';
import type { Slices } from '../../app/contract/values.ts';
import { eventually } from './open-pages.ts';
import { settled, startHarness, type Harness, type OpenPage, type PageOptions } from './page.ts';

vi.setConfig({ testTimeout: 120_000 });
let harness: Harness;
let opened: OpenPage;
let page: Page;
beforeAll(async () => {
  harness = await startHarness();
  opened = await harness.open();
  page = opened.page;
}, 300_000);
afterAll(() => harness?.close());

const go = (options: PageOptions) => harness.go(opened, options);

/** `h1 Senders`; `nothing` where the focus fell out of everything. */
const focused = () => page.evaluate(() => {
  const element = document.activeElement;
  return element === null || element === document.body ? 'nothing' : `${element.tagName.toLowerCase()} ${(element.getAttribute('aria-label') ?? element.textContent ?? '').trim()}`;
});
const change = (slices: Partial<Slices>) => page.evaluate((changed) => window.belfryFixture!.change(changed), slices);
const changeShell = (state: Partial<ShellState>) => page.evaluate((changed) => window.belfryFixture!.changeShell(changed), state);
const button = (name: string | RegExp) => page.getByRole('button', { name, ...(typeof name === 'string' && { exact: true }) }).first();

async function press(name: string | RegExp): Promise<void> {
  await button(name).focus();
  await page.keyboard.press('Enter');
}

const KEYS = [['2', 'Senders'], ['3', 'Live'], ['4', 'Clients'], ['5', 'Activity'], [',', 'Settings']] as const;

describe('U2: a section that is opened takes the focus to its title', () => {
  test.each(KEYS)('Control-%s, at the first visit of %s and at every other', async (key, title) => {
    await go({});
    for (let visit = 1; visit <= 2; visit += 1) {
      await page.keyboard.press(`Control+${key}`);
      await eventually(focused).toBe(`h1 ${title}`);
      await page.keyboard.press('Control+1');
      await eventually(focused).toBe('h1 Events');
    }
  });

  test('from a switch that goes with its section, while the code of the other has still to come', async () => {
    await go({});
    const held = Promise.withResolvers<void>();
    await page.route(/senders-view.*\.js$/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.getByRole('switch', { name: 'New mail' }).focus();
    await page.keyboard.press('Control+2');
    await eventually(() => page.title()).toBe('Senders - Belfry');
    await settled(page);
    held.resolve();
    await eventually(focused).toBe('h1 Senders');
    await page.unroute(/senders-view.*\.js$/);
  });

  test.each(['events', 'clients'])('a window that starts with %s takes no focus', async (screen) => {
    await go({ screen });
    expect(await focused()).toBe('nothing');
  });
});

describe('U2: what had the focus and is gone hands it over', () => {
  const rows = () => page.locator('.senders-row[data-active], .senders-row[tabindex="-1"]');
  const row = (text: string) => page.getByRole('row').filter({ hasText: text });
  const rowFocused = () => page.evaluate(() => document.activeElement?.closest('.senders-row')?.querySelector('.senders-name')?.textContent ?? null);

  test('each sender that is deleted, to the next one, and the last one to the title', async () => {
    await go({ screen: 'senders' });
    const names = await rows().locator('.senders-name').allTextContents();
    expect(names.length).toBeGreaterThan(3);
    await row(names[1]!).focus();
    await page.keyboard.press('Delete');
    await eventually(rowFocused).toBe(names[2]);
    await page.keyboard.press('End');
    await page.keyboard.press('Delete');
    await eventually(rowFocused).toBe(names.at(-2));
    for (let left = names.length - 2; left > 0; left -= 1) {
      expect(await rowFocused()).not.toBeNull();
      await page.keyboard.press('Delete');
      await eventually(() => rows().count()).toBe(left - 1);
    }
    await page.getByText('No senders yet.').waitFor();
    await eventually(focused).toBe('h1 Senders');
  });

  test('a sender that another program removes', async () => {
    await go({ screen: 'senders' });
    const names = await rows().locator('.senders-name').allTextContents();
    await row(names[0]!).focus();
    await page.evaluate(() => {
      const world = window.belfryFixture!;
      world.change({ senders: world.slices!.senders.slice(1) });
    });
    await eventually(rowFocused).toBe(names[1]);
    await change({ senders: [], chats: [] });
    await eventually(focused).toBe('h1 Senders');
  });

  test('several senders, by the button for those selected', async () => {
    await go({ screen: 'senders' });
    await page.getByLabel('Select all').focus();
    await page.keyboard.press('Space');
    await page.getByRole('group', { name: 'Selected senders' }).getByRole('button', { name: 'Remove' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('No senders yet.').waitFor();
    await eventually(focused).toBe('h1 Senders');
  });

  test('the requests that are answered one by one', async () => {
    await go({ screen: 'clients', fixture: 'client-asking' });
    for (let left = 3; left > 0; left -= 1) {
      await press(/^Don't Allow/);
      await eventually(() => page.locator('.waiting').count()).toBe(left - 1);
      await eventually(focused).toBe('h1 Clients');
    }
  });

  test('the watches of a client, and its webhooks', async () => {
    for (const name of ['listening', 'network']) {
      await go({ screen: 'clients', fixture: name });
      await page.locator('.client').nth(name === 'network' ? 1 : 0).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Reading and writing' }).waitFor();
      const stops = page.getByRole('button', { name: /^Stop: / });
      const count = await stops.count();
      expect(count).toBeGreaterThan(0);
      for (let left = count; left > 0; left -= 1) {
        await stops.first().focus();
        await page.keyboard.press('Enter');
        await eventually(() => stops.count()).toBe(left - 1);
        await eventually(focused).not.toBe('nothing');
      }
      expect(await focused()).toMatch(name === 'network' ? /^h1 "/ : /^h2 Watches/);
    }
  });

  test('the tokens that are revoked', async () => {
    await go({ screen: 'settings', fixture: 'network' });
    const revokes = page.getByRole('button', { name: /^Revoke/ });
    for (let left = await revokes.count(); left > 0; left -= 1) {
      await revokes.first().focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).focus();
      await page.keyboard.press('Enter');
      await eventually(() => revokes.count()).toBe(left - 1);
      await eventually(focused).toBe('h1 Settings');
    }
  });

  test('a button of a sheet, to the title of the sheet', async () => {
    await go({ screen: 'senders' });
    await press('Group Chats...');
    const allow = page.getByRole('dialog').getByRole('button', { name: /^Allow / });
    await allow.first().focus();
    await page.keyboard.press('Enter');
    await eventually(focused).toBe('h2 Allow a group chat');
  });

  test('the button for older rows, once there are none', async () => {
    await go({ screen: 'activity', fixture: 'ten-thousand' });
    await press('Show Older');
    await eventually(() => page.locator('.activity-row').count()).toBe(400);
    await press('Show Older');
    await eventually(() => page.locator('.activity-row').count()).toBe(450);
    await eventually(focused).toBe('h1 Activity');
  });

  test('Pause, which turns into Resume, in the window and in the panel', async () => {
    for (const [view, title] of [['window', 'h1 Events'], ['panel', 'h1 Belfry']] as const) {
      await go({ view });
      await press('Pause');
      await page.getByRole('menuitem', { name: '1 hour' }).focus();
      await page.keyboard.press('Enter');
      await button('Resume').waitFor();
      await eventually(focused).toBe(title);
    }
  });

  test('a button that can\'t be pressed for a moment has it back afterwards', async () => {
    await go({ screen: 'senders' });
    const chats = button('Group Chats...');
    await chats.focus();
    await chats.evaluate((element: HTMLButtonElement) => { element.disabled = true; });
    await eventually(focused).toBe('nothing');
    await chats.evaluate((element: HTMLButtonElement) => { element.disabled = false; });
    await eventually(focused).toBe('button Group Chats...');
  });

  test('it is left alone where its owner clicked beside everything', async () => {
    await go({ screen: 'senders' });
    await button('Group Chats...').focus();
    await page.locator('.view > .muted').click();
    await eventually(focused).toBe('nothing');
    await change({ senders: [] });
    await settled(page);
    expect(await focused()).toBe('nothing');
  });
});

interface Vanishing {
  readonly what: string;
  readonly at: PageOptions;
  readonly opens: () => Promise<void>;
  readonly goes: () => Promise<void>;
  readonly said: string;
  /** What has the focus afterwards. */
  readonly focus: string | RegExp;
}

async function openClient(nth: number): Promise<void> {
  await page.locator('.client').nth(nth).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Reading and writing' }).waitFor();
}

const GONE: readonly Vanishing[] = [
  {
    what: 'a sender, under its edit sheet', at: { screen: 'senders' }, said: 'The sender that you were editing is no longer in the list.', focus: 'h1 Senders',
    opens: async () => {
      await page.locator('.senders-row[data-active]').focus();
      await page.keyboard.press('Enter');
    },
    goes: () => change({ senders: [] }),
  },
  {
    what: 'a client that asks, under its sheet', at: { screen: 'clients', fixture: 'client-asking' }, said: 'The client no longer waits for an answer.', focus: 'h1 Clients',
    opens: () => press(/^Allow\.\.\.: "my-agent"/), goes: () => change({ waiting: [] }),
  },
  {
    what: 'a client that asks, with its request left', at: { screen: 'clients', fixture: 'client-asking' }, said: 'The client no longer waits for an answer.', focus: 'button Allow...: A new client',
    opens: () => press(/^Allow\.\.\.: "my-agent"/), goes: () => change({ clients: [] }),
  },
  {
    what: 'a program that signs in, under its sheet', at: { screen: 'clients', fixture: 'network' }, said: 'The program no longer waits to sign in: it was answered, or its time ran out.', focus: 'h1 Clients',
    opens: () => press(/^Allow\.\.\.: "Notebook"/), goes: () => change({ waiting: [] }),
  },
  {
    what: 'a client, on its page', at: { screen: 'clients' }, said: 'The client is no longer in the list.', focus: 'h1 Clients',
    opens: () => openClient(0), goes: () => change({ clients: [] }),
  },
  {
    what: 'a client, under a sheet of its page', at: { screen: 'clients' }, said: 'The client is no longer in the list.', focus: 'h1 Clients',
    opens: async () => {
      await openClient(0);
      await press('New Watch');
    },
    goes: () => change({ clients: [] }),
  },
  {
    what: 'a watch, under the sheet of its folder', at: { screen: 'clients' }, said: 'The watch is gone, so no folder was changed.', focus: /^h1 "/,
    opens: async () => {
      await openClient(0);
      await press(/^Folder\.\.\./);
    },
    goes: () => change({ watches: [] }),
  },
  {
    what: 'a token, under the sheet that asks', at: { screen: 'settings', fixture: 'network' }, said: 'The token is no longer in the list.', focus: 'h1 Settings',
    opens: () => press(/^Revoke/), goes: () => change({ tokens: [] }),
  },
  {
    what: 'the settings of a program, under the change', at: { screen: 'clients' }, said: "The program's settings can't be read any more, so nothing was changed.", focus: 'h1 Clients',
    opens: () => press('Connect: VS Code'), goes: () => changeShell({ wiring: [] }),
  },
  {
    what: 'an event of Live, with its details open', at: { screen: 'live' }, said: 'The event that was open is no longer in the list.', focus: 'h1 Live',
    opens: async () => {
      await page.locator('.live-row').first().focus();
      await page.keyboard.press('Enter');
    },
    // Rows belong to one run of the engine.
    goes: () => page.evaluate(() => window.belfryFixture!.become('all-off')),
  },
];

describe('U2: what goes while it is open is told, and the focus goes back', () => {
  test.each(GONE)('$what', async ({ at, opens, goes, said, focus }) => {
    await go(at);
    await opens();
    await page.locator('dialog[open], .live-detail, .client-facts').first().waitFor();
    await settled(page);
    await goes();
    await page.locator('dialog[open], .live-detail').waitFor({ state: 'detached' });
    await page.locator('[data-notice=problem]').getByText(said, { exact: true }).waitFor();
    await eventually(() => page.locator('.notices [role=status]').innerText()).toContain(said);
    await (typeof focus === 'string' ? eventually(focused).toBe(focus) : eventually(focused).toMatch(focus));
    expect(opened.errors).toEqual([]);
  });

  test('what its owner closes, saves, removes or answers is not told as gone', async () => {
    const quiet = async () => {
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await settled(page);
      expect(await page.locator('[data-notice=problem]').count()).toBe(0);
    };
    await go({ screen: 'senders' });
    for (const end of ['Cancel', 'Save', 'Remove']) {
      await page.locator('.senders-row[data-active]').focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').getByRole('button', { name: end }).click();
      await quiet();
    }
    await go({ screen: 'clients', fixture: 'client-asking' });
    await press(/^Allow\.\.\.: "my-agent"/);
    await page.getByRole('dialog').getByRole('button', { name: 'Allow', exact: true }).click();
    await quiet();
    await go({ screen: 'settings', fixture: 'network' });
    await press(/^Revoke/);
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await quiet();
    await go({ screen: 'live' });
    await page.locator('.live-row').first().click();
    await page.locator('.live-row').nth(1).click();
    await page.keyboard.press('Escape');
    await page.locator('.live-detail').waitFor({ state: 'detached' });
    await quiet();
  });

  test('who is led to another section has left what was open', async () => {
    await go({ screen: 'senders' });
    await page.locator('.senders-row[data-active]').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.evaluate(() => window.belfryFixture!.navigate('live'));
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await eventually(focused).toBe('h1 Live');
    expect(await page.locator('[data-notice=problem]').count()).toBe(0);
  });

  test('a sender that comes back does not open its sheet again', async () => {
    await go({ screen: 'senders' });
    await page.locator('.senders-row[data-active]').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.evaluate(() => {
      const world = window.belfryFixture!;
      const { senders } = world.slices!;
      world.change({ senders: [] });
      setTimeout(() => world.change({ senders }), 50);
    });
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.locator('.senders-row[data-active]').waitFor();
    await settled(page);
    expect(await page.getByRole('dialog').count()).toBe(0);
  });
});

test('an engine that goes while a sheet is open: what was typed stays, and works once there is another', async () => {
  await go({ screen: 'senders' });
  await press('Add');
  const sheet = page.getByRole('dialog', { name: 'Add senders' });
  const field = sheet.getByLabel('Senders', { exact: true });
  await field.fill('new@example.net');
  const add = sheet.getByRole('button', { name: 'Add 1 sender' });
  await add.waitFor();
  await page.evaluate(() => window.belfryFixture!.engineLeaves());
  await add.focus();
  await page.keyboard.press('Enter');
  await sheet.getByRole('alert').getByText('Belfry is starting. Try again in a moment.').waitFor();
  expect(await field.inputValue()).toBe('new@example.net');
  await eventually(focused).toBe('button Add 1 sender');
  await page.evaluate(() => window.belfryFixture!.engineReturns());
  await eventually(() => page.locator('.window-old').count()).toBe(0);
  await page.keyboard.press('Enter');
  await sheet.waitFor({ state: 'detached' });
  await page.getByRole('row').filter({ hasText: 'new@example.net' }).waitFor();
  expect(await page.locator('[data-notice=problem]').count()).toBe(0);
});
