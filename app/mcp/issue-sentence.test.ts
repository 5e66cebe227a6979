import { expect, test } from 'vitest';
import { z } from 'zod';
import { issueSentence } from './issue-sentence.ts';
import { TOOLS } from './tools/tools.ts';

const field = (schema: z.ZodType) => z.strictObject({ field: schema });
const NO_FORM = 'does not have the form that it must have';

test.each<[string, z.ZodType, unknown, string]>([
  ['nothing where a string must be', z.string(), undefined, 'is missing'],
  ['nothing where a list must be', z.array(z.string()), undefined, 'is missing'],
  ['nothing where one of several forms must be', z.union([z.string(), z.int()]), undefined, 'is missing'],
  ['nothing where a form of our own words must be', z.union([z.iso.date(), z.iso.datetime()], 'must be a day'), undefined, 'is missing'],
  ['a number for a string', z.string(), 7, 'must be a string'],
  ['null for a string', z.string(), null, 'must be a string'],
  ['a string for a number', z.number(), 'x', 'must be a number'],
  ['a broken number', z.int(), 1.5, 'must be an integer'],
  ['a string for an integer', z.int(), '5', 'must be a number'],
  ['an integer beyond all bounds', z.int(), 2 ** 60, 'must be at most 9007199254740991'],
  ['a word for yes', z.boolean(), 'yes', 'must be true or false'],
  ['a string for a list', z.array(z.string()), 'x', 'must be an array'],
  ['a list for an object', z.strictObject({}), [], 'must be an object'],
  ['a string for a record', z.record(z.string(), z.unknown()), 'x', 'must be an object'],
  ['something for null', z.null(), 1, 'must be null'],
  ['something where nothing may be', z.never(), 1, 'must be left out'],
  ['a kind that has no word', z.bigint(), 1, NO_FORM],
  ['an empty string', z.string().min(1), '', 'must have at least 1 character'],
  ['a short string', z.string().min(3), '', 'must have at least 3 characters'],
  ['a long string', z.string().max(2), 'xxx', 'must have at most 2 characters'],
  ['a string of another length', z.string().length(3), 'x', 'must have exactly 3 characters'],
  ['an empty list', z.array(z.string()).min(1), [], 'must have at least 1 item'],
  ['a long list', z.array(z.string()).max(2), ['a', 'b', 'c'], 'must have at most 2 items'],
  ['a small number', z.int().min(1), 0, 'must be at least 1'],
  ['a large number', z.int().max(200), 201, 'must be at most 200'],
  ['a number at its bound', z.number().gt(0), 0, 'must be more than 0'],
  ['a number at its upper bound', z.number().lt(1), 1, 'must be less than 1'],
  ['a number between steps', z.number().multipleOf(5), 3, 'must be a multiple of 5'],
  ['another word', z.enum(['all', 'unread']), 'x', 'must be one of all, unread'],
  ['another word than the only one', z.literal('all'), 'x', 'must be all'],
  ['another form', z.string().regex(/a/), 'b', NO_FORM],
  ['another form, in words of our own', z.string().regex(/a/, 'must be the letter a'), 'b', 'must be the letter a'],
  ['no time', z.iso.datetime(), 'x', 'must be a time such as 2026-11-30T08:00:00Z'],
  ['no day', z.iso.date(), 'x', 'must be a day such as 2026-11-30'],
  ['no URL', z.url(), 'x', 'must be a URL'],
  ['no address', z.email(), 'x', 'must be an e-mail address'],
  ['none of several forms', z.union([z.string(), z.int()]), true, 'has none of the forms that it may have'],
  ['a check without words', z.string().refine(() => false), 'x', NO_FORM],
  ['a check with words', z.string().refine(() => false, 'must be told apart'), 'x', 'must be told apart'],
])('%s', (_what, schema, value, rule) => {
  const { error } = field(schema).safeParse({ field: value });
  // Some come through JSON.
  for (const issue of [error!.issues[0]!, JSON.parse(JSON.stringify(error!.issues[0]))]) expect(issueSentence(issue, 'arguments')).toBe(`field: ${rule}`);
});

test('places: inside lists, names of a record, the whole, fields that are not known', () => {
  const of = (schema: z.ZodType, value: unknown) => issueSentence(schema.safeParse(value).error!.issues[0]!, 'arguments', ['one', 'two']);
  expect(of(field(z.array(z.enum(['mail', 'messages']))), { field: ['x'] })).toBe('field[0]: must be one of mail, messages');
  expect(of(field(z.record(z.string().max(2), z.unknown())), { field: { long: 1 } })).toBe('field.long: its name must have at most 2 characters');
  expect(of(z.strictObject({}), 'x')).toBe('arguments: must be an object');
  expect(of(z.strictObject({}), { three: 1 })).toBe('arguments: unknown field "three"; known are one, two');
  expect(issueSentence({ path: ['a'], message: 'Invalid input: expected thing, received undefined' }, 'params')).toBe(`a: ${NO_FORM}`);
});

/** Words and signs that only the library uses. */
const LIBRARY = /expected|, received|Invalid|Too (?:big|small)|[<>]=?\d|\|/;

test('whatever a tool is given wrongly, it says no word of the library', () => {
  const wrong: readonly unknown[] = [undefined, null, true, 'x', '', 'x'.repeat(5000), -1, 1.5, 2 ** 60, [], [''], Array.from({ length: 500 }, () => 'x'), [1], {}, { ['x'.repeat(100)]: 1 }];
  let told = 0;
  for (const { name, input } of TOOLS) {
    const names = Object.keys((input as z.ZodObject).shape);
    for (const given of [undefined, 'x', [], ...names.flatMap((key) => wrong.map((value) => ({ [key]: value })))]) {
      for (const issue of input.safeParse(given).error?.issues ?? []) {
        told += 1;
        const sentence = issueSentence(issue, 'arguments', names);
        expect(sentence, name).not.toMatch(LIBRARY);
        expect(sentence, name).not.toContain(NO_FORM);
      }
    }
  }
  expect(told).toBeGreaterThan(500);
});
