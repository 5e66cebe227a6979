import { expect, test } from 'vitest';
import type { LiveRow } from '../contract/values.ts';
import { LiveFeed } from '../engine/live-feed.ts';
import type { Outcome } from '../events/hub.ts';
import { policyIn } from '../policy/testing.ts';
import type { MailRow } from '../apple/occurrence.ts';
import type { Occurrence } from '../events/occurrence.ts';
import { tempFolder, type TempFolder } from './temp.ts';

const A = { id: 'aaaaaaaa' };
const B = { id: 'bbbbbbbb' };

const mail = (n: number, sender = 'ada@example.com'): Occurrence => ({
  type: 'mail.received', eventId: `e${n}`, sender, timestamp: '2026-11-30T05:51:00.000Z',
  row: { store: 'mail', rowid: n, sender, from: { address: sender, name: null }, to: [], toCount: 0, subject: `Mail ${n}`, mailboxes: [], mailbox: null, attachmentCount: 0, hasAttachments: false, dateReceived: null, dateSent: null, messageIdHeader: null, conversationId: '' } as unknown as MailRow,
});
const outcome = (occurrence: Occurrence, more: Partial<Outcome> = {}): Outcome => ({ occurrence, notArrival: null, sentTo: [], keptFor: [], later: [], notSent: [], ...more });

function feedIn(folder: TempFolder) {
  const { policy, clock } = policyIn(folder.path);
  policy.addSenders(['ada@example.com']);
  const feed = new LiveFeed(policy, clock);
  const told: LiveRow[][] = [];
  const looker = { rows: (rows: readonly LiveRow[]) => void told.push([...rows]) };
  return { policy, feed, told, looker };
}
const settled = () => new Promise((resolve) => { setImmediate(resolve); });

test('rows of one look at a store are told together, each with its last state', async () => {
  using folder = tempFolder();
  const { feed, told, looker } = feedIn(folder);
  feed.look(looker, false);
  feed.delivered(mail(1), A, 'push');
  feed.outcome(outcome(mail(1), { sentTo: [A] }));
  feed.outcome(outcome(mail(2), { later: [A] }));
  await settled();
  expect(told).toHaveLength(1);
  expect(told[0]!.map(({ eventId, status }) => [eventId, status])).toEqual([['e1', 'sent'], ['e2', 'waiting']]);
});

test('the best over all clients counts, and a delivery is never taken back', async () => {
  using folder = tempFolder();
  const { feed, told, looker } = feedIn(folder);
  feed.look(looker, false);
  feed.outcome(outcome(mail(1), { sentTo: [A], notSent: [{ principal: B, reason: 'paused' }] }));
  feed.delivered(mail(1), A, 'poll');
  feed.delivered(mail(1), A, 'push');
  await settled();
  const [row] = told.at(-1)!;
  expect([row!.status, row!.reason]).toEqual(['delivered', null]);
  expect(row!.verdicts).toEqual([
    { client: A.id, sent: true, confirmed: true, reason: null }, { client: B.id, sent: false, confirmed: false, reason: 'paused' },
  ]);
});

test('a mail that reached two accounts is one row', async () => {
  using folder = tempFolder();
  const { feed, looker } = feedIn(folder);
  feed.look(looker, false);
  feed.outcome(outcome(mail(1), { sentTo: [A] }));
  feed.outcome(outcome({ ...mail(1), row: { ...mail(1).row, rowid: 2 } as MailRow }, { sentTo: [A] }));
  expect(feed.look(looker, false)).toHaveLength(1);
});

test('what was synced late shows for an allowed sender; a mail that its owner filed does not', async () => {
  using folder = tempFolder();
  const { feed, looker } = feedIn(folder);
  feed.look(looker, false);
  feed.outcome(outcome(mail(1), { notArrival: 'backfill' }));
  feed.outcome(outcome(mail(2), { notArrival: 'moved' }));
  expect(feed.look(looker, false).map(({ eventId, status, reason, notArrival }) => [eventId, status, reason, notArrival])).toEqual([['e1', 'not-sent', 'backfill', 'backfill']]);
});

test('the newest 10,000 rows are kept', () => {
  using folder = tempFolder();
  const { feed, looker } = feedIn(folder);
  feed.look(looker, false);
  for (let n = 1; n <= 10_050; n += 1) feed.outcome(outcome(mail(n), { sentTo: [A] }));
  const rows = feed.look(looker, false);
  expect([rows.length, rows[0]!.eventId, rows.at(-1)!.eventId]).toEqual([10_000, 'e51', 'e10050']);
});

test('an event that was sent before anybody looked shows once it is sent to another client', async () => {
  using folder = tempFolder();
  const { feed, looker } = feedIn(folder);
  feed.outcome(outcome(mail(1), { sentTo: [A] }));
  expect(feed.look(looker, false)).toEqual([]);
  feed.delivered(mail(1), B, 'poll');
  expect(feed.look(looker, false)).toMatchObject([{ eventId: 'e1', status: 'delivered', verdicts: [{ client: B.id }] }]);
});

test('subjects that the owner turned off are on the owner’s screen and not in what was sent', () => {
  using folder = tempFolder();
  const { feed, looker, policy } = feedIn(folder);
  policy.setSetting('subjects', false);
  feed.look(looker, false);
  feed.outcome(outcome(mail(1), { sentTo: [A] }));
  expect(feed.look(looker, false)).toMatchObject([{ subject: 'Mail 1', json: { data: { subject: null } } }]);
});

test('one who left is told nothing more', async () => {
  using folder = tempFolder();
  const { feed, looker, told } = feedIn(folder);
  feed.look(looker, false);
  feed.leave(looker);
  feed.outcome(outcome(mail(1), { sentTo: [A] }));
  await settled();
  expect(told).toEqual([]);
});
