import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tempFolder } from '../testing/temp.ts';
import type { Outcome } from './change.ts';
import type { Policy } from './policy.ts';
import { Sealer } from './seal.ts';
import { SettingsStore } from './settings-store.ts';
import { hashOf } from './secret.ts';
import { client, policyIn } from './testing.ts';

const DAY = 86_400_000;

function tokenOf(outcome: Outcome): string {
  if (!outcome.ok || outcome.token === undefined) throw new Error(JSON.stringify(outcome));
  return outcome.token;
}
const create = (policy: Policy, label = 'CI', options = {}) => tokenOf(policy.change({ do: 'create-token', label, options }));

test('a token is 32 random bytes, and the settings hold its hash and nothing of it', () => {
  using folder = tempFolder();
  const { policy, file } = policyIn(folder.path);
  const [one, two] = [create(policy, 'CI'), create(policy, 'Laptop')];
  expect(one).toMatch(/^belfry_[\w-]{43}$/);
  expect(two).not.toBe(one);
  const text = readFileSync(file, 'utf8');
  expect(text).not.toContain(one.slice('belfry_'.length, 'belfry_'.length + 12));
  expect((JSON.parse(text) as { tokens: unknown[] }).tokens).toMatchObject([{ hash: hashOf(one), usedOn: null }, { hash: hashOf(two), usedOn: null }]);
});

test('it is one client of the owner, with its own grants, and holds after a restart', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const token = create(policy, 'CI', { events: ['mail.received'], senders: ['Ada <Ada@Example.com>'], grants: ['mail', 'mail:everything'] });
  const { policy: next } = policyIn(folder.path);
  const credential = next.credentials.credentialOf(token)!;
  expect(credential).toEqual({ identity: { id: expect.stringMatching(/^[0-9a-f]{8}$/), display: 'Token "CI"', persistable: true, signed: false, process: null, by: 'token' }, label: 'CI', shown: { hash: hashOf(token), family: null } });
  const { id } = credential.identity;
  next.setEvent('mail.received', true);
  next.setEvent('messages.received', true);
  expect([next.gate({ id }, 'mail.received'), next.gate({ id }, 'messages.received')]).toEqual(['open', 'refused']);
  expect(next.snapshot().clients).toMatchObject([{ id, by: 'token', label: 'CI', decision: 'always', events: ['mail.received'], senders: ['ada@example.com'], grants: ['mail:everything'] }]);
  expect(next.snapshot().tokens).toMatchObject([{ kind: 'token', id, label: 'CI' }]);
});

test.each(['', 'belfry_', 'belfry_x', `belfry_${'A'.repeat(43)}`, `belfry_at_${'A'.repeat(43)}`, '\0'])('nobody holds %j', (token) => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  create(policy);
  expect(policy.credentials.credentialOf(token)).toBeNull();
});

test('a token that differs in one character, or in case, is nobody\'s', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const token = create(policy);
  const last = token.at(-1)!;
  for (const other of [token.slice(0, -1), `${token}A`, `${token.slice(0, -1)}${last === 'A' ? 'B' : 'A'}`, token.toUpperCase(), ` ${token}`]) {
    expect(policy.credentials.credentialOf(other)).toBeNull();
  }
});

test('revoking the token refuses its client, and revoking the client takes the token', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  for (const how of ['revoke-token', 'revoke-client', 'deny-client'] as const) {
    const token = create(policy);
    const { id } = policy.credentials.credentialOf(token)!.identity;
    expect(policy.change({ do: how, id })).toMatchObject({ ok: true, sentence: expect.stringMatching(/not allowed|no longer allowed/) });
    expect(policy.credentials.credentialOf(token)).toBeNull();
    expect(policy.isDenied({ id })).toBe(true);
    expect(policy.snapshot().tokens).toEqual([]);
    // Nobody could show it any more, so it is not in the way of the next start.
    expect(policy.allowClient(id)).toMatchObject({ ok: false, code: 'refused', message: expect.stringMatching(/is gone/) });
  }
  const { policy: next } = policyIn(folder.path);
  expect(next.snapshot().clients).toEqual([]);
});

test('what is no token is not revoked as one', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  policy.seen(client('0123abcd'), 'cursor');
  policy.allowClient('0123abcd');
  expect(policy.change({ do: 'revoke-token', id: '0123abcd' })).toEqual({ ok: false, code: 'unknown', message: 'No token has the id "0123abcd". "belfry tokens list" shows the ids.' });
  expect(policy.isDenied({ id: '0123abcd' })).toBe(false);
});

