import { expect, test } from 'vitest';
import { tempFolder } from '../testing/temp.ts';
import { openForReading, openForWriting } from './index-file.ts';
import { IndexReader, MAX_FREQUENT, MAX_RANKED, type Narrowing } from './index-reader.ts';
import { IndexWriter, type FileState, type IndexedMail } from './index-writer.ts';
import { compare } from './indexer.ts';
import type { SourceRow } from './mail-source.ts';
import { parseQuery } from './query.ts';
import { frequentWords, WordSample } from './word-sample.ts';

const ALL: Narrowing = { column: null, mailboxes: null, exceptMailboxes: [], after: null, before: null, senders: null };
const mail = (id: number, date: number, body = 'word', more: Partial<IndexedMail> = {}): IndexedMail => ({ mail: id, mailbox: 1, date, file: 2, subject: '', sender: '', address: '', attachments: '', body, ...more });

function parsedQuery(text: string) {
  const parsed = parseQuery(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.query;
}

function opened() {
  const folder = tempFolder('writer');
  const path = folder.at('search.db');
  const { db } = openForWriting(path, { plain: true });
  const writer = new IndexWriter(db);
  const reader = new IndexReader(openForReading(path, { plain: true }));
  return {
    writer,
    counts: () => ({ mails: writer.mails, textBytes: writer.textBytes }),
    candidates: (query: string, from: number | null) => reader.candidates(parsedQuery(query), ALL, from),
    find(query: string, narrowing: Partial<Narrowing> = {}, offset = 0, limit = 100) {
      return reader.find(parsedQuery(query), { ...ALL, ...narrowing }, offset, limit);
    },
    byRow: () => db.prepare('SELECT mail FROM mails ORDER BY doc').pluck().all() as number[],
    [Symbol.dispose]() {
      reader.close();
      db.close();
      folder.remove();
    },
  };
}

test('rows follow the date, whether batches come newest first, later, or from long ago', () => {
  using index = opened();
  index.writer.add([mail(1, 900), mail(2, 800)]);
  index.writer.add([mail(3, 700), mail(4, 600)]);
  index.writer.add([mail(5, 1000)]);
  expect(index.byRow()).toEqual([4, 3, 2, 1, 5]);
  index.writer.add([mail(6, 750), mail(7, 750), mail(8, 0)]);
  expect(index.byRow()).toEqual([8, 4, 3, 6, 7, 2, 1, 5]);
});

test('a mail taken in again replaces what was known of it; one removed is not found', () => {
  using index = opened();
  index.writer.add([mail(1, 10, 'before'), mail(2, 20, '会議室')]);
  index.writer.add([mail(1, 10, 'after')]);
  expect([index.find('before').count, index.find('after').count, index.find('会議').count]).toEqual([0, 1, 1]);
  expect(index.counts()).toMatchObject({ mails: 2, textBytes: 'after'.length + Buffer.byteLength('会議室') });
  index.writer.remove([1, 2, 3]);
  expect([index.find('after').count, index.find('会議').count]).toEqual([0, 0]);
  expect(index.counts()).toMatchObject({ mails: 0, textBytes: 0 });
});

test('more hits than are ranked: the newest come first, and it is said', () => {
  using index = opened();
  const ids = Array.from({ length: MAX_RANKED + 1 }, (_, nth) => nth + 1);
  index.writer.add(ids.map((id) => mail(id, id)));
  const many = index.find('word', {}, 2, 3);
  expect(many).toMatchObject({ order: 'newest', isExact: false, count: MAX_RANKED });
  expect(many.hits.map((hit) => hit.mail)).toEqual([MAX_RANKED - 1, MAX_RANKED - 2, MAX_RANKED - 3]);
  expect(many.hits.every((hit) => hit.score === null)).toBe(true);
  // To be judged elsewhere they come in steps, newest first, each once.
  const seen: number[] = [];
  for (let from: number | null = null, first = true; first || from !== null; first = false) {
    const step = index.candidates('word', from);
    seen.push(...step.hits.map((hit) => hit.mail));
    from = step.next;
  }
  expect(seen).toEqual(ids.toReversed());
  index.writer.remove([1]);
  expect(index.find('word')).toMatchObject({ order: 'best', isExact: true, count: MAX_RANKED });
  expect(index.find('word', { after: 10, before: 12 }).hits.map((hit) => hit.mail)).toEqual([11, 10]);
});

test('names of attachments are a column of their own', () => {
  using index = opened();
  index.writer.add([mail(1, 10, 'see the plan', { attachments: 'Invoice_2026.pdf\nplan.xlsx' }), mail(2, 20, 'invoice')]);
  expect(index.find('invoice').count).toBe(2);
  expect(index.find('invoice', { column: 'attachments' }).hits.map((hit) => hit.mail)).toEqual([1]);
  expect(index.find('attachment:plan').count).toBe(1);
  expect(index.find('plan', { column: 'body' }).count).toBe(1);
});

test('a bound of senders: who is allowed, not excepted, and among the own; senders that come later too', () => {
  using index = opened();
  const from = (id: number, address: string) => mail(id, id, 'word', { address });
  index.writer.add([from(1, 'ada@example.org'), from(2, 'bob@example.org'), from(3, 'cy@deep.example.org'), from(4, 'eve@other.example'), from(5, '')]);
  const set = (addresses: string[], domains: string[] = [], parents: string[] = []) => ({ addresses: new Set(addresses), domains: new Set(domains), parents: new Set(parents) });
  const none = set([]);
  const who = (senders: Narrowing['senders']) => index.find('word', { senders }).hits.map((hit) => hit.mail);
  const allowed = set([], ['example.org']);
  expect(who({ allowed, excepted: none, own: null })).toEqual([2, 1]);
  expect(who({ allowed: set([], [], ['example.org']), excepted: set(['bob@example.org']), own: null })).toEqual([3, 1]);
  expect(who({ allowed, excepted: none, own: set(['ada@example.org', 'eve@other.example']) })).toEqual([1]);
  expect(who({ allowed: none, excepted: none, own: null })).toEqual([]);
  index.writer.add([from(6, 'zoe@example.org')]);
  expect(who({ allowed, excepted: none, own: null })).toEqual([6, 2, 1]);
  // Forgotten with their last mail; the numbers of those that are gone are not given again.
  index.writer.remove([6]);
  index.writer.forgetSenders();
  index.writer.add([from(7, 'mallory@other.example')]);
  expect(who({ allowed, excepted: none, own: null })).toEqual([2, 1]);
});

test('a phrase of words that many mails hold comes newest first, and no more of its hits are counted than is told', () => {
  using index = opened();
  const ids = Array.from({ length: 3000 }, (_, nth) => nth + 1);
  const texts = ids.map((id) => `${id % 2 === 0 ? 'please come to the meeting' : 'the MEETING, please'} word${id}`);
  index.writer.add(ids.map((id, at) => mail(id, id, texts[at]!)));
  expect(index.find('"the meeting"')).toMatchObject({ order: 'best', isExact: true, count: 3000 });
  const sample = new WordSample();
  for (const text of texts) sample.offer(text);
  index.writer.setMeta('frequent', sample.frequent()!);
  expect([...frequentWords(sample.frequent())].sort()).toEqual(['come', 'meeting', 'please', 'the', 'to']);
  const frequent = index.find('"the Meeting"', {}, 0, 2);
  expect(frequent).toMatchObject({ order: 'newest', isExact: false, count: MAX_FREQUENT });
  expect(frequent.hits.map((hit) => hit.mail)).toEqual([3000, 2999]);
  expect(index.find('"meeting please"', {}, 0, 1)).toMatchObject({ order: 'newest', count: MAX_FREQUENT, hits: [{ mail: 2999 }] });
  expect(index.find('"meeting please word5"')).toMatchObject({ order: 'best', isExact: true, count: 1 });
  expect(index.find('meeting please', {}, 0, 1)).toMatchObject({ order: 'best', count: 3000 });
  // Too few mails say nothing of what is frequent.
  expect(new WordSample().frequent()).toBeNull();
});

test('comparison: new, gone, moved, and more on disk', () => {
  const row = (rowid: number, mailbox = 1, file: SourceRow['file'] = 2): SourceRow => ({ rowid, mailbox, date: 0, file });
  const known = (id: number, mailbox = 1, file: FileState = 2) => ({ mail: id, mailbox, file });
  const found = compare([row(2), row(3, 9), row(4, 1, 2), row(5, 1, 0), row(7)], [known(1), known(2), known(3), known(4, 1, 1), known(5), known(9)]);
  expect(found.added.map(({ rowid }) => rowid)).toEqual([4, 7]);
  expect(found.removed).toEqual([1, 9]);
  expect(found.placed.map(({ rowid }) => rowid)).toEqual([3, 5]);
  // Nobody looked at the disk: nothing is said of files.
  const alone = compare([row(2, 1, null), row(3, 9, null), row(4, 1, null)], [known(2, 1, 0), known(3, 1, 1)]);
  expect([alone.added.map(({ rowid }) => rowid), alone.placed.map(({ rowid, mailbox, file }) => [rowid, mailbox, file])]).toEqual([[4], [[3, 9, 1]]]);
  expect(compare([], [])).toEqual({ added: [], removed: [], placed: [] });
});

test('what could not be read whole: counted by kind, the most frequent first, and the newest twenty rows of each', () => {
  using index = opened();
  index.writer.add([mail(25, 1_000_000), mail(30, 0, 'word', { mailbox: 7 })]);
  for (let row = 1; row <= 25; row += 1) index.writer.fail(row, 'cut', 1);
  for (const row of [31, 30]) index.writer.fail(row, 'too large', 1);
  const [cut, large] = index.writer.failures();
  expect(cut).toMatchObject({ reason: 'cut', count: 25 });
  expect(cut!.mails.map((each) => each.mail)).toEqual(Array.from({ length: 20 }, (_, at) => 25 - at));
  expect(cut!.mails.slice(0, 2)).toEqual([{ mail: 25, mailbox: 1, date: 1_000_000 }, { mail: 24, mailbox: null, date: null }]);
  expect(large).toEqual({ reason: 'too large', count: 2, mails: [{ mail: 31, mailbox: null, date: null }, { mail: 30, mailbox: 7, date: null }] });
});
