import Database from 'better-sqlite3';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { deafWatcher } from '../apple/watch.ts';
import { EnvelopeIndex } from '../apple/mail/envelope-index.ts';
import { Hub } from '../events/hub.ts';
import { namesOf } from '../events/names.ts';
import type { EventType } from '../events/occurrence.ts';
import { TailState } from '../events/tail-state.ts';
import { Channels } from '../mcp/channel.ts';
import { Connection } from '../mcp/connection.ts';
import { MailStore } from '../testing/mail-store.ts';
import { mailIndex, replaceStore } from '../testing/store-surgery.ts';
import { tempFolder, type TempFolder } from '../testing/temp.ts';
import { VirtualClock } from '../testing/virtual-clock.ts';
import { Inbox, type Taken } from './inbox.ts';
import { MAX_UNREAD, type KeptWatch } from './watch.ts';
import { Watches } from './watches.ts';

const MAIL: EventType = 'mail.received';
const CLIENT = '0123abcd';
const ARGS = { domains: ['example.org'] };

/** An engine's inside over one mail store and one state.db, on a clock moved by hand. Dropped, it is as if killed. */
class Inside {
  readonly db: Database.Database;
  readonly hub: Hub;
  readonly watches: Watches;
  readonly inbox: Inbox;
  readonly channels: Channels;
  readonly troubles: (string | null)[] = [];
  readonly gaps: string[] = [];
  readonly told: string[] = [];
  on = true;
  paused = false;

  constructor(world: { folder: TempFolder; store: MailStore; clock: VirtualClock; kept: KeptWatch[] }) {
    const { folder, store, clock } = world;
    this.db = new Database(folder.at('state.db'));
    this.db.pragma('journal_mode = WAL');
    const inside = this;
    const policy = {
      eventOn: () => this.on, anyOn: () => this.on, backfill: false, ratePerHour: 100_000, subjects: true,
      gate: () => (!this.on ? 'off' as const : this.paused ? 'paused' as const : 'open' as const),
      allows: () => true, refusal: () => 'no-allowed-sender' as const, takeRing: () => true, nextFreeAt: () => clock.now(), covers: () => true, isDenied: () => false,
    };
    this.hub = new Hub({
      reader: new EnvelopeIndex({ mailDir: store.mailDir }), state: new TailState(this.db, 'mail'), watcher: deafWatcher(), clock, policy,
      listener: { outcome: () => undefined, delivered: () => undefined, settled: () => undefined, committed: () => undefined, trouble: () => undefined, gap: () => undefined, counted: () => undefined },
    });
    const hubs = new Map([[MAIL, this.hub]]);
    this.watches = new Watches({
      db: this.db, hubs, names: () => namesOf(this.hub.reader, null), policy, clock,
      kept: { list: () => world.kept, save: (kept) => { world.kept = [...kept]; return null; } },
      listener: { trouble: (sentence) => this.troubles.push(sentence), gap: (_type, client) => this.gaps.push(client), changed: () => undefined },
    });
    this.inbox = new Inbox({
      watches: this.watches, hubs, policy, clock,
      listener: { sent: ({ eventId }) => inside.told.push(`sent ${eventId}`), delivered: ({ eventId }) => inside.told.push(`delivered ${eventId}`) },
    });
    this.channels = new Channels({ watches: this.watches, inbox: this.inbox, policy, clock });
    this.hub.refresh();
    this.watches.refresh();
  }
  take(limit = 100): Taken {
    const taken = this.inbox.take(CLIENT, { watch: null, limit });
    if ('refused' in taken) throw new Error(taken.refused);
    return taken;
  }
  /** A session with a channel; what it was sent, in order. */
  session(): () => string[] {
    const socket = new PassThrough();
    const connection = new Connection(socket);
    this.channels.join(CLIENT, connection, connection.license('experimental.claude/channel')!);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    return () => text.split('\n').filter(Boolean).map((line) => (JSON.parse(line) as { params: { meta: { event_id: string } } }).params.meta.event_id);
  }
}

