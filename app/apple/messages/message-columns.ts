import type { Store } from '../store.ts';
import type { KindColumns } from './message-kind.ts';

/** Above this (in either direction) a date counts nanoseconds, else seconds (data-formats/chat-db 3). */
export const NANOSECONDS_FROM = '1000000000000000';
/** Unix ms of 2001-01-01. */
export const EPOCH_MS = 978_307_200_000;

/** One message as selected: values, never text. */
export interface MessageColumns extends KindColumns {
  readonly rowid: number;
  readonly guid: string;
  /** `handle_id`, 0 where there is none. */
  readonly handleId: number;
  /** `handle.id`, or null where its row is missing. */
  readonly handle: string | null;
  readonly service: string | null;
  /** Unix ms, or null. */
  readonly date: number | null;
  readonly chatId: number | null;
  readonly isBalloon: number;
  readonly replyTo: string | null;
  readonly cachedAttachments: number;
  /** Attachment rows, and those of them that are shown. */
  readonly attachments: number;
  readonly shownAttachments: number;
}

/** Unix ms of an Apple date as an SQL expression: 18 digits do not fit a double, their milliseconds do. 0 is none. */
export const unixMs = (column: string) =>
  `CASE WHEN ${column} IS NULL OR ${column} = 0 THEN NULL
        WHEN ${column} > ${NANOSECONDS_FROM} OR ${column} < -${NANOSECONDS_FROM} THEN ${column} / 1000000 + ${EPOCH_MS}
        ELSE ${column} * 1000 + ${EPOCH_MS} END`;

/**
 * A bound number that the planner cannot look into. SQLite with STAT4 (better-sqlite3's) otherwise prepares a statement
 * anew for each value that is compared with an indexed column or stands after LIMIT: measured 47 instead of 2 microseconds.
 */
export const unpeeked = (parameter: string) => `(${parameter} + 0)`;

/** SQL over whatever columns this version of the store has (data-formats/chat-db 2). */
export interface MessageSql {
  /** SELECT ... FROM message m, without WHERE. */
  readonly select: string;
  /** Condition on `m` that leaves out most of what never rings; the row itself is judged after it. */
  readonly likely: string;
}

export function messageSql(store: Store): MessageSql {
  const column = (name: string, missing = '0') => (store.has('message', name) ? `IFNULL(m.${name}, ${missing})` : missing);
  const chatColumn = (name: string) => (store.has('chat', name) ? `c.${name}` : 'NULL');
  const isSet = (name: string) => `(${column(name)} <> 0)`;
  const joinsAttachments = store.has('message_attachment_join') && store.has('attachment');
  const shown = store.has('attachment', 'hide_attachment') ? 'AND IFNULL(a.hide_attachment, 0) = 0' : '';
  const attachments = (condition: string) =>
    joinsAttachments
      ? `(SELECT COUNT(*) FROM message_attachment_join x JOIN attachment a ON a.ROWID = x.attachment_id WHERE x.message_id = m.ROWID ${condition})`
      : '0';
  // One message can be joined to several chats: one whose style fits, else the smallest (data-formats/chat-db 4).
  const wantsGroup = store.has('message', 'cache_roomnames') ? `(m.cache_roomnames IS NOT NULL AND m.cache_roomnames <> '')` : '0';
  const chat = `(SELECT j.chat_id FROM chat_message_join j JOIN chat c ON c.ROWID = j.chat_id WHERE j.message_id = m.ROWID
    ORDER BY ((${chatColumn('style')} = 43) = ${wantsGroup}) DESC, j.chat_id LIMIT 1)`;
  const deleted = store.has('chat_recoverable_message_join')
    ? `(NOT EXISTS (SELECT 1 FROM chat_message_join j WHERE j.message_id = m.ROWID)
        AND EXISTS (SELECT 1 FROM chat_recoverable_message_join r WHERE r.message_id = m.ROWID))`
    : '0';
  const system = `(${column('is_system_message')} <> 0 OR ${column('is_service_message')} <> 0)`;
  const spam = `(${column('is_spam')} = 1 OR ${column('filter_action')} = 2)`;
  const scheduled = `(${column('schedule_type')} IN (1, 2) AND ${column('schedule_state')} = 1)`;
  const fields = [
    'm.ROWID AS rowid',
    'm.guid AS guid',
    'IFNULL(m.handle_id, 0) AS handleId',
    '(SELECT h.id FROM handle h WHERE h.ROWID = m.handle_id) AS handle',
    `${column('service', 'NULL')} AS service`,
    `${unixMs('m.date')} AS date`,
    `${chat} AS chatId`,
    `(${column('balloon_bundle_id', "''")} = 'com.apple.messages.URLBalloonProvider') AS isBalloon`,
    `${column('thread_originator_guid', 'NULL')} AS replyTo`,
    `${isSet('cache_has_attachments')} AS cachedAttachments`,
    `${attachments('')} AS attachments`,
    `${attachments(shown)} AS shownAttachments`,
    `${isSet('is_from_me')} AS isFromMe`,
    `${column('associated_message_type')} AS associatedType`,
    `${column('item_type')} AS itemType`,
    `${system} AS isSystem`,
    `${isSet('is_empty')} AS isEmpty`,
    `(${column('is_finished', '1')} <> 0) AS isFinished`,
    `(${isSet('date_edited')} OR ${isSet('date_retracted')}) AS wasChanged`,
    `${scheduled} AS isScheduled`,
    `${spam} AS isSpam`,
    `${deleted} AS isDeleted`,
  ];
  return {
    select: `SELECT ${fields.join(', ')} FROM message m`,
    likely: `${column('is_from_me')} = 0 AND ${column('item_type')} = 0 AND ${column('associated_message_type')} IN (0, 2, 3)
      AND NOT ${system} AND NOT ${spam} AND NOT ${scheduled}`,
  };
}
