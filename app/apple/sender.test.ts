import { describe, expect, test } from 'vitest';
import { buildSenderSet, domainOf, isSharedDomain, matches, normaliseAddress, normaliseHandle, parseSender, regionFromLocale } from './sender.ts';

const parsed = (text: string, region: string | null) => {
  const result = parseSender(text, region);
  return result.ok ? `${result.kind} ${result.value}` : null;
};

// ui.md, Senders.
test.each([
  ['ada@example.com', null, 'address ada@example.com'],
  ['  ADA@Example.COM\n', null, 'address ada@example.com'],
  ['Ada <ada@example.com>', null, 'address ada@example.com'],
  ['"Lovelace, Ada <x>" <ada@example.com>', null, 'address ada@example.com'],
  ['<ada@example.com>', null, 'address ada@example.com'],
  ['ada+list@example.com', null, 'address ada+list@example.com'],
  ["o'brien@example.com", null, "address o'brien@example.com"],
  ['ada@Bücher.example', null, 'address ada@xn--bcher-kva.example'],
  ['@example.org', null, 'domain example.org'],
  ['example.org', null, 'domain example.org'],
  ['Example.ORG.', null, 'domain example.org'],
  ['bücher.example', null, 'domain xn--bcher-kva.example'],
  ['XN--BCHER-KVA.example', null, 'domain xn--bcher-kva.example'],
  ['gmail.com', null, 'domain gmail.com'],
  ['+1 555 010 1234', null, 'phone +15550101234'],
  ['+15550100', null, 'phone +15550100'],
  ['+1 (555) 010-1234', 'DE', 'phone +15550101234'],
  ['+44 (0)20 7946 0958', null, 'phone +442079460958'],
  ['020 7946 0958', 'GB', 'phone +442079460958'],
  ['0044 20 7946 0958', 'DE', 'phone +442079460958'],
  ['(555) 010-1234', 'US', 'phone +15550101234'],
  ['4155552671', 'US', 'phone +14155552671'],
  ['19565179045', 'US', 'phone +19565179045'],
  ['0151 23456789', 'DE', 'phone +4915123456789'],
  ['123', null, 'code 123'],
  ['39781', 'US', 'code 39781'],
  ['12345678', 'US', 'code 12345678'],
  ['20123456', 'DK', 'phone +4520123456'],
  ['20 12 34 56', 'DK', 'phone +4520123456'],
] as const)('%j with region %s is %s', (text, region, value) => {
  expect(parsed(text, region)).toBe(value);
});

test.each([
  '', '   ', '*', '@', '*@example.org', '*.example.org', 'bob@', '@bob', 'bob', 'Ada Lovelace', 'MYBANK', 'urn:biz:1', 'a@b@c.org', 'ada@localhost',
  'ada@example.com, bob@example.com', 'ada @example.com', 'Ada <ada@example.com> x', 'Ada <+15550101234>', 'http://example.org', 'example.org/x', 'ada@[127.0.0.1]',
  '127.0.0.1', '0x7f.1', 'example..org', '-example.org', '.example.org', 'exa mple.org', 'ex%61mple.org', '12', '1', '+', '+1', '+0123456789', '+1+5550101234', '+1234567890123456',
  '4155552671', '12345678901234567890', 'ada@example.com\u0000', 'ada\u202e@example.com', 'exam\u200bple.org', '\u2066example.org', 'a\tb@example.org', 'ada@exa\ud800mple.org',
  `${'a'.repeat(65)}@example.org`, `ada@${'a'.repeat(64)}.org`, `ada@${'abcdefghi.'.repeat(26)}org`, 'a'.repeat(600),
])('%j is refused with a sentence', (text) => {
  const result = parseSender(text, null);
  expect(result.ok).toBe(false);
  if (!result.ok) {
    expect(result.reason).toMatch(/^[A-Z].{5,}/);
    if (text.trim().length > 3) expect(result.reason).not.toContain(text.trim());
  }
});

test('a region that is none reads like no region', () => {
  expect(parsed('4155552671', 'ZZ')).toBeNull();
  expect(parsed('4155552671', 'us')).toBe('phone +14155552671');
});

test.each([
  ['bücher.example', 'bücher.example (xn--bcher-kva.example)'],
  ['example.org', 'example.org'],
  ['ada@Bücher.example', 'ada@bücher.example (ada@xn--bcher-kva.example)'],
  ['+1 555 010 1234', '+1 555 010 1234'],
])('%j is shown as %s', (text, display) => {
  expect(parseSender(text, null)).toMatchObject({ display });
});

