import { readFileSync, rmSync, mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { SettingKey } from '../contract/plain-settings.ts';
import { tempFolder } from '../testing/temp.ts';
import type { Change, Outcome } from './change.ts';
import type { Policy } from './policy.ts';
import { client, HandClock, mailFrom, messageFrom, policyIn } from './testing.ts';

const A = { id: 'aaaaaaaa' };
const B = { id: 'bbbbbbbb' };
const MAIL = 'mail.received';
const done = (outcome: Outcome) => expect(outcome).toMatchObject({ ok: true, changed: true });

test('everything is off: types, senders, clients', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  policy.seen(client(A.id), null);
  expect(policy.anyOn()).toBe(false);
  expect(policy.gate(A, MAIL)).toBe('off');
  expect(policy.allows(mailFrom('ada@example.com'), A)).toBe(false);
});

test('gates: off, refused, approval, paused, open, in that order', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  policy.seen(client(A.id), null);
  done(policy.setEvent(MAIL, true));
  expect(policy.gate(A, MAIL)).toBe('approval');
  expect(policy.gate({ id: '' }, MAIL)).toBe('approval');
  done(policy.allowClient(A.id));
  expect(policy.gate(A, MAIL)).toBe('open');
  done(policy.pause(null));
  expect(policy.gate(A, MAIL)).toBe('paused');
  expect(policy.gate(B, MAIL)).toBe('approval');
  done(policy.revokeClient(A.id));
  expect(policy.gate(A, MAIL)).toBe('refused');
  done(policy.setEvent(MAIL, false));
  expect(policy.gate(A, MAIL)).toBe('off');
});

test('a grant narrows to types and senders', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  for (const type of [MAIL, 'messages.received'] as const) done(policy.setEvent(type, true));
  done(policy.addSenders(['@example.org', 'ada@example.com']));
  policy.seen(client(A.id), null);
  done(policy.allowClient(A.id, { events: [MAIL], senders: ['ADA@example.com'] }));
  expect([policy.gate(A, MAIL), policy.gate(A, 'messages.received')]).toEqual(['open', 'refused']);
  expect(policy.allows(mailFrom('ada@example.com'), A)).toBe(true);
  expect(policy.allows(mailFrom('bob@example.org'), A)).toBe(false);
  expect(policy.allows(messageFrom('ada@example.com'), A)).toBe(false);
  expect(policy.allowClient(A.id, { senders: ['*'] })).toMatchObject({ ok: false, code: 'invalid' });
  expect(policy.allowClient('cccccccc')).toMatchObject({ ok: false, code: 'unknown' });
});

test('trusted local clients need no approval, but a revoke holds (ruling 17)', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path, { trustLocalClients: true });
  done(policy.setEvent(MAIL, true));
  policy.seen(client(A.id), null);
  expect([policy.gate(A, MAIL), policy.gate({ id: '' }, MAIL)]).toEqual(['open', 'approval']);
  done(policy.revokeClient(A.id));
  expect(policy.gate(A, MAIL)).toBe('refused');
});

test('once ends with the process, also across a restart; always does not', () => {
  using folder = tempFolder();
  const { policy, ended } = policyIn(folder.path);
  done(policy.setEvent(MAIL, true));
  policy.seen(client(A.id, { process: { pid: 1, startTime: 's' } }), null);
  policy.seen(client(A.id, { process: { pid: 2, startTime: 's' } }), null);
  policy.seen(client(B.id), null);
  done(policy.allowClient(A.id, { once: true }));
  done(policy.allowClient(B.id));
  ended.add(1);
  policy.sweep();
  expect(policy.gate(A, MAIL)).toBe('open');
  expect(policyIn(folder.path, { processAlive: ({ pid }) => pid === 2 }).policy.gate(A, MAIL)).toBe('open');
  ended.add(2).add(42);
  policy.sweep();
  expect([policy.gate(A, MAIL), policy.gate(B, MAIL)]).toEqual(['approval', 'open']);
  expect(policy.allowClient(A.id, { once: true })).toMatchObject({ ok: false, code: 'refused', message: expect.stringMatching(/not running/) });
});

