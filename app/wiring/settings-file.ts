import {
  closeSync, constants, fchmodSync, fchownSync, fstatSync, fsyncSync, linkSync, lstatSync, mkdirSync, openSync, readFileSync, realpathSync, renameSync, statSync, unlinkSync,
  writeFileSync, type BigIntStats,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SettingsTrouble } from './trouble.ts';

/** A settings file as it was read; writing first makes sure that it still is so. */
export interface SettingsFile {
  /** As the program names it; may be a link. */
  readonly file: string;
  /** What a link leads to; the same as `file` where there is none. */
  readonly target: string;
  /** Null: there is no file. */
  readonly found: { readonly bytes: Buffer; readonly stat: BigIntStats; readonly link: boolean } | null;
  /** Without the byte order mark. */
  readonly text: string;
  readonly mark: '' | '\ufeff';
}

/** Larger than any settings a person or a program keeps by intent; more is not read into memory. */
const MAX_BYTES = 5 * 1024 * 1024;

/** Name of the copy that is kept beside a file before it is changed. */
export function backupOf(file: string): string {
  return `${file}.belfry-backup`;
}

/** Reads a settings file. A file that isn't there is empty text; anything else than a readable UTF-8 file is trouble. @throws SettingsTrouble */
export function readSettingsFile(file: string): SettingsFile {
  try {
    const link = linkState(file);
    if (link === null) return absent(file);
    const target = link ? realpathSync(file) : file;
    // Looked at before it is opened: opening a pipe or a device can have effects.
    if (!statSync(target).isFile()) throw new SettingsTrouble('unreadable', 'It is not a regular file.');
    const fd = openSync(target, constants.O_RDONLY | constants.O_NONBLOCK);
    let bytes: Buffer;
    let stat: BigIntStats;
    try {
      stat = fstatSync(fd, { bigint: true });
      if (!stat.isFile()) throw new SettingsTrouble('unreadable', 'It is not a regular file.');
      if (stat.size > MAX_BYTES) throw new SettingsTrouble('unreadable', `The file is larger than ${MAX_BYTES / 1024 / 1024} MB.`);
      bytes = readFileSync(fd);
    } finally {
      closeSync(fd);
    }
    const { text, mark } = decoded(bytes);
    return { file, target, found: { bytes, stat, link }, text, mark };
  } catch (error) {
    throw asTrouble(error, 'unreadable');
  }
}

/**
 * Swaps the file's content: backup, temporary file beside it, fsync, rename; the mode stays, the owner where the system allows it. A link stays a link.
 * @param backup false where the backup beside it already holds everything but our entry
 * @throws SettingsTrouble also if the file is no longer what was read
 */
export function writeSettingsFile(read: SettingsFile, bytes: Buffer, backup: boolean): void {
  try {
    assertUnchanged(read);
    if (read.found === null) {
      createFile(read, bytes);
      return;
    }
    const { stat } = read.found;
    if (backup) swapIn(backupOf(read.file), read.found.bytes, stat, () => undefined);
    swapIn(read.target, bytes, stat, () => {
      assertUnchanged(read);
    });
  } catch (error) {
    throw asTrouble(error, 'cant-write');
  }
}

/** Takes away a file that holds nothing but our entry. @throws SettingsTrouble */
export function deleteSettingsFile(read: SettingsFile): void {
  try {
    assertUnchanged(read);
    unlinkSync(read.file);
    syncFolder(dirname(read.file));
  } catch (error) {
    throw asTrouble(error, 'cant-write');
  }
}

/** Whether it is a link; null: it isn't there. */
function linkState(file: string): boolean | null {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

function absent(file: string): SettingsFile {
  return { file, target: file, found: null, text: '', mark: '' };
}

function decoded(bytes: Buffer): { readonly text: string; readonly mark: '' | '\ufeff' } {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new SettingsTrouble('unreadable', 'The file is not UTF-8 text.');
  }
  return text.startsWith('\ufeff') ? { text: text.slice(1), mark: '\ufeff' } : { text, mark: '' };
}

