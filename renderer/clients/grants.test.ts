import { expect, test } from 'vitest';
import { grantName, type GrantName } from '../../app/contract/values.ts';
import { changedWords, choicesOf, GRANT_KEYS, GRANTS, hintOf, namesOf, NO_GRANTS, takenBack, widenedBy } from './grants.ts';

test('nothing is granted unless it was chosen', () => {
  expect(choicesOf([])).toEqual(NO_GRANTS);
  expect(namesOf(NO_GRANTS)).toEqual([]);
  for (const key of GRANT_KEYS) expect(GRANTS[key].options[0]!.value).toBe('no');
});

test('every grant of the contract is one choice, there and back', () => {
  for (const name of grantName.options) expect(namesOf(choicesOf([name]))).toEqual([name]);
  const all: GrantName[] = ['mail:everything', 'messages', 'search', 'reply'];
  expect(namesOf(choicesOf(all))).toEqual(all);
});

test('of two that say the same the wider is shown', () => {
  expect(choicesOf(['mail', 'mail:everything', 'reply', 'reply:unasked'])).toEqual({ mail: 'everything', messages: 'no', search: 'no', reply: 'unasked' });
});

test('more is confirmed, less is not', () => {
  const rules = choicesOf(['mail', 'reply']);
  expect(widenedBy(NO_GRANTS, rules)).toEqual(['mail', 'reply']);
  expect(widenedBy(rules, choicesOf(['mail:everything', 'reply:unasked']))).toEqual(['mail', 'reply']);
  expect(widenedBy(choicesOf(['mail:everything']), rules)).toEqual(['reply']);
  expect(widenedBy(rules, NO_GRANTS)).toEqual([]);
  // Every choice that lets more through says what it means.
  for (const key of GRANT_KEYS) for (const option of GRANTS[key].options.slice(1)) expect(option.confirm).not.toBe('');
});

test('writing without asking is said to end where the rules do', () => {
  const unasked = GRANTS.reply.options.find(({ value }) => value === 'unasked')!;
  expect(unasked.confirm).toMatch(/to chats whose members are all senders that it may hear of\. .* All else that it may write you see and allow first, also if it may read everything\.$/);
  expect(unasked.hint).toMatch(/whose members are all allowed senders, .* All else you see first\.$/);
});

test('an undo takes back its own change and nothing that was chosen since', () => {
  const [before, after] = [choicesOf(['mail']), choicesOf(['mail:everything'])];
  expect(namesOf(takenBack(choicesOf(['mail:everything', 'search']), before, after))).toEqual(['mail', 'search']);
});

test('in words', () => {
  expect(changedWords('"Cursor"', NO_GRANTS, choicesOf(['mail:everything']))).toBe('"Cursor" may read all mail.');
  expect(changedWords('"Cursor"', choicesOf(['mail', 'search']), NO_GRANTS)).toBe('"Cursor" no longer reads mail and no longer searches.');
  expect(hintOf(choicesOf(['search']), 'search')).toBe('It may read nothing yet, so it finds nothing.');
  expect(hintOf(choicesOf(['search', 'messages']), 'search')).toBe('It finds words in what it may read.');
});
