import type { Clock } from '../events/clock.ts';
import type { StoreKind } from '../apple/occurrence.ts';
import type { EventType } from '../events/occurrence.ts';
import type { Principal } from '../events/verdict.ts';
import { activitySentence, grantTitle, isWidening, settingText, type AllowOptions, type Change, type GrantName, type Outcome } from './change.ts';
import { Clients, widestOf, type ClientIdentity } from './clients.ts';
import { Credentials } from './credentials.ts';
import { MAX_PAUSE_MS, MIN_PAUSE_MS, Pause } from './pause.ts';
import { RateLimit } from './rate.ts';
import { Requests, type RequestsHost } from './requests.ts';
import { chatCount, done, RuleChanges, type ChangeKind, type Saved } from './rule-changes.ts';
import { addRules, checkEntry, splitEntries } from './sender-edit.ts';
import type { SealState } from './seal.ts';
import type { SettingsStore } from './settings-store.ts';
import { withoutQuotes } from '../text/quotes.ts';
import { plainSettings, type SettingKey } from '../contract/plain-settings.ts';
import { issueSentence, portableOf, readPortable, settingsFault, type ClientProcess, type ClientRecord, type Settings } from './settings.ts';
import { snapshotOf, type PolicySnapshot } from './snapshot.ts';
import { SignIns, type SignInHost } from './sign-ins.ts';
import { MAX_WAITING, Waiting } from './waiting.ts';
import { hostsToAdd, readHosts } from './webhook-hosts.ts';

/** @param sentence for Activity, without names; null where nothing was decided. */
export type ChangeListener = (kind: ChangeKind, sentence: string | null) => void;

export interface PolicyOptions {
  readonly settings: SettingsStore;
  readonly clock: Clock;
  /** `--region` or the locale's, used where the owner set none (ruling 13). */
  readonly region: string | null;
  /** Whether that very process (pid and start time) still runs. */
  readonly processAlive: (process: ClientProcess) => boolean;
  /** Headless only: clients nobody decided on are let in. A denial and a revoke still hold (ruling 17). */
  readonly trustLocalClients: boolean;
  /** Development only: webhooks may go to this machine. */
  readonly localReceivers?: boolean;
}

/** Clients are let in unasked up to here: a program that makes up identities leaves room for those that the owner allows. */
const MAX_UNASKED = 200;

/**
 * What the owner allows. Questions are answered from memory; a change counts once it is on disk, and listeners
 * hear of it before the call returns.
 */
export class Policy extends RuleChanges {
  readonly #store: SettingsStore;
  readonly #clock: Clock;
  readonly #waiting: Waiting;
  readonly #requests: Requests;
  readonly #rate: RateLimit;
  readonly #pause: Pause;
  readonly #listeners = new Set<ChangeListener>();
  /** Tokens and sign-ins: whose a bearer token is. */
  readonly credentials: Credentials;
  readonly signIns: SignIns;
  protected readonly localReceivers: boolean;