test('once ends with the process even while settings cannot be written', () => {
  using folder = tempFolder();
  const data = folder.at('data');
  mkdirSync(data);
  const { policy, ended } = policyIn(data);
  done(policy.setEvent(MAIL, true));
  policy.seen(client(A.id), null);
  done(policy.allowClient(A.id, { once: true }));
  rmSync(data, { recursive: true });
  ended.add(42);
  policy.sweep();
  expect(policy.gate(A, MAIL)).toBe('approval');
});

test('a client that cannot be recognised is never allowed always', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  done(policy.setEvent(MAIL, true));
  policy.seen(client(A.id, { persistable: false, process: null }), null);
  expect(policy.allowClient(A.id)).toMatchObject({ ok: false, code: 'refused', message: expect.stringMatching(/only be allowed once/) });
  done(policy.allowClient(A.id, { once: true }));
  policy.sweep();
  expect(policy.gate(A, MAIL)).toBe('open');
  expect(policyIn(folder.path).policy.gate(A, MAIL)).toBe('approval');
});

test('at most 20 wait, ended clients make room, one notice in 10 minutes', () => {
  using folder = tempFolder();
  const { policy, clock, ended } = policyIn(folder.path);
  done(policy.setEvent(MAIL, true));
  const kinds: string[] = [];
  policy.onChange((kind) => kinds.push(kind));
  const id = (n: number) => n.toString(16).padStart(8, '0');
  const ask = (n: number) => {
    policy.seen(client(id(n), { process: { pid: n, startTime: 's' } }), `"n${n}"\u202e`);
    policy.asks({ id: id(n) }, MAIL, ['ada@example.com']);
  };
  for (let n = 1; n <= 25; n++) ask(n);
  expect(policy.snapshot().waiting).toHaveLength(20);
  expect(policy.snapshot().waiting[0]).toMatchObject({ kind: 'client', id: id(1), sentence: 'Wants New mail from 1 sender.' });
  expect(policy.snapshot().clients[0]!.label).toBe('"n1"');
  expect(kinds.filter((kind) => kind === 'notice')).toHaveLength(1);
  ended.add(3);
  ask(21);
  expect(policy.snapshot().waiting.map((entry) => entry.id)).toContain(id(21));
  done(policy.denyClient(id(1)));
  clock.pass(600_000);
  ask(22);
  expect(kinds.filter((kind) => kind === 'notice')).toHaveLength(2);
  expect(policy.snapshot().waiting).toHaveLength(20);
});

test('the owner sees what a client asks for and may not have', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  done(policy.setEvent(MAIL, true));
  done(policy.addSenders(['@example.org']));
  policy.seen(client(A.id), null);
  done(policy.allowClient(A.id));
  policy.asks(A, MAIL, ['ada@example.org', 'bob@x.example']);
  expect(policy.snapshot().clients[0]!.asks).toEqual([{ type: MAIL, senders: 2, notAllowed: ['bob@x.example'] }]);
  expect(policy.snapshot().waiting).toEqual([]);
});

