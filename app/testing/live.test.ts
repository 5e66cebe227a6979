import { expect, test } from 'vitest';
import { ADA, MAIL, mailArgs, MESSAGES, messagesArgs, OTHER, poll } from './conformance-kit.ts';
import type { LiveRow } from '../contract/values.ts';
import { uiOf, type UiClient } from './memory-ports.ts';
import type { MailStore } from './mail-store.ts';
import { mailIndex, replaceStore } from './store-surgery.ts';
import { NUMBER, startWorld, type World } from './world.ts';

const within = { timeout: 30_000 };
const row = (ui: UiClient, subject: string): LiveRow | undefined => [...ui.rows.values()].find((each) => each.subject === subject);
const became = (ui: UiClient, subject: string) => {
  const found = row(ui, subject);
  return found && [found.status, found.reason];
};
const idOf = async (world: World): Promise<string> => {
  await expect.poll(() => [...world.engine.peers].find((peer) => peer.identity !== null)?.identity?.id, within).toBeTypeOf('string');
  return [...world.engine.peers].find((peer) => peer.identity !== null)!.identity!.id;
};

test('an open stream is no answer that a client waits for: an update need not wait for it', async () => {
  await using world = await startWorld();
  const client = world.client();
  await client.stream(MAIL, mailArgs, {}, 1);
  expect([...world.engine.peers].map(({ streams }) => streams.size)).toEqual([1]);
  expect(world.engine.peers.answering).toBe(0);
});

test('each arrival is one row: who, what became of it, and the very JSON that was sent', async () => {
  await using world = await startWorld();
  using ui = uiOf(world.engine);
  const client = world.client();
  await client.stream(MAIL, mailArgs, {}, 1);
  await client.stream(MESSAGES, messagesArgs, {}, 2);
  expect(await ui.look()).toEqual([]);
  await world.writer.mail.arrive({ from: ADA, subject: 'Plan', attachments: ['a.pdf', 'b.pdf'] });
  const [event] = await client.untilEvents(1, 1);
  await expect.poll(() => row(ui, 'Plan'), within).toMatchObject({
    type: MAIL, eventId: event!['eventId'], sender: 'ada@example.org', name: 'Ada', place: 'INBOX', service: null, attachments: 2, status: 'sent', reason: null,
    notArrival: null, test: false, verdicts: [{ sent: true, confirmed: false, reason: null }],
    json: { eventId: event!['eventId'], name: MAIL, timestamp: event!['timestamp'], data: event!['data'] },
  });
  await world.writer.messages.arrive({ from: NUMBER, text: 'canary text' });
  await expect.poll(() => [...ui.rows.values()].find(({ type }) => type === MESSAGES), within)
    .toMatchObject({ sender: NUMBER, subject: null, service: 'iMessage', attachments: 0, status: 'sent' });
  expect(JSON.stringify([...ui.rows.values()])).not.toContain('canary text');
});

test('nobody listens, and no client was told: an allowed sender shows all the same', async () => {
  await using world = await startWorld();
  using ui = uiOf(world.engine);
  await ui.look();
  await world.writer.mail.arrive({ from: ADA, subject: 'Alone' });
  await expect.poll(() => became(ui, 'Alone'), within).toEqual(['not-sent', 'no-listener']);
  expect(row(ui, 'Alone')).toMatchObject({ verdicts: [], json: null });
});

test('a row changes under its id: held by a pause, sent when it ends; polled, then delivered', async () => {
  await using world = await startWorld();
  using ui = uiOf(world.engine);
  const client = world.client();
  await client.stream(MAIL, mailArgs, {}, 1);
  const { cursor } = await poll(client, MAIL, mailArgs);
  await ui.look();
  world.engine.policy.pause(null);
  await world.writer.mail.arrive({ from: ADA, subject: 'Held' });
  await expect.poll(() => became(ui, 'Held'), within).toEqual(['not-sent', 'paused']);
  const { id } = row(ui, 'Held')!;
  world.engine.policy.resume();
  await client.untilEvents(1, 1);
  await expect.poll(() => became(ui, 'Held'), within).toEqual(['sent', null]);
  await poll(client, MAIL, mailArgs, { cursor });
  await expect.poll(() => became(ui, 'Held'), within).toEqual(['delivered', null]);
  expect(row(ui, 'Held')).toMatchObject({ id, verdicts: [{ sent: true, confirmed: true }], json: { data: { subject: 'Held' } } });
  expect(ui.rows.size).toBe(1);
});

test('an approval and a digest let out what was held', async () => {
  await using world = await startWorld({ trust: false, settings: { ratePerHour: 1 } });
  using ui = uiOf(world.engine);
  const client = world.client();
  await client.stream(MAIL, mailArgs, {}, 1);
  const id = await idOf(world);
  await ui.look();
  await world.writer.mail.arrive({ from: ADA, subject: 'Asks' });
  await expect.poll(() => became(ui, 'Asks'), within).toEqual(['not-sent', 'client-not-allowed']);
  expect(await ui.call.clients.answer({ id, accept: true, options: {} })).toMatchObject({ ok: true });
  await expect.poll(() => became(ui, 'Asks'), within).toEqual(['sent', null]);
  await world.writer.mail.arrive({ from: ADA, subject: 'Too many' });
  await expect.poll(() => became(ui, 'Too many'), within).toEqual(['not-sent', 'rate']);
  expect(await ui.call.settings.set({ key: 'ratePerHour', value: 100 })).toMatchObject({ ok: true });
  await expect.poll(() => became(ui, 'Too many'), within).toEqual(['sent', null]);
  expect(client.of(1, 'error').map(({ message }) => message['params']['error']['data']['reason'])).toEqual(['approval', 'rate', 'digest']);
  expect(client.events(1).map(({ data }) => data.subject)).toEqual(['Asks', 'Too many']);
});

