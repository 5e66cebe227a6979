import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tempFolder } from '../testing/temp.ts';
import { openForReading, openForWriting } from './index-file.ts';
import { IndexWriter, type IndexedMail } from './index-writer.ts';
import { Remains } from './remains.ts';

const mail = (id: number, body: string): IndexedMail => ({ mail: id, mailbox: 1, date: id, file: 2, subject: 'a subject', sender: 'someone', address: `p${id}@example.org`, attachments: '', body });

function opened() {
  const folder = tempFolder('remains');
  const path = folder.at('search.db');
  const { db } = openForWriting(path, { plain: true });
  const writer = new IndexWriter(db);
  return {
    path, db, writer,
    holds: (text: string) => ['', '-wal'].some((suffix) => existsSync(path + suffix) && readFileSync(path + suffix).includes(text)),
    found: (word: string) => db.prepare('SELECT COUNT(*) FROM words WHERE words MATCH ?').pluck().get(word) as number,
    [Symbol.dispose]() {
      db.close();
      folder.remove();
    },
  };
}

function cleared(remains: Remains): void {
  for (let step = 0; remains.dueIn() === 0; step += 1) {
    if (step > 100) throw new Error('It goes on for ever.');
    expect(remains.step()).toBe(true);
  }
}

/** In clear in the file: neither a word, nor a run of Chinese, nor a sender. */
const TRACES = ['xylophonist', '書類', 'p1@example.org'];

test.each([['a few', 3], ['many', 900], ['only those that left', 0]])('words of a mail that left are gone from the file and its log, those of others stay: %s others', (_, others) => {
  using index = opened();
  const remains = new Remains(index.db, index.writer);
  expect(remains.dueIn()).toBeNull();
  index.writer.add([mail(1, 'the xylophonist 請求書類について')]);
  for (let at = 0; at < others; at += 50) index.writer.add(Array.from({ length: Math.min(50, others - at) }, (__, nth) => mail(at + nth + 2, `other words number${at + nth} 会議室です`)));
  expect(TRACES.map(index.holds)).toEqual([true, true, true]);
  index.writer.remove([1]);
  index.writer.forgetSenders();
  index.db.pragma('wal_checkpoint(TRUNCATE)');
  // FTS5 keeps the words of a row that is deleted.
  expect(index.holds('xylophonist')).toBe(true);
  remains.note('excluded');
  cleared(remains);
  expect(TRACES.map(index.holds)).toEqual([false, false, false]);
  expect([index.found('xylophonist'), index.found('other'), remains.dueIn()]).toEqual([0, others, null]);
});

test('what more leaves meanwhile goes too, and an end in the middle is made up for at the next start', () => {
  using index = opened();
  let remains = new Remains(index.db, index.writer);
  index.writer.add([mail(1, 'xylophonist'), mail(2, 'marimbist'), mail(3, 'kept')]);
  index.writer.add([mail(4, 'vibraphonist')]);
  index.writer.remove([1]);
  remains.note('excluded');
  expect(remains.step()).toBe(true);
  index.writer.remove([2]);
  remains.note('gone');
  cleared(remains);
  expect(['xylophonist', 'marimbist', 'vibraphonist'].map(index.holds)).toEqual([false, false, true]);
  index.writer.remove([4]);
  remains.note('excluded');
  remains.step();
  remains = new Remains(index.db, index.writer);
  cleared(remains);
  expect([index.holds('vibraphonist'), index.found('kept')]).toEqual([false, 1]);
});

test('what Mail deleted waits, longer in a larger file and no longer than an hour; what is excluded does not', () => {
  using index = opened();
  const remains = new Remains(index.db, index.writer);
  index.writer.add([mail(1, 'gone'), mail(2, 'kept')]);
  index.writer.remove([1]);
  remains.note('gone');
  expect(remains.dueIn()).toBeGreaterThan(0);
  expect(remains.dueIn()).toBeLessThanOrEqual(3_600_000);
  remains.note('excluded');
  expect(remains.dueIn()).toBe(0);
});

test('a frequent word that no mail holds any more is forgotten; while somebody reads it is tried again', () => {
  using index = opened();
  const remains = new Remains(index.db, index.writer);
  index.writer.add([mail(1, 'xylophonist'), mail(2, 'kept')]);
  index.writer.setMeta('frequent', JSON.stringify(['xylophonist', 'kept']));
  index.writer.remove([1]);
  remains.note('excluded');
  const reader = openForReading(index.path, { plain: true });
  index.db.pragma('busy_timeout = 1');
  reader.exec('BEGIN');
  reader.prepare('SELECT COUNT(*) FROM mails').get();
  index.writer.setMeta('anything', 1);
  let isDone = true;
  for (let step = 0; step < 10 && isDone; step += 1) isDone = remains.step();
  expect([isDone, remains.dueIn()]).toEqual([false, 0]);
  reader.close();
  cleared(remains);
  expect([index.writer.meta('frequent'), index.holds('xylophonist')]).toEqual(['["kept"]', false]);
});
