import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { tempFolder } from '../testing/temp.ts';
import type { Policy } from './policy.ts';
import type { SignInAsk, SignInEnd, SignInRefusal } from './sign-ins.ts';
import { hashOf } from './secret.ts';
import { policyIn, type HandClock } from './testing.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const program = (clientId = 'program-1', name = 'my-agent') => ({ clientId, name, redirects: ['http://127.0.0.1:3000/callback'] });

const tryToAsk = (policy: Policy, registration = program(), ended: (how: SignInEnd) => void = () => undefined) =>
  policy.signIns.ask(registration, { host: '127.0.0.1:3000', grants: ['mail'] }, ended);
/** Asks and notes how it ended. */
function ask(policy: Policy, registration = program()): { ends: SignInEnd[]; asked: SignInAsk } {
  const ends: SignInEnd[] = [];
  const asked = tryToAsk(policy, registration, (how) => ends.push(how));
  if (typeof asked === 'string') throw new Error(`Refused: ${asked}`);
  return { ends, asked };
}
function signedIn(policy: Policy, registration = program(), options = {}) {
  const { asked } = ask(policy, registration);
  expect(policy.answer(asked.id, true, options)).toMatchObject({ ok: true });
  return { ...policy.signIns.begin(asked.client)!, client: asked.client };
}

test('a request stands in Waiting for you with name, host and a code of four digits, and grants nothing', () => {
  using folder = tempFolder();
  const { policy, clock } = policyIn(folder.path);
  const kinds: string[] = [];
  policy.onChange((kind) => kinds.push(kind));
  const { asked, ends } = ask(policy, program('p', 'my-\u202eagent'));
  expect(asked.code).toMatch(/^\d{4}$/);
  expect(asked.id).toMatch(/^[0-9a-f]{8}$/);
  expect(asked.id).not.toBe(asked.client);
  expect(policy.snapshot().waiting).toEqual([{
    kind: 'sign-in', id: asked.id, client: asked.client, since: clock.now(), name: 'my-agent', host: '127.0.0.1:3000', code: asked.code, expiresAt: clock.now() + 10 * MINUTE,
    grants: ['mail'], sentence: '"my-agent" asks to sign in.',
  }]);
  expect(kinds).toEqual(['waiting', 'notice']);
  expect(ends).toEqual([]);
  expect(policy.signIns.begin(asked.client)).toBeNull();
});

test('a name cannot speak for Belfry', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  ask(policy, program('p', 'Claude" asks to sign in. Code 7777: "x'));
  expect(policy.snapshot().waiting[0]!.sentence).toBe('"Claude asks to sign in. Code 7777: x" asks to sign in.');
});

test('three wait at most, with codes of their own; a place is free once one was answered', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const three = [1, 2, 3].map((each) => ask(policy, program(`p${each}`)).asked);
  expect(new Set(three.map(({ code }) => code)).size).toBe(3);
  expect(tryToAsk(policy, program('p4'))).toBe('full');
  policy.answer(three[0]!.id, false);
  ask(policy, program('p4'));
});

test('ten minutes, then nobody allowed it', () => {
  using folder = tempFolder();
  const { policy, clock } = policyIn(folder.path);
  const { asked, ends } = ask(policy);
  clock.pass(10 * MINUTE - 1);
  expect(ends).toEqual([]);
  clock.pass(1);
  expect(ends).toEqual(['expired']);
  expect(policy.snapshot().waiting).toEqual([]);
  expect(policy.answer(asked.id, true)).toMatchObject({ ok: false, code: 'unknown' });
});

test('while a request waits, another one of the same program is not asked, and the first is as it was', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const first = ask(policy);
  const shown = policy.snapshot().waiting;
  for (let at = 0; at < 100; at++) expect(tryToAsk(policy)).toBe('waits');
  expect(policy.snapshot().waiting).toEqual(shown);
  expect(first.ends).toEqual([]);
  policy.answer(first.asked.id, true);
  expect(first.ends).toEqual(['allowed']);
});

test('an answer is to one request: it says nothing of the next one of the same program', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const first = ask(policy);
  policy.answer(first.asked.id, false);
  const second = ask(policy);
  expect([second.asked.client, second.asked.id === first.asked.id]).toEqual([first.asked.client, false]);
  for (const id of [first.asked.id, first.asked.client]) expect(policy.answer(id, true)).toEqual({ ok: false, code: 'unknown', message: 'This request is no longer waiting.' });
  expect(second.ends).toEqual([]);
  expect(policy.snapshot().clients).toEqual([]);
});

