import type { MailRow, MessageRow, StoreKind, StoreRow } from '../apple/occurrence.ts';
import { hideCodes } from './one-time-code.ts';
import { cleanText } from './text.ts';

export type EventType = 'mail.received' | 'messages.received';

export const eventTypeOf: Readonly<Record<StoreKind, EventType>> = {
  mail: 'mail.received',
  messages: 'messages.received',
};
export const storeOf: Readonly<Record<EventType, StoreKind>> = {
  'mail.received': 'mail',
  'messages.received': 'messages',
};

/** One arrival, ready to be matched and rendered. Rendering happens once, whoever it goes to. */
export interface Occurrence {
  readonly type: EventType;
  readonly row: StoreRow;
  /** Mail `<first 8 of the store's UUID>-<global id>` (a rebuild renumbers), Messages the guid. Stable. */
  readonly eventId: string;
  /** Normalised sender; never null in an occurrence. */
  readonly sender: string;
  /** UTC, ISO 8601; the time of the scan where the row has no date (SEP-3415: never null). */
  readonly timestamp: string;
}

/**
 * Longest text sent for a name or a path, and for a subject, in characters (architecture 5).
 * Cutting happens after control and bidi-override characters are gone.
 */
const NAME_LIMIT = 256;
const SUBJECT_LIMIT = 512;

/** @param now Unix ms, used as timestamp where the row has no date. `storeId`: Mail's UUID. */
export function occurrenceOf(row: StoreRow, storeId: string, now: number): Occurrence {
  return {
    type: eventTypeOf[row.store],
    row,
    eventId: row.store === 'mail' ? `${storeId.slice(0, 8)}-${row.globalId}` : row.guid,
    sender: row.sender ?? '',
    timestamp: iso(row.date ?? now) ?? new Date(now).toISOString(),
  };
}

/** What the owner lets clients see of subjects: all, none, or without one-time codes. */
export type Subjects = boolean | 'without-codes';

/** A subject as clients see it; filters see no more. */
export function shownSubject(subject: string | null, subjects: Subjects): string | null {
  if (subject === null || subjects === false) return null;
  // Of one line: a line end within a code is left out as well, and must not keep it from being one.
  return subjects === 'without-codes' ? hideCodes(cleanText(subject, Infinity)) : subject;
}

/** The envelope as the payload schema has it. `subjects` false: the owner turned subjects off. */
export function payloadOf(occurrence: Occurrence, subjects: Subjects): Record<string, unknown> {
  const { row } = occurrence;
  return row.store === 'mail' ? mailPayload(row, occurrence.eventId, subjects) : messagePayload(row);
}

function mailPayload(row: MailRow, id: string, subjects: Subjects): Record<string, unknown> {
  const shown = row.mailboxes[0] ?? row.mailbox;
  return {
    id,
    messageId: text(row.messageIdHeader, SUBJECT_LIMIT),
    from: { address: text(row.from?.address ?? null, NAME_LIMIT), name: text(row.from?.name ?? null, NAME_LIMIT) },
    to: row.to.map((to) => ({ address: text(to.address, NAME_LIMIT), name: text(to.name, NAME_LIMIT) })),
    toCount: row.toCount,
    subject: text(shownSubject(row.subject, subjects), SUBJECT_LIMIT),
    mailbox: text(shown?.path ?? null, NAME_LIMIT),
    account: text(shown?.account ?? null, NAME_LIMIT),
    dateReceived: iso(row.dateReceived),
    dateSent: iso(row.dateSent),
    hasAttachments: row.hasAttachments,
    conversationId: row.conversationId,
  };
}

function messagePayload(row: MessageRow): Record<string, unknown> {
  return {
    id: row.guid,
    from: { handle: text(row.handle, NAME_LIMIT), name: text(row.name, NAME_LIMIT) },
    chat: row.chat && {
      id: row.chat.guid,
      name: text(row.chat.name, NAME_LIMIT),
      isGroup: row.chat.isGroup,
      participantCount: row.chat.participantCount,
    },
    service: text(row.service, NAME_LIMIT),
    date: iso(row.date),
    hasAttachments: row.hasAttachments,
    attachmentCount: row.attachmentCount,
    replyTo: text(row.replyTo, NAME_LIMIT),
  };
}

function text(value: string | null, limit: number): string | null {
  return value === null ? null : cleanText(value, limit);
}

/** ISO 8601 in UTC, or null for a missing or absurd date (a Date header may hold anything). */
function iso(ms: number | null): string | null {
  if (ms === null || !Number.isFinite(ms) || Math.abs(ms) > 8.64e15) return null;
  const year = new Date(ms).getUTCFullYear();
  return year >= 1970 && year <= 9999 ? new Date(ms).toISOString() : null;
}
