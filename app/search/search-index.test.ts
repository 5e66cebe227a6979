import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { parseMailboxUrl } from '../apple/mail/mailboxes.ts';
import { emlxFile } from '../testing/mail-corpus.ts';
import { MailStore, type Mail } from '../testing/mail-store.ts';
import { tempFolder, type TempFolder } from '../testing/temp.ts';
import type { IndexKey } from './index-file.ts';
import { MAX_RANKED, type Hit } from './index-reader.ts';
import { SearchIndex, type SearchAnswer } from './search-index.ts';
import type { SearchRequest } from './search-request.ts';

const KEY: IndexKey = { key: Buffer.alloc(32, 9) };
const DAY = 86_400;
const BASE = 1_700_000_000;

interface Ground extends AsyncDisposable {
  readonly folder: TempFolder;
  readonly store: MailStore;
  readonly index: SearchIndex;
  /** A mail with a text of its own on disk. */
  arrive(text: string, mail?: Mail): number;
  find(query: string | SearchRequest): Promise<number[]>;
  settled(): Promise<void>;
}

async function ground(options: { key?: IndexKey; start?: boolean } = {}): Promise<Ground> {
  const folder = tempFolder('search');
  const mailDir = folder.at('Mail', 'V10');
  const store = MailStore.create(mailDir);
  store.addAccount({ description: 'iCloud', email: 'me@icloud.example', kind: 'imap' });
  store.addAccount({ description: 'Google', email: 'me@gmail.example', kind: 'gmail' });
  const index = indexOf(folder, store, options.key ?? KEY);
  const found: Ground = {
    folder, store, index,
    arrive(text, mail = {}) {
      const rowid = store.arrive(mail);
      write(store, rowid, text);
      return rowid;
    },
    async find(query) {
      const { hits } = await answered(index, typeof query === 'string' ? { query } : query);
      return hits.map(({ mail }) => mail);
    },
    async settled() {
      index.sync();
      // The worker answers in order: a comparison begins and ends.
      await until(index, () => index.state().phase === 'comparing');
      await index.settled();
    },
    async [Symbol.asyncDispose]() {
      await index.stop();
      store.close();
      folder.remove();
    },
  };
  if (options.start !== false) {
    index.start();
    await index.settled();
  }
  return found;
}

/** A machine that is busy may take longer for the first question than one is given. */
function answered(index: SearchIndex, request: SearchRequest): Promise<Extract<SearchAnswer, { ok: true }>> {
  return vi.waitFor(async () => {
    const answer = await index.search(request);
    if (!answer.ok) throw new Error(answer.reason);
    return answer;
  }, { timeout: 25_000, interval: 100 });
}

const watchers = new WeakMap<SearchIndex, Set<() => void>>();

function indexOf(folder: TempFolder, store: MailStore, key: IndexKey): SearchIndex {
  const listeners = new Set<() => void>();
  const index = new SearchIndex({
    path: folder.at('search.db'), mailDir: folder.at('Mail', 'V10'), key,
    places: () => store.mailboxes().map(({ id, url }) => ({ id, ...parseMailboxUrl(url) })),
    onState: () => { for (const listener of listeners) listener(); },
  });
  watchers.set(index, listeners);
  return index;
}

async function until(index: SearchIndex, holds: () => boolean): Promise<void> {
  const listeners = watchers.get(index)!;
  while (!holds()) await new Promise<void>((done) => { listeners.add(function once() { listeners.delete(once); done(); }); });
}

function pathOf(store: MailStore, rowid: number): string {
  return store.emlxPath(rowid, store.mailboxById(store.value<number>('SELECT mailbox FROM messages WHERE ROWID = ?', rowid)!));
}

function write(store: MailStore, rowid: number, text: string): void {
  writeFileSync(pathOf(store, rowid), emlxFile(Buffer.from(`Content-Type: text/plain; charset=utf-8\n\n${text}\n`)));
}

