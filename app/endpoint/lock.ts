import Database from 'better-sqlite3';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface LockHolder {
  readonly pid: number;
  /** `serve` or `app`. */
  readonly kind: string;
}

/** Another engine holds the folder. The message is a whole sentence. */
export class FolderHeldError extends Error {
  readonly holder: LockHolder | null;
  constructor(holder: LockHolder | null) {
    super(
      holder === null
        ? 'Another Belfry engine holds this data folder.'
        : `Another Belfry engine (${holder.kind}, process ${holder.pid}) holds this data folder. Stop it, or choose another folder with --data-dir.`,
    );
    this.name = 'FolderHeldError';
    this.holder = holder;
  }
}

/**
 * One engine a data folder: an exclusive transaction on `run/lock.db`, which the kernel frees however the
 * holder ends. Who holds it is written beside it, for the sentence only.
 */
export class FolderLock {
  readonly #db: Database.Database;

  private constructor(db: Database.Database) {
    this.#db = db;
  }

  /** @throws FolderHeldError */
  static take(dataDir: string, holder: LockHolder): FolderLock {
    const run = join(dataDir, 'run');
    mkdirSync(run, { recursive: true, mode: 0o700 });
    const note = join(run, 'holder.json');
    const db = new Database(join(run, 'lock.db'), { timeout: 0 });
    try {
      db.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      db.close();
      if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) throw new FolderHeldError(readHolder(note));
      throw error;
    }
    writeFileSync(note, JSON.stringify(holder), { mode: 0o600 });
    return new FolderLock(db);
  }

  release(): void {
    this.#db.close();
  }
}

function readHolder(file: string): LockHolder | null {
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as Partial<LockHolder>;
    return typeof value.pid === 'number' && typeof value.kind === 'string' ? { pid: value.pid, kind: value.kind } : null;
  } catch {
    return null;
  }
}
