import type { Mailbox, PlacedMail, StoreRow } from '../apple/occurrence.ts';
import type { Settings } from './settings.ts';

/** How a mailbox is named in settings: by the account's id, so that a renamed account changes nothing. */
export const mailboxKey = (mailbox: Pick<Mailbox, 'accountId' | 'path'>): string => fold(`${mailbox.accountId}/${mailbox.path}`);

/** The owner's narrowing of mail to some mailboxes, and what is excluded. It only ever holds back: a mailbox makes no sender pass. */
export class MailboxCeiling {
  readonly #keys: ReadonlySet<string> | null;
  readonly #accounts: ReadonlySet<string>;
  readonly #excluded: ReadonlySet<string>;

  /** @param mailboxes `account id/path`; null: every mailbox that can ring */
  constructor(mailboxes: readonly string[] | null, excluded: Settings['excluded'] = { accounts: [], mailboxes: [] }) {
    this.#keys = mailboxes === null ? null : new Set(mailboxes.map(fold));
    this.#accounts = new Set(excluded.accounts.map(fold));
    this.#excluded = new Set(excluded.mailboxes.map(fold));
  }

  allows({ row }: { readonly row: StoreRow | PlacedMail }): boolean {
    if (row.store !== 'mail') return true;
    if (this.excludes(row)) return false;
    return this.#keys === null || row.mailboxes.some((mailbox) => this.takes(mailbox));
  }

  /** Whether a mailbox is among those that the owner narrowed mail to. */
  takes(mailbox: Pick<Mailbox, 'accountId' | 'path'>): boolean {
    return this.#keys === null || this.#keys.has(mailboxKey(mailbox));
  }

  get excludesAny(): boolean {
    return this.#accounts.size > 0 || this.#excluded.size > 0;
  }

  /** One excluded place is enough: a mail that also shows elsewhere is excluded all the same, and so is one whose place is not known. */
  excludes(row: StoreRow | PlacedMail): boolean {
    if (row.store !== 'mail' || !this.excludesAny) return false;
    return row.mailboxes.length === 0 || row.mailboxes.some((mailbox) => this.hides(mailbox));
  }

  /** An excluded mailbox takes what lies below it along. */
  hides(mailbox: Pick<Mailbox, 'accountId' | 'path'>): boolean {
    if (!this.excludesAny) return false;
    if (this.#accounts.has(fold(mailbox.accountId))) return true;
    const levels = fold(mailbox.path).split('/');
    return levels.some((_, at) => this.#excluded.has(`${fold(mailbox.accountId)}/${levels.slice(0, at + 1).join('/')}`));
  }
}

const fold = (text: string) => text.normalize('NFC').toLowerCase();
