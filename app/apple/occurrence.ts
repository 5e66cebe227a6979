/**
 * What the store readers hand over: one row of Mail's or Messages' store that may be an arrival, as values
 * and without the text. Dates are Unix milliseconds; row ids fit a double (SQLite AUTOINCREMENT counters of
 * real stores are far below 2^53); 64-bit hashes are strings.
 */
export type StoreKind = 'mail' | 'messages';

/** Where a mailbox stands. Mail in `inbox`, `archive` and `other` can ring; the rest never does. */
export type MailboxRole = 'inbox' | 'archive' | 'drafts' | 'sent' | 'outbox' | 'junk' | 'trash' | 'other';

export interface Mailbox {
  /** ROWID in `mailboxes`. */
  readonly id: number;
  readonly url: string;
  /** Account identifier: the URL's host part, an UUID on current systems. */
  readonly accountId: string;
  /** Account description, or the account id where Accounts4.sqlite says nothing. */
  readonly account: string;
  /** Decoded path, NFC, `/` between levels, as the server spells it. */
  readonly path: string;
  readonly role: MailboxRole;
  /** ROWID of the physical mailbox if this one is a label (Gmail), else null. */
  readonly source: number | null;
}

export interface Address {
  readonly address: string;
  /** Display name, or null. */
  readonly name: string | null;
}

/** Why a row does not ring. `pending` rows are looked at again. Order of the list is the order of judgement. */
export type NotArrival =
  | 'sent'
  | 'draft'
  | 'outbox'
  | 'junk'
  | 'trash'
  | 'deleted'
  | 'moved'
  | 'backfill'
  | 'tapback'
  | 'sticker'
  | 'poll'
  | 'edit'
  | 'unsent'
  | 'group-notice'
  | 'scheduled'
  | 'twin'
  | 'system'
  | 'spam'
  | 'no-sender';

interface Row {
  /** ROWID in `messages` or `message`; the position in the store. */
  readonly rowid: number;
  /** Normalised sender (address lower-cased, E.164, short code ...), or null where the row has none. */
  readonly sender: string | null;
  /** Why the row by itself can never ring (role, direction, kind), or null. */
  readonly excluded: NotArrival | null;
  /** True while joined rows are missing: the row is looked at again after 0.2 s and 1 s. */
  readonly incomplete: boolean;
  /** Unix ms by which age is judged (date received; service date), or null. */
  readonly date: number | null;
  /** Mailbox ROWID or chat ROWID in which age is judged; null while unknown. */
  readonly box: number | null;
  readonly hasAttachments: boolean;
  readonly attachmentCount: number;
}

export interface MailRow extends Row {
  readonly store: 'mail';
  readonly globalId: number;
  /** 64-bit hash of the Message-ID header as decimal text; '0' where there is none. */
  readonly messageHash: string;
  readonly messageIdHeader: string | null;
  readonly from: Address | null;
  /** At most 10, in order. */
  readonly to: readonly Address[];
  readonly toCount: number;
  /** Every To and Cc address, lower-cased: for `addressed_to_me`. */
  readonly recipients: readonly string[];
  /** Prefix and subject joined. */
  readonly subject: string | null;
  /** Physical mailbox, or null while its row is missing. */
  readonly mailbox: Mailbox | null;
  /** Physical mailbox and labels: all the places where the mail shows. */
  readonly mailboxes: readonly Mailbox[];
  readonly dateReceived: number | null;
  readonly dateSent: number | null;
  readonly conversationId: string;
}

/** As much of a mail as says where it shows and who wrote it: for judging many. */
export type PlacedMail = Pick<MailRow, 'store' | 'rowid' | 'sender' | 'excluded' | 'mailbox' | 'mailboxes'>;

export interface Chat {
  readonly id: number;
  readonly guid: string;
  /** Display name, or null for a chat named by its members. */
  readonly name: string | null;
  readonly isGroup: boolean;
  /** Members without me. */
  readonly participantCount: number;
}

export interface MessageRow extends Row {
  readonly store: 'messages';
  readonly guid: string;
  readonly handle: string | null;
  /** Name from Contacts, or null. */
  readonly name: string | null;
  readonly chat: Chat | null;
  /** `iMessage`, `SMS`, `RCS`, ... as the store spells it. */
  readonly service: string | null;
  readonly replyTo: string | null;
  /** SHA-256 of the text (hex) held in memory for twins only; null where the row has no text. */
  readonly textHash: string | null;
  /** True for a URL balloon: a candidate for the second half of a link twin. */
  readonly isLinkBalloon: boolean;
  /** True if the text holds a link. */
  readonly hasLink: boolean;
}

export type StoreRow = MailRow | MessageRow;
