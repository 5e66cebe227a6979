import { expect, test } from 'vitest';
import { runCommand } from '../cli/run-command.ts';
import { engineApi } from '../engine/commands.ts';
import type { GrantName } from '../policy/change.ts';
import { ADA, ring } from './conformance-kit.ts';
import { rewriteMailFile } from './mail-corpus.ts';
import { complaint } from './osascript-stand-in.ts';
import { ask, ownIdentity, subjectsOf, untilUnread, watch } from './watch-kit.ts';
import { NUMBER, startWorld, type World } from './world.ts';

/** What is kept from a client that may read, what is fetched for it, and what the owner sees of its reading. */
const grant = (world: World, ...grants: GrantName[]): void => {
  expect(world.engine.policy.allowClient(ownIdentity(world).id, { grants })).toMatchObject({ ok: true });
};
const cli = (world: World, line: string) => runCommand(line.split(' '), engineApi(world.engine), { headless: true, isOwnerConsole: false });
const textOf = (answer: Record<string, any>): string => (answer['parts'] as { text: string }[]).map((part) => part.text).join('');
const write = (world: World, rowid: number, message: string): string => rewriteMailFile(world.mailDir, rowid, message);

test('one-time codes are hidden in events, texts and lists, until the owner says otherwise', async () => {
  await using world = await startWorld();
  const client = world.client();
  await watch(client);
  const rowid = await ring(world, '482913 is your code', { file: true });
  write(world, rowid, 'Subject: 482913 is your code\n\nEnter it here:\n\n  482913\n\nOr call +1 555 010 1234.');
  expect(subjectsOf(await ask(client, 'wait_for_events'))).toEqual(['•••••• is your code']);
  grant(world, 'mail', 'messages');
  const mail = await ask(client, 'mail_get', { id: String(rowid) });
  expect(mail['mail'].subject).toBe('•••••• is your code');
  expect(textOf(mail)).toBe('Enter it here:\n\n  ••••••\n\nOr call +1 555 010 1234.');
  expect(mail['note']).toMatch(/One-time codes are hidden by the owner\./);
  expect((await ask(client, 'mail_list'))['mails'][0].mail.subject).toBe('•••••• is your code');
  const guid = crypto.randomUUID().toUpperCase();
  await world.writer.messages.arrive({ from: NUMBER, guid, text: 'Your code is 771204' });
  expect(await ask(client, 'messages_get', { id: guid })).toMatchObject({ text: 'Your code is ••••••', length: 19 });
  expect((await ask(client, 'messages_list', { person: NUMBER }))['messages'][0].text).toBe('Your code is ••••••');
  for (const frame of client.frames) expect(frame.text).not.toMatch(/482913|771204/);

  expect(await cli(world, 'settings set hideCodes off')).toMatchObject({ code: 0, stdout: 'hideCodes is off.\n' });
  expect(textOf(await ask(client, 'mail_get', { id: String(rowid) }))).toContain('482913');
  expect(await ask(client, 'messages_get', { id: guid })).toMatchObject({ text: 'Your code is 771204' });
  await ring(world, '118822 is your code');
  // The first was not confirmed: it is unread still.
  await untilUnread(world, 2);
  expect(subjectsOf(await ask(client, 'check_inbox'))).toContain('118822 is your code');
});

test('a subject filter does not spell out a hidden code', async () => {
  await using world = await startWorld();
  const client = world.client();
  await watch(client, { domains: ['example.org'], subject_contains: '482913' });
  await watch(client, { domains: ['example.org'], subject_contains: 'your code' });
  await ring(world, '482913 is your code');
  await ask(client, 'wait_for_events');
  expect(world.engine.watches.list(null).map(({ waiting, sent }) => waiting + sent)).toEqual([0, 1]);
});

