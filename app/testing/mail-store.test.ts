import { parseBuffer } from 'bplist-parser';
import { existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findCanary } from './canary.ts';
import { mailFlags, messageIdHash } from './mail-values.ts';
import { MAIL_VARIANTS, MailStore } from './mail-store.ts';
import { tempFolder, type TempFolder } from './temp.ts';

let folder: TempFolder;
let store: MailStore | undefined;
beforeEach(() => {
  folder = tempFolder();
});
afterEach(() => {
  if (store?.isOpen === true) store.close();
  store = undefined;
  folder.remove();
});

function open(variant: (typeof MAIL_VARIANTS)[number] = 'macos26'): MailStore {
  store = MailStore.create(folder.at('Mail', 'V10'), { variant });
  return store;
}

interface Counters {
  total_count: number;
  unread_count: number;
  unseen_count: number;
  deleted_count: number;
  unread_count_adjusted_for_duplicates: number;
}

function counters(of: MailStore, account: string, path: string): Counters {
  return of.get<Counters>(
    'SELECT total_count, unread_count, unseen_count, deleted_count, unread_count_adjusted_for_duplicates FROM mailboxes WHERE ROWID = ?',
    of.mailbox(account, path).id,
  ) as Counters;
}

test('the Message-ID hash agrees with the published vectors', () => {
  expect(messageIdHash('<1@example.org>')).toBe(6706415479499596044n);
  expect(messageIdHash('<abc@example.org>')).toBe(-2760264100698327381n);
  expect(messageIdHash('<7A129E26-2C1F-4517-B6B5-39460ED50E12@example.com>')).toBe(2015890122212842164n);
  expect(messageIdHash('x <1@example.org> y')).toBe(6706415479499596044n);
  expect(messageIdHash('')).toBe(0n);
});

test('flags follow the bit field', () => {
  expect(mailFlags({ read: true }, 1)).toBe((1n << 33n) + (1n << 25n) + (3n << 16n) + (1n << 10n) + 1n);
});

test('the macOS 26 schema has its tables and 11 triggers', () => {
  const count = (type: string): number => open26.value<number>(`SELECT COUNT(*) FROM sqlite_schema WHERE type = ? AND name NOT LIKE 'sqlite_%'`, type) ?? 0;
  const open26 = open();
  expect(count('trigger')).toBe(11);
  expect(count('table')).toBe(53);
  expect(open26.db.pragma('journal_mode', { simple: true })).toBe('wal');
  expect(open26.db.pragma('page_size', { simple: true })).toBe(4096);
  expect(existsSync(`${open26.path}-wal`)).toBe(true);
});

describe.each(MAIL_VARIANTS)('%s', (variant) => {
  test('mails arrive, move and go, and the counters stay right', () => {
    const mail = open(variant);
    const imap = mail.addAccount({ description: 'iCloud', email: 'me@icloud.example', kind: 'imap' });
    const gmail = mail.addAccount({ description: 'Google', email: 'me@gmail.example', kind: 'gmail' });
    const ews = mail.addAccount({ description: 'Work', email: 'me@work.example', kind: 'ews' });

    const first = mail.arrive({ account: imap, attachments: ['a.pdf', 'b.pdf'], cc: [{ address: 'you@example.org' }], messageId: '<abc@example.org>' });
    expect(counters(mail, imap, 'INBOX')).toMatchObject({ total_count: 1, unread_count: 1, unseen_count: 1, unread_count_adjusted_for_duplicates: 1 });
    expect(mail.value('SELECT CAST(message_id AS TEXT) FROM messages WHERE ROWID = ?', first)).toBe('-2760264100698327381');

    const moved = mail.move(first, 'Projects/Öffentlich');
    expect(moved).toBeGreaterThan(first);
    expect(counters(mail, imap, 'INBOX')).toMatchObject({ total_count: 0, unread_count: 0 });
    expect(counters(mail, imap, 'Projects/Öffentlich')).toMatchObject({ total_count: 1, unread_count: 1 });
    expect(mail.value('SELECT COUNT(*) FROM attachments')).toBe(2);
    expect(mail.value('SELECT COUNT(*) FROM recipients')).toBe(2);

    mail.setFlags(moved, { read: true });
    expect(counters(mail, imap, 'Projects/Öffentlich')).toMatchObject({ total_count: 1, unread_count: 0, unseen_count: 0 });

    const labelled = mail.arrive({ account: gmail, labels: ['メモ'] });
    expect(mail.value('SELECT mailbox FROM messages WHERE ROWID = ?', labelled)).toBe(mail.mailbox(gmail, '[Gmail]/All Mail').id);
    for (const path of ['INBOX', 'メモ', '[Gmail]/All Mail']) expect(counters(mail, gmail, path)).toMatchObject({ total_count: 1, unread_count: 1 });
    mail.removeLabel(labelled, 'INBOX');
    expect(counters(mail, gmail, 'INBOX')).toMatchObject({ total_count: 0, unread_count: 0 });

    const exchange = mail.arrive({ account: ews });
    expect(mail.value('SELECT typeof(remote_id) FROM messages WHERE ROWID = ?', exchange)).toBe('text');

    const top = mail.arrive({ account: imap });
    expect(mail.deleteNewest()).toBe(top);
    expect(mail.sequence('messages')).toBe(top);
    expect(mail.db.pragma('foreign_key_check')).toEqual([]);
  });
});

