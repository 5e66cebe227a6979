import type { Database } from 'better-sqlite3';
import { StoreError } from '../apple/reader.ts';
import type { Clock } from '../events/clock.ts';
import { EventsError, limitReached } from '../events/errors.ts';
import type { Hub } from '../events/hub.ts';
import type { EventType, Occurrence } from '../events/occurrence.ts';
import { parseArguments, type NameLookup } from '../events/sender-filter.ts';
import type { SubscriptionSink } from '../events/subscription.ts';
import type { Principal } from '../events/verdict.ts';
import { GuardedWrites } from './guarded-writes.ts';
import { canonical, ITEM_STATE, MAX_ARGUMENTS, MAX_WATCHES, MAX_WATCHES_OF_ONE, newWatchId, type ItemRef, type ItemState, type KeptWatch, type Watch } from './watch.ts';
import { countItem, entryOf, viewOf, type Entry, type WatchPolicy, type WatchView } from './watch-entry.ts';
import { WatchListeners, type Change, type WatchListener } from './watch-listeners.ts';
import { standingOf } from './watch-positions.ts';
import { WatchStore, type KeptNow } from './watch-store.ts';

/** The owner's watches in settings. `save` gives a sentence where it could not be written. */
export interface KeptWatches {
  list(): readonly KeptWatch[];
  save(watches: readonly KeptWatch[]): string | null;
}

export interface WatchesListener {
  /** Why nothing can be kept at the moment, or (null) that it can again. */
  trouble(sentence: string | null): void;
  /** Items that were never read had to go. */
  gap(type: EventType, client: string): void;
  changed(): void;
}

/** Items that wait in memory while the disk refuses; beyond it they are read from the store again. */
const MAX_HELD = 10_000;
const RETRY_MS = 1000;
const SWEEP_MS = 3_600_000;

/**
 * All watches. Each is a subscription of the hub whose items go to state.db: one fan-out for streams and watches.
 * What arrives in one look at a store is kept in one transaction, with the positions, after the streams were
 * written to; whoever waits is told afterwards.
 */
export class Watches {
  readonly store: WatchStore;
  readonly #hubs: ReadonlyMap<EventType, Hub>;
  readonly #names: (type: EventType, principal: Principal | null) => NameLookup;
  readonly #policy: WatchPolicy;
  readonly #kept: KeptWatches;
  readonly #clock: Clock;
  readonly #listener: WatchesListener;
  readonly #disk: GuardedWrites;
  readonly #byId = new Map<string, Entry>();
  readonly #byNumber = new Map<number, Entry>();
  readonly #byClient = new Map<string, Set<Entry>>();
  readonly #positions = new Map<EventType, string>();
  readonly #listeners: WatchListeners;
  /** Arrivals of this look, not kept yet. */
  readonly #pending = new Map<Occurrence, { entry: Entry; state: ItemState }[]>();
  #pendingItems = 0;
  readonly #gapped = new Set<Entry>();
  /** What was kept last, as it came: read at once it need not be read from the store again. */
  #fresh = new Map<number, Occurrence>();
  #soon: (() => void) | null = null;
  #retry: (() => void) | null = null;
  /** Too much waited in memory: nothing is taken until the disk does. */
  #suspended = false;
  readonly #stopSweep: () => void;

  constructor(options: {
    db: Database; hubs: ReadonlyMap<EventType, Hub>; names: (type: EventType, principal: Principal | null) => NameLookup; policy: WatchPolicy; kept: KeptWatches; clock: Clock; listener: WatchesListener;
  }) {
    this.#hubs = options.hubs;
    this.#names = options.names;
    this.#policy = options.policy;
    this.#kept = options.kept;
    this.#clock = options.clock;
    this.#listener = options.listener;
    this.#disk = new GuardedWrites((sentence) => this.#listener.trouble(sentence));
    this.#listeners = new WatchListeners(() => this.#listener.changed());
    this.store = new WatchStore(options.db);
    this.#load();
    this.#stopSweep = this.#clock.every(SWEEP_MS, () => this.#disk.write(() => this.store.sweep()));
  }

  get size(): number {
    return this.#byId.size;
  }

