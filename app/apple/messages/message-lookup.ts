import type { Chat, MessageRow } from '../occurrence.ts';
import { withoutFilterSuffix } from '../sender.ts';
import type { Store } from '../store.ts';
import { attachmentsOf, type AttachmentColumns, type MessageAttachment } from './message-attachments.ts';
import { unixMs } from './message-columns.ts';
import { readEdits, type TextVersion } from './message-edits.ts';
import { plainText, readMessageText, type TextColumns } from './message-text.ts';
import { reactionsOf, type Reaction, type ReactionRow } from './reactions.ts';
import { indexedBy, indexOn } from './table-index.ts';

export type MessageName = { readonly guid: string } | { readonly rowid: number };

/** What a row of the envelope leaves out. */
export interface MessageDetail {
  readonly fromMe: boolean;
  readonly read: boolean;
  readonly text: string;
  /** False: there is a body, and it cannot be read. */
  readonly isReadable: boolean;
  /** Unix ms of the last edit, or null. */
  readonly editedAt: number | null;
  /** Former versions of its parts, the oldest first. */
  readonly versions: readonly TextVersion[];
  readonly isUnsent: boolean;
  readonly reactions: readonly Reaction[];
  readonly attachments: readonly MessageAttachment[];
}

/** Where a page of a list goes on: after this message. */
export interface MessagePlace {
  /** The date as stored, in decimal: nanoseconds exceed a double. Null where there is none. */
  readonly date: string | null;
  readonly rowid: number;
}

export interface MessageListRequest {
  /** ROWIDs. */
  readonly chats: readonly number[];
  /** Unix ms, or null: only what is dated before, or at and after. */
  readonly before: number | null;
  readonly since: number | null;
  readonly after: MessagePlace | null;
  readonly limit: number;
  /** Asked of each row before it counts towards the limit. */
  readonly may: (row: MessageRow) => boolean;
}

export interface MessageListPage {
  readonly rows: readonly { readonly row: MessageRow; readonly place: MessagePlace }[];
  readonly next: MessagePlace | null;
}

export interface MessageScanRequest {
  /** ROWIDs of chats, or null. */
  readonly chats: readonly number[] | null;
  /** Only below this row; null: from the newest on. */
  readonly below: number | null;
  readonly limit: number;
}

/** A message of its own with its text, '' where it has none. */
export interface ScannedMessage {
  readonly rowid: number;
  /** Unix ms, or null. */
  readonly date: number | null;
  readonly text: string;
}

export interface ListedChat extends Chat {
  readonly title: string;
  /** Members without me, normalised. */
  readonly members: readonly string[];
  /** Unix ms of the newest message, or null. */
  readonly date: number | null;
  /** ROWID of the newest message: where a page goes on. */
  readonly newest: number;
}

export interface ChatListRequest {
  /** Only chats whose newest message is below this row; null: from the newest on. */
  readonly below: number | null;
  readonly limit: number;
  readonly may: (chat: Chat, members: readonly string[]) => boolean;
}

export interface ChatListPage {
  readonly chats: readonly ListedChat[];
  readonly next: number | null;
}

export const LIST_STEP = 200;
/** Rows looked at for one page. */
export const MAX_LOOKED = 1000;
/** A reaction hangs on a part; real messages have a few. */
const PARTS = 20;
const MAX_REACTIONS = 500;
const ADDED = 2000;
const REMOVED_END = 4000;

interface DetailColumns {
  readonly guid: string;
  readonly text: string | null;
  readonly body: Uint8Array | null;
  readonly summary: Uint8Array | null;
  readonly fromMe: number;
  readonly read: number;
  readonly edited: number | null;
}

/** SQL for reading messages by name and by chat. Everything within the caller's transaction. */
export class MessageLookup {
  readonly #store: Store;
  readonly #normalise: (handle: string) => string;
  readonly #detail: string;
  /** Own words of a person, not what hangs on another message. */
  readonly #isMessage: string;
  readonly #date: string;
  readonly #byChat: string | null;

