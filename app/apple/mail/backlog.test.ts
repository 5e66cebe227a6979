import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MailStore } from '../../testing/mail-store.ts';
import { numbersBelow } from '../../testing/random.ts';
import { tempFolder, type TempFolder } from '../../testing/temp.ts';
import type { MailRow } from '../occurrence.ts';
import type { SenderSet } from '../reader.ts';
import { matches } from '../sender.ts';
import { EnvelopeIndex } from './envelope-index.ts';

const ROWS = 45_000;
const T = 1_700_000_000;
const IMAP = 'AAAAAAAA-0000-4000-8000-000000000001';
const GMAIL = 'BBBBBBBB-0000-4000-8000-000000000002';

let folder: TempFolder;
let store: MailStore;
let index: EnvelopeIndex;
let all: readonly MailRow[];
let head = 0;

/** Addresses: few wrote much (wide), many wrote once or never (crowd), odd spellings, and bystanders. */
const ADDRESSES = [
  ...Array.from({ length: 40 }, (_, nth) => `bulk${nth}@wide.example`),
  ...Array.from({ length: 3000 }, (_, nth) => `Crowd.${nth}@crowd.example`),
  'rare@sparse.example', 'RARE@Sparse.Example', 'x@sub.sparse.example', 'x@notsparse.example', 'x_y@sparse_example.org', 'nobody',
  'ада@bücher.example', 'buch@BÜCHER.example', 'buch@xn--bcher-kva.example', ' padded@sparse.example ', '"a@b"@sparse.example', 'late@quiet.example', 'never@quiet.example',
];
const id = (address: string): number => ADDRESSES.indexOf(address) + 1;

