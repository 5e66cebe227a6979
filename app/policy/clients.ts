import { matches, type ParsedSender } from '../apple/sender.ts';
import type { StoreKind } from '../apple/occurrence.ts';
import type { SenderSet } from '../apple/reader.ts';
import type { EventType, Occurrence } from '../events/occurrence.ts';
import { cleanText } from '../events/text.ts';
import type { AllowOptions, GrantName } from './change.ts';
import { senderSetOf } from './sender-rules.ts';
import type { ClientProcess, ClientRecord } from './settings.ts';

/** How far a client may read: what could ring for it, or all that is not excluded. */
export type Reach = 'rules' | 'everything';

/** Whose mail may be read: who is allowed, and not excepted, and (unless null) among the client's own. */
export interface ReadableSenders {
  readonly allowed: SenderSet;
  readonly excepted: SenderSet;
  readonly own: SenderSet | null;
}

/** Who a peer is, as `endpoint` found out (architecture 6). */
export interface ClientIdentity {
  /** 8 hex digits of the identity's hash. */
  readonly id: string;
  /** Executable and signature, for people. Not what the client says of itself. */
  readonly display: string;
  /** False for launchd or nothing found: never Always. */
  readonly persistable: boolean;
  readonly signed: boolean;
  readonly process: ClientProcess | null;
  /** Absent: by its process. */
  readonly by?: 'token' | 'sign-in';
}

export type Decision = 'always' | 'once' | 'denied' | 'none';

/** A client that connected since the engine started. */
export interface KnownClient {
  readonly identity: ClientIdentity;
  /** What it calls itself: only ever quoted. */
  readonly label: string | null;
  /** Unix ms. */
  readonly seenAt: number;
  readonly asks: ReadonlyMap<EventType, readonly string[]>;
  /** What it would like beyond events and that is not before the owner yet. */
  readonly wishes: ReadonlySet<GrantName>;
}

interface Known {
  identity: ClientIdentity;
  label: string | null;
  seenAt: number;
  readonly asks: Map<EventType, readonly string[]>;
  readonly wishes: Set<GrantName>;
  readonly processes: Map<string, ClientProcess>;
}

interface Grant {
  readonly record: ClientRecord;
  readonly events: ReadonlySet<EventType> | null;
  readonly senders: SenderSet | null;
}

/** A peer can make up identities by copying itself: the oldest undecided ones are forgotten. */
const MAX_KNOWN = 300;
const MAX_PROCESSES = 32;
const MAX_ASKED = 1000;

/** Identities, what was decided on them, and what they ask for. Answers from maps. */
export class Clients {
  readonly #now: () => number;
  readonly #alive: (process: ClientProcess) => boolean;
  readonly #known = new Map<string, Known>();
  #grants: ReadonlyMap<string, Grant> = new Map();

  constructor(now: () => number, alive: (process: ClientProcess) => boolean) {
    this.#now = now;
    this.#alive = alive;
  }

