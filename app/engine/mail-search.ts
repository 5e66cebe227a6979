import type { Mailbox, MailRow, PlacedMail } from '../apple/occurrence.ts';
import type { MailArchive } from '../apple/reader.ts';
import type { Principal } from '../events/verdict.ts';
import type { Coverage, MailFinding, MailQuestion } from '../mcp/searching.ts';
import type { Policy } from '../policy/policy.ts';
import type { Hit } from '../search/index-reader.ts';
import type { SearchIndex } from '../search/search-index.ts';
import type { Judged, SearchRequest } from '../search/search-request.ts';
import type { SearchHost } from './search-host.ts';
import { withoutSubject } from './subjectless-query.ts';

export type SearchedArchive = Pick<MailArchive, 'mailboxes' | 'pick' | 'placed' | 'together' | 'dataVersion'>;
type SearchPolicy = Pick<Policy, 'readableSenders' | 'isWithinMailboxes' | 'mayRead' | 'hides' | 'excludesMail' | 'subjects'>;

/** Ids of mailboxes and labels; null: any will do. */
type Places = ReadonlySet<number> | null;

/** Searches the index for a client: what it may not read is neither found nor counted, and what is shown is as Mail has it now. */
export async function searchMail(host: SearchHost, archive: SearchedArchive, policy: SearchPolicy, principal: Principal, question: MailQuestion): Promise<MailFinding> {
  const { index } = host;
  if (typeof index === 'string') return { ok: false, reason: index };
  const { scope, after, before, limit, offset } = question;
  const asked = policy.subjects === false ? withoutSubject(question.query, scope) : { ok: true as const, query: question.query, notes: [] };
  if (!asked.ok) return asked;
  const senders = policy.readableSenders(principal);
  // Most searches look everywhere: the mailboxes are of no use to them.
  const isNarrow = senders !== null || question.mailboxes !== null || question.except.length > 0 || !index.isBounded;
  const all = isNarrow ? archive.mailboxes() : [];
  const wanted = [
    question.mailboxes === null ? null : idsOf(question.mailboxes),
    // Who is bound by the owner's rules is bound by their mailboxes too.
    senders === null || all.every((mailbox) => policy.isWithinMailboxes(mailbox)) ? null : idsOf(all.filter((mailbox) => policy.isWithinMailboxes(mailbox))),
  ];
  // Until the index has let go of what was excluded just now, it is left out here.
  const except = idsOf([...question.except, ...(index.isBounded ? [] : all.filter((mailbox) => policy.hides(mailbox)))]);
  const places = physical(all, wanted, except);
  const mayShow = (row: PlacedMail): boolean => row.excluded !== 'deleted' && policy.mayRead(row, principal);
  const isWanted = (row: PlacedMail): boolean => isIn(row.mailboxes.map(({ id }) => id), wanted, except);
  const judge = (hits: readonly Hit[]): Judged => {
    const placed = archive.placed(hits.map(({ mail }) => mail));
    handBack(index, policy, hits, placed);
    const readable = placed.filter(mayShow);
    return { readable: rowidsOf(readable), wanted: rowidsOf(readable.filter(isWanted)) };
  };
  let version = -1;
  const asNow = (hits: readonly Hit[]): ReadonlyMap<number, MailRow> => {
    const picked = archive.together(() => {
      version = archive.dataVersion();
      return archive.pick(hits.map(({ mail }) => mail));
    });
    handBack(index, policy, hits, picked);
    return new Map(picked.filter((row) => mayShow(row) && isWanted(row)).map((row) => [row.rowid, row]));
  };
  let rows: ReadonlyMap<number, MailRow> = new Map();
  const request: SearchRequest = {
    query: asked.query, scope, limit, offset, ...places.narrowing, ...(after !== null && { after: Math.ceil(after / 1000) }), ...(before !== null && { before: Math.ceil(before / 1000) }),
    ...(senders !== null && { senders }),
    // The index is a moment behind Mail. Where something may not be read, what counts is judged as it is now.
    ...((senders !== null || policy.excludesMail || places.hasLabels) && { judge }),
    check: (hits) => new Set((rows = asNow(hits)).keys()),
  };
  const found = await index.search(request);
  if (!found.ok) return found;
  // How rare a word is among mail of others is in the figure.
  const hits = found.hits.map(({ mail, score, at }) => ({ row: rows.get(mail)!, score: senders === null ? score : null, at }));
  const { snippets, count, isExact, order, next } = found;
  const rowsNow = (): (MailRow | null)[] => {
    if (archive.dataVersion() === version) return hits.map(({ row }) => row);
    const now = asNow(found.hits);
    return found.hits.map(({ mail }) => now.get(mail) ?? null);
  };
  const coverage = senders === null ? coverageOf(host) : coarse(coverageOf(host), archive.placed(index.state().counts.deadMails).filter(mayShow).length);
  return { ok: true, hits, rowsNow, snippets, count, isExact, order, next, coverage, notes: [...asked.notes, ...found.notes] };
}

/** Gone or moved since it was taken in, or excluded: the index is told. */
function handBack(index: SearchIndex, policy: Pick<Policy, 'hides'>, hits: readonly Hit[], rows: readonly PlacedMail[]): void {
  const known = new Map(rows.map((row) => [row.rowid, row]));
  index.take(hits.filter(({ mail, mailbox }) => {
    const row = known.get(mail);
    return row === undefined || row.excluded === 'deleted' || row.mailbox?.id !== mailbox || row.mailboxes.some((each) => policy.hides(each));
  }).map(({ mail }) => mail));
}

interface Narrowed {
  readonly narrowing: Pick<SearchRequest, 'mailboxes' | 'exceptMailboxes'>;
  readonly hasLabels: boolean;
}

/** The mail of a label lies in the mailbox that it is a label of. */
function physical(all: readonly Mailbox[], places: readonly Places[], without: ReadonlySet<number>): Narrowed {
  const byId = new Map(all.map((mailbox) => [mailbox.id, mailbox]));
  const named = places.filter((each) => each !== null);
  const inside = named.map((each) => new Set([...each].map((id) => byId.get(id)?.source ?? id)));
  return {
    narrowing: {
      ...(inside.length > 0 && { mailboxes: [...inside[0]!].filter((id) => inside.every((each) => each.has(id))) }),
      ...(without.size > 0 && { exceptMailboxes: [...without] }),
    },
    hasLabels: [...named, without].some((each) => [...each].some((id) => (byId.get(id)?.source ?? null) !== null)),
  };
}

const rowidsOf = (rows: readonly PlacedMail[]): ReadonlySet<number> => new Set(rows.map(({ rowid }) => rowid));
const idsOf = (mailboxes: readonly Mailbox[]): ReadonlySet<number> => new Set(mailboxes.map(({ id }) => id));
const isIn = (ids: readonly number[], places: readonly Places[], without: ReadonlySet<number>): boolean =>
  places.every((each) => each === null || ids.some((id) => each.has(id))) && !ids.some((id) => without.has(id));

/** Tenths: how much mail there is says something of what others wrote. */
const coarse = ({ phase, indexed, total }: Coverage, unreadable: number): Coverage => ({ phase, indexed: total === 0 ? 0 : Math.floor((10 * indexed) / total), total: 10, unreadable });

export function coverageOf(host: SearchHost): Coverage {
  const { phase, indexed, total, deadLetters } = host.state();
  return { phase, indexed, total, unreadable: deadLetters.reduce((sum, { count }) => sum + count, 0) };
}