  constructor(options: PolicyOptions) {
    super(new Clients(() => options.clock.now(), options.processAlive), options.region, options.trustLocalClients);
    this.#store = options.settings;
    this.localReceivers = options.localReceivers ?? false;
    this.#clock = options.clock;
    this.#waiting = new Waiting(() => this.#clock.now(), () => this.#clock.monotonic());
    this.#requests = new Requests(this.#requestsHost(), this.#waiting, this.clients);
    this.#rate = new RateLimit(() => this.#clock.monotonic());
    this.#pause = new Pause(options.clock, () => this.#emit('pause', 'The pause ended'));
    const host = this.#credentialHost();
    this.credentials = new Credentials(host);
    this.signIns = new SignIns(host, this.#waiting, this.credentials);
    this.compile();
    this.#pause.set(this.settings.pausedUntil);
    this.#endOnce(true);
    this.#endSignIns(true);
  }

  get settings(): Settings {
    return this.#store.settings;
  }
  get pausedUntil(): Settings['pausedUntil'] {
    return this.#pause.until;
  }
  protected get isPaused(): boolean {
    return this.#pause.active;
  }

  get watches(): Settings['watches'] {
    return this.settings.watches;
  }
  /** The owner's watches. Null: written, else a sentence. Listeners are not told: what changed is told by `delivery`. */
  saveWatches(watches: Settings['watches']): string | null {
    const failed = this.save({ watches });
    return failed === null ? null : failed.message;
  }

  takeRing(principal: Principal, eventId: string): boolean {
    return this.#rate.takeRing(principal.id, eventId, this.ratePerHour);
  }

  /** Unix ms. */
  nextFreeAt(principal: Principal): number {
    return this.#clock.now() + Math.max(0, this.#rate.nextFreeAt(principal.id, this.ratePerHour) - this.#clock.monotonic());
  }

  /** A client would like to read or to search: a request for the owner, unless it may already or was refused. */
  wantsToRead(principal: Principal, stores: readonly StoreKind[], search = false): void {
    const grants: GrantName[] = stores.filter((store) => this.reach(principal, store) === null);
    if (search && !this.maySearch(principal)) grants.push('search');
    this.#requests.wish(principal.id, grants);
  }

  /** A client would like to write: a request for the owner, unless it may already or was refused. */
  wantsToWrite(principal: Principal): void {
    if (this.writes(principal) === null) this.#requests.wish(principal.id, ['reply']);
  }

  #isIn(id: string): boolean {
    const decision = this.clients.decision(id);
    return decision === 'none' ? this.trustLocalClients && this.#isKnown(id) : decision !== 'denied';
  }

  /** A client connected and was identified. `label` is what it calls itself. */
  seen(identity: ClientIdentity, label: string | null): void {
    if (this.clients.seen(identity, label)) this.#emit('clients', null);
    this.#letIn(identity.id);
  }

  /**
   * A client subscribes or polls. One that nobody decided on comes into Waiting for you; for every client the
   * owner sees what it asks for and may not have. @param senders filter entries, normalised
   */
  asks(principal: Principal, type: EventType, senders: readonly string[]): void {
    if (principal.id === '') return;
    const isNew = this.clients.asks(principal.id, type, senders);
    this.#letIn(principal.id);
    if (this.clients.known(principal.id) && this.clients.gate(principal.id, type, this.trustLocalClients) === 'approval') {
      const place = this.#waiting.addClient(principal.id, (id) => this.clients.runs(id));
      if (place === 'added') return this.#waits();
    }
    if (isNew) this.#emit('clients', null);
  }

  /** Ends `once` where the client's process ended. Call it every second or so. */
  sweep(): void {
    this.#endOnce(false);
    this.#endSignIns(false);
  }

