import type { FileIdentity } from '../apple/reader.ts';

/** A position in one store: everything at or below `rowid` is accounted for. */
export interface Cursor {
  readonly dev: string;
  readonly ino: string;
  readonly rowid: number;
  /** 8 hex digits that name the store at that row (reader.checkAt), or null in the older three-part form. */
  readonly check: string | null;
}

/** The row at the position was gone when the cursor was made: only the inode can tell the store then. */
export const NO_CHECK = '00000000';

const FORM = /^v1\.(\d{1,20})-(\d{1,20})\.(\d{1,15})(?:\.([0-9a-f]{8}))?$/;

/** `v1.<dev>-<ino>.<rowid>.<check>` (architecture 5). */
export function formatCursor(file: FileIdentity, rowid: number, check: string): string {
  return `v1.${file.dev}-${file.ino}.${rowid}.${check}`;
}

/** Null for text that is no cursor; the caller answers -32602. */
export function parseCursor(text: string): Cursor | null {
  const parts = FORM.exec(text);
  if (!parts) return null;
  return { dev: parts[1]!, ino: parts[2]!, rowid: Number(parts[3]), check: parts[4] ?? null };
}

/** What the open store says about itself at a cursor's position. */
export interface StoreAtCursor {
  readonly file: FileIdentity;
  readonly head: number;
  /** reader.checkAt(cursor.rowid). */
  readonly check: string;
}

/**
 * True if the cursor was made by this store. Inodes are reused and device numbers may change at boot, so the
 * check decides; the inode only where the row was or is gone, device and inode for three-part cursors.
 */
export function belongsTo(cursor: Cursor, store: StoreAtCursor): boolean {
  if (cursor.rowid > store.head) return false;
  if (cursor.check === null) return cursor.dev === store.file.dev && cursor.ino === store.file.ino;
  if (cursor.check === NO_CHECK || store.check === NO_CHECK) return cursor.ino === store.file.ino;
  return cursor.check === store.check;
}