  /** After each change of settings. */
  load(records: readonly ClientRecord[]): void {
    this.#grants = new Map(records.map((record) => [record.id, {
      record,
      events: record.events === 'all' ? null : new Set(record.events),
      senders: record.senders === 'all' ? null : senderSetOf(record.senders, false),
    }]));
  }

  /** Grants that are over before settings say so. */
  expire(ids: ReadonlySet<string>): void {
    this.#grants = new Map([...this.#grants].filter(([id]) => !ids.has(id)));
  }

  decision(id: string): Decision {
    return this.#grants.get(id)?.record.decision ?? 'none';
  }
  record(id: string): ClientRecord | null {
    return this.#grants.get(id)?.record ?? null;
  }
  known(id: string): KnownClient | null {
    return this.#known.get(id) ?? null;
  }
  /** Every id that connected or was decided on. */
  ids(): readonly string[] {
    return [...new Set([...this.#grants.keys(), ...this.#known.keys()])];
  }

  /** A client connected. True if it was not known. */
  seen(identity: ClientIdentity, label: string | null): boolean {
    let known = this.#known.get(identity.id);
    const isNew = known === undefined;
    if (!known) {
      this.#makeRoom();
      known = { identity, label: null, seenAt: 0, asks: new Map(), wishes: new Set(), processes: new Map() };
    }
    known.identity = identity;
    known.label = label === null ? known.label : cleanText(label, 64);
    known.seenAt = this.#now();
    const { process } = identity;
    if (process) {
      if (known.processes.size >= MAX_PROCESSES) this.#dropEnded(known);
      if (known.processes.size < MAX_PROCESSES) known.processes.set(`${process.pid}:${process.startTime}`, process);
    }
    // Last seen is last in the map.
    this.#known.delete(identity.id);
    this.#known.set(identity.id, known);
    return isNew;
  }

  /** It cannot come back: what it showed is gone. */
  forget(id: string): void {
    this.#known.delete(id);
  }

  /** What a client subscribes to. True if that is new. */
  asks(id: string, type: EventType, senders: readonly string[]): boolean {
    const known = this.#known.get(id);
    if (!known) return false;
    const before = known.asks.get(type) ?? [];
    const all = [...new Set([...before, ...senders])].slice(0, MAX_ASKED);
    if (known.asks.has(type) && all.length === before.length) return false;
    known.asks.set(type, all);
    return true;
  }

  /** What a client would like beyond events. True if any of it is new. */
  wish(id: string, grants: readonly GrantName[]): boolean {
    const wishes = this.#known.get(id)?.wishes;
    const added = wishes === undefined ? [] : grants.filter((grant) => !wishes.has(grant));
    for (const grant of added) wishes!.add(grant);
    return added.length > 0;
  }
  forgetWishes(id: string): void {
    this.#known.get(id)?.wishes.clear();
  }
  wishing(): readonly string[] {
    return [...this.#known].flatMap(([id, { wishes }]) => (wishes.size === 0 ? [] : [id]));
  }

  /** What stands between the client and a type, apart from the switch and the pause. */
  gate(id: string, type: EventType, trusted: boolean): 'refused' | 'approval' | 'open' {
    const grant = this.#grants.get(id);
    if (!grant) return trusted && id !== '' ? 'open' : 'approval';
    if (grant.record.decision === 'denied') return 'refused';
    return grant.events === null || grant.events.has(type) ? 'open' : 'refused';
  }

  /** How far a client may read a store; null: not at all. Off until the owner says so, also for a trusted client. */
  reach(id: string, store: StoreKind): Reach | null {
    const record = this.record(id);
    if (record === null || record.decision === 'denied') return null;
    return record.grants.includes(`${store}:everything`) ? 'everything' : record.grants.includes(store) ? 'rules' : null;
  }

  /** Whether a client may search what it may read. */
  maySearch(id: string): boolean {
    const record = this.record(id);
    return record !== null && record.decision !== 'denied' && record.grants.includes('search');
  }

  /** Whether any client may search a store. */
  searched(store: StoreKind): boolean {
    return [...this.#grants.keys()].some((id) => this.maySearch(id) && this.reach(id, store) !== null);
  }

  /** The client's own list of senders; null: whomever the owner allows. */
  ownSenders(id: string): SenderSet | null {
    return this.#grants.get(id)?.senders ?? null;
  }

  /** Whether a client may write texts, and whether unasked. Off until the owner says so, also for a trusted client. */
  writes(id: string): 'asked' | 'unasked' | null {
    const record = this.record(id);
    if (record === null || record.decision === 'denied') return null;
    return record.grants.includes('reply:unasked') ? 'unasked' : record.grants.includes('reply') ? 'asked' : null;
  }

  /** Whether the client's own list of senders takes in this one. */
  takes(id: string, sender: string): boolean {
    const senders = this.#grants.get(id)?.senders ?? null;
    return senders === null || matches(senders, sender);
  }

  /** The client's own grant. One that nobody decided on has none: its gate holds it, not this. */
  allows(id: string, occurrence: Occurrence): boolean {
    const grant = this.#grants.get(id);
    if (!grant) return true;
    if (grant.record.decision === 'denied') return false;
    if (grant.events !== null && !grant.events.has(occurrence.type)) return false;
    return grant.senders === null || matches(grant.senders, occurrence.sender);
  }

  /** Whether the client's own grant takes in all that a filter entry asks for. */
  covers(id: string, type: EventType, entry: ParsedSender): boolean {
    const grant = this.#grants.get(id);
    if (!grant) return true;
    if (grant.record.decision === 'denied' || (grant.events !== null && !grant.events.has(type))) return false;
    if (grant.senders === null) return true;
    return entry.kind === 'domain' ? grant.senders.domains.has(entry.value) : matches(grant.senders, entry.value);
  }

  /** The record of an approval, or a sentence why not. @param senders already normalised */
  approved(id: string, options: AllowOptions & { readonly senders?: 'all' | readonly string[] }): ClientRecord | string {
    const known = this.#known.get(id);
    const old = this.record(id);
    const once = options.once === true;
    if (known && !known.identity.persistable && !once) {
      return `${known.identity.display || id} cannot be told from other programs, so it can only be allowed once (--once).`;
    }
    if (known) this.#dropEnded(known);
    const processes = once ? [...(known?.processes.values() ?? [])] : [];
    if (once && processes.length === 0 && known?.identity.process !== null) return `Client ${id} is not running, so there is nothing to allow once.`;
    return {
      id,
      identity: { ...this.#identity(id), processes },
      decision: once ? 'once' : 'always',
      events: options.events === undefined || options.events === 'all' ? 'all' : [...new Set(options.events)],
      senders: options.senders === undefined || options.senders === 'all' ? 'all' : [...options.senders],
      grants: widestOf(options.grants ?? []),
      label: known?.label ?? old?.label ?? null,
    };
  }

  denied(id: string): ClientRecord {
    return {
      id,
      identity: { ...this.#identity(id), processes: [] },
      decision: 'denied', events: 'all', senders: 'all', grants: [],
      label: this.#known.get(id)?.label ?? this.record(id)?.label ?? null,
    };
  }

  /** Ids of clients allowed once whose process ended. @param atStart also those whose process was never known */
  ended(atStart: boolean): readonly string[] {
    return [...this.#grants.values()].flatMap(({ record }) => {
      if (record.decision !== 'once') return [];
      const { processes } = record.identity;
      if (processes.length === 0) return atStart ? [record.id] : [];
      return processes.some((process) => this.#alive(process)) ? [] : [record.id];
    });
  }

  /** Whether any process of a client that was seen still runs; unknown processes count as running. */
  runs(id: string): boolean {
    const known = this.#known.get(id);
    if (!known) return false;
    return known.identity.process === null || [...known.processes.values()].some((process) => this.#alive(process));
  }

  #identity(id: string): Pick<ClientRecord['identity'], 'display' | 'signed' | 'by'> {
    const known = this.#known.get(id)?.identity;
    if (known) return { display: cleanText(known.display, 512), signed: known.signed, by: known.by ?? 'process' };
    const old = this.record(id)?.identity;
    return { display: old?.display ?? '', signed: old?.signed ?? false, by: old?.by ?? 'process' };
  }

  #dropEnded(known: Known): void {
    for (const [key, process] of known.processes) if (!this.#alive(process)) known.processes.delete(key);
  }

  #makeRoom(): void {
    if (this.#known.size < MAX_KNOWN) return;
    for (const id of this.#known.keys()) {
      if (this.#grants.has(id)) continue;
      this.#known.delete(id);
      return;
    }
  }
}

const WIDER: Readonly<Partial<Record<GrantName, GrantName>>> = { mail: 'mail:everything', messages: 'messages:everything', reply: 'reply:unasked' };
const takesIn = (grants: readonly GrantName[], grant: GrantName) => WIDER[grant] !== undefined && grants.includes(WIDER[grant]);

/** Each once; of two that say the same the wider. */
export const widestOf = (grants: readonly GrantName[]): GrantName[] => [...new Set(grants)].filter((grant) => !takesIn(grants, grant));

/** What of the wanted is not held yet, neither itself nor the wider. */
export const missingOf = (held: readonly GrantName[], wanted: readonly GrantName[]): GrantName[] =>
  widestOf(wanted).filter((grant) => !held.includes(grant) && !takesIn(held, grant));