test('its last use is known by the day, and a day that cannot be written refuses nobody', () => {
  using folder = tempFolder();
  const { policy, clock, file } = policyIn(folder.path);
  const token = create(policy);
  const day = () => policy.snapshot().tokens[0]!.usedOn;
  expect(day()).toBeNull();
  policy.credentials.credentialOf(token);
  const first = day()!;
  expect(first % DAY).toBe(0);
  expect(clock.now() - first).toBeLessThan(DAY);
  const written = readFileSync(file, 'utf8');
  policy.credentials.credentialOf(token);
  expect(readFileSync(file, 'utf8')).toBe(written);
  clock.pass(DAY);
  policy.credentials.credentialOf(token);
  expect(day()).toBe(first + DAY);
  // A folder where the settings belong: nothing can be written.
  rmSync(file);
  mkdirSync(file);
  clock.pass(DAY);
  for (let at = 0; at < 3; at++) expect(policy.credentials.credentialOf(token)).not.toBeNull();
  expect(day()).toBe(first + DAY);
});

test.each<[string, object, RegExp]>([
  ['', {}, /needs a name/],
  ['\u202e \n', {}, /needs a name/],
  ['CI', { once: true }, /cannot be allowed once/],
  ['CI', { senders: ['not a sender'] }, /not a sender/],
  ['CI', { senders: [] }, /Name at least one sender/],
])('%j %j is refused and changes nothing', (label, options, says) => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const change = { do: 'create-token', label, options } as const;
  expect(policy.change(change)).toMatchObject({ ok: false, code: 'invalid', message: expect.stringMatching(says) });
  expect(policy.request(change)).toMatchObject({ ok: false, code: 'invalid' });
  expect(policy.snapshot().tokens).toEqual([]);
});

test('a token that a program asks for waits, and only the owner\'s answer tells it', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const change = { do: 'create-token', label: 'CI\u202e', options: { grants: ['mail'] } } as const;
  expect(policy.widens(change)).toBe(true);
  const asked = policy.request(change);
  expect(asked).toMatchObject({ ok: true, changed: false });
  expect(JSON.stringify(asked)).not.toContain('belfry_');
  const [waiting] = policy.snapshot().waiting;
  expect(waiting).toMatchObject({ kind: 'change', sentence: 'Make a token "CI", to read mail from allowed senders' });
  const token = tokenOf(policy.answer(waiting!.id, true));
  expect(policy.credentials.credentialOf(token)).not.toBeNull();
  expect(policy.snapshot().waiting).toEqual([]);
});

test('its name and its secret are in no sentence for Activity', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const said: (string | null)[] = [];
  policy.onChange((_, sentence) => said.push(sentence));
  const token = create(policy, 'Ada');
  policy.change({ do: 'revoke-token', id: policy.credentials.credentialOf(token)!.identity.id });
  expect(said).toEqual(['Token made', 'Client revoked']);
});

test('an export carries no token, and a reset leaves none', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const token = create(policy);
  expect(policy.exportSettings()).not.toContain(hashOf(token));
  policy.reset();
  expect(policy.credentials.credentialOf(token)).toBeNull();
  expect(policy.snapshot()).toMatchObject({ tokens: [], clients: [] });
});

test('a token that another program wrote into sealed settings turns everything off, and lets nobody in', () => {
  using folder = tempFolder();
  const file = folder.at('settings.json');
  let last: number | null = null;
  const sealer = () => new Sealer(Buffer.alloc(32, 7).toString('base64'), { last: () => last, keep: (counter) => void (last = counter) });
  const { policy } = policyIn(folder.path, { settings: new SettingsStore(file, 0, sealer()) });
  const token = create(policy);
  expect(policyIn(folder.path, { settings: new SettingsStore(file, 0, sealer()) }).policy.credentials.credentialOf(token)).not.toBeNull();
  const settings = JSON.parse(readFileSync(file, 'utf8')) as { tokens: object[] };
  const own = `belfry_${'B'.repeat(43)}`;
  writeFileSync(file, JSON.stringify({ ...settings, tokens: [{ ...settings.tokens[0], hash: hashOf(own) }] }));
  const { policy: next } = policyIn(folder.path, { settings: new SettingsStore(file, 0, sealer()) });
  expect([next.seal, next.credentials.credentialOf(own), next.credentials.credentialOf(token)]).toEqual(['broken', null, null]);
});

test('what is no hash makes the settings broken, and nobody holds anything', () => {
  using folder = tempFolder();
  const { policy, file } = policyIn(folder.path);
  const token = create(policy);
  const settings = JSON.parse(readFileSync(file, 'utf8')) as { tokens: object[] };
  writeFileSync(file, JSON.stringify({ ...settings, tokens: [{ ...settings.tokens[0], hash: 'x' }] }));
  const { policy: next } = policyIn(folder.path);
  expect(next.credentials.credentialOf(token)).toBeNull();
  expect(next.snapshot().sentence).toMatch(/tokens\[0\]\.hash: must be a SHA-256 hash/);
});
