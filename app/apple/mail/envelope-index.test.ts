import Database from 'better-sqlite3';
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { MAIL_VARIANTS, MailStore, messageIdHash, type Mail, type MailVariant } from '../../testing/mail-store.ts';
import { tempFolder, type TempFolder } from '../../testing/temp.ts';
import type { MailRow, NotArrival } from '../occurrence.ts';
import { StoreError } from '../reader.ts';
import { EnvelopeIndex } from './envelope-index.ts';
import { envelopeIndexPath } from './mail-folder.ts';
import { excludedByLabels, excludedByPlace, hashOf, toMs } from './mail-rows.ts';

const IMAP = 'AAAAAAAA-0000-4000-8000-000000000001';
const GMAIL = 'BBBBBBBB-0000-4000-8000-000000000002';
const EWS = 'CCCCCCCC-0000-4000-8000-000000000003';
const LOCAL = 'DDDDDDDD-0000-4000-8000-000000000004';
const T = 1_750_000_000;

const undo: (() => void)[] = [];
afterEach(() => {
  for (const step of undo.splice(0).toReversed()) step();
});

interface Place {
  readonly folder: TempFolder;
  readonly store: MailStore;
  readonly index: EnvelopeIndex;
}

function place(variant: MailVariant = 'macos26', uuid?: string): Place {
  const folder = tempFolder('belfry-index');
  const store = MailStore.create(folder.at('Library', 'Mail', 'V10'), { variant, ...(uuid !== undefined && { uuid }) });
  store.addAccount({ id: IMAP, description: 'Home', email: 'me@example.org', kind: 'imap' });
  store.addAccount({ id: GMAIL, description: 'Google', email: 'me@gmail.example', kind: 'gmail' });
  store.addAccount({ id: EWS, description: 'Office', email: 'me@office.example', kind: 'ews' });
  store.addAccount({ id: LOCAL, description: 'On My Mac', email: '', kind: 'local' });
  const index = new EnvelopeIndex({ mailDir: folder.at('Library', 'Mail'), accountsDb: folder.at('Library', 'Accounts', 'Accounts4.sqlite') });
  index.open();
  undo.push(() => folder.remove(), () => store.close(), () => index.close());
  return { folder, store, index };
}

const only = (index: EnvelopeIndex, rowid: number): MailRow => {
  const row = index.pick([rowid])[0];
  if (row === undefined) throw new Error(`No row ${rowid}.`);
  return row;
};

