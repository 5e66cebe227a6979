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
  expect(log.deliveredSince(0, 'mail.received')).toBe(1);
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