test('a body that is not on this Mac is fetched through Mail only if the owner allowed it and Mail runs', async () => {
  let runs = false;
  await using world = await startWorld({ sourceRuns: () => runs });
  const client = world.client();
  await ask(client, 'list_watches');
  grant(world, 'mail');
  const { result: rowid } = await world.writer.mail.arrive({ from: ADA, subject: 'Far away', messageId: '<far@x.example>', file: false });
  const read = () => ask(client, 'mail_get', { id: String(rowid) });
  world.osascript.ends({ stdout: 'Words from far away\n\nOn Monday Bob wrote:\n> old\n' });

  runs = true;
  expect((await read())['note']).toMatch(/not on this Mac: Mail has not downloaded it\. Nothing is fetched for this: the owner has not allowed that/);
  runs = false;
  expect(await cli(world, 'settings set fetchThroughMail on')).toMatchObject({ code: 0 });
  expect((await read())['note']).toMatch(/Mail is not running, and Belfry does not start it for this/);
  expect(world.osascript.runs).toEqual([]);

  runs = true;
  const answer = await read();
  expect(answer).toMatchObject({ fetched: true, onDisk: 'no', parts: [{ text: 'Words from far away\n\n', quoted: false }, { text: 'On Monday Bob wrote:\n> old', quoted: true }], links: [], attachments: [] });
  expect(answer['note']).not.toMatch(/not on this Mac/);
  expect(world.osascript.runs.map(({ argv }) => argv)).toEqual([['-', world.account, 'INBOX', String(rowid), 'far@x.example']]);
  expect(await world.writer.store.query('mail', 'SELECT read, date_last_viewed FROM messages WHERE ROWID = ?', rowid)).toMatchObject({ result: [{ read: 0 }] });

  for (const [end, why] of [[complaint(-1743), /Automation/], [complaint(-600), /Mail is not running\.$/], [complaint(9002), /Another mail now stands in its place/], [{ stdout: '\n' }, /Mail has no text of it either/]] as const) {
    world.osascript.ends(end);
    expect(await read()).toMatchObject({ fetched: false, parts: [], note: expect.stringMatching(why) });
  }
});

test('what Mail downloaded meanwhile is read from its own file, with all that belongs to it', async () => {
  await using world = await startWorld({ sourceRuns: () => true });
  const client = world.client();
  await ask(client, 'list_watches');
  grant(world, 'mail');
  world.engine.policy.setSetting('fetchThroughMail', true);
  const { result: rowid } = await world.writer.mail.arrive({ from: ADA, subject: 'Far away' });
  write(world, rowid, 'Subject: Far away\nContent-Type: text/html\n\n');
  // As an empty file: nothing of it is here yet. Mail writes it while it is asked.
  write(world, rowid, '');
  world.osascript.ends({ stdout: 'From Mail', after: 1500 });
  const answer = ask(client, 'mail_get', { id: String(rowid) });
  await expect.poll(() => world.osascript.runs.length, { timeout: 20_000 }).toBe(1);
  write(world, rowid, 'Subject: Far away\nContent-Type: text/html\n\n<p>From <a href="https://x.example/">the file</a></p>');
  expect(await answer).toMatchObject({ fetched: false, onDisk: 'whole', links: [{ url: 'https://x.example/' }] });
});

test('each reading stands in Activity: who, by which tool, how many; no content', async () => {
  await using world = await startWorld();
  const client = world.client();
  await ask(client, 'list_watches');
  grant(world, 'mail', 'messages');
  const rows: number[] = [];
  for (const subject of ['unkept-one', 'unkept-two']) rows.push((await world.writer.mail.arrive({ from: ADA, subject, file: false })).result);
  const guid = crypto.randomUUID().toUpperCase();
  const { result: message } = await world.writer.messages.arrive({ from: NUMBER, guid });
  await ask(client, 'mail_list');
  await ask(client, 'mail_get', { id: String(rows[0]) });
  await ask(client, 'mail_get', { id: String(rows[0]) });
  await ask(client, 'mail_accounts');
  await ask(client, 'messages_get', { id: guid });
  await ask(client, 'messages_chats');
  await client.tool('mail_get', { id: '999999' });
  const { id } = ownIdentity(world);
  const read = world.engine.activity.recent(50, { kind: 'read' }).map(({ client: who, type, reason, count, rowid }) => [who, type, reason, count, rowid]);
  expect(read.toReversed()).toEqual([
    [id, 'mail.received', 'mail_list', 2, null],
    [id, 'mail.received', 'mail_get', 1, rows[0]],
    [id, 'mail.received', 'mail_get', 1, rows[0]],
    [id, 'mail.received', 'mail_accounts', 1, null],
    [id, 'messages.received', 'messages_get', 1, message],
    [id, 'messages.received', 'messages_chats', 1, null],
  ]);
  expect(world.engine.activity.export()).not.toContain('unkept');
});