test.each<[string, (policy: Policy) => Outcome, object]>([
  ['an address', (p) => p.addSenders(['Ada <ADA@Example.com>']), { ok: true, sentence: 'Allowed ada@example.com.' }],
  ['a paste', (p) => p.addSenders(['a@x.example, "Lovelace, Ada" <b@x.example>\n@x.example']), { ok: true, sentence: 'Allowed a@x.example, b@x.example, everyone at x.example.' }],
  ['a shared domain', (p) => p.addSenders(['gmail.com']), { ok: true, sentence: 'Allowed everyone at gmail.com. Matches everyone at gmail.com.' }],
  ['IDN', (p) => p.addSenders(['@bücher.example']), { ok: true, sentence: 'Allowed everyone at xn--bcher-kva.example.' }],
  ['a star', (p) => p.addSenders(['a@x.example', '*']), { ok: false, code: 'invalid', message: '"*": Wildcards are not read: name a whole address, domain or number.' }],
  ['nothing', (p) => p.addSenders([' , ']), { ok: false, code: 'invalid' }],
  ['subdomains of an address', (p) => p.addSenders(['a@x.example'], { subdomains: true }), { ok: false, code: 'invalid', message: expect.stringMatching(/need a domain/) }],
  ['an exception of an address', (p) => p.addSenders(['a@x.example'], { except: ['b@x.example'] }), { ok: false, code: 'invalid' }],
  ['a bad exception', (p) => p.addSenders(['x.example'], { except: ['*'] }), { ok: false, code: 'invalid', message: expect.stringMatching(/^Exception/) }],
  ['a number for mail', (p) => p.addSenders(['+31612345678'], { for: 'mail' }), { ok: false, code: 'invalid', message: expect.stringMatching(/numbers send no mail/) }],
  ['remove what is not there', (p) => p.removeSenders(['a@x.example']), { ok: false, code: 'nothing' }],
  ['patch what is not there', (p) => p.setSender('a@x.example', { on: false }), { ok: false, code: 'nothing' }],
  ['undo nothing', (p) => p.undoRemoval(), { ok: false, code: 'nothing' }],
  ['rate 0', (p) => p.setSetting('ratePerHour', 0), { ok: false, code: 'invalid', message: expect.stringMatching(/^ratePerHour/) }],
  ['a word for a switch', (p) => p.setSetting('subjects', 'off'), { ok: false, code: 'invalid', message: 'subjects must be on or off.' }],
  ['a region', (p) => p.setSetting('region', 'NL'), { ok: true, sentence: 'region is NL.' }],
  ['the same again', (p) => p.setSetting('subjects', true), { ok: true, changed: false }],
  ['on already', (p) => p.setEvent(MAIL, false), { ok: true, changed: false, sentence: 'New mail is off already.' }],
  ['not paused', (p) => p.resume(), { ok: true, changed: false, sentence: 'Not paused.' }],
  ['too short a pause', (p) => p.pause(10), { ok: false, code: 'invalid' }],
  ['too long a pause', (p) => p.pause(1e15), { ok: false, code: 'invalid' }],
  ['no number', (p) => p.pause(Number.NaN), { ok: false, code: 'invalid' }],
])('change: %s', (_what, act, expected) => {
  using folder = tempFolder();
  expect(act(policyIn(folder.path).policy)).toMatchObject(expected);
});

test.each<[SettingKey, number, string]>([
  ['httpPort', 80, 'httpPort must be from 1024 to 65535.'],
  ['httpPort', 70_000, 'httpPort must be from 1024 to 65535.'],
  ['httpPort', 2000.5, 'httpPort must be a whole number.'],
  ['ratePerHour', 0, 'ratePerHour must be from 1 to 10000.'],
  ['ratePerHour', 10_001, 'ratePerHour must be from 1 to 10000.'],
  ['keepSendersDays', -1, 'keepSendersDays must be from 0 to 30.'],
  ['keepSendersDays', 400, 'keepSendersDays must be from 0 to 30.'],
  ['keepSendersDays', Number.NaN, 'keepSendersDays must be a whole number.'],
])('%s of %d is refused by the rule that it breaks', (key, value, message) => {
  using folder = tempFolder();
  expect(policyIn(folder.path).policy.setSetting(key, value)).toEqual({ ok: false, code: 'invalid', message });
});

test('duplicates merge, rules change in place, a removal can be undone', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  done(policy.addSenders(['@example.org'], { for: 'mail', except: ['bob@example.org'] }));
  done(policy.addSenders(['EXAMPLE.org'], { for: 'messages', subdomains: true, except: ['eve@example.org'] }));
  const rule = { kind: 'domain', value: 'example.org', subdomains: true, for: 'both', on: true, except: ['bob@example.org', 'eve@example.org'] };
  expect(policy.snapshot().senders).toEqual([rule]);
  expect(policy.addSenders(['bob@example.org'])).toMatchObject({ sentence: expect.stringMatching(/stays held back/) });
  done(policy.setSender('example.org', { on: false }));
  expect(policy.allows(mailFrom('ada@example.org'), A)).toBe(false);
  done(policy.removeSenders(['@example.org', 'bob@example.org', 'not@there.example']));
  done(policy.undoRemoval());
  expect(policy.snapshot().senders.map((each) => each.value)).toEqual(['example.org', 'bob@example.org']);
});

