import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { GrantName } from '../policy/change.ts';
import { ADA, MAIL, mailArgs, ring } from './conformance-kit.ts';
import type { RawClient } from './raw-client.ts';
import { ask, ownIdentity } from './watch-kit.ts';
import { startWorld, type World } from './world.ts';

const withKey = { host: { searchKey: Buffer.alloc(32, 5).toString('base64') } };
const TIME = { timeout: 60_000 };

const grant = (world: World, ...grants: GrantName[]): void => {
  expect(world.engine.policy.allowClient(ownIdentity(world).id, { grants })).toMatchObject({ ok: true });
};
const mailOf = async (world: World, text: string, more: object = {}): Promise<number> => (await world.writer.mail.arrive({ from: ADA, text, ...more })).result;
/** A machine that is busy may take longer for the first question than one is given. */
const search = (client: RawClient, query: string, more: object = {}) => vi.waitFor(() => ask(client, 'mail_search', { query, ...more }), { timeout: 25_000, interval: 100 });
const rowsOf = (answer: Record<string, any>): number[] => (answer['mails'] as { row: number }[]).map(({ row }) => row);
const indexed = (world: World, count: number) => expect.poll(() => world.engine.search.state().indexed, TIME).toBe(count);
const googleOf = async (world: World): Promise<string> => (await world.writer.mail.addAccount({ description: 'Google', email: 'me@gmail.example', kind: 'gmail' })).result;

async function opened(world: World, ...grants: GrantName[]): Promise<RawClient> {
  const client = world.client();
  await ask(client, 'list_watches');
  grant(world, ...grants);
  return client;
}

test('what changes without a new row is followed: moved, deleted, marked deleted and back, labelled, unlabelled', async () => {
  await using world = await startWorld(withKey);
  const client = await opened(world, 'mail:everything', 'search');
  const google = await googleOf(world);
  world.engine.policy.exclude([`${google}/Projects`, `${world.account}/Projects`]);
  const { mail } = world.writer;
  const moved = await mailOf(world, 'okapi');
  const removed = await mailOf(world, 'okapi');
  const marked = await mailOf(world, 'okapi');
  const labelled = await mailOf(world, 'okapi', { account: google, mailbox: 'INBOX' });
  const hidden = await mailOf(world, 'okapi', { account: google, mailbox: 'INBOX', labels: ['Projects'] });
  await indexed(world, 4);
  await mail.move(moved, 'Projects');
  await indexed(world, 3);
  await mail.remove(removed);
  await indexed(world, 2);
  await mail.setFlags(marked, { deleted: true });
  await indexed(world, 1);
  await mail.setFlags(marked, { deleted: false });
  await indexed(world, 2);
  await mail.addLabel(labelled, 'Projects');
  await indexed(world, 1);
  // Let in again by a label that was taken: it is found, with what is said of coverage.
  await mail.removeLabel(hidden, 'Projects');
  await indexed(world, 2);
  const answer = await search(client, 'okapi');
  expect(rowsOf(answer).sort()).toEqual([marked, hidden].sort());
  expect(answer).toMatchObject({ count: 2, coverage: { phase: 'ready', percent: 100 } });
}, 120_000);

test('nothing is compared while nothing changes', async () => {
  await using world = await startWorld(withKey);
  await opened(world, 'mail:everything', 'search');
  await mailOf(world, 'okapi');
  await indexed(world, 1);
  const { index } = world.engine.search;
  if (typeof index === 'string') throw new Error(index);
  await expect.poll(() => index.isFollowed, TIME).toBe(true);
  let orders = 0;
  const follow = index.follow.bind(index);
  index.follow = () => { orders += 1; follow(); };
  await world.writer.mail.setFlags(1, { read: true });
  await expect.poll(() => orders, TIME).toBe(1);
  // A commit of another store, and time: neither is a change of Mail.
  await world.writer.messages.arrive({ from: '+15550101234', text: 'x' });
  world.minute();
  await expect.poll(() => index.isFollowed, TIME).toBe(true);
  expect(orders).toBe(1);
}, 120_000);

test('paused on battery the index follows nothing, which is said; events go on; on mains it makes up for it', async () => {
  await using world = await startWorld(withKey);
  const client = await opened(world, 'mail:everything', 'search');
  const gone = await mailOf(world, 'okapi');
  await indexed(world, 1);
  expect(world.engine.policy.setSetting('indexOnBattery', false)).toMatchObject({ ok: true });
  world.engine.search.onBattery(true);
  await world.engine.search.settled();
  await world.writer.mail.remove(gone);
  await client.stream(MAIL, mailArgs);
  await ring(world, 'Still heard');
  await client.until(({ message }) => message['method'] === 'notifications/events/event');
  expect(world.engine.search.state().indexed).toBe(1);
  expect(await search(client, 'okapi')).toMatchObject({ count: 0, mails: [], coverage: { phase: 'paused', percent: 99 } });
  expect(world.engine.search.state()).toMatchObject({ phase: 'paused', pausedBy: 'battery' });
  world.engine.search.onBattery(false);
  await expect.poll(async () => rowsOf(await search(client, 'still')), TIME).toHaveLength(1);
  await expect.poll(() => world.engine.search.state().indexed, TIME).toBe(1);
}, 120_000);

test('words of what is excluded or labelled so leave a plain index, also where the engine was stopped before that', async () => {
  await using world = await startWorld({ host: { plainIndex: true } });
  await opened(world, 'mail:everything', 'search');
  const google = await googleOf(world);
  const holds = (word: string): boolean => readdirSync(join(world.dataDir, 'search')).some((file) => readFileSync(join(world.dataDir, 'search', file)).includes(word));
  for (let nth = 0; nth < 30; nth += 1) await mailOf(world, `plain words number${nth}`);
  await mailOf(world, 'diagnosisxylophone', { mailbox: 'Projects', from: { address: 'clinic@example.org' } });
  const labelled = await mailOf(world, 'salaryvibraphone', { account: google, mailbox: 'INBOX' });
  await indexed(world, 32);
  expect(['diagnosisxyl', 'clinic@example.org', 'salaryvib'].map(holds)).toEqual([true, true, true]);
  world.engine.policy.exclude([`${world.account}/Projects`, `${google}/Projects`]);
  await expect.poll(() => ['diagnosisxyl', 'clinic@example.org'].map(holds), TIME).toEqual([false, false]);
  await world.writer.mail.addLabel(labelled, 'Projects');
  await indexed(world, 30);
  await world.engine.stop();
  await world.startEngine();
  await expect.poll(() => [world.engine.search.state().phase, holds('salaryvib')], TIME).toEqual(['ready', false]);
  expect((await search(world.client(), 'plain'))['count']).toBe(30);
}, 120_000);
