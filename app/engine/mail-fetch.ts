import { quotesOf, tidy } from '../apple/mail/plain-text.ts';
import { textThroughMail } from '../apple/script/mail-script.ts';
import { faultSentence } from '../apple/script/script-words.ts';
import type { MailRow } from '../apple/occurrence.ts';
import type { FetchedText } from '../mcp/session.ts';
import type { Engine } from './engine.ts';
import { placeInApp } from './writing.ts';

/**
 * The text of a mail that is not on this Mac, by asking Mail for it: only where the owner allowed that and Mail runs.
 * A sentence where nothing came of it. Nothing is marked as read by it.
 */
export async function fetchText(engine: Engine, row: MailRow): Promise<FetchedText> {
  if (!engine.policy.settings.fetchThroughMail) return { ok: false, sentence: 'Nothing is fetched for this: the owner has not allowed that. Open it in Mail, or try again later.' };
  const place = placeInApp(row);
  if (place === null) return { ok: false, sentence: 'It cannot be fetched: its mailbox is not known.' };
  if (engine.options.sourceRuns?.('mail') !== true) return { ok: false, sentence: 'It could be fetched while Mail runs. Mail is not running, and Belfry does not start it for this.' };
  const answer = await textThroughMail(engine.scripts, place);
  if (!answer.ok) return { ok: false, sentence: `It could not be fetched. ${faultSentence(answer.fault, 'Mail')}` };
  const text = tidy(answer.text);
  return text === '' ? { ok: false, sentence: 'It could not be fetched: Mail has no text of it either.' } : { ok: true, text, quotes: quotesOf(text) };
}
