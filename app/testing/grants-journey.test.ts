import { expect, test } from 'vitest';
import { runCommand } from '../cli/run-command.ts';
import { engineApi } from '../engine/commands.ts';
import { startPage } from '../engine/page.ts';
import { browserPath, openTab } from './browser.ts';
import { MAIL, mailArgs, MESSAGES, messagesArgs, ring } from './conformance-kit.ts';
import type { RawClient } from './raw-client.ts';
import { ask, ownIdentity, refusal, watch } from './watch-kit.ts';
import { NUMBER, startWorld } from './world.ts';

const toolsOf = async (client: RawClient): Promise<string[]> => ((await client.request('tools/list'))['result']['tools'] as { name: string }[]).map(({ name }) => name);

test('with asking off, a client that nobody decided on gets events at once and reads nothing; a program may only ask for that', async () => {
  await using world = await startWorld({ trust: false });
  const asPeer = (line: string) => runCommand(line.split(' '), engineApi(world.engine), { headless: false, isOwnerConsole: false });
  expect(await asPeer('settings set askNewClients off')).toMatchObject({ code: 2 });
  expect(world.engine.policy.settings.askNewClients).toBe(true);
  const [request] = world.engine.policy.snapshot().waiting;
  expect(request).toMatchObject({ kind: 'change', sentence: 'Let new clients in without asking' });
  expect(world.engine.policy.answer(request!.id, true)).toMatchObject({ ok: true });

  const client = world.client();
  await client.stream(MAIL, mailArgs, {}, 1);
  await ring(world, 'Unasked');
  await client.untilEvents(1, 1);
  expect(world.engine.policy.snapshot()).toMatchObject({ waiting: [], clients: [{ grants: [], events: 'all' }] });
  expect(await refusal(client, 'mail_list', {})).toMatch(/^The owner of this Mac has not let this client read mail\./);
  expect(world.engine.policy.revokeClient(ownIdentity(world).id)).toMatchObject({ ok: true });
  await client.until((frame) => frame.message['method'] === 'notifications/events/terminated');
});

/** The built page in a real browser, over the real engine and stores, with a client behind the real helper. */
test.skipIf(browserPath === undefined)('an owner lets a client read, leaves a mailbox out, takes reading back, and answers what it would send', async () => {
  await using world = await startWorld();
  const page = await startPage(world.engine, { port: 0, wiring: { home: world.folder.at('home') }, usualFolder: false });
  await using opened = await openTab(page.address);
  const { tab, faults } = opened;
  const section = (name: string) => tab.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name, exact: true }).click();
  const client = world.client();
  await watch(client);
  const rowid = await ring(world, 'Rota', { file: true });
  expect(await ask(client, 'request_access', { read: ['mail'] })).toMatchObject({ mayRead: [] });

  // What it asked for stands under its name, and reading comes with the answer.
  await section('Clients');
  await tab.getByText('Wants to read mail from allowed senders.').waitFor();
  await tab.getByRole('button', { name: 'Allow: "test"', exact: true }).click();
  await expect.poll(() => toolsOf(client), { timeout: 30_000 }).toContain('mail_get');
  expect(await ask(client, 'mail_get', { id: String(rowid) })).toMatchObject({ mail: { subject: 'Rota' } });

  // Left out, the mail is as if it were not there.
  await section('Settings');
  await tab.getByRole('button', { name: 'Choose...' }).click();
  const sheet = tab.getByRole('dialog', { name: 'Left out' });
  await sheet.getByLabel('INBOX', { exact: true }).check();
  await sheet.getByRole('button', { name: 'Save' }).click();
  await sheet.waitFor({ state: 'detached' });
  expect(await refusal(client, 'mail_get', { id: String(rowid) })).toBe('id: there is no mail with this id that you may read.');
  await tab.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => world.engine.policy.snapshot().excluded, { timeout: 30_000 }).toEqual([]);
  expect(await ask(client, 'mail_get', { id: String(rowid) })).toMatchObject({ row: rowid });

  // Less at once, more only after it was said what it means.
  await section('Clients');
  await tab.getByRole('list', { name: 'Connected clients' }).getByRole('button').click();
  await tab.getByLabel('Read mail', { exact: true }).selectOption({ label: 'No' });
  await expect.poll(() => toolsOf(client), { timeout: 30_000 }).not.toContain('mail_get');
  await tab.getByLabel('Write', { exact: true }).selectOption({ label: 'Ask each time' });
  await tab.getByRole('dialog', { name: 'Let this client do more?' }).getByRole('button', { name: 'Allow' }).click();
  await expect.poll(() => toolsOf(client), { timeout: 30_000 }).toContain('messages_reply');

  // A text is shown before it goes out, and goes out once.
  await watch(client, messagesArgs, MESSAGES);
  const guid = crypto.randomUUID().toUpperCase();
  await world.writer.messages.arrive({ from: NUMBER, guid });
  await expect.poll(async () => JSON.stringify(await ask(client, 'check_inbox')), { timeout: 30_000 }).toContain(guid);
  expect(await ask(client, 'messages_reply', { event: guid, isGroup: false, text: 'On my way' })).toMatchObject({ state: 'waiting' });
  await tab.getByText('"test" wants to send a message.').first().waitFor();
  await section('Clients');
  await tab.getByRole('group', { name: 'The message' }).filter({ hasText: 'On my way' }).waitFor();
  expect(world.osascript.runs).toEqual([]);
  await tab.getByRole('button', { name: 'Send: "test"', exact: true }).first().click();
  await expect.poll(() => world.osascript.runs.length, { timeout: 30_000 }).toBe(1);
  await tab.getByText('"test" wants to send a message.').first().waitFor({ state: 'detached' });
  expect(faults).toEqual([]);
  await page.close();
}, 120_000);

