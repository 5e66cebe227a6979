import { expect, test } from 'vitest';
import type { Mailbox, MailRow, MessageRow } from '../apple/occurrence.ts';
import { tempFolder } from '../testing/temp.ts';
import type { Change, GrantName } from './change.ts';
import { client, mailFrom, messageFrom, policyIn } from './testing.ts';

const A = { id: 'aaaaaaaa' };
const box = (accountId: string, path: string) => ({ accountId, path, account: 'Home' }) as Mailbox;
const mail = (sender: string | null, ...mailboxes: Mailbox[]): MailRow => ({ ...mailFrom(sender ?? '').row, sender, excluded: null, mailboxes }) as MailRow;
const message = (sender: string, chat: string | null = null, excluded: MessageRow['excluded'] = null): MessageRow => ({ ...messageFrom(sender, chat).row, excluded }) as MessageRow;
const INBOX = box('U1', 'INBOX');

function policyWith(folder: string, grants: readonly GrantName[], more: { senders?: string[] } = {}) {
  const { policy } = policyIn(folder);
  policy.seen(client(A.id), 'test');
  policy.addSenders(['ada@example.com', '+15550101234']);
  expect(policy.allowClient(A.id, { grants, ...more })).toMatchObject({ ok: true });
  return policy;
}

test('reading is off by default, also for a trusted client, and each store is a grant of its own', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path, { trustLocalClients: true });
  policy.seen(client(A.id), null);
  policy.addSenders(['ada@example.com']);
  expect([policy.reach(A, 'mail'), policy.reach(A, 'messages'), policy.mayRead(mail('ada@example.com', INBOX), A)]).toEqual([null, null, false]);
  policy.allowClient(A.id, { grants: ['mail'] });
  expect([policy.reach(A, 'mail'), policy.reach(A, 'messages')]).toEqual(['rules', null]);
  policy.allowClient(A.id, { grants: ['messages:everything', 'messages', 'search', 'reply'] });
  expect([policy.reach(A, 'mail'), policy.reach(A, 'messages')]).toEqual([null, 'everything']);
  expect(policy.snapshot().clients[0]!.grants).toEqual(['messages:everything', 'search', 'reply']);
  policy.denyClient(A.id);
  expect(policy.reach(A, 'messages')).toBeNull();
});

test('within the rules: allowed senders, the chosen mailboxes, the client\'s own senders, never own words', () => {
  using folder = tempFolder();
  const policy = policyWith(folder.path, ['mail', 'messages']);
  const ada = mail('ada@example.com', INBOX);
  expect([ada, mail('eve@example.com', INBOX), mail(null, INBOX), { ...ada, excluded: 'sent' as const }].map((row) => policy.mayRead(row, A))).toEqual([true, false, false, false]);
  expect([message('+15550101234'), message('+15550109999'), message('+15550101234', null, 'sent')].map((row) => policy.mayRead(row, A))).toEqual([true, false, false]);
  policy.addChats(['iMessage;+;chat1']);
  expect([policy.mayRead(message('+15550109999', 'iMessage;+;chat1'), A), policy.mayReadFrom('+15550109999', 'iMessage;+;chat1', A), policy.mayReadFrom('+15550109999', null, A)]).toEqual([true, true, false]);
  policy.setMailboxes(['U2/INBOX']);
  expect(policy.mayRead(ada, A)).toBe(false);
  policy.setMailboxes(null);
  policy.allowClient(A.id, { grants: ['mail'], senders: ['bob@example.com'] });
  expect(policy.mayRead(ada, A)).toBe(false);
});