let folder: TempFolder;
let store: MailStore;
let clock: VirtualClock;
let world: { folder: TempFolder; store: MailStore; clock: VirtualClock; kept: KeptWatch[] };
const opened: Inside[] = [];
const open = (): Inside => {
  const inside = new Inside(world);
  opened.push(inside);
  return inside;
};
/** As kill -9 leaves it: nothing is flushed, told or closed in order. */
const kill = (inside: Inside): void => {
  clock.forgetTimers();
  inside.db.close();
  inside.hub.reader.close();
};
const arrive = (subject = 'S'): void => {
  store.arrive({ from: { address: 'ada@example.org' }, subject, dateReceived: clock.seconds(), file: false });
};
const look = (): void => clock.advance(300);
const subjects = (taken: Taken): unknown[] => taken.items.map((item) => item.data?.['subject']);
const add = (inside: Inside): string => {
  const added = inside.watches.add(CLIENT, MAIL, ARGS, 'tool');
  if (typeof added === 'string') throw new Error(added);
  return added.watch.id;
};

beforeEach(() => {
  folder = tempFolder();
  store = MailStore.create(folder.at('Mail', 'V10'), { synchronous: 'OFF' });
  store.addAccount({ description: 'iCloud', email: 'me@icloud.example', kind: 'imap' });
  clock = new VirtualClock();
  world = { folder, store, clock, kept: [] };
});
afterEach(() => {
  for (const inside of opened.splice(0)) if (inside.db.open) kill(inside);
  store.close();
  folder[Symbol.dispose]();
});

describe('kill -9', () => {
  test('between store and send: the item is there and goes out', async () => {
    const before = open();
    add(before);
    look();
    arrive('Kept');
    look();
    // Kept, and told to nobody: no session and no wait was there.
    kill(before);
    const after = open();
    look();
    const heard = after.session();
    await Promise.resolve();
    expect(heard()).toHaveLength(1);
    expect(subjects(after.take())).toEqual(['Kept']);
  });

  test('between send and confirm: told again, once confirmed not any more', async () => {
    const before = open();
    add(before);
    look();
    const first = before.session();
    arrive('Sent');
    look();
    await Promise.resolve();
    expect(first()).toHaveLength(1);
    kill(before);
    const after = open();
    look();
    const second = after.session();
    await Promise.resolve();
    expect(second()).toEqual(first());
    const { batch } = after.take();
    expect(after.inbox.confirm(CLIENT, batch!)).toMatchObject({ confirmed: 1 });
    kill(after);
    const last = open();
    look();
    expect(last.take().items).toEqual([]);
  });

  test('before an item was kept: it is read from the store again', () => {
    const before = open();
    add(before);
    look();
    arrive('Read, not kept');
    before.hub.tail.check();
    kill(before);
    const after = open();
    look();
    expect(subjects(after.take())).toEqual(['Read, not kept']);
  });

  test('a batch that was handed out can be confirmed by the engine that comes after', () => {
    const before = open();
    add(before);
    look();
    arrive();
    look();
    const { batch } = before.take();
    kill(before);
    const after = open();
    look();
    expect(after.inbox.confirm(CLIENT, batch!)).toMatchObject({ confirmed: 1 });
    expect(after.take().items).toEqual([]);
  });
});