test.each(MAIL_VARIANTS)('every operation runs on %s', (variant) => {
  const mail = open(variant);
  mail.addAccount({ description: 'iCloud', email: 'me@icloud.example', kind: 'imap' });
  const gmail = mail.addAccount({ description: 'Google', email: 'me@gmail.example', kind: 'gmail' });
  mail.addAccount({ description: 'On My Mac', email: '', kind: 'local' });
  const id = '<origin@example.org>';
  mail.fileAsJunk(mail.arrive({ messageId: id }));
  mail.trash(mail.arrive({ inReplyTo: id, prefix: 'Re: ' }));
  for (const account of [undefined, gmail]) {
    const mine = account === undefined ? {} : { account };
    const { junk, inbox } = mail.junkArrivesThenMovesToInbox(mine);
    expect(inbox).toBeGreaterThan(junk);
    const sent = mail.send(mine);
    expect(mail.value('SELECT remote_id FROM messages WHERE ROWID = ?', sent)).toBeNull();
    expect(mail.value('SELECT remote_id FROM messages WHERE ROWID = ?', mail.replaceByServerCopy(sent))).not.toBeNull();
    mail.autosave(mail.draft(mine));
    mail.resyncLate(mine);
  }
  mail.sendLater();
  const late = mail.arriveWithoutLabels({ account: gmail });
  expect(mail.value('SELECT COUNT(*) FROM labels WHERE message_id = ?', late)).toBe(0);
  mail.labelLater(late);
  mail.addLabel(late, '[Gmail]/Important');
  mail.fillSummaryLater(late);
  mail.addAttachmentsLater(late);
  mail.setFlags(late, { read: true, flagged: true, color: 2, answered: true, junk: false });
  mail.addMailbox(gmail, 'New label', '[Gmail]/All Mail');
  mail.arrive({ account: gmail, mailbox: 'New label' });
  mail.rebuildMailbox(gmail, '[Gmail]/All Mail');
  mail.setVips([{ name: 'Ann', addresses: ['ann@example.org'] }]);
  const wrong = mail.all(
    `SELECT b.url, b.total_count, b.unread_count FROM mailboxes b WHERE b.total_count != (SELECT COUNT(*) FROM messages m
       WHERE m.mailbox = b.ROWID OR EXISTS (SELECT 1 FROM labels l WHERE l.message_id = m.ROWID AND l.mailbox_id = b.ROWID AND m.mailbox = b.source))`,
  );
  expect(wrong).toEqual([]);
  expect(mail.db.pragma('foreign_key_check')).toEqual([]);
});

test('a migrated store has its late columns at the end', () => {
  const columns = [...open('macos26-migrated').columns('messages')];
  expect(columns.slice(-2)).toEqual(['flag_color', 'is_urgent']);
  const global = [...(store as MailStore).columns('message_global_data')];
  expect(global.slice(-2)).toEqual(['message_id_header', 'due_by']);
  expect(global).not.toContain('download_state');
});

test('orphans go with the last message, shared rows stay', () => {
  const mail = open();
  mail.addAccount({ description: 'iCloud', email: 'me@icloud.example', kind: 'imap' });
  mail.addAccount({ description: 'Work', email: 'me@work.example', kind: 'imap' });
  const both = mail.arriveInTwoAccounts({ subject: 'Shared', from: { address: 'shared@example.net', name: null } });
  expect(mail.all('SELECT DISTINCT message_id, global_message_id FROM messages')).toHaveLength(1);
  mail.remove(both[0] as number);
  expect(mail.value(`SELECT COUNT(*) FROM subjects WHERE subject = 'Shared'`)).toBe(1);
  mail.remove(both[1] as number);
  expect(mail.value(`SELECT COUNT(*) FROM subjects WHERE subject = 'Shared'`)).toBe(0);
  expect(mail.value('SELECT COUNT(*) FROM message_global_data')).toBe(0);
  expect(mail.value(`SELECT COUNT(*) FROM addresses WHERE address = 'shared@example.net'`)).toBe(0);
});

