import { readFlags, type MailFlagBits } from './mail-flags.ts';

/** What Mail notes after the message (data-formats/envelope-index 8). Absent is null. */
export interface EmlxFooter {
  readonly flags: MailFlagBits | null;
  /** Unix ms. */
  readonly dateReceived: number | null;
  readonly dateLastViewed: number | null;
  /** IMAP UID, POP UIDL or EWS id. */
  readonly remoteId: string | null;
  readonly conversationId: string | null;
  /** URL of the mailbox in which the mail was before it moved. */
  readonly originalMailbox: string | null;
}

/** Footers of real files have about 1 KB; what is longer is not looked at. */
const MAX_FOOTER = 64 * 1024;
const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'" };

const KEYS = ['flags', 'date-received', 'date-last-viewed', 'remote-id', 'conversation-id', 'original-mailbox'] as const;
type Key = (typeof KEYS)[number];
const VALUES = new Map(KEYS.map((key) => [key, new RegExp(`<key>${key}</key>\\s{0,64}<(integer|real|string)>([^<]{0,4096})</\\1>`)] as const));

/** Flat keys of the outermost dictionary are looked up by name; entities beyond XML's five stay as they are, so none expands. */
export function readFooter(plist: Buffer | null): EmlxFooter {
  const text = plist === null ? '' : plist.toString('utf8', 0, Math.min(plist.length, MAX_FOOTER));
  const value = (key: Key): string | null => {
    const found = VALUES.get(key)!.exec(text);
    return found === null ? null : found[2]!.trim().replace(/&(?:amp|lt|gt|quot|apos);/g, (entity) => ENTITIES[entity]!);
  };
  const number = (key: Key): number | null => {
    const found = value(key);
    return found === null || !/^[+-]?\d{1,18}(?:\.\d{1,18})?$/.test(found) ? null : Number(found);
  };
  const flags = number('flags');
  const ms = (seconds: number | null): number | null => (seconds === null || seconds <= 0 || seconds > 8.64e12 ? null : Math.round(seconds * 1000));
  return {
    flags: flags === null ? null : readFlags(flags),
    dateReceived: ms(number('date-received')),
    dateLastViewed: ms(number('date-last-viewed')),
    remoteId: value('remote-id'),
    conversationId: value('conversation-id'),
    originalMailbox: value('original-mailbox'),
  };
}
