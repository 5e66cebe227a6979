import type { Chat, MessageRow } from '../occurrence.ts';
import { withoutFilterSuffix } from '../sender.ts';
import type { Store } from '../store.ts';
import { attachmentsOf, type AttachmentColumns, type MessageAttachment } from './message-attachments.ts';
import { unixMs } from './message-columns.ts';
import { readEdits, type TextVersion } from './message-edits.ts';
import { LIST_STEP, MessagePlaces, type DateRange, type MessagePlace, type MessageScope } from './message-places.ts';
import { plainText, readMessageText, type TextColumns } from './message-text.ts';
import { reactionsOf, type Reaction, type ReactionRow } from './reactions.ts';

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

export interface MessageListRequest extends DateRange {
  readonly scope: MessageScope;
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
  /** Null: everything. */
  readonly scope: MessageScope | null;
  /** Only below this row; null: from the newest on. */
  readonly below: number | null;
  readonly limit: number;
}

/** A message of its own with its text, '' where it has none or none that can be read. */
export interface ScannedMessage {
  readonly rowid: number;
  /** Unix ms, or null. */
  readonly date: number | null;
  readonly text: string;
  readonly isReadable: boolean;
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

/** Rows looked at for one page. */
export const MAX_LOOKED = 1000;
/** A reaction hangs on a part; real messages have a few. */
const PARTS = 20;
const MAX_REACTIONS = 500;
const NO_TEXT = { text: '', isReadable: true };
const ADDED = 2000;
const REMOVED_END = 4000;

interface DetailColumns {
  readonly rowid: number;
  readonly guid: string;
  readonly text: string | null;
  readonly body: Uint8Array | null;
  readonly summary: Uint8Array | null;
  readonly fromMe: number;
  readonly read: number;
  readonly edited: number | null;
}

/** SQL for reading messages by name and by what they lie in. Everything within the caller's transaction. */
export class MessageLookup {
  readonly #store: Store;
  readonly #normalise: (handle: string) => string;
  readonly #detail: string;
  /** Own words of a person, not what hangs on another message. */
  readonly #isMessage: string;
  readonly places: MessagePlaces;

