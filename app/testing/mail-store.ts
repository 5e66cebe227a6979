import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AccountsStore } from './accounts-store.ts';
import { encodePlist } from './binary-plist.ts';
import { canary } from './canary.ts';
import { envelopeSchema, MAIL_VERSIONS, type MailVariant } from './envelope-variants.ts';
import { MailRows, type MailboxEntry } from './mail-rows.ts';
import { escapedPath, type Mail, type MailFlags } from './mail-values.ts';
import { SqliteStore, type StoreOptions } from './sqlite-store.ts';

export type { Mail, MailAddress, MailFlags } from './mail-values.ts';
export { messageIdHash } from './mail-values.ts';
export type { MailVariant } from './envelope-variants.ts';
export { MAIL_VARIANTS } from './envelope-variants.ts';

export type AccountKind = 'imap' | 'gmail' | 'ews' | 'local';

export interface MailAccount {
  /** Default: a new UUID. */
  readonly id?: string;
  readonly description: string;
  readonly email: string;
  readonly kind: AccountKind;
  /** Further mailboxes: decoded paths. Default: nested and non-ASCII ones. For Gmail they are labels. */
  readonly folders?: readonly string[];
  /** Further properties of the account in Accounts4.sqlite. */
  readonly properties?: { readonly [key: string]: string };
}

export interface MailStoreOptions extends StoreOptions {
  /** Default: `Accounts/Accounts4.sqlite` beside the Mail folder, as below `~/Library`. */
  readonly accountsDb?: string;
}

export interface NewMailStore extends MailStoreOptions {
  readonly variant?: MailVariant;
  /** `properties.UUID`; default a new one. */
  readonly uuid?: string;
}

interface Layout {
  readonly scheme: string;
  readonly type: string;
  readonly parentType: string | null;
  readonly boxes: readonly string[];
  readonly labels: readonly string[];
  readonly properties: { readonly [key: string]: string };
  readonly sent: string;
  readonly drafts: string;
  readonly junk: string;
  readonly trash: string;
  readonly inbox: string;
}

const ALL_MAIL = '[Gmail]/All Mail';
const USER_FOLDERS = ['Projects', 'Projects/Öffentlich', 'Projects/Öffentlich/2026 – Entwürfe', 'メモ'];

const LAYOUTS: Record<AccountKind, Layout> = {
  imap: {
    scheme: 'imap', type: 'IMAP', parentType: 'AppleAccount',
    boxes: ['INBOX', 'Sent Messages', 'Drafts', 'Junk', 'Archive', 'Deleted Messages'], labels: [],
    properties: { DraftsMailboxName: 'Drafts', SentMessagesMailboxName: 'Sent Messages', TrashMailboxName: 'Deleted Messages', JunkMailboxName: 'Junk', ArchiveMailboxName: 'Archive' },
    inbox: 'INBOX', sent: 'Sent Messages', drafts: 'Drafts', junk: 'Junk', trash: 'Deleted Messages',
  },
  gmail: {
    scheme: 'imap', type: 'IMAP', parentType: 'Google',
    boxes: [ALL_MAIL, '[Gmail]/Spam', '[Gmail]/Trash', '[Gmail]/Drafts'],
    labels: ['INBOX', '[Gmail]/Important', '[Gmail]/Starred', '[Gmail]/Sent Mail'],
    properties: { DraftsMailboxName: '[Gmail]/Drafts', SentMessagesMailboxName: '[Gmail]/Sent Mail', TrashMailboxName: '[Gmail]/Trash', JunkMailboxName: '[Gmail]/Spam', ArchiveMailboxName: ALL_MAIL },
    inbox: 'INBOX', sent: '[Gmail]/Sent Mail', drafts: '[Gmail]/Drafts', junk: '[Gmail]/Spam', trash: '[Gmail]/Trash',
  },
  ews: {
    scheme: 'ews', type: 'Exchange', parentType: null,
    boxes: ['Inbox', 'Sent Items', 'Drafts', 'Junk Email', 'Deleted Items'], labels: [], properties: {},
    inbox: 'Inbox', sent: 'Sent Items', drafts: 'Drafts', junk: 'Junk Email', trash: 'Deleted Items',
  },
  local: {
    scheme: 'local', type: 'LocalMail', parentType: null, boxes: ['Outbox', 'SendLater'], labels: [],
    properties: { OutboxMailboxName: 'Outbox' },
    inbox: 'Outbox', sent: 'Outbox', drafts: 'Outbox', junk: 'Outbox', trash: 'Outbox',
  },
};

