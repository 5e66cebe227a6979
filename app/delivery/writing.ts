import type { MailRow } from '../apple/occurrence.ts';
import { cleanText } from '../events/text.ts';

/** What a client would like to write, as the owner is shown it and as it goes out: the same characters. In memory only. */
export type Writing = MessageWriting | DraftWriting;

/** A text to a chat. The chat stands as it was when it was asked for: it goes out only if it still is the same. */
export interface MessageWriting {
  readonly kind: 'message';
  readonly chat: {
    readonly guid: string;
    readonly name: string;
    readonly isGroup: boolean;
    /** Normalised, without me. */
    readonly members: readonly string[];
    /** The same for people, where known by name. */
    readonly names: readonly string[];
    readonly service: string | null;
  };
  /** Row of the message that it answers; null: the chat itself was named. No part of what is written. */
  readonly event: number | null;
  readonly text: string;
}

/** A draft that is opened in Mail. */
export interface DraftWriting {
  readonly kind: 'draft';
  /** Empty for an answer: Mail fills in whom it goes to. */
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** Where Mail's answer goes, for the owner to see: no part of what is written. Null: not known, or no answer. */
  readonly goesTo: AnswerRecipients | null;
  /** The mail that it answers. */
  readonly answers: { readonly rowid: number; readonly from: string; readonly subject: string | null; readonly all: boolean } | null;
}

/** What the owner is shown of the mail that is answered. */
export const answeredMail = ({ from, subject }: Pick<MailRow, 'from' | 'subject'>): { readonly from: string; readonly subject: string | null } =>
  ({ from: cleanText(from?.address ?? '', 320), subject: subject === null ? null : cleanText(subject, 512) });

/** By the headers of the mail. Addresses alone, made inert: a name beside one may claim to be another. */
export interface AnswerRecipients {
  /** Whom it goes to where that is not the sender alone, as by Reply-To; else empty. */
  readonly instead: SomeAddresses;
  /** Whom else the mail names: empty unless it goes to all. */
  readonly to: SomeAddresses;
  readonly cc: SomeAddresses;
}
export interface SomeAddresses {
  /** The first few. */
  readonly shown: readonly string[];
  readonly count: number;
}

/** `unknown`: it was begun and may have gone out; it is never tried again. `failed`: nothing went out. */
export type WritingState = 'waiting' | 'running' | 'done' | 'declined' | 'expired' | 'failed' | 'unknown';

/** Whether a client may write something by what holds now. `unreadable`: the store that tells cannot be asked. */
export type Standing = 'may' | 'may-not' | 'unreadable';

/** What came of the attempt. */
export type Written = { readonly state: 'done' } | { readonly state: 'failed' | 'unknown'; readonly sentence: string };

/** One request of a client. */
export interface WritingRequest {
  readonly id: string;
  readonly client: string;
  readonly kind: Writing['kind'];
  /** Unix ms. */
  readonly since: number;
  readonly expiresAt: number;
  readonly state: WritingState;
  /** Why it failed or is not known; else null. */
  readonly sentence: string | null;
  /** Gone once it is settled. */
  readonly writing: Writing | null;
}