test('from the file to a hit: words, phrases, exclusions, beginnings, columns, scopes, diacritics', async () => {
  await using place = await ground({ start: false });
  const a = place.arrive('The quarterly budget for Zürich is ready', { subject: 'Numbers', from: { address: 'ada@example.org', name: 'Ada Lovelace' } });
  const b = place.arrive('A budget report, quarterly', { subject: 'Budget talk', from: { address: 'bob@example.org', name: 'Bob' } });
  const c = place.arrive('Nothing here', { subject: 'Zürich trip' });
  place.index.start();
  await place.index.settled();
  const sorted = async (query: string | SearchRequest): Promise<number[]> => (await place.find(query)).sort((x, y) => x - y);
  expect(await sorted('budget')).toEqual([a, b]);
  expect(await sorted('"quarterly budget"')).toEqual([a]);
  expect(await sorted('budget -report')).toEqual([a]);
  expect(await sorted('report OR nothing')).toEqual([b, c]);
  expect(await sorted('quarter*')).toEqual([a, b]);
  expect(await sorted('zurich')).toEqual([a, c]);
  expect(await sorted('subject:zurich')).toEqual([c]);
  expect(await sorted({ query: 'zurich', scope: 'body' })).toEqual([a]);
  expect(await sorted('from:ada')).toEqual([a]);
  expect(await sorted('from:example.org budget')).toEqual([a, b]);
  // A word of the subject weighs more than one of the body.
  expect(await place.find('budget')).toEqual([b, a]);
  const answer = await answered(place.index, { query: 'zurich' });
  expect(answer).toMatchObject({ count: 2, isExact: true, order: 'best', isPartial: false });
  expect((await answer.snippets())[answer.hits.findIndex(({ mail }) => mail === a)]).toEqual({ text: 'The quarterly budget for Zürich is ready', marks: [{ start: 25, end: 31 }] });
});

test('brackets, alternatives and what is excluded, in both tables', async () => {
  await using place = await ground({ start: false });
  const rota = place.arrive('zebra plan', { subject: 'Rota' });
  const other = place.arrive('gmail words', { subject: 'Other' });
  const both = place.arrive('zebra gmail 会議', { subject: 'Rota two' });
  const east = place.arrive('会議 東京', { subject: 'East' });
  place.index.start();
  await place.index.settled();
  for (const [query, expected] of [
    ['subject: rota', [rota, both]],
    ['subject:(rota two)', [both]],
    ['subject:(two OR other)', [other, both]],
    ['(rota plan) OR words', [rota, other]],
    ['rota -zebra OR gmail', []],
    ['rota -(plan OR words)', [both]],
    ['zebra NOT (rota gmail)', [rota]],
    ['zebra -(gmail 会議)', [rota]],
    ['zebra -(gmail 東京)', [rota, both]],
    ['会議 -(zebra OR 東京)', []],
    ['会議 -(zebra 東京)', [both, east]],
    ['会議 -(rota 会議)', [east]],
    ['(rota 会議) OR words', [other, both]],
    ['zebra -(gmail 大阪)', [rota, both]],
    ['constructor:x OR plan', [rota]],
  ] as const) expect((await place.find(query)).sort((x, y) => x - y), query).toEqual(expected);
  // The scope holds inside of what is excluded too.
  expect(await place.find({ query: 'rota -(two zebra)', scope: 'subject' })).toHaveLength(2);
  expect((await answered(place.index, { query: 'has:attachment rota' })).notes).toEqual([expect.stringMatching(/^Not known here and left out: has:\. Known in a query are subject:/)]);
});

test('Chinese, Japanese and Korean: words of one, two and more characters, mixed with others', async () => {
  await using place = await ground({ start: false });
  const a = place.arrive('来週の会議室は東京です', { subject: 'plan' });
  const b = place.arrive('会議', { subject: '請求書 report' });
  const c = place.arrive('회의실 예약', { subject: 'Korean' });
  place.index.start();
  await place.index.settled();
  const sorted = async (query: string): Promise<number[]> => (await place.find(query)).sort((x, y) => x - y);
  expect(await sorted('会議')).toEqual([a, b]);
  expect(await sorted('会議室')).toEqual([a]);
  expect(await sorted('京')).toEqual([a]);
  expect(await sorted('회의실')).toEqual([c]);
  expect(await sorted('会議 -東京')).toEqual([b]);
  expect(await sorted('report 会議')).toEqual([b]);
  expect(await sorted('会議 report')).toEqual([b]);
  expect(await sorted('東京 OR korean')).toEqual([a, c]);
  expect(await sorted('subject:請求書')).toEqual([b]);
  expect(await sorted('大阪')).toEqual([]);
  expect(await sorted('report -会議')).toEqual([]);
});

