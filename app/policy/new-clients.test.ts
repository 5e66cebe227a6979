import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tempFolder } from '../testing/temp.ts';
import type { Outcome } from './change.ts';
import type { Policy } from './policy.ts';
import { client, policyIn } from './testing.ts';

const A = { id: 'aaaaaaaa' };
const B = { id: 'bbbbbbbb' };
const MAIL = 'mail.received';
const done = (outcome: Outcome) => expect(outcome).toMatchObject({ ok: true, changed: true });
const decisions = (policy: Policy) => Object.fromEntries(policy.snapshot().clients.map(({ id, decision }) => [id, decision]));

/** New mail on, and new clients not asked about. */
function openPolicy(folder: string) {
  const made = policyIn(folder);
  done(made.policy.setEvent(MAIL, true));
  done(made.policy.setSetting('askNewClients', false));
  return made;
}

test('a new client is asked about unless the owner turned that off', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  expect(policy.snapshot().settings.askNewClients).toBe(true);
  done(policy.setEvent(MAIL, true));
  policy.seen(client(A.id), 'agent');
  policy.asks(A, MAIL, ['ada@example.com']);
  expect(policy.gate(A, MAIL)).toBe('approval');
  expect(policy.snapshot().waiting).toHaveLength(1);
});

test('with asking off a client that connects gets events at once, and its identity is kept', () => {
  using folder = tempFolder();
  const { policy, file } = openPolicy(folder.path);
  const told: [string, string | null][] = [];
  policy.onChange((kind, sentence) => told.push([kind, sentence]));
  policy.seen(client(A.id), 'agent');
  expect(policy.gate(A, MAIL)).toBe('open');
  policy.asks(A, MAIL, ['ada@example.com']);
  expect(policy.snapshot().waiting).toEqual([]);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    clients: [{ id: A.id, identity: { display: `/opt/${A.id}` }, decision: 'always', events: 'all', senders: 'all', grants: [], label: 'agent' }],
  });
  expect(told).toContainEqual(['clients', 'New client let in without asking']);
});

test('reading, search and reply come with nothing, and are still asked for', () => {
  using folder = tempFolder();
  const { policy } = openPolicy(folder.path);
  policy.seen(client(A.id), null);
  expect([policy.reach(A, 'mail'), policy.reach(A, 'messages')]).toEqual([null, null]);
  policy.wantsToRead(A, ['mail']);
  expect(policy.reach(A, 'mail')).toBeNull();
  expect(policy.snapshot().waiting).toMatchObject([{ kind: 'change', client: A.id, grants: ['mail'] }]);
});

test('an identity that cannot be kept is let in only until its process ends (architecture 6)', () => {
  using folder = tempFolder();
  const { policy, ended } = openPolicy(folder.path);
  policy.seen(client(A.id, { persistable: false }), null);
  expect(decisions(policy)).toEqual({ [A.id]: 'once' });
  ended.add(42);
  policy.sweep();
  expect(policy.settings.clients).toEqual([]);
});

test('a refusal and a revoke hold', () => {
  using folder = tempFolder();
  const { policy } = openPolicy(folder.path);
  policy.seen(client(A.id), null);
  done(policy.revokeClient(A.id));
  policy.seen(client(A.id), null);
  policy.asks(A, MAIL, ['ada@example.com']);
  expect(policy.gate(A, MAIL)).toBe('refused');
  expect(policy.snapshot().waiting).toEqual([]);
});

test('one that waits for an answer goes on waiting; one that was connected and had not asked is let in when it asks', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  done(policy.setEvent(MAIL, true));
  policy.seen(client(A.id), null);
  policy.asks(A, MAIL, ['ada@example.com']);
  policy.seen(client(B.id), null);
  done(policy.setSetting('askNewClients', false));
  policy.asks(A, MAIL, ['grace@example.com']);
  policy.seen(client(A.id), null);
  expect(policy.gate(A, MAIL)).toBe('approval');
  expect(policy.gate(B, MAIL)).toBe('approval');
  policy.asks(B, MAIL, ['ada@example.com']);
  expect(policy.gate(B, MAIL)).toBe('open');
});

test('asking turned on again asks about the next one, and who was let in stays until the owner says otherwise', () => {
  using folder = tempFolder();
  const { policy } = openPolicy(folder.path);
  policy.seen(client(A.id), null);
  done(policy.setSetting('askNewClients', true));
  policy.seen(client(B.id), null);
  expect([policy.gate(A, MAIL), policy.gate(B, MAIL)]).toEqual(['open', 'approval']);
});

test('made-up identities leave room for those that the owner allows', () => {
  using folder = tempFolder();
  const { policy } = openPolicy(folder.path);
  for (let number = 0; number < 250; number++) policy.seen(client(number.toString(16).padStart(8, '0')), null);
  expect(policy.settings.clients).toHaveLength(200);
  policy.seen(client(A.id), null);
  policy.asks(A, MAIL, ['ada@example.com']);
  expect(policy.snapshot().waiting).toMatchObject([{ kind: 'client', id: A.id, client: A.id, grants: [] }]);
  done(policy.allowClient(A.id));
});

test('to turn asking off is for the owner: a program may only ask for it, and to turn it on is nothing that widens', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const off = { do: 'set-setting', key: 'askNewClients', value: false } as const;
  expect(policy.widens(off)).toBe(true);
  expect(policy.request(off)).toMatchObject({ ok: true, changed: false });
  expect(policy.snapshot().settings.askNewClients).toBe(true);
  expect(policy.snapshot().waiting).toMatchObject([{ kind: 'change', sentence: 'Let new clients in without asking' }]);
  done(policy.answer(policy.snapshot().waiting[0]!.id, true));
  expect(policy.snapshot().settings.askNewClients).toBe(false);
  expect(policy.widens({ ...off, value: true })).toBe(false);
});

test('an import never turns asking off, and an export does not carry it', () => {
  using folder = tempFolder();
  const { policy } = openPolicy(folder.path);
  const json = policy.exportSettings();
  expect(json).not.toContain('askNewClients');
  using other = tempFolder();
  const { policy: second } = policyIn(other.path);
  done(second.importSettings(json));
  expect(second.snapshot().settings.askNewClients).toBe(true);
});
