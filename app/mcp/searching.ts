import type { MessageScope } from '../apple/messages/message-places.ts';
import type { Mailbox, MailRow, MessageRow } from '../apple/occurrence.ts';
import type { Principal } from '../events/verdict.ts';

export type SearchScope = 'all' | 'subject' | 'sender' | 'body' | 'attachments';

export interface MailQuestion {
  readonly query: string;
  readonly scope: SearchScope;
  /** Mailboxes and labels to look in; null: all. */
  readonly mailboxes: readonly Mailbox[] | null;
  readonly except: readonly Mailbox[];
  /** Unix ms: from, inclusive, and up to, exclusive. */
  readonly after: number | null;
  readonly before: number | null;
  readonly limit: number;
  readonly offset: number;
}

/** A stretch of the text, one line; `marks` are where words of the query stand. */
export interface FoundText {
  readonly text: string;
  readonly marks: readonly { readonly start: number; readonly end: number }[];
}

export interface FoundMail {
  readonly row: MailRow;
  /** BM25, higher is better; null where the order is by date. */
  readonly score: number | null;
  /** Its place among all hits, from 0. */
  readonly at: number;
}

/** How much of the mail a search looks at. */
export interface Coverage {
  /** `ready`: all of it. */
  readonly phase: string;
  readonly indexed: number;
  readonly total: number;
  /** Mails whose text could not be read whole. */
  readonly unreadable: number;
}

export type MailFinding =
  | {
      readonly ok: true;
      readonly hits: readonly FoundMail[];
      /** Of each hit, as it is now: the same one where Mail changed nothing, null where it is not to be shown any more. */
      readonly rowsNow: () => readonly (MailRow | null)[];
      /** A stretch of each, in their order; null where nothing of the text is on this Mac. They are cut meanwhile: asked for once, when all else is done. Never rejects. @param signal nobody waits any more */
      readonly snippets: (signal?: AbortSignal) => Promise<readonly (FoundText | null)[]>;
      readonly count: number;
      /** False: there are more than were counted. */
      readonly isExact: boolean;
      readonly order: 'best' | 'newest';
      /** Offset of the next page, or null. */
      readonly next: number | null;
      readonly coverage: Coverage;
      /** Sentences on what of the query was not read as it was written. */
      readonly notes: readonly string[];
    }
  | { readonly ok: false; readonly reason: string };

export interface MessagesQuestion {
  readonly query: string;
  /** Where to look; null: everywhere. */
  readonly scope: MessageScope | null;
  readonly after: number | null;
  readonly before: number | null;
  readonly limit: number;
  /** Only what lies below this row: where the last look ended; null: from the newest on. */
  readonly below: number | null;
}

export interface FoundMessage {
  readonly row: MessageRow;
  readonly snippet: FoundText;
}

export type MessagesFinding =
  | {
      readonly ok: true;
      readonly hits: readonly FoundMessage[];
      /** True: among what this client may read are texts that cannot be read, so they were not looked through. */
      readonly unreadable: boolean;
      /** Where the next look begins; null: all was looked at. */
      readonly next: number | null;
      /** As in MailFinding. */
      readonly notes: readonly string[];
    }
  | { readonly ok: false; readonly reason: string };

/** What the searching tools ask of the engine: bounded by what the client may read. */
export interface Searching {
  maySearch(principal: Principal): boolean;
  mail(principal: Principal, question: MailQuestion): Promise<MailFinding>;
  messages(principal: Principal, question: MessagesQuestion, signal: AbortSignal): Promise<MessagesFinding>;
  /** Every figure of the mail index, for a client that may read everything. */
  readonly state: Readonly<Record<string, unknown>> & Coverage;
}
