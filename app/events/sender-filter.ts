import type { SenderSet } from '../apple/reader.ts';
import type { MailRow, StoreRow } from '../apple/occurrence.ts';
import { buildSenderSet, matches, parseSender, type ParsedSender } from '../apple/sender.ts';
import { catalogue, type JsonSchema } from './catalogue.ts';
import { invalidParams } from './errors.ts';
import { shownSubject, type EventType, type Subjects } from './occurrence.ts';

/** A subscription's arguments, checked, normalised and resolved against the store. */
export interface Filter {
  readonly type: EventType;
  readonly senders: SenderSet;
  /** Mailbox ROWIDs, or null for any. */
  readonly mailboxes: ReadonlySet<number> | null;
  /** Chat guids, or null for any. */
  readonly chats: ReadonlySet<string> | null;
  /** Lower case, NFC. */
  readonly subject: string | null;
  readonly addressedToMe: boolean | null;
  readonly ownAddresses: ReadonlySet<string>;
  readonly hasAttachment: boolean | null;
  /** How many senders it names, for what the owner sees. */
  readonly senderCount: number;
  /** The sender entries as parsed, for "asks for bob@x". */
  readonly entries: readonly string[];
}

/** What the checks need from the stores; implemented over the readers. Names resolve to ids or to a sentence. */
export interface NameLookup {
  readonly region: string | null;
  /** Ruling 10. Throws -32602 with the list of names that exist. */
  mailbox(name: string): readonly number[];
  /** Ruling 12. Throws -32602 with the list. */
  chat(name: string): string;
  ownAddresses(): ReadonlySet<string>;
}

/** @throws EventsError -32602 with a sentence that names the field and the rule. */
export function parseArguments(type: EventType, value: unknown, names: NameLookup): Filter {
  const args = checkShape(value === undefined ? {} : value, catalogue[type].inputSchema);
  if (args['from'] === undefined && args['domains'] === undefined) {
    throw invalidParams('arguments: a subscription needs a sender: give from, domains or both');
  }
  const subdomains = args['subdomains'] === true;
  const parsed = [
    ...senders(args['from'], 'from', names.region, subdomains),
    ...senders(args['domains'], 'domains', names.region, subdomains),
  ];
  const addressedToMe = flag(args['addressed_to_me']);
  const ownAddresses = addressedToMe === null ? new Set<string>() : names.ownAddresses();
  if (addressedToMe !== null && ownAddresses.size === 0) {
    throw invalidParams('arguments.addressed_to_me: own addresses are not known, because the accounts cannot be read');
  }
  const mailboxes = strings(args['mailboxes']);
  const chats = strings(args['chats']);
  const subject = args['subject_contains'];
  return {
    type,
    senders: buildSenderSet(parsed),
    mailboxes: mailboxes && new Set(mailboxes.flatMap((name) => names.mailbox(name))),
    chats: chats && new Set(chats.map((name) => names.chat(name))),
    subject: typeof subject === 'string' ? fold(subject) : null,
    addressedToMe,
    ownAddresses,
    hasAttachment: flag(args['has_attachment']),
    senderCount: parsed.length,
    entries: parsed.map((entry) => entry.value),
  };
}

/** Everything but the sender, which the hub's map or the store's index already decided. */
export function narrows(filter: Filter, row: StoreRow, subjects: Subjects): boolean {
  if (filter.hasAttachment !== null && row.hasAttachments !== filter.hasAttachment) return false;
  if (row.store === 'messages') {
    return filter.chats === null || (row.chat !== null && filter.chats.has(row.chat.guid));
  }
  if (filter.mailboxes !== null && !row.mailboxes.some((box) => filter.mailboxes!.has(box.id))) return false;
  // A subject filter sees what the client would see: with subjects off null, and no hidden code. Otherwise it would spell it out.
  if (filter.subject !== null && !fold(shownSubject(row.subject, subjects) ?? '').includes(filter.subject)) return false;
  return filter.addressedToMe === null || isAddressedTo(row, filter.ownAddresses) === filter.addressedToMe;
}

export function accepts(filter: Filter, row: StoreRow, subjects: Subjects): boolean {
  return row.sender !== null && matches(filter.senders, row.sender) && narrows(filter, row, subjects);
}

const isAddressedTo = (row: MailRow, own: ReadonlySet<string>) => row.recipients.some((address) => own.has(address));
const fold = (text: string) => text.normalize('NFC').toLowerCase();
const flag = (value: unknown) => (typeof value === 'boolean' ? value : null);
const strings = (value: unknown) => (Array.isArray(value) ? (value as string[]) : null);

function senders(value: unknown, field: string, region: string | null, subdomains: boolean): ParsedSender[] {
  return (strings(value) ?? []).map((entry, index) => {
    const parsed = parseSender(field === 'domains' && !entry.startsWith('@') ? `@${entry}` : entry, region);
    if (!parsed.ok) throw invalidParams(`arguments.${field}[${index}]: ${parsed.reason}`);
    return { kind: parsed.kind, value: parsed.value, subdomains };
  });
}

/** The part of JSON Schema that the catalogue uses, with sentences. Values never appear in them. */
function checkShape(value: unknown, schema: JsonSchema): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidParams('arguments: must be an object');
  const args = value as Record<string, unknown>;
  const properties = schema['properties'] as Record<string, JsonSchema>;
  for (const [key, entry] of Object.entries(args)) {
    if (!Object.hasOwn(properties, key)) {
      throw invalidParams(`arguments: unknown field ${JSON.stringify(key.slice(0, 64))}; known are ${Object.keys(properties).join(', ')}`);
    }
    checkValue(`arguments.${key}`, entry, properties[key]!);
  }
  return args;
}

function checkValue(path: string, value: unknown, schema: JsonSchema): void {
  switch (schema['type']) {
    case 'boolean':
      if (typeof value !== 'boolean') throw invalidParams(`${path}: must be true or false`);
      return;
    case 'string':
      if (typeof value !== 'string') throw invalidParams(`${path}: must be a string`);
      if (value.length < (schema['minLength'] as number)) throw invalidParams(`${path}: must not be empty`);
      if (value.length > (schema['maxLength'] as number)) throw invalidParams(`${path}: must be at most ${String(schema['maxLength'])} characters`);
      return;
    case 'array': {
      if (!Array.isArray(value)) throw invalidParams(`${path}: must be an array`);
      const max = schema['maxItems'] as number;
      if (value.length === 0) throw invalidParams(`${path}: must hold at least 1 entry; leave the field out instead`);
      if (value.length > max) throw invalidParams(`${path}: must hold at most ${max} entries, not ${value.length}`);
      value.forEach((item, index) => checkValue(`${path}[${index}]`, item, schema['items'] as JsonSchema));
      return;
    }
    default:
      throw new Error('The catalogue uses a type that is not checked');
  }
}
