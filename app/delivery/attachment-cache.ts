import { constants, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** Where the bytes of an attachment come from. */
export type AttachmentSource = { readonly bytes: Buffer } | { readonly path: string };

export type Saved = { readonly path: string; readonly size: number } | 'too-large' | 'gone';

const KEEP_MS = 24 * 3_600_000;
export const MAX_ATTACHMENT = 100 * 1024 * 1024;
/** File systems allow 255 bytes. */
const MAX_NAME_BYTES = 200;
const UNSAFE = /[/\\:\p{Cc}\p{Bidi_Control}\p{Surrogate}]/gu;

/**
 * Attachments that were asked for, each in a folder of its own for this user alone, for 24 hours. The only thing of Mail that
 * lies outside of it, and only because the owner let a client read.
 */
export class AttachmentCache {
  readonly #folder: string;
  readonly #mark: ((fd: number) => boolean) | undefined;

  /** @param mark says of an open file that it came from outside; false where it could not, and then there is no copy */
  constructor(folder: string, mark?: (fd: number) => boolean) {
    this.#folder = folder;
    this.#mark = mark;
  }

  /** @throws the file system's error where the copy cannot be written, or one of ours where it cannot be marked. */
  async save(source: AttachmentSource, name: string | null): Promise<Saved> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    // Opened before the folder is made, so that nothing is left behind for one that is gone. A link is not followed.
    const from = 'path' in source ? await open(source.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null) : null;
    if ('path' in source && from === null) return 'gone';
    let home: string | null = null;
    try {
      const stat = await from?.stat();
      if (stat?.isFile() === false) return 'gone';
      const size = 'bytes' in source ? source.bytes.length : stat!.size;
      if (size > MAX_ATTACHMENT) return 'too-large';
      // 0700 by itself.
      home = await mkdtemp(join(this.#folder, 'a-'));
      const path = join(home, safeName(name));
      const to = await open(path, 'wx', 0o600);
      // Before there is anything in it to be opened.
      if (this.#mark?.(to.fd) === false) {
        await to.close();
        throw new Error('The copy could not be marked');
      }
      if ('bytes' in source) await to.writeFile(source.bytes).finally(() => to.close());
      else await pipeline(from!.createReadStream({ autoClose: false, end: MAX_ATTACHMENT - 1 }), to.createWriteStream());
      return { path, size };
    } catch (error) {
      if (home !== null) await rm(home, { recursive: true, force: true });
      throw error;
    } finally {
      await from?.close();
    }
  }

  /** Removes what is older than 24 hours, and what a clock that was set back would keep for ever. @param now Unix ms */
  sweep(now: number): void {
    for (const name of names(this.#folder)) {
      const path = join(this.#folder, name);
      const age = now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
      if (Math.abs(age) > KEEP_MS) rmSync(path, { recursive: true, force: true });
    }
  }
}

/** One file name below its folder, whatever the sender wrote. */
export function safeName(name: string | null): string {
  let clean = (name ?? '').normalize('NFC').replace(UNSAFE, '_').replace(/^[.\s]+/, '').trim();
  while (Buffer.byteLength(clean) > MAX_NAME_BYTES) clean = Array.from(clean).slice(1).join('');
  return clean === '' ? 'attachment' : clean;
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