test('mailboxes, dates, what is judged before it counts, windows', async () => {
  await using place = await ground({ start: false });
  const accounts = place.store.accountIds();
  const at = (days: number, mail: Mail = {}): number => place.arrive('needle in a haystack', { dateReceived: BASE + days * DAY, ...mail });
  const rows = [at(0), at(1), at(2, { account: accounts[0]!, mailbox: 'Archive' }), at(3, { account: accounts[1]!, mailbox: 'INBOX' })];
  place.index.start();
  await place.index.settled();
  const box = (id: number): number => place.store.value<number>('SELECT mailbox FROM messages WHERE ROWID = ?', id)!;
  // Equal scores: newest first.
  expect(await place.find('needle')).toEqual(rows.toReversed());
  expect(await place.find({ query: 'needle', limit: 2, offset: 1 })).toEqual([rows[2], rows[1]]);
  expect(await place.find({ query: 'needle', mailboxes: [box(rows[2]!)] })).toEqual([rows[2]]);
  expect(await place.find({ query: 'needle', exceptMailboxes: [box(rows[0]!)] })).toEqual([rows[3], rows[2]]);
  expect(await place.find({ query: 'needle', after: BASE + DAY, before: BASE + 3 * DAY })).toEqual([rows[2], rows[1]]);
  expect(await place.find({ query: 'needle', after: BASE + 9 * DAY })).toEqual([]);
  // Filtering comes before the window, so a page is full.
  const judge: NonNullable<SearchRequest['judge']> = (hits) => {
    const wanted = new Set(hits.map(({ mail }) => mail).filter((mail) => mail === rows[0] || mail === rows[1]));
    return { readable: wanted, wanted };
  };
  expect(await place.find({ query: 'needle', judge, limit: 1, offset: 1 })).toEqual([rows[0]]);
  expect(await answered(place.index, { query: 'needle', judge })).toMatchObject({ count: 2, isExact: true, order: 'best' });
});

test('of thousands that are judged, what counts is what may be read; where most of them are to go, the file is made anew', async () => {
  await using place = await ground({ key: { plain: true }, start: false });
  const rows = place.store.arriveMany(Array.from({ length: MAX_RANKED + 200 }, (_, nth) => ({ subject: `needle ${nth}`, summary: null, file: false, dateReceived: BASE + nth })));
  const kept = place.store.arrive({ subject: 'Kept', mailbox: 'Archive', file: false });
  place.index.start();
  await place.index.settled();
  const of = (most: number): NonNullable<SearchRequest['judge']> => {
    const readable = new Set(rows.slice(0, most));
    return (hits) => {
      const wanted = new Set(hits.map(({ mail }) => mail).filter((mail) => readable.has(mail)));
      return { readable: wanted, wanted };
    };
  };
  const asked = { query: 'needle', limit: 1, snippets: false };
  // As many as are ranked, though the index holds more.
  expect(await answered(place.index, { ...asked, judge: of(MAX_RANKED) })).toMatchObject({ count: MAX_RANKED, isExact: true, order: 'best', next: 1, hits: [{ mail: rows[MAX_RANKED - 1], score: null }] });
  expect(await answered(place.index, { ...asked, offset: MAX_RANKED - 1, judge: of(MAX_RANKED) })).toMatchObject({ count: MAX_RANKED, next: null, hits: [{ mail: rows[0] }] });
  expect(await answered(place.index, { ...asked, judge: of(MAX_RANKED + 1) })).toMatchObject({ count: MAX_RANKED, isExact: false, order: 'newest', next: 1 });
  expect(await answered(place.index, { ...asked, offset: MAX_RANKED, judge: of(MAX_RANKED + 1) })).toMatchObject({ next: null, hits: [{ mail: rows[0] }] });
  expect(await answered(place.index, { ...asked, judge: of(0) })).toMatchObject({ count: 0, isExact: true, order: 'best', next: null, hits: [] });
  const { ino } = statSync(place.folder.at('search.db'));
  place.index.bound([place.store.value<number>('SELECT mailbox FROM messages WHERE ROWID = ?', kept)!]);
  await until(place.index, () => place.index.state().phase === 'ready' && place.index.state().counts.mails === 1);
  expect(statSync(place.folder.at('search.db')).ino).not.toBe(ino);
  expect([await place.find('kept'), await place.find('needle')]).toEqual([[kept], []]);
}, 180_000);

test('each hit of a page has its own snippet, whoever cuts it', async () => {
  await using place = await ground({ start: false });
  const words = new Map(Array.from({ length: 24 }, (_, nth) => [place.arrive(`walrus number n${nth}`), `walrus number n${nth}`]));
  place.index.start();
  await place.index.settled();
  const judge = (hits: readonly Hit[]) => ({ readable: new Set(hits.map(({ mail }) => mail)), wanted: new Set(hits.map(({ mail }) => mail)) });
  for (const request of [{ limit: 24 }, { limit: 5, offset: 3 }, { limit: 24, judge }, { limit: 24, check: (hits: readonly Hit[]) => new Set(hits.map(({ mail }) => mail).filter((mail) => mail % 2 === 0)) }]) {
    const { hits, snippets } = await answered(place.index, { query: 'walrus', ...request });
    expect((await snippets()).map((snippet) => snippet?.text)).toEqual(hits.map(({ mail }) => words.get(mail)));
  }
  const { hits, snippets } = await answered(place.index, { query: 'walrus', snippets: false });
  expect(await snippets()).toEqual(hits.map(() => null));
});

