import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { glanceOf } from '../../app/contract/glance.ts';
import { FIXTURE_NAMES, fixtures } from '../fixtures/fixtures.ts';
import { FIXTURE_NOW } from '../fixtures/made-up.ts';
import { cleanName } from '../parts/clean-name.ts';
import { untilWords } from '../../app/contract/time-words.ts';
import { become, startHarness, type Harness, type OpenPage } from './page.ts';

let harness: Harness;
let opened: OpenPage;
beforeAll(async () => {
  harness = await startHarness();
  opened = await harness.open();
}, 120_000);
afterAll(() => harness?.close());

/** ui.md, section 2: fixture, icon, headline, action. */
const STATES = [
  ['wrong-place', 'attention', 'Belfry is running from a temporary copy.', 'Move and Reopen'],
  ['other-copy', 'attention', 'Another copy of Belfry is running.', 'Show It'],
  ['engine-stopped', 'stopped', 'Belfry has stopped watching.', 'Restart'],
  ['tampered', 'attention', 'Settings were changed outside Belfry. Everything is off.', 'Review'],
  ['access-lost', 'attention', 'Belfry can no longer read Mail or Messages.', 'Open Full Disk Access'],
  ['access-missing', 'attention', "Belfry can't read Mail or Messages yet.", 'Open Full Disk Access'],
  ['needs-reopen', 'attention', 'Access is on. Reopen Belfry to use it.', 'Reopen'],
  ['source-missing', 'attention', "Mail isn't set up on this Mac.", 'Open Mail'],
  ['client-asking', 'attention', '"my-agent" wants events.', 'Review'],
  ['paused', 'paused', 'Paused until 11:30.', 'Resume'],
  ['all-off', 'off', 'Everything is off.', 'Choose Events'],
  ['no-senders', 'off', 'No sender is allowed yet, so nothing is sent.', 'Add Senders'],
  ['no-listener', 'watching', 'Watching. No client is listening.', 'Show How'],
  ['listening', 'listening', 'Watching. 1 client listening.', null],
  ['checking', 'off', 'Checking...', null],
] as const;
const WITH_BANNER: readonly string[] = ['attention', 'stopped'];

/** Every action that the table names, so that none of another state may be there. */
const ACTIONS = [...new Set(STATES.map(([, , , action]) => action).filter((action) => action !== null))];

describe('U10: each state of health', () => {
  it.each(STATES)('%s: icon %s, "%s", %s; at most one banner', async (fixture, icon, headline, action) => {
    for (const view of ['window', 'panel'] as const) {
      await harness.go(opened, { view, fixture });
      const { page, errors } = opened;
      expect(await page.locator('[data-headline]').allInnerTexts(), view).toEqual([headline]);
      const holder = page.locator('[data-banner=attention], .events-status, .panel-health').filter({ has: page.locator('[data-headline]') });
      expect(await holder.locator('svg[data-icon]').getAttribute('data-icon'), view).toBe(icon);
      expect(await page.locator('[data-banner=attention]').count(), view).toBe(WITH_BANNER.includes(icon) ? 1 : 0);
      const buttons = (await page.getByRole('button').allInnerTexts()).filter((name) => ACTIONS.some((each) => each === name));
      // Clients that ask have a Review of their own in the panel; in the window the events are chosen right where one is.
      const wanted = action === null || (view === 'window' && action === 'Choose Events') ? [] : [action];
      expect([...new Set(buttons)], view).toEqual(wanted);
      expect(errors, view).toEqual([]);
    }
  }, 120_000);

  it('shows the most serious one only', async () => {
    await harness.go(opened, { fixture: 'client-asking' });
    await become(opened, 'wrong-place');
    expect(await opened.page.locator('[data-headline]').allInnerTexts()).toEqual(['Belfry is running from a temporary copy.']);
  }, 120_000);

  it('says that the icon is hidden as a note beside it, once a day', async () => {
    const { page } = await harness.open({ fixture: 'icon-hidden' });
    const note = page.locator('[data-banner=note]');
    expect(await note.innerText()).toContain('The menu bar icon is hidden. Either the menu bar is full, or Belfry is off in System Settings > Menu Bar.');
    expect(await page.locator('[data-banner=attention]').count()).toBe(0);
    await page.getByRole('button', { name: 'Open Menu Bar Settings' }).click();
    await page.waitForFunction(() => window.belfryFixture!.done.includes('act open-menu-bar-settings'));
    await page.reload();
    await page.locator('h1').waitFor();
    expect(await note.count()).toBe(0);
    await page.context().close();
  }, 120_000);

  it('keeps the last values greyed, as starting, while the engine is away', async () => {
    await harness.go(opened, { fixture: 'listening' });
    const { page } = opened;
    await page.evaluate(() => window.belfryFixture!.engineLeaves());
    await page.getByText('Starting...').first().waitFor();
    expect(await page.locator('[data-headline]').allInnerTexts()).toEqual(['Starting...']);
    expect(await page.getByRole('switch', { name: 'New mail' }).getAttribute('aria-checked')).toBe('true');
    await page.evaluate(() => window.belfryFixture!.engineReturns());
    await page.getByText('Watching. 1 client listening.').first().waitFor();
  }, 120_000);
});

