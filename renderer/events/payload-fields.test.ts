import { expect, it } from 'vitest';
import { catalogue } from '../../app/events/catalogue.ts';
import { catalogue as madeUp } from '../fixtures/catalogue.ts';
import { entriesOf, exampleOf, fieldWords } from './payload-fields.ts';

const AT = Date.UTC(2026, 10, 12, 9, 42, 7);

it('names the fields that the schema of the payload has, in its order', () => {
  expect(fieldWords(catalogue['messages.received'].payloadSchema)).toEqual(['id', 'from', 'chat', 'service', 'date', 'has attachments', 'attachment count', 'reply to']);
  expect(fieldWords(null)).toEqual([]);
});

it.each(Object.values(catalogue))('makes an example of $name that has every field and no other', ({ payloadSchema }) => {
  const example = exampleOf(payloadSchema, AT) as Record<string, unknown>;
  expect(Object.keys(example)).toEqual(Object.keys((payloadSchema as { properties: object }).properties));
  expect(JSON.stringify(example)).not.toMatch(/body|text|summary/i);
});

it('shows times as ISO 8601 and a sender as an address and a name', () => {
  const example = exampleOf(catalogue['mail.received'].payloadSchema, AT) as Record<string, unknown>;
  expect(example.dateReceived).toBe('2026-11-12T09:42:07.000Z');
  expect(example.from).toEqual({ address: 'ada@example.com', name: 'Ada Lovelace' });
});

it('leaves a field that is no schema empty, and reads only entries with a name', () => {
  expect(exampleOf({ type: 'object', properties: { odd: 7 } }, AT)).toEqual({ odd: null });
  expect(entriesOf([{ title: 'no name' }, { name: 'mail.received' }])).toEqual([{ name: 'mail.received', payloadSchema: undefined }]);
});

it('holds the catalogue of the fixtures to that of the engine', () => {
  const fields = (entries: readonly Record<string, unknown>[]) => entriesOf(entries).map(({ name, payloadSchema }) => [name, fieldWords(payloadSchema)]);
  expect(fields(madeUp)).toEqual(fields(Object.values(catalogue).map((descriptor) => ({ ...descriptor }))));
});
