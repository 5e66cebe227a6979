import { createHash, randomUUID } from 'node:crypto';
import { constants, lstatSync, mkdirSync, readdirSync, rmSync, statfsSync, utimesSync, type BigIntStats } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { withoutHidden } from '../text/hidden.ts';
import { extensionOf } from './file-extension.ts';

/** Where the bytes of an attachment come from. */
export type AttachmentSource = { readonly bytes: Buffer } | { readonly path: string };

export interface AttachmentCacheOptions {
  /** Unix ms. */
  readonly now: () => number;
  /** Says of an open file that it came from outside; false where it could not, and then there is no copy. */
  readonly mark?: ((fd: number) => boolean) | undefined;
  /** Free bytes of the disk that the folder is on; left out: as the file system says. */
  readonly free?: () => number;
}

/** `no-room`: the copies that were handed out just now take all that they may. */
export type Saved = { readonly path: string; readonly size: number } | 'too-large' | 'gone' | 'no-room';

/** A copy, by the name of its folder. */
interface Copy {
  readonly bytes: number;
  /** Unix ms at which it was last handed out. */
  readonly at: number;
  /** As it was written; null for one of an earlier run, which may have been changed since. */
  readonly file: BigIntStats | null;
}

const KEEP_MS = 24 * 3_600_000;
export const MAX_ATTACHMENT = 100 * 1024 * 1024;
export const MAX_COPIES_BYTES = 1024 ** 3;
const SHARE_OF_FREE = 10;
/** A copy counts as so much at least, so that small ones are few enough to be looked through. */
const LEAST_BYTES = 64 * 1024;
/** Whoever was given a path has this long to open it, whatever else is asked for. */
const HANDED_OUT_MS = 60_000;
/** File systems allow 255 bytes. */
const MAX_NAME_BYTES = 200;
const UNSAFE = /[/\\:\p{Cc}\p{Bidi_Control}\p{Surrogate}]/gu;

/**
 * Attachments that were asked for, each in a folder of its own for this user alone, for 24 hours. The only thing of Mail that
 * lies outside of it, and only because the owner let a client read. The same part of a mail is one copy, as long as it is as it
 * was; together they take at most 1 GB and a tenth of the free disk, and the one that was asked for longest ago goes first.
 */
export class AttachmentCache {
  readonly #folder: string;
  readonly #options: AttachmentCacheOptions;
  readonly #copies = new Map<string, Copy>();
  readonly #running = new Map<string, Promise<Saved>>();
  #isLooked = false;

  constructor(folder: string, options: AttachmentCacheOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /**
   * @param of the mail's row, and the part of it
   * @param type MIME type, for the ending of a file without a name
   * @throws the file system's error where the copy cannot be written, or one of ours where it cannot be marked.
   */
  async save(of: { readonly row: number; readonly part: string }, source: AttachmentSource, name: string | null, type = ''): Promise<Saved> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    // Opened before the folder is made, so that nothing is left behind for one that is gone. A link is not followed.
    const from = 'path' in source ? await open(source.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null) : null;
    if ('path' in source && from === null) return 'gone';
    try {
      const stat = await from?.stat({ bigint: true });
      if (stat?.isFile() === false) return 'gone';
      const size = 'bytes' in source ? source.bytes.length : Number(stat!.size);
      if (size > MAX_ATTACHMENT) return 'too-large';
      const content = 'bytes' in source ? await digest(source.bytes) : [stat!.dev, stat!.ino, stat!.size, stat!.mtimeNs, stat!.ctimeNs].join(' ');
      const safe = safeName(name, type);
      const id = `a-${createHash('sha256').update(JSON.stringify([of.row, of.part, safe, content])).digest('hex').slice(0, 40)}`;
      const running = this.#running.get(id) ?? this.#once(id, () => this.#copy(id, safe, size, 'bytes' in source ? source.bytes : from!));
      return await running;
    } finally {
      await from?.close();
    }
  }