describe.each(MAIL_VARIANTS)('%s', (variant) => {
  test('one mail, every field', () => {
    const { store, index } = place(variant);
    const mail: Mail = {
      account: IMAP, mailbox: 'INBOX', from: { address: 'Ada@Example.COM', name: 'Ada Ä' }, prefix: 'Re: ', subject: 'Engines',
      to: [{ address: 'Me@example.org', name: 'Me' }, { address: 'two@example.org' }], cc: [{ address: 'Cc@example.org' }],
      messageId: '<1@example.org>', dateReceived: T, dateSent: T - 60, attachments: ['a.pdf'],
    };
    const before = index.head();
    const rowid = store.arrive(mail);
    const batch = index.read(before, 100);
    expect(batch.head).toBe(rowid);
    expect(batch.through).toBe(rowid);
    const global = variant === 'macos10.15' ? rowid : store.value<number>('SELECT global_message_id FROM messages WHERE ROWID = ?', rowid);
    const inbox = store.mailbox(IMAP, 'INBOX').id;
    const box = { id: inbox, url: `imap://${IMAP}/INBOX`, accountId: IMAP, account: 'Home', path: 'INBOX', role: 'inbox', source: null };
    expect(batch.rows).toEqual([
      {
        store: 'mail', rowid, sender: 'ada@example.com', excluded: null, incomplete: false, date: T * 1000, box: inbox, hasAttachments: true, attachmentCount: 1, globalId: global,
        messageHash: '6706415479499596044',
        messageIdHeader: ['macos12', 'macos10.15'].includes(variant) ? null : '<1@example.org>',
        from: { address: 'Ada@Example.COM', name: 'Ada Ä' },
        to: [{ address: 'Me@example.org', name: 'Me' }, { address: 'two@example.org', name: null }],
        toCount: 2,
        recipients: ['me@example.org', 'two@example.org', 'cc@example.org'],
        subject: 'Re: Engines', mailbox: box, mailboxes: [box], dateReceived: T * 1000, dateSent: (T - 60) * 1000,
        conversationId: String(store.value<number>('SELECT conversation_id FROM messages WHERE ROWID = ?', rowid)),
      },
    ]);
    expect(index.pick([rowid, rowid + 1])).toEqual(batch.rows);
    expect(index.read(rowid, 100)).toEqual({ rows: [], through: rowid, head: rowid });
  });

  test('Gmail: labels, and what is not there yet', () => {
    const { store, index } = place(variant);
    const inInbox = store.arrive({ account: GMAIL, mailbox: 'INBOX', labels: ['[Gmail]/Important'] });
    const archived = store.arrive({ account: GMAIL, mailbox: '[Gmail]/Important' });
    const sent = store.send({ account: GMAIL });
    const toMyself = store.arrive({ account: GMAIL, mailbox: 'INBOX', labels: ['[Gmail]/Sent Mail'], from: { address: 'me@gmail.example' } });
    const bare = store.arriveWithoutLabels({ account: GMAIL, mailbox: 'INBOX' });
    const spam = store.arrive({ account: GMAIL, mailbox: '[Gmail]/Spam' });
    const places = (rowid: number) => only(index, rowid).mailboxes.map((box) => box.path);
    expect(places(inInbox)).toEqual(['INBOX', '[Gmail]/Important', '[Gmail]/All Mail']);
    expect(only(index, inInbox)).toMatchObject({ excluded: null, incomplete: false, mailbox: { path: '[Gmail]/All Mail', role: 'archive', account: 'Google' } });
    expect(places(archived)).toEqual(['[Gmail]/All Mail', '[Gmail]/Important']);
    expect(only(index, archived).excluded).toBeNull();
    expect(only(index, sent)).toMatchObject({ excluded: 'sent', incomplete: false, sender: 'me@gmail.example' });
    expect(only(index, toMyself).excluded).toBeNull();
    expect(only(index, bare)).toMatchObject({ excluded: null, incomplete: true });
    expect(only(index, spam)).toMatchObject({ excluded: 'junk', incomplete: false });
    store.labelLater(bare);
    expect(only(index, bare)).toMatchObject({ incomplete: false });
    store.removeLabel(inInbox, 'INBOX');
    expect(places(inInbox)).toEqual(['[Gmail]/All Mail', '[Gmail]/Important']);
  });

  test('a move keeps the global id, and firstRows finds where it stands now', () => {
    const { store, index } = place(variant);
    const [first = 0, other = 0] = store.arriveMany([{ account: IMAP }, { account: IMAP }]);
    const [, second = 0] = store.arriveInTwoAccounts({}, [IMAP, EWS]);
    const known = new Map(index.read(0, 100).rows.map((row) => [row.rowid, row.globalId]));
    expect(known.get(first)).not.toBe(known.get(other));
    expect(known.get(second)).toBe(known.get(second - 1));
    const moved = store.move(first, 'Archive');
    const row = only(index, moved);
    expect(row.globalId).toBe(known.get(first));
    const found = index.firstRows([row.globalId, known.get(second)!, known.get(other)!, 987_654]);
    expect([...found].sort()).toEqual([[row.globalId, moved], [known.get(second), second - 1], [known.get(other), other]].sort());
    const highest = index.highestGlobalIds();
    // The moved row keeps its global id, where there are such: the account's highest is that of its newest mail.
    expect(highest.get(EWS)).toBe(variant === 'macos10.15' ? second : known.get(second));
    expect(highest.get(GMAIL)).toBeUndefined();
  });
});