/** Mail's store and what Mail does to it. Each operation is one transaction unless it says otherwise. */
export class MailStore extends MailRows {
  readonly accounts: AccountsStore;

  constructor(mailDir: string, options: MailStoreOptions = {}) {
    super(mailDir, options);
    this.accounts = AccountsStore.openOrCreate(options.accountsDb ?? defaultAccountsDb(mailDir), options.synchronous === undefined ? {} : { synchronous: options.synchronous });
  }

  static create(mailDir: string, options: NewMailStore = {}): MailStore {
    const variant = options.variant ?? 'macos26';
    mkdirSync(join(mailDir, 'MailData'), { recursive: true });
    SqliteStore.build(join(mailDir, 'MailData', 'Envelope Index'), envelopeSchema(variant));
    const store = new MailStore(mailDir, options);
    store.transaction(() => {
      for (const [key, value] of storeProperties(variant, options.uuid)) store.insert('properties', { key, value });
    });
    return store;
  }

  static open(mailDir: string, options: MailStoreOptions = {}): MailStore {
    return new MailStore(mailDir, options);
  }

  override close(): void {
    super.close();
    this.accounts.close();
  }

  override reopen(): void {
    super.reopen();
    this.accounts.reopen();
  }

  uuid(): string {
    return this.value<string>(`SELECT value FROM properties WHERE key = 'UUID'`) ?? '';
  }

  /** Account identifiers that have mailboxes, in the order of their making. */
  accountIds(): string[] {
    return [...new Set(this.mailboxes().map((box) => box.account))];
  }

  /** Adds an account with the mailboxes of its kind, to both files; gives its identifier. */
  addAccount(account: MailAccount): string {
    const id = account.id ?? crypto.randomUUID().toUpperCase();
    const layout = LAYOUTS[account.kind];
    const folders = account.folders ?? (account.kind === 'local' ? [] : USER_FOLDERS);
    this.accounts.addAccount({
      id, description: account.description, email: account.email, type: layout.type, parentType: layout.parentType,
      properties: { ...layout.properties, ...account.properties },
    });
    this.transaction(() => {
      const url = (path: string): string => `${layout.scheme}://${id}/${escapedPath(path)}`;
      for (const path of layout.boxes) this.insert('mailboxes', { url: url(path) });
      const gmail = account.kind === 'gmail';
      const source = gmail ? (this.value<number>('SELECT ROWID FROM mailboxes WHERE url = ?', url(ALL_MAIL)) ?? null) : null;
      for (const path of [...layout.labels, ...folders]) this.insert('mailboxes', { url: url(path), source });
    });
    this.forgetMailboxes();
    return id;
  }

  /** The owner renames an account in System Settings. */
  describeAccount(id: string, description: string): void {
    this.accounts.describe(id, description);
  }

  /** Adds one mailbox, or a label where `source` names the mailbox that holds its mail. */
  addMailbox(account: string, path: string, source?: string): number {
    const scheme = this.mailboxes().find((box) => box.account === account)?.url.split(':')[0] ?? 'imap';
    const id = this.transaction(() =>
      this.insert('mailboxes', { url: `${scheme}://${account}/${escapedPath(path)}`, source: source === undefined ? null : this.mailbox(account, source).id }),
    );
    this.forgetMailboxes();
    return id;
  }

