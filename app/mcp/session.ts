import type { MailFiles } from '../apple/mail/mail-files.ts';
import type { Mailbox, MailRow, StoreKind, StoreRow } from '../apple/occurrence.ts';
import type { MailArchive, MessagesArchive } from '../apple/reader.ts';
import type { AttachmentCache } from '../delivery/attachment-cache.ts';
import type { Outgoing } from '../delivery/outgoing.ts';
import type { MessageWriting } from '../delivery/writing.ts';
import type { Clock } from '../events/clock.ts';
import type { EventType } from '../events/occurrence.ts';
import type { Principal } from '../events/verdict.ts';
import type { Inbox } from '../delivery/inbox.ts';
import type { WatchPolicy } from '../delivery/watch-entry.ts';
import type { Watches } from '../delivery/watches.ts';
import type { SealedCursors } from './sealed-cursor.ts';
import type { Searching } from './searching.ts';
import type { Channels, ChannelSession } from './channel.ts';
import type { EventsBackend, EventsPeer } from './events-extension.ts';

/** What a client may do at all at this moment: `off` where no event is on. */
export type Access = 'open' | 'approval' | 'refused' | 'off';

/** How far a client may read a store: what could ring for it, or all that is not excluded. */
export type Reach = 'rules' | 'everything';

/** A text that Mail was asked for, with the stretches that repeat earlier mails; or why there is none. */
export type FetchedText =
  | { readonly ok: true; readonly text: string; readonly quotes: readonly { readonly start: number; readonly end: number }[] }
  | { readonly ok: false; readonly sentence: string };

/** What the reading tools ask of the engine. The owner granted nothing of it unless `reach` says so. */
export interface Reading {
  reach(principal: Principal, store: StoreKind): Reach | null;
  /** Whether this very row may be read. What is excluded may not be read by anybody. */
  mayRead(row: StoreRow, principal: Principal): boolean;
  /** Whether what one person writes in a chat may be read. @param chat guid */
  mayReadFrom(sender: string, chat: string | null, principal: Principal): boolean;
  hides(mailbox: Mailbox): boolean;
  /** One-time codes are blotted out in texts. */
  readonly hidesCodes: boolean;
  /** Null while the store cannot be read or its event is off: then nothing is read. */
  readonly mail: MailArchive | null;
  readonly messages: MessagesArchive | null;
  /** Of the Mail folder that the index belongs to. */
  readonly mailFiles: MailFiles;
  readonly attachments: AttachmentCache;
  readonly cursors: SealedCursors;
  /** The text of a mail that is not on this Mac, where the owner lets Mail be asked for it. */
  fetchText(row: MailRow): Promise<FetchedText>;
  /** Notes that a client read so many items of a store by a tool; ids only. @param rowid of the one that was read */
  noted(principal: Principal, store: StoreKind, tool: string, count: number, rowid?: number): void;
  /** Puts before the owner that this client would like to read, or to search what it reads. */
  wants(principal: Principal, stores: readonly StoreKind[], search: boolean): void;
  readonly search: Searching;
}

/** What the writing tools ask of the engine. The owner granted nothing of it unless `may` says so. */
export interface WritingRoom {
  may(principal: Principal): boolean;
  /** Whether what a row belongs to may be answered. */
  mayAnswer(row: StoreRow, principal: Principal): boolean;
  /** @param members all that are in the chat, normalised. @param chat guid */
  mayWriteTo(members: readonly string[], chat: string, principal: Principal): boolean;
  /** A chat by its guid, from its own row. Null: it is gone, or its row contradicts itself. @param service of the message that is answered */
  chat(guid: string, service: string | null): MessageWriting['chat'] | null;
  readonly outgoing: Outgoing;
  /** Puts before the owner that this client would like to write. */
  wants(principal: Principal): void;
}

/** What tools, resources and the channel ask of the engine, on top of what the events extension does. */
export interface Backend extends EventsBackend {
  readonly watches: Watches;
  readonly inbox: Inbox;
  readonly channels: Channels;
  readonly policy: WatchPolicy;
  readonly clock: Clock;
  readonly reading: Reading;
  readonly writing: WritingRoom;
  readonly paused: boolean;
  /** Puts a client's wish before the owner: what it would like to have, by filter entries. */
  requests(principal: Principal, type: EventType, entries: readonly string[]): void;
  /** A client set a watch, or asked for one that it has. */
  watched(principal: Principal, type: EventType, entries: readonly string[], isNew: boolean): void;
  /** A client looked into its inbox or waits at it. */
  pulled(principal: Principal): void;
}

/** One connection, or one request over HTTP, as far as tools and resources must remember it. */
export interface Session {
  readonly peer: EventsPeer;
  readonly backend: Backend;
  readonly era: 'legacy' | 'modern';
  readonly over: 'socket' | 'http';
  /** What the last answer of this connection handed out; a legacy client confirms it by asking again. */
  lastBatch: string | null;
  /** Calls that wait now. */
  waits: number;
  /** Set once the channel of this connection may be written to. */
  channel: ChannelSession | null;
}

export function accessOf(backend: Backend, principal: Principal): Access {
  const gates = backend.types.map((type) => backend.gate(principal, type));
  if (gates.some((gate) => gate === 'open' || gate === 'paused')) return 'open';
  if (gates.includes('approval')) return 'approval';
  return gates.includes('refused') || backend.policy.isDenied(principal) ? 'refused' : 'off';
}
