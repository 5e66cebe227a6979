import { expect, test } from 'vitest';
import { tempFolder } from '../testing/temp.ts';
import type { AllowOptions, Change, Outcome } from './change.ts';
import type { Policy } from './policy.ts';
import { client, policyIn } from './testing.ts';

const A = { id: 'aaaaaaaa' };
const B = { id: 'bbbbbbbb' };
const MAIL = 'mail.received';
const MESSAGES = 'messages.received';
const done = (outcome: Outcome) => expect(outcome).toMatchObject({ ok: true, changed: true });
const grantsOf = (policy: Policy, { id } = A) => policy.snapshot().waiting.flatMap((entry) => (entry.client === id ? [entry.grants] : []));
const idOf = (policy: Policy) => policy.snapshot().waiting[0]!.id;

/** New mail on; A connected, and let in if said so. */
function policyWith(folder: string, options: AllowOptions | null = {}) {
  const made = policyIn(folder);
  done(made.policy.setEvent(MAIL, true));
  made.policy.seen(client(A.id), 'test');
  if (options !== null) done(made.policy.allowClient(A.id, options));
  return made;
}

test('what one client would like is one entry, however often and in whatever order it asks', () => {
  using folder = tempFolder();
  const { policy } = policyWith(folder.path);
  policy.wantsToRead(A, ['mail', 'mail']);
  policy.wantsToRead(A, ['messages', 'mail'], true);
  for (let times = 0; times < 30; times++) {
    policy.wantsToRead(A, times % 2 === 0 ? ['mail', 'messages'] : ['messages', 'mail', 'messages'], times % 3 === 0);
    policy.wantsToWrite(A);
  }
  expect(policy.snapshot().waiting).toMatchObject([{
    kind: 'change', client: A.id, grants: ['mail', 'messages', 'reply', 'search'],
    sentence: `Let the client "test" (${A.id}) read mail from allowed senders and read messages from allowed senders and write replies that the owner allows one by one and search`,
  }]);
  policy.seen(client(B.id), 'other');
  done(policy.allowClient(B.id));
  policy.wantsToRead(B, ['mail']);
  expect([grantsOf(policy).length, grantsOf(policy, B)]).toEqual([1, [['mail']]]);
});

test('an entry that grew since the owner looked is another one: a yes to the old one allows nothing', () => {
  using folder = tempFolder();
  const { policy } = policyWith(folder.path);
  policy.wantsToRead(A, ['mail']);
  const seen = idOf(policy);
  policy.wantsToWrite(A);
  expect(policy.answer(seen, true)).toMatchObject({ ok: false, code: 'unknown' });
  expect(policy.snapshot().clients[0]!.grants).toEqual([]);
  done(policy.answer(idOf(policy), true));
  expect([policy.snapshot().clients[0]!.grants, policy.snapshot().waiting]).toEqual([['mail', 'reply'], []]);
});

test('what the owner grants by themselves no longer waits; what is left of a request does, as the same entry', () => {
  using folder = tempFolder();
  const { policy } = policyWith(folder.path);
  policy.wantsToRead(A, ['mail', 'messages'], true);
  const id = idOf(policy);
  done(policy.allowClient(A.id, { grants: ['mail:everything'] }));
  expect(policy.snapshot().waiting).toMatchObject([{ id, grants: ['messages', 'search'], sentence: `Let the client "test" (${A.id}) read messages from allowed senders and search` }]);
  const told: string[] = [];
  policy.onChange((kind) => told.push(kind));
  done(policy.allowClient(A.id, { grants: ['mail', 'messages', 'search'] }));
  expect([policy.snapshot().waiting, told]).toEqual([[], ['clients', 'waiting']]);
});

test.each<[string, (policy: Policy) => void, readonly string[]]>([
  ['revoked', (policy) => done(policy.revokeClient(A.id)), ['Turn on New message']],
  ['refused', (policy) => done(policy.denyClient(A.id)), ['Turn on New message']],
  // Nobody refused it: to let it in may still be asked for.
  ['removed with all settings', (policy) => done(policy.reset()), [`Allow the client "test" (${A.id}), to search`, 'Turn on New message']],
])('of a client that is %s no wish waits', (_, change, left) => {
  using folder = tempFolder();
  const { policy } = policyWith(folder.path);
  policy.wantsToRead(A, ['mail']);
  policy.request({ do: 'allow-client', id: A.id, options: { events: [MAIL, MESSAGES], grants: ['search'] } });
  policy.request({ do: 'set-event', type: MESSAGES, on: true });
  change(policy);
  expect(policy.snapshot().waiting.map(({ sentence }) => sentence)).toEqual(left);
});

test('of a client allowed once nothing waits when its process ended', () => {
  using folder = tempFolder();
  const { policy, ended } = policyWith(folder.path, { once: true });
  policy.wantsToRead(A, ['mail']);
  ended.add(42);
  policy.sweep();
  expect(policy.snapshot().waiting).toEqual([]);
});

