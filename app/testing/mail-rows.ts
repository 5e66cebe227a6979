import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canary } from './canary.ts';
import { decodedPath, mailFlags, messageIdHash, type Mail, type MailAddress } from './mail-values.ts';
import { SqliteStore, type SqlValue, type StoreOptions } from './sqlite-store.ts';

export interface MailboxEntry {
  readonly id: number;
  readonly url: string;
  readonly account: string;
  readonly path: string;
  readonly source: number | null;
}

/** A physical mailbox and the labels under which a mail shows. */
interface Place {
  readonly box: MailboxEntry;
  readonly labels: readonly number[];
}

const nowSeconds = (): number => Math.floor(Date.now() / 1000);

/** The rows that one mail makes, in the order in which Mail writes them (data-formats/envelope-index 6). */
export class MailRows extends SqliteStore {
  /** Folder of this version, e.g. `.../Mail/V10`. */
  readonly mailDir: string;
  #boxes = new Map<string, MailboxEntry>();
  #uids = new Map<number, number>();

  constructor(mailDir: string, options: StoreOptions = {}) {
    super(join(mailDir, 'MailData', 'Envelope Index'), options);
    this.mailDir = mailDir;
  }

  mailboxes(): MailboxEntry[] {
    return this.all<{ ROWID: number; url: string; source: number | null }>('SELECT ROWID, url, source FROM mailboxes ORDER BY ROWID').map((row) => ({
      id: row.ROWID,
      url: row.url,
      account: /:\/\/([^/]*)/.exec(row.url)?.[1] ?? '',
      path: decodedPath(row.url),
      source: row.source,
    }));
  }

  /** The mailbox of an account by its decoded path, ignoring case. */
  mailbox(account: string, path: string): MailboxEntry {
    const key = `${account}/${path.normalize('NFC').toLowerCase()}`;
    let found = this.#boxes.get(key);
    if (found === undefined) {
      for (const box of this.mailboxes()) this.#boxes.set(`${box.account}/${box.path.toLowerCase()}`, box);
      found = this.#boxes.get(key);
      if (found === undefined) throw new Error(`No mailbox ${path} in account ${account}.`);
    }
    return found;
  }

  mailboxById(id: number): MailboxEntry {
    const found = this.mailboxes().find((box) => box.id === id);
    if (found === undefined) throw new Error(`No mailbox ${id}.`);
    return found;
  }

  override reopen(): void {
    this.#boxes.clear();
    this.#uids.clear();
    super.reopen();
  }

  protected forgetMailboxes(): void {
    this.#boxes.clear();
  }

  protected override beforeCommit(): void {
    this.run(`UPDATE properties SET value = value + 1 WHERE key = 'WriteTransactionGeneration'`);
  }

  protected defaultAccount(): string {
    const first = this.mailboxes().find((box) => !box.url.startsWith('local:'));
    if (first === undefined) throw new Error('The store has no account: call addAccount first.');
    return first.account;
  }

  /** Where a mail goes: a label's mail lies in the label's source (data-formats/envelope-index 5). */
  protected place(mail: Mail): Place {
    const account = mail.account ?? this.defaultAccount();
    const named = this.mailbox(account, mail.mailbox ?? 'INBOX');
    const labels = (mail.labels ?? []).map((path) => this.mailbox(account, path).id);
    if (named.source === null) return { box: named, labels };
    return { box: this.mailboxById(named.source), labels: [named.id, ...labels] };
  }

  protected addressRow(entry: MailAddress): number {
    const comment = entry.name ?? '';
    return (
      this.value<number>('SELECT ROWID FROM addresses WHERE address = ? AND comment = ?', entry.address, comment) ??
      this.insert('addresses', { address: entry.address, comment })
    );
  }

  protected subjectRow(subject: string): number {
    return (
      this.value<number>('SELECT ROWID FROM subjects WHERE subject = ?', subject) ??
      this.insert('subjects', { subject, normalized_subject: subject.toLowerCase() })
    );
  }

  protected summaryRow(summary: string): number | null {
    if (!this.has('summaries')) return null;
    return this.value<number>('SELECT ROWID FROM summaries WHERE summary = ?', summary) ?? this.insert('summaries', { summary });
  }

  /** One row per Message-ID, shared by all copies. A mail without one gets a row of its own. */
  protected globalRow(hash: bigint, header: string): number {
    if (!this.has('message_global_data')) return 0;
    const known = hash === 0n ? undefined : this.value<number>('SELECT ROWID FROM message_global_data WHERE message_id = ?', hash);
    return known ?? this.insert('message_global_data', { message_id: hash === 0n ? null : hash, validation_state: 17940, message_id_header: header });
  }

