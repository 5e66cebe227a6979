import type { Database } from 'better-sqlite3';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Socket } from 'node:net';
import { AddressBook } from '../apple/contacts/address-book.ts';
import { EnvelopeIndex } from '../apple/mail/envelope-index.ts';
import type { StoreKind } from '../apple/occurrence.ts';
import type { MailReader, MessagesReader } from '../apple/reader.ts';
import { ChatDatabase } from '../apple/messages/chat-database.ts';
import { Echoes } from '../apple/messages/echoes.ts';
import { Osascript, type ScriptRunner } from '../apple/script/osascript.ts';
import { fileWatcher, type StoreWatcher } from '../apple/watch.ts';
import type { Access } from '../contract/values.ts';
import { Endpoint } from '../endpoint/endpoint.ts';
import type { Credentials } from '../endpoint/http/credential.ts';
import type { HttpRoutes } from '../endpoint/http/routes.ts';
import { FolderLock } from '../endpoint/lock.ts';
import type { PeerIdentifier } from '../endpoint/peer-identity.ts';
import { systemClock, type Clock } from '../events/clock.ts';
import { Hub, type Outcome } from '../events/hub.ts';
import type { EventType, Occurrence } from '../events/occurrence.ts';
import { TailState } from '../events/tail-state.ts';
import type { Principal } from '../events/verdict.ts';
import { AttachmentCache } from '../delivery/attachment-cache.ts';
import type { CodexInboxes } from '../delivery/codex-inbox.ts';
import type { Inbox } from '../delivery/inbox.ts';
import type { Outgoing } from '../delivery/outgoing.ts';
import type { Watches } from '../delivery/watches.ts';
import type { LoopbackReceivers } from '../delivery/webhook/https-post.ts';
import type { Webhooks } from '../delivery/webhook/webhooks.ts';
import type { Channels } from '../mcp/channel.ts';
import type { Emission } from '../mcp/emission.ts';
import type { Backend } from '../mcp/session.ts';
import { ActivityLog } from '../activity/activity-log.ts';
import { Policy } from '../policy/policy.ts';
import type { ChangeKind } from '../policy/rule-changes.ts';
import { Sealer } from '../policy/seal.ts';
import { SettingsStore } from '../policy/settings-store.ts';
import type { IndexKey } from '../search/index-file.ts';
import { AccessProbe } from './access.ts';
import { backendOf } from './backend.ts';
import { Changes } from './changes.ts';
import { ChatNames } from './chats.ts';
import { deliveryOf } from './delivery.ts';
import { describeFault, type Log } from './log.ts';
import { LiveFeed, type DeliveryMode } from './live-feed.ts';
import { accountCount } from './mailbox-names.ts';
import { httpOf, type ConnectedClient, type HttpSwitch } from './http.ts';
import { Peers } from './peers.ts';
import { Pulls } from './pulls.ts';
import { slicesOf } from './report.ts';
import { sealCounter } from './seal-counter.ts';
import { Sightings } from './sightings.ts';
import { SearchHost } from './search-host.ts';
import { SourceApps } from './source-apps.ts';
import { openState } from './state-file.ts';
import { webhooksOf } from './webhook-calls.ts';

