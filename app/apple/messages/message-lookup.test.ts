import { afterEach, describe, expect, test } from 'vitest';
import { MessagesStore, type ChatColumns } from '../../testing/messages-store.ts';
import { tempFolder, type TempFolder } from '../../testing/temp.ts';
import { ChatDatabase } from './chat-database.ts';
import type { MessageListRequest } from './message-lookup.ts';
import type { MessagePlace, MessageScope } from './message-places.ts';

let folder: TempFolder;
let store: MessagesStore;
let reader: ChatDatabase;
afterEach(() => {
  reader.close();
  store.close();
  folder.remove();
});

function start(columns: ChatColumns): void {
  folder = tempFolder();
  store = MessagesStore.create(folder.at('chat.db'), { columns });
  reader = new ChatDatabase({ path: store.path, region: 'US' });
  reader.open();
}
const ADA = '+15550101234';
const BOB = 'bob@example.org';
const AT = Date.UTC(2026, 0, 1);
const within = (chats: readonly { readonly id: number }[]): MessageScope => ({ chats: chats.map(({ id }) => id), handles: [] });
const list = (scope: MessageScope, more: Partial<MessageListRequest> = {}) =>
  reader.list({ scope, before: null, since: null, after: null, limit: 100, may: () => true, ...more });
const rowsOf = (...args: Parameters<typeof list>) => list(...args).rows.map(({ row }) => row.rowid);