test('a search that is judged while the index stops ends, and no thread is left', async () => {
  await using place = await ground({ start: false });
  for (let nth = 0; nth < 300; nth += 1) place.arrive(`walrus n${nth}`);
  place.index.start();
  await place.index.settled();
  await place.find('walrus');
  let stopped: Promise<void> | null = null;
  const judge = (hits: readonly Hit[]) => {
    stopped ??= place.index.stop();
    const all = new Set(hits.map(({ mail }) => mail));
    return { readable: all, wanted: all };
  };
  expect(await place.index.search({ query: 'walrus', limit: 100, judge })).toMatchObject({ ok: false });
  await stopped;
  expect(process.getActiveResourcesInfo().filter((each) => each === 'MessagePort')).toEqual([]);
  place.index.start();
  await place.index.settled();
  expect(await place.find('n299')).toHaveLength(1);
});

test('codes that are hidden while a search runs are in none of its snippets', async () => {
  await using place = await ground({ start: false });
  place.index.hideCodes(false);
  place.arrive('walrus: your code is 482913');
  place.index.start();
  await place.index.settled();
  const before = await answered(place.index, { query: 'walrus' });
  expect((await before.snippets())[0]!.text).toContain('482913');
  const { snippets } = await answered(place.index, { query: 'walrus' });
  place.index.hideCodes(true);
  expect(await snippets()).toEqual([null]);
});

test('bad input is a sentence that names the field', async () => {
  await using place = await ground();
  const reason = async (request: object): Promise<string | null> => {
    const answer = await place.index.search({ query: 'x1', ...request });
    return answer.ok ? null : answer.reason.split(':')[0]!;
  };
  for (const limit of [0, -1, 101, 1.5, Number.NaN]) expect(await reason({ limit })).toBe('limit');
  for (const offset of [-1, 10_001, 0.5, Number.POSITIVE_INFINITY]) expect(await reason({ offset })).toBe('offset');
  for (const after of [0.5, Number.NaN]) expect(await reason({ after })).toBe('after');
  expect(await reason({ scope: 'everything' })).toBe('scope');
  for (const query of ['', '"', '-x', 'a*', 'x'.repeat(2000)]) expect(await reason({ query })).toBe('query');
  for (const query of ['"', 'a AND', 'NEAR(', '^', '*', 'subject:', '{x}:y', 'a OR OR b', '((((', "'; DROP TABLE words"]) await expect(place.index.search({ query })).resolves.toBeDefined();
});

test('kept fresh: mails that come, change, move and go, by the tail and by a comparison', async () => {
  await using place = await ground();
  const first = place.arrive('walrus');
  place.index.take([first]);
  await until(place.index, () => place.index.state().counts.mails === 1);
  expect(await place.find('walrus')).toEqual([first]);
  const later = place.arrive('walrus too');
  const moved = place.store.move(first, 'Archive');
  await place.settled();
  expect((await place.find('walrus')).sort((a, b) => a - b)).toEqual([later, moved].sort((a, b) => a - b));
  place.store.remove(later);
  await place.settled();
  expect(await place.find('walrus')).toEqual([moved]);
  expect(place.index.state()).toMatchObject({ phase: 'ready', pending: 0, counts: { mails: 1, deadLetters: [] }, trouble: null });
});

test('a body that comes after its row: the preview stands in, then the text', async () => {
  await using place = await ground({ start: false });
  const rowid = place.store.arrive({ summary: 'preview of penguins', subject: 'S' });
  const path = pathOf(place.store, rowid);
  rmSync(path);
  place.index.start();
  await place.index.settled();
  expect(await place.find('penguins')).toEqual([rowid]);
  write(place.store, rowid, 'the whole story');
  renameSync(path, path.replace('.emlx', '.partial.emlx'));
  await place.settled();
  expect([await place.find('story'), await place.find('penguins')]).toEqual([[rowid], []]);
  renameSync(path.replace('.emlx', '.partial.emlx'), path);
  await place.settled();
  expect(await place.find('story')).toEqual([rowid]);
});

