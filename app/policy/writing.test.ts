import { expect, test } from 'vitest';
import type { Mailbox, MailRow, MessageRow } from '../apple/occurrence.ts';
import { tempFolder } from '../testing/temp.ts';
import type { GrantName } from './change.ts';
import { client, mailFrom, messageFrom, policyIn } from './testing.ts';

const A = { id: 'aaaaaaaa' };
const ADA = '+15550101234';
const EVE = '+15550109999';
const CHAT = 'any;+;chat1';
const message = (sender: string, chat: string | null = null): MessageRow => ({ ...messageFrom(sender, chat).row, excluded: null }) as MessageRow;
const mail = (sender: string): MailRow => ({ ...mailFrom(sender).row, sender, excluded: null, mailboxes: [{ accountId: 'U1', path: 'INBOX', account: 'Home' } as Mailbox] }) as MailRow;

function policyWith(folder: string, grants: readonly GrantName[], more: object = {}) {
  const { policy } = policyIn(folder);
  policy.seen(client(A.id), 'test');
  policy.setEvent('mail.received', true);
  policy.setEvent('messages.received', true);
  policy.addSenders(['ada@example.com', ADA]);
  expect(policy.allowClient(A.id, { grants, ...more })).toMatchObject({ ok: true });
  return policy;
}

test('writing is off by default, also for a trusted client; unasked takes in asked', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path, { trustLocalClients: true });
  policy.seen(client(A.id), null);
  expect(policy.writes(A)).toBeNull();
  policy.allowClient(A.id, { grants: ['mail:everything', 'messages:everything', 'search'] });
  expect(policy.writes(A)).toBeNull();
  policy.allowClient(A.id, { grants: ['reply'] });
  expect(policy.writes(A)).toBe('asked');
  policy.grantClient(A.id, ['reply:unasked']);
  expect([policy.writes(A), policy.snapshot().clients[0]!.grants]).toEqual(['unasked', ['reply:unasked']]);
  policy.revokeClient(A.id);
  expect(policy.writes(A)).toBeNull();
});

test.each<[readonly GrantName[], [answerAda: boolean, answerEve: boolean, answerMail: boolean, writeAda: boolean, writeEve: boolean]]>([
  [[], [false, false, false, false, false]],
  [['messages:everything', 'mail:everything'], [false, false, false, false, false]],
  // What could ring may be answered without being read.
  [['reply'], [true, false, true, true, false]],
  [['reply', 'messages'], [true, false, true, true, false]],
  [['reply', 'messages:everything'], [true, true, true, true, true]],
])('with %j', (grants, wanted) => {
  using folder = tempFolder();
  const policy = policyWith(folder.path, grants);
  expect([
    policy.mayAnswer(message(ADA), A), policy.mayAnswer(message(EVE), A), policy.mayAnswer(mail('ada@example.com'), A), policy.mayWriteTo([ADA], 'any;-;a', A), policy.mayWriteTo([EVE], 'any;-;e', A),
  ]).toEqual(wanted);
});

test('a group is written to only if all in it are allowed, or the chat is', () => {
  using folder = tempFolder();
  const policy = policyWith(folder.path, ['reply']);
  expect([policy.mayWriteTo([ADA, EVE], CHAT, A), policy.mayWriteTo([], CHAT, A)]).toEqual([false, false]);
  policy.addChats([CHAT]);
  expect([policy.mayWriteTo([ADA, EVE], CHAT, A), policy.mayWriteTo([ADA, EVE], 'any;+;chat2', A), policy.mayAnswer(message(EVE, CHAT), A)]).toEqual([true, false, true]);
});

test('the rules allow all in a chat, or who wrote a row, whatever may be read', () => {
  using folder = tempFolder();
  const policy = policyWith(folder.path, ['reply:unasked', 'messages:everything', 'mail:everything']);
  const all = (members: readonly string[], chat = CHAT) => policy.allowsAll(members, chat, A);
  expect([all([ADA]), all([EVE]), all([ADA, EVE]), all([])]).toEqual([true, false, false, false]);
  expect([policy.allowsRow(mail('ada@example.com'), A), policy.allowsRow(mail('eve@example.com'), A), policy.allowsRow({ ...mail('ada@example.com'), excluded: 'sent' }, A)]).toEqual([true, false, false]);
  policy.addChats([CHAT]);
  expect([all([ADA, EVE]), all([ADA, EVE], 'any;+;chat2')]).toEqual([true, false]);
  policy.allowClient(A.id, { grants: ['reply:unasked', 'messages:everything'], senders: ['bob@example.com'] });
  expect([all([ADA]), policy.mayWriteTo([ADA], CHAT, A)]).toEqual([false, true]);
});

test('a client that may not hear of messages may not answer them either, unless it may read them', () => {
  using folder = tempFolder();
  const policy = policyWith(folder.path, ['reply'], { events: ['mail.received'] });
  expect([policy.mayAnswer(message(ADA), A), policy.mayWriteTo([ADA], 'any;-;a', A), policy.mayAnswer(mail('ada@example.com'), A)]).toEqual([false, false, true]);
  policy.grantClient(A.id, ['messages']);
  expect([policy.mayAnswer(message(ADA), A), policy.mayWriteTo([ADA], 'any;-;a', A)]).toEqual([true, true]);
});

test("the client's own senders bound it, own words and excluded places are never answered, and it may be asked for", () => {
  using folder = tempFolder();
  const policy = policyWith(folder.path, ['reply'], { senders: ['bob@example.com'] });
  expect([policy.mayAnswer(message(ADA), A), policy.mayWriteTo([ADA], 'any;-;a', A)]).toEqual([false, false]);
  policy.allowClient(A.id, { grants: ['reply', 'mail:everything'] });
  expect(policy.mayAnswer({ ...message(ADA), excluded: 'sent' }, A)).toBe(false);
  policy.exclude(['U1']);
  expect(policy.mayAnswer(mail('ada@example.com'), A)).toBe(false);
  policy.wantsToWrite(A);
  expect(policy.snapshot().waiting).toEqual([]);
  policy.allowClient(A.id, {});
  policy.wantsToWrite(A);
  policy.wantsToWrite(A);
  expect(policy.snapshot().waiting).toMatchObject([{ kind: 'change', sentence: `Let the client "test" (${A.id}) write replies that the owner allows one by one` }]);
});