  protected conversationRow(mail: Mail): number {
    if (mail.inReplyTo !== undefined && this.has('conversation_id_message_id')) {
      const known = this.value<number>('SELECT conversation_id FROM conversation_id_message_id WHERE message_id = ?', messageIdHash(mail.inReplyTo));
      if (known !== undefined) return known;
    }
    return this.insert('conversations', { flags: 0 });
  }

  /** Next server id: an IMAP UID, or for Exchange a base64 text in the same INTEGER column. */
  protected remoteId(box: MailboxEntry): SqlValue {
    if (box.url.startsWith('ews:')) return randomBytes(48).toString('base64');
    if (!/^(imap|pop):/.test(box.url)) return null;
    let last = this.#uids.get(box.id);
    if (last === undefined) {
      last = this.has('server_messages')
        ? (this.value<number>('SELECT MAX(remote_id) FROM server_messages WHERE mailbox = ?', box.id) ?? 0)
        : (this.value<number>('SELECT MAX(remote_id) FROM messages WHERE mailbox = ?', box.id) ?? 0);
    }
    this.#uids.set(box.id, last + 1);
    return last + 1;
  }

  /** Writes all rows of a mail and gives the rowid of its message. `changes` overrides columns of `messages`. */
  protected writeMail(mail: Mail, box: MailboxEntry, labels: readonly number[], changes: { readonly [column: string]: SqlValue } = {}): number {
    const header = mail.messageId ?? `<${crypto.randomUUID().toUpperCase()}@example.org>`;
    const hash = messageIdHash(header);
    const received = mail.dateReceived === undefined ? nowSeconds() : mail.dateReceived;
    const sent = mail.dateSent === undefined ? received : mail.dateSent;
    const names = mail.attachments ?? [];
    const flags = mail.flags ?? {};
    const summary = mail.summary === undefined ? `Preview ${canary('mail-summary')} of ${header.slice(1, 13)}` : mail.summary;

    const from = mail.from === undefined ? { address: 'sender@example.com', name: 'Sample Sender' } : mail.from;
    const sender = from === null ? null : this.addressRow(from);
    const recipients = [...(mail.to ?? [{ address: 'me@example.org', name: '' }]).map((entry) => [entry, 0] as const), ...(mail.cc ?? []).map((entry) => [entry, 1] as const)];
    const recipientRows = recipients.map(([entry, type]) => [this.addressRow(entry), type] as const);
    const conversation = this.conversationRow(mail);
    const subject = this.subjectRow(mail.subject ?? 'A subject');
    const global = this.globalRow(hash, header);
    const old = !this.has('message_global_data');
    const documentId = Buffer.from(crypto.randomUUID().replaceAll('-', ''), 'hex');
    const bits = mailFlags(flags, names.length);

    const rowid = this.insert('messages', {
      // V5 to V7 hold NULL where later versions hold 0.
      message_id: old && hash === 0n ? null : hash,
      global_message_id: global,
      remote_id: null,
      document_id: documentId,
      sender,
      subject_prefix: mail.prefix ?? null,
      subject,
      summary: summary === null ? null : this.summaryRow(summary),
      snippet: summary,
      date_sent: sent,
      date_received: received,
      date_created: received,
      date_last_viewed: 0,
      display_date: received,
      mailbox: box.id,
      remote_mailbox: box.id,
      flags: bits,
      read: flags.read === true ? 1 : 0,
      flagged: flags.flagged === true ? 1 : 0,
      deleted: flags.deleted === true ? 1 : 0,
      flag_color: flags.color ?? 0,
      size: mail.size ?? 4096,
      conversation_id: conversation,
      list_id_hash: 0,
      unsubscribe_type: 0,
      color: '000000',
      fuzzy_ancestor: -2,
      automated_conversation: 0,
      root_status: 1,
      ...changes,
    });
    if (changes['remote_id'] === undefined) this.serverRow(rowid, box, flags.read === true, flags.junk === true);
    if (hash !== 0n && this.has('conversation_id_message_id')) {
      this.insert('conversation_id_message_id', { conversation_id: conversation, message_id: hash, date_sent: sent ?? 0 }, 'INSERT OR IGNORE');
    }
    recipientRows.forEach(([address, type], index) => {
      const position = recipientRows.slice(0, index).filter(([, other]) => other === type).length;
      this.insert('recipients', { message: rowid, message_id: rowid, address, address_id: address, type, position });
    });
    this.insertSearchable(rowid);
    // The foreign key demands the message first.
    for (const label of labels) this.insert('labels', { message_id: rowid, mailbox_id: label }, 'INSERT OR IGNORE');
    this.attachmentRows(rowid, names);
    if (mail.inReplyTo !== undefined) {
      const reference = messageIdHash(mail.inReplyTo);
      if (this.has('message_references')) this.insert('message_references', { message: rowid, reference, is_originator: 1 });
      else this.insert('threads', { message_id: rowid, reference, is_originator: 1 });
    }
    if (mail.file !== false) this.writeFile(rowid, box, mail, header, received ?? 0, bits);
    return rowid;
  }

