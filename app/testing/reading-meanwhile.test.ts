import { expect, test, vi } from 'vitest';
import { MailFiles } from '../apple/mail/mail-files.ts';
import type { GrantName } from '../policy/change.ts';
import { ADA } from './conformance-kit.ts';
import type { RawClient } from './raw-client.ts';
import { ask, ownIdentity } from './watch-kit.ts';
import { NUMBER, startWorld, type World } from './world.ts';

const withKey = { host: { searchKey: Buffer.alloc(32, 5).toString('base64') } };

async function opened(world: World, ...grants: GrantName[]): Promise<RawClient> {
  const client = world.client();
  await ask(client, 'list_watches');
  expect(world.engine.policy.allowClient(ownIdentity(world).id, { grants })).toMatchObject({ ok: true });
  return client;
}

/** What the owner or Mail does between the hits and their snippets, and what the client may learn then. */
const MEANWHILE: readonly (readonly [string, (world: World) => unknown, 'refused' | 'gone'])[] = [
  ['one-time codes are hidden', (world) => world.engine.policy.setSetting('hideCodes', true), 'refused'],
  ['subjects are switched off', (world) => world.engine.policy.setSetting('subjects', false), 'refused'],
  ['the grant to read goes', (world) => world.engine.policy.allowClient(ownIdentity(world).id, { grants: ['search'] }), 'refused'],
  ['Belfry is paused', (world) => world.engine.policy.pause(null), 'refused'],
  ['the mailbox is excluded', (world) => world.engine.policy.exclude([`${world.account}/INBOX`]), 'gone'],
  ['the mail is removed', (world) => world.writer.mail.remove(1), 'gone'],
  ['the mail moves into an excluded mailbox', (world) => world.writer.mail.move(1, 'Projects'), 'gone'],
];

test.each(MEANWHILE)('a search sees what comes while snippets are cut: %s', async (_, act, outcome) => {
  await using world = await startWorld({ ...withKey, settings: { hideCodes: false } });
  const client = await opened(world, 'mail:everything', 'search');
  world.engine.policy.exclude([`${world.account}/Projects`]);
  await world.writer.mail.arrive({ from: ADA, subject: 'Your code is 918273', text: 'okapi, your code is 918273' });
  await expect.poll(() => world.engine.search.state().indexed, { timeout: 60_000 }).toBe(1);
  const before = await vi.waitFor(() => ask(client, 'mail_search', { query: 'okapi' }), { timeout: 25_000, interval: 100 });
  expect(JSON.stringify(before)).toContain('918273');
  const { index } = world.engine.search;
  if (typeof index === 'string') throw new Error(index);
  const search = index.search.bind(index);
  let isDone = false;
  index.search = async (request) => {
    const found = await search(request);
    if (!found.ok) return found;
    const snippets = async (): ReturnType<typeof found.snippets> => {
      const cut = await found.snippets();
      if (!isDone) await act(world);
      isDone = true;
      return cut;
    };
    return { ...found, snippets };
  };
  const answer = await ask(client, 'mail_search', { query: 'okapi' }).catch((error: Error) => error);
  expect(isDone).toBe(true);
  if (outcome === 'refused') expect(answer).toBeInstanceOf(Error);
  else expect(answer).toMatchObject({ mails: [], count: 0 });
  expect(answer instanceof Error ? answer.message : JSON.stringify(answer)).not.toContain('918273');
});

/** The same of messages, which are looked through turn by turn: what was read in a turn before must not be shown after it. */
const MEANWHILE_OF_MESSAGES: readonly (readonly [string, (world: World) => unknown])[] = [
  ['one-time codes are hidden', (world) => world.engine.policy.setSetting('hideCodes', true)],
  ['the grant to read goes', (world) => world.engine.policy.allowClient(ownIdentity(world).id, { grants: ['search'] })],
  ['the grant to search goes', (world) => world.engine.policy.allowClient(ownIdentity(world).id, { grants: ['messages:everything'] })],
  ['New message is switched off', (world) => world.engine.policy.setEvent('messages.received', false)],
  ['Belfry is paused', (world) => world.engine.policy.pause(null)],
];

test.each(MEANWHILE_OF_MESSAGES)('a search of messages sees what comes while it looks: %s', async (_, act) => {
  await using world = await startWorld({ settings: { hideCodes: false } });
  const client = await opened(world, 'messages:everything', 'search');
  await world.writer.messages.arrive({ from: NUMBER, text: 'okapi, your code is 918273' });
  expect(JSON.stringify(await ask(client, 'messages_search', { query: 'okapi' }))).toContain('918273');
  const { messages } = world.engine.archives;
  const find = messages.find.bind(messages);
  let isDone = false;
  // Found already, and not answered yet.
  messages.find = (name) => {
    const row = find(name);
    if (!isDone && row !== null) {
      isDone = true;
      act(world);
    }
    return row;
  };
  const answer = await ask(client, 'messages_search', { query: 'okapi' }).catch((error: Error) => error);
  expect(isDone).toBe(true);
  expect(answer).toBeInstanceOf(Error);
  expect((answer as Error).message).not.toContain('918273');
});

/** And of one mail, whose file is waited for, longest where Mail is asked for it. */
const MEANWHILE_OF_ONE: readonly (readonly [string, (world: World) => unknown])[] = [
  ['one-time codes are hidden', (world) => world.engine.policy.setSetting('hideCodes', true)],
  ['subjects are switched off', (world) => world.engine.policy.setSetting('subjects', false)],
  ['the grant to read goes', (world) => world.engine.policy.allowClient(ownIdentity(world).id, { grants: ['search'] })],
  ['New mail is switched off', (world) => world.engine.policy.setEvent('mail.received', false)],
  ['Belfry is paused', (world) => world.engine.policy.pause(null)],
];

test.each(MEANWHILE_OF_ONE.flatMap((each) => ['mail_get', 'mail_links'].map((name) => [name, ...each] as const)))('%s sees what comes while the file is read: %s', async (name, _, act) => {
  await using world = await startWorld({ settings: { hideCodes: false } });
  const client = await opened(world, 'mail:everything');
  const { result: row } = await world.writer.mail.arrive({ from: ADA, subject: 'Your code is 918273', text: 'https://okapi.example/918273' });
  expect(JSON.stringify(await ask(client, name, { id: String(row) }))).toContain('918273');
  const { open } = MailFiles.prototype;
  const opening = vi.spyOn(MailFiles.prototype, 'open').mockImplementation(function meanwhile(this: MailFiles, ...args) {
    act(world);
    return open.apply(this, args);
  } as typeof open);
  const answer = await ask(client, name, { id: String(row) }).catch((error: Error) => error);
  expect(opening).toHaveBeenCalled();
  opening.mockRestore();
  expect(answer).toBeInstanceOf(Error);
  expect((answer as Error).message).not.toContain('918273');
});