export interface EngineOptions {
  readonly dataDir: string;
  /** The V* folder of Mail. */
  readonly mailDir: string;
  readonly messagesDb: string;
  readonly accountsDb: string | null;
  readonly addressBookDir: string | null;
  readonly region: string | null;
  /** `serve`: no owner's window, commands act at once. `app`: widening waits for the owner. */
  readonly kind: 'serve' | 'app';
  readonly trustLocalClients: boolean;
  /** The team whose signed helper alone may connect; null or absent where nothing is signed. */
  readonly helperTeam?: string | null;
  readonly peers: PeerIdentifier;
  /** Base64, from the app's host: settings are sealed with it. Headless has none. */
  readonly sealKey?: string | undefined;
  /** What the search index is encrypted with; null: nothing keeps a key, so there is none. */
  readonly searchKey: IndexKey | null;
  /** The search index's threads. */
  readonly searchWorker: URL;
  /** `serve` only, for development and tests: webhooks may go to receivers on this machine. */
  readonly loopbackReceivers?: LoopbackReceivers | undefined;
  readonly log: Log;
  readonly clock?: Clock;
  readonly watcher?: () => StoreWatcher;
  /** Something that ends the engine: the socket was replaced. A whole sentence. */
  readonly onFatal: (sentence: string) => void;
  /** Listens over HTTP on this port whatever settings say; 0: any. Absent or null: as settings say. */
  readonly httpPort?: number | null | undefined;
  /** Who holds which token of HTTP, and what answers beside the endpoint. */
  readonly credentials?: Credentials;
  readonly routes?: HttpRoutes;
  /** Whether Mail or Messages itself runs; absent where that cannot be told. */
  readonly sourceRuns?: (kind: StoreKind) => boolean;
  /** Marks an open file as from outside; absent where the system knows no such mark. */
  readonly quarantine?: (fd: number) => boolean;
  /** Another osascript; headless only, for tests. */
  readonly osascript?: string;
}

/** At most 30 s between heartbeats (SEP-3415); one timer for all streams. */
const HEARTBEAT_MS = 25_000;
/** Emitted notifications are logged a line each, in batches: writing each by itself would cost more than sending it. */
const EMISSIONS_MS = 100;

/** Composition root: joins stores, events, policy and the wire. The same under every host. */
export class Engine {
  readonly options: EngineOptions;
  readonly clock: Clock;
  readonly policy: Policy;
  readonly activity: ActivityLog;
  readonly live: LiveFeed;
  readonly changes: Changes;
  readonly chats: ChatNames;
  readonly seen: Sightings;
  readonly contacts: AddressBook | null;
  readonly startedAt: number;
  readonly socketPath: string;
  readonly sourceApps: SourceApps;
  readonly #lock: FolderLock;
  readonly #state: Database;
  readonly watches: Watches;
  readonly inbox: Inbox;
  readonly channels: Channels;
  readonly inboxes: CodexInboxes;
  readonly webhooks: Webhooks;
  /** Who polled or pulled, and when: listening is what a client does. */
  readonly pulls: Pulls;
  readonly search: SearchHost;
  /** What the owner has to know of state.db, or null. */
  readonly stateSentence: string | null;
  /** Why watches can keep nothing at the moment, or null. */
  watchTrouble: string | null = null;
  /** What is sent by Messages and opened in Mail. */
  readonly outgoing: Outgoing;
  readonly scripts: ScriptRunner;
  readonly echoes: Echoes;
  readonly archives: { readonly mail: EnvelopeIndex; readonly messages: ChatDatabase };
  readonly #attachments: AttachmentCache;
  readonly #hubs: ReadonlyMap<EventType, Hub>;
  readonly #access: AccessProbe;
  readonly #endpoint: Endpoint;
  readonly peers: Peers;
  readonly http: HttpSwitch;
  readonly #cancels: (() => void)[] = [];
  #refreshing = false;
  #stopped = false;
  #accounts: number | null = null;
  #emissions: string[] = [];
  /** Runs a command line that came in by the socket; set by the host of commands. */
  command: ((socket: Socket, argv: readonly string[]) => void) | null = null;

