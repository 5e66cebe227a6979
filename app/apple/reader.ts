import type { MailCounts, MailListPage, MailListRequest, MailMarks, MailName } from './mail/mail-lookup.ts';
import type { ChatListPage, ChatListRequest, MessageDetail, MessageListPage, MessageListRequest, MessageName, MessageScanRequest, ScannedMessage } from './messages/message-lookup.ts';
import type { MessageScope } from './messages/message-places.ts';
import type { Chat, Mailbox, MailRow, MessageRow, PlacedMail, StoreKind, StoreRow } from './occurrence.ts';

/** Why a store cannot be read; told apart by opening (data-formats/tcc: `stat` proves nothing). */
export type StoreTrouble = 'not_permitted' | 'not_there' | 'broken' | 'busy';

/** Thrown by every reader call that touches the file. The message carries no path and no SQL. */
export class StoreError extends Error {
  readonly kind: StoreTrouble;
  constructor(kind: StoreTrouble, message: string) {
    super(message);
    this.name = 'StoreError';
    this.kind = kind;
  }
}

/** Device and inode of the open file, as decimal text: they say when to look again, never that a store is the same. */
export interface FileIdentity {
  readonly dev: string;
  readonly ino: string;
}

/** Normalised senders to look for. All three empty matches nothing. Domains are ASCII (punycode), lower case. */
export interface SenderSet {
  /** Addresses (lower case), E.164 numbers, short codes, other handles (lower case). */
  readonly addresses: ReadonlySet<string>;
  /** The domain itself. */
  readonly domains: ReadonlySet<string>;
  /** The domain and everything below it. */
  readonly parents: ReadonlySet<string>;
}

export interface Batch<R> {
  /** All rows above `after`, by rowid, arrivals or not. */
  readonly rows: readonly R[];
  /** The highest rowid that this batch accounts for: the last row's, or the head if the batch reached it. */
  readonly through: number;
  /** `sqlite_sequence.seq` in the same transaction: deleting the newest row does not lower it. */
  readonly head: number;
}

export interface PageRequest {
  readonly senders: SenderSet;
  /** Exclusive lower and inclusive upper rowid. */
  readonly after: number;
  readonly upTo: number;
  /** Most rows to return. */
  readonly limit: number;
  /** Rows dated before this (Unix ms) are skipped; undated rows are kept. */
  readonly notBefore?: number;
}

export interface Page<R> {
  /** Rows whose sender matches and whose `excluded` is null, by rowid. */
  readonly rows: readonly R[];
  /** Everything at or below this rowid is accounted for. Equals `upTo` if and only if the range is finished. */
  readonly through: number;
}

/** Somebody who wrote lately. */
export interface RecentSender {
  /** Normalised. */
  readonly sender: string;
  readonly name: string | null;
  /** Unix ms of the newest, or null. */
  readonly date: number | null;
}

/** A chat as its owner knows it. */
export interface KnownChat extends Chat {
  /** Display name; for a group without one, its members; else the guid. */
  readonly title: string;
  /** Unix ms of the newest message, or null. */
  readonly date: number | null;
}

/** One store. One kept read-only connection; no call holds a transaction across an await. */
export interface StoreReader<R extends StoreRow = StoreRow> {
  readonly kind: StoreKind;
  readonly path: string;
  /** Opens the file if it is not open. Throws StoreError. */
  open(): void;
  /** Closes; `open` may follow (a replaced file). */
  close(): void;
  readonly isOpen: boolean;
  /** Identity of the open file. */
  identity(): FileIdentity;
  /** True if the path now names another file than the open one, or none; or the `-wal` beside it changed its inode. */
  replaced(): boolean;
  /** `PRAGMA data_version` of the kept connection: moves when another connection committed. About 2 microseconds. */
  dataVersion(): number;
  head(): number;
  /**
   * 8 hex digits that name the store at a position. Mail: from `properties.UUID`, the same at every rowid.
   * Messages: from the guid at `rowid`; `00000000` where that row is gone.
   */
  checkAt(rowid: number): string;
  /** Name of the store for state that must not outlive it: Mail's UUID; for Messages a hash of the first guids and the inode. */
  storeId(): string;
  read(after: number, limit: number): Batch<R>;
  /** The same rows again (pending ones, items to render); those that left are missing. */
  pick(rowids: readonly number[]): readonly R[];
  page(request: PageRequest): Page<R>;
  /** True if a row that matches, is not excluded, lies in (after, upTo] and is dated before `notBefore` exists. */
  skippedBefore(request: PageRequest & { readonly notBefore: number }): boolean;
  /** Matching, not excluded rows dated at or after `since` (Unix ms): how many different events, and the newest few. */
  backtest(senders: SenderSet, since: number, examples: number): { readonly count: number; readonly examples: readonly R[] };
  /** Newest date (Unix ms) among rows of a mailbox or chat at or below `rowid`, or null. */
  newestDate(box: number, rowid: number): number | null;
  /** Who wrote the newest `rows` rows that can ring: each once, newest first. One bounded query. */
  recentSenders(rows: number): readonly RecentSender[];
}

