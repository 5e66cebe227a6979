import { watch, type FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Calls back when a store may have changed. It may miss or invent changes: truth is asked elsewhere. */
export interface StoreWatcher {
  start(path: string, wake: () => void): void;
  stop(): void;
}

/** For tests and measurements: a watcher that never hears anything. */
export const deafWatcher = (): StoreWatcher => ({ start: () => undefined, stop: () => undefined });

/**
 * inotify tells a folder's watch of writes to its files. A second watch on the file would hurt: the kernel merges
 * equal events in a row, and two watches take turns (measured: 270 wakes for one mail with both).
 */
const FOLDER_HEARS_WRITES = process.platform === 'linux';

/**
 * Watches the `-wal` file (kqueue and inotify tell of each append) and its folder (the file comes, goes or is
 * replaced). On macOS a folder watch alone misses in-place writes, and a file watch is bound to its inode and
 * falls silent when the WAL is recreated (data-formats/watch): so both, and the folder re-arms the file.
 */
export function fileWatcher(): StoreWatcher {
  let wal: FSWatcher | null = null;
  let folder: FSWatcher | null = null;
  const closeWal = () => {
    wal?.close();
    wal = null;
  };
  return {
    start(path, wake) {
      this.stop();
      const walPath = `${path}-wal`;
      const names = new Set([basename(path), basename(walPath)]);
      const armWal = () => {
        closeWal();
        if (FOLDER_HEARS_WRITES) return;
        wal = tryWatch(walPath, wake, closeWal);
      };
      armWal();
      folder = tryWatch(dirname(path), (event, name) => {
        if (name !== null && !names.has(name)) return;
        // `rename` is a file that came or went: the old watch points to the old inode.
        if (event === 'rename' || wal === null) armWal();
        wake();
      }, () => { folder = null; });
    },
    stop() {
      closeWal();
      folder?.close();
      folder = null;
    },
  };
}

function tryWatch(path: string, heard: (event: string, name: string | null) => void, gone: () => void): FSWatcher | null {
  try {
    const watcher = watch(path, { persistent: false }, (event, name) => heard(event, name));
    watcher.on('error', gone);
    return watcher;
  } catch {
    // Not there or not permitted: the timer finds out, and starts the watcher again after opening.
    return null;
  }
}
