import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { ActivityLog, type Activity } from './activity-log.ts';

const DAY = 86_400_000;

function setUp(db = new Database(':memory:')) {
  const time = { now: 1_800_000_000_000, timers: [] as (() => void)[] };
  const log = new ActivityLog(db, {
    now: () => time.now,
    setTimer: (_ms, work) => {
      time.timers.push(work);
      return () => {
        time.timers = time.timers.filter((each) => each !== work);
      };
    },
  });
  const count = () => db.prepare('SELECT count(*) FROM activity').pluck().get() as number;
  return { db, log, time, count };
}

const delivered = (client: string, eventId: string): Activity => ({ kind: 'delivered', type: 'mail.received', client, eventId, rowid: 7 });

test('entries are held and written together by one timer', () => {
  const { log, time, count } = setUp();
  log.record(delivered('aaaaaaaa', 'e1'));
  log.record(delivered('aaaaaaaa', 'e2'));
  expect(count()).toBe(0);
  expect(time.timers).toHaveLength(1);
  time.timers[0]!();
  expect(count()).toBe(2);
});

test('one event counts once for each client', () => {
  const { log } = setUp();
  for (const client of ['aaaaaaaa', 'aaaaaaaa', 'bbbbbbbb']) log.record(delivered(client, 'e1'));
  log.flush();
  log.record(delivered('aaaaaaaa', 'e1'));
  log.record({ kind: 'not_sent', type: 'mail.received', client: 'aaaaaaaa', eventId: 'e1', reason: 'paused' });
  log.record({ kind: 'changed', reason: 'New mail turned on' });
  log.record({ kind: 'changed', reason: 'New mail turned on' });
  expect(log.recent(10).map((row) => row.kind)).toEqual(['changed', 'changed', 'not_sent', 'delivered', 'delivered']);
  expect(log.deliveredToday('mail.received')).toBe(1);
});

test.each([
  [{ kind: 'delivered' }, ['e3', 'e2', 'e1']],
  [{ client: 'bbbbbbbb' }, ['e3']],
  [{ type: 'messages.received' }, []],
  [{ before: 3 }, ['e2', 'e1']],
] as const)('recent with %j', (filter, ids) => {
  const { log } = setUp();
  log.record(delivered('aaaaaaaa', 'e1'));
  log.record(delivered('aaaaaaaa', 'e2'));
  log.record(delivered('bbbbbbbb', 'e3'));
  expect(log.recent(10, filter).map((row) => row.eventId)).toEqual(ids);
});

test('what is older than 30 days goes', () => {
  const { log, time, count } = setUp();
  log.record(delivered('aaaaaaaa', 'old'));
  log.flush();
  time.now += 31 * DAY;
  log.record(delivered('aaaaaaaa', 'new'));
  log.flush();
  expect(count()).toBe(1);
});

test('more than 10 MB goes, the oldest first', () => {
  const { db, log, time } = setUp();
  const insert = db.prepare("INSERT INTO activity (at, kind, reason) VALUES (?, 'changed', ?)");
  db.transaction(() => {
    for (let at = 0; at < 60_000; at++) insert.run(time.now, 'x'.repeat(200));
  })();
  log.record({ kind: 'changed', reason: 'newest' });
  log.flush();
  const kept = db.prepare('SELECT count(*) AS n, max(id) AS newest, min(id) AS oldest FROM activity').get() as { n: number; newest: number; oldest: number };
  expect(kept.newest).toBe(60_001);
  expect(kept.n).toBeGreaterThan(30_000);
  expect(kept.n).toBeLessThan(40_000);
  expect(kept.oldest).toBe(60_001 - kept.n + 1);
});

test('a disk that refuses costs nothing while it lasts', () => {
  const { db, log, time } = setUp();
  db.pragma('query_only = on');
  log.record(delivered('aaaaaaaa', 'e1'));
  time.timers.pop()!();
  expect(time.timers).toHaveLength(1);
  db.pragma('query_only = off');
  log.close();
  expect(db.prepare('SELECT event_id FROM activity').pluck().all()).toEqual(['e1']);
});

test('delivered today counts events, not clients, for the local day, also after a restart', () => {
  const first = setUp();
  first.time.now = new Date(2026, 10, 30, 0, 5).getTime() - 600_000;
  first.log.record(delivered('aaaaaaaa', 'yesterday'));
  first.log.flush();
  first.time.now += 600_000;
  for (const [client, id] of [['aaaaaaaa', 'e1'], ['bbbbbbbb', 'e1'], ['aaaaaaaa', 'e2'], ['aaaaaaaa', 'yesterday']] as const) first.log.record(delivered(client, id));
  expect([first.log.deliveredToday('mail.received'), first.log.deliveredToday('messages.received')]).toEqual([2, 0]);
  first.log.record(delivered('aaaaaaaa', 'e3'));
  expect(first.log.deliveredToday('mail.received')).toBe(3);
  const second = setUp(first.db);
  second.time.now = first.time.now;
  expect(second.log.deliveredToday('mail.received')).toBe(3);
  second.time.now += DAY;
  expect(second.log.deliveredToday('mail.received')).toBe(0);
});

const from = (eventId: string, sender: string): Activity => ({ ...delivered('aaaaaaaa', eventId), sender });

test('senders are kept only while the owner asked for it, for so many days', () => {
  const { db, log, time } = setUp();
  log.record(from('e1', 'ada@x.example'));
  log.keepSenders(7);
  log.record(from('e2', 'bob@x.example'));
  expect(log.recent(10).map(({ sender }) => sender)).toEqual(['bob@x.example', null]);
  time.now += 6 * DAY;
  log.record(from('e3', 'eve@x.example'));
  expect(log.recent(10).map(({ sender }) => sender)).toEqual(['eve@x.example', 'bob@x.example', null]);
  time.now += 2 * DAY;
  log.record({ kind: 'woke' });
  expect(log.recent(10).map(({ sender }) => sender)).toEqual([null, 'eve@x.example', null, null]);
  log.record(from('e4', 'last@x.example'));
  log.keepSenders(0);
  expect(db.prepare('SELECT count(*) FROM activity WHERE sender IS NOT NULL').pluck().get()).toBe(0);
  log.record(from('e5', 'ada@x.example'));
  expect(log.recent(1)[0]!.sender).toBeNull();
});

test('the export is what is on screen, as JSON lines, oldest first', () => {
  const { log, time } = setUp();
  log.record(delivered('aaaaaaaa', 'e1'));
  log.record({ kind: 'changed', reason: 'New mail turned on' });
  const lines = log.export().trimEnd().split('\n').map((line) => JSON.parse(line) as { at: string; id: number });
  expect(lines.map(({ at, ...row }) => ({ ...row, at: Date.parse(at) })).toReversed()).toEqual(log.recent(10));
  expect(lines[0]!.at).toBe(new Date(time.now).toISOString());
});

test('a table of an earlier version gains the column', () => {
  const db = new Database(':memory:');
  db.exec('CREATE TABLE activity (id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, kind TEXT NOT NULL, type TEXT, client TEXT, event_id TEXT, store_row INTEGER, reason TEXT)');
  db.exec("INSERT INTO activity (at, kind, reason) VALUES (1800000000000, 'changed', 'before')");
  const { log } = setUp(db);
  log.keepSenders(1);
  log.record(from('e1', 'ada@x.example'));
  expect(log.recent(10).map(({ reason, sender }) => [reason, sender])).toEqual([[null, 'ada@x.example'], ['before', null]]);
});
