import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findCanary } from '../../testing/canary.ts';
import { MessagesStore, type Associated, type ChatColumns, type Message } from '../../testing/messages-store.ts';
import { replaceStore } from '../../testing/store-surgery.ts';
import { tempFolder, type TempFolder } from '../../testing/temp.ts';
import type { MessageRow } from '../occurrence.ts';
import { ChatDatabase, type ChatDatabaseOptions } from './chat-database.ts';

let folder: TempFolder;
let store: MessagesStore;
let reader: ChatDatabase;
beforeEach(() => {
  folder = tempFolder();
  start('26');
});
afterEach(() => {
  reader.close();
  store.close();
  folder.remove();
});

function start(columns: ChatColumns, options: Partial<ChatDatabaseOptions> = {}): void {
  store = MessagesStore.create(folder.at(crypto.randomUUID(), 'chat.db'), { columns });
  reopen(options);
}

function reopen(options: Partial<ChatDatabaseOptions> = {}): void {
  reader = new ChatDatabase({ path: store.path, region: 'US', ...options });
  reader.open();
}

const row = (rowid: number): MessageRow => reader.pick([rowid])[0]!;
const kind = (rowid: number) => row(rowid).excluded;

describe.each(MessagesStore.versions)('columns of %s', (columns) => {
  test('an arrival reads whole', () => {
    start(columns, { names: (handle) => (handle === '+15550101234' ? 'Ada' : null) });
    const date = Date.UTC(2026, 2, 1, 10, 42, 7);
    const first = store.arrive();
    const rowid = store.arrive({
      from: '+15550101234', service: 'RCS', date, attachments: ['a.jpeg', 'b.heic'], threadOriginator: store.guid(first),
      chat: { group: true, name: 'Walk', members: ['+15550101234', 'bob@example.org'] },
    });
    const found = reader.read(first, 500);
    expect(found).toMatchObject({ through: rowid, head: rowid });
    expect(found.rows).toEqual([
      {
        store: 'messages', rowid, guid: store.guid(rowid), sender: '+15550101234', handle: '+15550101234', name: 'Ada', excluded: null, incomplete: false,
        date, box: 2, hasAttachments: true, attachmentCount: 2, service: 'RCS',
        chat: { id: 2, guid: expect.stringMatching(/^(any|RCS);\+;chat\d+$/), name: 'Walk', isGroup: true, participantCount: 2 },
        // `thread_originator_guid` came with macOS 11.
        replyTo: ['10.11', '10.13', '10.15'].includes(columns) ? null : store.guid(first),
        textHash: null, isLinkBalloon: false, hasLink: false,
      },
    ]);
    expect(reader.newestDate(2, rowid)).toBe(date);
    expect(reader.page({ senders: senders('+15550101234'), after: 0, upTo: rowid, limit: 5 }).rows.map((one) => one.rowid)).toEqual([rowid]);
    expect(reader.backtest(senders('+15550101234'), date, 3)).toMatchObject({ count: 1 });
    expect(reader.findChats('Walk')).toHaveLength(1);
  });
});

const set = (columns: Message['set']): Message => ({ ...(columns && { set: columns }) });
const tapback = (options: Associated) => () => store.tapback(store.arrive(), options);

