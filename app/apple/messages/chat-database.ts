import { createHash } from 'node:crypto';
import type { Chat, MessageRow } from '../occurrence.ts';
import type { Batch, FileIdentity, KnownChat, MessagesArchive, MessagesReader, Page, PageRequest, RecentSender, SenderSet } from '../reader.ts';
import { matches, normaliseHandle, withoutFilterSuffix } from '../sender.ts';
import { Store } from '../store.ts';
import { EchoRows } from './echo-rows.ts';
import type { Echoes } from './echoes.ts';
import { Handles } from './handles.ts';
import { messageSql, unixMs, unpeeked, type MessageColumns, type MessageSql } from './message-columns.ts';
import { kindOf, lateKindOf } from './message-kind.ts';
import {
  MAX_LOOKED, MessageLookup, type ChatListPage, type ChatListRequest, type ListedChat, type MessageDetail, type MessageListPage, type MessageListRequest, type MessageName, type MessageScanRequest,
  type ScannedMessage,
} from './message-lookup.ts';
import { MessagePages } from './message-pages.ts';
import { LIST_STEP, type MessageScope } from './message-places.ts';
import { Twins, type TwinAnswer } from './twins.ts';

export interface ChatDatabaseOptions {
  readonly path: string;
  /** ISO 3166 code for numbers without `+`, or null. */
  readonly region: string | null;
  /** Name from Contacts for a normalised handle. Must be fast: it is asked for each row. */
  readonly names?: (handle: string) => string | null;
  /** Own addresses as the owner named them: what these send to oneself does not ring. Empty: nothing is known to be own. */
  readonly ownHandles?: readonly string[];
  /** What Belfry sent lately: its rows never ring. */
  readonly echoes?: Echoes;
  /** Called with the name of a read and its milliseconds when it was slow. */
  readonly onSlow?: (name: string, ms: number) => void;
}

interface JudgedChat {
  readonly chat: Chat;
  readonly isSpam: boolean;
}

/** Everything that depends on the columns and indexes of the open file. */
interface Opened {
  readonly sql: MessageSql;
  readonly twins: Twins;
  readonly echoRows: EchoRows;
  readonly pages: MessagePages;
  readonly lookup: MessageLookup;
  readonly chatSql: string;
}

/** `chat.style` of a group, and `is_filtered` of spam (data-formats/chat-db 6, 10). */
const GROUP = 43;
const SPAM = 2;
/** Furthest Unix ms that a date can show. */
const LAST_DATE = 8.64e15;
/** What is a message to its reader: received, sent, or taken back. */
const READABLE: ReadonlySet<MessageRow['excluded']> = new Set([null, 'sent', 'unsent']);
const NO_TWIN: TwinAnswer = { isTwin: false, textHash: null, hasLink: false };
/** How many of the first guids name a store. */
const NAMING_GUIDS = 3;
/** Chats looked through for a name, the newest first. */
const MOST_CHATS = 5000;
/** Chats among which a refusal finds those that it lists. */
const NAMED_CHATS = 1000;
/** Members that name a group without a name of its own. */
const NAMED_MEMBERS = 4;

/** Messages' chat.db of any version since 10.11. `textHash` and `hasLink` are filled only where a twin was looked for. */
export class ChatDatabase implements MessagesReader, MessagesArchive {
  readonly kind = 'messages' as const;
  readonly path: string;
  readonly #options: ChatDatabaseOptions;
  readonly #store: Store;
  readonly #own: ReadonlySet<string>;
  readonly #handles: Handles;
  #opened: Opened | null = null;
  /** Chats met in the current transaction. */
  readonly #chats = new Map<number, JudgedChat>();