test('changes are on disk, told at once, and told without names', () => {
  using folder = tempFolder();
  const { policy, file } = policyIn(folder.path);
  const heard: string[] = [];
  const stop = policy.onChange((kind, sentence) => heard.push(`${kind}: ${sentence}`));
  done(policy.setEvent(MAIL, true));
  done(policy.addSenders(['ada@example.com']));
  done(policy.removeSenders(['ada@example.com']));
  done(policy.setSetting('subjects', false));
  policy.seen(client(A.id), 'secret name');
  done(policy.allowClient(A.id));
  stop();
  done(policy.setEvent(MAIL, false));
  expect(heard).toEqual([
    'events: New mail turned on', 'senders: 1 sender added', 'senders: 1 sender removed', 'settings: subjects set to off', 'clients: null', 'clients: Client allowed',
  ]);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ version: 2, subjects: false, clients: [{ id: A.id, decision: 'always' }] });
});

test('a write that fails is a sentence, and the change is not there', () => {
  using folder = tempFolder();
  const data = folder.at('data');
  mkdirSync(data);
  const { policy } = policyIn(data);
  const heard: string[] = [];
  policy.onChange((kind) => heard.push(kind));
  rmSync(data, { recursive: true });
  for (const outcome of [policy.setEvent(MAIL, true), policy.addSenders(['ada@example.com']), policy.pause(60_000), policy.setSetting('backfill', true)]) {
    expect(outcome).toEqual({ ok: false, code: 'not-written', message: "Couldn't write settings.json: the data folder is gone. Nothing was changed." });
  }
  expect([policy.anyOn(), policy.pausedUntil, policy.backfill, heard]).toEqual([false, null, false, []]);
  mkdirSync(data);
  done(policy.setEvent(MAIL, true));
});

test('a pause is kept over a restart, ends by time and says so', () => {
  using folder = tempFolder();
  const { policy, clock } = policyIn(folder.path);
  done(policy.pause(90_000));
  const later = new HandClock();
  later.pass(30_000);
  const again = policyIn(folder.path, { clock: later }).policy;
  expect(again.pausedUntil).toBe(clock.wall + 90_000);
  const heard: string[] = [];
  again.onChange((kind, sentence) => heard.push(`${kind}: ${sentence}`));
  later.pass(60_000);
  expect([again.pausedUntil, heard]).toEqual([null, ['pause: The pause ended']]);
});

test('rings: the ceiling is the owner’s, and the time it frees is wall time', () => {
  using folder = tempFolder();
  const { policy, clock } = policyIn(folder.path);
  done(policy.setSetting('ratePerHour', 1));
  expect([policy.takeRing(A, 'e1'), policy.takeRing(A, 'e2'), policy.takeRing(A, 'e1'), policy.takeRing(B, 'e2')]).toEqual([true, false, true, true]);
  expect(policy.nextFreeAt(A)).toBe(clock.wall + 3_600_000);
  done(policy.setSetting('ratePerHour', 2));
  expect(policy.takeRing(A, 'e2')).toBe(true);
});

