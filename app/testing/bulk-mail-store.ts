import Database from 'better-sqlite3';
import { createHash, hash } from 'node:crypto';
import { constants, copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { canary } from './canary.ts';
import { envelopeSchema, type MailVariant } from './envelope-variants.ts';
import { MailStore, storeProperties } from './mail-store.ts';
import type { SchemaObject } from './schema.ts';

/** Parameters of a big store. Equal parameters give equal rows, apart from the identity of the store. */
export interface BulkMail {
  /** Mails; default 1,000,000. */
  readonly rows?: number;
  /** Rows of `addresses`; default rows / 5. */
  readonly addresses?: number;
  /** Addresses of one domain of which ten wrote; default addresses / 40. */
  readonly quietDomainAddresses?: number;
  /** Years over which dates ascend; default 8. */
  readonly years?: number;
  /** Newest date, Unix seconds; default the last midnight (UTC), so that a cached file serves for a day. */
  readonly until?: number;
  readonly variant?: 'macos26' | 'macos26-migrated' | 'macos15';
}

/** What the rows of a big store match. Counts are exact. */
export interface BulkSenders {
  /** Nine rows in ten. */
  readonly wideDomain: string;
  readonly wideRows: number;
  /** Thousands of addresses, of which only `quietWriters` sent anything. */
  readonly quietDomain: string;
  readonly quietWriters: readonly string[];
  readonly quietRows: number;
  /** Five addresses whose mails lie evenly over the whole store: one row in 2,000. */
  readonly spread: readonly string[];
  readonly spreadRows: number;
  /** A long list: 60,000 addresses at the default size, most with a mail or two. */
  readonly list: readonly string[];
}

export interface BulkResult extends BulkSenders {
  readonly mailDir: string;
  /** Account identifiers: one IMAP, one in Gmail's shape. */
  readonly imap: string;
  readonly gmail: string;
  readonly lastRowid: number;
  readonly fromCache: boolean;
}

/** Raised when the rows change, so that older cached files are not used. */
const BUILD = 3;
const IMAP = 'B01D0000-0000-4000-8000-0000000000A1';
const GMAIL = 'B01D0000-0000-4000-8000-0000000000A2';
const WIDE = 'wide.example';
const QUIET = 'quiet.example';
const SPREAD = 5;
const WRITERS = 10;

interface Plan {
  readonly rows: number;
  readonly quiet: number;
  readonly wide: number;
  readonly people: number;
  readonly years: number;
  readonly until: number;
  readonly variant: MailVariant;
}

function plan(params: BulkMail): Plan {
  const rows = params.rows ?? 1_000_000;
  const addresses = params.addresses ?? Math.max(200, Math.floor(rows / 5));
  const quiet = params.quietDomainAddresses ?? Math.max(WRITERS, Math.floor(addresses / 40));
  const wide = Math.floor(addresses / 2);
  return {
    rows, quiet, wide, people: addresses - quiet - wide - SPREAD, years: params.years ?? 8,
    until: params.until ?? Math.floor(Date.now() / 86_400_000) * 86_400, variant: params.variant ?? 'macos26',
  };
}

/** Rowid of the n-th mail (from 0): sparse, as in a store that lost mails. */
export function bulkRowid(nth: number): number {
  return 1 + nth + Math.floor(nth / 13);
}

// All special senders come from the tenth that the wide domain leaves.
const isSpread = (nth: number): boolean => nth % 2000 === 773;
const isQuiet = (nth: number): boolean => nth % 5000 === 1233;
const isWide = (nth: number): boolean => nth % 10 !== 3;
const person = (index: number): string => `person${index}@people${index % 997}.example`;

function senderRow(nth: number, from: Plan): number {
  const mixed = Math.imul(nth, 0x9e3779b1) >>> 0;
  if (isWide(nth)) return 1 + (mixed % from.wide);
  if (isSpread(nth)) return 1 + from.wide + from.quiet + (Math.floor(nth / 2000) % SPREAD);
  if (isQuiet(nth)) return 1 + from.wide + (Math.floor(nth / 5000) % WRITERS);
  return 1 + from.wide + from.quiet + SPREAD + (mixed % from.people);
}

export function bulkSenders(params: BulkMail = {}): BulkSenders {
  const from = plan(params);
  const count = (residue: number, modulus: number): number => Math.max(0, Math.ceil((from.rows - residue) / modulus));
  return {
    wideDomain: WIDE,
    wideRows: from.rows - count(3, 10),
    quietDomain: QUIET,
    quietWriters: Array.from({ length: WRITERS }, (_, index) => `quiet${index}@${QUIET}`),
    quietRows: count(1233, 5000),
    spread: Array.from({ length: SPREAD }, (_, index) => `spread${index}@spread.example`),
    spreadRows: count(773, 2000),
    list: Array.from({ length: Math.min(from.people, Math.floor(from.rows * 0.06)) }, (_, index) => person(index)),
  };
}

/** A store of many mails below `mailDir`, from the cache folder if it was made before. */
export function buildBulkMail(mailDir: string, cacheDir: string, params: BulkMail & { accountsDb?: string; uuid?: string } = {}): BulkResult {
  const from = plan(params);
  const schema = envelopeSchema(from.variant);
  const key = createHash('sha256').update(JSON.stringify([BUILD, from, schema])).digest('hex').slice(0, 16);
  const cached = join(cacheDir, `bulk-mail-${key}.sqlite`);
  const fromCache = existsSync(cached);
  if (!fromCache) {
    mkdirSync(cacheDir, { recursive: true });
    const building = `${cached}.${process.pid}`;
    rmSync(building, { force: true });
    build(building, schema, from);
    renameSync(building, cached);
  }
  mkdirSync(join(mailDir, 'MailData'), { recursive: true });
  const index = join(mailDir, 'MailData', 'Envelope Index');
  for (const suffix of ['', '-wal', '-shm']) rmSync(index + suffix, { force: true });
  copyFileSync(cached, index, constants.COPYFILE_FICLONE);

  const store = MailStore.open(mailDir, params.accountsDb === undefined ? {} : { accountsDb: params.accountsDb });
  store.transaction(() => void store.run(`UPDATE properties SET value = ? WHERE key = 'UUID'`, params.uuid ?? crypto.randomUUID().toUpperCase()));
  for (const [id, description, email, type] of [[IMAP, 'iCloud', 'me@icloud.example', 'AppleAccount'], [GMAIL, 'Google', 'me@gmail.example', 'Google']] as const) {
    store.accounts.addAccount({ id, description, email, type: 'IMAP', parentType: type, properties: {} });
  }
  store.close();
  return { ...bulkSenders(params), mailDir, imap: IMAP, gmail: GMAIL, lastRowid: bulkRowid(from.rows - 1), fromCache };
}

function build(path: string, schema: readonly SchemaObject[], from: Plan): void {
  const db = new Database(path);
  try {
    db.pragma('page_size = 4096');
    db.pragma('journal_mode = OFF');
    db.pragma('synchronous = OFF');
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('cache_size = -1000000');
    db.pragma('temp_store = MEMORY');
    // Sorting for the indexes: helper threads do half of it.
    db.pragma('threads = 4');
    db.exec('BEGIN');
    for (const object of schema) if (object.type === 'table') db.exec(object.sql);
    fill(db, from);
    for (const object of schema) if (object.type === 'index') db.exec(object.sql);
    // Last: the counters are already right.
    for (const object of schema) if (object.type === 'trigger') db.exec(object.sql);
    db.exec('COMMIT');
    db.pragma('locking_mode = NORMAL');
    db.pragma('journal_mode = WAL');
  } finally {
    db.close();
  }
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
}

function fill(db: Database.Database, from: Plan): void {
  const property = db.prepare('INSERT INTO properties (key, value) VALUES (?, ?)');
  for (const [key, value] of storeProperties(from.variant, 'B01D0000-0000-4000-8000-000000000000')) property.run(key, value);
  const boxes = [
    `imap://${IMAP}/INBOX`, `imap://${IMAP}/Archive`, `imap://${IMAP}/Sent%20Messages`, `imap://${IMAP}/Drafts`, `imap://${IMAP}/Junk`,
    `imap://${IMAP}/Deleted%20Messages`, `imap://${GMAIL}/%5BGmail%5D/All%20Mail`, `imap://${GMAIL}/%5BGmail%5D/Spam`, `imap://${GMAIL}/%5BGmail%5D/Trash`,
    `imap://${GMAIL}/%5BGmail%5D/Drafts`,
  ];
  const mailbox = db.prepare('INSERT INTO mailboxes (url, source) VALUES (?, ?)');
  for (const url of boxes) mailbox.run(url, null);
  for (const label of ['INBOX', '%5BGmail%5D/Important', '%5BGmail%5D/Starred', '%5BGmail%5D/Sent%20Mail', 'Projects']) mailbox.run(`imap://${GMAIL}/${label}`, 7);

  const address = db.prepare('INSERT INTO addresses (ROWID, address, comment) VALUES (?, ?, ?)');
  let row = 0;
  for (let index = 0; index < from.wide; index += 1) address.run((row += 1), `wide${index}@${WIDE}`, index % 3 === 0 ? `Wide ${index}` : '');
  for (let index = 0; index < from.quiet; index += 1) address.run((row += 1), `quiet${index}@${QUIET}`, '');
  for (let index = 0; index < SPREAD; index += 1) address.run((row += 1), `spread${index}@spread.example`, `Spread ${index}`);
  for (let index = 0; index < from.people; index += 1) address.run((row += 1), person(index), index % 2 === 0 ? `Person ${index}` : '');
  // The recipient is one more row, after those counted.
  const me = row + 1;
  address.run(me, 'me@example.org', '');

  const subjects = Math.max(1, Math.floor(from.rows / 4));
  const conversations = Math.max(1, Math.floor(from.rows / 3));
  db.prepare(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO subjects (ROWID, subject) SELECT i, printf('Subject %07d', i) FROM n`).run(subjects);
  db.prepare('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO conversations (conversation_id) SELECT i FROM n').run(conversations);
  db.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO summaries (ROWID, summary) SELECT i, printf('Preview ${canary('mail-summary')} %07d', i) FROM n`,
  ).run(Math.max(1, Math.floor(from.rows / 4)));
  mails(db, from, subjects, conversations);
  derived(db, me);
}

/** `messages` and `message_global_data`, one each. Half of the mails are Gmail's. */
function mails(db: Database.Database, from: Plan, subjects: number, conversations: number): void {
  const global = db.prepare('INSERT INTO message_global_data (ROWID, message_id, validation_state, message_id_header) VALUES (?, ?, 17940, ?)');
  const message = db.prepare(
    `INSERT INTO messages (ROWID, message_id, global_message_id, remote_id, document_id, sender, subject_prefix, subject, summary, date_sent, date_received,
       mailbox, remote_mailbox, flags, read, size, conversation_id, date_last_viewed, list_id_hash, unsubscribe_type, searchable_message, display_date,
       flag_color, color, fuzzy_ancestor, automated_conversation, root_status)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, ?, ?, 0, '000000', -2, 0, 1)`,
  );
  const span = from.years * 365 * 86_400;
  const read = (1n << 33n) | (3n << 16n) | (1n << 25n) | 1n;
  for (let nth = 0; nth < from.rows; nth += 1) {
    const rowid = bulkRowid(nth);
    const id = `${nth}.bulk@example.org`;
    const digest = hash('md5', id, 'buffer');
    const messageId = digest.readBigInt64LE(0);
    global.run(nth + 1, messageId, `<${id}>`);
    const mixed = Math.imul(nth, 0x85ebca6b) >>> 0;
    const unread = mixed % 33 === 0;
    const box = nth % 2 === 0 ? 7 : mixed % 5 === 0 ? 2 : 1;
    // Ascending to the second; whole seconds, newest at `until`.
    const date = from.until - Math.floor(((from.rows - 1 - nth) / from.rows) * span);
    message.run(
      rowid, messageId, nth + 1, nth + 1, digest, senderRow(nth, from), mixed % 4 === 0 ? 'Re: ' : null, 1 + (mixed % subjects),
      mixed % 4 === 1 ? 1 + (nth % Math.max(1, Math.floor(from.rows / 4))) : null, date, date, box, box, unread ? read & ~1n : read, unread ? 0 : 1, 2000 + (mixed % 60_000),
      1 + (mixed % conversations), rowid, date,
    );
  }
}

/** What follows from `messages`, made by SQL alone. */
function derived(db: Database.Database, me: number): void {
  db.prepare('INSERT INTO recipients (message, address, type, position) SELECT ROWID, ?, 0, 0 FROM messages').run(me);
  db.exec(`
    INSERT INTO searchable_messages (message_id, message, transaction_id, message_body_indexed, reindex_type) SELECT ROWID, ROWID, 1, 1, 0 FROM messages;
    INSERT INTO server_messages (message, mailbox, sequence_identifier, read, deleted, replied, flagged, draft, forwarded, redirected,
      junk_level_set_by_user, junk_level, flag_color, remote_id)
      SELECT ROWID, mailbox, remote_id, read, 0, 0, 0, 0, 0, 0, 0, 0, 0, remote_id FROM messages;
    INSERT INTO conversation_id_message_id (conversation_id, message_id, date_sent)
      SELECT conversation_id, message_id, date_sent FROM messages ORDER BY conversation_id, message_id;
    INSERT INTO labels (message_id, mailbox_id) SELECT ROWID, 11 FROM messages WHERE mailbox = 7;
    INSERT INTO labels (message_id, mailbox_id) SELECT ROWID, 15 FROM messages WHERE mailbox = 7 AND global_message_id % 20 = 1;
    INSERT INTO attachments (message, attachment_id, name) SELECT ROWID, '2', '${canary('mail-attachment')}.pdf' FROM messages WHERE global_message_id % 50 = 0;
    INSERT INTO duplicates_unread_count (message_id, mailbox_id, unread_count) SELECT message_id, mailbox, 1 FROM messages WHERE read = 0;
    CREATE TEMP TABLE counted AS SELECT mailbox AS box, COUNT(*) AS total, SUM(read = 0) AS unread FROM messages GROUP BY mailbox
      UNION ALL SELECT l.mailbox_id, COUNT(*), SUM(m.read = 0) FROM labels l JOIN messages m ON m.ROWID = l.message_id GROUP BY l.mailbox_id;
    UPDATE mailboxes SET total_count = c.total, unread_count = c.unread, unseen_count = c.unread, unread_count_adjusted_for_duplicates = c.unread
      FROM temp.counted c WHERE c.box = mailboxes.ROWID;
    DROP TABLE temp.counted;
  `);
}