  constructor(options: ChatDatabaseOptions) {
    this.path = options.path;
    this.#options = options;
    this.#store = new Store(options.path, {
      tables: ['message', 'handle', 'chat', 'chat_message_join'],
      ...(options.onSlow && { onSlow: options.onSlow }),
    });
    this.#own = new Set((options.ownHandles ?? []).map((handle) => this.#normalise(handle)).filter((handle) => handle !== ''));
    this.#handles = new Handles(this.#store, options.region);
  }

  get isOpen(): boolean {
    return this.#store.isOpen;
  }

  open(): void {
    this.#store.open();
    if (this.#opened === null) this.#prepare();
  }

  close(): void {
    this.#opened = null;
    this.#handles.forget();
    this.#chats.clear();
    this.#store.close();
  }

  identity(): FileIdentity {
    return this.#store.identity();
  }

  replaced(): boolean {
    return this.#store.replaced();
  }

  dataVersion(): number {
    return this.#store.dataVersion();
  }

  head(): number {
    return this.#transaction('head', () => this.#store.head('message'));
  }

  checkAt(rowid: number): string {
    return this.#transaction('checkAt', () => {
      const guid = this.#store.statement(`SELECT guid FROM message WHERE ROWID = ${unpeeked('?')}`, 'pluck').get(rowid) as string | undefined;
      return guid === undefined ? '00000000' : sha256(guid).slice(0, 8);
    });
  }

  storeId(): string {
    return this.#transaction('storeId', () => {
      const guids = this.#store.statement('SELECT guid FROM message ORDER BY ROWID LIMIT ?', 'pluck').all(NAMING_GUIDS) as string[];
      return sha256([this.identity().ino, ...guids].join('\n')).slice(0, 32);
    });
  }

  read(after: number, limit: number): Batch<MessageRow> {
    return this.#transaction('read', ({ sql }) => {
      const found = this.#store.statement(`${sql.select} WHERE m.ROWID > ${unpeeked('?')} ORDER BY m.ROWID LIMIT ${unpeeked('?')}`).all(after, limit) as MessageColumns[];
      const head = this.#store.head('message');
      const last = found.at(-1)?.rowid ?? 0;
      return { rows: found.map((columns) => this.#row(columns)), through: found.length < limit ? Math.max(head, last) : last, head };
    });
  }

  pick(rowids: readonly number[]): readonly MessageRow[] {
    return this.#transaction('pick', () => rowids.flatMap((rowid) => this.#at(rowid) ?? []));
  }

  page(request: PageRequest): Page<MessageRow> {
    return this.#transaction('page', ({ pages }) => pages.page(request, (rowid) => this.#arrivalAt(rowid, request.senders)));
  }

  skippedBefore(request: PageRequest & { readonly notBefore: number }): boolean {
    return this.#transaction('skippedBefore', ({ pages }) => pages.skippedBefore(request, (rowid) => this.#arrivalAt(rowid, request.senders)));
  }

  /** The guid is UNIQUE: each row is its own event. */
  backtest(senders: SenderSet, since: number, examples: number): { readonly count: number; readonly examples: readonly MessageRow[] } {
    return this.#transaction('backtest', ({ pages }) => {
      const rows = pages.since(senders, since, (rowid) => this.#arrivalAt(rowid, senders));
      return { count: rows.length, examples: rows.slice(0, examples) };
    });
  }

  newestDate(box: number, rowid: number): number | null {
    return this.#transaction('newestDate', () => {
      if (this.#store.has('chat_message_join', 'message_date')) {
        const copied = this.#store
          .statement(`SELECT ${unixMs('j.message_date')} FROM chat_message_join j WHERE j.chat_id = ${unpeeked('?')} AND j.message_id <= ${unpeeked('?')} ORDER BY j.message_date DESC LIMIT 1`, 'pluck')
          .get(box, rowid) as number | null | undefined;
        if (copied !== null && copied !== undefined) return inRange(copied);
      }
      // Joins of 10.11 have no date, those of migrated stores may have 0.
      const newest = this.#store
        .statement(`SELECT MAX(${unixMs('m.date')}) FROM chat_message_join j CROSS JOIN message m ON m.ROWID = j.message_id WHERE j.chat_id = ${unpeeked('?')} AND j.message_id <= ${unpeeked('?')}`, 'pluck')
        .get(box, rowid) as number | null;
      return inRange(newest);
    });
  }

  /**
   * Chats with this guid or exactly this display name. A guid of before macOS 26 finds the chat by its identifier and
   * style: the upgrade wrote `any` over the service (data-formats/chat-db 6).
   */
  findChats(nameOrGuid: string): readonly Chat[] {
    return this.#transaction('findChats', () => {
      const exact = this.#store
        .statement(`SELECT ROWID FROM chat WHERE guid = @name OR (@name <> '' AND display_name = @name) ORDER BY ROWID`, 'pluck')
        .all({ name: nameOrGuid }) as number[];
      const parts = /^[^;]*;([+-]);(.+)$/.exec(nameOrGuid);
      const found =
        exact.length > 0 || parts === null
          ? exact
          : (this.#store
              .statement(`SELECT ROWID FROM chat WHERE chat_identifier = ? AND guid LIKE '%;' || ? || ';%' ORDER BY ROWID`, 'pluck')
              .all(parts[2]!, parts[1]!) as number[]);
      return found.flatMap((id) => this.#chat(id)?.chat ?? []);
    });
  }

  /** One for each chat: its display name, or its guid where it has none; newest message first. Spam is left out. */
  chatNames(limit: number, lists?: (members: readonly string[], guid: string) => boolean): readonly string[] {
    return this.#transaction('chatNames', () => {
      const found: string[] = [];
      for (const id of this.#newestChats(NAMED_CHATS)) {
        const judged = this.#chat(id);
        if (judged === null || judged.isSpam || lists?.(this.#people(this.#members(id)), judged.chat.guid) === false) continue;
        found.push(judged.chat.name ?? judged.chat.guid);
        if (found.length >= limit) break;
      }
      return found;
    });
  }

  recentSenders(rows: number): readonly RecentSender[] {
    return this.#transaction('recentSenders', ({ sql }) => {
      const newest = this.#store.statement(`${sql.select} WHERE ${sql.likely} ORDER BY m.ROWID DESC LIMIT ${unpeeked('?')}`).all(rows) as MessageColumns[];
      const found = new Map<string, RecentSender>();
      for (const columns of newest) {
        const { sender, excluded, name, date } = this.#row(columns);
        if (sender !== null && excluded === null && !found.has(sender)) found.set(sender, { sender, name, date });
      }
      return [...found.values()];
    });
  }

  searchChats(text: string, limit: number): readonly KnownChat[] {
    return this.#transaction('searchChats', () => {
      const wanted = fold(text);
      const found: KnownChat[] = [];
      for (const id of this.#newestChats(MOST_CHATS)) {
        const judged = this.#chat(id);
        if (judged === null || judged.isSpam || (!judged.chat.isGroup && judged.chat.name === null)) continue;
        const title = this.#titleOf(judged.chat);
        if (fold(title).includes(wanted)) found.push({ ...judged.chat, title, date: this.newestDate(id, Number.MAX_SAFE_INTEGER) });
        if (found.length >= limit) break;
      }
      return found;
    });
  }

  chatByGuid(guid: string): KnownChat | null {
    return this.#transaction('chatByGuid', () => {
      const [chat] = this.findChats(guid).filter((each) => each.guid === guid);
      return chat === undefined ? null : { ...chat, title: this.#titleOf(chat), date: this.newestDate(chat.id, Number.MAX_SAFE_INTEGER) };
    });
  }

  /** A message by its guid or row, whoever wrote it; null for what is none, is in no chat any more, or is spam. */
  find(name: MessageName): MessageRow | null {
    return this.#transaction('find', ({ lookup }) => {
      const rowid = lookup.rowid(name);
      return rowid === null ? null : this.#readableAt(rowid);
    });
  }

  detail(rowid: number): MessageDetail | null {
    return this.details([rowid]).get(rowid) ?? null;
  }

  details(rowids: readonly number[]): ReadonlyMap<number, MessageDetail> {
    return this.#transaction('details', ({ lookup }) => lookup.details(rowids));
  }

  list(request: MessageListRequest): MessageListPage {
    return this.#transaction('list', ({ lookup }) => {
      const rows: MessageListPage['rows'][number][] = [];
      let place = request.after;
      for (let looked = 0; looked < MAX_LOOKED; looked += LIST_STEP) {
        const step = lookup.places.step(request.scope, request, place);
        for (const each of step.places) {
          const row = this.#readableAt(each.rowid);
          if (row === null || !request.may(row)) continue;
          rows.push({ row, place: each });
          if (rows.length >= request.limit) return { rows, next: each };
        }
        place = step.next;
        if (place === null) break;
      }
      return { rows, next: place };
    });
  }

  scan(request: MessageScanRequest): readonly ScannedMessage[] {
    return this.#transaction('scan', ({ lookup }) => lookup.scan(request));
  }

  scopeOf(person: string): MessageScope {
    return this.#transaction('scopeOf', () => {
      const { ids, json } = this.#handles.idsOf({ addresses: new Set([this.#normalise(person)]), domains: new Set(), parents: new Set() });
      const chats = !this.#store.has('chat_handle_join') ? [] : (this.#store
        .statement('SELECT DISTINCT j.chat_id FROM chat_handle_join j WHERE j.handle_id IN (SELECT value FROM json_each(?)) ORDER BY 1', 'pluck')
        .all(json) as number[]).filter((id) => this.#chat(id)?.chat.isGroup === false);
      return { chats, handles: [...ids] };
    });
  }

  membersOf(chat: number): readonly string[] {
    return this.#transaction('membersOf', () => this.#people(this.#members(chat)));
  }

  chats({ below, limit, may }: ChatListRequest): ChatListPage {
    return this.#transaction('chats', ({ lookup }) => {
      const chats: ListedChat[] = [];
      let from = below;
      for (let looked = 0; looked < MOST_CHATS; ) {
        const step = lookup.newestChats(from);
        for (const [id, newest] of step) {
          looked += 1;
          from = newest;
          const judged = this.#chat(id);
          if (judged === null || judged.isSpam) continue;
          const members = this.#people(this.#members(id));
          if (!may(judged.chat, members)) continue;
          chats.push({ ...judged.chat, title: this.#titleOf(judged.chat), members, date: this.newestDate(id, Number.MAX_SAFE_INTEGER), newest });
          if (chats.length >= limit) return { chats, next: newest };
        }
        if (step.length < LIST_STEP) return { chats, next: null };
      }
      return { chats, next: from };
    });
  }

  #readableAt(rowid: number): MessageRow | null {
    const row = this.#at(rowid);
    return row === null || !READABLE.has(row.excluded) ? null : row;
  }

  #newestChats(limit: number): number[] {
    return this.#store
      .statement('SELECT c.ROWID FROM chat c ORDER BY (SELECT MAX(j.message_id) FROM chat_message_join j WHERE j.chat_id = c.ROWID) DESC, c.ROWID DESC LIMIT ?', 'pluck')
      .all(limit) as number[];
  }

  #titleOf(chat: Chat): string {
    if (chat.name !== null) return chat.name;
    const members = this.#people(this.#members(chat.id)).map((handle) => this.#options.names?.(handle) ?? handle);
    if (members.length === 0) return chat.guid;
    const rest = members.length - NAMED_MEMBERS;
    return `${members.slice(0, NAMED_MEMBERS).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  }

  /** `handle.id` of the members without me. */
  #members(chat: number): string[] {
    if (!this.#store.has('chat_handle_join')) return [];
    const sql = `SELECT h.id FROM chat_handle_join j CROSS JOIN handle h ON h.ROWID = j.handle_id WHERE j.chat_id = ${unpeeked('?')}`;
    return this.#store.statement(sql, 'pluck').all(chat) as string[];
  }

  /** People, not handle rows: one person may be a member by two services. Handles that the owner named as own do not count. */
  #people(members: readonly string[]): string[] {
    return [...new Set(members.map((member) => this.#normalise(withoutFilterSuffix(String(member)))))].filter((handle) => !this.#own.has(handle));
  }

  #transaction<T>(name: string, work: (opened: Opened) => T): T {
    // A transaction each time: chats kept from an earlier one may have changed since.
    return this.#store.transaction(name, () => {
      this.#chats.clear();
      return work(this.#opened ?? this.#prepare());
    });
  }

  #prepare(): Opened {
    return this.#store.guard(() => {
      const sql = messageSql(this.#store);
      const has = (column: string, missing: string) => (this.#store.has('chat', column) ? `c.${column}` : missing);
      this.#opened = {
        sql,
        twins: new Twins(this.#store, (handle) => this.#normalise(handle)),
        echoRows: new EchoRows(this.#store, (handle) => this.#normalise(handle), this.#options.echoes),
        pages: new MessagePages(this.#store, this.#handles, sql.likely),
        lookup: new MessageLookup(this.#store, (handle) => this.#normalise(handle)),
        chatSql: `SELECT c.guid, ${has('display_name', 'NULL')} AS name, ${has('style', '0')} AS style,
          ${has('is_filtered', '0')} AS filtered, ${has('is_blackholed', '0')} AS blackholed FROM chat c WHERE c.ROWID = ${unpeeked('?')}`,
      };
      return this.#opened;
    });
  }

  #normalise(handle: string): string {
    return normaliseHandle(handle, this.#options.region);
  }

  #at(rowid: number): MessageRow | null {
    const columns = this.#store.statement(`${this.#opened!.sql.select} WHERE m.ROWID = ${unpeeked('?')}`).get(rowid) as MessageColumns | undefined;
    return columns === undefined ? null : this.#row(columns);
  }

  #arrivalAt(rowid: number, senders: SenderSet): MessageRow | null {
    const row = this.#at(rowid);
    return row !== null && row.excluded === null && row.sender !== null && matches(senders, row.sender) ? row : null;
  }

  #row(columns: MessageColumns): MessageRow {
    const { rowid } = columns;
    const raw = columns.handle === null ? null : withoutFilterSuffix(String(columns.handle));
    const sender = raw === null ? null : textOrNull(this.#normalise(raw));
    const known = columns.chatId === null ? null : this.#chat(columns.chatId);
    const twins = this.#opened!.twins;
    const early = kindOf(columns, () => twins.isBlank(columns));
    const late = lateKindOf(columns, known?.isSpam === true);
    const isOwn = sender !== null && this.#own.has(sender);
    // A row that is left out anyway is not worth the reading of texts.
    const echo = early === null && known !== null ? this.#opened!.echoRows.ask(rowid, known.chat, sender) : null;
    const twin = early === null && late === null && !isOwn && known !== null && sender !== null ? twins.ask(columns, known.chat.id, sender) : NO_TWIN;
    const lacksAttachments = columns.cachedAttachments === 1 && columns.attachments === 0;
    const lacksHandle = columns.handleId > 0 && columns.handle === null;
    const lacksChat = known === null && columns.isDeleted === 0;
    return {
      store: 'messages',
      rowid,
      guid: columns.guid,
      sender,
      excluded: early ?? (isOwn || twin.isTwin || echo === 'own' ? 'twin' : null) ?? late ?? (sender === null ? 'no-sender' : null),
      incomplete: lacksChat || lacksAttachments || lacksHandle || columns.isFinished === 0 || echo === 'open',
      date: inRange(columns.date),
      box: known?.chat.id ?? null,
      hasAttachments: columns.shownAttachments > 0 || lacksAttachments,
      handle: sender === null ? null : isAsWritten(sender) ? sender : raw,
      name: sender === null ? null : (this.#options.names?.(sender) ?? null),
      chat: known?.chat ?? null,
      service: textOrNull(columns.service),
      attachmentCount: columns.shownAttachments,
      replyTo: textOrNull(columns.replyTo),
      textHash: twin.textHash,
      isLinkBalloon: columns.isBalloon === 1,
      hasLink: twin.hasLink,
    };
  }

  #chat(id: number): JudgedChat | null {
    const kept = this.#chats.get(id);
    if (kept !== undefined) return kept;
    const row = this.#store.statement(this.#opened!.chatSql).get(id) as
      | { guid: string; name: string | null; style: number | null; filtered: number | null; blackholed: number | null }
      | undefined;
    if (row === undefined) return null;
    const chat: Chat = {
      id,
      guid: row.guid,
      name: textOrNull(row.name),
      isGroup: row.style === GROUP || row.guid.includes(';+;'),
      participantCount: this.#participants(id),
    };
    const known: JudgedChat = { chat, isSpam: row.filtered === SPAM || (row.blackholed ?? 0) !== 0 };
    this.#chats.set(id, known);
    return known;
  }

  #participants(chat: number): number {
    const members = this.#members(chat);
    return members.length === 1 && this.#own.size === 0 ? 1 : this.#people(members).length;
  }
}

const fold = (text: string) => text.normalize('NFC').toLowerCase();
/** Numbers and e-mail are shown as they are compared; names such as `MYBANK` as the store spells them. */
const isAsWritten = (sender: string) => sender.startsWith('+') || sender.includes('@');
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const textOrNull = (text: string | null | undefined) => (typeof text === 'string' && text !== '' ? text : null);
const inRange = (ms: number | null) => (ms !== null && Math.abs(ms) <= LAST_DATE ? Math.trunc(ms) : null);
