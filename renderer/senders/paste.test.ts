import { describe, expect, test } from 'vitest';
import type { EntryCheck } from '../../app/contract/values.ts';
import { hasDomain, readPaste, typedEntry, withEntry, type Paste } from './paste.ts';

const entry = (text: string, kind: 'address' | 'domain' | 'phone' | 'code', value = text, shared = false): EntryCheck => ({ ok: true, text, kind, value, shared });
const refused = (text: string): EntryCheck => ({ ok: false, text, reason: 'Not an address, domain or number' });
const values = (paste: Paste) => paste.senders.map(({ value }) => value);
const context = { rules: [], confirmed: new Set<string>(), for: 'both' } as const;

describe('the parsing table', () => {
  test('one refused entry takes nothing from the others', () => {
    const paste = readPaste([entry('ada@example.com', 'address'), refused('bob@'), entry('@example.org', 'domain', 'example.org')], context);
    expect(paste.lines.map(({ text, state, words }) => [text, state, words])).toEqual([
      ['ada@example.com', 'ok', 'Address'],
      ['bob@', 'refused', 'Not an address, domain or number'],
      ['@example.org', 'ok', 'Domain'],
    ]);
    expect(values(paste)).toEqual(['ada@example.com', 'example.org']);
    expect(hasDomain(paste.senders)).toBe(true);
  });

  test('duplicates are one line', () => {
    const paste = readPaste([entry('Ada <ada@example.com>', 'address', 'ada@example.com'), entry('ADA@example.com', 'address', 'ada@example.com'), refused('x'), refused('x')], context);
    expect(paste.lines).toHaveLength(2);
    expect(values(paste)).toEqual(['ada@example.com']);
  });

  test('a domain where anybody can have an address counts only once it is confirmed', () => {
    const gmail = entry('gmail.com', 'domain', 'gmail.com', true);
    const asked = readPaste([gmail], context);
    expect(asked.lines[0]).toMatchObject({ state: 'confirm', words: 'Matches everyone at gmail.com', domain: 'gmail.com' });
    expect(values(asked)).toEqual([]);
    const confirmed = readPaste([gmail], { ...context, confirmed: new Set(['gmail.com']) });
    expect(confirmed.lines[0]!.state).toBe('confirmed');
    expect(values(confirmed)).toEqual(['gmail.com']);
  });

  test('a number cannot be for Mail alone', () => {
    const paste = readPaste([entry('+1 555 010 1234', 'phone', '+15550101234')], { ...context, for: 'mail' });
    expect(paste.lines[0]).toMatchObject({ state: 'refused', words: 'A number sends no mail' });
    expect(values(paste)).toEqual([]);
  });

  test('what is stored is shown where it differs from what was typed', () => {
    const paste = readPaste([
      entry('0555 010 1234', 'phone', '+15550101234'), entry('münchen.example', 'domain', 'xn--mnchen-3ya.example'), entry('@Example.ORG', 'domain', 'example.org'),
    ], context);
    expect(paste.lines.map(({ value }) => value)).toEqual(['+15550101234', 'xn--mnchen-3ya.example', null]);
  });

  test('a rule that is on is named as listed; one that is off is added anew', () => {
    const rules = [{ kind: 'address', value: 'ada@example.com', on: true }, { kind: 'address', value: 'bob@example.com', on: false }] as const;
    const paste = readPaste([entry('ada@example.com', 'address'), entry('bob@example.com', 'address')], { ...context, rules });
    expect(paste.lines.map(({ state }) => state)).toEqual(['listed', 'ok']);
  });

  test('nothing typed is nothing to add', () => {
    expect(readPaste([], context)).toEqual({ lines: [], senders: [] });
  });
});

test.each([
  ['ad', 'ad', 'ada@example.com\n'],
  ['bob@example.com\nad', 'ad', 'bob@example.com\nada@example.com\n'],
  ['bob@example.com, ad', 'ad', 'bob@example.com,ada@example.com\n'],
  ['bob@example.com\n', '', 'bob@example.com\nada@example.com\n'],
])('a suggestion takes the place of the entry being typed: %j', (text, typed, after) => {
  expect(typedEntry(text)).toBe(typed);
  expect(withEntry(text, 'ada@example.com')).toBe(after);
});