test('everything is everything but what is excluded; an excluded place takes what lies below it, and a mail that also lies elsewhere', () => {
  using folder = tempFolder();
  const policy = policyWith(folder.path, ['mail:everything']);
  const rows = [mail('eve@example.com', INBOX), mail(null, box('U1', 'Health')), mail('x@y.example', box('u1', 'HEALTH/Lab')), mail('x@y.example', INBOX, box('U1', 'Health')), mail('x@y.example', box('U1', 'Healthy')), mail('x@y.example', box('U2', 'INBOX'))];
  const may = () => rows.map((row) => policy.mayRead(row, A));
  expect(may()).toEqual([true, true, true, true, true, true]);
  expect(policy.exclude(['U1/Health'])).toMatchObject({ ok: true, changed: true });
  expect(may()).toEqual([true, false, false, false, true, true]);
  expect(policy.exclude(['U2'])).toMatchObject({ ok: true, changed: true });
  expect(may()).toEqual([true, false, false, false, true, false]);
  expect(policy.settings.excluded).toEqual({ accounts: ['U2'], mailboxes: ['U1/Health'] });
  // Whose place is not known yet could be one of them.
  expect(policy.mayRead(mail('x@y.example'), A)).toBe(false);
  expect(policy.include(['U1/Health', 'U2'])).toMatchObject({ ok: true, changed: true });
  expect(may()).toEqual([true, true, true, true, true, true]);
  expect(policy.include(['U2'])).toMatchObject({ ok: false, code: 'nothing' });
});

test('what is excluded does not ring, an import does not lift it, and the file keeps it', () => {
  using folder = tempFolder();
  const policy = policyWith(folder.path, []);
  const arrival = { ...mailFrom('ada@example.com'), row: mail('ada@example.com', INBOX) };
  expect(policy.allows(arrival, A)).toBe(true);
  const before = policy.exportSettings();
  policy.exclude(['U1']);
  expect([policy.allows(arrival, A), policy.refusal(arrival), policy.inMailboxes(arrival)]).toEqual([false, 'mailbox', false]);
  expect(policy.importSettings(before)).toMatchObject({ ok: true });
  expect(policy.hides(INBOX)).toBe(true);
  expect(policyIn(folder.path).policy.hides(INBOX)).toBe(true);
});

test.each<[Change, boolean]>([
  [{ do: 'exclude', places: ['U1'] }, false],
  [{ do: 'include', places: ['U1'] }, true],
  [{ do: 'grant-client', id: A.id, grants: ['mail'] }, true],
])('%j widens: %s', (change, expected) => {
  using folder = tempFolder();
  expect(policyIn(folder.path).policy.widens(change)).toBe(expected);
});

test('a wish to read waits for the owner once, and a yes adds the grant to the record as it is by then', () => {
  using folder = tempFolder();
  const policy = policyWith(folder.path, []);
  for (let times = 0; times < 3; times += 1) policy.wantsToRead(A, ['mail']);
  const { waiting } = policy.snapshot();
  expect(waiting).toMatchObject([{ kind: 'change', sentence: `Let the client "test" (${A.id}) read mail from allowed senders` }]);
  policy.allowClient(A.id, { events: ['mail.received'], senders: ['ada@example.com'], grants: ['search'] });
  expect(policy.answer(waiting[0]!.id, true)).toMatchObject({ ok: true });
  expect(policy.snapshot().clients[0]).toMatchObject({ events: ['mail.received'], senders: ['ada@example.com'], grants: ['search', 'mail'] });
  policy.wantsToRead(A, ['mail']);
  expect(policy.snapshot().waiting).toEqual([]);
});

test('who was refused asks in vain: nothing waits, nothing is granted', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  policy.seen(client(A.id), null);
  policy.wantsToRead(A, ['mail']);
  expect(policy.grantClient(A.id, ['mail'])).toMatchObject({ ok: false, code: 'refused' });
  policy.denyClient(A.id);
  policy.wantsToRead(A, ['mail', 'messages']);
  expect(policy.snapshot().waiting).toEqual([]);
  expect(policy.grantClient(A.id, ['mail'])).toMatchObject({ ok: false, code: 'refused' });
  expect(policy.grantClient('cccccccc', ['mail'])).toMatchObject({ ok: false, code: 'unknown' });
  // What it wished for before is gone with the refusal.
  policy.allowClient(A.id);
  expect(policy.snapshot().waiting).toEqual([]);
});
