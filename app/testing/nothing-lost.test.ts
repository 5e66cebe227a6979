import Database from 'better-sqlite3';
import { cpSync, statSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EnvelopeIndex } from '../apple/mail/envelope-index.ts';
import { ChatDatabase } from '../apple/messages/chat-database.ts';
import type { StoreKind } from '../apple/occurrence.ts';
import type { StoreReader } from '../apple/reader.ts';
import { EventsError } from '../events/errors.ts';
import { Hub, type HubPolicy } from '../events/hub.ts';
import { eventTypeOf, type Occurrence } from '../events/occurrence.ts';
import { parseArguments, type Filter } from '../events/sender-filter.ts';
import type { Subscription, SubscriptionSink } from '../events/subscription.ts';
import { TailState } from '../events/tail-state.ts';
import { MailStore } from './mail-store.ts';
import { MessagesStore } from './messages-store.ts';
import { Random } from './random.ts';
import { checkpointRestart, checkpointTruncate, mailIndex, recreateWal, replaceStore } from './store-surgery.ts';
import { tempFolder, type TempFolder } from './temp.ts';
import { VirtualClock } from './virtual-clock.ts';

/**
 * Random schedules of what stores, engines and clients do. Nothing that the owner allows is lost without a gap being told,
 * nothing else is ever sent. `BELFRY_SEED=n` runs one schedule again and prints its steps.
 */
const SCHEDULES = 600;
const HOUR = 3_600_000;
const REFUSED = 'no@example.org';
const SINCE_BIRTH = -1;

/** A store of either kind, and what happens in it. */
interface Ground {
  readonly kind: StoreKind;
  reader(): StoreReader;
  arrive(from: string): number;
  /** A row whose joined rows are missing; `complete` adds them. */
  arriveIncomplete(from: string): { rowid: number; complete: () => void };
  /** Rows that must never ring, though their sender is asked for and allowed. */
  notArrival(from: string): void;
  eventId(rowid: number): string;
  readonly store: MailStore | MessagesStore;
  replace(): void;
}

class MailGround implements Ground {
  readonly kind = 'mail';
  readonly store: MailStore;
  readonly #folder: string;
  readonly #random: Random;
  readonly #clock: VirtualClock;

