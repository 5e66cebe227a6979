import type { ChatColumns } from './chat-variants.ts';
import type { MailVariant } from './envelope-variants.ts';
import type { Synchronous } from './sqlite-store.ts';

/** What the writer keeps open. Stores that are not there are made; absent paths are left alone. */
export interface WriterOptions {
  readonly mailDir?: string;
  readonly messagesDb?: string;
  /** Default: beside the Mail folder. */
  readonly accountsDb?: string;
  readonly addressBookDir?: string;
  readonly synchronous?: Synchronous;
  /** Shapes for stores that are made. */
  readonly mailVariant?: MailVariant;
  readonly messagesColumns?: ChatColumns;
  /** SQLite's automatic checkpoint in pages; 0: never. Default 1000. */
  readonly walAutocheckpoint?: number;
}

export interface WriterRequest {
  readonly id: number;
  /** `mail.arrive`, `messages.tapback`, `contacts.addContact`, `store.close`, `burst`, ... */
  readonly op: string;
  readonly args: readonly unknown[];
}

export type WriterReply =
  /** `committedAt`: `process.hrtime.bigint()` of the writer just before the last COMMIT of the call, as decimal text. */
  | { readonly id: number; readonly ok: true; readonly result: unknown; readonly committedAt: string }
  | { readonly id: number; readonly ok: false; readonly error: string; readonly code?: string };

export type StoreName = 'mail' | 'messages';

export interface Burst {
  readonly store: StoreName;
  readonly n: number;
  readonly perSecond: number;
  /** Addresses or handles, taken in turn; default one sender. */
  readonly senders?: readonly string[];
  /** Further values of each mail or message. */
  readonly like?: { readonly [key: string]: unknown };
}

export interface BurstArrival {
  readonly rowid: number;
  /** Decimal text over IPC; `burst()` of the client gives bigint. */
  readonly committedAt: string;
}