// Each row names its source in data-formats/chat-db.
test.each<[string, string | null, () => number]>([
  ['7 normal', null, () => store.arrive()],
  ['7 app balloon 2', null, () => store.arrive(set({ associated_message_type: 2 }))],
  ['7 app balloon 3', null, () => store.arrive(set({ associated_message_type: 3 }))],
  ['7 associated type NULL', null, () => store.arrive(set({ associated_message_type: null, item_type: null }))],
  ['6 own', 'sent', () => store.sent()],
  ['6 own with the other party as handle', 'sent', () => store.sent({ set: { handle_id: 1 } })],
  ['4 echo', 'sent', () => store.sentEcho()],
  ...Array.from({ length: 8 }, (_, i): [string, string, () => number] => [`7 tapback ${2000 + i}`, 'tapback', tapback({ type: 2000 + i })]),
  ['7 tapback named bare', 'tapback', tapback({ style: 'bare' })],
  ['7 own tapback', 'sent', tapback({ fromMe: true })],
  ...Array.from({ length: 8 }, (_, i): [string, string, () => number] => [`7 removal ${3000 + i}`, 'tapback', tapback({ type: 3000 + i })]),
  ['7 removal', 'tapback', () => store.removeTapback(store.tapback(store.arrive()))],
  ['7 sticker', 'sticker', () => store.sticker(store.arrive())],
  ['7 poll vote', 'poll', () => store.pollVote(store.arrive())],
  ['7 associated kind not known', 'system', tapback({ type: 5000 })],
  ...(['added', 'removed', 'renamed', 'name-removed', 'left', 'photo', 'photo-removed', 'background', 'location', 'audio-kept', 'facetime'] as const).map(
    (event): [string, string, () => number] => [`7 group event ${event}`, 'group-notice', () => store.groupEvent(event)],
  ),
  ['7 system', 'system', () => store.arrive(set({ is_system_message: 1 }))],
  ['7 service', 'system', () => store.arrive(set({ is_service_message: 1 }))],
  ['7 empty', 'system', () => store.arrive({ text: null, set: { is_empty: 1 } })],
  ['7 empty and still being received', null, () => store.arrive({ text: null, set: { is_empty: 1, is_finished: 0 } })],
  ['7 Send Later pending', 'scheduled', () => store.scheduled()],
  ['7 Send Later sent', 'sent', () => store.scheduled({ set: { schedule_state: 2 } })],
  ['8 unsent', 'unsent', () => {
    const rowid = store.arrive();
    store.unsend(rowid);
    return rowid;
  }],
  ['8 unsent on 26: only the date of an edit and no text', 'unsent', () => store.arrive({ text: null, set: { date_edited: 1 } })],
  ['8 unsent with an empty body', 'unsent', () => store.arrive({ text: '', set: { date_retracted: 1 } })],
  ['8 edited before it was seen', null, () => {
    const rowid = store.arrive();
    store.edit(rowid);
    return rowid;
  }],
  ['8 edited with a photo and no text', null, () => store.arrive({ text: null, attachments: ['a.jpeg'], set: { date_edited: 1 } })],
  ['9 in Recently Deleted', 'deleted', () => {
    const rowid = store.arrive();
    store.recoverableDelete(rowid);
    return rowid;
  }],
  ['10 known', null, () => store.spamChat({}, 0)],
  ['10 unknown sender', null, () => store.spamChat({}, 1)],
  ['10 spam', 'spam', () => store.spamChat()],
  ['10 promotions', null, () => store.spamChat({}, 3)],
  ['10 transactions', null, () => store.spamChat({}, 4)],
  ['10 blackholed', 'spam', () => store.blackholed()],
  ['10 message.is_spam', 'spam', () => store.arrive(set({ is_spam: 1 }))],
  ['6 no handle', 'no-sender', () => store.arrive(set({ handle_id: 0 }))],
  ['6 handle row missing', 'no-sender', () => store.arrive(set({ handle_id: 999 }))],
  ['6 short code', null, () => store.arrive({ from: '39781', service: 'SMS' })],
])('chat-db %s: %s', (_source, excluded, make) => {
  expect(kind(make())).toBe(excluded);
});

test('chat-db 10: filter_action of macOS 27', () => {
  store.db.exec('ALTER TABLE message ADD COLUMN filter_action INTEGER DEFAULT 0');
  store.close();
  store = MessagesStore.open(store.path);
  reader.close();
  reader.open();
  expect([0, 1, 2, 3, 4].map((action) => kind(store.arrive(set({ filter_action: action }))))).toEqual([null, null, 'spam', null, null]);
});