test('letters of another width are the same letters, in what is asked and in what is written', async () => {
  await using place = await ground({ start: false });
  const wide = place.arrive('型番 ＡＢＣ１２', { subject: 'ｼﾞｮﾌﾞ' });
  const plain = place.arrive('model abc12', { subject: 'ジョブ' });
  place.index.start();
  await place.index.settled();
  for (const query of ['abc12', 'ＡＢＣ１２', 'ジョブ', 'ｼﾞｮﾌﾞ', 'subject:ｼﾞｮﾌﾞ', 'ジョ', 'ａｂｃ*']) expect((await place.find(query)).toSorted(), query).toEqual([wide, plain]);
  expect(await place.find('シヨフ')).toEqual([]);
});

test('dead letters: what could not be read whole is counted, still found by its subject, and forgiven later', async () => {
  await using place = await ground({ start: false });
  const rowid = place.arrive('x', { subject: 'Trouble ahead' });
  writeFileSync(pathOf(place.store, rowid), `999999\nContent-Type: text/plain\n\ncut`);
  place.index.start();
  await place.index.settled();
  expect(place.index.state().counts.deadLetters).toEqual([{ reason: 'the file has no right byte count', count: 1, mails: [{ mail: rowid, mailbox: expect.any(Number), date: expect.any(Number) }] }]);
  expect(await place.find('trouble cut')).toEqual([rowid]);
  write(place.store, rowid, 'whole again');
  place.index.take([rowid]);
  await until(place.index, () => place.index.state().counts.deadLetters.length === 0);
  expect(await place.find('whole')).toEqual([rowid]);
});

test('the file is closed to others and encrypted; another key or damage makes it anew; a rebuild does too', async () => {
  await using place = await ground({ start: false });
  const rowid = place.arrive('zebrafish');
  place.index.start();
  await place.index.settled();
  await place.index.stop();
  const path = place.folder.at('search.db');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path).includes('zebrafish')).toBe(false);
  expect(readFileSync(path).subarray(0, 15).toString('latin1')).not.toBe('SQLite format 3');
  for (const key of [{ key: Buffer.alloc(32, 1) }, { plain: true }] as const) {
    const other = indexOf(place.folder, place.store, key);
    other.start();
    await other.settled();
    expect(await answered(other, { query: 'zebrafish' })).toMatchObject({ count: 1 });
    other.rebuild();
    await until(other, () => other.state().phase === 'comparing');
    await other.settled();
    expect(await answered(other, { query: 'zebrafish' })).toMatchObject({ hits: [{ mail: rowid }] });
    await other.stop();
  }
  // Without a key the words lie in the file, as they must be able to be found.
  expect(readFileSync(path).subarray(0, 15).toString('latin1')).toBe('SQLite format 3');
  writeFileSync(path, Buffer.alloc(50_000, 'damage'));
  place.index.start();
  await place.index.settled();
  expect(await place.find('zebrafish')).toEqual([rowid]);
});

test('another store behind the same path is another index', async () => {
  await using place = await ground({ start: false });
  place.arrive('oldstore');
  place.index.start();
  await place.index.settled();
  place.store.run(`UPDATE properties SET value = 'ANOTHER' WHERE key = 'UUID'`);
  place.store.remove(1);
  const rowid = place.arrive('newstore');
  await place.settled();
  expect([await place.find('oldstore'), await place.find('newstore')]).toEqual([[], [rowid]]);
});

test('paused: nothing is taken in, what is there is found; resumed it goes on', async () => {
  await using place = await ground({ start: false });
  const rowid = place.arrive('patience');
  place.index.pause(true);
  place.index.start();
  await until(place.index, () => place.index.state().phase === 'paused');
  expect(place.index.state().counts.mails).toBe(0);
  place.index.pause(false);
  await place.index.settled();
  expect(await place.find('patience')).toEqual([rowid]);
});

test('a store that is not there fails with a sentence, and is taken up once it is', async () => {
  const folder = tempFolder('search');
  const index = new SearchIndex({ path: folder.at('search.db'), mailDir: folder.at('Mail', 'V10'), key: KEY, places: () => [] });
  index.start();
  await index.settled();
  expect(index.state()).toMatchObject({ phase: 'failed', trouble: 'There is no store at this place.' });
  expect(await index.search({ query: 'xx' })).toMatchObject({ hits: [] });
  await index.stop();
  expect(index.state().phase).toBe('off');
  expect(existsSync(join(folder.path, 'search.db'))).toBe(true);
  folder.remove();
});

test('a key of the wrong length is refused', async () => {
  const folder = tempFolder('search');
  const index = new SearchIndex({ path: folder.at('search.db'), mailDir: folder.at('Mail'), key: { key: Buffer.alloc(16) }, places: () => [] });
  index.start();
  await index.settled();
  expect(index.state()).toMatchObject({ phase: 'failed', trouble: 'The key of the index has 32 bytes.' });
  await index.stop();
  folder.remove();
});
