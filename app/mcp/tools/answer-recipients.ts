import { readHeaders } from '../../apple/mail/mail-texts.ts';
import type { Address, MailRow } from '../../apple/occurrence.ts';
import { normaliseAddress } from '../../apple/sender.ts';
import type { AnswerRecipients, SomeAddresses } from '../../delivery/writing.ts';
import { cleanText } from '../../events/text.ts';
import { inQuotes } from '../../text/quotes.ts';
import { isOfAnother } from './mail-tools.ts';
import type { ToolCall } from './tool.ts';

const SHOWN = 20;
const NONE: SomeAddresses = { shown: [], count: 0 };

/**
 * Where Mail's answer goes by the mail's own headers, for the owner. Null: the file is not on this Mac, can't be read, or names
 * more than is read.
 * @param all to everyone whom the mail names
 */
export async function recipientsOf(row: MailRow, all: boolean, { session: { backend } }: ToolCall): Promise<AnswerRecipients | null> {
  if (row.mailbox === null) return null;
  const headers = await readHeaders(backend.reading.mailFiles, row.mailbox, row.rowid).catch(() => null);
  if (headers === null || headers.isCut || isOfAnother(row, headers.messageId)) return null;
  const { from, to, cc, replyTo } = headers;
  // Mail answers an own mail to those whom it went to.
  const goesTo = row.excluded === 'sent' ? to : replyTo.length > 0 ? replyTo : from;
  const isSender = goesTo.every(({ address }) => normaliseAddress(address) === row.sender);
  return { instead: isSender ? NONE : some(goesTo), to: all ? some(to) : NONE, cc: all ? some(cc) : NONE };
}

/** Each once. What could look like several stands between quotation marks. */
function some(list: readonly Address[]): SomeAddresses {
  const all = [...new Map(list.map(({ address }) => [normaliseAddress(address), cleanText(address, 320)])).values()];
  return { shown: all.slice(0, SHOWN).map((address) => (/[\s,]/.test(address) ? inQuotes(address) : address)), count: all.length };
}
