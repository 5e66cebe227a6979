import type { LiveRow, LiveStatus } from '../contract/values.ts';
import type { Clock } from '../events/clock.ts';
import type { Outcome } from '../events/hub.ts';
import { payloadOf, type EventType, type Occurrence } from '../events/occurrence.ts';
import type { Principal } from '../events/verdict.ts';
import type { Policy } from '../policy/policy.ts';

/** Newest rows kept, in memory only (ui.md, Live). */
const MAX_ROWS = 10_000;

/** How an event went out. A poll is its own receipt; a push has none. */
export type DeliveryMode = 'push' | 'poll';

/** One who looks at Live. `rows` holds new rows and known ones that changed. */
export interface LiveLooker {
  rows(rows: readonly LiveRow[]): void;
}

interface Verdict {
  readonly sent: boolean;
  readonly confirmed: boolean;
  readonly reason: string | null;
}

/** Kept in the client's inbox, unread. */
const WAITING = { sent: false, confirmed: false, reason: 'waiting' } as const satisfies Verdict;
const EVENT_TYPES: readonly EventType[] = ['mail.received', 'messages.received'];

interface Entry {
  readonly id: number;
  readonly at: number;
  readonly occurrence: Occurrence;
  notArrival: LiveRow['notArrival'];
  /** Why nobody was told where no client was judged. */
  readonly unheard: string;
  readonly test: boolean;
  /** An allowed sender wrote it, or a client asked for it. */
  matched: boolean;
  readonly verdicts: Map<string, Verdict>;
  /** Clients that read it from the store in a moment. */
  readonly later: Set<string>;
  json: LiveRow['json'];
}

type Row = Entry | { readonly id: number; readonly at: number; readonly missed: EventType };

/**
 * What Live shows: arrivals of this run with what became of them. Nothing is built or kept until somebody looked; then
 * the newest rows stay in memory. Rows that match nothing are made only while somebody asks for them, from then on, and
 * are dropped with the last who does.
 */
export class LiveFeed {
  readonly #policy: Policy;
  readonly #clock: Clock;
  readonly #rows = new Map<number, Row>();
  readonly #byEvent = new Map<string, Entry>();
  /** From which row on each looker sees rows without a match; null: not at all. */
  readonly #lookers = new Map<LiveLooker, number | null>();
  readonly #changed = new Set<Row>();
  #recording = false;
  #nextId = 1;

  constructor(policy: Policy, clock: Clock) {
    this.#policy = policy;
    this.#clock = clock;
  }

