import type { Mailbox } from '../apple/occurrence.ts';
import type { Occurrence } from '../events/occurrence.ts';

/** How a mailbox is named in settings: by the account's id, so that a renamed account changes nothing. */
export const mailboxKey = (mailbox: Pick<Mailbox, 'accountId' | 'path'>): string => fold(`${mailbox.accountId}/${mailbox.path}`);

/** The owner's narrowing of mail to some mailboxes. It only ever holds back: a mailbox makes no sender pass. */
export class MailboxCeiling {
  readonly #keys: ReadonlySet<string> | null;

  /** @param mailboxes `account id/path`; null: every mailbox that can ring */
  constructor(mailboxes: readonly string[] | null) {
    this.#keys = mailboxes === null ? null : new Set(mailboxes.map(fold));
  }

  allows({ row }: Occurrence): boolean {
    if (this.#keys === null || row.store !== 'mail') return true;
    return row.mailboxes.some((mailbox) => this.#keys!.has(mailboxKey(mailbox)));
  }
}

const fold = (text: string) => text.normalize('NFC').toLowerCase();
