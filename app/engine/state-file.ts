import Database from 'better-sqlite3';
import { existsSync, renameSync } from 'node:fs';

export interface OpenedState {
  readonly db: Database.Database;
  /** What the owner has to know, or null. */
  readonly sentence: string | null;
}

const DAMAGED = new Set(['SQLITE_CORRUPT', 'SQLITE_NOTADB']);

/**
 * Opens state.db. A damaged one is moved aside: what it held can be built again (rows are judged again, the
 * owner's watches come from settings), while a file that is half readable would lose items in silence.
 * @param now Unix ms, for the name of the file that is moved aside
 */
export function openState(path: string, now: number): OpenedState {
  try {
    return { db: open(path), sentence: null };
  } catch (error) {
    if (!DAMAGED.has(String((error as { code?: string }).code).split('_').slice(0, 2).join('_'))) throw error;
  }
  const aside = `${path}.broken-${now}`;
  for (const end of ['', '-wal', '-shm']) if (existsSync(path + end)) renameSync(path + end, aside + end);
  return {
    db: open(path),
    sentence: 'state.db was damaged and was moved aside. Watches that clients had made are gone and have to be made again; those that you made begin again now, with a gap. Nothing else was lost but what Activity showed.',
  };
}

function open(path: string): Database.Database {
  const db = new Database(path);
  try {
    db.pragma('journal_mode = WAL');
    // A power cut may lose the last moments; then rows are judged again. A kill loses nothing.
    db.pragma('synchronous = NORMAL');
    const found = db.pragma('quick_check(1)', { simple: true });
    if (found !== 'ok') throw Object.assign(new Error('The check failed'), { code: 'SQLITE_CORRUPT' });
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
