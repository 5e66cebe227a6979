import type { MailReader, MessagesReader } from '../apple/reader.ts';
import type { Mailbox } from '../apple/occurrence.ts';
import { inQuotes } from '../text/quotes.ts';
import { invalidParams } from './errors.ts';
import type { NameLookup } from './sender-filter.ts';
import { cleanText } from './text.ts';

/** Names listed in a refusal: enough to choose from, bounded for a store with thousands. */
const LISTED = 40;

const fold = (text: string) => text.normalize('NFC').toLowerCase();

/** What of the names that exist is told. */
export interface ToldNames {
  /** A mailbox that is as if it were not there. */
  hides(mailbox: Mailbox): boolean;
  /** Whether a chat is listed in a refusal: guids are phone numbers. */
  lists(members: readonly string[], guid: string): boolean;
}

const ALL: ToldNames = { hides: () => false, lists: () => true };

/**
 * Names of mailboxes and chats as people write them (rulings 10 and 12), resolved against the open store.
 * A name that fits nothing, or more than one, is refused with what exists, as far as it is told.
 */
export function namesOf(reader: MailReader | MessagesReader, region: string | null, told: ToldNames = ALL): NameLookup {
  return {
    region,
    mailbox: (name) => (reader.kind === 'mail' ? findMailbox(reader.mailboxes().filter((box) => !told.hides(box)), name) : []),
    chat: (name) => (reader.kind === 'messages' ? findChat(reader, name, told) : ''),
    ownAddresses: () => (reader.kind === 'mail' ? reader.ownAddresses() : new Set<string>()),
  };
}

/**
 * A path; then `Account/Path`; then a leaf that only one mailbox has. INBOX, and any path, may exist in several
 * accounts: that is refused with the list, because a filter must never be wider than it reads.
 */
export function findMailbox(mailboxes: readonly Mailbox[], name: string): readonly number[] {
  const wanted = fold(name);
  const steps = [
    (box: Mailbox) => fold(box.path) === wanted,
    (box: Mailbox) => fold(`${box.account}/${box.path}`) === wanted || fold(`${box.accountId}/${box.path}`) === wanted,
    (box: Mailbox) => fold(box.path.slice(box.path.lastIndexOf('/') + 1)) === wanted,
  ];
  for (const fits of steps) {
    const found = mailboxes.filter(fits);
    if (found.length === 1) return [found[0]!.id];
    if (found.length > 1) {
      throw invalidParams(`arguments.mailboxes: ${quote(name)} fits ${found.length} mailboxes; say which: ${listing(found.map(full))}`);
    }
  }
  throw invalidParams(`arguments.mailboxes: no mailbox is called ${quote(name)}; there are ${listing(mailboxes.map(full))}`);
}

function findChat(reader: MessagesReader, name: string, told: ToldNames): string {
  const found = reader.findChats(name);
  if (found.length === 1) return found[0]!.guid;
  if (found.length > 1) {
    throw invalidParams(`arguments.chats: ${quote(name)} fits ${found.length} chats; say which: ${listing(found.filter((chat) => told.lists(reader.membersOf(chat.id), chat.guid)).map((chat) => chat.guid))}`);
  }
  const listed = reader.chatNames(LISTED, (members, guid) => told.lists(members, guid));
  throw invalidParams(`arguments.chats: no chat is called ${quote(name)}; there are ${listing(listed, (each) => inQuotes(cleanText(each, 80)))}`);
}

const full = (box: Mailbox) => `${box.account}/${box.path}`;
/** As it has to be given back, with its quotation marks escaped. */
const quote = (name: string) => JSON.stringify(cleanText(name, 80));

function listing(names: readonly string[], as = quote): string {
  const shown = names.slice(0, LISTED).map((name) => as(name)).join(', ');
  return names.length > LISTED ? `${shown} and ${names.length - LISTED} more` : shown || 'none';
}