export interface MailReader extends StoreReader<MailRow> {
  readonly kind: 'mail';
  mailboxes(): readonly Mailbox[];
  /** Reads mailboxes and accounts again, if they changed. Off the way of an event. */
  refresh(): void;
  /** Own addresses from the accounts, lower case. */
  ownAddresses(): ReadonlySet<string>;
  /** Highest global id for each account id, for a store that is seen for the first time. */
  highestGlobalIds(): ReadonlyMap<string, number>;
  /** Lowest rowid that now carries each global id. */
  firstRows(globalIds: readonly number[]): ReadonlyMap<number, number>;
}

/** Mail as it lies in the index, whoever wrote it: for reading what was asked for by name or from a list. */
export interface MailArchive {
  storeId(): string;
  /** All that is asked within `work` is of one state, and takes the store's lock once. Short: nothing is waited for in it. */
  together<T>(work: () => T): T;
  /** Moves with each commit of another process. */
  dataVersion(): number;
  mailboxes(): readonly Mailbox[];
  /** Rows of a mail, the newest first; those marked deleted are left out. */
  find(name: MailName): readonly MailRow[];
  list(request: MailListRequest): MailListPage;
  /** Rows as they are now; those that left are missing. */
  pick(rowids: readonly number[]): readonly MailRow[];
  /** The same rows with less of each: for judging thousands. */
  placed(rowids: readonly number[]): readonly PlacedMail[];
  marks(rowids: readonly number[]): ReadonlyMap<number, MailMarks>;
  /** Mails of each mailbox and label, by its ROWID, as Mail counts them. */
  counts(): ReadonlyMap<number, MailCounts>;
}

/** Messages as they lie in the store, whoever wrote them: for reading what was asked for by name or from a list. */
export interface MessagesArchive {
  find(name: MessageName): MessageRow | null;
  detail(rowid: number): MessageDetail | null;
  /** The same of a page, by ROWID; what is gone is not in it. */
  details(rowids: readonly number[]): ReadonlyMap<number, MessageDetail>;
  list(request: MessageListRequest): MessageListPage;
  /** Texts of messages below a row, by falling row, within a scope; null: all. At most `limit` rows are looked at. */
  scan(request: MessageScanRequest): readonly ScannedMessage[];
  /** One-to-one chats with a person by any service, and what they wrote that is in no chat. */
  scopeOf(person: string): MessageScope;
  findChats(nameOrGuid: string): readonly Chat[];
  /** Members of a chat without me, normalised. */
  membersOf(chat: number): readonly string[];
  /** Chats, newest first. */
  chats(request: ChatListRequest): ChatListPage;
}

export interface MessagesReader extends StoreReader<MessageRow> {
  readonly kind: 'messages';
  /** Chats with this guid or exactly this display name. */
  findChats(nameOrGuid: string): readonly Chat[];
  /** Groups and chats with a name whose title holds the text (any case), newest first; an empty text gives all. */
  searchChats(text: string, limit: number): readonly KnownChat[];
  /** A chat by its guid, or null. */
  chatByGuid(guid: string): KnownChat | null;
  /** Display names and guids of the newest chats that `lists` says yes to, for a refusal that lists what exists. */
  chatNames(limit: number, lists?: (members: readonly string[], guid: string) => boolean): readonly string[];
  /** Members of a chat without me, normalised. */
  membersOf(chat: number): readonly string[];
}
