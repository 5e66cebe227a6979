import { expect, test } from 'vitest';
import { startPage } from '../engine/page.ts';
import { browserPath, openTab } from './browser.ts';
import { ADA, MAIL, mailArgs, OTHER } from './conformance-kit.ts';
import { startWorld } from './world.ts';

/** The built page in a real browser, over the real engine, stores that a writer fills, and a client behind the real helper. */
test.skipIf(browserPath === undefined)('an owner turns mail on, allows a sender and a client, pauses, resumes and revokes', async () => {
  await using world = await startWorld({ trust: false, settings: { events: {}, senders: [] } });
  const page = await startPage(world.engine, { port: 0, wiring: { home: world.folder.at('home') }, usualFolder: false });
  await using opened = await openTab(page.address);
  const { tab, faults } = opened;
  const section = (name: string) => tab.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name, exact: true }).click();
  const headline = (text: string) => tab.getByText(text, { exact: true }).first().waitFor();
  const liveRow = (subject: string) => tab.getByRole('list', { name: 'Events, newest first' }).getByRole('listitem').filter({ hasText: subject });

  expect(tab.url()).not.toMatch(/code/);
  await headline('Everything is off.');
  await tab.getByRole('switch', { name: 'New mail' }).click();

  // Without a sender nothing would be sent: the sheet opens by itself.
  const add = tab.getByRole('dialog', { name: 'Add senders' });
  await add.getByRole('textbox', { name: 'Senders' }).fill('@example.org');
  await add.getByRole('button', { name: 'Add 1 sender' }).click();
  await add.waitFor({ state: 'detached' });
  await section('Events');
  await headline('Watching. No client is listening.');
  expect(world.engine.policy.snapshot()).toMatchObject({ events: [{ on: true }, { on: false }], senders: [{ value: 'example.org', on: true }] });

  await section('Live');
  await tab.getByText('Nothing yet.').waitFor();
  await world.writer.mail.arrive({ from: OTHER, subject: 'Stranger' });
  await world.writer.mail.arrive({ from: ADA, subject: 'Nobody listens' });
  await liveRow('ada@example.org').filter({ hasText: 'Not sent' }).filter({ hasText: 'No client asked for it' }).waitFor();
  // What matches no allowed sender shows only when it is asked for.
  expect(await liveRow('bob@other.example').count()).toBe(0);

  const client = world.client();
  await client.stream(MAIL, mailArgs, {}, 1);
  await headline('"test" wants events.');
  await tab.getByRole('button', { name: 'Review' }).click();
  await tab.getByText('Wants New mail from 1 sender.').waitFor();
  await tab.getByRole('button', { name: 'Allow...: "test"' }).click();
  const allow = tab.getByRole('dialog', { name: 'Allow this client?' });
  await allow.getByRole('button', { name: 'Allow', exact: true }).click();
  await allow.waitFor({ state: 'detached' });
  const row = tab.getByRole('list', { name: 'Connected clients' }).getByRole('listitem');
  await row.filter({ hasText: 'Listening' }).waitFor();

  await section('Live');
  await world.writer.mail.arrive({ from: ADA, subject: 'Quarterly plan' });
  await client.untilEvents(1, 1);
  await liveRow('Quarterly plan').filter({ hasText: 'Sent, not confirmed' }).waitFor();
  await section('Clients');
  await row.filter({ hasText: '1 delivered' }).waitFor();
  await section('Events');
  await headline('Watching. 1 client listening.');
  await tab.getByText('Used by: "test"').waitFor();

  await tab.getByRole('button', { name: 'Pause' }).click();
  await tab.getByRole('menuitem', { name: 'Until I resume' }).click();
  await headline('Paused until you resume.');
  await world.writer.mail.arrive({ from: ADA, subject: 'While paused' });
  await section('Live');
  await liveRow('ada@example.org').filter({ hasText: 'Paused' }).waitFor();
  expect(client.events(1)).toHaveLength(1);
  await section('Events');
  await tab.getByRole('button', { name: 'Resume' }).first().click();
  await client.untilEvents(2, 1);
  await section('Live');
  await liveRow('While paused').filter({ hasText: 'Sent, not confirmed' }).waitFor();

  await section('Clients');
  await row.getByRole('button').click();
  await tab.getByRole('button', { name: 'Disconnect' }).click();
  const { message } = await client.until((frame) => frame.message['method'] === 'notifications/events/terminated');
  expect(message['params']['error']).toMatchObject({ message: 'Forbidden' });
  await tab.getByText('Not allowed', { exact: true }).waitFor();
  await world.writer.mail.arrive({ from: ADA, subject: 'After the end' });
  await section('Live');
  await liveRow('ada@example.org').filter({ hasText: 'No client asked for it' }).first().waitFor();
  expect(client.events(1)).toHaveLength(2);
  expect(faults).toEqual([]);
  await page.close();
}, 120_000);
