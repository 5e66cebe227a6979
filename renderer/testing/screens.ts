import type { Locator, Page } from 'playwright-core';
import type { PageOptions } from './page.ts';
import { settled } from './page.ts';

export const SECTIONS = ['events', 'senders', 'live', 'clients', 'activity', 'diagnostics', 'settings'] as const;
export const STEPS = ['welcome', 'access', 'events', 'senders', 'connect', 'try'] as const;

/** Every screen of every view. */
export const SCREENS: readonly Pick<PageOptions, 'view' | 'screen'>[] = [
  ...SECTIONS.map((screen) => ({ view: 'window' as const, screen })),
  { view: 'panel' },
  ...STEPS.map((screen) => ({ view: 'onboarding' as const, screen })),
];

export const screenName = ({ view = 'window', screen, fixture, theme }: PageOptions): string => [view, screen, fixture, theme].filter(Boolean).join(' ');

interface SheetPlace {
  readonly screen: string;
  readonly opens: string | RegExp;
  readonly fixture?: string;
  /** A button unless told. */
  readonly role?: 'button' | 'switch';
  /** What leads to the button, from the screen. */
  readonly through?: RegExp;
}

/** What opens a sheet, and from where: by the name of its button. */
export const SHEETS: readonly SheetPlace[] = [
  { screen: 'events', opens: 'See an example of New mail' },
  { screen: 'events', opens: 'Change mailboxes' },
  { screen: 'senders', opens: 'Add' },
  { screen: 'senders', opens: 'Group Chats...' },
  { screen: 'clients', opens: 'Connect: VS Code' },
  { screen: 'clients', opens: /^Remove\.\.\.: Cursor/ },
  { screen: 'clients', opens: /^Allow.*my-agent/, fixture: 'client-asking' },
  { screen: 'clients', opens: 'Text for Agents...' },
  { screen: 'clients', opens: 'New Watch', through: /Claude Code.*since/ },
  { screen: 'clients', opens: 'Folder...: New message from 1 sender', through: /Claude Code.*since/ },
  { screen: 'settings', opens: 'Ask before a new client gets events', role: 'switch' },
  { screen: 'settings', opens: 'Choose...' },
  { screen: 'settings', opens: 'Choose...', fixture: 'hostile-names' },
  { screen: 'settings', opens: 'Choose...', fixture: 'long-names' },
  { screen: 'settings', opens: 'Hide codes for signing in', role: 'switch' },
  { screen: 'settings', opens: 'New Token...' },
  { screen: 'settings', opens: 'Revoke...: "Notebook"', fixture: 'network' },
  { screen: 'clients', opens: /^Allow\.\.\..*Notebook/, fixture: 'network' },
  { screen: 'settings', opens: 'Install...' },
  { screen: 'settings', opens: 'Reset All Senders and Clients...' },
  { screen: 'settings', opens: 'Uninstall...' },
];

/** The button that opens a sheet, once the page is where it stands. */
export async function openerOf(page: Page, { opens, through, role = 'button' }: SheetPlace): Promise<Locator> {
  if (through) await page.getByRole('button', { name: through }).first().click();
  return page.getByRole(role, { name: opens, exact: typeof opens === 'string' }).first();
}

/** Another theme without loading the page again. */
export async function setTheme(page: Page, theme: 'light' | 'dark'): Promise<void> {
  await page.evaluate((name) => {
    document.documentElement.dataset.theme = name;
  }, theme);
}

/** Another section of the window without loading the page again. */
export async function openSection(page: Page, section: (typeof SECTIONS)[number]): Promise<void> {
  await page.evaluate((name) => window.belfryFixture!.navigate(name), section);
  await page.locator(`[data-section="${section}"] h1`).waitFor({ state: 'visible' });
  await settled(page);
}
