import type { Mailbox } from '../apple/occurrence.ts';
import type { MailReader } from '../apple/reader.ts';
import type { MailboxRow } from '../contract/values.ts';
import { EventsError } from '../events/errors.ts';
import { findMailbox } from '../events/names.ts';
import { cleanText } from '../events/text.ts';
import type { Outcome } from '../policy/change.ts';
import { mailboxKey } from '../policy/mailbox-ceiling.ts';

const NAME_LIMIT = 1024;
/** Mailboxes whose mail can ring. */
const RINGING: readonly Mailbox['role'][] = ['inbox', 'archive', 'other'];

/** Mailboxes for the owner's narrowing: those that can ring, inboxes first. */
export function mailboxRows(reader: MailReader): MailboxRow[] {
  const all = reader.mailboxes().filter(({ role }) => RINGING.includes(role));
  const rank = ({ role }: Mailbox) => RINGING.indexOf(role);
  return all.toSorted((a, b) => rank(a) - rank(b) || a.account.localeCompare(b.account) || a.path.localeCompare(b.path))
    .map((mailbox) => ({ name: nameOf(mailbox, all), account: cleanText(mailbox.account, NAME_LIMIT), role: mailbox.role }));
}

/** Names as shown to what settings keep: the account's id and the path. */
export function resolveMailboxes(reader: MailReader | null, names: readonly string[]): { readonly ok: true; readonly keys: string[] } | Extract<Outcome, { ok: false }> {
  if (reader === null) return { ok: false, code: 'invalid', message: 'Mailboxes can be chosen once New mail is on and Mail can be read.' };
  const all = reader.mailboxes();
  try {
    const ids = names.flatMap((name) => findMailbox(all, name));
    return { ok: true, keys: all.filter(({ id }) => ids.includes(id)).map(mailboxKey) };
  } catch (error) {
    if (!(error instanceof EventsError)) throw error;
    return { ok: false, code: 'invalid', message: `${error.message.replace('arguments.', '')}.` };
  }
}

/** Accounts by name or id, and mailboxes by name, to what `excluded` keeps. */
export function resolvePlaces(reader: MailReader | null, names: readonly string[]): { readonly ok: true; readonly keys: string[] } | Extract<Outcome, { ok: false }> {
  if (reader === null) return { ok: false, code: 'invalid', message: 'Accounts and mailboxes can be excluded once New mail is on and Mail can be read.' };
  const all = reader.mailboxes();
  const keys: string[] = [];
  for (const name of names) {
    const wanted = fold(name);
    // As `excludedPlaces` names it.
    const exact = all.find((mailbox) => mailboxKey(mailbox) === wanted);
    if (exact) {
      keys.push(mailboxKey(exact));
      continue;
    }
    const accounts = new Set(all.filter(({ account, accountId }) => fold(account) === wanted || fold(accountId) === wanted).map(({ accountId }) => accountId));
    // A name that two accounts share excludes both: leaving one out would be the worse mistake.
    if (accounts.size > 0) keys.push(...accounts);
    else {
      const resolved = resolveMailboxes(reader, [name]);
      if (!resolved.ok) return resolved;
      keys.push(...resolved.keys);
    }
  }
  return { ok: true, keys };
}

/** The same for what is excluded: also places that are gone, and while Mail cannot be read. */
export function resolveExcluded(reader: MailReader | null, names: readonly string[], excluded: readonly string[]): string[] {
  const shown = shownPlaces(reader, excluded);
  return names.flatMap((name) => excluded.filter((key, at) => fold(key) === fold(name) || fold(shown[at]!) === fold(name)));
}

/** What is excluded as it is shown: accounts by name, mailboxes as `Account/Path`. */
export function shownPlaces(reader: MailReader | null, excluded: readonly string[]): string[] {
  const accounts = new Map((reader?.mailboxes() ?? []).map(({ accountId, account }) => [accountId, account]));
  return excluded.map((key) => (key.includes('/') ? shownMailboxes(reader, [key])[0]! : cleanText(accounts.get(key) ?? key, NAME_LIMIT)));
}

/** What settings keep as it is shown; a mailbox that is not found keeps its key. */
export function shownMailboxes(reader: MailReader | null, keys: readonly string[]): string[] {
  const all = reader?.mailboxes() ?? [];
  const byKey = new Map(all.map((mailbox) => [mailboxKey(mailbox), nameOf(mailbox, all)]));
  return keys.map((key) => byKey.get(key) ?? cleanText(key, NAME_LIMIT));
}

/** ROWID of a mailbox -> its name as it is shown. */
export function mailboxNames(reader: MailReader | null): ReadonlyMap<number, string> {
  const all = reader?.mailboxes() ?? [];
  return new Map(all.map((mailbox) => [mailbox.id, nameOf(mailbox, all)]));
}

/** Accounts of the index, without the folders that lie on this Mac only. */
export function accountCount(reader: MailReader): number {
  return new Set(reader.mailboxes().filter(({ url }) => !url.startsWith('local:')).map(({ accountId }) => accountId)).size;
}

/** `Account/Path`; by the account's id where two accounts share a name. */
function nameOf(mailbox: Mailbox, all: readonly Mailbox[]): string {
  const isShared = all.some((other) => other.account === mailbox.account && other.accountId !== mailbox.accountId);
  return cleanText(`${isShared ? mailbox.accountId : mailbox.account}/${mailbox.path}`, NAME_LIMIT);
}

const fold = (text: string) => text.normalize('NFC').toLowerCase();
