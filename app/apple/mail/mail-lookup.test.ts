import { afterEach, describe, expect, test } from 'vitest';
import { MAIL_VARIANTS, MailStore, type MailVariant } from '../../testing/mail-store.ts';
import { tempFolder } from '../../testing/temp.ts';
import { EnvelopeIndex } from './envelope-index.ts';
import type { MailListRequest } from './mail-lookup.ts';
import type { MailPlace } from './mail-places.ts';

const IMAP = 'AAAAAAAA-0000-4000-8000-000000000001';
const GMAIL = 'BBBBBBBB-0000-4000-8000-000000000002';
const T = 1_750_000_000;
const undo: (() => void)[] = [];
afterEach(() => {
  for (const step of undo.splice(0).toReversed()) step();
});

function place(variant: MailVariant) {
  const folder = tempFolder();
  const store = MailStore.create(folder.at('Library', 'Mail', 'V10'), { variant });
  store.addAccount({ id: IMAP, description: 'Home', email: 'me@example.org', kind: 'imap' });
  store.addAccount({ id: GMAIL, description: 'Google', email: 'me@gmail.example', kind: 'gmail' });
  const index = new EnvelopeIndex({ mailDir: folder.at('Library', 'Mail') });
  index.open();
  undo.push(() => folder.remove(), () => store.close(), () => index.close());
  const list = (path: string, account: string, more: Partial<MailListRequest> = {}) => index.list({
    mailboxes: index.mailboxes().filter((box) => box.path === path && box.accountId === account).map(({ id }) => id),
    unread: false, flagged: false, since: null, after: null, limit: 100, may: () => true, ...more,
  });
  const rowsOf = (...args: Parameters<typeof list>) => list(...args).rows.map(({ row }) => row.rowid);
  return { store, index, list, rowsOf };
}

