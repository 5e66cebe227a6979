import { many } from '../../app/contract/glance.ts';
import type { LiveRow, LiveStatus } from '../../app/contract/values.ts';
import type { BadgeKind } from '../parts/badge.tsx';
import type { IconId } from '../parts/icon.tsx';

/** State by text and by shape, never by colour alone (ui.md, section 2). */
export interface StatusWords {
  readonly text: string;
  readonly kind: BadgeKind;
  readonly icon: IconId;
}

const STATUS: Readonly<Record<LiveStatus, StatusWords>> = {
  delivered: { text: 'Delivered', kind: 'ok', icon: 'check' },
  sent: { text: 'Sent, not confirmed', kind: 'quiet', icon: 'unknown' },
  waiting: { text: 'Waiting', kind: 'wait', icon: 'wait' },
  'not-sent': { text: 'Not sent', kind: 'quiet', icon: 'close' },
  missed: { text: 'Missed', kind: 'problem', icon: 'problem' },
};

export const statusWords = (status: LiveStatus): StatusWords => STATUS[status];

/** Why something that a client asked for, or could have had, was not sent. */
const NOT_SENT = {
  paused: 'Paused',
  'no-allowed-sender': 'No allowed sender matches',
  'client-not-allowed': "The client isn't allowed",
  mailbox: 'Not in a mailbox that counts',
  rate: 'The ceiling of events per hour is reached',
  'no-listener': 'No client asked for it',
} as const;

/** Of a verdict: nothing kept it back, it lies in a client's inbox and was not read yet. */
const WAITING = 'waiting';

/** Why a row in Mail or Messages is no arrival. */
const NOT_ARRIVAL = {
  sent: 'Your own message',
  draft: 'A draft',
  outbox: 'Still in the outbox',
  junk: 'In junk',
  trash: 'In the trash',
  deleted: 'Deleted before it was read',
  moved: 'Moved from another mailbox',
  backfill: 'Old message synced late',
  tapback: 'A reaction, not a message',
  sticker: 'A sticker, not a message',
  poll: 'A poll vote, not a message',
  edit: 'An edit of an earlier message',
  unsent: 'Unsent by its sender',
  'group-notice': 'A notice of the group, not a message',
  scheduled: 'Scheduled to be sent later',
  twin: 'The same message a second time',
  system: 'A notice of the system, not a message',
  spam: 'Filtered as spam',
  'no-sender': 'No sender is known',
} as const;

export const reasonTables = { notSent: NOT_SENT, notArrival: NOT_ARRIVAL } as const;

const REASONS: ReadonlyMap<string, string> = new Map([...Object.entries(NOT_SENT), ...Object.entries(NOT_ARRIVAL)]);

/** A code of the engine in plain words. A code that this page does not know is shown as it is. */
export const reasonWords = (code: string): string => REASONS.get(code) ?? code;

/** Why a row was not sent, in words; null for one that was. */
export function whyWords(row: LiveRow): string | null {
  if (row.status === 'missed') return row.number === null ? "Can't tell how many" : many(row.number, 'event');
  const code = row.status === 'not-sent' ? (row.reason ?? row.notArrival) : null;
  return code === null ? null : reasonWords(code);
}

/** Who got it, or how many wait; null where there is nothing to add. */
export function whoWords(row: LiveRow): string | null {
  if (row.status === 'waiting') return row.number === null ? null : `${row.number} unread`;
  if (row.status === 'not-sent' || row.status === 'missed') return null;
  const clients = row.verdicts.filter(({ sent }) => sent).map(({ client }) => client);
  return clients.length > 1 ? many(clients.length, 'client') : (clients[0] ?? null);
}

/** The subject, or `iMessage, 1 attachment`: what a row is about, without a word of its text. */
export function aboutWords({ type, subject, service, place, attachments }: Pick<LiveRow, 'type' | 'subject' | 'service' | 'place' | 'attachments'>): string {
  const parts = type === 'mail.received' ? [subject] : [service, place];
  return [...parts, attachments > 0 ? many(attachments, 'attachment') : null].filter((part) => part !== null && part !== '').join(', ');
}

export const kindWord = (row: Pick<LiveRow, 'type'>): string => (row.type === 'mail.received' ? 'Mail' : 'Message');

/** One sentence for each client that the event concerned. @param time Unix ms as the owner reads it */
export function verdictSentences(row: LiveRow, time: string): readonly string[] {
  return row.verdicts.map(({ client, sent, confirmed, reason }) => {
    if (reason === WAITING) return `Waits in the inbox of ${client}, unread.`;
    if (!sent) return `Not sent to ${client}${reason === null ? '' : `: ${lowerFirst(reasonWords(reason))}`}.`;
    return confirmed ? `Delivered to ${client} at ${time}.` : `Sent to ${client} at ${time}, not confirmed.`;
  });
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

/** What stands for a person while details are hidden. */
export const hiddenSender = (row: Pick<LiveRow, 'reason'>): string => (row.reason === 'no-allowed-sender' ? 'A sender that is not allowed' : 'An allowed sender');

/** On a button that leads to where the sender stands all the same, at its owner's wish. */
export const SHOWS_SENDER = 'Opens a sheet that shows the sender';

/** Where a row has no sender. */
export function nobodyWords({ status, notArrival }: Pick<LiveRow, 'status' | 'notArrival'>): string {
  if (status === 'missed') return 'Events were missed';
  return notArrival === 'sent' ? 'You' : 'No sender';
}