  /** Begins to look, or looks otherwise. Gives the rows that there are, oldest first. */
  look(looker: LiveLooker, notMatched: boolean): LiveRow[] {
    this.#recording = true;
    this.#lookers.set(looker, notMatched ? (this.#lookers.get(looker) ?? this.#nextId) : null);
    this.#dropUnmatched();
    const from = this.#lookers.get(looker)!;
    return [...this.#rows.values()].filter((row) => isVisible(row, from)).map((row) => this.#rendered(row));
  }

  leave(looker: LiveLooker): void {
    this.#lookers.delete(looker);
    this.#dropUnmatched();
  }

  outcome(outcome: Outcome): void {
    if (!this.#recording) return;
    const { occurrence, notArrival, sentTo, keptFor, later, notSent } = outcome;
    const hasRule = this.#policy.ruleFor(occurrence) !== null;
    // A mail that its owner files or sends is no news; one that was synced late is, if its sender is allowed.
    const matched = (hasRule && (notArrival === null || notArrival === 'backfill')) || sentTo.length + keptFor.length + later.length + notSent.length > 0;
    if (!matched && !this.#wantsUnmatched()) return;
    // One event is one row: it may have been sent a moment ago, or have reached a second account.
    const known = isArrival(notArrival) ? this.#byEvent.get(keyOf(occurrence)) : undefined;
    const unheard = notArrival ?? (!hasRule ? 'no-allowed-sender' : this.#policy.inMailboxes(occurrence) ? 'no-listener' : 'mailbox');
    const entry = known ?? this.#add(occurrence, { notArrival, unheard, test: false, matched });
    entry.matched ||= matched;
    entry.notArrival ??= notArrival;
    for (const { principal, reason } of notSent) this.#judge(entry, principal.id, { sent: false, confirmed: false, reason });
    for (const { id } of keptFor) this.#judge(entry, id, WAITING);
    for (const { id } of later) entry.later.add(id);
    for (const { id } of sentTo) this.#sent(entry, id, 'push');
    this.#tell(entry);
  }

  /** An event went to a client, at once or out of the store: after a pause, an approval, a digest, for an old cursor. */
  delivered(occurrence: Occurrence, { id }: Principal, mode: DeliveryMode): void {
    if (!this.#recording) return;
    const entry = this.#byEvent.get(keyOf(occurrence)) ?? this.#add(occurrence, { notArrival: null, unheard: 'no-listener', test: false, matched: true });
    if (this.#sent(entry, id, mode)) this.#tell(entry);
  }

  /** A test event went to a client's stream, or waits in its inbox. */
  test(occurrence: Occurrence, client: string, how: 'sent' | 'kept'): void {
    if (!this.#recording) return;
    const entry = this.#byEvent.get(keyOf(occurrence)) ?? this.#add(occurrence, { notArrival: null, unheard: 'no-listener', test: true, matched: true });
    if (how === 'sent') this.#sent(entry, client, 'push');
    else this.#judge(entry, client, WAITING);
    this.#tell(entry);
  }

  /** An item of a watch left for its client, or was confirmed by it. One of an earlier run has no row here. */
  told(kind: 'sent' | 'delivered', eventId: string, client: string): void {
    const entry = EVENT_TYPES.map((type) => this.#byEvent.get(keyOf({ type, eventId }))).find((each) => each !== undefined);
    if (entry && this.#sent(entry, client, kind === 'sent' ? 'push' : 'poll')) this.#tell(entry);
  }

  /** Another store is there: what lay between is not known. */
  gap(type: EventType): void {
    if (!this.#recording) return;
    const row = { id: this.#nextId++, at: this.#clock.now(), missed: type };
    this.#keep(row);
    this.#tell(row);
  }

  #sent(entry: Entry, client: string, mode: DeliveryMode): boolean {
    entry.later.delete(client);
    const { eventId, type, timestamp } = entry.occurrence;
    entry.json ??= { eventId, name: type, timestamp, data: payloadOf(entry.occurrence, this.#policy.subjects) };
    return this.#judge(entry, client, { sent: true, confirmed: mode === 'poll', reason: null });
  }

  /** True if that is better than what was known of this client. */
  #judge(entry: Entry, client: string, verdict: Verdict): boolean {
    const known = entry.verdicts.get(client);
    if (known !== undefined && rank(known) >= rank(verdict)) return false;
    entry.verdicts.set(client, verdict);
    entry.matched = true;
    return true;
  }

  #add(occurrence: Occurrence, like: Pick<Entry, 'notArrival' | 'unheard' | 'test' | 'matched'>): Entry {
    const entry: Entry = { id: this.#nextId++, at: this.#clock.now(), occurrence, ...like, verdicts: new Map(), later: new Set(), json: null };
    if (isArrival(like.notArrival)) this.#byEvent.set(keyOf(occurrence), entry);
    this.#keep(entry);
    return entry;
  }

  #keep(row: Row): void {
    this.#rows.set(row.id, row);
    if (this.#rows.size > MAX_ROWS) this.#drop(this.#rows.values().next().value!);
  }

  #drop(row: Row): void {
    this.#rows.delete(row.id);
    if ('occurrence' in row && this.#byEvent.get(keyOf(row.occurrence)) === row) this.#byEvent.delete(keyOf(row.occurrence));
  }

  #wantsUnmatched(): boolean {
    for (const from of this.#lookers.values()) if (from !== null) return true;
    return false;
  }

  #dropUnmatched(): void {
    if (this.#wantsUnmatched()) return;
    for (const row of this.#rows.values()) if ('matched' in row && !row.matched) this.#drop(row);
  }

  /** Rows of one look at a store are told together. */
  #tell(row: Row): void {
    if (this.#lookers.size === 0) return;
    if (this.#changed.size === 0) queueMicrotask(() => this.#flush());
    this.#changed.add(row);
  }

  #flush(): void {
    const changed = [...this.#changed].filter((row) => this.#rows.has(row.id));
    this.#changed.clear();
    const rendered = new Map<Row, LiveRow>();
    const render = (row: Row) => {
      const known = rendered.get(row) ?? this.#rendered(row);
      rendered.set(row, known);
      return known;
    };
    for (const [looker, from] of this.#lookers) {
      const rows = changed.filter((row) => isVisible(row, from)).map(render);
      if (rows.length > 0) looker.rows(rows);
    }
  }

  #rendered(row: Row): LiveRow {
    if ('missed' in row) return missedRow(row.id, row.at, row.missed);
    const { id, at, occurrence, notArrival, verdicts, test, json } = row;
    const payload = payloadOf(occurrence, true) as Shown;
    const { row: source } = occurrence;
    return {
      id,
      at,
      type: occurrence.type,
      eventId: occurrence.eventId,
      sender: occurrence.sender,
      name: payload.from.name,
      subject: payload.subject ?? null,
      place: source.store === 'mail' ? (payload.mailbox ?? null) : (payload.chat?.name ?? null),
      service: payload.service ?? null,
      attachments: source.attachmentCount,
      ...became(row),
      notArrival,
      // Those who got it come first.
      verdicts: [...verdicts].toSorted(([, a], [, b]) => rank(b) - rank(a)).map(([client, verdict]) => ({ client: this.#policy.clientName(client), ...verdict })),
      test,
      json,
    };
  }
}

/** The parts of both payloads that a row shows: text that was made inert there. */
type Shown = {
  readonly from: { readonly name: string | null };
  readonly subject?: string | null;
  readonly mailbox?: string | null;
  readonly chat?: { readonly name: string | null } | null;
  readonly service?: string | null;
};

/** The best over all clients; for what was not sent, the first reason. */
function became({ verdicts, later, unheard }: Entry): { status: LiveStatus; reason: string | null; number: number | null } {
  const all = [...verdicts.values()];
  const as = (status: LiveStatus, number: number | null = null) => ({ status, reason: null, number });
  if (all.some(({ confirmed }) => confirmed)) return as('delivered');
  if (all.some(({ sent }) => sent)) return as('sent');
  const kept = all.filter(({ reason }) => reason === WAITING.reason).length;
  if (kept > 0) return as('waiting', kept);
  if (later.size > 0) return as('waiting');
  return { status: 'not-sent', reason: all[0]?.reason ?? unheard, number: null };
}

const missedRow = (id: number, at: number, type: EventType): LiveRow => ({
  id, at, type, eventId: '', sender: '', name: null, subject: null, place: null, service: null, attachments: 0,
  status: 'missed', reason: null, number: null, notArrival: null, verdicts: [], test: false, json: null,
});

const isVisible = (row: Row, unmatchedFrom: number | null) =>
  'missed' in row || row.matched || (unmatchedFrom !== null && row.id >= unmatchedFrom);
const isArrival = (notArrival: Entry['notArrival']) => notArrival === null || notArrival === 'backfill';
const keyOf = ({ type, eventId }: Pick<Occurrence, 'type' | 'eventId'>) => `${type} ${eventId}`;
const rank = ({ sent, confirmed, reason }: Verdict) => (confirmed ? 3 : sent ? 2 : reason === WAITING.reason ? 1 : 0);
