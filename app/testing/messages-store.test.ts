import { parseBuffer } from 'bplist-parser';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findCanary } from './canary.ts';
import { CHAT_COLUMNS, MessagesStore, type ChatColumns } from './messages-store.ts';
import { schemaText } from './schema.ts';
import { tempFolder, type TempFolder } from './temp.ts';
import { encodeAttributedBody } from './typedstream.ts';

let folder: TempFolder;
let store: MessagesStore | undefined;
beforeEach(() => {
  folder = tempFolder();
});
afterEach(() => {
  if (store?.isOpen === true) store.close();
  store = undefined;
  folder.remove();
});

function open(columns: ChatColumns = '26'): MessagesStore {
  store = MessagesStore.create(folder.at('Messages', 'chat.db'), { columns });
  return store;
}

const joined = (of: MessagesStore, rowid: number): number => of.value<number>('SELECT COUNT(*) FROM chat_message_join WHERE message_id = ?', rowid) ?? 0;

describe.each(CHAT_COLUMNS)('columns of %s', (columns) => {
  test('are those of the list, and a message arrives', () => {
    const messages = open(columns);
    const lists = JSON.parse(schemaText('chat-db-columns.json')) as Record<string, Record<string, string[]>>;
    for (const [table, list] of Object.entries(lists[columns] ?? {})) {
      expect([...messages.columns(table)], table).toEqual(list.map((column) => column.split(' ', 1)[0]));
    }
    expect(messages.db.pragma('auto_vacuum', { simple: true })).toBe(2);
    const rowid = messages.arrive({ from: '+15550123', attachments: ['a.jpeg'] });
    const row = messages.get('SELECT m.attributedBody AS body, m.cache_has_attachments AS has, CAST(m.date AS TEXT) AS date, h.id FROM message m JOIN handle h ON h.ROWID = m.handle_id WHERE m.ROWID = ?', rowid);
    expect(row).toMatchObject({ id: '+15550123', has: 1 });
    const age = columns === '10.11' ? Date.now() / 1000 - 978_307_200 - Number(row?.['date']) : Date.now() / 1000 - 978_307_200 - Number(row?.['date']) / 1e9;
    expect(Math.abs(age)).toBeLessThan(60);
    expect(joined(messages, rowid)).toBe(1);
    expect(messages.value('SELECT COUNT(*) FROM message_attachment_join')).toBe(1);
    const gone = messages.arrive();
    messages.recoverableDelete(gone);
    expect(joined(messages, gone)).toBe(0);
    expect(messages.value('SELECT COUNT(*) FROM message WHERE ROWID = ?', gone)).toBe(messages.has('chat_recoverable_message_join') ? 1 : 0);
    expect(messages.value('SELECT COUNT(*) FROM deleted_messages')).toBe(messages.has('chat_recoverable_message_join') ? 0 : 1);
    expect(messages.db.pragma('foreign_key_check')).toEqual([]);
  });
});

test.each(CHAT_COLUMNS)('every operation runs with the columns of %s', (columns) => {
  const messages = open(columns);
  const rowid = messages.arrive();
  messages.joinAlso(rowid, { group: true, identifier: 'chat5' });
  messages.joinLater(messages.arriveAttachmentsFirst());
  messages.sent();
  messages.sentEcho();
  for (const kind of ['added', 'removed', 'renamed', 'left', 'photo', 'location', 'audio-kept', 'facetime', 'background'] as const) messages.groupEvent(kind);
  const link = messages.linkTwin();
  expect(link.balloon).toBe(link.text + 1);
  const self = messages.selfChatTwin();
  expect(messages.all('SELECT is_from_me AS mine FROM message WHERE ROWID IN (?, ?) ORDER BY ROWID', self.sent, self.received)).toEqual([{ mine: 1 }, { mine: 0 }]);
  messages.scheduled();
  if (messages.has('message', 'associated_message_guid')) {
    messages.removeTapback(messages.tapback(rowid, { fromMe: true, emoji: '\u{1F389}', type: 2006 }));
    messages.sticker(rowid);
    messages.pollVote(rowid);
    messages.edit(rowid);
  }
  messages.unsend(rowid);
  messages.setChat(rowid, { filtered: 2, blackholed: true, name: 'Renamed' });
  messages.markRead(rowid);
  messages.remove(rowid);
  messages.db.exec('DELETE FROM chat');
  expect(messages.db.pragma('foreign_key_check')).toEqual([]);
  expect(messages.value('SELECT COUNT(*) FROM deleted_messages')).toBeGreaterThan(0);
});

test('on macOS 26 the text is only in the body, and chats are named any', () => {
  const messages = open();
  const rowid = messages.arrive({ text: 'Haha yeah \u{1F603}', from: 'friend@example.org' });
  expect(messages.get('SELECT text, attributedBody AS body FROM message WHERE ROWID = ?', rowid)).toEqual({ text: null, body: encodeAttributedBody('Haha yeah \u{1F603}') });
  expect(messages.get('SELECT guid, style FROM chat')).toEqual({ guid: 'any;-;friend@example.org', style: 45 });
  messages.arrive({ text: 'x'.repeat(40_000), body: 'mutable', service: 'SMS', chat: { guidStyle: 'service' } });
  messages.arrive({ text: null });
  messages.arrive({ text: 'plain', body: 'none' });
  expect(messages.value('SELECT MAX(length(attributedBody)) FROM message')).toBeGreaterThan(40_000);
  expect(messages.value(`SELECT COUNT(*) FROM chat WHERE guid = 'SMS;-;+15550100'`)).toBe(1);
});