  /** Removes what is older than 24 hours, and what a clock that was set back would keep for ever; then what is too much. */
  sweep(): void {
    this.#look();
    const now = this.#options.now();
    for (const [id, { at }] of this.#copies) if (Math.abs(now - at) > KEEP_MS && !this.#running.has(id)) this.#drop(id);
    if (this.#copies.size > 0) this.#makeRoom(0, null);
  }

  #once(id: string, work: () => Promise<Saved>): Promise<Saved> {
    const running = (async () => {
      try {
        return await work();
      } finally {
        this.#running.delete(id);
      }
    })();
    this.#running.set(id, running);
    return running;
  }

  async #copy(id: string, name: string, size: number, from: Buffer | FileHandle): Promise<Saved> {
    if (!this.#isLooked) this.#look();
    const home = join(this.#folder, id);
    const path = join(home, name);
    const written = this.#copies.get(id)?.file ?? null;
    if (written !== null && isOwnFolder(home) && isUnchanged(path, written)) return this.#handedOut(id, path, size, written);
    if (!this.#makeRoom(counted(size), id)) return 'no-room';
    this.#copies.set(id, { bytes: counted(size), at: this.#options.now(), file: null });
    try {
      ownFolder(home);
      const draft = join(home, `.${randomUUID()}`);
      const to = await open(draft, 'wx', 0o600);
      // Before there is anything in it to be opened.
      if (this.#options.mark?.(to.fd) === false) {
        await to.close();
        throw new Error('The copy could not be marked');
      }
      if (Buffer.isBuffer(from)) await to.writeFile(from).finally(() => to.close());
      else await pipeline(from.createReadStream({ autoClose: false, end: MAX_ATTACHMENT - 1 }), to.createWriteStream());
      // In the place of one that was changed, or of an earlier run: who has that open keeps it.
      await rename(draft, path);
      return this.#handedOut(id, path, size, lstatSync(path, { bigint: true }));
    } catch (error) {
      await rm(home, { recursive: true, force: true });
      this.#copies.delete(id);
      throw error;
    }
  }

  #handedOut(id: string, path: string, size: number, file: BigIntStats): Saved {
    const at = this.#options.now();
    utimesSync(join(this.#folder, id), at / 1000, at / 1000);
    this.#copies.set(id, { bytes: counted(size), at, file });
    return { path, size };
  }

  /** False: even without all that may go it would be too much; then nothing goes. @param own what is replaced */
  #makeRoom(bytes: number, own: string | null): boolean {
    const now = this.#options.now();
    const others = [...this.#copies].filter(([id]) => id !== own);
    let excess = others.reduce((sum, [, copy]) => sum + copy.bytes, bytes) - roomFor(this.#options.free?.() ?? freeBytes(this.#folder));
    const going: string[] = [];
    for (const [id, copy] of others.toSorted(([, a], [, b]) => a.at - b.at)) {
      if (excess <= 0) break;
      if (this.#running.has(id) || Math.abs(now - copy.at) < HANDED_OUT_MS) continue;
      going.push(id);
      excess -= copy.bytes;
    }
    if (excess > 0 && bytes > 0) return false;
    for (const id of going) this.#drop(id);
    return true;
  }

  #drop(id: string): void {
    rmSync(join(this.#folder, id), { recursive: true, force: true });
    this.#copies.delete(id);
  }

  /** What lies there by now: of an earlier run too. */
  #look(): void {
    this.#isLooked = true;
    const there = new Set(names(this.#folder));
    for (const id of this.#copies.keys()) if (!there.has(id) && !this.#running.has(id)) this.#copies.delete(id);
    for (const id of there) {
      if (this.#running.has(id)) continue;
      const path = join(this.#folder, id);
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat === undefined) continue;
      const files = stat.isDirectory() ? names(path).map((name) => lstatSync(join(path, name), { throwIfNoEntry: false })?.size ?? 0) : [stat.size];
      this.#copies.set(id, { bytes: counted(files.reduce((sum, size) => sum + size, 0)), at: stat.mtimeMs, file: this.#copies.get(id)?.file ?? null });
    }
  }
}

/** Bytes that all copies may take. */
export const roomFor = (free: number): number => Math.min(MAX_COPIES_BYTES, Math.floor(free / SHARE_OF_FREE));

const counted = (size: number): number => Math.max(size, LEAST_BYTES);

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

const digest = async (bytes: Buffer): Promise<string> => Buffer.from(await crypto.subtle.digest('SHA-256', bytes as Buffer<ArrayBuffer>)).toString('hex');

/** Whether a file is the one that was written: a change of anything moves its ctime. */
function isUnchanged(path: string, written: BigIntStats): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return stat !== undefined && stat.isFile() && (['dev', 'ino', 'mode', 'nlink', 'size', 'mtimeNs', 'ctimeNs'] as const).every((name) => stat[name] === written[name]);
}

function isOwnFolder(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && (stat.mode & 0o777) === 0o700;
}

/** Makes a folder for this user alone; what is no such folder is removed, and a link is not followed. */
function ownFolder(path: string): void {
  if (isOwnFolder(path)) return;
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { mode: 0o700 });
}

/** One file name below its folder, whatever the sender wrote. @param type MIME type, for the ending where there is no name */
export function safeName(name: string | null, type = ''): string {
  let clean = withoutHidden((name ?? '').normalize('NFC').replace(UNSAFE, '_')).replace(/^[.\s]+/, '').trim();
  while (Buffer.byteLength(clean) > MAX_NAME_BYTES) clean = Array.from(clean).slice(1).join('');
  return clean === '' ? `attachment${extensionOf(type)}` : clean;
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
