import { expect, test } from 'vitest';
import { answerFacts } from './answer-words.ts';

const some = (...shown: string[]) => ({ shown, count: shown.length });
const answers = { from: 'ada@example.org', subject: 'Plans', all: false, goesTo: { instead: some(), to: some(), cc: some() } };
const lines = (more: object) => answerFacts({ ...answers, ...more }).map(({ name, text }) => `${name}: ${text}`);

test('an answer to the sender says no more than that', () => {
  expect(lines({})).toEqual(['Answers: Plans, from ada@example.org']);
  expect(lines({ subject: null })).toEqual(['Answers: a mail without a subject, from ada@example.org']);
});

test('whom else it goes to is named, and how many more', () => {
  expect(lines({ all: true, goesTo: { instead: some('evil@bad.example'), to: { shown: ['a@x.example', 'b@x.example'], count: 14 }, cc: some('c@x.example') } })).toEqual([
    'Answers: Plans, from ada@example.org, to everyone in it', 'Goes to: evil@bad.example', 'To: a@x.example, b@x.example and 12 more', 'Cc: c@x.example',
  ]);
});

test('what is not known is said to be so', () => {
  expect(lines({ goesTo: null })[1]).toMatch(/^Goes to: not known: .* The draft in Mail shows it\.$/);
});
