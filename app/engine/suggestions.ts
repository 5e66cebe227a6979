import type { AddressBook } from '../apple/contacts/address-book.ts';
import { readVips } from '../apple/mail/vips.ts';
import type { MailReader, MessagesReader } from '../apple/reader.ts';
import { parseSender } from '../apple/sender.ts';
import type { Suggestion } from '../contract/values.ts';
import { cleanText } from '../events/text.ts';

/** Newest rows of each store that are looked through: one bounded query. */
const RECENT_ROWS = 2000;
/** Contacts are looked through whole; so many of them are worth reading as senders. */
const MOST_CONTACTS = 500;

export interface SuggestionSources {
  readonly contacts: AddressBook | null;
  /** Readers of types that are on and can be read: nothing is read for a type that is off. */
  readonly mail: MailReader | null;
  readonly messages: MessagesReader | null;
  readonly region: string | null;
}

/**
 * People whom the owner may want to allow, best first: VIPs, Contacts, recent senders. An empty text gives the recent ones.
 * Nothing of it is kept or leaves the Mac.
 */
export function suggestSenders({ contacts, mail, messages, region }: SuggestionSources, text: string, limit: number): Suggestion[] {
  const wanted = fold(text.trim());
  const found = new Map<string, Suggestion>();
  const add = (typed: string, name: string | null, source: Suggestion['source'], lastAt: number | null) => {
    const parsed = parseSender(typed, region);
    if (!parsed.ok || parsed.kind === 'domain') return;
    const shown = name === null ? null : cleanText(name, 256);
    const known = found.get(parsed.value);
    if (known) found.set(parsed.value, { ...known, name: known.name ?? shown, lastAt: known.lastAt ?? lastAt });
    else if (wanted === '' || fold(`${shown ?? ''}\n${parsed.value}\n${typed}`).includes(wanted)) {
      found.set(parsed.value, { value: parsed.value, name: shown, source, for: parsed.kind === 'address' ? 'both' : 'messages', lastAt });
    }
  };
  if (wanted !== '') {
    if (mail !== null) for (const { name, addresses } of readVips(mail.path)) for (const address of addresses) add(address, name, 'vip', null);
    for (const { name, value } of contacts?.search(wanted, MOST_CONTACTS) ?? []) add(value, name, 'contacts', null);
  }
  const recent = [mail, messages].flatMap((reader) => reader?.recentSenders(RECENT_ROWS) ?? []);
  for (const { sender, name, date } of recent.sort((a, b) => (b.date ?? 0) - (a.date ?? 0))) add(sender, name, 'recent', date);
  return [...found.values()].slice(0, limit);
}

const fold = (text: string) => text.normalize('NFC').toLowerCase();
