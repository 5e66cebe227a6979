import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { MailRow } from '../apple/occurrence.ts';
import type { GrantName } from '../policy/change.ts';
import { openForReading } from '../search/index-file.ts';
import { ADA, OTHER } from './conformance-kit.ts';
import { Random } from './random.ts';
import type { RawClient } from './raw-client.ts';
import { ask, ownIdentity } from './watch-kit.ts';
import { startWorld, type World } from './world.ts';

const KEY = Buffer.alloc(32, 5);
const withKey = { host: { searchKey: KEY.toString('base64') } };
const TIME = { timeout: 30_000 };

const grant = (world: World, ...grants: GrantName[]): void => {
  expect(world.engine.policy.allowClient(ownIdentity(world).id, { grants })).toMatchObject({ ok: true });
};
const mailOf = async (world: World, text: string, more: object = {}): Promise<number> => (await world.writer.mail.arrive({ from: ADA, text, ...more })).result;
const rowsOf = (answer: Record<string, any>): number[] => (answer['mails'] as { row: number }[]).map(({ row }) => row);
/** A machine that is busy may take longer for the first question than one is given. */
const search = (client: RawClient, query: string, more: object = {}) => vi.waitFor(() => ask(client, 'mail_search', { query, ...more }), { timeout: 25_000, interval: 100 });
const indexed = (world: World, count: number) => expect.poll(() => world.engine.search.state().indexed, TIME).toBe(count);
/** The index takes nothing in any more: what it knows of Mail grows old. */
async function freeze(world: World): Promise<void> {
  expect(world.engine.policy.setSetting('indexOnBattery', false)).toMatchObject({ ok: true });
  world.engine.search.onBattery(true);
  await world.engine.search.settled();
}

test('what became excluded since it was taken in shows in no figure at any offset, for any beginning of a word', async () => {
  await using world = await startWorld(withKey);
  const client = world.client();
  await ask(client, 'list_watches');
  grant(world, 'mail:everything', 'search');
  const { result: google } = await world.writer.mail.addAccount({ description: 'Google', email: 'me@gmail.example', kind: 'gmail' });
  world.engine.policy.exclude([`${google}/Projects`, `${world.account}/Projects`]);
  const labelled = await mailOf(world, 'capybara secret', { account: google, mailbox: 'INBOX' });
  const other = await mailOf(world, 'capybara', { account: google, mailbox: 'INBOX' });
  const moved = await mailOf(world, 'axolotl hidden');
  await indexed(world, 3);
  await freeze(world);
  await world.writer.mail.addLabel(labelled, 'Projects');
  await world.writer.mail.move(moved, 'Projects');
  for (const query of ['secret', 'sec*', 'hidden', 'hid*', 'axolotl', 'capybara -secret -capybara']) {
    for (const offset of [0, 1, 5]) {
      const { coverage: _, note: __, ...figures } = await search(client, query, { offset });
      const { coverage: ___, note: ____, ...unknown } = await search(client, 'nosuchword', { offset });
      expect(figures, `${query} from ${offset}`).toEqual(unknown);
    }
  }
  for (const offset of [0, 1]) expect(await search(client, 'capybara', { offset })).toMatchObject({ count: 1, isExact: true, nextOffset: null, mails: offset === 0 ? [{ row: other }] : [] });
}, 120_000);

test('for a client bound by the rules the order of hits depends on no mail of others', async () => {
  await using world = await startWorld(withKey);
  const client = world.client();
  await ask(client, 'list_watches');
  grant(world, 'mail', 'search');
  const older = await mailOf(world, 'ibis', { dateReceived: 1_700_000_000 });
  const newer = await mailOf(world, 'heron', { dateReceived: 1_700_000_100 });
  await indexed(world, 2);
  const before = await search(client, 'heron OR ibis');
  expect(rowsOf(before)).toEqual([newer, older]);
  // The word that the newer mail has becomes a common one among strangers: BM25 would put the rare one first.
  for (let nth = 0; nth < 8; nth += 1) await mailOf(world, nth < 6 ? 'heron' : 'filler words', { from: OTHER });
  await indexed(world, 10);
  expect(rowsOf(await search(client, 'heron OR ibis'))).toEqual([newer, older]);
}, 120_000);

test('for a client bound by the rules, what is said of coverage depends on no mail of others', async () => {
  await using world = await startWorld(withKey);
  const client = world.client();
  await ask(client, 'list_watches');
  grant(world, 'mail', 'search');
  const broken = async (from: object): Promise<void> => {
    const rowid = await mailOf(world, 'kept', { from });
    const [path] = readdirSync(world.mailDir, { recursive: true, withFileTypes: true }).filter(({ name }) => name === `${rowid}.emlx`).map((entry) => join(entry.parentPath, entry.name));
    writeFileSync(path!, '999999\nContent-Type: text/plain\n\ncut');
  };
  const unreadable = async (): Promise<boolean> => (await search(client, 'kept'))['coverage'].unreadable as boolean;
  const deadLetters = () => world.engine.search.state().deadLetters.reduce((sum, { count }) => sum + count, 0);
  await broken(OTHER);
  world.engine.search.rebuild();
  await expect.poll(deadLetters, TIME).toBe(1);
  expect(await unreadable()).toBe(false);
  await broken(ADA);
  world.engine.search.rebuild();
  await expect.poll(deadLetters, TIME).toBe(2);
  expect(await unreadable()).toBe(true);
}, 120_000);