test.each<[Change, Change]>([
  [{ do: 'add-senders', senders: ['ada@example.com', '@example.org'], options: {} }, { do: 'add-senders', senders: ['@example.org', 'ada@example.com', '@example.org'], options: {} }],
  [{ do: 'add-chats', chats: ['b', 'a'] }, { do: 'add-chats', chats: ['a', 'b', 'a'] }],
  [{ do: 'add-hosts', hosts: ['b.example', 'a.example'] }, { do: 'add-hosts', hosts: ['A.example:443', 'b.example'] }],
  [{ do: 'allow-client', id: B.id, options: { events: [MAIL, MESSAGES], grants: ['search', 'mail'] } }, { do: 'allow-client', options: { grants: ['mail', 'search'], events: [MESSAGES, MAIL] }, id: B.id }],
])('the same in another order is one request, and is gone once it is so: %j', (change, again) => {
  using folder = tempFolder();
  const { policy } = policyWith(folder.path);
  policy.seen(client(B.id), null);
  for (const each of [change, again]) expect(policy.request(each)).toMatchObject({ ok: true });
  expect(policy.snapshot().waiting).toHaveLength(1);
  done(policy.setSetting('subjects', false));
  expect(policy.snapshot().waiting).toHaveLength(1);
  done(policy.change(again));
  expect(policy.snapshot().waiting).toEqual([]);
});

test.each<[Change, (policy: Policy) => Outcome]>([
  [{ do: 'set-event', type: MESSAGES, on: true }, (policy) => policy.setEvent(MESSAGES, true)],
  [{ do: 'set-setting', key: 'backfill', value: true }, (policy) => policy.setSetting('backfill', true)],
  [{ do: 'include', places: ['U1'] }, (policy) => policy.include(['U1'])],
  [{ do: 'resume' }, (policy) => policy.resume()],
  [{ do: 'allow-client', id: A.id, options: {} }, (policy) => policy.allowClient(A.id, { grants: ['mail'] })],
])('%j waits until it is so', (change, act) => {
  using folder = tempFolder();
  const { policy } = policyWith(folder.path, { events: [MAIL] });
  done(policy.exclude(['U1']));
  done(policy.pause(null));
  policy.request(change);
  done(policy.setSetting('subjects', false));
  expect(policy.snapshot().waiting).toHaveLength(1);
  done(act(policy));
  expect(policy.snapshot().waiting).toEqual([]);
});

test('a request for a client that was refused earlier goes on waiting', () => {
  using folder = tempFolder();
  const { policy } = policyWith(folder.path, null);
  done(policy.denyClient(A.id));
  policy.request({ do: 'allow-client', id: A.id, options: {} });
  done(policy.setSetting('subjects', false));
  expect(policy.snapshot().waiting).toMatchObject([{ kind: 'change', client: A.id }]);
});

test('what a client wished for before it was let in is told with its entry, and is before the owner once they let it in', () => {
  using folder = tempFolder();
  const { policy } = policyWith(folder.path, null);
  for (const type of [MAIL, MESSAGES] as const) policy.asks(A, type, []);
  policy.wantsToRead(A, ['mail'], true);
  policy.wantsToRead(A, ['mail'], true);
  expect(policy.snapshot().waiting).toMatchObject([{
    kind: 'client', client: A.id, grants: ['mail', 'search'], sentence: 'Wants New mail and New message. It would also like to read mail from allowed senders and search.',
  }]);
  const told: string[] = [];
  policy.onChange((kind) => told.push(kind));
  done(policy.answer(A.id, true));
  expect(policy.snapshot().waiting).toMatchObject([{ kind: 'change', client: A.id, grants: ['mail', 'search'] }]);
  expect(told).toContain('waiting');
  expect(policy.reach(A, 'mail')).toBeNull();
});

test('an answer that says what a client may do beyond events answers its wishes too', () => {
  using folder = tempFolder();
  const { policy } = policyWith(folder.path, null);
  policy.asks(A, MAIL, []);
  policy.wantsToRead(A, ['mail'], true);
  done(policy.answer(A.id, true, { grants: ['mail'] }));
  expect([policy.snapshot().waiting, policy.snapshot().clients[0]!.grants]).toEqual([[], ['mail']]);
});

test('with asking off a wish from before is asked for as soon as the client is let in', () => {
  using folder = tempFolder();
  const { policy } = policyWith(folder.path, null);
  policy.wantsToWrite(A);
  done(policy.setSetting('askNewClients', false));
  policy.asks(A, MAIL, []);
  expect([policy.gate(A, MAIL), grantsOf(policy)]).toEqual(['open', [['reply']]]);
});

test('a wish that found no place is before the owner once there is one', () => {
  using folder = tempFolder();
  const { policy } = policyWith(folder.path);
  for (let nth = 0; nth < 20; nth++) policy.request({ do: 'add-senders', senders: [`a${nth}@x.example`], options: {} });
  policy.wantsToRead(A, ['mail']);
  expect(grantsOf(policy)).toEqual([]);
  done(policy.answer(idOf(policy), false));
  expect([policy.snapshot().waiting.length, grantsOf(policy)]).toEqual([20, [['mail']]]);
});