describe('U11: the panel shows what the glance has, and nothing of a person', () => {
  it.each(FIXTURE_NAMES)('with the fixture %s', async (fixture) => {
    await harness.go(opened, { view: 'panel', fixture });
    const { page } = opened;
    const { shell, slices, live } = fixtures[fixture]!();
    const glance = glanceOf({ shell, slices }, FIXTURE_NOW, (at) => untilWords(at, FIXTURE_NOW));
    const { health } = glance;
    const inBrowser = shell.kind === 'browser';

    const buttons = (await page.getByRole('button').allInnerTexts()).map((name) => name.trim());
    const expected = [
      ...(glance.events.length === 0 ? [] : [glance.pause.paused ? 'Resume' : 'Pause']),
      ...(health.action === null || health.action.deed.kind === 'resume' ? [] : [inBrowser && health.action.deed.kind === 'shell' ? 'Show Diagnostics' : health.action.label]),
      ...(['accessLost', 'accessMissing'].includes(health.id) ? ['Why?'] : []),
      ...glance.clients.filter(({ asks }) => asks).map(() => 'Review'),
      ...(glance.moreClients > 0 ? [`${glance.moreClients} more...`] : []),
      'Open Belfry', 'Settings', ...(inBrowser ? [] : ['Quit']),
    ];
    expect(buttons).toEqual(expected);
    expect(await page.getByRole('switch').evaluateAll((switches) => switches.map((each) => each.getAttribute('aria-checked')))).toEqual(glance.events.map(({ on }) => String(on)));
    expect(await page.getByRole('list', { name: 'Clients' }).locator('.panel-client').count()).toBe(glance.clients.length);

    const text = await page.locator('body').innerText();
    const persons = [...live.slice(0, 200).flatMap(({ sender, name, subject }) => [sender, name, subject]), ...(slices?.senders ?? []).flatMap(({ value, display }) => [value, display])];
    for (const person of persons) if (person) expect(text).not.toContain(cleanName(person));
  }, 120_000);

  it('offers the same pauses as the menu, and starts the chosen one', async () => {
    await harness.go(opened, { view: 'panel' });
    const { page } = opened;
    await page.getByRole('button', { name: 'Pause' }).click();
    expect(await page.getByRole('menuitem').allInnerTexts()).toEqual(['15 minutes', '1 hour', 'Until tomorrow', 'Until I resume']);
    await page.getByRole('menuitem', { name: '15 minutes' }).click();
    await page.getByText(/^Paused until 10:57\.$/).waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Watching. 1 client listening.').waitFor();
  }, 120_000);

  it('tells its height to the shell and closes on Esc', async () => {
    await harness.go(opened, { view: 'panel' });
    const { page } = opened;
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => window.belfryFixture!.done.includes('act close-panel'));
    const [height, told] = await page.evaluate(() => [document.querySelector('.app')!.getBoundingClientRect().height, window.belfryFixture!.done.findLast((each) => each.startsWith('resize'))]);
    expect(told).toBe(`resize ${Math.ceil(height as number)}`);
    expect(height as number).toBeLessThanOrEqual(560);
  }, 120_000);
});