describe('incomplete rows (chat-db 4)', () => {
  test('join comes later', () => {
    const rowid = store.arriveRowFirst({ attachments: ['a.jpeg'] });
    expect(row(rowid)).toMatchObject({ incomplete: true, chat: null, box: null, excluded: null, hasAttachments: true, attachmentCount: 0 });
    store.joinLater(rowid, { attachments: ['a.jpeg'] });
    expect(row(rowid)).toMatchObject({ incomplete: false, box: 1, attachmentCount: 1 });
  });
  test('attachments come later', () => {
    const rowid = store.arriveBeforeAttachments();
    expect(row(rowid)).toMatchObject({ incomplete: true, hasAttachments: true });
    store.attachLater(rowid);
    expect(row(rowid)).toMatchObject({ incomplete: false, attachmentCount: 1 });
  });
  test('is_finished comes later', () => {
    const rowid = store.notFinished();
    expect(row(rowid)).toMatchObject({ incomplete: true, excluded: null });
    store.finish(rowid);
    expect(row(rowid)).toMatchObject({ incomplete: false, excluded: null });
  });
  test('a one-time code never gets a chat, a deleted row waits for none', () => {
    expect(row(store.oneTimeCode())).toMatchObject({ incomplete: true, excluded: null, sender: '39781' });
    const rowid = store.arrive();
    store.recoverableDelete(rowid);
    expect(row(rowid).incomplete).toBe(false);
  });
  test('hidden attachments are neither counted nor waited for', () => {
    const rowid = store.arrive({ attachments: ['a.jpeg', 'b.jpeg'] });
    store.run('UPDATE attachment SET hide_attachment = 1');
    expect(row(rowid)).toMatchObject({ incomplete: false, hasAttachments: false, attachmentCount: 0 });
  });
});

describe('dates (chat-db 3)', () => {
  test.each([
    [0n, null], [null, null], [530_011_774_000_000_000n, 1_508_318_974_000], [500_000_000n, Date.UTC(2016, 10, 5, 0, 53, 20)],
    [1_000_000_000_000_001n, 979_307_200_000], [794_000_000_123_999_999n, 1_772_307_200_123], [9_223_372_036_854_775_807n, 978_307_200_000 + 9_223_372_036_854],
    [999_999_999_999_999n, null],
  ])('%s', (date, ms) => {
    expect(row(store.arrive(set({ date }))).date).toBe(ms);
  });
  test('both units in one store: pages, floors and newest date agree', () => {
    const ages = [4000, 30, 20, 10, 1].map((days) => Date.now() - days * 86_400_000);
    const rowids = ages.map((date, index) => store.arrive({ date, ...(index < 2 ? set({ date: BigInt(Math.floor(date / 1000) - 978_307_200) }) : {}) }));
    const undated = store.arrive({ date: null });
    store.db.exec('UPDATE chat_message_join SET message_date = (SELECT date FROM message WHERE ROWID = message_id)');
    const request = { senders: senders('+15550100'), after: 0, upTo: undated, limit: 10, notBefore: ages[1]! - 1000 };
    expect(reader.page(request).rows.map((one) => one.rowid)).toEqual([...rowids.slice(1), undated]);
    expect(reader.skippedBefore(request)).toBe(true);
    expect(reader.skippedBefore({ ...request, notBefore: ages[0]! - 1000 })).toBe(false);
    expect(reader.backtest(request.senders, ages[1]! - 1000, 2)).toMatchObject({ count: 4, examples: [{ rowid: rowids[4] }, { rowid: rowids[3] }] });
    expect(reader.newestDate(1, undated)).toBe(row(rowids[4]!).date);
    expect(reader.newestDate(1, rowids[1]!)).toBe(row(rowids[1]!).date);
    expect(reader.newestDate(77, undated)).toBeNull();
  });
});

describe('handles (chat-db 6)', () => {
  test.each([
    ['+442079460958', '+442079460958', '+442079460958'], ['Ada@Example.org', 'ada@example.org', 'ada@example.org'], ['19565179045', '+19565179045', '+19565179045'],
    ['MYBANK', 'mybank', 'MYBANK'], ['urn:biz:6C2F', 'urn:biz:6c2f', 'urn:biz:6C2F'], ['+15550100(smsfp)', '+15550100', '+15550100'], ['39781', '39781', '39781'],
  ])('%s', (id, sender, handle) => {
    expect(row(store.arrive({ from: id }))).toMatchObject({ sender, handle });
  });
  test('one number by three services is one sender and one participant; new rows are found', () => {
    const group = { group: true, identifier: 'chat100', members: ['+15550100'] };
    const all = ['iMessage', 'SMS'].map((service) => store.arrive({ service, chat: group }));
    const found = senders('+15550100');
    const page = () => reader.page({ senders: found, after: 0, upTo: reader.head(), limit: 10 }).rows.map((one) => one.rowid);
    expect(page()).toEqual(all);
    all.push(store.arrive({ from: '+15550100(smsft)', service: 'RCS' }));
    expect(page()).toEqual(all);
    store.run('INSERT OR IGNORE INTO chat_handle_join SELECT 1, ROWID FROM handle');
    expect(row(all[0]!).chat).toMatchObject({ isGroup: true, participantCount: 1 });
  });
});