describe.each(MessagesStore.versions)('columns of %s', (columns) => {
  test('one message by guid and by row; what is no message of its own, spam or deleted is none', () => {
    start(columns);
    const rowid = store.arrive({ from: ADA, text: 'Words' });
    expect(reader.find({ guid: store.guid(rowid) })).toMatchObject({ rowid, sender: ADA });
    expect(reader.find({ rowid })).toMatchObject({ rowid });
    expect([reader.find({ guid: 'x' }), reader.find({ rowid: 999 })]).toEqual([null, null]);
    expect(reader.find({ rowid: store.groupEvent() })).toBeNull();
    expect(reader.detail(rowid)).toMatchObject({ text: 'Words', fromMe: false, isReadable: true, isUnsent: false, versions: [], attachments: [], reactions: [] });
    // Reactions came with 10.12.
    if (columns !== '10.11') {
      expect(reader.find({ rowid: store.tapback(rowid) })).toBeNull();
      expect(reader.detail(rowid)?.reactions).toMatchObject([{ kind: 'loved', sender: ADA, part: 0 }]);
    }
    expect(reader.detail(999)).toBeNull();
  });

  test('a chat newest first, by pages that neither repeat nor leave out, between times; own words are marked', () => {
    start(columns);
    const chat = { group: true, identifier: 'chat1', name: 'Crew', members: [ADA, BOB] };
    const said = [ADA, BOB, ADA, ADA].map((from, at) => store.arrive({ from, chat, date: AT + at * 60_000, fromMe: at === 2 }));
    const same = [0, 1].map(() => store.arrive({ from: BOB, chat, date: AT + 300_000 }));
    store.arrive({ from: ADA, text: 'Elsewhere', date: AT });
    const newest = [...said, ...same].toReversed();
    const chats = within(reader.findChats('Crew'));
    // One without a date comes last.
    newest.push(store.arrive({ from: ADA, chat, date: null }));
    expect(rowsOf(chats)).toEqual(newest);
    const paged: number[] = [];
    let after: MessagePlace | null = null;
    do {
      const page = list(chats, { limit: 1, after });
      paged.push(...page.rows.map(({ row }) => row.rowid));
      after = page.next;
    } while (after !== null);
    expect(paged).toEqual(newest);
    expect(rowsOf(chats, { since: AT + 60_000, before: AT + 180_000 })).toEqual([said[2], said[1]]);
    expect(rowsOf(chats, { may: ({ sender, excluded }) => sender === ADA && excluded === null, limit: 1 })).toEqual([said[3]]);
    expect([reader.detail(said[2]!)?.fromMe, reader.detail(said[3]!)?.fromMe]).toEqual([true, false]);
  });

  test('texts of some chats, the newest row first: each message once, whatever the dates, also where a join outlived its message', () => {
    start(columns);
    const crew = { group: true, identifier: 'chat1', name: 'Crew', members: [ADA, BOB] };
    const club = { group: true, identifier: 'chat2', name: 'Club', members: [BOB] };
    const rows = Array.from({ length: 12 }, (_, at) => store.arrive({ from: BOB, chat: at % 3 === 0 ? club : crew, text: `Text ${at}`, date: AT - at * 1000 }));
    const both = store.arrive({ from: BOB, chat: crew, text: 'In both', date: AT });
    store.joinAlso(both, club);
    const elsewhere = store.arrive({ from: ADA, text: 'Elsewhere' });
    store.db.pragma('foreign_keys = OFF');
    store.db.prepare('INSERT INTO chat_message_join (chat_id, message_id) VALUES (?, ?)').run(reader.findChats('Crew')[0]!.id, 900);
    const chats = within(['Crew', 'Club'].flatMap((name) => reader.findChats(name)));
    const pages = (limit: number, of: MessageScope | null) => {
      const found: [number, string][] = [];
      for (let below: number | null = null; ;) {
        const page = reader.scan({ scope: of, below, limit });
        found.push(...page.map(({ rowid, text }): [number, string] => [rowid, text]));
        below = page.at(-1)?.rowid ?? null;
        if (page.length < limit) return found;
      }
    };
    const texts = [[900, ''], [both, 'In both'], ...rows.map((rowid, at) => [rowid, `Text ${at}`]).toReversed()];
    for (const limit of [1, 3, 5, 100]) expect(pages(limit, chats)).toEqual(texts);
    expect(pages(2, within(reader.findChats('Club')))).toEqual(texts.filter(([rowid]) => rowid === both || rows.indexOf(rowid as number) % 3 === 0));
    expect(pages(2, within([]))).toEqual([]);
    expect(pages(100, null).map(([rowid]) => rowid)).toEqual([elsewhere, both, ...rows.toReversed()]);
  });

  test('a person by any service, without groups; chats by their newest message', () => {
    start(columns);
    const one = store.arrive({ from: ADA, text: 'By iMessage', date: AT });
    const two = store.arrive({ from: ADA, text: 'By SMS', service: 'SMS', date: AT + 1000 });
    store.arrive({ from: ADA, chat: { group: true, identifier: 'chat1', name: 'Crew', members: [ADA, BOB] }, date: AT + 2000 });
    store.arrive({ from: BOB, date: AT + 3000 });
    expect(rowsOf(reader.scopeOf('(555) 010-1234'))).toEqual([two, one]);
    expect(reader.scopeOf('nobody@example.org')).toEqual({ chats: [], handles: [] });
    const all = reader.chats({ below: null, limit: 100, may: () => true });
    expect(all.chats[0]).toMatchObject({ isGroup: false, members: [BOB], date: AT + 3000 });
    expect(all.chats[1]).toMatchObject({ name: 'Crew', isGroup: true, members: [ADA, BOB] });
    expect(all.next).toBeNull();
    const first = reader.chats({ below: null, limit: 1, may: (_chat, members) => members.includes(ADA) });
    expect(first.chats.map(({ name }) => name)).toEqual(['Crew']);
    expect(reader.chats({ below: first.next, limit: 100, may: () => true }).chats).toEqual(all.chats.slice(2));
  });
});

