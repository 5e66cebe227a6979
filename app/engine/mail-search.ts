import type { Mailbox, MailRow } from '../apple/occurrence.ts';
import type { MailArchive } from '../apple/reader.ts';
import type { Principal } from '../events/verdict.ts';
import type { Coverage, MailFinding, MailQuestion } from '../mcp/searching.ts';
import type { Policy } from '../policy/policy.ts';
import type { Hit } from '../search/index-reader.ts';
import type { SearchRequest } from '../search/search-request.ts';
import type { SearchHost } from './search-host.ts';
import { withoutSubject } from './subjectless-query.ts';

export type SearchedArchive = Pick<MailArchive, 'mailboxes' | 'pick' | 'labelsOf'>;
type SearchPolicy = Pick<Policy, 'readableSenders' | 'isWithinMailboxes' | 'mayRead' | 'hides' | 'subjects'>;

/** Ids of mailboxes and labels; null: any will do. */
type Places = ReadonlySet<number> | null;

/** Searches the index for a client: what it may not read is neither found nor counted, and what is shown is as Mail has it now. */
export async function searchMail(host: SearchHost, archive: SearchedArchive, policy: SearchPolicy, principal: Principal, question: MailQuestion): Promise<MailFinding> {
  const { index } = host;
  if (typeof index === 'string') return { ok: false, reason: index };
  const { scope, after, before, limit, offset } = question;
  const asked = policy.subjects === false ? withoutSubject(question.query, scope) : { ok: true as const, query: question.query };
  if (!asked.ok) return asked;
  const senders = policy.readableSenders(principal);
  const all = archive.mailboxes();
  const wanted = [
    question.mailboxes === null ? null : idsOf(question.mailboxes),
    // Who is bound by the owner's rules is bound by their mailboxes too.
    senders === null || all.every((mailbox) => policy.isWithinMailboxes(mailbox)) ? null : idsOf(all.filter((mailbox) => policy.isWithinMailboxes(mailbox))),
  ];
  // Until the index has let go of what was excluded just now, it is left out here.
  const except = idsOf([...question.except, ...(index.isBounded ? [] : all.filter((mailbox) => policy.hides(mailbox)))]);
  const rows = new Map<number, MailRow>();
  const request: SearchRequest = {
    query: asked.query, scope, limit, offset, ...physical(all, wanted, except), ...(after !== null && { after: Math.ceil(after / 1000) }), ...(before !== null && { before: Math.ceil(before / 1000) }),
    ...(senders !== null && { senders }),
    check: (hits) => {
      for (const row of archive.pick(hits.map(({ mail }) => mail))) rows.set(row.rowid, row);
      // Gone or moved since: the index is told, and what is shown is what is there.
      index.take(hits.filter(({ mail, mailbox }) => rows.get(mail)?.box !== mailbox).map(({ mail }) => mail));
      return new Set([...rows.values()].filter((row) => row.excluded !== 'deleted' && policy.mayRead(row, principal) && isIn(row.mailboxes.map(({ id }) => id), wanted, except)).map(({ rowid }) => rowid));
    },
  };
  const found = await index.search(request);
  if (!found.ok) return found;
  // The owner may have answered otherwise while it was searched.
  const hits = found.hits.flatMap(({ mail, snippet, score, at }) => {
    const row = rows.get(mail);
    // How rare a word is among mail of others is in the figure.
    return row === undefined || !policy.mayRead(row, principal) ? [] : [{ row, snippet, score: senders === null ? score : null, at }];
  });
  const { count, isExact, order, next } = found;
  return { ok: true, hits, count, isExact, order, next, coverage: coverageOf(host) };

  function physical(boxes: readonly Mailbox[], places: readonly Places[], without: ReadonlySet<number>): Pick<SearchRequest, 'mailboxes' | 'exceptMailboxes' | 'accept'> {
    const byId = new Map(boxes.map((mailbox) => [mailbox.id, mailbox]));
    const named = places.filter((each) => each !== null);
    // The mail of a label lies in the mailbox that it is a label of.
    const inside = named.map((each) => new Set([...each].map((id) => byId.get(id)?.source ?? id)));
    const hasLabels = [...named, without].some((each) => [...each].some((id) => (byId.get(id)?.source ?? null) !== null));
    return {
      ...(inside.length > 0 && { mailboxes: [...inside[0]!].filter((id) => inside.every((each) => each.has(id))) }),
      ...(without.size > 0 && { exceptMailboxes: [...without] }),
      ...(hasLabels && { accept: (hits: readonly Hit[]) => accepted(hits, places, without) }),
    };
  }

  function accepted(hits: readonly Hit[], places: readonly Places[], without: ReadonlySet<number>): ReadonlySet<number> {
    const labels = archive.labelsOf(hits.map(({ mail }) => mail));
    return new Set(hits.filter(({ mail, mailbox }) => isIn([mailbox, ...(labels.get(mail) ?? [])], places, without)).map(({ mail }) => mail));
  }
}

const idsOf = (mailboxes: readonly Mailbox[]): ReadonlySet<number> => new Set(mailboxes.map(({ id }) => id));
const isIn = (ids: readonly number[], places: readonly Places[], without: ReadonlySet<number>): boolean =>
  places.every((each) => each === null || ids.some((id) => each.has(id))) && !ids.some((id) => without.has(id));

export function coverageOf(host: SearchHost): Coverage {
  const { phase, indexed, total, deadLetters } = host.state();
  return { phase, indexed, total, unreadable: deadLetters.reduce((sum, { count }) => sum + count, 0) };
}
