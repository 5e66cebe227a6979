import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { encodePlist, Real } from './binary-plist.ts';
import { canary } from './canary.ts';
import { CHAT_COLUMNS, chatSchema, CLIENT_VERSIONS, type ChatColumns } from './chat-variants.ts';
import { MessageRows } from './message-rows.ts';
import { newGuid, type ChatInput, type Message } from './message-values.ts';
import { SqliteStore, type Row, type StoreOptions } from './sqlite-store.ts';
import { encodeAttributedBody, type BodyForm } from './typedstream.ts';

export type { ChatInput, Message } from './message-values.ts';
export { appleTime } from './message-values.ts';
export { CHAT_COLUMNS, type ChatColumns } from './chat-variants.ts';

export interface NewMessagesStore extends StoreOptions {
  readonly columns?: ChatColumns;
  /** With the triggers that call Apple's functions (default); this store registers stand-ins for them. */
  readonly appleTriggers?: boolean;
}

/** Kinds of group events with their `item_type` and `group_action_type` (data-formats/chat-db 7). */
const GROUP_EVENTS = {
  added: [1, 0], removed: [1, 1], renamed: [2, 0], 'name-removed': [2, 0], left: [3, 0], photo: [3, 1], 'photo-removed': [3, 2], background: [3, 4],
  location: [4, 0], 'audio-kept': [5, 0], facetime: [6, 0],
} as const;
export type GroupEvent = keyof typeof GROUP_EVENTS;

export interface Associated {
  /** Handle of who reacts; default: the sender of the message. */
  readonly from?: string;
  readonly fromMe?: boolean;
  /** 2000 loved to 2007 sticker. */
  readonly type?: number;
  /** How the target is named: `p:0/GUID` (default), `bp:GUID`, or bare. */
  readonly style?: 'part' | 'balloon' | 'bare';
  readonly emoji?: string;
}

const TAPBACK_WORDS = ['Loved', 'Liked', 'Disliked', 'Laughed at', 'Emphasized', 'Questioned', 'Reacted to', 'Reacted with a sticker to'];
const URL_BALLOON = 'com.apple.messages.URLBalloonProvider';

/** Messages' store and what its agents do to it. Each operation is one transaction unless it says otherwise. */
export class MessagesStore extends MessageRows {
  static create(path: string, options: NewMessagesStore = {}): MessagesStore {
    const columns = options.columns ?? '26';
    mkdirSync(dirname(path), { recursive: true });
    SqliteStore.build(path, chatSchema(columns, options.appleTriggers ?? true), 2);
    const store = new MessagesStore(path, options);
    store.transaction(() => {
      const properties: [string, string][] = [
        ['counter_in_all', '0'], ['counter_out_all', '0'], ['counter_in_lifetime', '0'], ['counter_out_lifetime', '0'], ['counter_last_reset', '0'],
        ['_ClientVersion', String(CLIENT_VERSIONS[columns])], ['__CSDBRecordSequenceNumber', '1'],
      ];
      for (const [key, value] of properties) store.insert('_SqliteDatabaseProperties', { key, value });
      if (store.has('index_state_metrics')) store.insert('index_state_metrics', { id: 1 });
    });
    return store;
  }

  static open(path: string, options: StoreOptions = {}): MessagesStore {
    return new MessagesStore(path, options);
  }

  static readonly versions = CHAT_COLUMNS;

  /** A message arrives. Gives its rowid. */
  arrive(message: Message = {}): number {
    return this.transaction(() => this.writeMessage(message));
  }

  arriveMany(messages: readonly Message[]): number[] {
    return this.transaction(() => messages.map((message) => this.writeMessage(message)));
  }

  /** The row is there, its join and attachments are not. Give the same message to `joinLater`. */
  arriveRowFirst(message: Message = {}): number {
    return this.transaction(() => this.messageRow(message));
  }