describe('by command, a request is allowed by the code of its page', () => {
  const other = (code: string) => String((Number(code) + 1) % 10_000).padStart(4, '0');
  test.each<[string, (asked: SignInAsk) => [id: string, code: string | undefined], object]>([
    ['without a code', ({ id }) => [id, undefined], { ok: false, code: 'invalid', message: expect.stringMatching(/^This is a sign-in: add --code/) }],
    ['with another code', ({ id, code }) => [id, other(code)], { ok: false, code: 'refused', message: expect.stringMatching(/^This request has another code, so nothing was allowed\./) }],
    ['by the id of the client', ({ client, code }) => [client, code], { ok: false, code: 'unknown', message: expect.stringMatching(/^No sign-in with the id "[0-9a-f]{8}" waits any more\./) }],
    ['with both', ({ id, code }) => [id, code], { ok: true }],
  ])('%s', (_, given, outcome) => {
    using folder = tempFolder();
    const { policy } = policyIn(folder.path);
    const { asked, ends } = ask(policy);
    const [id, code] = given(asked);
    expect(policy.change({ do: 'allow-client', id, options: {}, ...(code !== undefined && { code }) })).toMatchObject(outcome);
    const isAllowed = 'ok' in outcome && outcome.ok === true;
    expect([ends, policy.snapshot().clients.length]).toEqual(isAllowed ? [['allowed'], 1] : [[], 0]);
  });

  test('one that is gone', () => {
    using folder = tempFolder();
    const { policy } = policyIn(folder.path);
    const { asked } = ask(policy);
    policy.answer(asked.id, false);
    expect(policy.allowClient(asked.id, {}, asked.code)).toMatchObject({ ok: false, code: 'unknown', message: expect.stringMatching(/waits any more/) });
    expect(policy.request({ do: 'allow-client', id: asked.id, options: {}, code: asked.code })).toMatchObject({ ok: false, code: 'unknown' });
  });
});

describe('asking again and again', () => {
  /** Asks once more, each time after the one before was refused. */
  function askOften(policy: Policy, times: number, programOf: (at: number) => string): (SignInAsk | SignInRefusal)[] {
    return Array.from({ length: times }, (_, at) => {
      const asked = tryToAsk(policy, program(programOf(at)));
      if (typeof asked !== 'string') policy.answer(asked.id, false);
      return asked;
    });
  }
  const asks = (all: (SignInAsk | SignInRefusal)[]) => all.filter((each): each is SignInAsk => typeof each !== 'string');

  test('six times a minute for a program, and twenty for all of them', () => {
    using folder = tempFolder();
    const { policy, clock } = policyIn(folder.path);
    const one = askOften(policy, 30, () => 'p1');
    expect([asks(one).length, one[6]]).toEqual([6, 'often']);
    expect(asks(askOften(policy, 100, (at) => `p${2 + (at % 10)}`)).length).toBe(14);
    clock.pass(MINUTE - 1);
    expect(tryToAsk(policy, program('p20'))).toBe('often');
    clock.pass(1);
    expect(asks(askOften(policy, 30, () => 'p1')).length).toBe(6);
  });

  test('no code comes again within ten minutes', () => {
    using folder = tempFolder();
    const { policy, clock } = policyIn(folder.path);
    const codes: string[] = [];
    for (let minute = 0; minute < 40; minute++) {
      codes.push(...asks(askOften(policy, 20, (at) => `p${at}`)).map(({ code }) => code));
      clock.pass(MINUTE);
    }
    expect(codes).toHaveLength(800);
    for (let at = 0; at < codes.length; at++) expect(codes.slice(Math.max(0, (Math.floor(at / 20) - 9) * 20), at)).not.toContain(codes[at]);
  });
});

test('denied: nothing is kept, and the answer counts once', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const { asked, ends } = ask(policy);
  expect(policy.denyClient(asked.id)).toEqual({ ok: true, changed: true, sentence: 'Not allowed.' });
  expect(ends).toEqual(['denied']);
  expect(policy.snapshot()).toMatchObject({ clients: [], tokens: [], waiting: [] });
  expect(policy.denyClient(asked.id)).toMatchObject({ ok: false, code: 'unknown' });
});

test('allowed with what the owner chose, not with what was hinted at', () => {
  using folder = tempFolder();
  const { policy, file } = policyIn(folder.path);
  policy.setEvent('mail.received', true);
  const { access, refresh, client } = signedIn(policy, program(), { events: ['mail.received'], senders: ['@example.org'] });
  expect(access).toMatch(/^belfry_at_[\w-]{43}$/);
  expect(refresh).toMatch(/^belfry_rt_[\w-]{22}\.[\w-]{43}$/);
  expect(policy.credentials.credentialOf(access)).toMatchObject({ identity: { id: client, display: 'Sign-in "my-agent"', by: 'sign-in', process: null }, label: 'my-agent' });
  expect(policy.snapshot().clients).toMatchObject([{ id: client, by: 'sign-in', decision: 'always', events: ['mail.received'], senders: ['example.org'], grants: [] }]);
  const text = readFileSync(file, 'utf8');
  for (const secret of [access.slice(10, 24), refresh.slice(10, 24), refresh.split('.')[1]!.slice(0, 14)]) expect(text).not.toContain(secret);
  expect(text).toContain(hashOf(access));
});