function assertUnchanged(read: SettingsFile): void {
  const now = readSettingsFile(read.file);
  if (read.found === null && now.found === null) return;
  if (now.found === null) throw new SettingsTrouble('changed', 'The file has gone since the change was shown.');
  const same = read.found !== null && now.target === read.target && now.found.stat.size === read.found.stat.size
    && now.found.stat.mtimeNs === read.found.stat.mtimeNs && now.found.bytes.equals(read.found.bytes);
  if (!same) throw new SettingsTrouble('changed', 'The file was changed by another program since the change was shown.');
}

function createFile(read: SettingsFile, bytes: Buffer): void {
  mkdirSync(dirname(read.file), { recursive: true, mode: 0o700 });
  const temp = writeTemp(read.file, bytes, null);
  try {
    // A link, not a rename: it never replaces a file that somebody else made meanwhile.
    linkSync(temp, read.file);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new SettingsTrouble('changed', 'The file was made by another program since the change was shown.');
    throw error;
  } finally {
    remove(temp);
  }
  syncFolder(dirname(read.file));
}

function swapIn(file: string, bytes: Buffer, like: BigIntStats, lastLook: () => void): void {
  const temp = writeTemp(file, bytes, like);
  try {
    lastLook();
    renameSync(temp, file);
  } catch (error) {
    remove(temp);
    throw error;
  }
  syncFolder(dirname(file));
}

/** A new file beside the one that it will replace. @param like whose mode and owner it gets; null: 0600 and ours */
function writeTemp(file: string, bytes: Buffer, like: BigIntStats | null): string {
  const temp = join(dirname(file), `.${basename(file)}.${process.pid}-${Math.random().toString(36).slice(2, 10)}.tmp`);
  // `wx` and 0600: never through a link that somebody laid out, never readable by others before its mode is set.
  const fd = openSync(temp, 'wx', 0o600);
  try {
    writeFileSync(fd, bytes);
    if (like) {
      keepOwner(fd, like);
      fchmodSync(fd, Number(like.mode & 0o777n));
    }
    fsyncSync(fd);
  } catch (error) {
    remove(temp);
    throw error;
  } finally {
    closeSync(fd);
  }
  return temp;
}

function keepOwner(fd: number, like: BigIntStats): void {
  const now = fstatSync(fd, { bigint: true });
  if (now.uid === like.uid && now.gid === like.gid) return;
  try {
    fchownSync(fd, Number(like.uid), Number(like.gid));
  } catch {
    // Only the superuser may give a file away; the content and the mode are what counts.
  }
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // Already gone, or the folder can't be written to: nothing more to do about a temporary file.
  }
}

function asTrouble(error: unknown, kind: 'unreadable' | 'cant-write'): SettingsTrouble {
  if (error instanceof SettingsTrouble) return error;
  const code = codeOf(error);
  const known = TROUBLES[code];
  const fallback = kind === 'unreadable' ? `The file can't be read (${code}).` : `The file can't be written (${code}).`;
  return new SettingsTrouble(kind, known?.[kind] ?? fallback);
}

const DENIED = { unreadable: 'macOS or the file\'s permissions don\'t allow reading it.', 'cant-write': 'The file or its folder can\'t be written to.' };
const TROUBLES: Readonly<Record<string, Readonly<Record<'unreadable' | 'cant-write', string>>>> = {
  EACCES: DENIED,
  EPERM: DENIED,
  EROFS: { unreadable: DENIED.unreadable, 'cant-write': 'The disk can\'t be written to.' },
  ENOSPC: { unreadable: DENIED.unreadable, 'cant-write': 'The disk is full.' },
  ENOENT: { unreadable: 'It is a link that leads nowhere.', 'cant-write': 'Its folder has gone.' },
  ELOOP: { unreadable: 'It is a link that leads in a circle.', 'cant-write': 'It is a link that leads in a circle.' },
  ENOTDIR: { unreadable: 'Its folder is a file.', 'cant-write': 'Its folder is a file.' },
  EISDIR: { unreadable: 'It is not a regular file.', 'cant-write': 'It is not a regular file.' },
};

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown';
}