  constructor(folder: string, random: Random, clock: VirtualClock) {
    this.#folder = folder;
    this.#random = random;
    this.#clock = clock;
    this.store = MailStore.open(`${folder}/Mail/V10`, { synchronous: 'OFF' });
  }
  reader(): StoreReader {
    return new EnvelopeIndex({ mailDir: this.store.mailDir, accountsDb: `${this.#folder}/Accounts/Accounts4.sqlite` });
  }
  #mail(from: string, age = 0) {
    return { from: { address: from, name: 'A' }, dateReceived: this.#clock.seconds(-age), file: false, account: this.#random.pick(this.store.accountIds()) };
  }
  arrive(from: string): number {
    return this.store.arrive(this.#mail(from));
  }
  arriveIncomplete(from: string): { rowid: number; complete: () => void } {
    if (this.#random.chance(0.5)) {
      const { rowid, mailbox } = this.store.arriveBeforeMailboxRow({ ...this.#mail(from), account: IMAP });
      return { rowid, complete: () => this.store.mailboxLater(mailbox, `Later ${mailbox}`, IMAP) };
    }
    const rowid = this.store.arriveWithoutLabels({ ...this.#mail(from), account: GMAIL });
    return { rowid, complete: () => this.store.labelLater(rowid) };
  }
  notArrival(from: string): void {
    const mail = this.#mail(from);
    const ways = [
      () => this.store.draft({ ...mail }),
      () => this.store.send({ ...mail }),
      () => this.store.arrive({ ...mail, account: IMAP, mailbox: 'Junk' }),
      () => this.store.arrive({ ...mail, account: IMAP, mailbox: 'Deleted Messages' }),
      () => this.store.arrive(this.#mail(from, 3 * HOUR)),
      () => this.store.arriveWithoutLabels({ ...this.#mail(from, 3 * HOUR), account: GMAIL }),
    ];
    this.#random.pick(ways)();
  }
  eventId(rowid: number): string {
    return `${this.store.uuid().slice(0, 8)}-${this.store.value<number>('SELECT global_message_id FROM messages WHERE ROWID = ?', rowid)}`;
  }
  replace(): void {
    this.store.close();
    replaceStore(this.store.path, mailIndex({ synchronous: 'OFF' }, fillMail));
    this.store.reopen();
  }
}

class MessagesGround implements Ground {
  readonly kind = 'messages';
  readonly store: MessagesStore;
  readonly #random: Random;
  readonly #clock: VirtualClock;

  constructor(folder: string, random: Random, clock: VirtualClock) {
    this.#random = random;
    this.#clock = clock;
    this.store = MessagesStore.open(`${folder}/chat.db`, { synchronous: 'OFF' });
  }
  reader(): StoreReader {
    return new ChatDatabase({ path: this.store.path, region: 'US' });
  }
  arrive(from: string): number {
    return this.store.arrive({ from, date: this.#clock.now() });
  }
  arriveIncomplete(from: string): { rowid: number; complete: () => void } {
    const message = { from, date: this.#clock.now() };
    if (this.#random.chance(0.3)) {
      const rowid = this.store.notFinished(message);
      return { rowid, complete: () => this.store.finish(rowid, `Finished ${rowid}`) };
    }
    if (this.#random.chance(0.4)) {
      const rowid = this.store.arriveBeforeAttachments(message);
      return { rowid, complete: () => this.store.attachLater(rowid) };
    }
    const rowid = this.store.arriveRowFirst(message);
    return { rowid, complete: () => this.store.joinLater(rowid, message) };
  }
  notArrival(from: string): void {
    const message = { from, date: this.#clock.now() };
    const last = this.store.value<number>('SELECT MAX(ROWID) FROM message') ?? 1;
    const ways = [
      () => this.store.sent(message),
      () => this.store.tapback(last, { from }),
      () => this.store.sticker(last, { from }),
      () => this.store.arrive({ ...message, chat: { identifier: 'chat-of-spam', group: true, filtered: 2 } }),
      () => this.store.arrive({ ...message, date: this.#clock.now() - 3 * HOUR }),
      () => this.store.arriveRowFirst({ ...message, date: this.#clock.now() - 3 * HOUR }),
      () => this.store.groupEvent('added', message),
    ];
    this.#random.pick(ways)();
  }
  eventId(rowid: number): string {
    return this.store.guid(rowid);
  }
  replace(): void {
    this.store.close();
    replaceStore(this.store.path, (path) => {
      const next = MessagesStore.create(path, { synchronous: 'OFF' });
      fillMessages(next);
      next.close();
    });
    this.store.reopen();
  }
}

const IMAP = '11111111-0000-4000-8000-000000000001';
const GMAIL = '22222222-0000-4000-8000-000000000002';

/** History: mails that were there before. They are from an allowed sender and must never be sent. */
function fillMail(store: MailStore): void {
  store.addAccount({ id: IMAP, description: 'iCloud', email: 'me@icloud.example', kind: 'imap' });
  store.addAccount({ id: GMAIL, description: 'Google', email: 'me@gmail.example', kind: 'gmail' });
  store.arriveMany([IMAP, GMAIL, IMAP].map((account) => ({ account, from: { address: 'a1@example.org' }, file: false })));
}
function fillMessages(store: MessagesStore): void {
  store.arriveMany([{ from: 'a1@example.org' }, { from: 'a2@example.org' }, { from: 'a1@example.org' }]);
}

interface Arrival {
  readonly at: number;
  readonly eventId: string;
  readonly rowid: number;
  /** It left the store before anybody had to have it. */
  gone: boolean;
}

class Client implements SubscriptionSink {
  readonly name: string;
  readonly received = new Set<string>();
  readonly #schedule: Schedule;
  writable = true;
  subscription: Subscription | null = null;
  cursor: string | null = null;
  /** Arrivals after this are owed. */
  since: number | null = null;
  /** Arrivals up to here are covered by an announced gap. */
  excused = SINCE_BIRTH;
  /** Generation of the store that the cursor belongs to. */
  generation = 0;
  #ofThis = new Set<string>();

  constructor(name: string, schedule: Schedule) {
    this.name = name;
    this.#schedule = schedule;
  }

  connect(hub: Hub, filter: Filter): void {
    this.#ofThis = new Set();
    hub.ready();
    if (this.since === null) {
      this.since = this.#schedule.arrivals.length - 1;
      this.generation = this.#schedule.openGeneration();
    }
    this.subscription = hub.subscribe({ id: this.name }, filter, hub.startFrom(this.cursor, null, filter), this);
  }

  test(): void {}
  active(cursor: string, truncated: boolean): void {
    const open = this.#schedule.openGeneration();
    if (truncated) {
      if (this.generation === open) this.#schedule.wrong.push('a gap is told though the store is the same');
      this.excused = this.#schedule.arrivals.length - 1;
      this.generation = open;
      this.#ofThis = new Set();
    }
    if (this.generation !== open) this.#schedule.wrong.push('another store without a gap told');
    this.cursor = cursor;
  }
  event(occurrence: Occurrence, cursor: string): void {
    const { eventId } = occurrence;
    // The hub guards itself against sinks that throw: what is wrong is collected.
    if (!this.#schedule.allowed.has(eventId)) this.#schedule.wrong.push(`sent though it must not be: ${eventId} row ${JSON.stringify(occurrence.row)}`);
    if (this.#ofThis.has(eventId)) this.#schedule.wrong.push(`sent twice by one subscription: ${eventId}`);
    this.#ofThis.add(eventId);
    this.received.add(eventId);
    this.cursor = cursor;
  }
  heartbeat(cursor: string): void {
    this.cursor = cursor;
  }
  error(): void {}
  terminated(): void {
    throw new Error('Nobody ends a subscription here.');
  }
}

class Schedule {
  readonly steps: string[] = [];
  readonly wrong: string[] = [];
  readonly arrivals: Arrival[] = [];
  readonly allowed = new Set<string>();
  readonly #random: Random;
  readonly #clock = new VirtualClock();
  readonly #state = new Database(':memory:');
  readonly #ground: Ground;
  readonly #filter: Filter;
  readonly #clients: Client[];
  readonly #generations = new Map<string, number>();
  readonly #mayReplace: boolean;
  #generation = 0;
  #hub: Hub | null = null;
  #reader: StoreReader | null = null;
  #wake: (() => void) | null = null;
  #paused = false;
  #sleeps = 0;
  #waiting: (() => void)[] = [];

  constructor(seed: number, folder: string) {
    this.#random = new Random(seed);
    this.#mayReplace = this.#random.chance(0.4);
    this.#ground = seed % 2 === 0 ? new MailGround(folder, this.#random, this.#clock) : new MessagesGround(folder, this.#random, this.#clock);
    this.#filter = parseArguments(eventTypeOf[this.#ground.kind], { domains: ['example.org'] }, { region: 'US', mailbox: () => [], chat: () => '', ownAddresses: () => new Set() });
    this.#clients = Array.from({ length: this.#random.between(1, 3) }, (_, index) => new Client(`client${index}`, this));
    this.#noteFile();
  }

  openGeneration(): number {
    return this.#generations.get(this.#reader!.identity().ino)!;
  }

  run(): void {
    try {
      this.#up();
      this.#clients[0]!.connect(this.#hub!, this.#filter);
      for (let left = this.#random.between(10, 25); left > 0; left -= 1) this.#step();
      this.#settle();
      this.#verify();
    } finally {
      this.#reader?.close();
      this.#ground.store.close();
      this.#state.close();
    }
  }

  #step(): void {
    const random = this.#random;
    const client = random.pick(this.#clients);
    const steps: readonly (readonly [number, string, () => void])[] = [
      [6, 'arrive', () => this.#arrive(random.between(1, 4))],
      [4, 'arrive incomplete', () => this.#arriveIncomplete()],
      [3, 'complete', () => this.#waiting.splice(random.between(0, this.#waiting.length - 1), 1)[0]?.()],
      [3, 'not to be sent', () => this.#notToBeSent()],
      [5, 'time', () => this.#clock.advance(random.pick([0, 1, 6, 100, 250, 300, 1100]))],
      [2, 'wake', () => this.#wake?.()],
      [1, 'sleep', () => (this.#sleeps += 1) <= 2 && this.#clock.sleep(20 * 60_000)],
      [1, 'checkpoint', () => (random.chance(0.5) ? checkpointRestart : checkpointTruncate)(this.#ground.store.db)],
      [1, 'WAL recreated', () => recreateWal(this.#ground.store, random.chance(0.3))],
      [2, 'store replaced', () => this.#mayReplace && this.#replace()],
      [1, 'newest deleted', () => (this.#ground.kind === 'mail' || !this.#mayReplace) && this.#deleteNewest()],
      [3, 'engine killed', () => this.#crash()],
      [3, 'engine up', () => this.#up()],
      [2, `${client.name} drops`, () => this.#drop(client)],
      [4, `${client.name} connects`, () => this.#connect(client)],
      [2, `${client.name} reads slowly`, () => (client.writable = false)],
      [2, `${client.name} reads on`, () => this.#drain(client)],
      [2, 'pause or resume', () => this.#pause(!this.#paused)],
      [1, 'heartbeat', () => this.#hub?.heartbeat()],
    ];
    let at = random.next() * steps.reduce((sum, [weight]) => sum + weight, 0);
    const [, name, act] = steps.find(([weight]) => (at -= weight) < 0) ?? steps[0]!;
    this.steps.push(name);
    act();
  }

  #sender(): string {
    return `a${this.#random.between(1, 5)}@example.org`;
  }
  #note(rowid: number): Arrival {
    const arrival = { at: this.arrivals.length, eventId: this.#ground.eventId(rowid), rowid, gone: false };
    this.arrivals.push(arrival);
    this.allowed.add(arrival.eventId);
    return arrival;
  }
  #arrive(count: number): void {
    for (let n = 0; n < count; n += 1) this.#note(this.#ground.arrive(this.#sender()));
  }
  #arriveIncomplete(): void {
    const { rowid, complete } = this.#ground.arriveIncomplete(this.#sender());
    const generation = this.#generation;
    const arrival = this.#note(rowid);
    this.#waiting.push(() => { if (generation === this.#generation && !arrival.gone) complete(); });
  }
  #notToBeSent(): void {
    const from = this.#random.pick(['x@other.example', REFUSED, null, null, null, null]);
    if (from === null) this.#ground.notArrival(this.#sender());
    else this.#ground.arrive(from);
  }
  #deleteNewest(): void {
    const last = this.#ground.store.deleteNewest();
    const arrival = this.arrivals.findLast((one) => one.rowid === last);
    if (arrival) arrival.gone = true;
  }
  #noteFile(): void {
    this.#generations.set(String(statSync(this.#ground.store.path, { bigint: true }).ino), this.#generation);
  }
  #replace(): void {
    this.#ground.replace();
    this.#generation += 1;
    this.#noteFile();
  }

  #up(): void {
    if (this.#hub !== null) return;
    this.#reader = this.#ground.reader();
    const policy: HubPolicy = {
      eventOn: () => true, anyOn: () => true, gate: () => (this.#paused ? 'paused' : 'open'), subjects: true, backfill: false, ratePerHour: 1e9,
      nextFreeAt: () => 0, allows: (occurrence) => occurrence.sender !== REFUSED, refusal: () => 'no-allowed-sender', takeRing: () => true,
    };
    const nothing = () => undefined;
    this.#hub = new Hub({
      reader: this.#reader, state: new TailState(this.#state, this.#ground.kind), clock: this.#clock, policy,
      watcher: { start: (_path, wake) => (this.#wake = wake), stop: () => (this.#wake = null) },
      listener: { outcome: nothing, delivered: nothing, settled: nothing, committed: nothing, trouble: nothing, gap: nothing, counted: nothing },
    });
    this.#hub.refresh();
  }
  /** As a kill does it: nothing is written any more, descriptors close, timers are gone. */
  #crash(): void {
    if (this.#hub === null) return;
    this.#reader!.close();
    this.#hub = null;
    this.#wake = null;
    this.#clock.forgetTimers();
    for (const client of this.#clients) client.subscription = null;
  }
  #drop(client: Client): void {
    if (client.subscription !== null) this.#hub!.unsubscribe(client.subscription);
    client.subscription = null;
  }
  #connect(client: Client): void {
    if (this.#hub === null || client.subscription !== null) return;
    try {
      client.connect(this.#hub, this.#filter);
    } catch (error) {
      // Until the next tick after its WAL went away under it, the store cannot be read: the client tries again.
      if (!(error instanceof EventsError)) throw error;
    }
  }
  #drain(client: Client): void {
    client.writable = true;
    if (client.subscription !== null) this.#hub!.drained([client.subscription]);
  }
  #pause(paused: boolean): void {
    this.#paused = paused;
    this.#hub?.refresh();
  }

  #settle(): void {
    this.#up();
    this.#clock.advance(500);
    this.#pause(false);
    for (const client of this.#clients) {
      this.#drain(client);
      if (client.since !== null) this.#connect(client);
      if (client.since !== null) expect(client.subscription).not.toBeNull();
    }
    this.#clock.advance(5000);
  }

  #verify(): void {
    expect(this.wrong).toEqual([]);
    for (const client of this.#clients) {
      if (client.since === null) continue;
      expect(client.generation, 'the gap is announced').toBe(this.#generation);
      const lost = this.arrivals.filter((arrival) => !arrival.gone && arrival.at > client.since! && arrival.at > client.excused && !client.received.has(arrival.eventId));
      expect(lost, `${client.name} never had these`).toEqual([]);
    }
  }
}

let templates: TempFolder;
beforeAll(() => {
  templates = tempFolder();
  const mail = MailStore.create(templates.at('template', 'Mail', 'V10'), { synchronous: 'OFF' });
  fillMail(mail);
  mail.close();
  const messages = MessagesStore.create(templates.at('template', 'chat.db'), { synchronous: 'OFF' });
  fillMessages(messages);
  messages.close();
});
afterAll(() => templates.remove());

test(`nothing is lost and nothing sent that must not be, over ${SCHEDULES} schedules`, { timeout: 180_000 }, () => {
  const only = process.env['BELFRY_SEED'];
  const seeds = only === undefined ? Array.from({ length: SCHEDULES }, (_, index) => index + 1) : [Number(only)];
  let owed = 0;
  for (const seed of seeds) {
    const folder = tempFolder();
    cpSync(templates.at('template'), folder.path, { recursive: true });
    const schedule = new Schedule(seed, folder.path);
    try {
      schedule.run();
      owed += schedule.arrivals.length;
    } catch (error) {
      throw new Error(`BELFRY_SEED=${seed} after: ${schedule.steps.join(', ')}\n${error instanceof Error ? error.message : String(error)}`, { cause: error });
    } finally {
      folder.remove();
    }
  }
  // The schedules are not idle.
  if (only === undefined) expect(owed).toBeGreaterThan(SCHEDULES * 5);
});