  constructor(store: Store, normalise: (handle: string) => string) {
    this.#store = store;
    this.#normalise = normalise;
    const column = (name: string, missing: string) => (store.has('message', name) ? `IFNULL(m.${name}, ${missing})` : missing);
    this.#detail = `SELECT m.ROWID AS rowid, m.guid AS guid, ${column('text', 'NULL')} AS text, ${column('attributedBody', 'NULL')} AS body, ${column('message_summary_info', 'NULL')} AS summary,
      (${column('is_from_me', '0')} <> 0) AS fromMe, (${column('is_read', '0')} <> 0) AS read, ${store.has('message', 'date_edited') ? unixMs('m.date_edited') : 'NULL'} AS edited
      FROM json_each(?) e CROSS JOIN message m ON m.ROWID = e.value`;
    this.#isMessage = `${column('associated_message_type', '0')} IN (0, 2, 3) AND ${column('item_type', '0')} = 0`;
    this.places = new MessagePlaces(store, this.#isMessage);
  }

  /** The row that a name fits, if it is a message of its own. */
  rowid(name: MessageName): number | null {
    const [condition, value] = 'guid' in name ? ['m.guid = ?', name.guid] : ['m.ROWID = ?', name.rowid];
    return (this.#store.statement(`SELECT m.ROWID FROM message m WHERE ${condition} AND ${this.#isMessage}`, 'pluck').get(value) as number | undefined) ?? null;
  }

  /** By ROWID; what is gone is not in it. */
  details(rowids: readonly number[]): ReadonlyMap<number, MessageDetail> {
    const rows = this.#store.statement(this.#detail).all(JSON.stringify(rowids)) as DetailColumns[];
    const reactions = this.#reactions(rows.map(({ guid }) => guid));
    const attachments = this.#attachments(rowids);
    return new Map(rows.map((row) => {
      const { text, transfers, isUnreadable } = readMessageText({ text: row.text, attributedBody: row.body });
      const edits = readEdits(row.summary);
      return [row.rowid, {
        fromMe: row.fromMe === 1,
        read: row.read === 1,
        text,
        isReadable: !isUnreadable,
        editedAt: row.edited,
        versions: [...edits.versions.values()].flatMap((versions) => versions.slice(0, -1)),
        isUnsent: edits.unsent.length > 0 && text === '',
        reactions: reactions.get(row.guid) ?? [],
        attachments: attachmentsOf(attachments.get(row.rowid) ?? [], transfers),
      }];
    }));
  }

  /** By falling row; one row for each message, whatever kind: the caller knows how far it looked. */
  scan({ scope, below, limit }: MessageScanRequest): ScannedMessage[] {
    const column = (name: string) => (this.#store.has('message', name) ? `m.${name}` : 'NULL');
    const columns = `${unixMs('m.date')} AS date, ${column('text')} AS text, ${column('attributedBody')} AS attributedBody`;
    type Row = TextColumns & { rowid: number; date: number | null; isMessage: number | null };
    const scanned = ({ rowid, date, isMessage, ...columns }: Row): ScannedMessage => ({ rowid, date, ...(isMessage === 1 ? plainText(columns) : NO_TEXT) });
    if (scope === null) {
      const all = this.#store.statement(`SELECT m.ROWID AS rowid, ${columns}, ${this.#isMessage} AS isMessage FROM message m WHERE m.ROWID < ? ORDER BY m.ROWID DESC LIMIT ?`);
      return (all.all(below ?? Number.MAX_SAFE_INTEGER, limit) as Row[]).map(scanned);
    }
    const { rowids, inChats } = this.places.newest(scope, below, limit);
    // A join may outlive its message: it was looked at all the same.
    const sql = `SELECT e.value ->> 0 AS rowid, ${columns}, (${this.#isMessage}) AND (e.value ->> 1 OR ${this.places.alone('m.ROWID')}) AS isMessage
      FROM json_each(?) e LEFT JOIN message m ON m.ROWID = e.value ->> 0 ORDER BY e.key`;
    return (this.#store.statement(sql).all(JSON.stringify(rowids.map((rowid) => [rowid, inChats.has(rowid)]))) as Row[]).map(scanned);
  }

  /** Chats by their newest message, with its ROWID. */
  newestChats(below: number | null): [id: number, newest: number][] {
    const newest = 'SELECT j.chat_id AS id, MAX(j.message_id) AS newest FROM chat_message_join j GROUP BY j.chat_id';
    const sql = `SELECT id, newest FROM (${newest}) ${below === null ? '' : 'WHERE newest < @below'} ORDER BY newest DESC LIMIT ${LIST_STEP}`;
    return this.#store.statement(sql, 'raw').all(below === null ? {} : { below }) as [number, number][];
  }

  #reactions(guids: readonly string[]): ReadonlyMap<string, readonly Reaction[]> {
    if (!this.#store.has('message', 'associated_message_guid')) return new Map();
    const targets = JSON.stringify(guids.flatMap((guid) => [guid, `bp:${guid}`, ...Array.from({ length: PARTS }, (_, part) => `p:${part}/${guid}`)]));
    const emoji = this.#store.has('message', 'associated_message_emoji') ? 'm.associated_message_emoji' : 'NULL';
    const rows = this.#store.statement(
      `SELECT m.ROWID AS rowid, m.associated_message_guid AS target, m.associated_message_type AS type, ${emoji} AS emoji,
         CASE WHEN m.is_from_me <> 0 THEN NULL ELSE (SELECT h.id FROM handle h WHERE h.ROWID = m.handle_id) END AS sender, ${unixMs('m.date')} AS date
       FROM message m WHERE m.associated_message_guid IN (SELECT value FROM json_each(@targets)) AND m.associated_message_type >= ${ADDED} AND m.associated_message_type < ${REMOVED_END}
       ORDER BY m.ROWID LIMIT @most`,
    ).all({ targets, most: MAX_REACTIONS * guids.length }) as ReactionRow[];
    return reactionsOf(rows.map((row) => ({ ...row, sender: row.sender === null ? null : this.#normalise(withoutFilterSuffix(String(row.sender))) })));
  }

  #attachments(rowids: readonly number[]): ReadonlyMap<number, readonly AttachmentColumns[]> {
    if (!this.#store.has('message_attachment_join') || !this.#store.has('attachment')) return new Map();
    const column = (name: string, as: string) => `${this.#store.has('attachment', name) ? `a.${name}` : 'NULL'} AS ${as}`;
    const rows = this.#store.statement(
      `SELECT x.message_id AS message, a.guid AS guid, ${column('transfer_name', 'transferName')}, ${column('filename', 'filename')}, ${column('mime_type', 'mimeType')}, ${column('uti', 'uti')},
         ${column('total_bytes', 'totalBytes')}, ${column('transfer_state', 'transferState')}, ${column('is_sticker', 'isSticker')}, ${column('hide_attachment', 'isHidden')}
       FROM json_each(?) e CROSS JOIN message_attachment_join x ON x.message_id = e.value JOIN attachment a ON a.ROWID = x.attachment_id ORDER BY a.ROWID`,
    ).all(JSON.stringify(rowids)) as (AttachmentColumns & { readonly message: number })[];
    return Map.groupBy(rows, ({ message }) => message);
  }
}