describe.each(MAIL_VARIANTS)('%s', (variant) => {
  test('by row, by the id of its event and by Message-ID; a copy in another mailbox is found by all but the row; deleted ones are not', () => {
    const { store, index } = place(variant);
    const rowid = store.arrive({ account: IMAP, messageId: '<a@x.example>', file: false });
    store.arrive({ account: IMAP, messageId: '<b@x.example>', file: false });
    const [row] = index.find({ rowid });
    expect(row).toMatchObject({ rowid, store: 'mail' });
    const copy = store.arrive({ account: IMAP, mailbox: 'Archive', messageId: '<a@x.example>', file: false });
    const ids = (name: Parameters<typeof index.find>[0]) => index.find(name).map((each) => each.rowid);
    expect(ids({ globalId: row!.globalId })).toEqual([copy, rowid]);
    for (const messageId of ['<a@x.example>', 'a@x.example', ' <a@x.example> ']) expect(ids({ messageId })).toEqual([copy, rowid]);
    expect([ids({ rowid: 999_999 }), ids({ globalId: 999_999 }), ids({ messageId: '<none@x.example>' }), ids({ messageId: '' })]).toEqual([[], [], [], []]);
    const gone = store.arrive({ account: IMAP, messageId: '<c@x.example>', flags: { deleted: true }, file: false });
    expect([ids({ rowid: gone }), ids({ messageId: '<c@x.example>' })]).toEqual([[], []]);
  });

  test('a mailbox, a label, marks and filters', () => {
    const { store, index, rowsOf } = place(variant);
    const unread = store.arrive({ account: IMAP, dateReceived: T, file: false });
    const flagged = store.arrive({ account: IMAP, dateReceived: T + 60, flags: { read: true, flagged: true, answered: true }, file: false });
    const labelled = store.arrive({ account: GMAIL, mailbox: 'INBOX', dateReceived: T, file: false });
    const archived = store.arrive({ account: GMAIL, mailbox: '[Gmail]/All Mail', dateReceived: T - 60, file: false });
    expect(rowsOf('INBOX', IMAP)).toEqual([flagged, unread]);
    expect(rowsOf('INBOX', GMAIL)).toEqual([labelled]);
    expect(rowsOf('[Gmail]/All Mail', GMAIL)).toEqual([labelled, archived]);
    expect([rowsOf('INBOX', IMAP, { unread: true }), rowsOf('INBOX', IMAP, { flagged: true }), rowsOf('INBOX', IMAP, { since: (T + 1) * 1000 })]).toEqual([[unread], [flagged], [flagged]]);
    expect([...index.marks([flagged, unread, 999_999])].toSorted(([a], [b]) => a - b)).toEqual([[unread, { read: false, flagged: false, answered: false }], [flagged, { read: true, flagged: true, answered: true }]]);
  });

  test('pages neither repeat nor leave out, whatever the dates; what may not be read counts towards no limit', () => {
    const { store, list } = place(variant);
    const dates = [T, T, T, null, null, T - 1, 0, 2_147_483_647];
    const all = dates.map((dateReceived) => store.arrive({ account: IMAP, dateReceived, file: false }));
    const hidden = store.arrive({ account: IMAP, dateReceived: T, file: false });
    const found: number[] = [];
    let after: MailPlace | null = null;
    do {
      const page = list('INBOX', IMAP, { limit: 2, after, may: ({ rowid }) => rowid !== hidden });
      expect(page.rows.length === 2 || page.next === null).toBe(true);
      found.push(...page.rows.map(({ row }) => row.rowid));
      after = page.next;
    } while (after !== null);
    expect(found.toSorted((a, b) => a - b)).toEqual(all);
    expect(found.slice(0, 4)).toEqual([all[7], all[2], all[1], all[0]]);
  });

  test('mails and unread ones of mailboxes and labels are counted as Mail counts, without those marked deleted', () => {
    const { store, index } = place(variant);
    store.arrive({ account: IMAP, file: false });
    store.arrive({ account: IMAP, flags: { read: true }, file: false });
    store.arrive({ account: IMAP, flags: { deleted: true }, file: false });
    store.arrive({ account: GMAIL, mailbox: 'INBOX', file: false });
    store.arrive({ account: GMAIL, mailbox: '[Gmail]/All Mail', flags: { read: true }, file: false });
    const counts = index.counts();
    const of = (account: string, path: string) => counts.get(index.mailboxes().find((box) => box.accountId === account && box.path === path)!.id);
    expect([of(IMAP, 'INBOX'), of(GMAIL, 'INBOX'), of(GMAIL, '[Gmail]/All Mail')]).toEqual([{ total: 2, unread: 1 }, { total: 1, unread: 1 }, { total: 2, unread: 1 }]);
  });

  test('a mail that lies in several of the mailboxes stands once, whatever the pages, the filter and what may be read of it', () => {
    const { store, index, list } = place(variant);
    const arrive = (account: string, id: string, dateReceived: number | null, more: object = {}) => store.arrive({ account, messageId: `<${id}@x.example>`, dateReceived, file: false, ...more });
    // Copies in two accounts, twice in one mailbox, in the same second, without a date, marked deleted at the first place, and read at one place only.
    const [bothOld, bothNew] = [arrive(IMAP, 'both', T), arrive(GMAIL, 'both', T + 50, { mailbox: 'INBOX' })];
    arrive(IMAP, 'twice', T + 10);
    const twice = arrive(IMAP, 'twice', T + 20);
    arrive(GMAIL, 'second', T + 30, { mailbox: 'INBOX' });
    const second = arrive(IMAP, 'second', T + 30);
    arrive(IMAP, 'undated', null);
    const dated = arrive(GMAIL, 'undated', T + 5, { mailbox: 'INBOX' });
    arrive(IMAP, 'deleted', T + 60, { flags: { deleted: true } });
    const undeleted = arrive(GMAIL, 'deleted', T + 1, { mailbox: 'INBOX' });
    arrive(IMAP, 'archived', T + 70, { mailbox: 'Archive' });
    const inbox = arrive(GMAIL, 'archived', T + 40, { mailbox: 'INBOX' });
    const [unread, readElsewhere] = [arrive(IMAP, 'unread', T + 2), arrive(GMAIL, 'unread', T + 80, { mailbox: 'INBOX', flags: { read: true } })];
    const alone = [arrive(IMAP, 'alone', T + 3), arrive(GMAIL, '', T + 3, { mailbox: 'INBOX', messageId: '' }), arrive(IMAP, '', T + 3, { messageId: '' })];
    const inboxes = index.mailboxes().filter(({ role }) => role === 'inbox').map(({ id }) => id);
    const walk = (limit: number, more: Partial<MailListRequest> = {}) => {
      const found: number[] = [];
      let after: MailPlace | null = null;
      do {
        const page = list('', '', { mailboxes: inboxes, limit, after, ...more });
        found.push(...page.rows.map(({ row }) => row.rowid));
        after = page.next;
      } while (after !== null);
      return found;
    };
    for (const limit of [1, 2, 3, 5, 100]) {
      expect(walk(limit)).toEqual([readElsewhere, bothNew, inbox, second, twice, dated, alone[2], alone[1], alone[0], undeleted]);
      expect(walk(limit, { unread: true })).toEqual([bothNew, inbox, second, twice, dated, alone[2], alone[1], alone[0], unread, undeleted]);
      expect(walk(limit, { may: ({ rowid }) => rowid !== bothNew })).toEqual([readElsewhere, inbox, second, twice, dated, alone[2], alone[1], alone[0], undeleted, bothOld]);
    }
  });
});

test('where little may be read a page ends after 1,000 rows, and the next goes on', () => {
  const { store, list } = place('macos26');
  const [wanted] = store.arriveMany(Array.from({ length: 1500 }, (_, at) => ({ account: IMAP, dateReceived: T + at, file: false })));
  const may = ({ rowid }: { rowid: number }) => rowid === wanted;
  const first = list('INBOX', IMAP, { may });
  expect([first.rows.length, first.next === null]).toEqual([0, false]);
  const second = list('INBOX', IMAP, { may, after: first.next });
  expect([second.rows.map(({ row }) => row.rowid), second.next]).toEqual([[wanted], null]);
});
