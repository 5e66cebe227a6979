import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildBulkMail } from './bulk-mail-store.ts';
import { MailStore } from './mail-store.ts';
import { tempFolder, type TempFolder } from './temp.ts';

let folder: TempFolder;
beforeEach(() => {
  folder = tempFolder();
});
afterEach(() => folder.remove());

test('a bulk store has exactly the senders it promises, right counters, and takes an arrival', () => {
  const built = buildBulkMail(folder.at('a', 'Mail', 'V10'), folder.at('cache'), { rows: 20_000 });
  expect(built.fromCache).toBe(false);
  const store = MailStore.open(built.mailDir);
  const matching = (pattern: string): number | undefined => store.value<number>('SELECT COUNT(*) FROM messages m JOIN addresses a ON a.ROWID = m.sender WHERE a.address LIKE ?', pattern);
  expect(matching(`%@${built.wideDomain}`)).toBe(18_000);
  expect(built.wideRows).toBe(18_000);
  expect(matching(`%@${built.quietDomain}`)).toBe(built.quietRows);
  expect(matching('spread%@spread.example')).toBe(built.spreadRows);
  expect(store.sequence('messages')).toBe(built.lastRowid);
  const wrong = store.all(
    `SELECT b.url FROM mailboxes b WHERE b.unread_count != (SELECT COUNT(*) FROM messages m WHERE m."read" = 0
       AND (m.mailbox = b.ROWID OR EXISTS (SELECT 1 FROM labels l WHERE l.message_id = m.ROWID AND l.mailbox_id = b.ROWID)))`,
  );
  expect(wrong).toEqual([]);
  const dates = store.all<{ d: number }>('SELECT date_received AS d FROM messages ORDER BY ROWID').map((row) => row.d);
  expect(dates).toEqual(dates.toSorted((a, b) => a - b));
  expect(dates.filter((date) => date > Date.now() / 1000 - 30 * 86_400).length).toBeGreaterThan(100);
  expect(store.db.pragma('foreign_key_check')).toEqual([]);
  expect(store.arrive({ account: built.gmail })).toBe(built.lastRowid + 1);
  expect(store.value('SELECT total_count FROM mailboxes WHERE ROWID = ?', store.mailbox(built.gmail, 'INBOX').id)).toBe(10_001);
  const uuid = store.uuid();
  store.close();

  const again = buildBulkMail(folder.at('b', 'Mail', 'V10'), folder.at('cache'), { rows: 20_000 });
  expect(again.fromCache).toBe(true);
  const second = MailStore.open(again.mailDir);
  expect(second.uuid()).not.toBe(uuid);
  expect(second.sequence('messages')).toBe(built.lastRowid);
  second.close();
});