test.skipIf(browserPath === undefined)('an owner makes a token for what is chosen, sees it once, and revokes it; a host for webhooks is listed and taken back', async () => {
  await using world = await startWorld();
  const page = await startPage(world.engine, { port: 0, wiring: { home: world.folder.at('home') }, usualFolder: false });
  await using opened = await openTab(page.address);
  const { tab, faults } = opened;
  const { policy } = world.engine;
  await tab.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: 'Settings', exact: true }).click();
  await tab.getByRole('button', { name: 'New Token...' }).click();
  const sheet = tab.getByRole('dialog');
  await sheet.getByLabel('Name', { exact: true }).fill('CI');
  await sheet.getByLabel('Read mail').selectOption({ label: 'From allowed senders' });
  await sheet.getByRole('button', { name: 'Make Token' }).click();
  const token = (await sheet.getByRole('group', { name: 'the new token' }).textContent())!;
  const holder = policy.credentials.credentialOf(token);
  expect(holder).toMatchObject({ label: 'CI' });
  expect(policy.snapshot().clients.find(({ id }) => id === holder!.identity.id)).toMatchObject({ decision: 'always', grants: ['mail'], events: 'all' });
  await sheet.getByRole('button', { name: 'Done' }).click();
  await tab.getByRole('button', { name: 'Revoke...: "CI"' }).click();
  await sheet.getByRole('button', { name: 'Revoke', exact: true }).click();
  await sheet.waitFor({ state: 'detached' });
  expect(policy.credentials.credentialOf(token)).toBeNull();

  await tab.getByLabel('Add a host').fill('hooks.example.com');
  await tab.getByLabel('Add a host').press('Enter');
  await tab.getByRole('button', { name: 'Remove: hooks.example.com' }).waitFor();
  expect(policy.settings.hosts).toEqual(['hooks.example.com']);
  await tab.getByRole('button', { name: 'Remove: hooks.example.com' }).click();
  await expect.poll(() => policy.settings.hosts, { timeout: 30_000 }).toEqual([]);
  expect(faults).toEqual([]);
  await page.close();
}, 120_000);
