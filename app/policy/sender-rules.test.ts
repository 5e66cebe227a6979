import { expect, test } from 'vitest';
import type { SenderRule } from './settings.ts';
import { holdsBack, parsedEntry, SenderRules } from './sender-rules.ts';
import { mailFrom, messageFrom } from './testing.ts';

const rule = (value: string, more: Partial<SenderRule> = {}): SenderRule => ({
  kind: parsedEntry(value, false)?.kind ?? 'address', value, subdomains: false, for: 'both', on: true, except: [], ...more,
});
const org = (more: Partial<SenderRule> = {}) => rule('example.org', more);
const phone = '+31612345678';

test.each<[string, SenderRule[], ReturnType<typeof mailFrom>, boolean]>([
  ['no rules', [], mailFrom('ada@example.org'), false],
  ['an empty sender', [org({ subdomains: true })], mailFrom(''), false],
  ['an address', [rule('ada@example.org')], mailFrom('ada@example.org'), true],
  ['another address', [rule('ada@example.org')], mailFrom('bob@example.org'), false],
  ['a domain', [org()], mailFrom('bob@example.org'), true],
  ['a domain is exact', [org()], mailFrom('bob@mail.example.org'), false],
  ['subdomains', [org({ subdomains: true })], mailFrom('bob@a.b.example.org'), true],
  ['subdomains and the domain itself', [org({ subdomains: true })], mailFrom('bob@example.org'), true],
  ['whole labels only', [org({ subdomains: true })], mailFrom('bob@badexample.org'), false],
  ['subdomains for messages too', [org({ subdomains: true })], messageFrom('bob@x.example.org'), true],
  ['off', [org({ on: false })], mailFrom('bob@example.org'), false],
  ['for mail, a message', [org({ for: 'mail' })], messageFrom('bob@example.org'), false],
  ['for messages, a mail', [org({ for: 'messages' })], mailFrom('bob@example.org'), false],
  ['a number', [rule(phone)], messageFrom(phone), true],
  ['a short code', [rule('12345')], messageFrom('12345'), true],
  ['IDN', [rule('xn--bcher-kva.example')], mailFrom('ada@xn--bcher-kva.example'), true],
  ['IDN by hand', [rule('bücher.example', { kind: 'domain' })], mailFrom('ada@xn--bcher-kva.example'), true],
  ['an exception', [org({ except: ['bob@example.org'] })], mailFrom('bob@example.org'), false],
  ['beside the exception', [org({ except: ['bob@example.org'] })], mailFrom('ada@example.org'), true],
  ['an exception beats an address', [org({ except: ['bob@example.org'] }), rule('bob@example.org')], mailFrom('bob@example.org'), false],
  ['an exception of a rule that is off', [org({ on: false, except: ['bob@example.org'] }), rule('bob@example.org')], mailFrom('bob@example.org'), true],
  ['an exception for the other store', [org({ for: 'messages', except: ['bob@example.org'] }), rule('bob@example.org')], mailFrom('bob@example.org'), true],
  ['a domain as exception, and below', [org({ subdomains: true, except: ['news.example.org'] })], mailFrom('a@x.news.example.org'), false],
  ['an exception that cannot be read turns its rule off', [org({ except: ['*'] })], mailFrom('ada@example.org'), false],
  ['a rule that cannot be read', [rule('*')], mailFrom('*'), false],
])('%s', (_what, rules, occurrence, allowed) => {
  expect(new SenderRules(rules, []).allows(occurrence)).toBe(allowed);
});

test('chats are rules by guid; an exception beats them', () => {
  const rules = new SenderRules([org({ except: ['bob@example.org'] })], ['chat;1']);
  expect(rules.ruleFor(messageFrom('someone@else.example', 'chat;1'))).toEqual({ chat: 'chat;1' });
  expect(rules.allows(messageFrom('someone@else.example', 'chat;2'))).toBe(false);
  expect(rules.allows(messageFrom('bob@example.org', 'chat;1'))).toBe(false);
});

test.each<[string, boolean, boolean]>([
  ['ada@example.org', false, true],
  ['bob@example.org', false, false],
  ['example.org', false, true],
  ['example.org', true, true],
  ['below.example.org', true, true],
  ['other.org', false, false],
])('covers %s (subdomains %s): %s', (entry, subdomains, covered) => {
  const rules = new SenderRules([org({ subdomains: true, except: ['bob@example.org'] })], []);
  expect(rules.covers('mail.received', parsedEntry(entry, subdomains)!)).toBe(covered);
});

test.each<[string[], SenderRule, boolean]>([
  [[], rule('bob@example.org'), false],
  [['bob@example.org'], rule('bob@example.org'), true],
  [['bob@example.org'], rule('bob@example.org', { on: false }), false],
  [['bob@example.org'], rule('example.org'), true],
  [['bob@x.example.org'], rule('example.org'), false],
  [['bob@x.example.org'], rule('example.org', { subdomains: true }), true],
  [['example.org'], rule('x.example.org'), true],
  [['bob@example.org'], rule('ada@example.org'), false],
])('exceptions %j hold back %j', (except, other, expected) => {
  expect(holdsBack(org({ except }), other)).toBe(expected);
});

test('a look-up does not grow with the number of rules', () => {
  const rules = new SenderRules(Array.from({ length: 10_000 }, (_, at) => rule(`a${at}@example.org`)), []);
  const started = process.threadCpuUsage();
  for (let at = 0; at < 20_000; at++) rules.allows(mailFrom('nobody@elsewhere.example'));
  // The work of this thread alone, whatever else runs.
  expect(process.threadCpuUsage(started).user / 1000).toBeLessThan(500);
});