test.each<[Change, boolean]>([
  [{ do: 'set-event', type: MAIL, on: true }, false],
  [{ do: 'set-event', type: 'messages.received', on: true }, true],
  [{ do: 'set-event', type: MAIL, on: false }, false],
  [{ do: 'add-senders', senders: ['x.example'], options: {} }, true],
  [{ do: 'set-sender', sender: 'ada@other.example', patch: { on: false } }, false],
  [{ do: 'set-sender', sender: 'ada@other.example', patch: { on: true } }, true],
  [{ do: 'set-sender', sender: '@example.org', patch: { on: false } }, true],
  [{ do: 'remove-senders', senders: ['ada@other.example'] }, false],
  [{ do: 'remove-senders', senders: ['@Example.org'] }, true],
  [{ do: 'remove-senders', senders: ['@Example.org', 'bob@example.org'] }, false],
  [{ do: 'undo-removal' }, true],
  [{ do: 'add-chats', chats: ['iMessage;+;chat1'] }, false],
  [{ do: 'add-chats', chats: ['iMessage;+;chat1', 'iMessage;+;chat2'] }, true],
  [{ do: 'remove-chats', chats: ['iMessage;+;chat1'] }, false],
  [{ do: 'allow-client', id: A.id, options: {} }, true],
  [{ do: 'deny-client', id: A.id }, false],
  [{ do: 'revoke-client', id: A.id }, false],
  [{ do: 'pause', ms: null }, false],
  [{ do: 'pause', ms: 7_200_000 }, false],
  [{ do: 'pause', ms: 1000 }, true],
  [{ do: 'resume' }, true],
  [{ do: 'set-setting', key: 'subjects', value: true }, false],
  [{ do: 'set-setting', key: 'subjects', value: false }, false],
  [{ do: 'set-setting', key: 'backfill', value: true }, true],
  [{ do: 'set-setting', key: 'ratePerHour', value: 60 }, false],
  [{ do: 'set-setting', key: 'ratePerHour', value: 500 }, true],
  [{ do: 'set-setting', key: 'keepSendersDays', value: 7 }, true],
  [{ do: 'set-setting', key: 'region', value: 'NL' }, true],
  [{ do: 'set-setting', key: 'fetchThroughMail', value: true }, true],
  [{ do: 'set-setting', key: 'fetchThroughMail', value: false }, false],
  [{ do: 'set-setting', key: 'hideCodes', value: false }, true],
  [{ do: 'set-setting', key: 'hideCodes', value: true }, false],
  [{ do: 'set-setting', key: 'askNewClients', value: true }, false],
  [{ do: 'set-setting', key: 'askNewClients', value: false }, true],
])('%j widens: %s', (change, expected) => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  done(policy.setEvent(MAIL, true));
  done(policy.addSenders(['@example.org'], { except: ['bob@example.org'] }));
  done(policy.addSenders(['bob@example.org', 'ada@other.example']));
  done(policy.addChats(['iMessage;+;chat1']));
  done(policy.pause(3_600_000));
  expect(policy.widens(change)).toBe(expected);
});

test('a request waits, once, until the owner answers', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const change: Change = { do: 'set-event', type: MAIL, on: true };
  expect(policy.request(change)).toMatchObject({ ok: true, changed: false });
  policy.request(change);
  const [entry, ...more] = policy.snapshot().waiting;
  expect([entry!.sentence, more]).toEqual(['Turn on New mail', []]);
  expect(policy.anyOn()).toBe(false);
  done(policy.answer(entry!.id, true));
  expect([policy.anyOn(), policy.snapshot().waiting]).toEqual([true, []]);
  expect(policy.answer(entry!.id, true)).toMatchObject({ ok: false, code: 'unknown' });
  policy.request({ do: 'add-senders', senders: ['ada@example.com'], options: {} });
  done(policy.answer(policy.snapshot().waiting[0]!.id, false));
  expect(policy.snapshot().senders).toEqual([]);
  for (const bad of [
    { do: 'add-senders', senders: ['*'], options: {} }, { do: 'allow-client', id: 'cccccccc', options: {} }, { do: 'set-setting', key: 'ratePerHour', value: 1e9 },
  ] as const) expect(policy.request(bad).ok).toBe(false);
  expect(policy.snapshot().waiting).toEqual([]);
});

test('a client in Waiting for you is allowed or denied from there', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  done(policy.setEvent(MAIL, true));
  for (const { id } of [A, B]) {
    policy.seen(client(id), null);
    policy.asks({ id }, MAIL, ['ada@example.com']);
  }
  done(policy.answer(A.id, true, { once: true }));
  done(policy.answer(B.id, false));
  expect([policy.gate(A, MAIL), policy.gate(B, MAIL), policy.snapshot().waiting]).toEqual(['open', 'refused', []]);
});

