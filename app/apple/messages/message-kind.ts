import type { NotArrival } from '../occurrence.ts';

/** What a row of `message` says about its kind. Columns that a version lacks are 0 or null. */
export interface KindColumns {
  readonly isFromMe: number;
  readonly associatedType: number;
  readonly itemType: number;
  readonly isSystem: number;
  readonly isEmpty: number;
  readonly isFinished: number;
  /** 1 if `date_edited` or `date_retracted` is set: an unsend leaves either (data-formats/chat-db 8). */
  readonly wasChanged: number;
  /** 1 for an own Send Later message that is still pending. */
  readonly isScheduled: number;
  readonly isSpam: number;
  /** 1 if the row lies in Recently Deleted and in no chat (data-formats/chat-db 9). */
  readonly isDeleted: number;
}

/** What a tapback, a sticker or a vote is to its message; 0, 2 and 3 are messages (data-formats/chat-db 7). */
export function associatedKind(type: number): NotArrival | null {
  if (type === 0 || type === 2 || type === 3) return null;
  if (type >= 2000 && type < 4000) return 'tapback';
  if (type >= 1000 && type < 2000) return 'sticker';
  // A kind that is not known yet hangs on another message all the same: it is no message of its own.
  return type >= 4000 && type < 5000 ? 'poll' : 'system';
}

/**
 * Why a row is no arrival, as far as its own columns tell before twins are asked. A Send Later message is own too, but
 * says more; otherwise in the order of NotArrival. `isBlank` is asked only where a row was changed.
 */
export function kindOf(row: KindColumns, isBlank: () => boolean): NotArrival | null {
  if (row.isScheduled === 1) return 'scheduled';
  if (row.isFromMe === 1) return 'sent';
  if (row.isDeleted === 1) return 'deleted';
  const associated = associatedKind(row.associatedType);
  if (associated !== null && associated !== 'system') return associated;
  if (row.wasChanged === 1 && row.isFinished === 1 && (row.isEmpty === 1 || isBlank())) return 'unsent';
  return row.itemType !== 0 ? 'group-notice' : null;
}

/** The reasons that stand after twins in the order of NotArrival. */
export function lateKindOf(row: KindColumns, chatIsSpam: boolean): NotArrival | null {
  // An empty row that is still being received fills up later (data-formats/chat-db 4).
  if (row.isSystem === 1 || associatedKind(row.associatedType) === 'system' || (row.isEmpty === 1 && row.isFinished === 1)) return 'system';
  return row.isSpam === 1 || chatIsSpam ? 'spam' : null;
}