  /** After each change of policy, and when a store came or went. Denied clients lose their watches. */
  refresh(): void {
    for (const entry of [...this.#byId.values()]) {
      if (this.#policy.isDenied({ id: entry.watch.client })) this.#end(entry);
      else this.#open(entry);
    }
  }

  /**
   * The same wish again is the same watch.
   * @throws EventsError for arguments that do not fit or a limit; a string is a sentence about the disk
   */
  add(client: string, type: EventType, args: unknown, source: Watch['source'], names = this.#names(type, source === 'owner' ? null : { id: client })): { readonly watch: Watch; readonly isNew: boolean; /** Filter entries, normalised. */ readonly entries: readonly string[] } | string {
    const hub = this.#hubs.get(type)!;
    const filter = parseArguments(type, args, names);
    const given = (args ?? {}) as Record<string, unknown>;
    const text = canonical(given);
    const own = this.#byClient.get(client) ?? new Set();
    for (const entry of own) {
      if (entry.watch.type === type && canonical(entry.watch.arguments) === text) return { watch: entry.watch, isNew: false, entries: filter.entries };
    }
    if (own.size >= MAX_WATCHES_OF_ONE) throw limitReached('watches', MAX_WATCHES_OF_ONE);
    if (this.#byId.size >= MAX_WATCHES) throw limitReached('watches', MAX_WATCHES);
    if (text.length > MAX_ARGUMENTS) throw limitReached('argumentCharacters', MAX_ARGUMENTS);
    hub.ready();
    const watch: Watch = { id: newWatchId(), client, type, arguments: given, source, createdAt: this.#clock.now(), inbox: null };
    const refused = source === 'owner' ? this.#kept.save([...this.#kept.list(), keptOf(watch)]) : null;
    if (refused !== null) return refused;
    const cursor = hub.tail.cursorAt(hub.tail.watermark);
    const n = this.#disk.write(() => this.store.insert(watch, cursor));
    if (n === null) {
      if (source === 'owner') this.#kept.save(this.#kept.list().filter(({ id }) => id !== watch.id));
      return CANNOT_KEEP;
    }
    const entry = this.#enter(watch, n, cursor);
    entry.filter = filter;
    this.#open(entry);
    this.#listeners.tell(client, [watch.id]);
    return { watch, isNew: true, entries: filter.entries };
  }

  /** @param client null: the owner, who may stop every watch; else only that client's own, and `owner` where the owner made it. */
  stop(id: string, client: string | null): 'stopped' | 'unknown' | 'owner' | 'not-kept' {
    const entry = this.#byId.get(id);
    if (!entry || (client !== null && entry.watch.client !== client)) return 'unknown';
    if (client !== null && entry.watch.source === 'owner') return 'owner';
    return this.#end(entry) ? 'stopped' : 'not-kept';
  }

  /** The owner's choice, so settings hold the watch from now on. Null: done, else a sentence. */
  setInbox(id: string, directory: string | null): string | null {
    const entry = this.#byId.get(id);
    if (!entry) return 'No watch has this id.';
    const watch: Watch = { ...entry.watch, inbox: directory, source: 'owner' };
    const others = this.#kept.list().filter((each) => each.id !== id);
    const refused = this.#kept.save([...others, keptOf(watch)]);
    if (refused !== null) return refused;
    // Where this fails, settings win at the next start all the same.
    if (entry.watch.source === 'tool') this.#disk.write(() => this.store.adopt(entry.n));
    entry.watch = watch;
    this.#listeners.tell(watch.client, [id]);
    return null;
  }

  /** Null for unknown ones and for those of others: they are told alike. */
  find(id: string, client: string | null): WatchView | null {
    const entry = this.#byId.get(id);
    return entry && (client === null || entry.watch.client === client) ? viewOf(entry, this.#policy) : null;
  }
  number(id: string): number {
    return this.#byId.get(id)?.n ?? -1;
  }
  byNumber(n: number): Watch | null {
    return this.#byNumber.get(n)?.watch ?? null;
  }
  /** @param client null: of all clients. */
  list(client: string | null): readonly WatchView[] {
    const entries = client === null ? this.#byId.values() : this.#byClient.get(client) ?? [];
    return [...entries].map((entry) => viewOf(entry, this.#policy));
  }
  /** Watches whose items are written to a folder as well. */
  inboxes(): readonly Watch[] {
    return [...this.#byId.values()].flatMap(({ watch }) => (watch.inbox === null ? [] : [watch]));
  }
  idsOf(client: string): readonly string[] {
    return [...this.#byClient.get(client) ?? []].map(({ watch }) => watch.id);
  }
  hasWatches(client: string): boolean {
    return (this.#byClient.get(client)?.size ?? 0) > 0;
  }
  gapsOf(client: string, only: number | null): readonly { readonly n: number; readonly id: string; readonly dropped: number; readonly gap: number }[] {
    return [...this.#byClient.get(client) ?? []]
      .filter((entry) => (entry.dropped > 0 || entry.gap > 0) && (only === null || entry.n === only))
      .map(({ n, watch, dropped, gap }) => ({ n, id: watch.id, dropped, gap }));
  }
  fresh(event: number): Occurrence | null {
    return this.#fresh.get(event) ?? null;
  }

  /** Heard after items of a client were kept, confirmed or dropped, and when its watches change; with the ids of the watches. */
  listen(client: string, listener: WatchListener): () => void {
    return this.#listeners.listen(client, listener);
  }

  /** An item marked as a test, for one client: the channel and the tools carry it like any other. Null: it cannot be kept. */
  addTest(client: string, eventId: string): number | null {
    const event = this.#disk.write(() => this.store.keepTest(client, eventId, this.#clock.now()));
    if (event !== null) this.#listeners.tell(client, [], event);
    return event;
  }

  /** What was handed out. Null where the disk refuses: then nothing left. */
  handOut(client: string, items: readonly ItemRef[], gaps: readonly { n: number; dropped: number; gap: number }[], withheld: readonly ItemRef[], channel: boolean): string | null {
    const batch = this.#disk.write(() => this.store.handOut(client, items, gaps.map(({ n, dropped, gap }) => [n, dropped, gap] as const), withheld, channel));
    if (batch === null) return null;
    for (const { watch, state } of items) countItem(this.#byNumber.get(watch), state, -1, ITEM_STATE.sent);
    for (const { watch, state } of withheld) countItem(this.#byNumber.get(watch), state, -1);
    return batch;
  }
  withhold(client: string, items: readonly ItemRef[]): void {
    if (this.#disk.write(() => this.store.withhold(client, items)) === null) return;
    for (const { watch, state } of items) countItem(this.#byNumber.get(watch), state, -1);
  }

  /** Null: no such batch of this client. A string: the disk refuses. */
  confirm(client: string, batch: string): { readonly items: readonly ItemRef[]; readonly channel: boolean } | string | null {
    const found = this.store.batch(client, batch);
    if (found === null) return null;
    const items = this.#disk.write(() => this.store.confirm(client, found));
    if (items === null) return CANNOT_KEEP;
    this.#confirmed(client, items);
    for (const [n, dropped, gap] of found.gaps) {
      const entry = this.#byNumber.get(n);
      if (!entry) continue;
      entry.dropped = Math.max(0, entry.dropped - dropped);
      entry.gap = Math.max(0, entry.gap - gap);
    }
    return { items, channel: found.channel };
  }
  /** Single items, by receipt. */
  confirmItems(client: string, pairs: readonly (readonly [event: number, watch: number])[]): readonly ItemRef[] {
    const items = this.#disk.write(() => this.store.confirm(client, { items: pairs, gaps: [] })) ?? [];
    this.#confirmed(client, items);
    return items;
  }

  /** Keeps what came and where everyone stands; by the heartbeat, so that the position moves while nothing matches. */
  settle(): void {
    this.#soon?.();
    this.#soon = null;
    if (this.#retry === null) this.#keep();
  }

  close(): void {
    this.#stopSweep();
    this.settle();
    this.#retry?.();
    this.#listeners.clear();
  }

  #load(): void {
    for (const type of this.#hubs.keys()) {
      const position = this.store.position(type);
      if (position !== null) this.#positions.set(type, position);
    }
    const kept = new Map(this.#kept.list().map((watch) => [watch.id, watch]));
    for (const row of this.store.watches()) {
      const owned = kept.get(row.id);
      if (!owned && row.arguments === null) {
        this.#disk.write(() => this.store.remove(row.n, row.client));
        continue;
      }
      kept.delete(row.id);
      const { id, client, type, createdAt } = row;
      const watch: Watch = owned
        ? { ...owned, source: 'owner' }
        : { id, client, type, createdAt, inbox: null, source: 'tool', arguments: JSON.parse(row.arguments!) as Record<string, unknown> };
      const entry = this.#enter(watch, row.n, row.cursor);
      Object.assign(entry, { dropped: row.dropped, gap: row.gap, confirmed: row.confirmed });
    }
    for (const { watch, state, count } of this.store.counts()) {
      const entry = this.#byNumber.get(watch);
      if (entry) entry.counts[state] = count;
    }
    // What was written for watches that are gone says nothing of now.
    for (const type of this.#hubs.keys()) {
      if (![...this.#byId.values()].some(({ watch }) => watch.type === type)) this.#positions.delete(type);
    }
    // state.db was lost: the owner's watches begin again, and what lies between is a gap.
    for (const owned of kept.values()) {
      const watch: Watch = { ...owned, source: 'owner' };
      const n = this.#disk.write(() => this.store.insert(watch, null));
      if (n === null) continue;
      const entry = this.#enter(watch, n, null);
      entry.wasOff = false;
      this.#gapped.add(entry);
      entry.gap = 1;
    }
  }

  #enter(watch: Watch, n: number, cursor: string | null): Entry {
    const entry = entryOf(watch, n, cursor);
    this.#byId.set(watch.id, entry);
    this.#byNumber.set(n, entry);
    const own = this.#byClient.get(watch.client) ?? new Set();
    this.#byClient.set(watch.client, own);
    own.add(entry);
    return entry;
  }

  /** False where it could not be taken out of settings or state: it then stays. */
  #end(entry: Entry): boolean {
    const { watch, n } = entry;
    if (watch.source === 'owner' && this.#kept.save(this.#kept.list().filter(({ id }) => id !== watch.id)) !== null) return false;
    if (this.#disk.write(() => this.store.remove(n, watch.client)) === null && watch.source === 'tool') return false;
    if (entry.subscription) this.#hubs.get(watch.type)!.unsubscribe(entry.subscription);
    entry.subscription = null;
    this.#byId.delete(watch.id);
    this.#byNumber.delete(n);
    this.#gapped.delete(entry);
    const own = this.#byClient.get(watch.client);
    own?.delete(entry);
    if (own?.size === 0) this.#byClient.delete(watch.client);
    for (const [occurrence, list] of this.#pending) {
      const rest = list.filter((each) => each.entry !== entry);
      this.#pendingItems -= list.length - rest.length;
      if (rest.length === 0) this.#pending.delete(occurrence);
      else this.#pending.set(occurrence, rest);
    }
    this.#listeners.tell(watch.client, [watch.id]);
    return true;
  }

  /** Subscribes it from where it stood, if its type is on, its store is open and the owner lets its client. */
  #open(entry: Entry): void {
    const { watch } = entry;
    const { type } = watch;
    if (!this.#policy.eventOn(type)) entry.wasOff = true;
    const hub = this.#hubs.get(type)!;
    if (entry.subscription || this.#suspended || !hub.tail.running || hub.tail.trouble !== null) return;
    const principal = { id: watch.client };
    const gate = this.#policy.gate(principal, type);
    if (gate === 'off' || gate === 'refused') return;
    try {
      entry.filter = parseArguments(type, watch.arguments, this.#names(type, principal));
      entry.problem = null;
      const start = hub.startFrom(entry.cursor ?? this.#positions.get(type) ?? null, null, entry.filter);
      if (entry.wasOff) entry.quietUpTo = hub.tail.position;
      entry.wasOff = false;
      entry.subscription = hub.subscribe(principal, entry.filter, start, this.#sinkOf(entry));
      this.#schedule();
    } catch (error) {
      if (error instanceof EventsError) entry.problem = error.message;
      // The store went in this moment: its coming back opens the watch.
      else if (!(error instanceof StoreError)) throw error;
    }
  }

  #sinkOf(entry: Entry): SubscriptionSink {
    return {
      keeps: true,
      writable: true,
      // A test comes by `addTest`, once for a client however many watches it has.
      test: () => undefined,
      active: (_cursor, truncated) => {
        if (!truncated) return;
        entry.gap += 1;
        this.#gapped.add(entry);
        this.#schedule();
      },
      event: (occurrence) => {
        const item = { entry, state: occurrence.row.rowid <= entry.quietUpTo ? ITEM_STATE.quiet : ITEM_STATE.waiting };
        const list = this.#pending.get(occurrence);
        if (list) list.push(item);
        else this.#pending.set(occurrence, [item]);
        this.#pendingItems += 1;
        this.#schedule();
      },
      // Where it stands is written with the next items or the next settle; what holds it shows in `held`.
      heartbeat: () => undefined,
      error: () => undefined,
      terminated: () => {
        entry.subscription = null;
      },
    };
  }

  /** In its own turn: the streams' events leave first. */
  #schedule(): void {
    if (this.#soon !== null || this.#retry !== null) return;
    this.#soon = this.#clock.after(0, () => {
      this.#soon = null;
      this.#keep();
    });
  }

  #keep(): void {
    const { cursors, positions } = standingOf(this.#hubs, [...this.#byId.values()], this.#positions);
    if (this.#pending.size === 0 && this.#gapped.size === 0 && cursors.size === 0 && positions.size === 0) return;
    const kept = [...this.#pending].map(([occurrence, list]) => ({
      occurrence, watches: list.map(({ entry, state }) => ({ n: entry.n, client: entry.watch.client, state })),
    }));
    const what = { kept, cursors, positions, gaps: [...this.#gapped].map(({ n }) => n) };
    const done = this.#disk.write(() => this.store.keep(what, (watch) => this.#unread(watch), this.#clock.now()));
    if (done === null) return this.#waitForDisk();
    this.#pending.clear();
    this.#pendingItems = 0;
    const gapped = new Set(this.#gapped);
    this.#gapped.clear();
    for (const [n, cursor] of cursors) this.#byNumber.get(n)!.cursor = cursor;
    for (const [type, cursor] of positions) this.#positions.set(type, cursor);
    this.#added(done, gapped);
  }

  /** @param gapped watches that read another store now */
  #added({ added, dropped }: KeptNow, gapped: Set<Entry>): void {
    const changed = new Map<string, Change>();
    const touch = (entry: Entry) => {
      const change: Change = changed.get(entry.watch.client) ?? { ids: new Set(), from: null };
      changed.set(entry.watch.client, change);
      change.ids.add(entry.watch.id);
      return change;
    };
    this.#fresh = new Map(added.map(({ event, occurrence }) => [event, occurrence]));
    if (added.length > 0) {
      const mine = this.#fresh;
      this.#clock.after(RETRY_MS, () => {
        if (this.#fresh === mine) this.#fresh = new Map();
      });
    }
    for (const { watch, state, event } of added) {
      const entry = this.#byNumber.get(watch);
      if (!entry) continue;
      entry.counts[state] += 1;
      const change = touch(entry);
      change.from = Math.min(change.from ?? event, event);
    }
    for (const { watch, state, count } of dropped) {
      const entry = this.#byNumber.get(watch);
      if (!entry) continue;
      entry.counts[state] -= count;
      entry.dropped += count;
      gapped.add(entry);
    }
    for (const entry of gapped) touch(entry);
    // Once for a client and type, however many of its watches it met.
    const missed = new Map([...gapped].map(({ watch }) => [`${watch.client} ${watch.type}`, watch]));
    for (const { type, client } of missed.values()) this.#listener.gap(type, client);
    if (changed.size > 0) this.#listeners.tellAll(changed);
  }

  #confirmed(client: string, items: readonly ItemRef[]): void {
    if (items.length === 0) return;
    const ids = new Set<string>();
    for (const { watch, state } of items) {
      countItem(this.#byNumber.get(watch), state, -1);
      const entry = this.#byNumber.get(watch);
      if (!entry) continue;
      entry.confirmed += 1;
      ids.add(entry.watch.id);
    }
    this.#listeners.tell(client, [...ids]);
  }

  /** The disk refuses: what came waits in memory, the positions stay, and it is tried again. */
  #waitForDisk(): void {
    if (this.#pendingItems > MAX_HELD && !this.#suspended) {
      this.#suspended = true;
      for (const entry of this.#byId.values()) {
        if (entry.subscription) this.#hubs.get(entry.watch.type)!.unsubscribe(entry.subscription);
        entry.subscription = null;
      }
      this.#pending.clear();
      this.#pendingItems = 0;
    }
    this.#retry ??= this.#clock.after(RETRY_MS, () => {
      this.#retry = null;
      // A write even where nothing waits: what was suspended goes on only on a disk that takes it.
      if (this.#suspended && this.#disk.write(() => this.store.sweep()) === null) return this.#waitForDisk();
      if (!this.#suspended) return this.#keep();
      this.#suspended = false;
      return this.refresh();
    });
  }

  #unread(n: number): number {
    const counts = this.#byNumber.get(n)?.counts;
    return counts ? counts[0] + counts[1] + counts[2] : 0;
  }
}

export const CANNOT_KEEP = 'Belfry cannot write its state at the moment, so nothing was changed. Try again in a minute.';

const keptOf = ({ id, client, type, arguments: args, createdAt, inbox }: Watch): KeptWatch => ({ id, client, type, arguments: args, createdAt, inbox });
