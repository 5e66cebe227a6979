import { expect, test } from 'vitest';
import { tempFolder } from '../testing/temp.ts';
import { openForReading, openForWriting } from './index-file.ts';
import { IndexReader, MAX_RANKED, type Narrowing } from './index-reader.ts';
import { IndexWriter, type IndexedMail } from './index-writer.ts';
import { compare } from './indexer.ts';
import type { SourceRow } from './mail-source.ts';
import { parseQuery } from './query.ts';

const ALL: Narrowing = { column: null, mailboxes: null, exceptMailboxes: [], after: null, before: null, accept: null };
const mail = (id: number, date: number, body = 'word'): IndexedMail => ({ mail: id, mailbox: 1, date, file: 2, subject: '', sender: '', body });

function opened() {
  const folder = tempFolder('writer');
  const path = folder.at('search.db');
  const { db } = openForWriting(path, { plain: true });
  const writer = new IndexWriter(db);
  const reader = new IndexReader(openForReading(path, { plain: true }));
  return {
    writer,
    counts: () => reader.counts(),
    find(query: string, narrowing: Partial<Narrowing> = {}, offset = 0, limit = 100) {
      const parsed = parseQuery(query);
      if (!parsed.ok) throw new Error(parsed.reason);
      return reader.find(parsed.query, { ...ALL, ...narrowing }, offset, limit);
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
  expect(many).toMatchObject({ order: 'newest', isExact: false, count: MAX_RANKED + 1 });
  expect(many.hits.map((hit) => hit.mail)).toEqual([MAX_RANKED - 1, MAX_RANKED - 2, MAX_RANKED - 3]);
  expect(many.hits.every((hit) => hit.score === null)).toBe(true);
  const accept = (mails: readonly number[]): ReadonlySet<number> => new Set(mails.filter((id) => id % 1000 === 0));
  expect(index.find('word', { accept }, 1, 2).hits.map((hit) => hit.mail)).toEqual([4000, 3000]);
  index.writer.remove([1]);
  expect(index.find('word')).toMatchObject({ order: 'best', isExact: true, count: MAX_RANKED });
  expect(index.find('word', { after: 10, before: 12 }).hits.map((hit) => hit.mail)).toEqual([11, 10]);
});

test('comparison: new, gone, moved, and more on disk', () => {
  const row = (rowid: number, mailbox = 1, file: SourceRow['file'] = 2): SourceRow => ({ rowid, mailbox, date: 0, file });
  const known = (id: number, mailbox = 1, file: SourceRow['file'] = 2) => ({ mail: id, mailbox, file });
  const found = compare([row(2), row(3, 9), row(4, 1, 2), row(5, 1, 0), row(7)], [known(1), known(2), known(3), known(4, 1, 1), known(5), known(9)]);
  expect(found.added.map(({ rowid }) => rowid)).toEqual([4, 7]);
  expect(found.removed).toEqual([1, 9]);
  expect(found.placed.map(({ rowid }) => rowid)).toEqual([3, 5]);
  expect(compare([], [])).toEqual({ added: [], removed: [], placed: [] });
});
