import { expect, test } from 'vitest';
import type { Mailbox } from '../apple/occurrence.ts';
import { excludedPlaces } from './excluded-places.ts';
import { resolveExcluded, resolvePlaces } from './mailbox-names.ts';
import type { MailReader } from '../apple/reader.ts';

let next = 1;
const mailbox = (accountId: string, account: string, path: string, role: Mailbox['role'] = 'other'): Mailbox =>
  ({ id: next++, url: `imap://${accountId}/${path}`, accountId, account, path, role, source: null });
/** Two accounts of one name, and a mailbox that is called like a place of the other account. */
const mailboxes = [
  mailbox('AAAA', 'Work', 'INBOX', 'inbox'), mailbox('AAAA', 'Work', 'Sent', 'sent'), mailbox('BBBB', 'Work', 'INBOX', 'inbox'), mailbox('BBBB', 'Work', 'aaaa/INBOX'),
  mailbox('CCCC', 'Home\u202e<b>', 'Plans\u200b/2027'),
];
const reader = { mailboxes: () => mailboxes } as unknown as MailReader;

test('every account and mailbox is listed, sent ones too, with what is excluded and what is gone', () => {
  expect(excludedPlaces(reader, ['AAAA', 'bbbb/inbox', 'DDDD/Old'])).toEqual({
    readable: true,
    accounts: [
      { place: 'CCCC', name: 'Home<b>', excluded: false, mailboxes: [{ place: 'cccc/plans\u200b/2027', name: 'Plans/2027', role: 'other', excluded: false }] },
      {
        place: 'AAAA', name: 'Work', excluded: true, mailboxes: [
          { place: 'aaaa/inbox', name: 'INBOX', role: 'inbox', excluded: false }, { place: 'aaaa/sent', name: 'Sent', role: 'sent', excluded: false },
        ],
      },
      {
        place: 'BBBB', name: 'Work', excluded: false, mailboxes: [
          { place: 'bbbb/aaaa/inbox', name: 'aaaa/INBOX', role: 'other', excluded: false }, { place: 'bbbb/inbox', name: 'INBOX', role: 'inbox', excluded: true },
        ],
      },
    ],
    gone: [{ place: 'DDDD/Old', name: 'DDDD/Old' }],
  });
});

test('while Mail cannot be read, what is excluded is known by its key', () => {
  expect(excludedPlaces(null, ['AAAA'])).toEqual({ readable: false, accounts: [], gone: [{ place: 'AAAA', name: 'AAAA' }] });
});

test('a place is taken as exactly what it names, whatever other mailboxes are called', () => {
  const { accounts } = excludedPlaces(reader, []);
  for (const place of accounts.flatMap((account) => [account.place, ...account.mailboxes.map((each) => each.place)])) {
    expect(resolvePlaces(reader, [place])).toEqual({ ok: true, keys: [place] });
    expect(resolveExcluded(reader, [place], [place])).toEqual([place]);
  }
});
