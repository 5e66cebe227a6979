import type { LiveRow } from '../../app/contract/values.ts';

/** Newest rows that are kept, in memory only (ui.md, Live). */
export const KEPT_ROWS = 10_000;

/** Rows newest first. `pending` came while the list had to stand still; it holds at most as many as are kept. */
export interface LiveRows {
  readonly shown: readonly LiveRow[];
  readonly pending: readonly LiveRow[];
}

export const noRows: LiveRows = { shown: [], pending: [] };

/**
 * Takes in rows as the engine told them: a known id replaces the row where it stands, a new one goes on top, or
 * into `pending` while the list is held. @returns the same value if nothing changed
 */
export function mergeRows(rows: LiveRows, told: readonly LiveRow[], held: boolean, limit = KEPT_ROWS): LiveRows {
  const latest = new Map(told.map((row) => [row.id, row]));
  const shown = replaced(rows.shown, latest);
  const pending = replaced(rows.pending, latest);
  if (latest.size === 0) return shown === rows.shown && pending === rows.pending ? rows : { shown, pending };
  const fresh = [...latest.values()].toSorted(newestFirst);
  return held ? { shown, pending: joined(fresh, pending, limit) } : { shown: joined(fresh, joined(pending, shown, limit), limit), pending: [] };
}

/** The list may move again: what waited goes on top. */
export function releaseRows(rows: LiveRows, limit = KEPT_ROWS): LiveRows {
  return rows.pending.length === 0 ? rows : { shown: joined(rows.pending, rows.shown, limit), pending: [] };
}

/** Keeps what `keep` says; used when "Not matched" is turned off. */
export function keepRows(rows: LiveRows, keep: (row: LiveRow) => boolean): LiveRows {
  return { shown: rows.shown.filter(keep), pending: rows.pending.filter(keep) };
}

const newestFirst = (a: LiveRow, b: LiveRow) => b.id - a.id;

/** Takes the rows that it used out of `latest`. */
function replaced(rows: readonly LiveRow[], latest: Map<number, LiveRow>): readonly LiveRow[] {
  let copy: LiveRow[] | null = null;
  for (const [id, row] of latest) {
    const index = indexOfId(rows, id);
    if (index < 0) continue;
    copy ??= [...rows];
    copy[index] = row;
    latest.delete(id);
  }
  return copy ?? rows;
}

function joined(newer: readonly LiveRow[], older: readonly LiveRow[], limit: number): readonly LiveRow[] {
  if (newer.length === 0) return older.length <= limit ? older : older.slice(0, limit);
  const all = [...newer, ...older];
  // The answer to a subscription can come after newer rows.
  if (older.length > 0 && newer.at(-1)!.id < older[0]!.id) all.sort(newestFirst);
  return all.length > limit ? all.slice(0, limit) : all;
}

/** Index of a row in a list that is sorted newest first, or -1. */
export function indexOfId(rows: readonly LiveRow[], id: number): number {
  let low = 0;
  let high = rows.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = rows[middle]!.id;
    if (found === id) return middle;
    if (found > id) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
