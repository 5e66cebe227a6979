import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { readFooter, type EmlxFooter } from './emlx-footer.ts';
import { readCount, splitEmlx } from './emlx-file.ts';

/** One .emlx as read from disk: the message's bytes and what Mail noted after them. */
export interface Emlx {
  /** RFC 5322 bytes; of a file above the limit only its beginning. */
  readonly message: Buffer;
  readonly footer: EmlxFooter;
  /** False if the count is missing or wrong: the message may then end too late or too early. */
  readonly isCounted: boolean;
  /** True if the file holds less of the message than it says. */
  readonly isTruncated: boolean;
  /** False if the file is longer than what is read. */
  readonly isWhole: boolean;
}

/** For the text alone: text parts come first in practice, and what a longer mail holds is attachments. */
export const MAX_READ = 16 * 1024 * 1024;
/** With attachments: servers take mails of 25 to 50 MB, in base64 a third more. */
export const MAX_READ_WHOLE = 72 * 1024 * 1024;
const MAX_FOOTER = 64 * 1024;

export function readEmlx(bytes: Buffer): Emlx {
  const { message, footer, isCounted, isTruncated } = splitEmlx(bytes);
  // Read when asked for: an index does without.
  return { message, get footer() { return readFooter(footer); }, isCounted, isTruncated, isWhole: true };
}

/**
 * Reads a file without following a link in its last place, and without writing anything. Null if it is gone or no plain file.
 * @throws the file system's error where the file may not be read.
 */
export function readEmlxFile(path: string, limit = MAX_READ): Emlx | null {
  let file: number;
  try {
    // Not blocking: a pipe at this place would hold the caller for ever.
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'ENXIO') return null;
    throw error;
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return null;
    if (stat.size <= limit) return readEmlx(readAt(file, 0, stat.size));
    const head = readAt(file, 0, limit);
    const counted = readCount(head);
    if (counted === null) return { ...readEmlx(head), isWhole: false };
    const { start, count } = counted;
    const footer = start + count < stat.size ? readAt(file, start + count, Math.min(MAX_FOOTER, stat.size - start - count)) : null;
    return { message: head.subarray(start, start + count), footer: readFooter(footer), isCounted: start + count <= stat.size, isTruncated: start + count > stat.size, isWhole: start + count <= limit };
  } finally {
    closeSync(file);
  }
}

/** May give less than asked for: a file can shrink meanwhile. */
function readAt(file: number, from: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const got = readSync(file, bytes, done, length - done, from + done);
    if (got === 0) break;
    done += got;
  }
  return bytes.subarray(0, done);
}