describe.each(MessagesStore.versions)('in no chat, columns of %s', (columns) => {
  const CODES = '39781';
  test('what a handle sent that is in no chat stands among its chats: by any service, by pages, between times; deleted rows and groups do not', () => {
    start(columns);
    const group = { group: true, identifier: 'chat1', name: 'Crew', members: [CODES, BOB] };
    const said: number[] = [];
    for (let at = 0; at < 9; at += 1) {
      const message = { from: CODES, service: at % 2 === 0 ? 'SMS' : 'iMessage', text: `Code ${at}`, date: AT + at * 60_000 };
      said.push(at % 3 === 0 ? store.arrive(message) : store.oneTimeCode(message.text, message));
      store.arrive({ from: CODES, chat: group, text: `Group ${at}`, date: AT + at * 60_000 });
    }
    store.oneTimeCode('Of another', { from: '39782' });
    const undated = store.oneTimeCode('Undated', { from: CODES, date: null });
    if (store.has('chat_recoverable_message_join')) store.recoverableDelete(store.arrive({ from: CODES, fromMe: true, text: 'Own, deleted', date: AT }));
    const expected = [...said.toReversed(), undated];
    const scope = reader.scopeOf(CODES);
    for (const limit of [1, 2, 5, 100]) {
      const paged: number[] = [];
      let after: MessagePlace | null = null;
      do {
        const page = list(scope, { limit, after });
        paged.push(...page.rows.map(({ row }) => row.rowid));
        after = page.next;
      } while (after !== null);
      expect(paged, String(limit)).toEqual(expected);
    }
    expect(rowsOf(scope, { since: AT + 60_000, before: AT + 240_000 })).toEqual([said[3], said[2], said[1]]);
    expect(rowsOf(scope, { may: ({ chat }) => chat === null, limit: 2 })).toEqual([said[8], said[7]]);
    const scanned: string[] = [];
    for (let below: number | null = null; ;) {
      const step = reader.scan({ scope, below, limit: 4 });
      scanned.push(...step.flatMap(({ text }) => (text === '' ? [] : [text])));
      below = step.at(-1)?.rowid ?? null;
      if (step.length < 4) break;
    }
    expect(scanned).toEqual(['Undated', ...said.map((_row, at) => `Code ${at}`).toReversed()]);
  });

  test('hundreds of them and of a chat are walked once each', () => {
    start(columns);
    const expected: number[] = [];
    for (let at = 0; at < 700; at += 1) {
      const message = { from: CODES, text: `Text ${at}`, date: AT + ((at * 377) % 700) * 1000 };
      expected.push(at % 5 < 2 ? store.arriveRowFirst(message) : store.arrive(message));
    }
    const dateOf = (rowid: number) => (expected.indexOf(rowid) * 377) % 700;
    const paged: number[] = [];
    for (let after: MessagePlace | null = null; ;) {
      const page = list(reader.scopeOf(CODES), { limit: 90, after });
      paged.push(...page.rows.map(({ row }) => row.rowid));
      after = page.next;
      if (after === null) break;
    }
    expect(paged).toEqual(expected.toSorted((a, b) => dateOf(b) - dateOf(a)));
  });
});

test('what is in no chat is found behind more messages to a group than are asked in one step', { timeout: 120_000 }, () => {
  start('26');
  const crew = { group: true, identifier: 'chat1', name: 'Crew', members: [ADA, BOB] };
  const alone = (minute: number) => store.oneTimeCode(`Code ${minute}`, { from: ADA, date: AT + minute * 60_000 });
  const [oldest, old, newest] = [alone(1), store.arrive({ from: ADA, text: 'In its chat', date: AT + 120_000 }), alone(900_000)];
  store.arriveMany(Array.from({ length: 20_100 }, (_, nth) => ({ from: ADA, chat: crew, text: `Group ${nth}`, date: AT + (10 + nth) * 60_000 })));
  const scope = reader.scopeOf(ADA);
  expect(rowsOf(scope)).toEqual([newest, old, oldest]);
  const first = list(scope, { limit: 1 });
  expect(rowsOf(scope, { after: first.next })).toEqual([old, oldest]);
});

test('an edit shows what it says now and what it said; an unsend is marked; spam is nowhere', () => {
  start('26');
  const edited = store.arrive({ from: ADA, text: 'First' });
  store.edit(edited, 'Second');
  expect(reader.detail(edited)).toMatchObject({ text: 'Second', versions: [{ text: 'First' }], isUnsent: false });
  const unsent = store.arrive({ from: ADA, text: 'Taken back' });
  store.unsend(unsent);
  expect(reader.find({ rowid: unsent })).toMatchObject({ excluded: 'unsent' });
  expect(reader.detail(unsent)).toMatchObject({ text: '', isUnsent: true });
  const spam = store.spamChat();
  expect(reader.find({ rowid: spam })).toBeNull();
  expect(reader.chats({ below: null, limit: 10, may: () => true }).chats).toHaveLength(1);
  const other = store.arrive({ from: BOB, text: 'With a file', attachments: ['a.pdf', 'b.pdf'] });
  store.tapback(other, { type: 2001 });
  store.tapback(edited, { type: 2003, style: 'bare' });
  const each = [edited, unsent, other];
  expect([...reader.details([...each, 999])]).toEqual(each.map((rowid) => [rowid, reader.detail(rowid)]));
  expect(reader.detail(other)).toMatchObject({ reactions: [{ kind: 'liked' }], attachments: [{}, {}] });
  store.removeTapback(store.tapback(edited, { type: 2003, style: 'bare' }));
  const removed = store.tapback(edited);
  store.removeTapback(removed);
  expect(reader.detail(edited)?.reactions).toEqual([]);
});