describe('chats (chat-db 6)', () => {
  test('empty names are null, groups are told by style or guid', () => {
    expect(row(store.arrive({ chat: { name: '' } })).chat).toMatchObject({ name: null, isGroup: false, participantCount: 1 });
    const rowid = store.arrive({ chat: { group: true, identifier: 'chat7' } });
    store.run('UPDATE chat SET style = NULL WHERE ROWID = ?', row(rowid).box!);
    expect(row(rowid).chat).toMatchObject({ isGroup: true });
  });
  test('a message in two chats is one row, in the chat whose style fits, else the smallest', () => {
    const rowid = store.arrive({ chat: { group: true, identifier: 'chat7', name: 'Seven' } });
    store.joinAlso(rowid, { identifier: '+15550100' });
    expect(reader.read(0, 10).rows).toHaveLength(1);
    expect(row(rowid).chat?.name).toBe('Seven');
    const single = store.arrive({ from: 'bob@example.org' });
    store.joinAlso(single, { identifier: 'other@example.org' });
    expect(row(single).chat?.guid).toBe('any;-;bob@example.org');
  });
  test('found by guid, by name and by a guid of before macOS 26', () => {
    store.arrive({ chat: { group: true, identifier: 'chat7', name: 'Walk' } });
    store.arrive({ chat: { group: true, identifier: 'chat8', name: 'Walk' } });
    store.arrive({ from: '+15550102' });
    expect(reader.findChats('any;+;chat7').map((chat) => chat.guid)).toEqual(['any;+;chat7']);
    expect(reader.findChats('Walk')).toHaveLength(2);
    expect(reader.findChats('iMessage;-;+15550102').map((chat) => chat.guid)).toEqual(['any;-;+15550102']);
    expect([reader.findChats('walk'), reader.findChats(''), reader.findChats('iMessage;+;+15550102')]).toEqual([[], [], []]);
    expect(reader.chatNames(2)).toEqual(['any;-;+15550102', 'Walk']);
    expect(reader.chatNames(2, (_members, guid) => guid !== 'any;-;+15550102')[0]).toBe('Walk');
    expect(reader.chatNames(2, () => false)).toEqual([]);
  });
});

