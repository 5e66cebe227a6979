import type { ActivityRow } from '../../app/contract/values.ts';
import { reasonWords } from '../live/words.ts';
import type { BadgeKind } from '../parts/badge.tsx';
import type { IconId } from '../parts/icon.tsx';

export type ActivityKind = ActivityRow['kind'];

export const KINDS: Readonly<Record<ActivityKind, { readonly text: string; readonly kind: BadgeKind; readonly icon?: IconId }>> = {
  delivered: { text: 'Delivered', kind: 'ok' },
  sent: { text: 'Sent, not confirmed', kind: 'quiet' },
  not_sent: { text: 'Not sent', kind: 'quiet', icon: 'close' },
  subscribed: { text: 'Subscribed', kind: 'quiet', icon: 'plus' },
  unsubscribed: { text: 'Unsubscribed', kind: 'quiet', icon: 'minus' },
  changed: { text: 'Changed', kind: 'quiet', icon: 'check' },
  woke: { text: 'Woke up', kind: 'quiet', icon: 'wait' },
  gap: { text: 'Missed', kind: 'problem' },
  client: { text: 'Client', kind: 'quiet', icon: 'check' },
  read: { text: 'Read', kind: 'quiet', icon: 'check' },
  reply: { text: 'Reply', kind: 'quiet', icon: 'check' },
  draft: { text: 'Draft', kind: 'quiet', icon: 'check' },
};

/** What a row says behind its time and kind. Reasons are codes or sentences of the engine. */
export function activityWords(row: ActivityRow, clientName: (id: string) => string): string {
  const client = row.client === null ? null : clientName(row.client);
  const reason = row.reason === null ? null : reasonWords(row.reason);
  const said = [client, row.sender, readWords(row), reason].filter((part) => part !== null).join(', ');
  if (said !== '') return said;
  return row.kind === 'gap' ? 'Events were missed' : '';
}

/** What a tool gives that reads neither mails nor messages. */
const ITEMS: ReadonlyMap<string | null, string> = new Map([['mail_accounts', 'account'], ['mail_mailboxes', 'mailbox'], ['mail_attachment', 'attachment'], ['messages_chats', 'chat']]);

/** How much a client read: only tools read, so a type is always there. */
function readWords({ count, type, reason }: ActivityRow): string | null {
  if (count === null) return null;
  const one = ITEMS.get(reason) ?? (type === 'messages.received' ? 'message' : 'mail');
  return `${count} ${count === 1 ? one : one === 'mailbox' ? 'mailboxes' : `${one}s`}`;
}

/** @param text what is searched for, in any case */
export function searchActivity(rows: readonly ActivityRow[], text: string, clientName: (id: string) => string): readonly ActivityRow[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return rows;
  return rows.filter((row) => `${KINDS[row.kind].text} ${row.type ?? ''} ${activityWords(row, clientName)} ${row.eventId ?? ''}`.toLowerCase().includes(wanted));
}
