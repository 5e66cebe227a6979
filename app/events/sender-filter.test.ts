import { describe, expect, test } from 'vitest';
import { EventsError } from './errors.ts';
import type { EventType } from './occurrence.ts';
import { parseArguments, type NameLookup } from './sender-filter.ts';

const names: NameLookup = { region: 'US', mailbox: () => [7], chat: (name) => `any;+;${name}`, ownAddresses: () => new Set(['me@example.org']) };

function refusal(value: unknown, type: EventType = 'mail.received', lookup = names): string {
  try {
    parseArguments(type, value, lookup);
  } catch (error) {
    if (error instanceof EventsError && error.code === -32602) return error.message;
    throw error;
  }
  throw new Error('It was accepted.');
}

describe('arguments that are refused with -32602, by name (architecture 5, rulings 10, 14)', () => {
  test.each<[string, unknown, string]>([
    ['no arguments', undefined, 'sender'],
    ['an array', [], 'arguments'],
    ['no sender', { mailboxes: ['INBOX'] }, 'sender'],
    ['an unknown field', { from: ['a@example.org'], sender: 'x' }, 'sender'],
    ['an empty list', { from: [] }, 'arguments.from'],
    ['1,001 entries', { from: Array.from({ length: 1001 }, (_, n) => `a${n}@example.org`) }, 'arguments.from'],
    ['not a list', { from: 'a@example.org' }, 'arguments.from'],
    ['not a text', { from: ['a@example.org', 3] }, 'arguments.from[1]'],
    ['not a sender', { from: ['a@example.org', 'not a sender!'] }, 'arguments.from[1]'],
    ['an address as a domain', { domains: ['a@example.org'] }, 'arguments.domains[0]'],
    ['a wildcard', { domains: ['*.example.org'] }, 'arguments.domains[0]'],
    ['a flag as text', { from: ['a@example.org'], has_attachment: 'yes' }, 'arguments.has_attachment'],
    ['chats of mail', { from: ['a@example.org'], chats: ['x'] }, 'chats'],
  ])('%s', (_name, value, names) => expect(refusal(value)).toContain(names));
  test('mailboxes of messages', () => expect(refusal({ from: ['a@example.org'], mailboxes: ['INBOX'] }, 'messages.received')).toContain('mailboxes'));
  test('addressed_to_me without known own addresses', () =>
    expect(refusal({ from: ['a@example.org'], addressed_to_me: true }, 'mail.received', { ...names, ownAddresses: () => new Set() })).toContain('arguments.addressed_to_me'));
});

describe('arguments that are read', () => {
  test('1,000 entries', () => {
    const filter = parseArguments('mail.received', { from: Array.from({ length: 1000 }, (_, n) => `A${n}@Example.org`) }, names);
    expect(filter.senders.addresses.size).toBe(1000);
    expect(filter.senders.addresses.has('a999@example.org')).toBe(true);
  });
  test('domains with and without what lies below', () => {
    expect(parseArguments('mail.received', { domains: ['Example.org', '@example.net'] }, names).senders).toEqual({ addresses: new Set(), domains: new Set(['example.org', 'example.net']), parents: new Set() });
    expect(parseArguments('mail.received', { domains: ['example.org'], subdomains: true }, names).senders.parents).toEqual(new Set(['example.org']));
  });
  test('numbers as E.164 by the region', () =>
    expect(parseArguments('messages.received', { from: ['(202) 555-0143', '+44 7400 123456'] }, names).senders.addresses).toEqual(new Set(['+12025550143', '+447400123456'])));
  test('names resolve', () => {
    expect(parseArguments('mail.received', { from: ['a@example.org'], mailboxes: ['INBOX'] }, names).mailboxes).toEqual(new Set([7]));
    expect(parseArguments('messages.received', { from: ['a@example.org'], chats: ['Family'] }, names).chats).toEqual(new Set(['any;+;Family']));
  });
});
