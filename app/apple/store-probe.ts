import { closeSync, constants, openSync, readSync } from 'node:fs';

/** What 16 bytes of a store say: `denied` is EPERM, EACCES or an empty read (data-formats/tcc; ui.md, Full Disk Access). */
export type ProbeResult = 'readable' | 'denied' | 'missing' | 'unknown';

const MAGIC = Buffer.from('SQLite format 3\0', 'latin1');

/**
 * Opens a file and reads its first 16 bytes, nothing more. `stat` and `access` prove nothing here. Never call it for
 * a file that SQLite has open in this process: closing a second descriptor drops its POSIX locks.
 */
export function probeStore(path: string): ProbeResult {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return resultOf(error);
  }
  try {
    const head = Buffer.alloc(MAGIC.length);
    const count = readSync(file, head, 0, head.length, 0);
    if (count === 0) return 'denied';
    // Something is there and can be read; whether it is a store that is whole is for its reader to say.
    return head.equals(MAGIC) ? 'readable' : 'unknown';
  } catch (error) {
    return resultOf(error);
  } finally {
    closeSync(file);
  }
}

function resultOf(error: unknown): ProbeResult {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EPERM':
    case 'EACCES':
      return 'denied';
    case 'ENOENT':
    case 'ENOTDIR':
      return 'missing';
    default:
      return 'unknown';
  }
}