  constructor(store: Store, normalise: (handle: string) => string) {
    this.#store = store;
    this.#normalise = normalise;
    const column = (name: string, missing: string) => (store.has('message', name) ? `IFNULL(m.${name}, ${missing})` : missing);
    this.#detail = `SELECT m.guid AS guid, ${column('text', 'NULL')} AS text, ${column('attributedBody', 'NULL')} AS body, ${column('message_summary_info', 'NULL')} AS summary,
      (${column('is_from_me', '0')} <> 0) AS fromMe, (${column('is_read', '0')} <> 0) AS read, ${store.has('message', 'date_edited') ? unixMs('m.date_edited') : 'NULL'} AS edited
      FROM message m WHERE m.ROWID = ?`;
    this.#isMessage = `${column('associated_message_type', '0')} IN (0, 2, 3) AND ${column('item_type', '0')} = 0`;
    this.#date = store.has('chat_message_join', 'message_date') ? 'j.message_date' : 'm.date';
    this.#byChat = indexOn(store, 'chat_message_join', ['chat_id', 'message_id']);
  }

  /** The row that a name fits, if it is a message of its own. */
  rowid(name: MessageName): number | null {
    const [condition, value] = 'guid' in name ? ['m.guid = ?', name.guid] : ['m.ROWID = ?', name.rowid];
    return (this.#store.statement(`SELECT m.ROWID FROM message m WHERE ${condition} AND ${this.#isMessage}`, 'pluck').get(value) as number | undefined) ?? null;
  }

  detail(rowid: number): MessageDetail | null {
    const row = this.#store.statement(this.#detail).get(rowid) as DetailColumns | undefined;
    if (row === undefined) return null;
    const { text, transfers, isUnreadable } = readMessageText({ text: row.text, attributedBody: row.body });
    const edits = readEdits(row.summary);
    return {
      fromMe: row.fromMe === 1,
      read: row.read === 1,
      text,
      isReadable: !isUnreadable,
      editedAt: row.edited,
      versions: [...edits.versions.values()].flatMap((versions) => versions.slice(0, -1)),
      isUnsent: edits.unsent.length > 0 && text === '',
      reactions: this.#reactions(row.guid),
      attachments: this.#attachments(rowid, transfers),
    };
  }

  /** Up to LIST_STEP places of messages in these chats, newest first; those without a date come last. */
  step(request: Pick<MessageListRequest, 'chats' | 'before' | 'since'>, after: MessagePlace | null): MessagePlace[] {
    const dated = after?.date === null ? [] : this.#places(request, after, true);
    const left = LIST_STEP - dated.length;
    if (left === 0 || request.before !== null || request.since !== null) return dated;
    return [...dated, ...this.#places(request, after?.date === null ? after : null, false).slice(0, left)];
  }

  /** Chat by chat, each along its index, then merged. Seconds of old stores are smaller than nanoseconds, so the order holds across both. */
  #places({ chats, before, since }: Pick<MessageListRequest, 'chats' | 'before' | 'since'>, after: MessagePlace | null, isDated: boolean): MessagePlace[] {
    const conditions = [
      'j.chat_id = @chat', `${this.#date} IS ${isDated ? 'NOT ' : ''}NULL`, this.#isMessage,
      ...(before === null ? [] : [`${unixMs(this.#date)} < @before`]),
      ...(since === null ? [] : [`${unixMs(this.#date)} >= @since`]),
      ...(after === null ? [] : isDated ? [`(${this.#date}, j.message_id) < (CAST(@date AS INTEGER), @rowid)`] : ['j.message_id < @rowid']),
    ];
    const sql = `SELECT CAST(${this.#date} AS TEXT) AS date, j.message_id AS rowid FROM chat_message_join j CROSS JOIN message m ON m.ROWID = j.message_id
      WHERE ${conditions.join(' AND ')} ORDER BY ${this.#date} DESC, j.message_id DESC LIMIT ${LIST_STEP}`;
    const places = chats.flatMap((chat) => this.#store.statement(sql).all({
      chat, ...(before !== null && { before }), ...(since !== null && { since }), ...(after !== null && { rowid: after.rowid, ...(isDated && { date: after.date }) }),
    }) as MessagePlace[]);
    if (chats.length === 1) return places;
    const ordered = places.toSorted((a, b) => Number(BigInt(b.date ?? 0) - BigInt(a.date ?? 0)) || b.rowid - a.rowid);
    return ordered.filter(({ rowid }, at) => rowid !== ordered[at - 1]?.rowid).slice(0, LIST_STEP);
  }

  /** By falling row; one row for each message, whatever kind: the caller knows how far it looked. */
  scan({ chats, below, limit }: MessageScanRequest): ScannedMessage[] {
    const column = (name: string) => (this.#store.has('message', name) ? `m.${name}` : 'NULL');
    const columns = `${unixMs('m.date')} AS date, ${this.#isMessage} AS isMessage, ${column('text')} AS text, ${column('attributedBody')} AS attributedBody`;
    // A join may outlive its message: it was looked at all the same.
    const rows = (chats === null
      ? this.#store.statement(`SELECT m.ROWID AS rowid, ${columns} FROM message m WHERE m.ROWID < ? ORDER BY m.ROWID DESC LIMIT ?`).all(below ?? Number.MAX_SAFE_INTEGER, limit)
      : this.#store.statement(`SELECT e.value AS rowid, ${columns} FROM json_each(?) e LEFT JOIN message m ON m.ROWID = e.value ORDER BY e.key`).all(JSON.stringify(this.#newestOf(chats, below, limit)))
    ) as (TextColumns & { rowid: number; date: number | null; isMessage: number | null })[];
    return rows.map((row) => ({ rowid: row.rowid, date: row.date, text: row.isMessage === 1 ? (plainText(row) ?? '') : '' }));
  }

  /** Chat by chat along the key of the join, then merged: one statement for several would go through all their messages for each step. */
  #newestOf(chats: readonly number[], below: number | null, limit: number): number[] {
    const sql = `SELECT j.message_id FROM chat_message_join j ${indexedBy(this.#byChat)} WHERE j.chat_id = ? AND j.message_id < ? ORDER BY j.message_id DESC LIMIT ?`;
    const rowids = chats.flatMap((chat) => this.#store.statement(sql, 'pluck').all(chat, below ?? Number.MAX_SAFE_INTEGER, limit) as number[]);
    return chats.length === 1 ? rowids : [...new Set(rowids)].toSorted((a, b) => b - a).slice(0, limit);
  }

  /** Chats by their newest message, with its ROWID. */
  newestChats(below: number | null): [id: number, newest: number][] {
    const newest = 'SELECT j.chat_id AS id, MAX(j.message_id) AS newest FROM chat_message_join j GROUP BY j.chat_id';
    const sql = `SELECT id, newest FROM (${newest}) ${below === null ? '' : 'WHERE newest < @below'} ORDER BY newest DESC LIMIT ${LIST_STEP}`;
    return this.#store.statement(sql, 'raw').all(below === null ? {} : { below }) as [number, number][];
  }

  #reactions(guid: string): Reaction[] {
    if (!this.#store.has('message', 'associated_message_guid')) return [];
    const targets = JSON.stringify([guid, `bp:${guid}`, ...Array.from({ length: PARTS }, (_, part) => `p:${part}/${guid}`)]);
    const emoji = this.#store.has('message', 'associated_message_emoji') ? 'm.associated_message_emoji' : 'NULL';
    const rows = this.#store.statement(
      `SELECT m.ROWID AS rowid, m.associated_message_guid AS target, m.associated_message_type AS type, ${emoji} AS emoji,
         CASE WHEN m.is_from_me <> 0 THEN NULL ELSE (SELECT h.id FROM handle h WHERE h.ROWID = m.handle_id) END AS sender, ${unixMs('m.date')} AS date
       FROM message m WHERE m.associated_message_guid IN (SELECT value FROM json_each(@targets)) AND m.associated_message_type >= ${ADDED} AND m.associated_message_type < ${REMOVED_END}
       ORDER BY m.ROWID LIMIT ${MAX_REACTIONS}`,
    ).all({ targets }) as ReactionRow[];
    const named = rows.map((row) => ({ ...row, sender: row.sender === null ? null : this.#normalise(withoutFilterSuffix(String(row.sender))) }));
    return [...(reactionsOf(named).get(guid) ?? [])];
  }

  #attachments(rowid: number, transfers: readonly string[]): MessageAttachment[] {
    if (!this.#store.has('message_attachment_join') || !this.#store.has('attachment')) return [];
    const column = (name: string, as: string) => `${this.#store.has('attachment', name) ? `a.${name}` : 'NULL'} AS ${as}`;
    const rows = this.#store.statement(
      `SELECT a.guid AS guid, ${column('transfer_name', 'transferName')}, ${column('filename', 'filename')}, ${column('mime_type', 'mimeType')}, ${column('uti', 'uti')},
         ${column('total_bytes', 'totalBytes')}, ${column('transfer_state', 'transferState')}, ${column('is_sticker', 'isSticker')}, ${column('hide_attachment', 'isHidden')}
       FROM message_attachment_join x JOIN attachment a ON a.ROWID = x.attachment_id WHERE x.message_id = ? ORDER BY a.ROWID`,
    ).all(rowid) as AttachmentColumns[];
    return attachmentsOf(rows, transfers);
  }
}
