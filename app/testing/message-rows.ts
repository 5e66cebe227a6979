import type Database from 'better-sqlite3';
import { canary } from './canary.ts';
import { appleTime, newGuid, type Message } from './message-values.ts';
import { SqliteStore, type SqlValue } from './sqlite-store.ts';
import { encodeAttributedBody } from './typedstream.ts';

const DEFAULT_SENDER = '+15550100';

/** The rows that one message makes: handle, chat, message, join, attachments (data-formats/chat-db 4, 6, 11). */
export class MessageRows extends SqliteStore {
  /** True for the schema of macOS 26: `text` stays NULL and chat guids start with `any`. */
  protected get isCurrent(): boolean {
    return this.has('chat_service');
  }

  /** Unit of dates: `chat_message_join.message_date` came with nanoseconds. */
  get dateUnit(): 'ns' | 's' {
    return this.has('chat_message_join', 'message_date') ? 'ns' : 's';
  }

  /** Stand-ins for the functions that Apple's triggers call (data-formats/chat-db 12). */
  protected override register(db: Database.Database): void {
    // Functions of an application may stand in triggers only of a trusted schema.
    db.pragma('trusted_schema = ON');
    db.function('verify_chat', (_guid) => 1);
    db.function('before_delete_attachment_path', (_rowid, _guid) => null);
    db.function('delete_attachment_path', (_path) => null);
    db.function('after_delete_message_plugin', (_rowid, _guid) => null);
    db.function('delete_chat_background_before_deleting_chat', (_guid, _properties) => null);
    db.function('is_mic_enabled', () => 0);
    db.function('guid_for_chat', (identifier, service, style) => `${service};${style === 43 ? '+' : '-'};${identifier}`);
  }

  protected now(): bigint {
    return appleTime(Date.now(), this.dateUnit);
  }

  protected handleRow(id: string, service: string): number {
    return (
      this.value<number>('SELECT ROWID FROM handle WHERE id = ? AND service = ?', id, service) ??
      this.insert('handle', { id, country: id.startsWith('+44') ? 'gb' : 'us', service, uncanonicalized_id: null })
    );
  }

  /** The chat of a message, made on demand, with its members joined. */
  protected chatRow(message: Message): number {
    const chat = message.chat ?? {};
    const service = message.service ?? 'iMessage';
    const sender = message.from ?? DEFAULT_SENDER;
    const group = chat.group === true;
    const identifier = chat.identifier ?? (group ? `chat${100_000_000_000 + this.sequence('chat') + 1}` : sender);
    const lead = (chat.guidStyle ?? (this.isCurrent ? 'any' : 'service')) === 'any' ? 'any' : service;
    const guid = `${lead};${group ? '+' : '-'};${identifier}`;
    const known = this.value<number>('SELECT ROWID FROM chat WHERE guid = ?', guid);
    const members = group ? (chat.members ?? [sender]) : [identifier];
    const rowid =
      known ??
      this.insert('chat', {
        guid, style: group ? 43 : 45, state: 3, account_id: newGuid(), chat_identifier: identifier, service_name: service,
        room_name: group ? identifier : null, account_login: 'E:me@example.org', last_addressed_handle: 'me@example.org',
        display_name: chat.name ?? '', group_id: newGuid(), is_filtered: chat.filtered, is_blackholed: chat.blackholed === true ? 1 : 0,
        successful_query: 1,
      });
    for (const member of members) this.insert('chat_handle_join', { chat_id: rowid, handle_id: this.handleRow(member, service) }, 'INSERT OR IGNORE');
    return rowid;
  }

  /** The `message` row alone: no join, no attachment rows. */
  protected messageRow(message: Message): number {
    const service = message.service ?? 'iMessage';
    const fromMe = message.fromMe === true;
    const sender = message.from ?? DEFAULT_SENDER;
    const names = message.attachments ?? [];
    const guid = message.guid ?? newGuid();
    const plain = message.text === undefined ? `Hello ${canary('message-text')} ${guid.slice(0, 8)}` : message.text;
    // One placeholder for each attachment, in their order (data-formats/chat-db 11).
    const text = plain === null && names.length === 0 ? null : '\uFFFC'.repeat(names.length) + (plain ?? '');
    const form = message.body ?? 'immutable';
    const showsText = message.plainText ?? (form === 'none' || !this.isCurrent);
    const date = message.date === undefined ? this.now() : message.date === null ? 0n : appleTime(message.date, this.dateUnit);
    // An own message in a one-to-one chat may carry the other party's handle; others carry 0.
    const handle = fromMe ? 0 : this.handleRow(sender, service);
    const account = /^(sms|rcs)$/i.test(service) ? 'p:+15550199' : 'e:me@example.org';
    return this.insert('message', {
      guid,
      text: showsText ? text : null,
      attributedBody: text === null || form === 'none' ? null : encodeAttributedBody(text, { form }),
      handle_id: handle,
      version: 10,
      service,
      account,
      account_guid: '0A0A0A0A-0000-4000-8000-000000000001',
      date,
      date_read: 0,
      date_delivered: 0,
      is_delivered: fromMe ? 0 : 1,
      is_finished: 1,
      is_from_me: fromMe ? 1 : 0,
      is_sent: fromMe ? 1 : 0,
      is_read: fromMe ? 1 : 0,
      cache_has_attachments: names.length > 0 ? 1 : 0,
      destination_caller_id: fromMe ? null : account.slice(2),
      part_count: 1,
      thread_originator_guid: message.threadOriginator,
      thread_originator_part: message.threadOriginator === undefined ? null : '0:0:5',
      ...message.set,
    });
  }

  protected joinRow(chat: number, message: number): void {
    const date = this.exact('SELECT date FROM message WHERE ROWID = ?', message) ?? 0n;
    this.insert('chat_message_join', { chat_id: chat, message_id: message, message_date: date });
  }

  protected attachmentRows(message: number, names: readonly string[]): void {
    names.forEach((name, index) => {
      const guid = `at_${index}_${newGuid()}`;
      const attachment = this.insert('attachment', {
        guid,
        original_guid: guid,
        // Seconds since 2001 in every version.
        created_date: appleTime(Date.now(), 's'),
        filename: `~/Library/Messages/Attachments/89/09/${guid}/${canary('message-attachment')}-${name}`,
        uti: 'public.jpeg',
        mime_type: 'image/jpeg',
        transfer_state: 5,
        transfer_name: `${canary('message-attachment')}-${name}`,
        total_bytes: 20_000,
      });
      this.insert('message_attachment_join', { message_id: message, attachment_id: attachment });
    });
  }

  /** A whole arrival. */
  protected writeMessage(message: Message): number {
    const chat = this.chatRow(message);
    const rowid = this.messageRow(message);
    this.joinRow(chat, rowid);
    this.attachmentRows(rowid, message.attachments ?? []);
    return rowid;
  }

  /** A 64-bit value without rounding. */
  protected exact(sql: string, ...values: SqlValue[]): bigint | undefined {
    const row = this.db.prepare(sql).safeIntegers(true).get(...values) as { [column: string]: bigint | null } | undefined;
    return row === undefined ? undefined : (Object.values(row)[0] ?? undefined);
  }
}
