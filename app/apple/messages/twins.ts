import { createHash } from 'node:crypto';
import type { Store } from '../store.ts';
import { readBodyText } from './typedstream.ts';
import { NANOSECONDS_FROM, unpeeked, type MessageColumns } from './message-columns.ts';
import { indexedBy, indexOn } from './table-index.ts';

/** A link's text and its balloon come close together (data-formats/chat-db 4). */
const LINK_SECONDS = 90;
/** Dates of a re-landed iCloud copy (ruling 6). */
const COPY_SECONDS = 5;
/** Rows of one chat and sender within those times that are compared at most. */
const MOST = 64;

const PLACEHOLDERS = /[\uFFFC\uFFFD]/g;
const LINK = /(?:https?:\/\/|www\.)[^\s<>"]+|\b(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}(?:\/[^\s<>"]*)?/giu;

export interface TwinAnswer {
  readonly isTwin: boolean;
  /** SHA-256 of the text in hex, where it was needed. */
  readonly textHash: string | null;
  readonly hasLink: boolean;
}

const SINGLE: TwinAnswer = { isTwin: false, textHash: null, hasLink: false };

/**
 * Says whether a received row is the second of a pair. Only rows of lower rowid in the same chat are asked, so the answer
 * does not depend on when it is asked. Texts are read only where a row of the same sender lies close, and not kept.
 */
export class Twins {
  readonly #store: Store;
  readonly #near: string;
  readonly #sender: (handle: string) => string;

  /** @param sender Normalises a handle: a pair may come by two services, and so with two handle rows. */
  constructor(store: Store, sender: (handle: string) => string) {
    this.#store = store;
    this.#sender = sender;
    this.#near = nearSql(store);
  }

  ask(row: MessageColumns, chat: number, sender: string): TwinAnswer {
    if (row.date === null) return SINGLE;
    const near = this.#rowsNear(row.rowid, chat, sender, row.isBalloon === 1 ? LINK_SECONDS : COPY_SECONDS);
    if (near.length === 0) return SINGLE;
    const text = this.#text(row.rowid);
    const links = text === null ? [] : linksOf(text);
    const textHash = text === null ? null : sha256(text);
    const answer = (isTwin: boolean): TwinAnswer => ({ isTwin, textHash, hasLink: links.length > 0 });
    if (row.isBalloon === 1 && this.#holdsLink(near[0]!.rowid, links)) return answer(true);
    if (textHash === null) return answer(false);
    // Photos alone have only placeholders for text and so no hash: two of them in 5 s are two messages.
    return answer(near.some((other) => Math.abs(other.seconds) <= COPY_SECONDS && this.#hash(other.rowid) === textHash));
  }

  /** True if the row has neither text nor attachments: what an unsend of all parts leaves. */
  isBlank(row: MessageColumns): boolean {
    return row.attachments === 0 && row.cachedAttachments === 0 && this.#text(row.rowid) === null;
  }

  #rowsNear(rowid: number, chat: number, sender: string, seconds: number): { rowid: number; seconds: number }[] {
    const rows = this.#store.statement(this.#near, 'raw').all({ rowid, chat, seconds }) as [number, number, string | null][];
    if (rows.length === 0) return [];
    return rows.flatMap(([other, apart, handle]) => (handle !== null && this.#sender(handle) === sender ? [{ rowid: other, seconds: apart }] : []));
  }

  /** The row before a balloon has the balloon's link in its text, or, where the balloon shows none, any link. */
  #holdsLink(rowid: number, links: readonly string[]): boolean {
    const text = this.#text(rowid);
    if (text === null) return false;
    if (links.length === 0) return linksOf(text).length > 0;
    const plain = text.toLowerCase();
    return links.some((link) => plain.includes(link));
  }

  #hash(rowid: number): string | null {
    const text = this.#text(rowid);
    return text === null ? null : sha256(text);
  }

  /** The body, else the plain copy (data-formats/chat-db 5), without placeholders; null if nothing is left. */
  #text(rowid: number): string | null {
    const row = this.#store.statement(`SELECT attributedBody, text FROM message WHERE ROWID = ${unpeeked('?')}`, 'raw').get(rowid) as [unknown, unknown] | undefined;
    if (row === undefined) return null;
    const body = row[0] instanceof Uint8Array ? readBodyText(row[0]) : null;
    const text = (body ?? (typeof row[1] === 'string' ? row[1] : '')).replace(PLACEHOLDERS, '').trim();
    return text === '' ? null : text;
  }
}

/** Links as they are compared: without scheme, `www.` and what ends a sentence. */
export function linksOf(text: string): string[] {
  return (text.match(LINK) ?? []).map((link) => link.toLowerCase().replace(/^https?:\/\//, '').replace(/^www\./, '').replace(/[/.,;:!?)\]]+$/, ''));
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/**
 * Received messages of the chat below a rowid and around its date, newest rowid first.
 * `message_date` is a copy of the date; 10.11 lacks it, and there the chat's last rows are looked through.
 */
function nearSql(store: Store): string {
  const [ROWID, CHAT, SECONDS] = ['rowid', 'chat', 'seconds'].map((name) => unpeeked(`@${name}`));
  const unit = `CASE WHEN m.date > ${NANOSECONDS_FROM} THEN 1000000000 ELSE 1 END`;
  const column = (name: string) => (store.has('message', name) ? `IFNULL(k.${name}, 0)` : '0');
  const within = (date: string) => `${date} BETWEEN m.date - CAST(${SECONDS} AS INTEGER) * ${unit} AND m.date + CAST(${SECONDS} AS INTEGER) * ${unit}`;
  const index = indexedBy(indexOn(store, 'chat_message_join', ['chat_id', 'message_date', 'message_id']));
  const join = store.has('chat_message_join', 'message_date')
    ? `(SELECT j.message_id FROM message m CROSS JOIN chat_message_join j ${index}
        WHERE m.ROWID = ${ROWID} AND j.chat_id = ${CHAT} AND ${within('j.message_date')} AND j.message_id < ${ROWID})`
    : `(SELECT j.message_id FROM chat_message_join j WHERE j.chat_id = ${CHAT} AND j.message_id < ${ROWID} ORDER BY j.message_id DESC LIMIT ${4 * MOST})`;
  return `SELECT k.ROWID, (k.date - m.date) / ${unit}, (SELECT h.id FROM handle h WHERE h.ROWID = k.handle_id)
    FROM ${join} n CROSS JOIN message k CROSS JOIN message m
    WHERE k.ROWID = n.message_id AND m.ROWID = ${ROWID} AND ${within('k.date')}
      AND ${column('is_from_me')} = 0 AND ${column('item_type')} = 0 AND ${column('associated_message_type')} IN (0, 2, 3)
    ORDER BY k.ROWID DESC LIMIT ${MOST}`;
}