  /** @throws FolderHeldError, or an error of the file system. */
  constructor(options: EngineOptions) {
    this.options = options;
    this.clock = options.clock ?? systemClock;
    this.startedAt = this.clock.now();
    mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
    this.socketPath = join(options.dataDir, 'run', 'engine.sock');
    this.#lock = FolderLock.take(options.dataDir, { pid: process.pid, kind: options.kind });
    const state = openState(join(options.dataDir, 'state.db'), this.clock.now());
    this.#state = state.db;
    this.stateSentence = state.sentence;
    if (state.sentence) options.log(state.sentence);
    const sealer = options.sealKey === undefined ? null : new Sealer(options.sealKey, sealCounter(this.#state));
    const settings = new SettingsStore(join(options.dataDir, 'settings.json'), this.clock.now(), sealer);
    if (settings.loaded.sentence) options.log(settings.loaded.sentence);
    this.policy = new Policy({
      settings,
      clock: this.clock,
      region: options.region,
      processAlive: (process) => options.peers.alive(process),
      trustLocalClients: options.trustLocalClients,
      localReceivers: options.kind === 'serve' && options.loopbackReceivers !== undefined,
    });
    this.activity = new ActivityLog(this.#state, { now: () => this.clock.now(), setTimer: (ms, work) => this.clock.after(ms, work) });
    this.activity.keepSenders(this.policy.settings.keepSendersDays);
    this.seen = new Sightings(this.activity.lastDeliveries());
    this.live = new LiveFeed(this.policy, this.clock);
    this.sourceApps = new SourceApps(options.sourceRuns, this.clock);
    this.changes = new Changes(this.clock, () => slicesOf(this));
    this.chats = new ChatNames(() => this.readable('messages'));
    this.contacts = options.addressBookDir === null ? null : new AddressBook({ folder: options.addressBookDir, region: this.policy.region });
    const name = (handle: string) => this.contacts?.nameOf(handle) ?? null;
    this.echoes = new Echoes(() => this.clock.monotonic());
    this.scripts = new Osascript(options.kind === 'serve' ? options.osascript : undefined);
    this.archives = {
      mail: new EnvelopeIndex({ mailDir: options.mailDir, ...(options.accountsDb !== null && { accountsDb: options.accountsDb }) }),
      messages: new ChatDatabase({ path: options.messagesDb, region: this.policy.region, names: name, echoes: this.echoes }),
    };
    this.#attachments = new AttachmentCache(join(options.dataDir, 'cache', 'attachments'), { now: () => this.clock.now(), mark: options.quarantine });
    this.#hubs = this.#makeHubs();
    this.#access = new AccessProbe({
      db: this.#state, mailDir: options.mailDir, messagesDb: options.messagesDb, now: () => this.clock.now(),
      openPath: (kind) => {
        const { reader } = this.#hubOf(kind);
        return reader.isOpen ? reader.path : null;
      },
    });
    const { policy, clock } = this;
    this.pulls = new Pulls(clock);
    const { watches, inbox, channels, inboxes, outgoing } = deliveryOf(this, this.#state, this.#hubs);
    this.watches = watches;
    this.inbox = inbox;
    this.channels = channels;
    this.inboxes = inboxes;
    this.outgoing = outgoing;
    this.search = new SearchHost({
      dataDir: options.dataDir, mailDir: options.mailDir, key: options.searchKey, kind: options.kind, policy, clock, mail: () => this.readable('mail'),
      worker: options.searchWorker, changed: () => this.changes.stirred(), log: options.log,
    });
    this.webhooks = webhooksOf(this, this.#state, this.#hubs);
    const backend = backendOf(this, { mail: this.archives.mail, messages: this.archives.messages, attachments: this.#attachments });
    this.peers = this.#makePeers(backend);
    this.http = httpOf(this, backend);
    this.#endpoint = new Endpoint(this.socketPath, {
      admit: (socket) => this.peers.admit(socket),
      peer: (socket, hello, rest) => this.peers.serve(socket, hello, rest),
      rebound: () => options.onFatal('The socket in the data folder was replaced by another program, so Belfry stops. Look at who writes there, then start it again.'),
    }, this.clock);
  }

  async start(): Promise<void> {
    await this.#endpoint.listen();
    this.contacts?.refresh();
    for (const hub of this.#hubs.values()) hub.refresh();
    this.#access.look();
    this.sweepAttachments();
    this.resume();
    this.search.refresh();
    this.#cancels.push(
      this.policy.onChange((kind, sentence) => this.#policyChanged(kind, sentence)),
      this.clock.every(HEARTBEAT_MS, () => this.#heartbeat()),
      // Names are labels: fresh enough within a minute, and never read on the way of an event.
      this.clock.every(60_000, () => this.#freshenNames()),
      this.clock.every(2000, () => this.policy.sweep()),
      this.clock.every(600_000, () => this.sweepAttachments()),
    );
    await this.#followHttp();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const cancel of this.#cancels) cancel();
    this.channels.close();
    this.inboxes.close();
    this.watches.close();
    this.outgoing.close();
    this.scripts.close();
    this.webhooks.close();
    this.changes.close();
    await this.http.close();
    await this.peers.close();
    await this.#endpoint.close();
    await this.search.stop();
    for (const hub of this.#hubs.values()) if (hub.tail.running) hub.tail.stop();
    this.#logEmissions();
    this.activity.close();
    this.policy.close();
    this.#state.close();
    this.#lock.release();
  }

  hub(type: EventType): Hub {
    return this.#hubs.get(type)!;
  }
  #hubOf(kind: StoreKind): Hub {
    return this.hub(kind === 'mail' ? 'mail.received' : 'messages.received');
  }

  /** The reader of a store whose type is on and that can be read now: nothing is read for a type that is off. */
  readable(kind: 'mail'): MailReader | null;
  readable(kind: 'messages'): MessagesReader | null;
  readable(kind: StoreKind): MailReader | MessagesReader | null {
    const { tail, reader } = this.#hubOf(kind);
    return tail.running && tail.trouble === null ? reader : null;
  }

  /** Accounts of Mail's index as of the last look at its names; null while it is not read. */
  get accounts(): number | null {
    return this.readable('mail') === null ? null : this.#accounts;
  }

  get access(): Access {
    return this.#access.found;
  }
  /** Looks at both stores now (ui.md, Full Disk Access). */
  probeAccess(): Access {
    if (this.#access.look()) this.changes.changed();
    return this.#access.found;
  }

  get hubs(): Iterable<Hub> {
    return this.#hubs.values();
  }

  #makeHubs(): ReadonlyMap<EventType, Hub> {
    const { options } = this;
    return new Map([this.archives.mail, this.archives.messages].map((reader) => {
      const hub = new Hub({
        reader,
        state: new TailState(this.#state, reader.kind),
        watcher: options.watcher?.() ?? fileWatcher(),
        clock: this.clock,
        policy: this.policy,
        listener: {
          outcome: (outcome) => this.#outcome(outcome),
          delivered: (occurrence, principal) => this.delivered(occurrence, principal, 'push'),
          settled: () => undefined,
          trouble: (type, kind) => {
            options.log(kind === null ? `${type}: the store is readable` : `${type}: the store cannot be read (${kind})`);
            this.#storeChanged(type, kind === null);
          },
          gap: (type) => {
            options.log(`${type}: another store is there; positions before it are void`);
            this.activity.record({ kind: 'gap', type });
            this.live.gap(type);
            if (type === 'mail.received') this.search.compare();
          },
          committed: (type) => { if (type === 'mail.received') this.search.changed(); },
          counted: () => this.changes.changed(),
        },
      });
      return [hub.type, hub];
    }));
  }

  #outcome(outcome: Outcome): void {
    const { occurrence } = outcome;
    this.live.outcome(outcome);
    this.changes.stirred();
    if (occurrence.row.store === 'mail') {
      this.#refreshNames();
      this.search.arrived(occurrence.row.rowid);
    }
    if (outcome.notArrival !== null) return;
    this.seen.arrived(occurrence, this.policy.ruleFor(occurrence), this.clock.now());
    for (const { principal, reason } of outcome.notSent) this.#recordEvent('not_sent', occurrence, principal, reason);
  }

  /** A renamed mailbox shows within a second of the next mail; looked up after the event went out, not before. */
  #refreshNames(): void {
    if (this.#refreshing) return;
    this.#refreshing = true;
    this.clock.after(1000, () => {
      this.#refreshing = false;
      const { reader, tail } = this.hub('mail.received');
      try {
        if (tail.trouble === null && reader.kind === 'mail') {
          reader.refresh();
          this.#accounts = accountCount(reader);
        }
      } catch {
        // The store went in this moment: the tail says so.
      }
    });
  }

  /** An event went out to a client. */
  delivered(occurrence: Occurrence, principal: Principal, mode: DeliveryMode): void {
    this.live.delivered(occurrence, principal, mode);
    this.seen.delivered(principal.id, this.clock.now());
    this.#recordEvent('delivered', occurrence, principal);
    this.changes.stirred();
  }

  #recordEvent(kind: 'delivered' | 'not_sent', { type, eventId, row, sender }: Occurrence, principal: Principal, reason?: string): void {
    this.activity.record({ kind, type, client: principal.id, eventId, rowid: row.rowid, sender, ...(reason !== undefined && { reason }) });
  }

  /** Whatever was held by the owner or by a store goes on. */
  resume(): void {
    this.watches.refresh();
    this.channels.refresh();
    this.inboxes.refresh();
    this.webhooks.refresh();
  }

  /** Method, licence and connection; never what was in it. */
  emitted(by: string, { method, licence }: Emission, sent: boolean): void {
    if (this.#emissions.length === 0) this.clock.after(EMISSIONS_MS, () => this.#logEmissions());
    this.#emissions.push(`${sent ? 'emitted' : 'held back, undeclared:'} ${method}, licence ${licence}, ${by}`);
  }

  #logEmissions(): void {
    const lines = this.#emissions;
    this.#emissions = [];
    for (const line of lines) this.options.log(line);
  }

  #policyChanged(kind: ChangeKind, sentence: string | null): void {
    if (sentence !== null) this.activity.record({ kind: 'changed', reason: sentence });
    if (kind !== 'notice' && kind !== 'waiting') {
      // First: a client whose token is over is not asked about anew.
      if (kind === 'clients') this.http.tokensChanged();
      for (const hub of this.#hubs.values()) hub.refresh();
      this.resume();
      this.peers.policyChanged();
      this.outgoing.refresh();
      this.http.policyChanged();
      this.search.refresh();
      if (kind === 'events') this.#access.look();
      if (kind === 'settings') this.activity.keepSenders(this.policy.settings.keepSendersDays);
      void this.#followHttp();
    }
    // After what the stores say of it: one telling holds both.
    this.changes.changed();
  }

  #storeChanged(type: EventType, isReadable: boolean): void {
    // The tail is in the middle of a look: what this asks of the store comes after it.
    this.clock.after(0, () => {
      if (this.#stopped) return;
      if (isReadable) this.resume();
      if (isReadable && type === 'mail.received') this.#refreshNames();
      if (isReadable && type === 'messages.received') this.chats.forget();
      if (type === 'mail.received') this.search.refresh();
      this.probeAccess();
      this.changes.changed();
    });
  }

  /** Names are labels: contacts and chats may be called otherwise by now. */
  #freshenNames(): void {
    this.contacts?.refresh();
    this.chats.forget();
  }

  /** Removes attachments that were handed out more than 24 hours ago, and what they take too much. */
  sweepAttachments(): void {
    try {
      this.#attachments.sweep();
    } catch (error) {
      this.options.log(`attachments: ${describeFault(error)}`);
    }
  }

  #heartbeat(): void {
    for (const hub of this.#hubs.values()) hub.heartbeat();
    // Positions move while nothing matches; a name that fits again opens its watch; a push that failed is tried again.
    this.watches.settle();
    this.webhooks.settle();
    this.resume();
  }

  /** Everyone who is connected, by the socket and over HTTP. */
  get connected(): readonly ConnectedClient[] {
    return [...this.peers, ...this.http.clients];
  }

  #followHttp(): Promise<void> {
    const { http: on, httpPort: port } = this.policy.settings;
    return this.http.follow({ on, port });
  }

  #makePeers(backend: Backend): Peers {
    const { options } = this;
    return new Peers({
      identifier: options.peers, helperTeam: options.helperTeam, backend, now: () => this.clock.now(),
      listener: {
        identified: (peer, identity) => {
          this.policy.seen(identity, peer.label);
          this.changes.changed();
        },
        left: ({ identity }, wasLast) => {
          if (wasLast && identity !== null && !this.http.clients.some((other) => other.identity?.id === identity.id)) this.pulls.left(identity.id);
          this.changes.changed();
        },
        drained: ({ streams, identity }) => {
          for (const hub of this.#hubs.values()) hub.drained(streams);
          if (identity !== null) this.channels.push(identity.id);
        },
        emitted: (number, emission, sent) => this.emitted(`connection ${number}`, emission, sent),
        command: (socket, argv) => this.command?.(socket, argv),
      },
    });
  }
}
