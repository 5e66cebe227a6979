import Database from 'better-sqlite3';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildBulkMail } from './bulk-mail-store.ts';
import { corpusMail, emlxFile } from './mail-corpus.ts';
import { decodedPath } from './mail-values.ts';

export interface ReadingStore {
  /** Folder of the version, e.g. `.../V10`. Shared between runs: for reading only. */
  readonly mailDir: string;
  readonly rows: number;
  /** Bytes of all .emlx files. */
  readonly bytes: number;
  /** True if it was there from an earlier run. */
  readonly fromCache: boolean;
}

/** Raised when what is written changes, so that older folders are not used. */
const BUILD = 2;
const STORE = '0B0D6E6C-0000-4000-8000-00000000B0B0';
/** 2026-01-01: the same rows each day. */
const UNTIL = 1_767_225_600;

/** A Mail folder with an Envelope Index and every mail as a real .emlx, kept in the cache folder. */
export function buildReadingStore(cacheDir: string, rows: number): ReadingStore {
  const key = createHash('sha256').update(JSON.stringify([BUILD, rows, UNTIL])).digest('hex').slice(0, 16);
  const home = join(cacheDir, `reading-${key}`);
  const mailDir = join(home, 'V10');
  const done = join(home, 'bytes.json');
  const fromCache = existsSync(done);
  if (!fromCache) {
    const building = `${home}.${process.pid}`;
    rmSync(building, { recursive: true, force: true });
    rmSync(home, { recursive: true, force: true });
    mkdirSync(building, { recursive: true });
    buildBulkMail(join(building, 'V10'), cacheDir, { rows, until: UNTIL, accountsDb: join(building, 'Accounts4.sqlite') });
    const bytes = writeFiles(join(building, 'V10'));
    writeFileSync(join(building, 'bytes.json'), JSON.stringify({ bytes }));
    renameSync(building, home);
  }
  return { mailDir, rows, bytes: (JSON.parse(readFileSync(done, 'utf8')) as { bytes: number }).bytes, fromCache };
}

function writeFiles(mailDir: string): number {
  const db = new Database(join(mailDir, 'MailData', 'Envelope Index'), { readonly: true });
  let bytes = 0;
  const made = new Set<string>();
  const folder = (...parts: string[]): string => {
    const path = join(...parts);
    if (!made.has(path)) mkdirSync(path, { recursive: true });
    made.add(path);
    return path;
  };
  try {
    const rows = db.prepare(
      `SELECT m.ROWID AS id, b.url, a.address, a.comment, COALESCE(m.subject_prefix, '') || s.subject AS subject, m.date_received AS date, g.message_id_header AS header
       FROM messages m JOIN mailboxes b ON b.ROWID = m.mailbox JOIN addresses a ON a.ROWID = m.sender JOIN subjects s ON s.ROWID = m.subject
       JOIN message_global_data g ON g.ROWID = m.global_message_id ORDER BY m.ROWID`,
    ).iterate() as Iterable<{ id: number; url: string; address: string; comment: string; subject: string; date: number; header: string }>;
    let nth = 0;
    for (const row of rows) {
      const from = row.comment === '' ? row.address : `${row.comment} <${row.address}>`;
      const mail = corpusMail(nth, { from, subject: row.subject, messageId: row.header, date: row.date });
      nth += 1;
      const box = decodedPath(row.url).split('/').map((part) => `${part}.mbox`);
      const account = /:\/\/([^/]*)/.exec(row.url)![1]!;
      const thousands = Math.floor(row.id / 1000);
      const data = join(mailDir, account, ...box, STORE, 'Data', ...(thousands === 0 ? [] : [...String(thousands)].toReversed()));
      const file = emlxFile(mail.message, { dateReceived: row.date });
      bytes += file.length;
      writeFileSync(join(folder(data, 'Messages'), `${row.id}${mail.isPartial ? '.partial' : ''}.emlx`), file);
      if (mail.attachment !== null) writeFileSync(join(folder(data, 'Attachments', String(row.id), mail.attachment.part), mail.attachment.name), mail.attachment.bytes);
    }
  } finally {
    db.close();
  }
  return bytes;
}