test('"Not matched" shows what matches nobody only from when it was asked for, and drops it when it is turned off', async () => {
  await using world = await startWorld();
  using ui = uiOf(world.engine);
  await ui.look();
  await world.writer.mail.arrive({ from: OTHER, subject: 'Before' });
  await world.writer.mail.arrive({ from: ADA, subject: 'Known' });
  await expect.poll(() => became(ui, 'Known'), within).toBeDefined();
  expect(row(ui, 'Before')).toBeUndefined();
  expect((await ui.look(true)).map(({ subject }) => subject)).toEqual(['Known']);
  await world.writer.mail.arrive({ from: OTHER, subject: 'Stranger' });
  await world.writer.mail.send({ to: [ADA], subject: 'Mine' });
  await expect.poll(() => [became(ui, 'Stranger'), became(ui, 'Mine')], within).toEqual([['not-sent', 'no-allowed-sender'], ['not-sent', 'sent']]);
  expect(row(ui, 'Mine')).toMatchObject({ notArrival: 'sent' });
  // A second page that asks later sees them from then on only.
  using second = uiOf(world.engine);
  expect((await second.look(true)).map(({ subject }) => subject)).toEqual(['Known']);
  expect((await ui.look(true)).map(({ subject }) => subject)).toEqual(['Known', 'Stranger', 'Mine']);
  expect((await ui.look(false)).map(({ subject }) => subject)).toEqual(['Known']);
  second.close();
  expect((await ui.look(true)).map(({ subject }) => subject)).toEqual(['Known']);
});

test('a page that looks again finds the rows of this run; before the first look nothing is kept', async () => {
  await using world = await startWorld();
  const client = world.client();
  await client.stream(MAIL, mailArgs, {}, 1);
  await world.writer.mail.arrive({ from: ADA, subject: 'Unseen' });
  await client.untilEvents(1, 1);
  {
    using first = uiOf(world.engine);
    expect(await first.look()).toEqual([]);
  }
  await world.writer.mail.arrive({ from: ADA, subject: 'Kept' });
  await client.untilEvents(2, 1);
  using again = uiOf(world.engine);
  await expect.poll(async () => (await again.look()).map(({ subject }) => subject), within).toEqual(['Kept']);
});

test('mail outside the owner’s mailboxes is not sent, live or from a cursor, and says why', async () => {
  await using world = await startWorld();
  using ui = uiOf(world.engine);
  const client = world.client();
  await client.stream(MAIL, mailArgs, {}, 1);
  const { cursor } = await poll(client, MAIL, mailArgs);
  await world.writer.mail.addMailbox(world.account, 'Work');
  const boxes = await ui.call.events.mailboxes({});
  expect(boxes.map(({ name }) => name)).toEqual(expect.arrayContaining(['iCloud/INBOX', 'iCloud/Work']));
  expect(boxes.map(({ role }) => role)).not.toContain('trash');
  expect(await ui.call.events.setMailboxes({ mailboxes: ['Nowhere'] })).toMatchObject({ ok: false, message: expect.stringMatching(/no mailbox is called "Nowhere"/) });
  expect(await ui.call.events.setMailboxes({ mailboxes: ['iCloud/INBOX'] })).toMatchObject({ ok: true, changed: true });
  expect((await ui.call.events.list({}))[0]).toMatchObject({ mailboxes: ['iCloud/INBOX'] });
  await ui.look();
  await world.writer.mail.arrive({ from: ADA, subject: 'Elsewhere', mailbox: 'Work' });
  await world.writer.mail.arrive({ from: ADA, subject: 'Inbox' });
  expect(await client.untilEvents(1, 1)).toMatchObject([{ data: { subject: 'Inbox' } }]);
  await expect.poll(() => became(ui, 'Elsewhere'), within).toEqual(['not-sent', 'mailbox']);
  expect((await poll(client, MAIL, mailArgs, { cursor }))['events']).toMatchObject([{ data: { subject: 'Inbox' } }]);
  expect(await ui.call.events.setMailboxes({ mailboxes: null })).toMatchObject({ ok: true });
  expect((await ui.call.events.list({}))[0]).toMatchObject({ mailboxes: null });
});

test('another store in the place of the first is a row of its own: missed', async () => {
  await using world = await startWorld();
  using ui = uiOf(world.engine);
  await ui.look();
  await world.writer.stop();
  replaceStore(`${world.mailDir}/MailData/Envelope Index`, mailIndex({}, (store: MailStore) => {
    store.addAccount({ description: 'New', email: 'me@example.org', kind: 'imap' });
  }));
  await expect.poll(() => [...ui.rows.values()].find(({ status }) => status === 'missed'), within).toMatchObject({ type: MAIL, number: null, verdicts: [], json: null });
});
