import Database from 'better-sqlite3';
import { closeSync, ftruncateSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { MailStore, type NewMailStore } from './mail-store.ts';
import type { SqliteStore } from './sqlite-store.ts';

/** What systems do to store files (data-formats/watch, pitfalls 1 to 3). Paths are those of the main file. */
const SIDECARS = ['-wal', '-shm'] as const;

/**
 * Checkpoints the whole WAL so that the next commit overwrites it from its start at the same size. Give the store to have
 * that commit made too. False where a reader held the checkpoint up.
 */
export function checkpointRestart(db: Database.Database): boolean {
  const [result] = db.pragma('wal_checkpoint(RESTART)') as { busy: number; log: number; checkpointed: number }[];
  return result?.busy === 0 && result.log === result.checkpointed;
}

/** Checkpoints and cuts the WAL to nothing; `data_version` may step though no row changed. */
export function checkpointTruncate(db: Database.Database): boolean {
  const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
  return result?.busy === 0;
}

export function walSize(path: string): number | null {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? null;
}

export function walInode(path: string): bigint | null {
  return statSync(`${path}-wal`, { throwIfNoEntry: false, bigint: true })?.ino ?? null;
}

/**
 * The writer quits and comes back. If it was the last connection SQLite removes the WAL; where a reader keeps it, the
 * checkpointed WAL is unlinked as a system that rotates sidecars does (only then may `force` be set).
 */
export function recreateWal(store: SqliteStore, force = false): void {
  checkpointTruncate(store.db);
  store.close();
  if (force) for (const sidecar of SIDECARS) rmSync(store.path + sidecar, { force: true });
  store.reopen();
}

/** A builder of an Envelope Index for the replacements below: `fill` gets a new store with its own identity. */
export function mailIndex(options: NewMailStore, fill: (store: MailStore) => void): (path: string) => void {
  return (path) => {
    const dir = `${path}.parts`;
    const store = MailStore.create(join(dir, 'Mail', 'V10'), options);
    try {
      fill(store);
    } finally {
      store.close();
    }
    settle(store.path);
    renameSync(store.path, path);
    rmSync(dir, { recursive: true, force: true });
  };
}

/**
 * Another file by rename: other inode. `builder` makes a whole store at the path it is given and closes it. The writer
 * must have closed the old file: closing later, SQLite would unlink the new file's WAL, which it knows by name only.
 */
export function replaceStore(path: string, builder: (path: string) => void): void {
  const made = `${path}.new`;
  removeStore(made);
  builder(made);
  settle(made);
  for (const sidecar of SIDECARS) rmSync(path + sidecar, { force: true });
  renameSync(made, path);
}

/** Another store in the same inode: contents overwritten in place, sidecars gone. The writer must have closed it. */
export function replaceStoreSameInode(path: string, builder: (path: string) => void): void {
  const made = `${path}.new`;
  removeStore(made);
  builder(made);
  settle(made);
  const bytes = readFileSync(made);
  for (const sidecar of SIDECARS) rmSync(path + sidecar, { force: true });
  const file = openSync(path, 'r+');
  try {
    writeSync(file, bytes, 0, bytes.length, 0);
    ftruncateSync(file, bytes.length);
  } finally {
    closeSync(file);
  }
  removeStore(made);
}

/** Overwrites the header and the first page: SQLite says "not a database". */
export function makeBroken(path: string): void {
  const file = openSync(path, 'r+');
  try {
    writeSync(file, Buffer.alloc(4096, 0x5a), 0, 4096, 0);
  } finally {
    closeSync(file);
  }
  for (const sidecar of SIDECARS) rmSync(path + sidecar, { force: true });
}

export function removeStore(path: string): void {
  for (const suffix of ['', ...SIDECARS]) rmSync(path + suffix, { force: true });
}

/** Moves what a WAL holds into the main file and removes the sidecars; the file stays in WAL mode. */
export function settle(path: string): void {
  const db = new Database(path, { fileMustExist: true });
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  for (const sidecar of SIDECARS) rmSync(path + sidecar, { force: true });
}
