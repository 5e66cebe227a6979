import { expect, test } from 'vitest';
import { healthOf, type HealthFacts } from './health.ts';
import type { Slices } from './values.ts';

type Waiting = Slices['waiting'][number];
const CLIENT = '3f2a9c01';
const store = { state: 'readable', everRead: true, version: null } as const;
const row = { id: CLIENT, display: '/bin/agent', signed: false, persistable: true, label: 'agent', decision: 'always', events: 'all', senders: 'all', grants: [], asks: [], seenAt: null, state: 'listening', connections: 1, connectedAt: 0, subscriptions: [], lastEventAt: null } satisfies Slices['clients'][number];
const text = { id: 't', since: 0, sentence: '', client: CLIENT, clientName: '"agent"', expiresAt: 1, text: 'secret words' };
const send: Waiting = { kind: 'send', ...text, chat: { id: 'c', name: 'Family', isGroup: true, members: ['Ada'], memberCount: 2, service: null } };
const draft: Waiting = { kind: 'draft', ...text, to: ['ada@example.com'], cc: [], subject: 'Plan', answers: null };
const asks: Waiting = { kind: 'client', id: CLIENT, since: 0, sentence: '', client: CLIENT, grants: [] };
const signIn: Waiting = { kind: 'sign-in', id: 's', since: 0, sentence: '', client: CLIENT, name: 'Note\u202ebook', host: 'x.example', code: '4711', expiresAt: 1, grants: [] };
const change = (client: string | null, grants: ['mail'] | []): Waiting => ({ kind: 'change', id: 'r', since: 0, sentence: 'Turn on New mail', client, grants });

function headline(waiting: Waiting[], clients: Slices['clients'] = [row]): string {
  const slices = { status: { seal: 'ok', stores: { mail: { state: 'off' }, messages: { state: 'off' } } }, events: [], senders: [], chats: [], clients, pausedUntil: null, access: { mail: store, messages: store, checkedAt: 0 }, waiting } as unknown as NonNullable<HealthFacts['slices']>;
  const health = healthOf({ shell: { kind: 'app', engine: 'running', location: 'ok', otherCopy: false, needsReopen: false }, slices }, String);
  expect(health).toMatchObject({ id: 'clientAsking', icon: 'attention', action: { label: 'Review', deed: { kind: 'open', section: 'clients' } } });
  return health.headline;
}

test('what waits for the owner, in one sentence; a text that would go out comes first, since it ends by itself', () => {
  expect(headline([asks])).toBe('"agent" wants events.');
  expect(headline([asks, send])).toBe('"agent" wants to send a message.');
  expect(headline([draft])).toBe('"agent" wants to open a draft in Mail.');
  expect(headline([asks, signIn])).toBe('"Notebook" asks to sign in.');
  expect(headline([change(CLIENT, ['mail'])])).toBe('"agent" wants to do more than hear of events.');
  expect(headline([change(null, [])])).toBe('A program asks to change what is allowed.');
  expect(headline([asks, send, draft], [])).toBe('A client wants to send a message.');
  expect(headline([asks], [])).toBe('A new client wants events.');
});

test('no word of it and no name of a reader is in it', () => {
  for (const entry of [send, draft]) expect(headline([entry])).not.toMatch(/secret|Family|Ada|Plan/);
});