describe('what never rings', () => {
  test.each<[string, (store: MailStore) => number, NotArrival | null]>([
    ['inbox', (store) => store.arrive({ account: IMAP }), null],
    ['archive', (store) => store.arrive({ account: IMAP, mailbox: 'Archive' }), null],
    ['own folder', (store) => store.arrive({ account: IMAP, mailbox: 'Projects/Öffentlich' }), null],
    ['sent', (store) => store.send({ account: IMAP }), 'sent'],
    ['sent, Exchange', (store) => store.send({ account: EWS }), 'sent'],
    ['draft', (store) => store.draft({ account: IMAP }), 'draft'],
    ['draft by its flag', (store) => store.arrive({ account: IMAP, mailbox: 'Archive', flags: { draft: true } }), 'draft'],
    ['draft in Sent', (store) => store.arrive({ account: IMAP, mailbox: 'Sent Messages', flags: { draft: true } }), 'sent'],
    ['send later', (store) => store.sendLater(), 'outbox'],
    ['junk', (store) => store.arrive({ account: IMAP, mailbox: 'Junk' }), 'junk'],
    ['junk by its flag', (store) => store.arrive({ account: IMAP, flags: { junk: true } }), 'junk'],
    ['trash', (store) => store.arrive({ account: EWS, mailbox: 'Deleted Items' }), 'trash'],
    ['deleted', (store) => store.arrive({ account: IMAP, flags: { deleted: true } }), 'deleted'],
    ['deleted in trash', (store) => store.arrive({ account: IMAP, mailbox: 'Deleted Messages', flags: { deleted: true } }), 'trash'],
    ['without sender', (store) => store.arrive({ account: IMAP, from: null }), 'no-sender'],
    ['without sender, in junk', (store) => store.arrive({ account: IMAP, mailbox: 'Junk', from: null }), 'junk'],
    ['own mail in the inbox', (store) => store.arrive({ account: IMAP, from: { address: 'me@example.org' } }), null],
  ])('%s', (_, write, reason) => {
    const { store, index } = place();
    expect(only(index, write(store)).excluded).toBe(reason);
  });

  // Values of data-formats/envelope-index 8, masked as the query masks them.
  test.each<[string, bigint, NotArrival | null]>([
    ['draft + read', 8623489089n, 'draft'],
    ['priority, one attachment, read', 8590132225n, null],
    ['four attachments, not junk', 8623689857n, null],
    ['unread', 8623750272n, null],
    ['both high bits', 25803555841n, null],
    ['junk', (1n << 33n) | (1n << 24n), 'junk'],
    ['junk, then not junk', (1n << 33n) | (3n << 24n), null],
    ['deleted', (1n << 33n) | 2n, 'deleted'],
  ])('flags: %s', (_, flags, reason) => {
    const { store, index } = place();
    const rowid = store.arrive({ account: IMAP });
    store.run('UPDATE messages SET flags = ? WHERE ROWID = ?', flags, rowid);
    expect(only(index, rowid).excluded).toBe(reason);
  });

  test('judgement of a row whose mailbox is not known, and of labels', () => {
    expect(excludedByPlace(undefined, 0, false)).toBeNull();
    expect(excludedByPlace(undefined, 0, true)).toBe('deleted');
    expect(excludedByLabels([])).toBeNull();
  });
});

describe('rows that are not whole', () => {
  test('a mailbox whose row comes later', () => {
    const { store, index } = place();
    const { rowid, mailbox } = store.arriveBeforeMailboxRow({ account: IMAP });
    expect(only(index, rowid)).toMatchObject({ incomplete: true, mailbox: null, mailboxes: [], box: mailbox, excluded: null });
    store.mailboxLater(mailbox, 'Junk', EWS);
    expect(only(index, rowid)).toMatchObject({ incomplete: false, excluded: 'junk', mailbox: { path: 'Junk', account: 'Office' } });
  });

  test('an address that left, odd values, nothing at all', () => {
    const { store, index } = place();
    const rowid = store.arrive({ account: IMAP, dateReceived: null, dateSent: 2_147_483_647, messageId: '', subject: '', to: [], attachments: ['a', 'b'] });
    store.run('UPDATE messages SET sender = 999999, subject = 999999, global_message_id = 999999 WHERE ROWID = ?', rowid);
    expect(only(index, rowid)).toMatchObject({
      sender: null, from: null, excluded: 'no-sender', incomplete: true, date: null, dateReceived: null, dateSent: null, messageHash: '0', messageIdHeader: null,
      subject: null, to: [], toCount: 0, recipients: [], globalId: 999_999, hasAttachments: true,
    });
  });

  test('more than ten recipients are counted', () => {
    const { store, index } = place();
    const to = Array.from({ length: 14 }, (_, nth) => ({ address: `r${nth}@example.org` }));
    const row = only(index, store.arrive({ account: IMAP, to, cc: [{ address: 'cc@example.org' }] }));
    expect(row.to.map((entry) => entry.address)).toEqual(to.slice(0, 10).map((entry) => entry.address));
    expect(row.toCount).toBe(14);
    expect(row.recipients).toHaveLength(15);
  });

  test('attachments that are known later', () => {
    const { store, index } = place();
    const rowid = store.arrive({ account: IMAP });
    expect(only(index, rowid).hasAttachments).toBe(false);
    store.run(`INSERT INTO attachments (message, attachment_id, name) VALUES (?, '2', 'a.pdf')`, rowid);
    expect(only(index, rowid).hasAttachments).toBe(true);
  });
});