beforeAll(() => {
  folder = tempFolder('belfry-backlog');
  store = MailStore.create(folder.at('Mail', 'V10'));
  store.addAccount({ id: IMAP, description: 'Home', email: 'me@example.org', kind: 'imap' });
  store.addAccount({ id: GMAIL, description: 'Google', email: 'me@gmail.example', kind: 'gmail' });
  const random = numbersBelow(7);
  store.transaction(() => {
    for (const [nth, address] of ADDRESSES.entries()) store.insert('addresses', { ROWID: nth + 1, address, comment: String(nth) });
    const subject = store.insert('subjects', { subject: 'A subject' });
    const boxes = ['INBOX', 'INBOX', 'INBOX', 'Archive', 'Junk', 'Sent Messages'].map((path) => store.mailbox(IMAP, path).id);
    const allMail = store.mailbox(GMAIL, '[Gmail]/All Mail').id;
    const labels = ['INBOX', '[Gmail]/Sent Mail', '[Gmail]/Important'].map((path) => store.mailbox(GMAIL, path).id);
    // The counters' triggers cost more than the rows and are not read here.
    for (const { name } of store.all<{ name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'trigger'`)) store.run(`DROP TRIGGER "${name}"`);
    const rare = ADDRESSES.slice(3040, -2);
    let rowid = 0;
    for (let nth = 0; nth < ROWS; nth += 1) {
      rowid += random(50) === 0 ? 1 + random(200) : 1;
      const kind = random(1000);
      const sender = kind < 3 ? null : kind < 13 ? id(rare[random(rare.length)]!) : kind < 100 ? 41 + random(2000) : 1 + random(40);
      const gmail = random(4) === 0;
      // Dates ascend with jitter; some are undated, some come late with an old date.
      const late = random(200) === 0;
      const date = random(1000) === 0 ? (random(2) === 0 ? null : 0) : T + (late ? random(nth + 1) : nth) * 60 + random(3000);
      const flags = (2n ** 33n) | (random(50) === 0 ? 2n ** 24n : 2n ** 25n) | (random(80) === 0 ? 2n : 0n);
      store.insert('messages', {
        ROWID: rowid, message_id: BigInt(nth), global_message_id: 1 + random(ROWS), sender, subject, date_received: date, date_sent: date,
        mailbox: gmail ? allMail : boxes[random(boxes.length)]!, flags,
      });
      if (gmail) for (const label of labels) if (random(3) === 0) store.insert('labels', { message_id: rowid, mailbox_id: label });
    }
  });
  index = new EnvelopeIndex({ path: store.path, accountsDb: store.accounts.path });
  index.open();
  head = index.head();
  all = index.read(0, ROWS + 1).rows;
});

afterAll(() => {
  index.close();
  store.close();
  folder.remove();
});

const set = (addresses: string[], domains: string[] = [], parents: string[] = []): SenderSet => ({
  addresses: new Set(addresses), domains: new Set(domains), parents: new Set(parents),
});

const SETS: readonly (readonly [string, () => SenderSet])[] = [
  ['nobody', () => set([])],
  ['one address', () => set(['rare@sparse.example'])],
  ['an address that is no address', () => set(['nobody'])],
  ['an address in another script', () => set(['ада@xn--bcher-kva.example'])],
  ['a domain', () => set([], ['sparse.example'])],
  ['a domain with all below', () => set([], [], ['sparse.example'])],
  ['a domain with a wildcard sign', () => set([], ['sparse_example.org'])],
  ['a domain in another script', () => set([], ['xn--bcher-kva.example'])],
  ['a dense domain', () => set([], ['wide.example'])],
  ['a medium domain', () => set([], ['crowd.example'])],
  ['many domains', () => set(['bulk1@wide.example'], ['crowd.example', 'a.example', 'b.example', 'sparse.example'], ['c.example', 'xn--bcher-kva.example'])],
  ['everybody', () => set([], [], ['example', 'org'])],
  ['who never wrote', () => set([], ['quiet.example'])],
];

const fits = (senders: SenderSet, row: MailRow): boolean => row.excluded === null && row.sender !== null && matches(senders, row.sender);

/** Pages to the end, checking what each promises. */
function walk(senders: SenderSet, after: number, upTo: number, limit: number, notBefore?: number): number[] {
  const rowids: number[] = [];
  for (let at = after, calls = 0; at < upTo; calls += 1) {
    const page = index.page({ senders, after: at, upTo, limit, ...(notBefore !== undefined && { notBefore }) });
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    expect(page.through).toBeGreaterThan(at);
    expect(page.through).toBeLessThanOrEqual(upTo);
    for (const row of page.rows) {
      expect(row.rowid).toBeGreaterThan(at);
      expect(row.rowid).toBeLessThanOrEqual(page.through);
    }
    rowids.push(...page.rows.map((row) => row.rowid));
    at = page.through;
    expect(calls).toBeLessThan(5000);
  }
  return rowids;
}

const expected = (senders: SenderSet, after: number, upTo: number, notBefore = -Infinity): number[] =>
  all
    .filter((row) => row.rowid > after && row.rowid <= upTo && fits(senders, row) && (row.date === null || row.date >= notBefore))
    .map((row) => row.rowid);

test('the data exercises what it should', () => {
  expect(all).toHaveLength(ROWS);
  expect(head).toBeGreaterThan(ROWS * 2);
  const reasons = new Set(all.map((row) => row.excluded));
  expect([...reasons].sort()).toEqual(['deleted', 'junk', 'no-sender', 'sent', null].sort());
  expect(all.filter((row) => row.date === null).length).toBeGreaterThan(20);
  for (const [name, make] of SETS.slice(1, -1)) expect(expected(make(), 0, head).length, name).toBeGreaterThan(5);
});

describe.each(SETS)('%s', (_, make) => {
  test('pages are what a filter over all rows gives', () => {
    const random = numbersBelow(11);
    const shared = make();
    expect(walk(shared, 0, head, 500)).toEqual(expected(shared, 0, head));
    for (let turn = 0; turn < 12; turn += 1) {
      const senders = random(2) === 0 ? shared : make();
      const after = random(3) === 0 ? head - random(6000) : random(head);
      const upTo = random(2) === 0 ? head : Math.min(head, after + random(20_000));
      const limit = [1, 50, 200][random(3)]!;
      const narrow = limit === 1 ? Math.min(upTo, after + 400) : upTo;
      expect(walk(senders, after, narrow, limit)).toEqual(expected(senders, after, narrow));
    }
  });

  test('with a floor, and what it skips', () => {
    const random = numbersBelow(13);
    const senders = make();
    for (let turn = 0; turn < 16; turn += 1) {
      const after = turn < 4 ? 0 : random(head);
      const upTo = random(3) === 0 ? after + 1 + random(head - after) : head;
      // Exactly a row's date at times: at the floor is not before it.
      const notBefore = turn === 0 ? (T - 10) * 1000 : turn === 1 ? (T + ROWS * 70) * 1000 : (all[random(ROWS)]!.date ?? T * 1000) + (random(2) === 0 ? 0 : 1);
      expect(walk(senders, after, upTo, 200, notBefore)).toEqual(expected(senders, after, upTo, notBefore));
      const skipped = all.some((row) => row.rowid > after && row.rowid <= upTo && fits(senders, row) && row.date !== null && row.date < notBefore);
      expect(index.skippedBefore({ senders, after, upTo, limit: 1, notBefore })).toBe(skipped);
    }
  });

  test('a backtest counts events, not rows', () => {
    const senders = make();
    for (const since of [T * 1000, (T + ROWS * 30) * 1000, (T + ROWS * 58) * 1000, (T + ROWS * 70) * 1000]) {
      const rows = all.filter((row) => fits(senders, row) && row.date !== null && row.date >= since);
      const found = index.backtest(senders, since, 5);
      expect(found.count).toBe(new Set(rows.map((row) => row.globalId)).size);
      expect(found.examples).toHaveLength(Math.min(5, found.count));
      const newest = Math.max(...rows.map((row) => row.date ?? 0));
      if (found.count > 0) expect(found.examples[0]?.date).toBe(newest);
      expect(new Set(found.examples.map((row) => row.globalId)).size).toBe(found.examples.length);
      for (const row of found.examples) expect(fits(senders, row)).toBe(true);
    }
  });
});

test('a few rows behind, at any limit', () => {
  const senders = set([], ['wide.example']);
  const from = head - 30;
  for (const limit of [1, 2, 50]) expect(walk(senders, from, head, limit)).toEqual(expected(senders, from, head));
  expect(index.page({ senders, after: head, upTo: head, limit: 50 })).toEqual({ rows: [], through: head });
});

test('who writes for the first time is found, and so is an address made later', () => {
  const senders = set([], ['quiet.example']);
  expect(walk(senders, 0, index.head(), 50)).toEqual([]);
  const old = store.arrive({ account: IMAP, from: { address: 'never@quiet.example', name: String(ADDRESSES.length - 1) }, file: false });
  const fresh = store.arrive({ account: IMAP, from: { address: 'brand.new@quiet.example', name: 'New' }, file: false });
  expect(walk(senders, 0, index.head(), 50)).toEqual([old, fresh]);
  expect(walk(set([], ['quiet.example']), 0, index.head(), 50)).toEqual([old, fresh]);
  store.remove(fresh);
  expect(walk(senders, 0, index.head(), 50)).toEqual([old]);
});

test('a mailbox that became junk is junk at once', () => {
  const senders = set(['to-be-junk@example.net']);
  const box = store.addMailbox(IMAP, 'Offers');
  const rowid = store.arrive({ account: IMAP, mailbox: 'Offers', from: { address: 'to-be-junk@example.net' }, file: false });
  expect(walk(senders, 0, index.head(), 50)).toEqual([rowid]);
  store.run('UPDATE mailboxes SET url = ? WHERE ROWID = ?', `imap://${IMAP}/Spam`, box);
  expect(walk(senders, 0, index.head(), 50)).toEqual([]);
  store.run('UPDATE mailboxes SET url = ? WHERE ROWID = ?', `imap://${IMAP}/Offers`, box);
  expect(walk(senders, 0, index.head(), 50)).toEqual([rowid]);
});