test('a sign-in is never for once', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const { asked, ends } = ask(policy);
  expect(policy.answer(asked.id, true, { once: true })).toMatchObject({ ok: false, code: 'refused', message: expect.stringMatching(/cannot be allowed once/) });
  expect(policy.answer(asked.id, true, { senders: ['nobody at all'] })).toMatchObject({ ok: false, code: 'invalid' });
  expect(ends).toEqual([]);
});

test('a program of the socket may refuse a sign-in and not allow it', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const { asked } = ask(policy);
  const allow = { do: 'allow-client', id: asked.id, options: {} } as const;
  expect(policy.widens(allow)).toBe(true);
  expect(policy.request(allow)).toMatchObject({ ok: false, code: 'refused', message: expect.stringMatching(/only the owner can allow it/) });
  expect(policy.snapshot().waiting).toHaveLength(1);
});

test('an access token holds for an hour, across a restart, and no longer', () => {
  using folder = tempFolder();
  const { policy, clock } = policyIn(folder.path);
  const { access } = signedIn(policy);
  const { policy: next } = policyIn(folder.path, { clock });
  clock.pass(3_600_000 - 1);
  expect(next.credentials.credentialOf(access)).not.toBeNull();
  clock.pass(1);
  expect(next.credentials.credentialOf(access)).toBeNull();
});

test('a refresh token gives new ones and is over; the one before it ends the sign-in', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const said: (string | null)[] = [];
  const first = signedIn(policy);
  policy.onChange((_, sentence) => sentence !== null && said.push(sentence));
  const second = policy.signIns.renew(first.refresh, 'program-1')!;
  const third = policy.signIns.renew(second.refresh, 'program-1')!;
  expect(policy.credentials.credentialOf(third.access)).not.toBeNull();
  // Two rotations old: still known as one that was used.
  expect(policy.signIns.renew(first.refresh, 'program-1')).toBeNull();
  expect(policy.signIns.renew(third.refresh, 'program-1')).toBeNull();
  for (const { access } of [first, second, third]) expect(policy.credentials.credentialOf(access)).toBeNull();
  expect(policy.snapshot()).toMatchObject({ tokens: [], clients: [] });
  expect(said).toEqual(['A sign-in was used twice and ended']);
});

test('a refresh token is its program\'s alone, and one that is made up ends nothing', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const { refresh, access } = signedIn(policy);
  expect(policy.signIns.renew(refresh, 'program-2')).toBeNull();
  expect(policy.signIns.renew(`belfry_rt_${'A'.repeat(22)}.${'A'.repeat(43)}`, 'program-1')).toBeNull();
  expect(policy.signIns.renew(access, 'program-1')).toBeNull();
  expect(policy.credentials.credentialOf(access)).not.toBeNull();
  // Of no use as a bearer token.
  expect(policy.credentials.credentialOf(refresh)).toBeNull();
});

test('given back: an access token goes alone, a refresh token takes everything, and only by its own program', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const first = signedIn(policy);
  const second = policy.signIns.renew(first.refresh, 'program-1')!;
  policy.signIns.giveBack(second.access, 'program-2');
  policy.signIns.giveBack(first.access, 'program-1');
  expect([first, second].map(({ access }) => policy.credentials.credentialOf(access) !== null)).toEqual([false, true]);
  policy.signIns.giveBack(second.refresh, 'program-1');
  expect(policy.credentials.credentialOf(second.access)).toBeNull();
  expect(policy.snapshot()).toMatchObject({ tokens: [], clients: [] });
});

test('one that fetched no token within ten minutes is gone, and one that nobody used for thirty days', () => {
  using folder = tempFolder();
  const { policy, clock } = policyIn(folder.path);
  const { asked } = ask(policy);
  policy.answer(asked.id, true);
  clock.pass(10 * MINUTE);
  policy.sweep();
  expect(policy.snapshot()).toMatchObject({ tokens: [], clients: [] });

  const { refresh } = signedIn(policy, program('program-2'));
  clock.pass(29 * DAY);
  policy.sweep();
  const next = policy.signIns.renew(refresh, 'program-2')!;
  clock.pass(30 * DAY - 1);
  policy.sweep();
  expect(policy.snapshot().tokens).toHaveLength(1);
  clock.pass(1);
  policy.sweep();
  expect(policy.snapshot()).toMatchObject({ tokens: [], clients: [] });
  expect(policy.signIns.renew(next.refresh, 'program-2')).toBeNull();
});