describe('faults', () => {
  test('disk full while an item is kept: told, the position does not pass it, and it comes once there is room', () => {
    const inside = open();
    const id = add(inside);
    look();
    const positions = () => inside.db.prepare('SELECT cursor FROM watch_position').pluck().all();
    const before = positions();
    const pages = inside.db.pragma('page_count', { simple: true }) as number;
    inside.db.pragma(`max_page_count = ${pages}`);
    const kept = positions();
    for (let nth = 0; nth < 200; nth += 1) arrive(`Full ${nth}`);
    look();
    expect(inside.troubles).toEqual([expect.stringMatching(/^The disk is full/)]);
    expect(positions()).toEqual(kept);
    expect(kept).toEqual(before);
    expect(inside.watches.find(id, CLIENT)).toMatchObject({ waiting: 0 });
    clock.advance(5000);
    expect(inside.troubles).toHaveLength(1);
    inside.db.pragma('max_page_count = 1073741823');
    clock.advance(1500);
    expect(inside.troubles).toEqual([expect.any(String), null]);
    expect(inside.watches.find(id, CLIENT)).toMatchObject({ waiting: 200, dropped: 0 });
  });

  test('disk full and then killed: nothing is lost', () => {
    const inside = open();
    add(inside);
    look();
    inside.db.exec(`CREATE TRIGGER full BEFORE INSERT ON watch_item BEGIN SELECT RAISE(ABORT, 'full'); END`);
    arrive('Survives');
    look();
    expect(inside.troubles).toHaveLength(1);
    inside.db.exec('DROP TRIGGER full');
    kill(inside);
    const after = open();
    look();
    expect(subjects(after.take())).toEqual(['Survives']);
  });

  test('more than memory should hold while the disk refuses: read from the store again once it takes', () => {
    const inside = open();
    for (let nth = 0; nth < 100; nth += 1) inside.watches.add(CLIENT, MAIL, { from: ['ada@example.org'], subject_contains: 'n', ...(nth > 0 && { domains: [`d${nth}.example`] }) }, 'tool');
    look();
    inside.db.exec(`CREATE TRIGGER full BEFORE INSERT ON watch_event BEGIN SELECT RAISE(ABORT, 'full'); END`);
    for (let nth = 0; nth < 120; nth += 1) arrive(`n ${nth}`);
    look();
    clock.advance(2000);
    inside.db.exec('DROP TRIGGER full');
    clock.advance(10_000);
    expect(inside.watches.list(CLIENT).every((view) => view.waiting === 120)).toBe(true);
  });

  test('a disk that refuses a hand-out: a sentence, nothing is lost, and nothing counts as sent', () => {
    const inside = open();
    const id = add(inside);
    look();
    arrive();
    look();
    inside.db.exec(`CREATE TRIGGER full BEFORE INSERT ON watch_batch BEGIN SELECT RAISE(ABORT, 'full'); END`);
    expect(inside.inbox.take(CLIENT, { watch: null, limit: 10 })).toEqual({ refused: expect.stringMatching(/^Belfry cannot write its state/) });
    expect(inside.watches.find(id, CLIENT)).toMatchObject({ waiting: 1, sent: 0 });
    inside.db.exec('DROP TRIGGER full');
    expect(inside.take().items).toHaveLength(1);
  });

  test('a watch that is full drops its oldest and says how many; the gap goes with its confirmation', () => {
    const inside = open();
    const id = add(inside);
    look();
    for (let nth = 0; nth < MAX_UNREAD + 5; nth += 1) arrive(`${nth}`);
    clock.advance(5000);
    expect(inside.watches.find(id, CLIENT)).toMatchObject({ waiting: MAX_UNREAD, dropped: 5 });
    expect(inside.gaps).toContain(CLIENT);
    const taken = inside.take(1);
    expect(subjects(taken)).toEqual(['5']);
    expect(taken.gaps).toEqual([{ watch: id, dropped: 5, storeReplaced: false }]);
    inside.inbox.confirm(CLIENT, taken.batch!);
    expect(inside.take(1).gaps).toEqual([]);
  });

  test('a store that was replaced is a gap, told once, and the items of the old one are gone', () => {
    const inside = open();
    const id = add(inside);
    look();
    arrive('Of the old store');
    look();
    store.close();
    replaceStore(store.path, mailIndex({ synchronous: 'OFF' }, (other) => {
      other.addAccount({ description: 'iCloud', email: 'me@icloud.example', kind: 'imap' });
      other.arrive({ from: { address: 'zoe@example.org' }, subject: 'Another', file: false });
    }));
    store.reopen();
    clock.advance(2000);
    expect(inside.watches.find(id, CLIENT)).toMatchObject({ gap: 1 });
    const taken = inside.take();
    expect(taken.items).toMatchObject([{ gone: true, data: null }]);
    expect(taken.gaps).toEqual([{ watch: id, dropped: 0, storeReplaced: true }]);
    inside.inbox.confirm(CLIENT, taken.batch!);
    expect(inside.take().gaps).toEqual([]);
    arrive('Of the new store');
    look();
    expect(subjects(inside.take())).toEqual(['Of the new store']);
  });

  test('a clock that was set back: items keep their order and none is lost or doubled', () => {
    const inside = open();
    add(inside);
    look();
    arrive('Before');
    look();
    kill(inside);
    clock = world.clock = new VirtualClock(clock.now() - 7 * 86_400_000);
    const after = open();
    look();
    store.arrive({ from: { address: 'ada@example.org' }, subject: 'After', file: false });
    look();
    expect(subjects(after.take())).toEqual(['Before', 'After']);
  });

  test('state.db lost: the owner\'s watch comes again from settings, with a gap, and a tool\'s does not', () => {
    const before = open();
    add(before);
    before.watches.add(CLIENT, MAIL, { from: ['ada@example.org'] }, 'owner');
    look();
    kill(before);
    const fresh = tempFolder();
    world = { ...world, folder: fresh };
    const after = open();
    look();
    expect(after.watches.list(null)).toMatchObject([{ source: 'owner', arguments: { from: ['ada@example.org'] }, gap: 1 }]);
    arrive('Again');
    look();
    expect(subjects(after.take())).toEqual(['Again']);
    fresh[Symbol.dispose]();
  });

  test('an event that was off does not move positions, and holds what came as history', () => {
    const inside = open();
    const id = add(inside);
    look();
    inside.on = false;
    inside.hub.refresh();
    inside.watches.refresh();
    arrive('While off');
    clock.advance(30_000);
    inside.on = true;
    inside.hub.refresh();
    inside.watches.refresh();
    look();
    expect(inside.watches.find(id, CLIENT)).toMatchObject({ waiting: 1 });
    const pushed = inside.session();
    expect(pushed()).toEqual([]);
    expect(subjects(inside.take())).toEqual(['While off']);
  });
});

