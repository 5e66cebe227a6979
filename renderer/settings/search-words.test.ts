import { expect, test } from 'vitest';
import { searchOff, type SearchState } from '../../app/contract/search.ts';
import { searchWords } from './search-words.ts';

const words = (changes: Partial<SearchState>) => searchWords({ ...searchOff, ...changes });

test('without a grant there is no index, and nothing is counted', () => {
  expect(searchWords(searchOff)).toEqual({ text: 'Off', kind: 'quiet', sentence: 'No client may search mail, so there is no index.', progress: null, size: null, deadLetters: null });
});

test.each<[Partial<SearchState>, string, string]>([
  [{ phase: 'unavailable', sentence: 'This computer has no key for the index.' }, 'Not available', 'This computer has no key for the index.'],
  [{ phase: 'paused', pausedBy: 'battery' }, 'Paused', 'It waits while this Mac runs on battery.'],
  [{ phase: 'paused', pausedBy: 'owner' }, 'Paused', 'It goes on when Belfry is resumed.'],
  [{ phase: 'failed', sentence: 'The disk is full.' }, 'Failed', 'The disk is full. It is tried again by itself.'],
  [{ phase: 'building' }, 'Building', 'Newest mail first: what is in it is found already.'],
])('%j', (changes, text, sentence) => {
  expect(words(changes)).toMatchObject({ text, sentence });
});

test('figures', () => {
  expect(words({ phase: 'building', indexed: 1, total: 1 }).progress).toBe('1 of 1 mail');
  expect(words({ phase: 'building', indexed: 31_870, total: 48_210, perSecond: 1239.6 }).progress).toBe('31,870 of 48,210 mails, 1,240 a second');
  expect(words({ phase: 'ready', bytes: 212_400_000, textBytes: 198_000_000, encrypted: true }).size).toBe('212.4 MB for 198.0 MB of text, encrypted');
  expect(words({ phase: 'ready', bytes: 1_000_000, textBytes: 900_000, encrypted: false }).size).toBe('1.0 MB for 0.9 MB of text, not encrypted');
});

test('what could not be read whole is counted by its kind', () => {
  expect(words({ phase: 'ready', deadLetters: [{ reason: 'no right byte count', count: 2 }, { reason: 'too large', count: 1 }] }).deadLetters).toEqual({
    title: '3 mails could not be read whole; what was read of them is found.', lines: [{ reason: 'no right byte count', text: '2: no right byte count' }, { reason: 'too large', text: '1: too large' }],
  });
  expect(words({ phase: 'ready', deadLetters: [{ reason: 'too large', count: 1 }] }).deadLetters?.title).toBe('1 mail could not be read whole; what was read of it is found.');
});
