import type { EventType } from './occurrence.ts';

/** JSON Schema, as far as the catalogue uses it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export type DeliveryMode = 'poll' | 'push' | 'webhook';

export interface Descriptor {
  readonly name: EventType;
  readonly title: string;
  readonly description: string;
  /** What every connection is offered. */
  readonly delivery: readonly DeliveryMode[];
  readonly inputSchema: JsonSchema;
  readonly payloadSchema: JsonSchema;
}

/** Arrays of filter entries hold 1 to 1,000 items; an entry is at most 320 characters (64 + @ + 255). */
export const MAX_ITEMS = 1000;
export const MAX_ENTRY = 320;

const list = (description: string, examples: readonly string[]) => ({
  type: 'array',
  description,
  items: { type: 'string', minLength: 1, maxLength: MAX_ENTRY },
  minItems: 1,
  maxItems: MAX_ITEMS,
  examples: [examples],
});
const flag = (description: string) => ({ type: 'boolean', description });
const nullable = (type: string, more: object = {}) => ({ type: [type, 'null'], ...more });
const object = (properties: Record<string, unknown>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const domains = list('Everyone at these domains.', ['example.org']);
const subdomains = flag('Whether domains include everything below them. Default false.');
const hasAttachment = flag('Only with (true) or only without (false) attachments.');

/** A sender is always required: everything else only narrows (architecture 5). */
const senderRequired = { additionalProperties: false, anyOf: [{ required: ['from'] }, { required: ['domains'] }] };

const MODES: readonly DeliveryMode[] = ['poll', 'push'];

/**
 * The one value behind `events/list`, argument checks, the field list on screen and the README's table.
 * Changes are additive while a name lives (events-extension 3).
 */
export const catalogue: Readonly<Record<EventType, Descriptor>> = {
  'mail.received': {
    name: 'mail.received',
    title: 'New mail',
    description: 'A mail from one of the given senders arrived in Mail on this Mac. Envelope only, never the text.',
    delivery: MODES,
    inputSchema: {
      type: 'object',
      properties: {
        from: list('Sender addresses, compared without regard to case.', ['ada@example.com']),
        domains,
        subdomains,
        mailboxes: list('Only in these mailboxes: a path, a leaf name that only one mailbox has, or Account/Path.', ['INBOX']),
        subject_contains: { type: 'string', description: 'Only if the subject holds this text, without regard to case.', minLength: 1, maxLength: MAX_ENTRY },
        addressed_to_me: flag('Only if one of my own addresses is among To and Cc (true), or none is (false).'),
        has_attachment: hasAttachment,
      },
      ...senderRequired,
    },
    payloadSchema: object({
      id: { type: 'string', description: 'The same as eventId.' },
      messageId: nullable('string', { description: 'Message-ID header.' }),
      from: object({ address: nullable('string'), name: nullable('string') }),
      to: { type: 'array', maxItems: 10, items: object({ address: nullable('string'), name: nullable('string') }) },
      toCount: { type: 'integer', minimum: 0, description: 'All To addresses, also those beyond the ten listed.' },
      subject: nullable('string', { description: 'Null when there is none, or when the owner turned subjects off.' }),
      mailbox: nullable('string'),
      account: nullable('string'),
      dateReceived: nullable('string', { format: 'date-time' }),
      dateSent: nullable('string', { format: 'date-time' }),
      hasAttachments: { type: 'boolean' },
      conversationId: { type: 'string' },
    }),
  },
  'messages.received': {
    name: 'messages.received',
    title: 'New message',
    description: 'A message from one of the given senders arrived in Messages on this Mac. Envelope only, never the text.',
    delivery: MODES,
    inputSchema: {
      type: 'object',
      properties: {
        from: list('Phone numbers, short codes or e-mail addresses.', ['+15550101234']),
        domains,
        subdomains,
        chats: list('Only in these chats: a chat id from an event, or an exact display name.', ['Family']),
        has_attachment: hasAttachment,
      },
      ...senderRequired,
    },
    payloadSchema: object({
      id: { type: 'string', description: 'The same as eventId.' },
      from: object({ handle: nullable('string'), name: nullable('string') }),
      chat: {
        anyOf: [
          { type: 'null' },
          object({
            id: { type: 'string' },
            name: nullable('string'),
            isGroup: { type: 'boolean' },
            participantCount: { type: 'integer', minimum: 0, description: 'Without me.' },
          }),
        ],
      },
      service: nullable('string'),
      date: nullable('string', { format: 'date-time' }),
      hasAttachments: { type: 'boolean' },
      attachmentCount: { type: 'integer', minimum: 0 },
      replyTo: nullable('string', { description: 'The id of the message that this one answers.' }),
    }),
  },
};

export function isEventType(name: string): name is EventType {
  return Object.hasOwn(catalogue, name);
}

/** The modes of every type. @param webhook the owner switched webhooks on, for one who may ask for them */
export const modesOf = (webhook: boolean): readonly DeliveryMode[] => (webhook ? [...MODES, 'webhook'] : MODES);

/** As `events/list` shows it. */
export function descriptorOf(type: EventType, delivery: readonly DeliveryMode[]): Record<string, unknown> {
  const { name, description, inputSchema, payloadSchema } = catalogue[type];
  return { name, description, delivery, inputSchema, payloadSchema };
}
