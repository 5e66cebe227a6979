import { expect, test } from 'vitest';
import type { WaitingRow } from '../../app/contract/values.ts';
import { claudeCode, waitingDraft, waitingSend } from '../fixtures/made-up.ts';
import { endsWords, membersWords, visibleText, waitingWords } from './waiting-words.ts';

test('what is asked for, in one sentence', () => {
  const change = { kind: 'change', id: '1', since: 0, sentence: 'Turn on New message', client: null, grants: [] } satisfies WaitingRow;
  expect(waitingWords(change, null)).toBe('Turn on New message');
  expect(waitingWords({ ...change, client: '3f2a9c01', grants: ['mail', 'reply'] }, claudeCode())).toBe('Wants to read mail from allowed senders and write, with each text shown to you first.');
  const asking = claudeCode({ decision: 'none', asks: [{ type: 'mail.received', senders: 0, notAllowed: [] }] });
  expect(waitingWords({ ...change, kind: 'client', client: asking.id, grants: ['mail', 'search'] }, asking)).toBe('Wants New mail. It would also like to read mail from allowed senders and search what it reads.');
  expect(waitingWords(waitingSend(), claudeCode())).toBe('Wants to send this to the group:');
  expect(waitingWords(waitingDraft({ answers: null }), claudeCode())).toBe('Wants to open this draft in Mail. Nothing is sent.');
});

test.each([[0, 'is ending'], [-5000, 'is ending'], [1000, 'ends in 1 second'], [89_000, 'ends in 89 seconds'], [90_000, 'ends in 2 minutes'], [240_000, 'ends in 4 minutes']])('%i ms: %s', (ms, words) => {
  expect(endsWords(1_000_000 + ms, 1_000_000)).toBe(words);
});

test('who reads it', () => {
  const chat = { id: 'x', name: 'Climbing', isGroup: true, service: null };
  expect(membersWords({ ...chat, members: ['Ada', 'Grace'], memberCount: 2 })).toBe('Ada, Grace');
  expect(membersWords({ ...chat, members: ['Ada', 'Grace'], memberCount: 3 })).toBe('Ada, Grace and 1 other');
  expect(membersWords({ ...chat, members: [], memberCount: 4 })).toBe('4 people');
});

test('what shows nothing or turns the direction is shown, and lines stay', () => {
  expect(visibleText('a\u202eb\u200bc\u0007\nd\te')).toBe('a[U+202E]b[U+200B]c[U+0007]\nd\te');
  expect(visibleText('a\u{e0041}b\u00adc\ufe0fd')).toBe('a[U+E0041]b[U+00AD]c[U+FE0F]d');
  // Joiners belong to scripts and emoji.
  expect(visibleText('👩\u200d🚀')).toBe('👩\u200d🚀');
});