test('chats are rules: everyone who writes there, until they are removed', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  done(policy.addChats(['iMessage;+;chat1', 'iMessage;+;chat1']));
  expect(policy.snapshot().chats).toEqual(['iMessage;+;chat1']);
  expect(policy.allows(messageFrom('eve@x.example', 'iMessage;+;chat1'), A)).toBe(true);
  expect(policy.addChats(['iMessage;+;chat1'])).toMatchObject({ ok: true, changed: false });
  done(policy.removeChats(['iMessage;+;chat1', 'other']));
  expect(policy.allows(messageFrom('eve@x.example', 'iMessage;+;chat1'), A)).toBe(false);
  expect(policy.removeChats(['iMessage;+;chat1'])).toMatchObject({ ok: false, code: 'nothing' });
});

test('an export holds rules, events and plain settings, and comes back the same; clients stay out of it and as they are', () => {
  using folder = tempFolder();
  using other = tempFolder();
  const { policy } = policyIn(folder.path);
  for (const outcome of [
    policy.setEvent(MAIL, true), policy.addSenders(['@example.org'], { except: ['bob@example.org'] }), policy.addChats(['iMessage;+;chat1']),
    policy.setMailboxes(['u1/inbox']), policy.setSetting('subjects', false), policy.setSetting('ratePerHour', 60), policy.setSetting('region', 'NL'),
  ]) done(outcome);
  policy.seen(client(A.id), 'secret');
  done(policy.allowClient(A.id));
  const json = policy.exportSettings();
  expect(Object.keys(JSON.parse(json) as object).sort()).toEqual(
    ['backfill', 'chats', 'events', 'indexOnBattery', 'keepSendersDays', 'mailboxes', 'ratePerHour', 'region', 'senders', 'subjects', 'version']);

  const { policy: second } = policyIn(other.path);
  second.seen(client(B.id), null);
  done(second.allowClient(B.id));
  const heard: string[] = [];
  second.onChange((kind, sentence) => heard.push(`${kind}: ${sentence}`));
  expect(second.importSettings(json)).toEqual({ ok: true, changed: true, sentence: 'Imported 1 sender and 1 chat.' });
  expect(second.exportSettings()).toBe(json);
  expect(second.snapshot().clients.map(({ id, decision }) => [id, decision])).toEqual([[B.id, 'always']]);
  expect(heard).toEqual(['events: null', 'senders: null', 'settings: Settings imported']);
});

test.each([
  ['{', /it is not JSON/],
  ['{"version":9}', /written by a newer Belfry \(version 9\)/],
  ['{"version":1,"clients":[]}', /unknown key "clients"/],
  ['{"version":1,"senders":[{"kind":"address","value":""}]}', /senders\[0\]\.value/],
] as const)('an import of %s is refused with a sentence, and changes nothing', (json, reason) => {
  using folder = tempFolder();
  const { policy, file } = policyIn(folder.path);
  done(policy.addSenders(['ada@example.com']));
  const before = readFileSync(file, 'utf8');
  const outcome = policy.importSettings(json);
  expect(outcome).toMatchObject({ ok: false, code: 'invalid', message: expect.stringMatching(reason) });
  expect(readFileSync(file, 'utf8')).toBe(before);
});

test('reset removes senders, chats and clients; clients are asked about again', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  for (const outcome of [policy.setEvent(MAIL, true), policy.addSenders(['ada@example.com']), policy.addChats(['iMessage;+;chat1'])]) done(outcome);
  policy.seen(client(A.id), null);
  done(policy.allowClient(A.id));
  done(policy.reset());
  expect([policy.snapshot().senders, policy.snapshot().chats, policy.gate(A, MAIL), policy.eventOn(MAIL)]).toEqual([[], [], 'approval', true]);
  expect(policy.undoRemoval()).toMatchObject({ ok: false, code: 'nothing' });
});
