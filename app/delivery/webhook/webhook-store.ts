import type { Database } from 'better-sqlite3';
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { WebhookRecord } from './webhook-record.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Subscriptions in state.db: positions in clear, everything else (where to, for which senders, signed with what) under a key
 * that comes from the app's host and is kept nowhere in the folder. Without such a key there is no such store. Calls may
 * throw from SQLite.
 */
export class WebhookStore {
  readonly #db: Database;
  readonly #key: Buffer;

  /** @param hostKey base64, as the settings' seal has it; another key is made of it */
  constructor(db: Database, hostKey: string) {
    this.#db = db;
    this.#key = Buffer.from(hkdfSync('sha256', Buffer.from(hostKey, 'base64'), '', 'belfry webhook subscriptions 1', 32));
    db.exec('CREATE TABLE IF NOT EXISTS webhook (id TEXT PRIMARY KEY, sealed BLOB NOT NULL, cursor TEXT NOT NULL) WITHOUT ROWID');
  }

  /** A record is null where it was sealed with another key: it cannot be read again. */
  load(): readonly { readonly id: string; readonly record: WebhookRecord | null; readonly cursor: string }[] {
    const rows = this.#db.prepare('SELECT id, sealed, cursor FROM webhook').all() as { id: string; sealed: Buffer; cursor: string }[];
    return rows.map(({ id, sealed, cursor }) => ({ id, record: this.#open(id, sealed), cursor }));
  }

  put(record: WebhookRecord, cursor: string): void {
    this.#db.prepare('INSERT INTO webhook VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET sealed = excluded.sealed, cursor = excluded.cursor')
      .run(record.id, this.#seal(record), cursor);
  }

  /** @param cursors by id */
  move(cursors: ReadonlyMap<string, string>): void {
    const update = this.#db.prepare('UPDATE webhook SET cursor = ? WHERE id = ?');
    this.#db.transaction(() => {
      for (const [id, cursor] of cursors) update.run(cursor, id);
    })();
  }

  remove(id: string): void {
    this.#db.prepare('DELETE FROM webhook WHERE id = ?').run(id);
  }

  #seal(record: WebhookRecord): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce);
    // A row that stands under another id does not open.
    cipher.setAAD(Buffer.from(record.id));
    const text = Buffer.concat([cipher.update(JSON.stringify(record), 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), text]);
  }

  #open(id: string, sealed: Buffer): WebhookRecord | null {
    try {
      const decipher = createDecipheriv(CIPHER, this.#key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(id));
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
      return JSON.parse(text.toString()) as WebhookRecord;
    } catch {
      return null;
    }
  }
}
