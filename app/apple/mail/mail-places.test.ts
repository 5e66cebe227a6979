import { afterEach, describe, expect, test } from 'vitest';
import { MAIL_VARIANTS, MailStore } from '../../testing/mail-store.ts';
import { Random } from '../../testing/random.ts';
import { tempFolder } from '../../testing/temp.ts';
import { EnvelopeIndex } from './envelope-index.ts';
import type { MailPlace, PlaceFilter } from './mail-places.ts';

const IMAP = 'AAAAAAAA-0000-4000-8000-000000000001';
const GMAIL = 'BBBBBBBB-0000-4000-8000-000000000002';
const T = 1_750_000_000;
const MAILS = 700;
const ALL_MAIL = '[Gmail]/All Mail';
const undo: (() => void)[] = [];
afterEach(() => {
  for (const step of undo.splice(0).toReversed()) step();
});

interface Known {
  readonly rowid: number;
  readonly date: number | null;
  /** `account path` of the mailbox and the labels. */
  readonly shown: readonly string[];
  readonly unread: boolean;
  readonly flagged: boolean;
  readonly deleted: boolean;
}

/** Mails of every kind: with and without dates and equal ones, few and many of a label, read or not, flagged, deleted. */
function mails(store: MailStore): Known[] {
  const random = new Random(11);
  return store.transaction(() => Array.from({ length: MAILS }, () => {
    const date = random.chance(1 / 12) ? null : T + random.between(0, 299);
    const [unread, flagged, deleted, gmail] = [random.chance(1 / 15), random.chance(1 / 40), random.chance(1 / 25), random.chance(1 / 2)];
    const labels = [...(random.chance(2 / 3) ? ['INBOX'] : []), ...(random.chance(1 / 30) ? ['[Gmail]/Starred'] : [])];
    const mailbox = gmail ? ALL_MAIL : random.pick(['INBOX', 'Archive']);
    const account = gmail ? GMAIL : IMAP;
    const rowid = store.arrive({ account, mailbox, ...(gmail && { labels }), dateReceived: date, flags: { read: !unread, flagged, deleted }, file: false });
    return { rowid, date, unread, flagged, deleted, shown: [mailbox, ...(gmail ? labels : [])].map((path) => `${account} ${path}`) };
  }));
}

const FILTERS: readonly PlaceFilter[] = [
  { unread: false, flagged: false, since: null }, { unread: true, flagged: false, since: null }, { unread: false, flagged: true, since: null },
  { unread: true, flagged: true, since: null }, { unread: false, flagged: false, since: (T + 150) * 1000 }, { unread: true, flagged: false, since: (T + 100) * 1000 },
];
const BOXES = [[`${IMAP} INBOX`], [`${GMAIL} ${ALL_MAIL}`], [`${GMAIL} INBOX`], [`${GMAIL} [Gmail]/Starred`], [`${IMAP} INBOX`, `${GMAIL} INBOX`, `${GMAIL} [Gmail]/Starred`]];
/** What the store offers to find few mails quickly; a list is the same without any of it. */
const QUICK = ['labels_mailbox_id_index', 'messages_flagged_index', 'messages_read_deleted_global_message_id_mailbox_read0_deleted0_index'];

/** Newest first, then the later row; those without a date last. */
const newestFirst = (a: Known, b: Known) => (b.date ?? -1) - (a.date ?? -1) || b.rowid - a.rowid;

describe.each(MAIL_VARIANTS)('%s', (variant) => {
  test.each([['with the indexes that find few mails', []], ['without them', QUICK]])('%s, page after page is what stands in the mailboxes, newest first', (_name, missing) => {
    const folder = tempFolder();
    const store = MailStore.create(folder.at('Library', 'Mail', 'V10'), { variant });
    undo.push(() => folder.remove(), () => store.close());
    store.addAccount({ id: IMAP, description: 'Home', email: 'me@example.org', kind: 'imap' });
    store.addAccount({ id: GMAIL, description: 'Google', email: 'me@gmail.example', kind: 'gmail' });
    const known = mails(store);
    for (const name of missing) store.run(`DROP INDEX IF EXISTS ${name}`);
    const index = new EnvelopeIndex({ mailDir: folder.at('Library', 'Mail') });
    index.open();
    undo.push(() => index.close());
    const ids = new Map(index.mailboxes().map(({ id, accountId, path }) => [`${accountId} ${path}`, id]));
    for (const boxes of BOXES) {
      for (const filter of FILTERS) {
        const expected = known.filter((mail) => !mail.deleted && mail.shown.some((box) => boxes.includes(box)) && (!filter.unread || mail.unread) && (!filter.flagged || mail.flagged)
          && (filter.since === null || (mail.date !== null && mail.date * 1000 >= filter.since))).toSorted(newestFirst);
        const found: number[] = [];
        let after: MailPlace | null = null;
        do {
          const page = index.list({ mailboxes: boxes.map((box) => ids.get(box)!), ...filter, after, limit: 40, may: () => true });
          found.push(...page.rows.map(({ row }) => row.rowid));
          after = page.next;
        } while (after !== null);
        expect(found, `${boxes.join(', ')} ${JSON.stringify(filter)}`).toEqual(expected.map(({ rowid }) => rowid));
      }
    }
  });
});
