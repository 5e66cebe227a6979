import { randomBytes } from 'node:crypto';
import { closeSync, constants, fsyncSync, linkSync, lstatSync, mkdirSync, openSync, readdirSync, readFileSync, realpathSync, unlinkSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { Clock } from '../events/clock.ts';
import { envelopeText } from './envelope-text.ts';
import { isPushed, type Inbox, type InboxItem } from './inbox.ts';
import type { ItemRef } from './watch.ts';
import type { Watches } from './watches.ts';

/** Bounds of the consumer (peers.md 6): it refuses a longer text, and a longer envelope. */
const MAX_TEXT_BYTES = 48 * 1024;
const MAX_RECEIPT_BYTES = 64 * 1024;
/** The consumer looks into its folder this often; so do we for its receipts. */
const LOOK_MS = 750;
const NAME_TRIES = 8;
const PAGE = 20;

/** Our files say which item they are, so that a restart finds them again: `..-belfry_<watch>_<event>.json`. */
const OURS = /-belfry_([0-9a-f]{8})_(\d{1,15})\.json$/;

interface Folder {
  readonly directory: string;
  /** Files that were written, by event. */
  readonly written: Set<number>;
  /** Receipts that were read. */
  readonly seen: Set<string>;
  problem: string | null;
}

/**
 * Items as files in a folder that the owner named, for a client that reads files and writes a receipt for each
 * (peers.md 6). At least once: a file without a receipt is written again only where it is gone.
 */
export class CodexInboxes {
  readonly #watches: Watches;
  readonly #inbox: Inbox;
  readonly #clock: Clock;
  readonly #listener: { delivered(item: ItemRef, client: string): void; fault(sentence: string): void };
  readonly #folders = new Map<string, Folder>();
  readonly #ignore = new Map<string, () => void>();
  #cancel: (() => void) | null = null;
  #sequence = 0;

  constructor(options: { watches: Watches; inbox: Inbox; clock: Clock; listener: { delivered(item: ItemRef, client: string): void; fault(sentence: string): void } }) {
    this.#watches = options.watches;
    this.#inbox = options.inbox;
    this.#clock = options.clock;
    this.#listener = options.listener;
  }

  /** After each change of watches or policy, and when a store came back. */
  refresh(): void {
    const wanted = this.#watches.inboxes();
    const clients = new Set(wanted.map(({ client }) => client));
    for (const [client, ignore] of this.#ignore) {
      if (clients.has(client)) continue;
      ignore();
      this.#ignore.delete(client);
    }
    for (const id of [...this.#folders.keys()]) if (!wanted.some((watch) => watch.id === id)) this.#folders.delete(id);
    for (const { id, client, inbox } of wanted) {
      if (!this.#ignore.has(client)) this.#ignore.set(client, this.#watches.listen(client, (ids) => this.#changed(ids)));
      if (this.#folders.get(id)?.directory !== inbox) this.#folders.set(id, { directory: inbox!, written: new Set(), seen: new Set(), problem: null });
      this.#write(id);
    }
  }

  /** Why a watch's folder takes nothing, or null. */
  problemOf(watch: string): string | null {
    return this.#folders.get(watch)?.problem ?? null;
  }

  close(): void {
    for (const ignore of this.#ignore.values()) ignore();
    this.#cancel?.();
  }

  #changed(ids: ReadonlySet<string>): void {
    for (const id of ids) if (this.#folders.has(id)) this.#write(id);
  }

  #write(id: string): void {
    const folder = this.#folders.get(id)!;
    const watch = this.#watches.find(id, null);
    if (!watch) return;
    try {
      const problem = directoryProblem(folder.directory);
      this.#setProblem(folder, problem);
      if (problem !== null) return this.#arm();
      const inbox = ownFolder(folder.directory, 'inbox');
      if (folder.written.size === 0) this.#remember(id, folder);
      for (;;) {
        const skip = (item: ItemRef) => !isPushed(item) || folder.written.has(item.event);
        const taken = this.#inbox.take(watch.client, { watch: this.#watches.number(id), limit: PAGE, push: 'file', skip });
        if ('refused' in taken || taken.items.length === 0) break;
        for (const [index, item] of taken.items.entries()) {
          const { event } = taken.refs[index]!;
          this.#put(inbox, `belfry_${id}_${event}`, envelopeOf(item, id, taken.batch!));
          folder.written.add(event);
        }
        if (!taken.hasMore) break;
      }
      this.#receipts(id, folder, watch.client);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (typeof code !== 'string') throw error;
      this.#setProblem(folder, `The folder cannot be written to (${code}).`);
    }
    if (folder.written.size > 0 || folder.problem !== null) this.#arm();
  }

  /** Files of an earlier run: those without a receipt are not written again while they are there. */
  #remember(id: string, folder: Folder): void {
    for (const place of ['', 'inbox', 'processed']) {
      for (const name of names(join(folder.directory, place))) {
        const [, watch, event] = OURS.exec(name) ?? [];
        if (watch === id) folder.written.add(Number(event));
      }
    }
  }

  /** Under a name that sorts by time, whole or not at all, over nothing that is there. */
  #put(folder: string, what: string, text: string): void {
    const temp = join(folder, `.${what}-${randomBytes(6).toString('hex')}.tmp`);
    const fd = openSync(temp, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
    try {
      try {
        writeFileSync(fd, text);
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      for (let left = NAME_TRIES; ; left -= 1) {
        this.#sequence += 1;
        const time = (BigInt(this.#clock.now()) * 1_000_000n).toString().padStart(20, '0');
        const name = `${time}-${process.pid}-${randomBytes(4).toString('hex')}-${String(this.#sequence).padStart(8, '0')}-${what}.json`;
        try {
          linkSync(temp, join(folder, name));
          return;
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || left <= 1) throw error;
        }
      }
    } finally {
      unlinkSync(temp);
    }
  }

  #receipts(id: string, folder: Folder, client: string): void {
    const outbox = join(folder.directory, 'outbox');
    const number = this.#watches.number(id);
    for (const name of names(outbox)) {
      const [, watch, event] = OURS.exec(name.replace(/(?:\.json)?\.receipt\.json$/, '.json')) ?? [];
      if (watch !== id || !name.endsWith('.receipt.json') || folder.seen.has(name)) continue;
      const status = statusOf(join(outbox, name));
      if (status === null) continue;
      folder.seen.add(name);
      if (status === 'submitted') {
        for (const ref of this.#watches.confirmItems(client, [[Number(event), number]])) this.#listener.delivered(ref, client);
      } else this.#listener.fault(`A file of watch ${id} was not taken (${status}); its item stays unread.`);
    }
  }

  /** Told once, until it changes. */
  #setProblem(folder: Folder, problem: string | null): void {
    if (problem !== null && folder.problem !== problem) this.#listener.fault(problem);
    folder.problem = problem;
  }

  #arm(): void {
    this.#cancel ??= this.#clock.after(LOOK_MS, () => {
      this.#cancel = null;
      for (const id of this.#folders.keys()) if ((this.#watches.find(id, null)?.sent ?? 0) > 0 || this.#folders.get(id)!.problem !== null) this.#write(id);
    });
  }
}

/** Whether a folder may be written to for a client. A sentence that names the rule, or null. */
export function directoryProblem(directory: string): string | null {
  if (!isAbsolute(directory)) return 'The folder must be an absolute path.';
  let stat;
  try {
    stat = lstatSync(directory);
    if (stat.isSymbolicLink() || realpathSync(directory) !== resolve(directory)) return 'The folder, and every folder above it, must not be a symbolic link.';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'The folder does not exist.' : 'The folder cannot be looked at.';
  }
  if (!stat.isDirectory()) return 'The path is not a folder.';
  if (stat.uid !== process.getuid?.()) return 'The folder must belong to you.';
  if ((stat.mode & 0o077) !== 0) return 'The folder must be open to nobody else (mode 700).';
  return null;
}

/** A folder below, made if it is missing. @throws from fs, ENOTDIR where something else stands there */
function ownFolder(directory: string, name: string): string {
  const path = join(directory, name);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const stat = lstatSync(path);
  if (!stat.isDirectory() || stat.uid !== process.getuid?.()) throw Object.assign(new Error('Not our folder'), { code: 'ENOTDIR' });
  return path;
}

function names(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Null while the receipt cannot be read as one: it may be half written. */
function statusOf(path: string): string | null {
  const stat = lstatSync(path);
  if (!stat.isFile() || stat.size > MAX_RECEIPT_BYTES) return 'not a receipt';
  try {
    const { status } = JSON.parse(readFileSync(path, 'utf8')) as { status?: unknown };
    return typeof status === 'string' ? status.replace(/[^a-z_]/g, '').slice(0, 40) : 'no status';
  } catch {
    return null;
  }
}

function envelopeOf(item: InboxItem, watch: string, batch: string): string {
  let text = envelopeText(item);
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES) text = 'Something arrived whose envelope is too long for a file. check_inbox has it.';
  return JSON.stringify({
    id: item.eventId, from: 'belfry', to: 'codex', kind: 'brief', thread: watch, ts: item.receivedAt, text,
    idempotency_key: `${watch}:${item.eventId}`, batch,
  });
}
