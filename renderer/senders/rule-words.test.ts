import { describe, expect, test } from 'vitest';
import { ruleFor, ruleNote, searchRules } from './rule-words.ts';

const rule = (kind: 'address' | 'domain' | 'phone' | 'code', value: string, display = value) => ({ kind, value, display });

test.each([
  [{ subdomains: false, except: [] }, ''],
  [{ subdomains: true, except: [] }, 'includes subdomains'],
  [{ subdomains: true, except: ['noreply@example.org'] }, 'includes subdomains, but not noreply@example.org'],
  [{ subdomains: false, except: ['a@example.org', 'b@example.org', 'c@example.org', 'd@example.org'] }, 'but not a@example.org, b@example.org and 2 more'],
])('note of %j', (fields, note) => {
  expect(ruleNote(fields)).toBe(note);
});

test('numbers ring for Messages only', () => {
  expect(ruleFor({ kind: 'phone', for: 'both' })).toBe('messages');
  expect(ruleFor({ kind: 'address', for: 'both' })).toBe('both');
  expect(ruleFor({ kind: 'domain', for: 'mail' })).toBe('mail');
});

describe('search', () => {
  const rules = [rule('address', 'ada@example.com'), rule('domain', 'xn--mnchen-3ya.example', 'Everyone at münchen.example (xn--mnchen-3ya.example)'), rule('code', '12345')];
  test.each([['ADA', 1], ['everyone', 1], ['xn--', 1], ['MÜNCHEN', 1], ['short', 1], ['example', 2], ['', 3], ['nobody', 0]])('%s finds %i', (text, count) => {
    expect(searchRules(rules, text)).toHaveLength(count);
  });
});