test('one event stands once in state.db, however many watches it waits in', () => {
  const inside = open();
  for (let nth = 0; nth < 50; nth += 1) inside.watches.add(CLIENT, MAIL, { domains: ['example.org', `d${nth}.example`] }, 'tool');
  look();
  arrive();
  look();
  const count = (table: string) => inside.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  expect([count('watch_event'), count('watch_item')]).toEqual([1, 50]);
  expect(subjects(inside.take())).toHaveLength(50);
  inside.inbox.confirm(CLIENT, inside.take().batch!);
  clock.advance(3_600_000);
  // What is confirmed is remembered, so that the same event never waits again.
  expect([count('watch_event'), count('watch_item'), count('watch_confirmed')]).toEqual([1, 0, 50]);
  for (const { id } of inside.watches.list(null)) inside.watches.stop(id, null);
  clock.advance(3_600_000);
  expect([count('watch_event'), count('watch_confirmed')]).toEqual([0, 0]);
});


describe('without a watch', () => {
  test('nothing is written for an arrival', () => {
    const inside = open();
    arrive();
    look();
    const before = inside.db.prepare('SELECT total_changes()').pluck().get();
    inside.watches.settle();
    expect(inside.db.prepare('SELECT total_changes()').pluck().get()).toBe(before);
    expect(inside.db.prepare('SELECT count(*) FROM watch_position').pluck().get()).toBe(0);
  });

  test('a position of a watch that ended is none for one that settings bring in later', () => {
    const before = open();
    const id = add(before);
    look();
    before.watches.settle();
    before.watches.stop(id, null);
    arrive('Nobody waited');
    look();
    before.watches.settle();
    kill(before);
    world.kept = [{ id: 'aaaaaaaa', client: CLIENT, type: MAIL, arguments: ARGS, createdAt: clock.now(), inbox: null }];
    const after = open();
    look();
    arrive('Somebody waits');
    look();
    expect(subjects(after.take())).toEqual(['Somebody waits']);
  });
});