  /** Part numbers from 2 on; each file name carries a mark. */
  protected attachmentRows(rowid: number, names: readonly string[]): void {
    names.forEach((name, index) => {
      this.insert('attachments', { message: rowid, message_id: rowid, attachment_id: String(index + 2), name: `${canary('mail-attachment')}-${name}` });
    });
  }

  /** The server's copy: its id on the message, and the mirror row that IMAP accounts have. */
  protected serverRow(rowid: number, box: MailboxEntry, read: boolean, junk: boolean): void {
    const remote = this.remoteId(box);
    if (remote === null) return;
    this.run('UPDATE messages SET remote_id = ? WHERE ROWID = ?', remote, rowid);
    if (!box.url.startsWith('imap:') || this.value<number>('SELECT 1 FROM mailboxes WHERE ROWID = ?', box.id) === undefined) return;
    if (this.has('server_messages')) {
      this.insert('server_messages', {
        message: rowid, mailbox: box.id, sequence_identifier: remote, read: read ? 1 : 0, deleted: 0, replied: 0, flagged: 0, draft: 0, forwarded: 0,
        redirected: 0, junk_level_set_by_user: 0, junk_level: junk ? 1 : 0, flag_color: 0, remote_id: remote,
      });
    } else this.insert('imap_messages', { message: rowid, mailbox: box.id, flags: read ? 1 : 0, uid: remote });
  }

  protected insertSearchable(rowid: number): void {
    if (!this.has('searchable_messages')) return;
    this.insert('searchable_messages', { message_id: rowid, message: rowid, transaction_id: 1, message_body_indexed: 1, reindex_type: 0 });
    this.run('UPDATE messages SET searchable_message = ? WHERE ROWID = ?', rowid, rowid);
  }

  /** Removes a message and what no cascade removes. */
  protected removeMail(rowid: number): void {
    if (this.has('server_messages')) this.run('DELETE FROM server_messages WHERE message = ?', rowid);
    if (this.has('imap_messages')) this.run('DELETE FROM imap_messages WHERE message = ?', rowid);
    this.run(`DELETE FROM recipients WHERE ${this.messageColumn('recipients')} = ?`, rowid);
    if (this.run('DELETE FROM messages WHERE ROWID = ?', rowid) === 0) throw new Error(`No mail ${rowid}.`);
  }

  /** Name of the column that points to the message: it was `message_id` up to 10.15. */
  protected messageColumn(table: 'recipients' | 'attachments'): string {
    return this.has(table, 'message') ? 'message' : 'message_id';
  }

  /** Path of the .emlx by the rule of data-formats/envelope-index 7: thousands in reverse, one folder per digit. */
  emlxPath(rowid: number, box: MailboxEntry): string {
    const thousands = Math.floor(rowid / 1000);
    const digits = thousands === 0 ? [] : [...String(thousands)].toReversed();
    const folders = box.path.split('/').map((part) => `${part}.mbox`);
    return join(this.mailDir, box.account, ...folders, '0B0D6E6C-0000-4000-8000-00000000B0B0', 'Data', ...digits, 'Messages', `${rowid}.emlx`);
  }

  protected writeFile(rowid: number, box: MailboxEntry, mail: Mail, header: string, received: number, flags: bigint): void {
    const path = this.emlxPath(rowid, box);
    const message = [
      `From: ${mail.from?.address ?? 'sender@example.com'}`,
      `Subject: ${mail.prefix ?? ''}${mail.subject ?? 'A subject'}`,
      `Message-ID: ${header}`,
      'Content-Type: text/plain; charset=utf-8',
      '',
      mail.text ?? `Body text ${canary('mail-body')}`,
      '',
    ].join('\n');
    const count = `${Buffer.byteLength(message)}`.padEnd(10);
    const trailer = `<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0">\n<dict>\n<key>date-received</key>\n<integer>${received}</integer>\n<key>flags</key>\n<integer>${flags}</integer>\n</dict>\n</plist>\n`;
    mkdirSync(join(path, '..'), { recursive: true });
    // Renamed into place within the transaction (data-formats/envelope-index 6).
    writeFileSync(`${path}.tmp`, `${count}\n${message}${trailer}`);
    renameSync(`${path}.tmp`, path);
  }
}
