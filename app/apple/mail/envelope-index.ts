import { createHash } from 'node:crypto';
import type { Mailbox, MailRow, PlacedMail } from '../occurrence.ts';
import type { Batch, FileIdentity, MailArchive, MailReader, Page, PageRequest, RecentSender, SenderSet } from '../reader.ts';
import { Store } from '../store.ts';
import { Accounts } from './accounts.ts';
import { Backlog } from './backlog.ts';
import { FirstRowMemory } from './first-rows.ts';
import { activeMailFolder, envelopeIndexPath } from './mail-folder.ts';
import { MailLookup, type MailCounts, type MailListPage, type MailListRequest, type MailMarks, type MailName } from './mail-lookup.ts';
import { MailRowReader, shapeOf, toMs, type Shape } from './mail-rows.ts';
import { MailboxDirectory, type MailboxLine } from './mailboxes.ts';

const TABLES = ['messages', 'mailboxes', 'addresses', 'properties'];
const COUNTERS = `SELECT MAX(CASE name WHEN 'messages' THEN seq END), MAX(CASE name WHEN 'mailboxes' THEN seq END) FROM sqlite_sequence`;

export interface EnvelopeIndexOptions {
  /** The index itself; else it is found below `mailDir`. */
  readonly path?: string;
  /** `~/Library/Mail` or a version's folder in it; asked for the active version at each open. */
  readonly mailDir?: string;
  /** Accounts4.sqlite; without it an account's name is its UUID. */
  readonly accountsDb?: string;
  /** Name and milliseconds of a read that took more than 50 ms. */
  readonly onSlow?: (name: string, ms: number) => void;
}

/** How often the active Mail folder is asked for: an upgrade of Mail leaves the old index in place. */
const LOCATE_MS = 60_000;
/** Rows in which an account in daily use shows. */
const NEWEST = 5000;

interface OpenIndex {
  readonly shape: Shape;
  readonly rows: MailRowReader;
  readonly backlog: Backlog;
  readonly lookup: MailLookup;
  readonly firstRows: FirstRowMemory | null;
  readonly uuid: string;
}

/** Mail's Envelope Index, read-only (data-formats/envelope-index). */
export class EnvelopeIndex implements MailReader, MailArchive {
  readonly kind = 'mail';
  readonly #options: EnvelopeIndexOptions;
  readonly #accounts: Accounts;
  readonly #directory: MailboxDirectory;
  #store: Store;
  #open: OpenIndex | null = null;
  /** `sqlite_sequence` of `mailboxes` at the last load: a new mailbox is seen without looking at all. */
  #mailboxCount = -1;
  /** `data_version` at the last load of names. */
  #namesVersion = -1;
  /** `data_version` at the last look at the UUID. */
  #uuidVersion = -1;
  #check = { uuid: '', text: '' };
  #locatedAt = performance.now();

  constructor(options: EnvelopeIndexOptions) {
    this.#options = options;
    this.#accounts = new Accounts(options.accountsDb ?? null);
    this.#directory = new MailboxDirectory(this.#accounts);
    this.#store = this.#storeAt(this.#locate());
  }

  get path(): string {
    return this.#store.path;
  }

  get isOpen(): boolean {
    return this.#open !== null;
  }

