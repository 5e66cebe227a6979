import type { Database } from 'better-sqlite3';
import { basename, dirname } from 'node:path';
import { indexCandidates } from '../apple/mail/mail-folder.ts';
import type { StoreKind } from '../apple/occurrence.ts';
import { probeStore, type ProbeResult } from '../apple/store-probe.ts';
import type { Access } from '../contract/values.ts';

type StoreAccess = Access['mail'];

export interface AccessOptions {
  readonly db: Database;
  readonly mailDir: string;
  readonly messagesDb: string;
  /** Path of a store that is open for reading, else null: it is read all the time, and must not be opened a second time. */
  readonly openPath: (kind: StoreKind) => string | null;
  /** Unix ms. */
  readonly now: () => number;
}

/**
 * Whether this process can read Mail's and Messages' stores, by reading 16 bytes of each (ui.md, Full Disk Access).
 * A type that is off is read no further than that. That a store was read once is kept over restarts: it tells access
 * that was lost from access that was never given.
 */
export class AccessProbe {
  readonly #options: AccessOptions;
  readonly #everRead = new Set<string>();
  #found: Access;

  constructor(options: AccessOptions) {
    this.#options = options;
    options.db.exec('CREATE TABLE IF NOT EXISTS access (store TEXT PRIMARY KEY, read_at INTEGER NOT NULL) WITHOUT ROWID');
    for (const store of options.db.prepare('SELECT store FROM access').pluck().all() as string[]) this.#everRead.add(store);
    this.#found = { mail: this.#as('mail', 'unknown', null), messages: this.#as('messages', 'unknown', null), checkedAt: null };
  }

  /** What the last look found. */
  get found(): Access {
    return this.#found;
  }

  /** Looks now. True if something is different. */
  look(): boolean {
    const [mail, messages] = [this.#mail(), this.#messages()];
    // Neither is there: the folders may be hidden from us as well as empty.
    const blind = mail.state === 'missing' && messages.state === 'missing';
    const before = this.#found;
    this.#found = {
      mail: blind ? { ...mail, state: 'unknown' } : mail,
      messages: blind ? { ...messages, state: 'unknown' } : messages,
      checkedAt: this.#options.now(),
    };
    return before.checkedAt === null || !isSame(before.mail, this.#found.mail) || !isSame(before.messages, this.#found.messages);
  }

  #mail(): StoreAccess {
    const open = this.#options.openPath('mail');
    if (open !== null) return this.#as('mail', 'readable', versionOf(open));
    const { result, version } = probeMail(this.#options.mailDir);
    return this.#as('mail', result, version);
  }

  #messages(): StoreAccess {
    return this.#as('messages', this.#options.openPath('messages') !== null ? 'readable' : probeStore(this.#options.messagesDb), null);
  }

  #as(store: StoreKind, state: ProbeResult, version: string | null): StoreAccess {
    if (state === 'readable' && !this.#everRead.has(store)) {
      this.#everRead.add(store);
      this.#options.db.prepare('INSERT OR REPLACE INTO access (store, read_at) VALUES (?, ?)').run(store, this.#options.now());
    }
    return { state, everRead: this.#everRead.has(store), version };
  }
}

/** The first index that is there. */
function probeMail(mailDir: string): { readonly result: ProbeResult; readonly version: string | null } {
  for (const { version, path } of indexCandidates(mailDir)) {
    const result = probeStore(path);
    if (result !== 'missing') return { result, version };
  }
  return { result: 'missing', version: null };
}

/** Whether a process that does nothing else can read the stores: false if one is denied, null if neither tells anything. */
export function canRead({ mailDir, messagesDb }: Pick<AccessOptions, 'mailDir' | 'messagesDb'>): boolean | null {
  const results = [probeMail(mailDir).result, probeStore(messagesDb)];
  return results.includes('denied') ? false : results.includes('readable') ? true : null;
}

const isSame = (a: StoreAccess, b: StoreAccess) => a.state === b.state && a.everRead === b.everRead && a.version === b.version;

/** `.../V10/MailData/Envelope Index` -> `V10`. */
function versionOf(path: string): string | null {
  const name = basename(dirname(dirname(path)));
  return /^V\d{1,3}$/.test(name) ? name : null;
}
