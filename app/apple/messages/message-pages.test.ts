import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MessagesStore, type Message } from '../../testing/messages-store.ts';
import { numbersBelow } from '../../testing/random.ts';
import { tempFolder, type TempFolder } from '../../testing/temp.ts';
import type { MessageRow } from '../occurrence.ts';
import type { PageRequest, SenderSet } from '../reader.ts';
import { matches } from '../sender.ts';
import { ChatDatabase } from './chat-database.ts';

const NOW = Date.UTC(2026, 4, 1);
const DAY = 86_400_000;
const PEOPLE = 700;
const person = (index: number) => (index % 7 === 0 ? `p${index}@d${index % 5}.example.org` : `+1415555${String(index).padStart(4, '0')}`);

let folder: TempFolder;
let store: MessagesStore;
let reader: ChatDatabase;
let all: readonly MessageRow[];

beforeAll(() => {
  folder = tempFolder();
  store = MessagesStore.create(folder.at('chat.db'), { synchronous: 'OFF' });
  const next = numbersBelow(11);
  const message = (): Message => {
    const from = person(next(3) === 0 ? next(8) : next(PEOPLE));
    const date = next(20) === 0 ? null : NOW - next(next(2) === 0 ? 5 : 400) * DAY - next(DAY);
    const service = next(4) === 0 ? 'SMS' : 'iMessage';
    const rare: Message[] = [
      { fromMe: true }, { set: { associated_message_type: 2000 } }, { set: { item_type: 1 } }, { chat: { group: true, identifier: `spam${next(3)}`, filtered: 2 } },
      { text: 'same', date: NOW - next(3) * 1000 }, { set: { is_spam: 1 } }, { from: '', set: { handle_id: 0 } },
    ];
    return { from, date, service, ...(next(3) === 0 ? rare[next(rare.length)] : {}) };
  };
  for (let burst = 0; burst < 24; burst += 1) {
    store.arriveMany(Array.from({ length: 20 + next(150) }, message));
    if (next(2) === 0) store.skipRowids('message', next(9000));
  }
  reader = new ChatDatabase({ path: store.path, region: 'US' });
  reader.open();
  all = reader.read(0, 1_000_000).rows;
});

afterAll(() => {
  reader.close();
  store.close();
  folder.remove();
});

const someone = (...addresses: string[]): SenderSet => ({ addresses: new Set(addresses), domains: new Set(), parents: new Set() });
const SETS: Record<string, SenderSet> = {
  'one frequent': someone(person(1)),
  'one rare': someone(person(333)),
  nobody: someone('+19995550100'),
  'a hundred': someone(...Array.from({ length: 100 }, (_, index) => person(index * 3))),
  'more than are searched first': someone(...Array.from({ length: PEOPLE }, (_, index) => person(index))),
  'a domain': { addresses: new Set(), domains: new Set(['d1.example.org']), parents: new Set() },
  'a domain and all below': { addresses: new Set(), domains: new Set(), parents: new Set(['example.org']) },
};

const isOld = (row: MessageRow, notBefore: number | undefined) => notBefore !== undefined && row.date !== null && row.date < notBefore;
const wanted = ({ senders, after, upTo }: Pick<PageRequest, 'senders' | 'after' | 'upTo'>) =>
  all.filter((row) => row.excluded === null && row.sender !== null && matches(senders, row.sender) && row.rowid > after && row.rowid <= upTo);

function walk(request: PageRequest): MessageRow[] {
  const found: MessageRow[] = [];
  for (let after = request.after; ; ) {
    const page = reader.page({ ...request, after });
    expect(page.rows.length).toBeLessThanOrEqual(request.limit);
    for (const row of page.rows) {
      expect(row.rowid).toBeGreaterThan(after);
      expect(row.rowid).toBeLessThanOrEqual(page.through);
    }
    found.push(...page.rows);
    if (page.through === request.upTo) return found;
    expect(page.through).toBeGreaterThan(after);
    expect(page.through).toBeLessThan(request.upTo);
    after = page.through;
  }
}

test('the store is worth it', () => {
  expect(all.length).toBeGreaterThan(1500);
  expect(reader.head()).toBeGreaterThan(20_000);
  for (const reason of ['sent', 'tapback', 'group-notice', 'spam', 'twin', 'no-sender']) expect(all.some((row) => row.excluded === reason)).toBe(true);
});

describe.each([['with all indexes', []], ['without the date index', ['message_idx_handle']], ['without handle indexes', ['message_idx_handle', 'message_idx_handle_id']]])('%s', (_case, dropped) => {
  beforeAll(() => {
    for (const index of dropped) store.db.exec(`DROP INDEX IF EXISTS ${index}`);
    reader.close();
    reader.open();
  });

  test.each(Object.keys(SETS))('pages of %s are what reading everything finds', (name) => {
    const senders = SETS[name]!;
    const next = numbersBelow(name.length);
    const head = reader.head();
    for (let round = 0; round < 14; round += 1) {
      const after = round < 3 ? 0 : next(head);
      const upTo = round < 3 ? head : after + next(head - after + 1);
      const limit = [1, 3, 50, 200][next(4)]!;
      const notBefore = round % 2 === 0 ? undefined : NOW - next(420) * DAY;
      const request = { senders, after, upTo, limit, ...(notBefore !== undefined && { notBefore }) };
      const brute = wanted(request).filter((row) => !isOld(row, notBefore));
      expect(walk(request)).toEqual(brute);
      if (notBefore !== undefined) {
        expect(reader.skippedBefore({ ...request, notBefore })).toBe(wanted(request).some((row) => isOld(row, notBefore)));
        const since = wanted({ senders, after: 0, upTo: head }).filter((row) => row.date !== null && row.date >= notBefore);
        const tested = reader.backtest(senders, notBefore, 3);
        expect(tested.count).toBe(since.length);
        expect(tested.examples).toEqual(since.sort((a, b) => b.date! - a.date! || b.rowid - a.rowid).slice(0, 3));
      }
    }
  });

  test('newest dates are what reading everything finds', () => {
    const next = numbersBelow(5);
    for (let round = 0; round < 40; round += 1) {
      const box = 1 + next(30);
      const rowid = next(reader.head() + 1);
      const dates = all.flatMap((row) => (row.box === box && row.rowid <= rowid && row.date !== null ? [row.date] : []));
      expect(reader.newestDate(box, rowid)).toBe(dates.length === 0 ? null : Math.max(...dates));
    }
  });

  test('an empty range is finished', () => {
    const senders = SETS['one frequent']!;
    expect(reader.page({ senders, after: 10, upTo: 10, limit: 5 })).toEqual({ rows: [], through: 10 });
    expect(reader.page({ senders: someone(), after: 0, upTo: 10, limit: 5 })).toEqual({ rows: [], through: 10 });
  });
});