test('what is asked together is of one state, whatever Mail commits meanwhile', () => {
  const { store, index } = place();
  const rowid = store.arrive({ account: IMAP, mailbox: 'INBOX', from: { address: 'ada@example.com' }, dateReceived: T });
  const version = index.together(() => {
    const before = index.dataVersion();
    expect(only(index, rowid).excluded).toBeNull();
    store.setFlags(rowid, { read: true });
    expect(index.marks([rowid]).get(rowid)?.read).toBe(false);
    store.remove(rowid);
    expect(only(index, rowid).rowid).toBe(rowid);
    expect(index.find({ rowid })).toHaveLength(1);
    expect(index.dataVersion()).toBe(before);
    return before;
  });
  expect(index.dataVersion()).not.toBe(version);
  expect(index.pick([rowid])).toEqual([]);
});

test('hashes beyond 2^53, negative and none stay exact', () => {
  const { store, index } = place();
  const headers = ['<abc@example.org>', '<7A129E26-2C1F-4517-B6B5-39460ED50E12@example.com>', ''];
  const rowids = store.arriveMany(headers.map((messageId) => ({ account: IMAP, messageId })));
  expect(index.pick(rowids).map((row) => row.messageHash)).toEqual(['-2760264100698327381', '2015890122212842164', '0']);
  // 10.13 to 10.15 may hold the header itself.
  expect(hashOf('<abc@example.org>')).toBe('-2760264100698327381');
  expect(hashOf('text <1@example.org> more')).toBe(String(messageIdHash('<1@example.org>')));
  expect([hashOf(null), hashOf(''), hashOf('<>')]).toEqual(['0', '0', '0']);
});

test.each([[null, null], [0, null], [-5, null], [2_147_483_647, null], [1.5, 1500], [1e18, null], ['1', null], [T, T * 1000]])('date %s is %s', (seconds, ms) => {
  expect(toMs(seconds)).toBe(ms);
});

describe('names', () => {
  test('a renamed mailbox shows without asking, a renamed account after refresh', () => {
    const { store, index } = place();
    const rowid = store.arrive({ account: IMAP, mailbox: 'Projects' });
    expect(only(index, rowid).mailbox).toMatchObject({ path: 'Projects', account: 'Home', role: 'other' });
    store.run('UPDATE mailboxes SET url = ? WHERE ROWID = ?', `imap://${IMAP}/Plans`, store.mailbox(IMAP, 'Projects').id);
    expect(only(index, rowid).mailbox?.path).toBe('Plans');
    expect(index.mailboxes().some((box) => box.path === 'Plans')).toBe(true);
    store.accounts.describe(IMAP, 'Cottage');
    expect(index.mailboxes().find((box) => box.path === 'Plans')?.account).toBe('Cottage');
    store.accounts.describe(IMAP, 'Castle');
    index.refresh();
    expect(only(index, rowid).mailbox?.account).toBe('Castle');
  });

  test('a label made later, and own addresses', () => {
    const { store, index } = place();
    store.addMailbox(GMAIL, 'New label', '[Gmail]/All Mail');
    const rowid = store.arrive({ account: GMAIL, mailbox: 'New label' });
    expect(index.read(rowid - 1, 1).rows[0]?.mailboxes.map((box) => box.path)).toEqual(['[Gmail]/All Mail', 'New label']);
    expect([...index.ownAddresses()].sort()).toEqual(['me@example.org', 'me@gmail.example', 'me@office.example']);
  });

  test('without Accounts4.sqlite the UUID is the name, and roles go by names', () => {
    const { folder, store } = place();
    const index = new EnvelopeIndex({ path: envelopeIndexPath(folder.at('Library', 'Mail', 'V10')), accountsDb: folder.at('nowhere') });
    index.open();
    undo.push(() => index.close());
    expect(only(index, store.send({ account: IMAP }))).toMatchObject({ excluded: 'sent', mailbox: { account: IMAP, accountId: IMAP } });
    expect(index.ownAddresses().size).toBe(0);
  });
});