test('triggers of the store fire: room names, services, index metrics, tombstones', () => {
  const messages = open();
  const rowid = messages.arrive({ service: 'RCS', chat: { group: true, identifier: 'chat77', name: 'Team', members: ['+1555001', '+1555002'] } });
  expect(messages.value('SELECT cache_roomnames FROM message WHERE ROWID = ?', rowid)).toBe('chat77');
  expect(messages.get('SELECT service FROM chat_service')).toEqual({ service: 'RCS' });
  expect(messages.value('SELECT pending_count FROM index_state_metrics')).toBe(1);
  expect(messages.value('SELECT COUNT(*) FROM chat_handle_join')).toBe(2);
  const guid = messages.guid(rowid);
  expect(messages.deleteNewest()).toBe(rowid);
  expect(messages.get('SELECT guid FROM deleted_messages')).toEqual({ guid });
  expect(messages.sequence('message')).toBe(rowid);
});

test('rows may come before their joins', () => {
  const messages = open();
  const first = messages.arriveRowFirst({ from: '+15550199' });
  expect(joined(messages, first)).toBe(0);
  messages.joinLater(first);
  expect(joined(messages, first)).toBe(1);
  expect(messages.value('SELECT chat_identifier FROM chat')).toBe('+15550199');
  const waiting = messages.arriveBeforeAttachments();
  expect(messages.value('SELECT cache_has_attachments FROM message WHERE ROWID = ?', waiting)).toBe(1);
  expect(messages.value('SELECT COUNT(*) FROM attachment')).toBe(0);
  messages.attachLater(waiting);
  expect(messages.value('SELECT COUNT(*) FROM attachment')).toBe(1);
  expect(joined(messages, messages.oneTimeCode())).toBe(0);
  const open1 = messages.notFinished();
  expect(messages.get('SELECT is_finished, attributedBody FROM message WHERE ROWID = ?', open1)).toEqual({ is_finished: 0, attributedBody: null });
  messages.finish(open1);
  expect(messages.value('SELECT is_finished FROM message WHERE ROWID = ?', open1)).toBe(1);
});

test('reactions, edits and unsends look as documented', () => {
  const messages = open();
  const rowid = messages.arrive({ text: 'Original' });
  const guid = messages.guid(rowid);
  const tapback = messages.tapback(rowid, { type: 2003 });
  expect(messages.get('SELECT associated_message_guid AS g, associated_message_type AS t FROM message WHERE ROWID = ?', tapback)).toEqual({ g: `p:0/${guid}`, t: 2003 });
  const removal = messages.removeTapback(tapback);
  expect(messages.value('SELECT associated_message_type FROM message WHERE ROWID = ?', removal)).toBe(3003);
  expect(messages.value('SELECT COUNT(*) FROM message WHERE ROWID = ?', tapback)).toBe(0);
  expect(messages.value('SELECT COUNT(*) FROM message WHERE ROWID = ?', rowid)).toBe(1);

  messages.edit(rowid, 'Second');
  const info = messages.value<Buffer>('SELECT message_summary_info FROM message WHERE ROWID = ?', rowid) as Buffer;
  const [edited] = parseBuffer<{ ep: number[]; ec: Record<string, { t: Buffer; d: number }[]> }>(info);
  expect(edited.ep).toEqual([0]);
  expect(edited.ec['0']?.map((version) => version.t.includes('Original'))).toEqual([true, false]);
  expect(messages.value('SELECT date_edited FROM message WHERE ROWID = ?', rowid)).toBeGreaterThan(0);

  messages.unsend(rowid);
  expect(messages.get('SELECT is_empty, attributedBody FROM message WHERE ROWID = ?', rowid)).toEqual({ is_empty: 1, attributedBody: null });
});

test('back-fill and re-landed rows have new rowids and guids and old dates', () => {
  const messages = open();
  const rowid = messages.arrive({ attachments: ['x.jpeg'] });
  const old = messages.icloudBackfill(5);
  expect(Math.min(...old)).toBeGreaterThan(rowid);
  const newest = messages.value<number>('SELECT MAX(date) FROM message WHERE ROWID > ?', rowid) ?? 0;
  expect(newest / 1e9).toBeLessThan(Date.now() / 1000 - 978_307_200 - 89 * 86_400);
  const copy = messages.relanded(rowid);
  expect(messages.guid(copy)).not.toBe(messages.guid(rowid));
  expect(messages.value('SELECT (SELECT date FROM message WHERE ROWID = ?) - (SELECT date FROM message WHERE ROWID = ?)', copy, rowid)).toBe(3_000_000_000);
  expect(joined(messages, copy)).toBe(1);
});

test('special handles and services are kept as spelled', () => {
  const messages = open();
  for (const from of ['urn:biz:5A5A', '39781', 'friend@example.org', '+15550100(smsfp)', 'BANK']) messages.arrive({ from, service: 'rcs' });
  expect(messages.all('SELECT DISTINCT service FROM handle')).toEqual([{ service: 'rcs' }]);
  expect(messages.value('SELECT COUNT(*) FROM handle')).toBe(5);
  expect(messages.value('SELECT is_filtered FROM chat c JOIN chat_message_join j ON j.chat_id = c.ROWID WHERE j.message_id = ?', messages.spamChat())).toBe(2);
  expect(messages.value('SELECT is_blackholed FROM chat c JOIN chat_message_join j ON j.chat_id = c.ROWID WHERE j.message_id = ?', messages.blackholed())).toBe(1);
});

test('marks stand in texts and file names', () => {
  const messages = open();
  messages.arrive({ attachments: ['a.jpeg'] });
  expect(findCanary(messages.value<Buffer>('SELECT attributedBody FROM message') as Buffer)).toBe('message-text');
  expect(findCanary(messages.value<string>('SELECT transfer_name FROM attachment') ?? '')).toBe('message-attachment');
});