test('revoking the client ends its tokens and its registration', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const { client, access, refresh } = signedIn(policy);
  policy.revokeClient(client);
  expect(policy.credentials.credentialOf(access)).toBeNull();
  expect(policy.signIns.renew(refresh, 'program-1')).toBeNull();
  expect(policy.signIns.registered('program-1')).toBeNull();
  expect(policy.isDenied({ id: client })).toBe(true);
});

test.each(['denyClient', 'revokeClient'] as const)('%s of a client refuses what its program asks for just now too', (refuse) => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const { client } = signedIn(policy);
  const { asked, ends } = ask(policy);
  policy[refuse](client);
  expect([ends, policy.snapshot().waiting]).toEqual([['denied'], []]);
  expect(policy.answer(asked.id, true)).toMatchObject({ ok: false, code: 'unknown' });
});

describe('whether what a token opened goes on', () => {
  const shown = (policy: Policy, token: string) => policy.credentials.credentialOf(token)!;

  test.each<[string, goesOn: boolean, happens: (policy: Policy, clock: HandClock, signIn: { access: string; refresh: string }) => void]>([
    ['its hour is over', true, (_policy, clock) => clock.pass(60 * MINUTE)],
    ['it was renewed', true, (policy, _clock, { refresh }) => void policy.signIns.renew(refresh, 'program-1')],
    ['four newer ones took its place', true, (policy, _clock, { refresh }) => {
      for (let at = 0, last = refresh; at < 5; at++) last = policy.signIns.renew(last, 'program-1')!.refresh;
    }],
    ['its program gave it back', false, (policy, _clock, { access }) => policy.signIns.giveBack(access, 'program-1')],
    ['another program gave it back', true, (policy, _clock, { access }) => {
      signedIn(policy, program('program-2'));
      policy.signIns.giveBack(access, 'program-2');
    }],
    ['it was given back after it ran out, and was kept no more', false, (policy, clock, { access, refresh }) => {
      clock.pass(60 * MINUTE);
      policy.signIns.renew(refresh, 'program-1');
      policy.signIns.giveBack(access, 'program-1');
    }],
    ['another token of the sign-in was given back', true, (policy, _clock, { refresh }) => policy.signIns.giveBack(policy.signIns.renew(refresh, 'program-1')!.access, 'program-1')],
    ['the refresh token was given back', false, (policy, _clock, { refresh }) => policy.signIns.giveBack(refresh, 'program-1')],
    ['the program asked to sign in anew', true, (policy) => void ask(policy)],
    ['the program signed in anew', false, (policy) => void signedIn(policy)],
    ['it ran out, was renewed, and then the program signed in anew', false, (policy, clock, { refresh }) => {
      clock.pass(60 * MINUTE);
      policy.signIns.renew(refresh, 'program-1');
      signedIn(policy);
    }],
    ['the owner revoked the client', false, (policy, _clock, { access }) => void policy.revokeClient(shown(policy, access).identity.id)],
  ])('%s: %s', (_, goesOn, happens) => {
    using folder = tempFolder();
    const { policy, clock } = policyIn(folder.path);
    const signIn = signedIn(policy);
    const credential = shown(policy, signIn.access);
    expect(policy.credentials.holds(credential)).toBe(true);
    const told: (string | null)[] = [];
    policy.onChange((kind) => kind === 'clients' && told.push(kind));
    happens(policy, clock, signIn);
    expect(policy.credentials.holds(credential)).toBe(goesOn);
    // Whoever looks after what is open is told at once.
    if (!goesOn) expect(told).not.toEqual([]);
  });

  test('of a token that the owner made: until it is revoked', () => {
    using folder = tempFolder();
    const { policy } = policyIn(folder.path);
    const { token } = policy.change({ do: 'create-token', label: 'CI', options: {} }) as { token: string };
    const credential = shown(policy, token);
    expect(policy.credentials.holds(credential)).toBe(true);
    policy.revokeClient(credential.identity.id);
    expect(policy.credentials.holds(credential)).toBe(false);
  });
});

test('signing in again is asked again; denied, it leaves what was allowed before', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const { client, access } = signedIn(policy, program(), { grants: ['mail'] });
  const again = ask(policy);
  expect(again.asked.client).toBe(client);
  policy.denyClient(again.asked.id);
  expect(policy.credentials.credentialOf(access)).not.toBeNull();
  const next = signedIn(policy);
  expect(policy.credentials.credentialOf(access)).toBeNull();
  expect(policy.credentials.credentialOf(next.access)).not.toBeNull();
  expect(policy.snapshot().clients).toMatchObject([{ id: client, grants: [] }]);
});
