import type { MessagesArchive } from '../apple/reader.ts';
import type { Clock } from '../events/clock.ts';
import { hideCodes } from '../events/one-time-code.ts';
import type { Principal } from '../events/verdict.ts';
import type { FoundMessage, MessagesFinding, MessagesQuestion } from '../mcp/searching.ts';
import type { Policy } from '../policy/policy.ts';
import { parseQuery } from '../search/query.ts';
import { cutSnippet, needlesOf } from '../search/snippet.ts';
import { matcherOf } from '../search/text-match.ts';

/** Rows looked at in one turn, and for one call: then the caller goes on from there. */
const TURN = 500;
export const MAX_LOOKED = 50_000;

/**
 * Looks through the texts of messages, the newest row first. There is no index of them: texts are short, a thousand are read in a few
 * milliseconds, and an index would be a second copy of what people said to each other. Work of others comes between two turns.
 */
export async function searchMessages(
  archive: MessagesArchive, policy: Pick<Policy, 'mayRead' | 'settings'>, clock: Clock, principal: Principal, question: MessagesQuestion, signal: AbortSignal,
): Promise<MessagesFinding> {
  const parsed = parseQuery(question.query, 'messages');
  if (!parsed.ok) return parsed;
  const { query, notes } = parsed;
  const fits = matcherOf(query);
  const needles = needlesOf(query);
  const { hideCodes: hidesCodes } = policy.settings;
  const { scope, after, before, limit } = question;
  const hits: FoundMessage[] = [];
  let { below } = question;
  let unreadable = false;
  const mayRead = (rowid: number) => {
    const row = archive.find({ rowid });
    return row !== null && policy.mayRead(row, principal) ? row : null;
  };
  for (let looked = 0; ;) {
    const rows = archive.scan({ scope, below, limit: TURN });
    for (const { rowid, date, text, isReadable } of rows) {
      looked += 1;
      below = rowid;
      if ((after !== null && (date === null || date < after)) || (before !== null && (date === null || date >= before))) continue;
      if (!isReadable) unreadable ||= mayRead(rowid) !== null;
      if (text === '' || !fits(text) || (hidesCodes && !fits(hideCodes(text)))) continue;
      const row = mayRead(rowid);
      if (row === null) continue;
      hits.push({ row, snippet: cutSnippet(text, needles, hidesCodes ? () => '' : null) });
      if (hits.length >= limit) return { ok: true, hits, unreadable, next: below, notes };
    }
    if (rows.length < TURN) return { ok: true, hits, unreadable, next: null, notes };
    if (looked >= MAX_LOOKED || signal.aborted) return { ok: true, hits, unreadable, next: below, notes };
    await new Promise<void>((done) => void clock.after(0, done));
  }
}
