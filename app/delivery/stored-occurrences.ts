import type { StoreRow } from '../apple/occurrence.ts';
import type { MailReader, StoreReader } from '../apple/reader.ts';
import type { Hub } from '../events/hub.ts';
import { occurrenceOf, type Occurrence } from '../events/occurrence.ts';

/** Where an event lies in its store, and what it is called. */
export interface StoredRef {
  readonly eventId: string;
  readonly storeRow: number;
}

/**
 * Events as their rows are now; null for those that left, or that no longer ring. @param now Unix ms
 * @throws StoreError while the store cannot be read
 */
export function readAgain<R extends StoredRef>(hub: Hub, refs: readonly R[], now: number): ReadonlyMap<R, Occurrence | null> {
  const { storeId } = hub.tail;
  const reader: StoreReader = hub.reader;
  const rows = new Map(reader.pick([...new Set(refs.map(({ storeRow }) => storeRow))]).map((row) => [row.rowid, row]));
  const found = new Map<R, Occurrence | null>();
  const moved = new Map<number, R[]>();
  for (const ref of refs) {
    const occurrence = sameEvent(rows.get(ref.storeRow), ref, storeId, now);
    found.set(ref, occurrence);
    const globalId = occurrence === null && hub.reader.kind === 'mail' ? globalIdOf(ref.eventId, storeId) : null;
    if (globalId !== null) moved.set(globalId, [...moved.get(globalId) ?? [], ref]);
  }
  // A move makes another row of the same mail: it is still there.
  if (moved.size > 0) {
    const mail = hub.reader as MailReader;
    const first = mail.firstRows([...moved.keys()]);
    const again = new Map(mail.pick([...first.values()]).map((row) => [row.rowid, row]));
    for (const [globalId, those] of moved) {
      for (const ref of those) found.set(ref, sameEvent(again.get(first.get(globalId) ?? -1), ref, storeId, now));
    }
  }
  return found;
}

/** Row ids are used again by another store: only the event id says that it is the same. */
function sameEvent(row: StoreRow | undefined, ref: StoredRef, storeId: string, now: number): Occurrence | null {
  if (row === undefined || row.excluded !== null) return null;
  const occurrence = occurrenceOf(row, storeId, now);
  return occurrence.eventId === ref.eventId ? occurrence : null;
}

function globalIdOf(eventId: string, storeId: string): number | null {
  const prefix = `${storeId.slice(0, 8)}-`;
  const id = eventId.startsWith(prefix) ? Number(eventId.slice(prefix.length)) : Number.NaN;
  return Number.isSafeInteger(id) ? id : null;
}
