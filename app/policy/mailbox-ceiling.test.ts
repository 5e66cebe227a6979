import { expect, test } from 'vitest';
import type { Mailbox, MailRow } from '../apple/occurrence.ts';
import { tempFolder } from '../testing/temp.ts';
import type { Change } from './change.ts';
import { mailFrom, messageFrom, policyIn } from './testing.ts';

const A = { id: 'aaaaaaaa' };
const box = (accountId: string, path: string) => ({ accountId, path, account: 'Home' }) as Mailbox;
const mailIn = (sender: string, ...mailboxes: Mailbox[]) => {
  const mail = mailFrom(sender);
  return { ...mail, row: { ...mail.row, mailboxes } as MailRow };
};

/** The owner's mailboxes only narrow (ui.md, rule 3). */
test('mail outside the chosen mailboxes does not ring, with its own reason; a mailbox alone lets nobody through', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  policy.addSenders(['ada@example.com']);
  const inbox = mailIn('ada@example.com', box('U1', 'INBOX'));
  const other = mailIn('ada@example.com', box('U2', 'INBOX'));
  const labelled = mailIn('ada@example.com', box('U2', '[Gmail]/All Mail'), box('U1', 'inbox'));
  expect([inbox, other].map((mail) => policy.allows(mail, A))).toEqual([true, true]);
  expect(policy.setMailboxes(['u1/inbox'])).toMatchObject({ ok: true, changed: true });
  expect([inbox, other, labelled].map((mail) => policy.allows(mail, A))).toEqual([true, false, true]);
  expect(policy.refusal(other)).toBe('mailbox');
  const stranger = mailIn('eve@example.com', box('U1', 'INBOX'));
  expect([policy.allows(stranger, A), policy.refusal(stranger)]).toEqual([false, 'no-allowed-sender']);
  expect(policy.allows(messageFrom('ada@example.com'), A)).toBe(true);
  expect(policy.setMailboxes([])).toMatchObject({ ok: false, code: 'invalid' });
  expect(policy.setMailboxes(null)).toMatchObject({ ok: true, changed: true });
  expect(policy.allows(other, A)).toBe(true);
});

test.each<[string[] | null, Change, boolean]>([
  [null, { do: 'set-mailboxes', mailboxes: ['u1/inbox'] }, false],
  [['u1/inbox'], { do: 'set-mailboxes', mailboxes: null }, true],
  [['u1/inbox'], { do: 'set-mailboxes', mailboxes: ['u1/inbox', 'u2/inbox'] }, true],
  [['u1/inbox', 'u2/inbox'], { do: 'set-mailboxes', mailboxes: ['u2/inbox'] }, false],
  [['u1/inbox'], { do: 'set-mailboxes', mailboxes: ['u2/inbox'] }, true],
])('from %j, %j widens: %s', (held, change, expected) => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  if (held !== null) policy.setMailboxes(held);
  expect(policy.widens(change)).toBe(expected);
});