  open(): void {
    if (this.#open !== null) return;
    const path = this.#locate();
    if (path !== this.#store.path) this.#store = this.#storeAt(path);
    this.#store.open();
    try {
      this.#accounts.refresh();
      this.#open = this.#store.guard(() => this.#prepare());
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    this.#open = null;
    this.#namesVersion = -1;
    this.#uuidVersion = -1;
    this.#store.close();
  }

  identity(): FileIdentity {
    return this.#store.identity();
  }

  /** Also true if the same file now holds another index, or Mail was upgraded and uses another folder. */
  replaced(): boolean {
    if (this.#open === null) return false;
    if (this.#store.replaced()) return true;
    // What this connection reads changes with a commit only: an idle tick asks for nothing else.
    const version = this.#store.dataVersion();
    if (version !== this.#uuidVersion && this.#uuid() !== this.#open.uuid) return true;
    this.#uuidVersion = version;
    const now = performance.now();
    if (now - this.#locatedAt < LOCATE_MS) return false;
    this.#locatedAt = now;
    return this.#locate() !== this.#store.path;
  }

  dataVersion(): number {
    return this.#store.dataVersion();
  }

  head(): number {
    return this.#store.guard(() => this.#store.head('messages'));
  }

  checkAt(): string {
    const uuid = this.#uuid();
    if (uuid !== this.#check.uuid) this.#check = { uuid, text: createHash('sha256').update(uuid).digest('hex').slice(0, 8) };
    return this.#check.text;
  }

  /** `properties.UUID`; the file's identity where an index has none. */
  storeId(): string {
    return this.#uuid();
  }

  together<T>(work: () => T): T {
    return this.#store.transaction('together', work);
  }

  read(after: number, limit: number): Batch<MailRow> {
    return this.#reading('read', (open) => {
      const head = this.#begin();
      const rows = open.rows.above(after, limit);
      const last = rows.at(-1)?.rowid ?? after;
      return { rows, through: rows.length < limit ? Math.max(last, head) : last, head };
    });
  }

  pick(rowids: readonly number[]): readonly MailRow[] {
    if (rowids.length === 0) return [];
    return this.#reading('pick', (open) => {
      this.#begin();
      return open.rows.byId(rowids);
    });
  }

  page(request: PageRequest): Page<MailRow> {
    return this.#reading('page', (open) => open.backlog.page(request, this.#beginFresh()));
  }

  skippedBefore(request: PageRequest & { readonly notBefore: number }): boolean {
    return this.#reading('skippedBefore', (open) => open.backlog.skippedBefore(request, this.#beginFresh()));
  }

  backtest(senders: SenderSet, since: number, examples: number): { readonly count: number; readonly examples: readonly MailRow[] } {
    return this.#reading('backtest', (open) => open.backlog.backtest(senders, since, examples, this.#beginFresh()));
  }

  newestDate(box: number, rowid: number): number | null {
    return this.#reading('newestDate', () => {
      const sql = 'SELECT date_received FROM messages WHERE mailbox = ? AND ROWID <= ? AND date_received > 0 ORDER BY date_received DESC LIMIT 1';
      return toMs(this.#store.statement(sql, 'pluck').get(box, rowid));
    });
  }

  recentSenders(rows: number): readonly RecentSender[] {
    return this.#reading('recentSenders', (open) => {
      this.#beginFresh();
      const own = this.#accounts.ownAddresses();
      return open.rows.recentSenders(rows).filter(({ sender }) => !own.has(sender));
    });
  }

  /** Rows of a mail by what names it, the newest first; labels and mailboxes as they are now. */
  find(name: MailName): readonly MailRow[] {
    return this.#reading('find', (open) => {
      this.#beginFresh();
      return open.lookup.find(name);
    });
  }

  list(request: MailListRequest): MailListPage {
    return this.#reading('list', (open) => {
      this.#beginFresh();
      return open.lookup.list(request);
    });
  }

  placed(rowids: readonly number[]): readonly PlacedMail[] {
    return this.#reading('placed', (open) => {
      this.#begin();
      return open.rows.placed(rowids);
    });
  }

  marks(rowids: readonly number[]): ReadonlyMap<number, MailMarks> {
    return this.#reading('marks', (open) => open.lookup.marks(rowids));
  }

  counts(): ReadonlyMap<number, MailCounts> {
    return this.#reading('counts', (open) => open.lookup.counts());
  }

  mailboxes(): readonly Mailbox[] {
    this.#refreshIfChanged();
    return this.#directory.all();
  }

  ownAddresses(): ReadonlySet<string> {
    this.#refreshAccounts();
    return this.#accounts.ownAddresses();
  }

  /** Reads accounts and mailboxes again if they changed. Rows show a renamed mailbox without it; a renamed account needs it. */
  refresh(): void {
    this.#refreshIfChanged();
  }

  highestGlobalIds(): ReadonlyMap<string, number> {
    return this.#reading('highestGlobalIds', (open) => {
      this.#begin();
      const highest = new Map<string, number>();
      const add = (box: number, id: number | null): void => {
        const account = this.#directory.get(box)?.accountId ?? '';
        if (id !== null && id > (highest.get(account) ?? 0)) highest.set(account, id);
      };
      const column = open.shape.hasGlobal ? 'global_message_id' : 'ROWID';
      // The newest rows name the accounts that are in use; the others are asked for mailbox by mailbox.
      const newest = this.#store.statement(`SELECT mailbox, ${column} FROM messages ORDER BY ${column} DESC LIMIT ${NEWEST}`, 'raw').all() as [number, number][];
      for (const [box, id] of newest) add(box, id);
      const seen = new Set(highest.keys());
      const ofBox = this.#store.statement(`SELECT MAX(+${column}) FROM messages WHERE mailbox = ?`, 'pluck');
      for (const box of this.#directory.all()) if (!seen.has(box.accountId)) add(box.id, ofBox.get(box.id) as number | null);
      return highest;
    });
  }

  firstRows(globalIds: readonly number[]): ReadonlyMap<number, number> {
    if (globalIds.length === 0) return new Map();
    return this.#reading('firstRows', (open) => {
      if (open.firstRows !== null) return open.firstRows.lowest(globalIds);
      const sql = `SELECT global_message_id, MIN(ROWID) FROM messages WHERE global_message_id IN (SELECT value FROM json_each(?)) GROUP BY global_message_id`;
      return new Map(this.#store.statement(sql, 'raw').all(JSON.stringify(globalIds)) as [number, number][]);
    });
  }

  #locate(): string {
    if (this.#options.path !== undefined) return this.#options.path;
    if (this.#options.mailDir === undefined) throw new Error('An Envelope Index needs a path or a Mail folder.');
    return envelopeIndexPath(activeMailFolder(this.#options.mailDir));
  }

  #storeAt(path: string): Store {
    return new Store(path, { tables: TABLES, ...(this.#options.onSlow && { onSlow: this.#options.onSlow }) });
  }

  #prepare(): OpenIndex {
    const store = this.#store;
    const shape = shapeOf(store);
    const firstRows = shape.hasGlobal ? null : new FirstRowMemory(store);
    const rows = new MailRowReader(store, shape, this.#directory, () => this.#loadNames(), firstRows);
    const backlog = new Backlog(store, shape, this.#directory, rows, firstRows);
    store.transaction('open', () => {
      this.#loadNames();
      backlog.warm();
    });
    return { shape, rows, backlog, lookup: new MailLookup(store, shape, rows), firstRows, uuid: this.#uuid() };
  }

  #reading<T>(name: string, work: (open: OpenIndex) => T): T {
    return this.#store.transaction(name, () => work(this.#open!));
  }

  /** Head of the messages; loads the mailboxes again if one was added since. */
  #begin(): number {
    const [messages, mailboxes] = this.#store.statement(COUNTERS, 'raw').get() as [number | null, number | null];
    if ((mailboxes ?? -1) !== this.#mailboxCount) this.#loadNames();
    return messages ?? this.#store.head('messages');
  }

  /** The same, and roles as they are now: a row is judged by them before its own mailbox is read. */
  #beginFresh(): number {
    if (this.#store.dataVersion() !== this.#namesVersion) this.#loadNames();
    return this.#begin();
  }

  #loadNames(): void {
    const source = this.#store.has('mailboxes', 'source') ? 'source' : 'NULL';
    this.#directory.load(this.#store.statement(`SELECT ROWID AS id, url, ${source} AS source FROM mailboxes ORDER BY ROWID`).all() as MailboxLine[]);
    this.#mailboxCount = (this.#store.statement(COUNTERS, 'raw').get() as [number | null, number | null])[1] ?? -1;
    this.#namesVersion = this.#store.dataVersion();
  }

  #refreshAccounts(): void {
    if (this.#accounts.refresh()) this.#namesVersion = -1;
  }

  #refreshIfChanged(): void {
    this.#refreshAccounts();
    if (this.#open !== null && this.dataVersion() !== this.#namesVersion) this.#reading('names', () => this.#loadNames());
  }

  #uuid(): string {
    return this.#store.guard(() => {
      const value = this.#store.statement(`SELECT value FROM properties WHERE key = 'UUID'`, 'pluck').get() as unknown;
      if (Buffer.isBuffer(value)) return value.toString('hex');
      return value === undefined || value === null ? `file-${this.#store.identity().dev}-${this.#store.identity().ino}` : String(value);
    });
  }
}