interface Ground {
  readonly world: World;
  readonly random: Random;
  readonly words: ReadonlyMap<number, readonly string[]>;
  readonly google: string;
}
const WORDS = ['wombat', 'quokka', 'numbat', 'bilby'];
const BOXES = ['INBOX', 'Archive', 'Projects', 'Projects/Öffentlich'];

/** Mails of all kinds, all in the index. */
async function ground(world: World, seed: number): Promise<Ground> {
  const random = new Random(seed);
  const { result: google } = await world.writer.mail.addAccount({ description: 'Google', email: 'me@gmail.example', kind: 'gmail' });
  const words = new Map<number, readonly string[]>();
  for (let nth = 0; nth < 40; nth += 1) {
    const own = WORDS.filter(() => random.chance(0.5));
    const place = random.chance(0.5) ? { mailbox: random.pick(BOXES) } : { account: google, mailbox: 'INBOX', labels: random.chance(0.4) ? [random.pick(['Projects', '[Gmail]/Important'])] : [] };
    // Each of a day of its own, so that the order by date is one.
    const rowid = await mailOf(world, `mail ${own.join(' ')}`, { subject: 'S', from: random.chance(0.7) ? ADA : OTHER, dateReceived: 1_700_000_000 + nth * 86_400, ...place });
    words.set(rowid, own);
  }
  await indexed(world, 40);
  return { world, random, words, google };
}

/** Something of Mail or of the owner's rules becomes otherwise. */
async function change({ world, random, words, google }: Ground): Promise<string> {
  const { policy } = world.engine;
  const { mail } = world.writer;
  const rows = world.engine.archives.mail.pick([...words.keys()]);
  const [own, labelled] = [rows.filter(({ mailbox }) => mailbox?.accountId !== google), rows.filter(({ mailbox }) => mailbox?.accountId === google)];
  const place = random.pick([`${world.account}/Projects`, `${world.account}/Archive`, `${google}/Projects`, `${google}/[Gmail]/Important`]);
  switch (random.pick(['move', 'label', 'label', 'unlabel', 'remove', 'flag', 'exclude', 'include', 'narrow'])) {
    case 'move': await mail.move(random.pick(own).rowid, random.pick(BOXES)); return 'a mail moved';
    case 'label': await mail.addLabel(random.pick(labelled).rowid, random.pick(['Projects', '[Gmail]/Important'])); return 'a mail was labelled';
    case 'unlabel': await mail.removeLabel(random.pick(labelled).rowid, random.pick(['Projects', '[Gmail]/Important'])); return 'a label was taken';
    case 'remove': await mail.remove(random.pick(rows).rowid); return 'a mail was removed';
    case 'flag': await mail.setFlags(random.pick(rows).rowid, { deleted: random.chance(0.7) }); return 'a mail was marked deleted or not';
    case 'exclude': policy.exclude([place]); return `${place} was excluded`;
    case 'include': policy.include([place]); return `${place} was let in`;
    default: policy.setMailboxes(random.chance(0.4) ? null : [random.pick([`${world.account}/INBOX`, `${google}/INBOX`, `${google}/[Gmail]/Important`]), `${world.account}/Archive`]); return 'other mailboxes can ring';
  }
}

test.each([1, 2, 3])('count, pages and order are those of the mails that a client may read now, whatever changed since they were taken in (seed %i)', async (seed) => {
  await using world = await startWorld(withKey);
  const client = world.client();
  await ask(client, 'list_watches');
  grant(world, 'mail:everything', 'search');
  const place = await ground(world, seed);
  const { random, words } = place;
  await freeze(world);
  const { engine } = world;
  const db = openForReading(join(world.dataDir, 'search', 'mail.db'), { key: KEY });
  const inIndex = db.prepare('SELECT mail FROM mails').pluck();
  const done: string[] = [];
  for (let step = 0; step < 40; step += 1) {
    done.push(await change(place));
    const isEverything = random.chance(0.4);
    grant(world, isEverything ? 'mail:everything' : 'mail', 'search');
    // What is excluded has left the index: which mails are in it does not move then.
    await expect.poll(() => typeof engine.search.index !== 'string' && engine.search.index.isBounded, TIME).toBe(true);
    const principal = { id: ownIdentity(world).id };
    const known = new Set(inIndex.all() as number[]);
    const readable = (row: MailRow): boolean => known.has(row.rowid) && row.excluded !== 'deleted' && engine.policy.mayRead(row, principal as never);
    const word = random.pick(WORDS);
    const rows = engine.archives.mail.pick([...words.keys()]).filter((row) => readable(row) && words.get(row.rowid)!.includes(word));
    const expected = rows.map(({ rowid }) => rowid).toReversed();
    const [offset, limit] = [random.between(0, 12), random.between(1, 6)];
    const answer = await search(client, word, { offset, limit });
    const what = `${word} from ${offset}, ${isEverything ? 'everything' : 'by the rules'}, after: ${done.join('; ')}`;
    // A client that may read all mail is told what the index knows.
    if (isEverything && !engine.policy.excludesMail) continue;
    expect(rowsOf(answer), what).toEqual(expected.slice(offset, offset + limit));
    expect(answer, what).toMatchObject({ count: expected.length, isExact: true, order: 'best', nextOffset: offset + limit < expected.length ? offset + limit : null });
  }
  db.close();
}, 120_000);
