import type { MailReader } from '../apple/reader.ts';
import type { ExcludedPlaces } from '../contract/values.ts';
import { cleanText } from '../events/text.ts';
import { mailboxKey } from '../policy/mailbox-ceiling.ts';

const NAME_LIMIT = 1024;
const fold = (text: string) => text.normalize('NFC').toLowerCase();

/**
 * Every account and mailbox of Mail with what the owner excluded, also drafts, junk and what was sent: reading reaches them.
 * @param reader null while Mail cannot be read: what is excluded is then named by its key
 * @param excluded account ids, and mailboxes as `account id/path`
 */
export function excludedPlaces(reader: Pick<MailReader, 'mailboxes'> | null, excluded: readonly string[]): ExcludedPlaces {
  const keys = new Set(excluded.map(fold));
  const byAccount = Map.groupBy(reader?.mailboxes() ?? [], ({ accountId }) => accountId);
  const accounts = [...byAccount].map(([accountId, mailboxes]) => ({
    place: accountId,
    name: cleanText(mailboxes[0]!.account, NAME_LIMIT),
    excluded: keys.has(fold(accountId)),
    mailboxes: mailboxes.toSorted((a, b) => a.path.localeCompare(b.path)).map((mailbox) => ({
      place: mailboxKey(mailbox), name: cleanText(mailbox.path, NAME_LIMIT), role: mailbox.role, excluded: keys.has(mailboxKey(mailbox)),
    })),
  })).toSorted((a, b) => a.name.localeCompare(b.name));
  const found = new Set(accounts.flatMap(({ place, mailboxes }) => [fold(place), ...mailboxes.map((mailbox) => mailbox.place)]));
  return {
    readable: reader !== null,
    accounts,
    gone: excluded.filter((key) => !found.has(fold(key))).map((key) => ({ place: key, name: cleanText(key, NAME_LIMIT) })),
  };
}