// data-formats/chat-db 6; peers 55, 56.
test.each([
  ['+15550100', null, '+15550100'],
  ['+442079460958', 'US', '+442079460958'],
  ['Ada@Example.COM', null, 'ada@example.com'],
  ['39781', 'US', '39781'],
  ['39781(smsft_fi)', null, '39781'],
  ['+15550100(smsfp)', null, '+15550100'],
  ['+15550100 (filtered)', null, '+15550100'],
  ['mybank(smsft)', null, 'mybank'],
  ['MYBANK', null, 'mybank'],
  ['urn:biz:6C2F', null, 'urn:biz:6c2f'],
  ['e:me@example.org', null, 'me@example.org'],
  ['P:+15550199', null, '+15550199'],
  ['19565179045', null, '+19565179045'],
  ['447911123456', 'DE', '+447911123456'],
  ['4155552671', 'US', '+14155552671'],
  ['4155552671', null, '4155552671'],
  ['015123456789', 'DE', '+4915123456789'],
  ['15550101234', 'US', '+15550101234'],
  ['', null, ''],
] as const)('handle %j with region %s is %j', (text, region, value) => {
  expect(normaliseHandle(text, region)).toBe(value);
});

test('what an owner types is what a store holds', () => {
  for (const [typed, stored, region] of [
    ['(415) 555-2671', '+14155552671', 'US'], ['19565179045', '19565179045', 'US'], ['020 7946 0958', '442079460958', 'GB'], ['20123456', '20123456', 'DK'],
    ['Ada <ADA@example.com>', 'ada@example.com', null], ['39781', '39781(smsft)', null],
  ] as const) {
    const entry = parseSender(typed, region);
    expect(entry.ok && entry.value).toBe(normaliseHandle(stored, region));
  }
});

test('10,000 handles are parsed once', () => {
  const handles = Array.from({ length: 10_000 }, (_, i) => `+4420794${String(i).padStart(5, '0')}`);
  // The work of this thread alone, whatever else runs.
  const work = () => {
    const started = process.threadCpuUsage();
    for (const handle of handles) normaliseHandle(handle, 'GB');
    return process.threadCpuUsage(started).user;
  };
  const first = work();
  expect(work()).toBeLessThan(first / 5);
});

test.each([
  ['Ada@Example.COM', 'ada@example.com'],
  [' ada@BÜCHER.example ', 'ada@xn--bcher-kva.example'],
  ['ÄDA@example.org', 'äda@example.org'],
  ['not an address', 'not an address'],
  ['grüße', 'grüße'],
  ['a@ü%.example', 'a@ü%.example'],
])('address %j is compared as %s', (text, value) => {
  expect(normaliseAddress(text)).toBe(value);
});

test.each([
  ['ada@example.org', 'example.org'], ['ada@BÜCHER.example', 'xn--bcher-kva.example'], ['"a@b"@Example.org', 'example.org'],
  ['+15550100', null], ['ada@', null], ['', null], ['39781', null],
])('domain of %j is %s', (address, domain) => {
  expect(domainOf(address)).toBe(domain);
});

describe('matching', () => {
  const set = buildSenderSet([
    { kind: 'address', value: 'ada@example.com', subdomains: false }, { kind: 'address', value: 'ada@example.com', subdomains: true },
    { kind: 'phone', value: '+15550100', subdomains: false }, { kind: 'code', value: '39781', subdomains: false },
    { kind: 'domain', value: 'example.org', subdomains: false }, { kind: 'domain', value: 'xn--bcher-kva.example', subdomains: true },
  ]);
  test.each([
    ['ada@example.com', true], ['bob@example.com', false], ['+15550100', true], ['+15550101', false], ['39781', true], ['397', false],
    ['x@example.org', true], ['x@mail.example.org', false], ['x@notexample.org', false], ['x@org', false], ['example.org', false],
    ['x@xn--bcher-kva.example', true], ['x@a.b.xn--bcher-kva.example', true], ['x@axn--bcher-kva.example', false], ['x@example', false], ['', false],
  ])('%s: %s', (sender, expected) => {
    expect(matches(set, sender)).toBe(expected);
  });
  test('nothing matches nothing', () => {
    expect(matches(buildSenderSet([]), 'ada@example.com')).toBe(false);
    expect(set.addresses.size).toBe(3);
  });
});

// Ruling 13; peers 55 for the region keyword.
test.each([
  [{ LANG: 'en_US.UTF-8' }, 'US'], [{ LC_ALL: 'de_AT', LANG: 'en_US.UTF-8' }, 'AT'], [{ LC_ALL: 'C', LANG: 'de_DE@euro' }, 'DE'], [{ LC_ALL: '', LANG: 'zh-Hans-CN' }, 'CN'],
  [{ LANG: 'en_US@rg=frzzzz' }, 'FR'], [{ LANG: 'C.UTF-8' }, null], [{ LANG: 'POSIX' }, null], [{ LANG: 'es_419' }, null], [{ LANG: 'eo' }, null], [{}, null],
] as const)('locale %j is in %s', (env, region) => {
  expect(regionFromLocale(env)).toBe(region);
});

test.each([['gmail.com', true], ['iCloud.com', true], ['outlook.com', true], ['yahoo.co.nz', true], ['hotmail.se', true], ['example.org', false], ['mail.example.org', false], ['yahoo.example.com', false]])(
  '%s is shared: %s',
  (domain, shared) => expect(isSharedDomain(domain)).toBe(shared),
);