describe('the position', () => {
  test('deleting the newest row lowers no head, and batches end where they say', () => {
    const { store, index } = place();
    const rowids = store.arriveMany(Array.from({ length: 5 }, () => ({ account: IMAP })));
    store.deleteNewest();
    const head = rowids.at(-1)!;
    expect(index.head()).toBe(head);
    const first = index.read(0, 3);
    expect(first).toMatchObject({ through: rowids[2], head });
    expect(index.read(first.through, 3)).toMatchObject({ through: head, head });
    expect(index.read(first.through, 3).rows).toHaveLength(1);
    expect(index.read(head + 5, 3)).toEqual({ rows: [], through: head + 5, head });
  });

  test('newest date of a mailbox at a position', () => {
    const { store, index } = place();
    const inbox = store.mailbox(IMAP, 'INBOX').id;
    const [first = 0, second = 0, third = 0] = store.arriveMany([T, null, T + 500].map((dateReceived) => ({ account: IMAP, dateReceived })));
    expect(index.newestDate(inbox, first - 1)).toBeNull();
    expect(index.newestDate(inbox, second)).toBe(T * 1000);
    expect(index.newestDate(inbox, third)).toBe((T + 500) * 1000);
    expect(index.newestDate(inbox + 1, third)).toBeNull();
  });
});

describe('another store', () => {
  test('under the path: replaced, then another id and check', () => {
    const { folder, index } = place('macos26', '11111111-1111-4111-8111-111111111111');
    const [id, check] = [index.storeId(), index.checkAt()];
    expect(id).toBe('11111111-1111-4111-8111-111111111111');
    expect(check).toMatch(/^[0-9a-f]{8}$/);
    expect(index.replaced()).toBe(false);
    const next = MailStore.create(folder.at('Next', 'Mail', 'V10'), { uuid: '11111111-1111-4111-8111-222222222222' });
    next.close();
    // A system that puts another index in place takes the old one's sidecars away.
    for (const sidecar of ['-wal', '-shm']) rmSync(index.path + sidecar);
    renameSync(next.path, index.path);
    expect(index.replaced()).toBe(true);
    index.close();
    index.open();
    expect(index.replaced()).toBe(false);
    expect(index.storeId()).toBe('11111111-1111-4111-8111-222222222222');
    expect(index.checkAt()).not.toBe(check);
  });

  test('in the same file: the inode says nothing, the UUID does', () => {
    const { folder, store, index } = place();
    const before = { ino: index.identity().ino, id: index.storeId(), check: index.checkAt() };
    // Written over in place while Mail is away.
    const next = MailStore.create(folder.at('Next', 'Mail', 'V10'));
    next.db.pragma('wal_checkpoint(TRUNCATE)');
    next.close();
    index.close();
    store.db.pragma('wal_checkpoint(TRUNCATE)');
    store.close();
    const file = openSync(index.path, 'w');
    writeSync(file, readFileSync(next.path));
    closeSync(file);
    index.open();
    expect(index.identity().ino).toBe(before.ino);
    expect(index.storeId()).not.toBe(before.id);
    expect(index.checkAt()).not.toBe(before.check);
    store.reopen();
  });

  test('rebuilt under the open connection', () => {
    const { store, index } = place();
    expect(index.replaced()).toBe(false);
    store.run(`UPDATE properties SET value = 'rebuilt' WHERE key = 'UUID'`);
    expect(index.replaced()).toBe(true);
    expect(index.storeId()).toBe('rebuilt');
  });

  test('not there, or no index', () => {
    const { folder } = place();
    const kinds = (path: string): string => {
      const index = new EnvelopeIndex({ path });
      try {
        index.open();
        return 'readable';
      } catch (error) {
        return error instanceof StoreError && !index.isOpen ? error.kind : String(error);
      }
    };
    expect(kinds(folder.at('nothing'))).toBe('not_there');
    writeFileSync(folder.at('empty'), '');
    expect(kinds(folder.at('empty'))).toBe('broken');
    const other = new Database(folder.at('other'));
    other.exec('CREATE TABLE messages (ROWID INTEGER PRIMARY KEY)');
    other.close();
    expect(kinds(folder.at('other'))).toBe('broken');
    // The right tables with other columns: SQLite's own error, turned into ours.
    const strange = new Database(folder.at('strange'));
    for (const table of ['messages', 'mailboxes', 'addresses', 'properties']) strange.exec(`CREATE TABLE ${table} (a)`);
    strange.close();
    expect(kinds(folder.at('strange'))).toBe('broken');
  });

  test('10.15: a move after a restart is recognised by the rows that stand there', () => {
    const { store, index } = place('macos10.15');
    const [mail = 0] = store.arriveMany([{ account: IMAP }]);
    index.close();
    index.open();
    expect(only(index, store.move(mail, 'Archive')).globalId).toBe(mail);
  });
});