  joinLater(rowid: number, message: Message = {}): void {
    this.transaction(() => {
      this.joinRow(this.chatRow(this.#likeRow(rowid, message)), rowid);
      this.attachmentRows(rowid, message.attachments ?? []);
    });
  }

  /** Row and join are there and `cache_has_attachments` is set; the attachment rows come with `attachLater`. */
  arriveBeforeAttachments(message: Message = {}): number {
    return this.transaction(() => {
      const full = { attachments: ['IMG_0001.jpeg'], ...message };
      const rowid = this.messageRow(full);
      this.joinRow(this.chatRow(full), rowid);
      return rowid;
    });
  }

  attachLater(rowid: number, names: readonly string[] = ['IMG_0001.jpeg']): void {
    this.transaction(() => this.attachmentRows(rowid, names));
  }

  /** Attachment rows before the join to a chat. */
  arriveAttachmentsFirst(message: Message = {}): number {
    return this.transaction(() => {
      const full = { attachments: ['IMG_0001.jpeg'], ...message };
      const rowid = this.messageRow(full);
      this.attachmentRows(rowid, full.attachments);
      return rowid;
    });
  }

  /** The message is joined to a second chat too. */
  joinAlso(rowid: number, chat: ChatInput): void {
    this.transaction(() => this.joinRow(this.chatRow(this.#likeRow(rowid, { chat })), rowid));
  }

  sent(message: Message = {}): number {
    return this.arrive({ ...message, fromMe: true });
  }

  /** An own message that another device sent: the row says received for a moment. Two transactions. */
  sentEcho(message: Message = {}): number {
    const rowid = this.arrive(message);
    this.transaction(() => this.update('message', rowid, { is_from_me: 1, is_sent: 1, is_read: 1, handle_id: 0 }));
    return rowid;
  }

  tapback(target: number, options: Associated = {}): number {
    const type = options.type ?? 2000;
    const said = this.value<string | null>('SELECT text FROM message WHERE ROWID = ?', target) ?? canary('message-text');
    const word = options.emoji === undefined ? (TAPBACK_WORDS[type - 2000] ?? 'Loved') : `Reacted ${options.emoji} to`;
    return this.#associate(target, type, `${word} “${said}”`, options);
  }

  /** The former tapback row goes, a removal row comes. */
  removeTapback(tapback: number): number {
    return this.transaction(() => {
      const row = this.get<{ type: number; guid: string }>('SELECT associated_message_type AS type, associated_message_guid AS guid FROM message WHERE ROWID = ?', tapback);
      if (row === undefined) throw new Error(`No message ${tapback}.`);
      const target = this.value<number>('SELECT ROWID FROM message WHERE guid = ?', row.guid.replace(/^(p:\d+\/|bp:)/, ''));
      if (target === undefined) throw new Error('The tapback has no target.');
      const removal = this.#associate(target, row.type + 1000, `Removed a heart from “${canary('message-text')}”`, {});
      this.run('DELETE FROM message WHERE ROWID = ?', tapback);
      return removal;
    });
  }

  sticker(target: number, options: Associated = {}): number {
    return this.#associate(target, 1000, '\uFFFC', options);
  }

  pollVote(target: number, options: Associated = {}): number {
    return this.#associate(target, 4000, '\uFFFD', { style: 'bare', ...options });
  }

  /** A new version of a message: same row, history in `message_summary_info` (data-formats/chat-db 8). */
  edit(rowid: number, text = `Edited ${canary('message-text')}`, form: BodyForm = 'immutable'): void {
    this.transaction(() => {
      const before = this.value<Uint8Array | null>('SELECT attributedBody FROM message WHERE ROWID = ?', rowid) ?? encodeAttributedBody('', { form });
      const body = encodeAttributedBody(text, { form });
      const now = Date.now() / 1000 - 978_307_200;
      const history = [{ t: before, d: new Real(now - 60) }, { t: body, d: new Real(now) }];
      this.update('message', rowid, {
        text: null,
        attributedBody: body,
        date_edited: this.now(),
        message_summary_info: encodePlist({ amc: 1, ust: true, ec: { '0': history }, ep: [0], otr: { '0': { lo: 0, le: text.length } } }),
      });
    });
  }

  unsend(rowid: number): void {
    this.transaction(() =>
      this.update('message', rowid, {
        text: null, attributedBody: null, is_empty: 1, date_edited: this.now(), message_summary_info: encodePlist({ amc: 0, ust: true, rp: [0], otr: { '0': { lo: 0, le: 5 } } }),
      }),
    );
  }

  groupEvent(kind: GroupEvent = 'added', message: Message = {}): number {
    const [item, action] = GROUP_EVENTS[kind];
    return this.transaction(() => {
      const service = message.service ?? 'iMessage';
      return this.writeMessage({
        text: null,
        ...message,
        chat: { group: true, identifier: 'chat200000000001', ...message.chat },
        set: {
          item_type: item, group_action_type: action, other_handle: this.handleRow('+15550177', service),
          group_title: kind === 'renamed' ? 'New name' : null, ...message.set,
        },
      });
    });
  }

  /** A link as two rows: its text, then the URL balloon. Two transactions. */
  linkTwin(text = 'See https://example.org/page', message: Message = {}): { text: number; balloon: number } {
    const first = this.arrive({ ...message, text });
    const url = /https?:\/\/\S+/.exec(text)?.[0] ?? text;
    const { attachments: _none, guid: _guid, ...rest } = message;
    const balloon = this.arrive({ ...rest, text: url, set: { ...message.set, balloon_bundle_id: URL_BALLOON, payload_data: encodePlist({ title: canary('message-text') }) } });
    return { text: first, balloon };
  }

  /** A message to oneself: the sent row, then the received one with the same text. Two transactions. */
  selfChatTwin(text = `Note to self ${canary('message-text')}`, own = 'me@example.org', message: Message = {}): { sent: number; received: number } {
    const base: Message = { ...message, from: own, text };
    return { sent: this.arrive({ ...base, fromMe: true }), received: this.arrive(base) };
  }

  /** A one-time code by SMS: never gets a chat. */
  oneTimeCode(text = `123456 is your code ${canary('message-text')}`, message: Message = {}): number {
    return this.arriveRowFirst({ from: '39781', service: 'SMS', text, ...message });
  }

  /** An own Send Later message, pending; the date lies ahead. */
  scheduled(message: Message = {}): number {
    return this.arrive({
      fromMe: true, date: Date.now() + 3_600_000, ...message, set: { schedule_type: 2, schedule_state: 1, is_sent: 0, is_delivered: 0, ...message.set },
    });
  }

  /** Still being received: `is_finished` 0 and no text yet. */
  notFinished(message: Message = {}): number {
    return this.arrive({ text: null, ...message, set: { is_finished: 0, ...message.set } });
  }

  finish(rowid: number, text = `Finished ${canary('message-text')}`): void {
    this.transaction(() => this.update('message', rowid, { is_finished: 1, attributedBody: encodeAttributedBody(text) }));
  }

  /** A message in a chat with a filter code: 1 unknown, 2 spam (default), 3 promotions, 4 transactions. */
  spamChat(message: Message = {}, code = 2): number {
    return this.arrive({ from: '+15550666', ...message, chat: { ...message.chat, filtered: code } });
  }

  blackholed(message: Message = {}): number {
    return this.arrive({ from: '+15550667', ...message, chat: { ...message.chat, blackholed: true } });
  }

  /** Changes the chat of a message afterwards: filter code, block, name. */
  setChat(rowid: number, changes: { filtered?: number | null; blackholed?: boolean; name?: string }): void {
    this.transaction(() => {
      for (const { chat_id: chat } of this.all<{ chat_id: number }>('SELECT chat_id FROM chat_message_join WHERE message_id = ?', rowid)) {
        const row: Row = {
          is_filtered: changes.filtered, display_name: changes.name, is_blackholed: changes.blackholed === undefined ? undefined : changes.blackholed ? 1 : 0,
        };
        this.update('chat', chat, row);
      }
    });
  }

  /** iCloud brings old messages: new rowids and guids, old dates (default from 90 days ago, an hour apart). One transaction. */
  icloudBackfill(n = 100, message: Message = {}, newestAgeMs = 90 * 86_400_000): number[] {
    const newest = Date.now() - newestAgeMs;
    return this.arriveMany(Array.from({ length: n }, (_, index) => ({ ...message, date: newest - (n - index) * 3_600_000 })));
  }

  /** A known message lands again: new rowid, new guid, a date within 5 s. */
  relanded(rowid: number, shiftMs = 3000): number {
    return this.transaction(() => {
      const shift = this.dateUnit === 'ns' ? BigInt(shiftMs) * 1_000_000n : BigInt(Math.round(shiftMs / 1000));
      const date = (this.exact('SELECT date FROM message WHERE ROWID = ?', rowid) ?? 0n) + shift;
      const copy = this.copyRow('message', rowid, { guid: newGuid(), date });
      for (const { chat_id: chat } of this.all<{ chat_id: number }>('SELECT chat_id FROM chat_message_join WHERE message_id = ?', rowid)) this.joinRow(chat, copy);
      this.run('INSERT INTO message_attachment_join (message_id, attachment_id) SELECT ?, attachment_id FROM message_attachment_join WHERE message_id = ?', copy, rowid);
      return copy;
    });
  }

  /** Into Recently Deleted: the join goes, the row stays; before macOS 13 the row goes too. */
  recoverableDelete(rowid: number): void {
    this.transaction(() => {
      for (const { chat_id: chat } of this.all<{ chat_id: number }>('SELECT chat_id FROM chat_message_join WHERE message_id = ?', rowid)) {
        this.insert('chat_recoverable_message_join', { chat_id: chat, message_id: rowid, delete_date: this.now() }, 'INSERT OR IGNORE');
      }
      this.run('DELETE FROM chat_message_join WHERE message_id = ?', rowid);
    });
  }

  markRead(rowid: number): void {
    this.transaction(() => this.update('message', rowid, { is_read: 1, date_read: this.now() }));
  }

  remove(rowid: number): void {
    this.transaction(() => this.run('DELETE FROM message WHERE ROWID = ?', rowid));
  }

  /** The row with the highest rowid goes; the sequence stays. */
  deleteNewest(): number {
    return this.transaction(() => {
      const rowid = this.value<number>('SELECT MAX(ROWID) FROM message') ?? 0;
      this.run('DELETE FROM message WHERE ROWID = ?', rowid);
      return rowid;
    });
  }

  guid(rowid: number): string {
    return this.value<string>('SELECT guid FROM message WHERE ROWID = ?', rowid) ?? '';
  }

  /** Sender and service of a row that is there, for what is added to it later. */
  #likeRow(rowid: number, message: Message): Message {
    const row = this.get<{ service: string; id: string | null }>('SELECT m.service, h.id FROM message m LEFT JOIN handle h ON h.ROWID = m.handle_id WHERE m.ROWID = ?', rowid);
    if (row === undefined) throw new Error(`No message ${rowid}.`);
    return { service: row.service, ...(row.id === null ? {} : { from: row.id }), ...message };
  }

  #associate(target: number, type: number, text: string, options: Associated): number {
    return this.transaction(() => {
      const guid = this.guid(target);
      const named = { part: `p:0/${guid}`, balloon: `bp:${guid}`, bare: guid }[options.style ?? 'part'];
      const like = this.#likeRow(target, options.from === undefined ? {} : { from: options.from });
      const rowid = this.messageRow({
        ...like,
        text,
        ...(options.fromMe === true ? { fromMe: true } : {}),
        set: { associated_message_guid: named, associated_message_type: type, associated_message_range_length: 1, associated_message_emoji: options.emoji ?? null },
      });
      for (const { chat_id: chat } of this.all<{ chat_id: number }>('SELECT chat_id FROM chat_message_join WHERE message_id = ?', target)) this.joinRow(chat, rowid);
      return rowid;
    });
  }
}