  /** Called synchronously after each change. Returns the way to stop. */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Whether a program may only ask for this (architecture 3). */
  widens(change: Change): boolean {
    const held = { settings: this.settings, pausedUntil: this.pausedUntil, now: this.#clock.now() };
    return isWidening(this.#normalised(change), held);
  }

  change(change: Change): Outcome {
    switch (change.do) {
      case 'set-event': return this.setEvent(change.type, change.on);
      case 'add-senders': return this.addSenders(change.senders, change.options);
      case 'set-sender': return this.setSender(change.sender, change.patch);
      case 'remove-senders': return this.removeSenders(change.senders);
      case 'undo-removal': return this.undoRemoval();
      case 'add-chats': return this.addChats(change.chats);
      case 'remove-chats': return this.removeChats(change.chats);
      case 'set-mailboxes': return this.setMailboxes(change.mailboxes);
      case 'add-hosts': return this.addHosts(change.hosts);
      case 'remove-hosts': return this.removeHosts(change.hosts);
      case 'exclude': return this.exclude(change.places);
      case 'include': return this.include(change.places);
      case 'allow-client': return this.allowClient(change.id, change.options, change.code);
      case 'grant-client': return this.grantClient(change.id, change.grants);
      case 'deny-client': return this.denyClient(change.id);
      case 'revoke-client': return this.revokeClient(change.id);
      case 'create-token': return this.credentials.createToken(change.label, change.options);
      case 'revoke-token': return this.revokeToken(change.id);
      case 'pause': return this.pause(change.ms);
      case 'resume': return this.resume();
      case 'set-setting': return this.setSetting(change.key, change.value);
    }
  }

  /** Puts a change into Waiting for you instead of doing it. The sentence says where it went. */
  request(change: Change): Outcome {
    const fault = this.#fault(change);
    if (fault) return fault;
    const place = this.#requests.ask(this.#normalised(change));
    if (place === null) return { ok: false, code: 'full', message: `${MAX_WAITING} requests wait for the owner already. Answer those first.` };
    if (place.added) this.#waits();
    return { ok: true, changed: false, sentence: 'This lets more through, so the owner has to allow it: it is in Waiting for you.' };
  }

  /** The owner's answer to an entry of Waiting for you. Dismissing a client denies it. */
  answer(id: string, accept: boolean, options: AllowOptions = {}): Outcome {
    const entry = this.#waiting.find(id);
    if (!entry) return { ok: false, code: 'unknown', message: 'This request is no longer waiting.' };
    if (entry.kind === 'sign-in') return this.signIns.answer(id, accept, options);
    if (entry.kind === 'client') return accept ? this.allowClient(id, options) : this.denyClient(id);
    const outcome: Outcome = accept ? this.change(entry.change) : { ok: true, changed: true, sentence: 'Not allowed.' };
    // A change that failed stays, so that the owner can try again once the reason is gone.
    if (outcome.ok || outcome.code === 'nothing') {
      this.#waiting.remove(id);
      this.#emit('waiting', null);
      this.#requests.settle();
    }
    return outcome;
  }

  /** Rules, events and plain settings as JSON; no clients and no seal. */
  exportSettings(): string {
    return `${JSON.stringify(portableOf(this.settings), null, 2)}\n`;
  }

  /** Rules, events and plain settings become those of an export; clients stay as they are. */
  importSettings(json: string): Outcome {
    const read = readPortable(json);
    if (!read.ok) return { ok: false, code: 'invalid', message: `These are no settings of Belfry (${read.reason}). Nothing was changed.` };
    const failed = this.save(read.settings);
    if (failed) return failed;
    this.forgetRemoval();
    for (const kind of ['events', 'senders', 'settings'] as const) this.#emit(kind, kind === 'settings' ? 'Settings imported' : null);
    const { senders, chats } = read.settings;
    return done(true, `Imported ${senders.length} sender${senders.length === 1 ? '' : 's'} and ${chatCount(chats)}.`);
  }

  /** All senders, chats, clients and webhook hosts go. */
  reset(): Outcome {
    const failed = this.save({ senders: [], chats: [], clients: [], tokens: [], signIns: [], hosts: [] });
    if (failed) return failed;
    this.forgetRemoval();
    for (const kind of ['senders', 'hosts', 'clients'] as const) this.#emit(kind, kind === 'clients' ? 'All senders, clients and webhook hosts removed' : null);
    return done(true, 'All senders, chats, clients and webhook hosts are removed.');
  }

  get seal(): SealState {
    return this.#store.seal;
  }

  /** The owner's answer to a broken seal. @param accept what the file said at start holds; else everything stays off */
  answerSeal(accept: boolean): Outcome {
    if (this.seal !== 'broken') return { ok: false, code: 'nothing', message: 'The settings are as Belfry wrote them, so there is nothing to review.' };
    const failed = this.#store.answerSeal(accept);
    if (failed !== null) return { ok: false, code: 'not-written', message: failed };
    this.compile();
    this.#pause.set(this.settings.pausedUntil);
    this.#endOnce(true);
    const sentence = accept ? 'Settings changed outside Belfry were accepted' : 'Settings changed outside Belfry were refused';
    for (const kind of ['events', 'senders', 'clients', 'hosts', 'settings'] as const) this.#emit(kind, kind === 'settings' ? sentence : null);
    return done(true, accept ? 'The settings of the file hold now.' : 'Everything stays off. The file that was found is kept beside settings.json.');
  }

  /** Without options: always, every event type, every allowed sender (ruling 17). @param code of a sign-in that waits */
  allowClient(id: string, options: AllowOptions = {}, code: string | null = null): Outcome {
    if (this.signIns.waits(id)) return this.signIns.allowByCode(id, code, options);
    if (code !== null) return noSignIn(id);
    if (!this.#isKnown(id)) return unknownClient(id);
    const senders = this.#grantSenders(options.senders);
    if (typeof senders === 'string') return { ok: false, code: 'invalid', message: senders };
    const fault = this.credentials.allowFault(id, options);
    if (fault !== null) return { ok: false, code: 'refused', message: fault };
    const record = this.clients.approved(id, { ...options, ...senders });
    if (typeof record === 'string') return { ok: false, code: 'refused', message: record };
    const word = record.decision === 'once' ? 'allowed until its process ends' : 'allowed';
    return this.#decide(record, { do: 'allow-client', id, options }, `${this.clientName(id)} is ${word}.`, options.grants !== undefined);
  }

  /** More for a client that is let in; the rest of its record stays as it is. */
  grantClient(id: string, grants: readonly GrantName[]): Outcome {
    if (!this.#isKnown(id)) return unknownClient(id);
    const record = this.clients.record(id);
    if (record === null && this.trustLocalClients) return this.allowClient(id, { grants });
    if (record === null || record.decision === 'denied') return { ok: false, code: 'refused', message: `${this.clientName(id)} is not allowed yet.` };
    const next = { ...record, grants: widestOf([...record.grants, ...grants]) };
    return this.#decide(next, { do: 'grant-client', id, grants }, `${this.clientName(id)} may now ${grants.map(grantTitle).join(' and ')}.`);
  }

  denyClient(id: string): Outcome {
    if (this.signIns.waits(id)) return this.signIns.answer(id, false, {});
    if (!this.#isKnown(id)) return unknownClient(id);
    return this.#decide(this.clients.denied(id), { do: 'deny-client', id }, `${this.clientName(id)} is not allowed.`);
  }

  /** Like a denial: the client stays refused, also under --trust-local-clients, until it is allowed again. */
  revokeClient(id: string): Outcome {
    if (this.signIns.waits(id)) return this.signIns.answer(id, false, {});
    if (!this.#isKnown(id)) return unknownClient(id);
    return this.#decide(this.clients.denied(id), { do: 'revoke-client', id }, `${this.clientName(id)} is no longer allowed.`);
  }

  /** The token and its client, which is nobody without it. @param id of that client */
  revokeToken(id: string): Outcome {
    return this.credentials.standsFor(id) ? this.revokeClient(id) : { ok: false, code: 'unknown', message: `No token has the id ${JSON.stringify(id.slice(0, 16))}. "belfry tokens list" shows the ids.` };
  }

  /** @param ms null: until resumed. */
  pause(ms: number | null): Outcome {
    if (!isPauseLength(ms)) return badPause;
    const pausedUntil = ms === null ? 'resumed' : Math.round(this.#clock.now() + ms);
    const failed = this.save({ pausedUntil });
    if (failed) return failed;
    this.#pause.set(pausedUntil);
    const until = pausedUntil === 'resumed' ? 'until resumed' : `until ${new Date(pausedUntil).toISOString()}`;
    return this.did('pause', { do: 'pause', ms }, `Paused ${until}.`);
  }

  resume(): Outcome {
    if (!this.#pause.active) return done(false, 'Not paused.');
    const failed = this.save({ pausedUntil: null });
    if (failed) return failed;
    this.#pause.set(null);
    return this.did('pause', { do: 'resume' }, 'Resumed.');
  }

  setSetting(key: SettingKey, value: unknown): Outcome {
    const fault = settingFault(key, value);
    if (fault) return fault;
    const sentence = `${key} is ${settingText(value)}.`;
    if (this.settings[key] === value) return done(false, sentence);
    return this.save({ [key]: value }) ?? this.did('settings', { do: 'set-setting', key, value }, sentence);
  }

  snapshot(): PolicySnapshot {
    return snapshotOf({
      settings: this.settings, loaded: this.#store.loaded, region: this.region, pausedUntil: this.pausedUntil,
      trustLocalClients: this.trustLocalClients, clients: this.clients, waiting: this.#waiting.entries, rules: this.rules, tokens: this.credentials.views,
    });
  }

  close(): void {
    this.#pause.close();
    this.signIns.close();
    this.#listeners.clear();
  }

  /** Why a change could never be done: wrong use is said at once and does not wait for the owner. */
  #fault(change: Change): Outcome | null {
    if (change.do === 'allow-client' && this.signIns.waits(change.id)) return { ok: false, code: 'refused', message: 'This sign-in is in Waiting for you already: only the owner can allow it, who compares its code.' };
    if (change.do === 'allow-client' && change.code !== undefined) return noSignIn(change.id);
    if ((change.do === 'allow-client' || change.do === 'grant-client') && !this.#isKnown(change.id)) return unknownClient(change.id);
    if (change.do === 'add-senders') {
      const edit = addRules(this.settings.senders, change.senders, change.options, this.region);
      if (!edit.ok) return edit;
    }
    if (change.do === 'add-hosts') {
      const hosts = hostsToAdd(change.hosts, this.localReceivers);
      if (typeof hosts === 'string') return { ok: false, code: 'invalid', message: hosts };
    }
    if (change.do === 'create-token') return this.credentials.tokenFault(change.label, change.options);
    if (change.do === 'pause' && !isPauseLength(change.ms)) return badPause;
    return change.do === 'set-setting' ? settingFault(change.key, change.value) : null;
  }

  #isKnown(id: string): boolean {
    return this.clients.known(id) !== null || this.clients.record(id) !== null;
  }

  clientName(id: string): string {
    const label = withoutQuotes(this.clients.known(id)?.label ?? this.clients.record(id)?.label ?? '');
    return label === '' ? id : `"${label}" (${id})`;
  }

  #grantSenders(senders: AllowOptions['senders']): { senders?: 'all' | readonly string[] } | string {
    if (senders === undefined || senders === 'all') return {};
    const values: string[] = [];
    for (const text of senders.flatMap(splitEntries)) {
      const entry = checkEntry(text, this.region);
      if (!entry.ok) return `${JSON.stringify(text.slice(0, 80))}: ${entry.reason}.`;
      values.push(entry.value);
    }
    return values.length === 0 ? 'Name at least one sender, or leave senders out for all.' : { senders: values };
  }

  /** @param answersWishes the owner said what it may do beyond events: what it wished for is answered too */
  #decide(record: ClientRecord, change: Change, sentence: string, answersWishes = false): Outcome {
    const clients = [...this.settings.clients.filter((each) => each.id !== record.id), record];
    const failed = this.save({ clients, ...(record.decision === 'denied' && this.credentials.without(record.id)) });
    if (failed) return failed;
    const refused = record.decision === 'denied';
    if (refused) this.signIns.refuse(record.id);
    if (refused || answersWishes) this.clients.forgetWishes(record.id);
    const waited = refused ? this.#waiting.removeClient(record.id) : this.#waiting.remove(record.id);
    const outcome = this.did('clients', change, sentence);
    if (waited) this.#emit('waiting', null);
    return outcome;
  }

  /**
   * While the owner has asking turned off: events for a client that nobody decided on, for as long as its identity can
   * carry, and nothing beyond events. One that waits for an answer goes on waiting, and a refusal holds.
   */
  #letIn(id: string): void {
    const known = this.clients.known(id);
    if (this.settings.askNewClients || known === null || this.clients.decision(id) !== 'none' || this.#waiting.has(id)) return;
    if (this.settings.clients.length >= MAX_UNASKED) return;
    const record = this.clients.approved(id, { once: !known.identity.persistable });
    if (typeof record !== 'string' && this.save({ clients: [...this.settings.clients, record] }) === null) this.#emit('clients', 'New client let in without asking');
  }

  #endOnce(atStart: boolean): void {
    const ended = new Set(this.clients.ended(atStart));
    if (ended.size === 0) return;
    const clients = this.settings.clients.filter((record) => !ended.has(record.id));
    // Could not be written: the grant is over all the same, and a new process of that client is asked about.
    if (this.save({ clients }) !== null) this.clients.expire(ended);
    this.#emit('clients', `${ended.size === 1 ? 'A client' : `${ended.size} clients`} allowed once ended`);
  }

  /** Sign-ins that nobody used for so long. */
  #endSignIns(atStart: boolean): void {
    const left = this.credentials.over(atStart);
    if (left !== null && this.save(left) === null) this.#emit('clients', null);
  }

  #credentialHost(): SignInHost {
    const policy = this;
    return {
      get settings() { return policy.settings; },
      clock: this.#clock,
      save: (part) => this.save(part),
      senders: (senders) => this.#grantSenders(senders),
      changed: (sentence) => this.#emit('clients', sentence),
      waits: (isNew) => (isNew ? this.#waits() : this.#emit('waiting', null)),
      forget: (client) => this.clients.forget(client),
    };
  }

  #requestsHost(): RequestsHost {
    const policy = this;
    return {
      get settings() { return policy.settings; },
      get region() { return policy.region; },
      isIn: (id) => this.#isIn(id),
      widens: (change) => this.widens(change),
      clientName: (id) => this.clientName(id),
      waits: (isNew) => (isNew ? this.#waits() : this.#emit('waiting', null)),
    };
  }

  #normalised(change: Change): Change {
    const value = (text: string) => {
      const entry = checkEntry(text, this.region);
      return entry.ok ? entry.value : text;
    };
    if (change.do === 'remove-senders') return { ...change, senders: change.senders.flatMap(splitEntries).map(value) };
    if (change.do === 'add-hosts') {
      const hosts = readHosts(change.hosts);
      return typeof hosts === 'string' ? change : { ...change, hosts };
    }
    return change.do === 'set-sender' ? { ...change, sender: value(change.sender) } : change;
  }

  /** Null: written, and in force. */
  protected save(part: Partial<Settings>): Saved {
    // An expired pause is written back with whatever is written next.
    const next: Settings = { ...this.settings, pausedUntil: this.pausedUntil, ...part };
    const fault = settingsFault(next);
    if (fault) return { ok: false, code: 'full', message: `This does not fit into the settings (${fault}). Nothing was changed.` };
    const sentence = this.#store.save(next);
    if (sentence !== null) return { ok: false, code: 'not-written', message: sentence };
    this.compile();
    return null;
  }

  protected override compile(): void {
    super.compile();
    this.credentials.load(this.settings);
  }

  protected did(kind: ChangeKind, change: Change, sentence: string): Outcome {
    this.#emit(kind, activitySentence(change));
    return done(true, sentence);
  }

  #waits(): void {
    this.#emit('waiting', null);
    if (this.#waiting.takeNotice()) this.#emit('notice', null);
  }

  #emit(kind: ChangeKind, sentence: string | null): void {
    for (const listener of this.#listeners) listener(kind, sentence);
    if (kind !== 'waiting' && kind !== 'notice') this.#requests.settle();
  }
}

const isPauseLength = (ms: number | null) => ms === null || (ms >= MIN_PAUSE_MS && ms <= MAX_PAUSE_MS);
const badPause: Outcome = { ok: false, code: 'invalid', message: `A pause lasts from 1 second to ${MAX_PAUSE_MS / 86_400_000} days.` };
function settingFault(key: SettingKey, value: unknown): Outcome | null {
  const parsed = plainSettings.shape[key].safeParse(value);
  return parsed.success ? null : { ok: false, code: 'invalid', message: `${key} ${issueSentence(parsed.error).replace(/^it: /, '')}.` };
}
const unknownClient = (id: string): Outcome => ({ ok: false, code: 'unknown', message: `No client has the id ${JSON.stringify(id.slice(0, 16))}. "belfry clients list" shows the ids.` });
const noSignIn = (id: string): Outcome => ({ ok: false, code: 'unknown', message: `No sign-in with the id ${JSON.stringify(id.slice(0, 16))} waits any more. "belfry clients list" shows what does.` });