  /** A mail arrives. Gives its rowid. */
  arrive(mail: Mail = {}): number {
    return this.transaction(() => {
      const { box, labels } = this.place(mail);
      return this.writeMail(mail, box, labels);
    });
  }

  /** Several mails in one transaction, as headers come in batches. */
  arriveMany(mails: readonly Mail[]): number[] {
    return this.transaction(() => mails.map((mail) => this.arrive(mail)));
  }

  /** A mail moves: a new row with the same global id in the target, the old row goes. Gives the new rowid. */
  move(rowid: number, mailbox: string): number {
    return this.transaction(() => {
      const from = this.mailboxById(this.#boxOf(rowid));
      const { box, labels } = this.place({ account: from.account, mailbox });
      return this.#moveTo(rowid, box, labels);
    });
  }

  fileAsJunk(rowid: number): number {
    return this.move(rowid, this.#layoutOf(this.mailboxById(this.#boxOf(rowid)).account).junk);
  }

  trash(rowid: number): number {
    return this.move(rowid, this.#layoutOf(this.mailboxById(this.#boxOf(rowid)).account).trash);
  }

  /** A mail lands in junk and is then taken for good: two transactions. */
  junkArrivesThenMovesToInbox(mail: Mail = {}): { junk: number; inbox: number } {
    const account = mail.account ?? this.defaultAccount();
    const layout = this.#layoutOf(account);
    const junk = this.arrive({ ...mail, account, mailbox: layout.junk, flags: { ...mail.flags, junk: true } });
    return { junk, inbox: this.move(junk, layout.inbox) };
  }

  /** An own mail in Sent, not yet uploaded. */
  send(mail: Mail = {}): number {
    return this.transaction(() => {
      const account = mail.account ?? this.defaultAccount();
      const { box, labels } = this.place({ ...mail, account, mailbox: mail.mailbox ?? this.#layoutOf(account).sent });
      const own = mail.from === undefined ? { address: this.ownAddress(account), name: 'Me' } : mail.from;
      return this.writeMail({ ...mail, from: own, flags: { read: true, ...mail.flags } }, box, labels, { remote_id: null });
    });
  }

  /** The server's copy of a sent mail replaces the local row. */
  replaceByServerCopy(rowid: number): number {
    return this.transaction(() => {
      const labels = this.#labelsOf(rowid);
      return this.#moveTo(rowid, this.mailboxById(this.#boxOf(rowid)), labels);
    });
  }

  /** A mail waits in the local SendLater mailbox. Needs an account of kind `local`. */
  sendLater(mail: Mail = {}, at = Math.floor(Date.now() / 1000) + 3600): number {
    return this.transaction(() => {
      const box = this.mailboxes().find((entry) => entry.url.startsWith('local:') && entry.path === 'SendLater');
      if (box === undefined) throw new Error('No SendLater mailbox: add an account of kind local.');
      const rowid = this.writeMail({ from: { address: 'me@example.org', name: 'Me' }, ...mail, flags: { read: true, ...mail.flags } }, box, [], { remote_id: null });
      if (this.has('message_global_data')) {
        this.run('UPDATE message_global_data SET send_later_date = ? WHERE ROWID = (SELECT global_message_id FROM messages WHERE ROWID = ?)', at, rowid);
      }
      return rowid;
    });
  }

  /** A new draft with the values of data-formats/envelope-index 6. */
  draft(mail: Mail = {}): number {
    return this.transaction(() => this.#writeDraft(mail));
  }

  /** An autosave: a new row, the former goes. */
  autosave(rowid: number, mail: Mail = {}): number {
    return this.transaction(() => {
      const account = this.mailboxById(this.#boxOf(rowid)).account;
      const next = this.#writeDraft({ account, ...mail });
      this.removeMail(rowid);
      return next;
    });
  }

  /** A mail that a re-sync brings late: an old date under a new rowid (default 400 days old). */
  resyncLate(mail: Mail = {}): number {
    return this.arrive({ dateReceived: Math.floor(Date.now() / 1000) - 400 * 86_400, ...mail });
  }

  /** First sync of a new account: newest first, so that high rowids carry old dates. One transaction per `batch` mails. */
  addAccountWithOldMails(n = 5000, options: { account?: MailAccount; batch?: number; newestAgeSeconds?: number } = {}): { account: string; rowids: number[] } {
    const account = this.addAccount(options.account ?? { description: 'Added later', email: 'later@example.net', kind: 'imap' });
    const inbox = this.#layoutOf(account).inbox;
    const newest = Math.floor(Date.now() / 1000) - (options.newestAgeSeconds ?? 7200);
    const batch = options.batch ?? 1000;
    const rowids: number[] = [];
    for (let from = 0; from < n; from += batch) {
      const mails = Array.from({ length: Math.min(batch, n - from) }, (_, index): Mail => {
        const nth = from + index;
        return {
          account, mailbox: inbox, from: { address: `old${nth % 97}@example.net`, name: `Old ${nth % 97}` }, subject: `Old mail ${nth}`,
          dateReceived: newest - nth * 3600, flags: { read: nth % 5 !== 0 }, summary: null, file: false,
        };
      });
      rowids.push(...this.arriveMany(mails));
    }
    return { account, rowids };
  }

  /** A mailbox is rebuilt: each of its mails under a new rowid, one transaction. */
  rebuildMailbox(account: string, path: string): number[] {
    return this.transaction(() => {
      const box = this.mailbox(account, path);
      return this.all<{ ROWID: number }>('SELECT ROWID FROM messages WHERE mailbox = ? ORDER BY ROWID', box.id).map((row) =>
        this.#moveTo(row.ROWID, box, this.#labelsOf(row.ROWID)),
      );
    });
  }

  /** The row with the highest rowid goes; the sequence stays. */
  deleteNewest(): number {
    return this.transaction(() => {
      const rowid = this.value<number>('SELECT MAX(ROWID) FROM messages') ?? 0;
      this.removeMail(rowid);
      return rowid;
    });
  }

  remove(rowid: number): void {
    this.transaction(() => this.removeMail(rowid));
  }

  /** The body preview comes after the row. */
  fillSummaryLater(rowid: number, text = `Preview ${canary('mail-summary')} filled for ${rowid}`): void {
    this.transaction(() => {
      if (this.has('summaries')) this.update('messages', rowid, { summary: this.summaryRow(text) });
      else this.update('messages', rowid, { snippet: text });
    });
  }

  /** Attachments are known only after the body is there. */
  addAttachmentsLater(rowid: number, names: readonly string[] = ['later.pdf']): void {
    this.transaction(() => {
      this.attachmentRows(rowid, names);
      this.run('UPDATE messages SET flags = (flags & ~64512) | (? << 10) WHERE ROWID = ?', Math.min(names.length, 63), rowid);
    });
  }

  /** Read, flag and colour changes: the row stays. */
  setFlags(rowid: number, flags: MailFlags): void {
    const bits: [boolean | undefined, number, string | null][] = [
      [flags.read, 1, 'read'], [flags.deleted, 2, 'deleted'], [flags.answered, 4, null], [flags.flagged, 16, 'flagged'],
      [flags.draft, 64, null], [flags.junk, 2 ** 24, null],
    ];
    this.transaction(() => {
      for (const [on, bit, column] of bits) {
        if (on === undefined) continue;
        this.run(`UPDATE messages SET flags = ${on ? 'flags | ?' : 'flags & ~?'} WHERE ROWID = ?`, BigInt(bit), rowid);
        if (column !== null) this.update('messages', rowid, { [column]: on ? 1 : 0 });
      }
      if (flags.color !== undefined) this.update('messages', rowid, { flag_color: flags.color });
    });
  }

  addLabel(rowid: number, label: string): void {
    this.transaction(() => {
      this.insert('labels', { message_id: rowid, mailbox_id: this.#label(rowid, label) }, 'INSERT OR IGNORE');
    });
  }

  /** With INBOX: the mail is archived on Gmail; no message row changes. */
  removeLabel(rowid: number, label: string): void {
    this.transaction(() => {
      this.run('DELETE FROM labels WHERE message_id = ? AND mailbox_id = ?', rowid, this.#label(rowid, label));
    });
  }

  /** A Gmail row whose labels come later. */
  arriveWithoutLabels(mail: Mail = {}): number {
    return this.transaction(() => this.writeMail(mail, this.place(mail).box, []));
  }

  labelLater(rowid: number, labels: readonly string[] = ['INBOX']): void {
    this.transaction(() => {
      for (const label of labels) this.addLabel(rowid, label);
    });
  }

  /**
   * A mail in a mailbox whose row is not there yet. `messages.mailbox` is no foreign key, but the unread counter's trigger
   * writes one, so keys are off for this one transaction.
   */
  arriveBeforeMailboxRow(mail: Mail = {}): { rowid: number; mailbox: number } {
    this.db.pragma('foreign_keys = OFF');
    try {
      return this.transaction(() => {
        const id = this.sequence('mailboxes') + 1;
        const account = mail.account ?? this.defaultAccount();
        const box: MailboxEntry = { id, url: `none://${account}/Later`, account, path: 'Later', source: null };
        return { rowid: this.writeMail({ ...mail, file: false }, box, [], { remote_id: null }), mailbox: id };
      });
    } finally {
      this.db.pragma('foreign_keys = ON');
    }
  }

  /** The row of that mailbox, with the counters it would have. */
  mailboxLater(mailbox: number, path = 'Later', account?: string): void {
    this.transaction(() => {
      const owner = account ?? this.defaultAccount();
      const scheme = this.mailboxes().find((box) => box.account === owner)?.url.split(':')[0] ?? 'imap';
      this.insert('mailboxes', { ROWID: mailbox, url: `${scheme}://${owner}/${escapedPath(path)}` });
      this.run(
        `UPDATE mailboxes SET total_count = (SELECT COUNT(*) FROM messages WHERE mailbox = mailboxes.ROWID),
           unseen_count = (SELECT COUNT(*) FROM messages WHERE mailbox = mailboxes.ROWID AND flags & 1 = 0),
           unread_count = (SELECT COUNT(*) FROM messages WHERE mailbox = mailboxes.ROWID AND flags & 3 = 0) WHERE ROWID = ?`,
        mailbox,
      );
    });
    this.forgetMailboxes();
  }

  /** One mail delivered to two accounts: one row each, the same hash and global id. */
  arriveInTwoAccounts(mail: Mail = {}, accounts?: readonly [string, string]): number[] {
    const ids = accounts ?? this.mailboxes().filter((box) => !box.url.startsWith('local:')).map((box) => box.account);
    const both = [...new Set(ids)].slice(0, 2);
    if (both.length < 2) throw new Error('The store needs two accounts.');
    const messageId = mail.messageId ?? `<${crypto.randomUUID().toUpperCase()}@example.org>`;
    return this.arriveMany(both.map((account) => ({ ...mail, account, messageId })));
  }

  /** User name of an account: the parent speaks where there is one. */
  ownAddress(account: string): string {
    return (
      this.accounts.value<string>(
        'SELECT COALESCE(p.ZUSERNAME, a.ZUSERNAME) FROM ZACCOUNT a LEFT JOIN ZACCOUNT p ON p.Z_PK = a.ZPARENTACCOUNT WHERE a.ZIDENTIFIER = ?',
        account,
      ) ?? 'me@example.org'
    );
  }

  /** VIPs as `MailData/VIPs.plist` holds them. */
  setVips(people: readonly { name: string; addresses: readonly string[] }[]): void {
    const entries = people.map((person) => [crypto.randomUUID().toUpperCase(), { Name: person.name, EmailAddresses: person.addresses }] as const);
    writeFileSync(join(this.mailDir, 'MailData', 'VIPs.plist'), encodePlist(Object.fromEntries(entries)));
  }

  #boxOf(rowid: number): number {
    const box = this.value<number>('SELECT mailbox FROM messages WHERE ROWID = ?', rowid);
    if (box === undefined) throw new Error(`No mail ${rowid}.`);
    return box;
  }

  #labelsOf(rowid: number): number[] {
    return this.all<{ mailbox_id: number }>('SELECT mailbox_id FROM labels WHERE message_id = ?', rowid).map((row) => row.mailbox_id);
  }

  #label(rowid: number, path: string): number {
    return this.mailbox(this.mailboxById(this.#boxOf(rowid)).account, path).id;
  }

  #layoutOf(account: string): Layout {
    const boxes = this.mailboxes().filter((box) => box.account === account);
    if (boxes.some((box) => box.path === ALL_MAIL)) return LAYOUTS.gmail;
    if (boxes.some((box) => box.url.startsWith('ews:'))) return LAYOUTS.ews;
    return boxes.some((box) => box.url.startsWith('local:')) ? LAYOUTS.local : LAYOUTS.imap;
  }

  #writeDraft(mail: Mail): number {
    const account = mail.account ?? this.defaultAccount();
    const { box, labels } = this.place({ ...mail, account, mailbox: mail.mailbox ?? this.#layoutOf(account).drafts });
    const now = Math.floor(Date.now() / 1000);
    return this.writeMail(
      { from: { address: this.ownAddress(account), name: '' }, dateReceived: now, dateSent: now, summary: null, ...mail, flags: { read: true, draft: true, ...mail.flags } },
      box,
      labels,
      { remote_id: null, color: null, unsubscribe_type: null, type: 5, date_last_viewed: now },
    );
  }

  #moveTo(rowid: number, box: MailboxEntry, labels: readonly number[]): number {
    const next = this.copyRow('messages', rowid, { mailbox: box.id, remote_mailbox: box.id, document_id: Buffer.from(crypto.randomUUID().replaceAll('-', ''), 'hex') });
    const bits = this.value<number>('SELECT flags & 16777217 FROM messages WHERE ROWID = ?', next) ?? 0;
    this.update('messages', next, { remote_id: null });
    this.serverRow(next, box, (bits & 1) === 1, bits > 1);
    for (const table of ['recipients', 'attachments'] as const) {
      const column = this.messageColumn(table);
      for (const row of this.all<{ ROWID: number }>(`SELECT ROWID FROM ${table} WHERE ${column} = ?`, rowid)) this.copyRow(table, row.ROWID, { [column]: next });
    }
    this.insertSearchable(next);
    for (const label of labels) this.insert('labels', { message_id: next, mailbox_id: label }, 'INSERT OR IGNORE');
    const former = this.emlxPath(rowid, this.mailboxById(this.#boxOf(rowid)));
    this.removeMail(rowid);
    if (existsSync(former)) {
      const path = this.emlxPath(next, box);
      mkdirSync(dirname(path), { recursive: true });
      renameSync(former, path);
    }
    return next;
  }
}

function defaultAccountsDb(mailDir: string): string {
  return join(mailDir, '..', '..', 'Accounts', 'Accounts4.sqlite');
}

/** Rows of `properties` that every store has. */
export function storeProperties(variant: MailVariant, uuid: string = crypto.randomUUID().toUpperCase()): [string, string | number][] {
  const version = MAIL_VERSIONS[variant];
  return [
    ['UUID', uuid], ['version', 4], ['minor_version', version.minor], ['last_write_version', 4], ['last_write_minor_version', version.minor],
    ['last_write_framework_version', version.framework], ['WriteTransactionGeneration', 1],
  ];
}
