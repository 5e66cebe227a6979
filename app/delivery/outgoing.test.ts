import Database from 'better-sqlite3';
import { beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../testing/virtual-clock.ts';
import { EXPIRES_MS, MAX_OF_CLIENT, MAX_PER_HOUR, MAX_WAITING_WRITINGS, Outgoing } from './outgoing.ts';
import { OutgoingJournal } from './outgoing-journal.ts';
import type { Standing, Writing, WritingRequest, Written } from './writing.ts';

const CLIENT = '0123abcd';
const message = (text: string, guid = 'any;-;x', event: number | null = null): Writing => ({ kind: 'message', chat: { guid, name: 'Ada', isGroup: false, members: ['x'], names: ['Ada'], service: null }, event, text });
const never = () => new Promise<Written>(() => undefined);

let db: Database.Database;
let clock: VirtualClock;
let written: Writing[];
let told: string[];
let write: (writing: Writing) => Promise<Written>;
let may: 'asked' | 'unasked';
let standing: Standing;
let outgoing: Outgoing;
/** As after a start; what ran before is as if killed. */
function start(): Outgoing {
  return new Outgoing({
    journal: new OutgoingJournal(db), clock, policy: { standing: () => standing, isUnasked: () => may === 'unasked' },
    write: (writing) => {
      written.push(writing);
      return write(writing);
    },
    told: ({ id }, word) => told.push(`${word} ${id.split('-')[0]}`),
  });
}
beforeEach(() => {
  db = new Database(':memory:');
  clock = new VirtualClock();
  [written, told, may, standing, write] = [[], [], 'asked', 'may', () => Promise.resolve({ state: 'done' })];
  outgoing = start();
});
function asked(text = 'Words', key: string | null = null, client = CLIENT): WritingRequest {
  const request = outgoing.ask(client, message(text), key);
  if ('refused' in request) throw new Error(request.refused);
  return request;
}
const refused = (text: string, client = CLIENT) => (outgoing.ask(client, message(text), null) as { refused?: string }).refused;

test('nothing is written before the owner has answered, and then once', async () => {
  const { id } = asked();
  expect(outgoing.find(id, CLIENT)).toMatchObject({ state: 'waiting', writing: { text: 'Words' } });
  clock.advance(EXPIRES_MS - 1);
  expect(written).toEqual([]);
  const [first, second] = await Promise.all([outgoing.answer(id, true), outgoing.answer(id, true)]);
  expect([first, second]).toEqual([{ ok: true, sentence: 'Sent.' }, { ok: false, message: 'This request is no longer waiting.' }]);
  expect(written).toHaveLength(1);
  expect(outgoing.find(id, CLIENT)).toMatchObject({ state: 'done', writing: null });
  expect(told).toEqual(['asked message', 'done message']);
});

test('after ten minutes it ends, and may be asked for again', () => {
  const { id } = asked();
  clock.advance(EXPIRES_MS);
  expect(outgoing.find(id, CLIENT)).toMatchObject({ state: 'expired', writing: null });
  expect(outgoing.waiting).toEqual([]);
  expect(asked().id).not.toBe(id);
});

test.each<[string, () => Promise<unknown> | void, boolean]>([
  ['waiting', () => undefined, true],
  ['written', () => outgoing.answer(outgoing.waiting[0]!.id, true), true],
  ['declined', () => outgoing.answer(outgoing.waiting[0]!.id, false), true],
  ['of unknown outcome', async () => {
    write = () => Promise.resolve({ state: 'unknown', sentence: 'Who knows.' });
    await outgoing.answer(outgoing.waiting[0]!.id, true);
  }, true],
  ['one that broke', async () => {
    write = () => Promise.reject(new Error('x'));
    await outgoing.answer(outgoing.waiting[0]!.id, true);
  }, true],
  ['failed', async () => {
    write = () => Promise.resolve({ state: 'failed', sentence: 'No.' });
    await outgoing.answer(outgoing.waiting[0]!.id, true);
  }, false],
])('asked for again while it is %s: the same request is %s', async (_name, then, same) => {
  const { id } = asked();
  await then();
  expect(asked().id === id).toBe(same);
});

test('a kill in the middle: the same call is told so and writes nothing, under its key as well as by its content', async () => {
  write = never;
  for (const key of [null, 'k']) {
    const request = asked('Words', key);
    void outgoing.answer(request.id, true);
    await Promise.resolve();
    expect(written).toHaveLength(1);
    outgoing = start();
    expect(outgoing.find(request.id, CLIENT)).toMatchObject({ state: 'unknown', sentence: expect.stringMatching(/^Belfry ended while this was being written/) });
    expect(asked('Words', key)).toMatchObject({ id: request.id, state: 'unknown' });
    if (key !== null) expect(outgoing.ask(CLIENT, message('Others'), key)).toEqual({ refused: expect.stringMatching(/^key: another text/) });
    expect(written).toHaveLength(1);
    written.length = 0;
  }
});

test.each<[string, 'waiting' | 'unknown' | 'done', () => Promise<unknown> | void]>([
  ['while it waits', 'waiting', () => undefined],
  ['once it was begun', 'unknown', () => {
    write = never;
    void outgoing.answer(outgoing.waiting[0]!.id, true);
  }],
  ['between the end of the script and the note of it', 'unknown', async () => {
    write = () => {
      db.pragma('query_only = ON');
      return Promise.resolve({ state: 'done' });
    };
    await outgoing.answer(outgoing.waiting[0]!.id, true);
    db.pragma('query_only = OFF');
  }],
  ['after it failed', 'waiting', async () => {
    write = () => Promise.resolve({ state: 'failed', sentence: 'No.' });
    await outgoing.answer(outgoing.waiting[0]!.id, true);
  }],
  ['after it may have gone out', 'unknown', async () => {
    write = () => Promise.resolve({ state: 'unknown', sentence: 'Who knows.' });
    await outgoing.answer(outgoing.waiting[0]!.id, true);
  }],
  ['after it was written', 'done', async () => void (await outgoing.answer(outgoing.waiting[0]!.id, true))],
])('killed %s: asked for again it is %s', async (_name, state, until) => {
  const { id } = asked();
  await until();
  outgoing = start();
  const again = asked();
  // Only what did not go out for certain is another request.
  expect([again.state, again.id !== id]).toEqual([state, state === 'waiting']);
});

test('what was written is known for a day, and what only waited is gone', async () => {
  const { id } = asked();
  await outgoing.answer(id, true);
  const waiting = asked('Waits');
  outgoing = start();
  expect(asked()).toMatchObject({ id, state: 'done' });
  expect(outgoing.find(waiting.id, CLIENT)).toBeNull();
  clock.advance(24 * 3_600_000 + 1);
  await outgoing.answer(asked('Another').id, true);
  outgoing = start();
  expect(asked().id).not.toBe(id);
});

test('where the state cannot be written nothing goes out', async () => {
  const { id } = asked();
  db.pragma('query_only = ON');
  expect(await outgoing.answer(id, true)).toEqual({ ok: false, message: expect.stringMatching(/^Belfry cannot write its state/) });
  expect(written).toEqual([]);
});

test('the journal holds neither texts nor chats', async () => {
  await outgoing.answer(asked('Secret words').id, true);
  expect(JSON.stringify(db.prepare('SELECT * FROM outgoing').all())).not.toMatch(/Secret|any;-|Ada/);
});

test('of one client three wait, of all ten', () => {
  for (let number = 0; number < MAX_OF_CLIENT; number += 1) asked(`Text ${number}`);
  expect(refused('More')).toMatch(/^3 texts of yours wait/);
  for (let number = MAX_OF_CLIENT; number < MAX_WAITING_WRITINGS; number += 1) asked(`Text ${number}`, null, `0000000${number}`);
  expect(refused('More', 'ffffffff')).toMatch(/^10 texts wait for the owner already/);
});

test('what waits leaves room for what goes out unasked', async () => {
  for (let number = 0; number < MAX_OF_CLIENT; number += 1) asked(`Text ${number}`);
  for (let number = MAX_OF_CLIENT; number < MAX_WAITING_WRITINGS; number += 1) asked(`Text ${number}`, null, `0000000${number}`);
  may = 'unasked';
  const { id } = asked('Goes out');
  await new Promise((done) => void setImmediate(done));
  expect(outgoing.find(id, CLIENT)).toMatchObject({ state: 'done' });
  may = 'asked';
  expect(refused('More')).toMatch(/^3 texts of yours wait/);
});

test('twenty in a rolling hour', async () => {
  may = 'unasked';
  for (let number = 0; number < MAX_PER_HOUR; number += 1) {
    asked(`Text ${number}`);
    await new Promise((done) => void setImmediate(done));
    clock.advance(60_000);
  }
  expect(refused('More')).toMatch(/^At most 20 texts may be written in an hour\. Try again in 40 minutes\.$/);
  expect(refused('Of another', 'ffffffff')).toBeUndefined();
  clock.advance(40 * 60_000);
  expect(refused('More')).toBeUndefined();
});

const DROPPED = 'By the settings as they are now this client may not write this. Nothing was written.';
test.each<[string, (id: string) => unknown]>([
  ['when settings change', () => outgoing.refresh()],
  ['in the moment of the answer', (id) => outgoing.answer(id, true)],
])('what a client may no longer write waits no longer, %s; once it may again it can ask for it again', async (_name, then) => {
  const { id } = asked();
  standing = 'may-not';
  await then(id);
  expect(outgoing.waiting).toEqual([]);
  expect(outgoing.find(id, CLIENT)).toMatchObject({ state: 'declined', sentence: DROPPED, writing: null });
  expect([outgoing.has(id), await outgoing.answer(id, true)]).toEqual([true, { ok: false, message: DROPPED }]);
  expect([told, written]).toEqual([['asked message', 'dropped message'], []]);
  standing = 'may';
  expect(asked()).toMatchObject({ state: 'waiting' });
});

test('what goes out unasked is asked about as well', () => {
  [may, standing] = ['unasked', 'may-not'];
  expect(asked()).toMatchObject({ state: 'declined', sentence: DROPPED });
  expect(written).toEqual([]);
});

test('while the store cannot tell it goes on waiting, and is not written', async () => {
  const { id } = asked();
  standing = 'unreadable';
  outgoing.refresh();
  expect(outgoing.waiting).toHaveLength(1);
  expect(await outgoing.answer(id, true)).toEqual({ ok: false, message: 'The store cannot be read at the moment. Nothing was written.' });
  expect([outgoing.find(id, CLIENT)!.state, written]).toEqual(['failed', []]);
});

test('the same text to the same chat is the same request, whichever message it answers', () => {
  const first = outgoing.ask(CLIENT, message('Words', 'any;-;x', 1), null);
  expect(outgoing.ask(CLIENT, message('Words', 'any;-;x', 2), null)).toBe(first);
});

test('whoever waits is told once it is settled, after the time, or when it gives up', async () => {
  const { id } = asked();
  const over: string[] = [];
  const wait = (name: string, ms: number, signal = new AbortController().signal) => outgoing.settled(id, ms, signal).then(() => over.push(name));
  const aborted = new AbortController();
  const all = [wait('none', 0), wait('short', 1000), wait('aborted', 50_000, aborted.signal), wait('settled', 50_000)];
  await all[0];
  clock.advance(1000);
  await all[1];
  aborted.abort();
  await all[2];
  await outgoing.answer(id, false);
  await all[3];
  expect(over).toEqual(['none', 'short', 'aborted', 'settled']);
});