describe('twins (chat-db 4, ruling 6)', () => {
  const t0 = Date.UTC(2026, 2, 1);
  const balloon = (date: number, text: string, more: Message = {}) =>
    store.arrive({ ...more, date, text, set: { balloon_bundle_id: 'com.apple.messages.URLBalloonProvider' } });

  test('a balloon after the text that holds its link', () => {
    const pair = store.linkTwin();
    expect([kind(pair.text), kind(pair.balloon)]).toEqual([null, 'twin']);
    expect(row(pair.balloon)).toMatchObject({ isLinkBalloon: true, hasLink: true, textHash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });
  test.each<[string, string | null, () => number]>([
    ['89 s later', 'twin', () => balloon(t0 + 89_000, 'https://example.org/page')],
    ['91 s later', null, () => balloon(t0 + 91_000, 'https://example.org/page')],
    ['without text', 'twin', () => balloon(t0 + 1000, '')],
    ['with another link', null, () => balloon(t0 + 1000, 'https://example.com/')],
    ['from another sender', null, () => balloon(t0 + 1000, 'https://example.org/page', { from: '+15550102', chat: { group: true, identifier: 'chat5' } })],
    ['in another chat', null, () => balloon(t0 + 1000, 'https://example.org/page', { chat: { identifier: 'elsewhere' } })],
    ['by SMS', 'twin', () => balloon(t0 + 1000, 'https://www.example.org/page/', { service: 'SMS' })],
    ['after another text of the sender', null, () => (store.arrive({ date: t0 + 500, text: 'so' }), balloon(t0 + 1000, 'https://example.org/page'))],
  ])('balloon %s: %s', (_case, excluded, make) => {
    store.arrive({ date: t0, text: 'See example.org/page' });
    // The same conversation by another service is another handle row; the chat is told by its guid.
    expect(kind(make())).toBe(excluded);
  });
  test('a balloon alone rings', () => expect(kind(balloon(t0, 'https://example.org/'))).toBeNull());

  test.each<[string, string | null, Message]>([
    ['same text 5 s later', 'twin', { date: t0 + 5000 }],
    ['same text 3 s earlier', 'twin', { date: t0 - 3000 }],
    ['same text 6 s later', null, { date: t0 + 6000 }],
    ['other text', null, { date: t0, text: 'no' }],
    ['plain copy only', 'twin', { date: t0, body: 'none' }],
    ['mutable body', 'twin', { date: t0, body: 'mutable' }],
    ['other sender', null, { date: t0, from: '+15550102', chat: { identifier: '+15550100' } }],
    ['other chat', null, { date: t0, chat: { group: true, identifier: 'chat9' } }],
  ])('copy: %s: %s', (_case, excluded, message) => {
    store.arrive({ date: t0, text: 'yes 😀' });
    expect(kind(store.arrive({ text: 'yes 😀', ...message }))).toBe(excluded);
  });
  test('a re-landed row, asked at any time', () => {
    const first = store.arrive();
    const copy = store.relanded(first);
    for (let i = 0; i < 3; i += 1) store.arrive({ text: `later ${i}` });
    expect([kind(first), kind(copy)]).toEqual([null, 'twin']);
  });
  test('photos without text are no copies of each other', () => {
    const rows = [0, 1].map((n) => store.arrive({ date: t0 + n, text: null, attachments: ['a.jpeg'] }));
    expect(rows.map(kind)).toEqual([null, null]);
  });
  test('a self chat rings until own handles are named', () => {
    const pair = store.selfChatTwin();
    expect([kind(pair.sent), kind(pair.received)]).toEqual(['sent', null]);
    reader.close();
    reopen({ ownHandles: ['E:Me@example.org'] });
    expect(kind(pair.received)).toBe('twin');
    // Peers 35: an ordinary direct chat is no self chat.
    expect(kind(store.arrive())).toBeNull();
  });
});

test('no text, file name or path in what is handed over', () => {
  for (let i = 0; i < 3; i += 1) store.relanded(store.arrive({ attachments: ['a.jpeg'] }));
  store.linkTwin();
  store.tapback(1);
  expect(findCanary(JSON.stringify(reader.read(0, 100)))).toBeNull();
});

describe('the store itself', () => {
  test('head counts deleted rows, check names a row, pick leaves out what left', () => {
    const rowids = store.arriveMany([{}, {}, {}]);
    const check = reader.checkAt(2);
    expect(check).toMatch(/^[0-9a-f]{8}$/);
    store.deleteNewest();
    expect(reader.head()).toBe(3);
    expect(reader.read(2, 10)).toEqual({ rows: [], through: 3, head: 3 });
    expect(reader.read(0, 1)).toMatchObject({ through: 1, head: 3 });
    expect(reader.checkAt(3)).toBe('00000000');
    expect(reader.pick([...rowids, 99]).map((one) => one.rowid)).toEqual([1, 2]);
    expect(reader.checkAt(2)).toBe(check);
  });
  test('data_version moves with commits; a replaced file is seen and is another store', () => {
    store.arrive();
    const version = reader.dataVersion();
    expect(reader.dataVersion()).toBe(version);
    store.arrive();
    expect(reader.dataVersion()).not.toBe(version);
    const [id, check] = [reader.storeId(), reader.checkAt(1)];
    expect(reader.replaced()).toBe(false);
    store.close();
    replaceStore(store.path, (path) => {
      const other = MessagesStore.create(path);
      other.arrive({ from: 'new@example.org' });
      other.close();
    });
    store = MessagesStore.open(store.path);
    expect(reader.replaced()).toBe(true);
    reader.close();
    reader.open();
    expect(reader.replaced()).toBe(false);
    expect(reader.storeId()).not.toBe(id);
    expect(reader.checkAt(1)).not.toBe(check);
    expect(row(1).sender).toBe('new@example.org');
  });
});

function senders(...addresses: string[]) {
  return { addresses: new Set(addresses), domains: new Set<string>(), parents: new Set<string>() };
}
