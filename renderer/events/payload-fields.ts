/** An entry of `events.catalogue`, as far as the page reads it. */
export interface EventEntry {
  readonly name: string;
  readonly payloadSchema: unknown;
}

export function entriesOf(catalogue: readonly Record<string, unknown>[]): readonly EventEntry[] {
  return catalogue.flatMap(({ name, payloadSchema }) => (typeof name === 'string' ? [{ name, payloadSchema }] : []));
}

type JsonSchema = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value);
const propertiesOf = (schema: unknown): readonly (readonly [string, unknown])[] => (isObject(schema) && isObject(schema.properties) ? Object.entries(schema.properties) : []);

/** The names of what is sent in plain words, read from the schema of the payload so that the screen can't differ from it. */
export function fieldWords(payloadSchema: unknown): readonly string[] {
  return propertiesOf(payloadSchema).map(([name]) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
}

/** Values for the names that a payload uses; whatever is not here gets one by its type. */
const VALUES: Readonly<Record<string, unknown>> = {
  id: 'a1b2c3d4-4711', messageId: '<4711@example.com>', address: 'ada@example.com', handle: '+15550101234', name: 'Ada Lovelace', subject: 'Quarterly plan',
  mailbox: 'INBOX', account: 'iCloud', conversationId: '815', service: 'iMessage', replyTo: null, chat: null, toCount: 1, attachmentCount: 0,
};

/** A payload as this schema describes it. @param at Unix ms, for its times */
export function exampleOf(schema: unknown, at: number, name = ''): unknown {
  if (!isObject(schema)) return null;
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0];
  if (Object.hasOwn(VALUES, name)) return VALUES[name];
  if (schema.format === 'date-time') return new Date(at).toISOString();
  const [type] = Array.isArray(schema.type) ? (schema.type as unknown[]) : [schema.type];
  if (type === 'object') return Object.fromEntries(propertiesOf(schema).map(([key, value]) => [key, exampleOf(value, at, key)]));
  if (type === 'array') return [exampleOf(schema.items, at)];
  if (type === 'boolean') return false;
  if (type === 'integer' || type === 'number') return 0;
  return type === 'string' ? name : null;
}