test('each operation is one transaction of Mail', () => {
  const mail = open();
  mail.addAccount({ description: 'iCloud', email: 'me@icloud.example', kind: 'imap' });
  const generation = (): number => mail.value<number>(`SELECT value FROM properties WHERE key = 'WriteTransactionGeneration'`) ?? 0;
  const before = generation();
  const rowids = mail.arriveMany([{}, {}, {}]);
  expect(generation()).toBe(before + 1);
  mail.move(rowids[0] as number, 'Archive');
  expect(generation()).toBe(before + 2);
  const draft = mail.draft({ subject: 'Draft' });
  const saved = mail.autosave(draft, { subject: 'Draft 2' });
  expect(saved).toBeGreaterThan(draft);
  expect(mail.value('SELECT COUNT(*) FROM messages WHERE ROWID = ?', draft)).toBe(0);
  expect(mail.get('SELECT remote_id, type, "read" FROM messages WHERE ROWID = ?', saved)).toEqual({ remote_id: null, type: 5, read: 1 });
});

test('special values: no sender, no Message-ID, no dates, hole in the rowids', () => {
  const mail = open();
  mail.addAccount({ description: 'iCloud', email: 'me@icloud.example', kind: 'imap' });
  mail.skipRowids('messages', 1000);
  const rowid = mail.arrive({ from: null, messageId: '', dateReceived: null, dateSent: null, summary: null });
  expect(rowid).toBe(1001);
  expect(mail.get('SELECT sender, message_id, date_received, date_sent, summary FROM messages')).toEqual({ sender: null, message_id: 0, date_received: null, date_sent: null, summary: null });
  mail.arrive({ messageId: '' });
});

test('a mail may precede its mailbox', () => {
  const mail = open();
  const account = mail.addAccount({ description: 'iCloud', email: 'me@icloud.example', kind: 'imap' });
  const early = mail.arriveBeforeMailboxRow();
  expect(mail.value('SELECT COUNT(*) FROM mailboxes WHERE ROWID = ?', early.mailbox)).toBe(0);
  mail.mailboxLater(early.mailbox, 'Later/Ü');
  expect(mail.mailbox(account, 'Later/Ü').url).toBe(`imap://${account}/Later/%C3%9C`);
  expect(counters(mail, account, 'Later/Ü')).toMatchObject({ total_count: 1, unread_count: 1, unseen_count: 1 });
  expect(mail.db.pragma('foreign_key_check')).toEqual([]);
});

test('marks stand in body file and preview; the file lies where the rule says', () => {
  const mail = open();
  const account = mail.addAccount({ description: 'iCloud', email: 'me@icloud.example', kind: 'imap' });
  const rowid = mail.arrive();
  const path = mail.emlxPath(rowid, mail.mailbox(account, 'INBOX'));
  expect(findCanary(readFileSync(path))).toBe('mail-body');
  expect(findCanary(mail.value<string>('SELECT summary FROM summaries') ?? '')).toBe('mail-summary');
  expect(mail.emlxPath(262_653, mail.mailbox(account, 'INBOX'))).toMatch(/INBOX\.mbox\/[^/]+\/Data\/2\/6\/2\/Messages\/262653\.emlx$/);
  expect(mail.emlxPath(218, mail.mailbox(account, 'INBOX'))).toMatch(/Data\/Messages\/218\.emlx$/);
});

test('an account is in Accounts4.sqlite: the parent speaks, properties are archived strings', () => {
  const mail = open();
  const id = mail.addAccount({ description: 'My iCloud', email: 'me@icloud.example', kind: 'imap' });
  const child = mail.accounts.get('SELECT * FROM ZACCOUNT WHERE ZIDENTIFIER = ?', id);
  expect(child).toMatchObject({ ZACCOUNTDESCRIPTION: null, ZUSERNAME: null });
  expect(mail.accounts.get('SELECT ZACCOUNTDESCRIPTION AS d, ZUSERNAME AS u FROM ZACCOUNT WHERE Z_PK = ?', child?.['ZPARENTACCOUNT'] as number)).toEqual({ d: 'My iCloud', u: 'me@icloud.example' });
  const value = mail.accounts.value<Buffer>(`SELECT ZVALUE FROM ZACCOUNTPROPERTY WHERE ZKEY = 'DraftsMailboxName'`) as Buffer;
  const [archive] = parseBuffer<{ $archiver: string; $top: { root: { UID: number } }; $objects: unknown[] }>(value);
  expect(archive.$archiver).toBe('NSKeyedArchiver');
  expect(archive.$objects[archive.$top.root.UID]).toBe('Drafts');
  expect(mail.ownAddress(id)).toBe('me@icloud.example');
});

test('a first sync brings old mail newest first', () => {
  const mail = open();
  const { account, rowids } = mail.addAccountWithOldMails(50, { batch: 20 });
  expect(rowids).toHaveLength(50);
  const dates = mail.all<{ d: number }>('SELECT date_received AS d FROM messages ORDER BY ROWID').map((row) => row.d);
  expect(dates).toEqual(dates.toSorted((a, b) => b - a));
  expect(counters(mail, account, 'INBOX')).toMatchObject({ total_count: 50, unread_count: 10 });
});
