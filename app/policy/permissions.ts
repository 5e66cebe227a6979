import type { Mailbox, PlacedMail, StoreKind, StoreRow } from '../apple/occurrence.ts';
import { eventTypeOf, type EventType, type Occurrence, type Subjects } from '../events/occurrence.ts';
import type { HubPolicy } from '../events/hub.ts';
import type { Gate, NotSent, Principal } from '../events/verdict.ts';
import type { Clients, Reach, ReadableSenders } from './clients.ts';
import { MailboxCeiling } from './mailbox-ceiling.ts';
import { parsedEntry, SenderRules, type RuleMatch } from './sender-rules.ts';
import type { Settings } from './settings.ts';

/** A client whose events are held by a pause is let in all the same. */
const ADMITTED: ReadonlySet<Gate> = new Set(['open', 'paused']);

/** What the owner's settings say of an arrival, of a row and of a client. Answered from memory; how settings change stands in `policy`. */
export abstract class Permissions implements HubPolicy {
  /** Headless only: clients nobody decided on are let in. A denial and a revoke still hold (ruling 17). */
  readonly trustLocalClients: boolean;
  protected readonly clients: Clients;
  /** `--region` or the locale's, used where the owner set none (ruling 13). */
  protected readonly hostRegion: string | null;
  protected rules!: SenderRules;
  #mailboxes!: MailboxCeiling;

  constructor(clients: Clients, hostRegion: string | null, trustLocalClients: boolean) {
    this.clients = clients;
    this.hostRegion = hostRegion;
    this.trustLocalClients = trustLocalClients;
  }

  abstract get settings(): Settings;
  abstract takeRing(principal: Principal, eventId: string): boolean;
  abstract nextFreeAt(principal: Principal): number;
  protected abstract get isPaused(): boolean;

  /** After each change of settings. */
  protected compile(): void {
    const { senders, chats, mailboxes, excluded, clients } = this.settings;
    this.rules = new SenderRules(senders, chats);
    this.#mailboxes = new MailboxCeiling(mailboxes, excluded);
    this.clients.load(clients);
  }

  get subjects(): Subjects {
    return this.settings.subjects && (this.settings.hideCodes ? 'without-codes' : true);
  }
  get backfill(): boolean {
    return this.settings.backfill;
  }
  get ratePerHour(): number {
    return this.settings.ratePerHour;
  }
  get region(): string | null {
    return this.settings.region ?? this.hostRegion;
  }

  anyOn(): boolean {
    return this.eventOn('mail.received') || this.eventOn('messages.received');
  }
  eventOn(type: EventType): boolean {
    return this.settings.events[type];
  }

  /** Off beats refused beats approval beats paused. A type outside the client's grant is refused: the owner left it out. */
  gate(principal: Principal, type: EventType): Gate {
    if (!this.eventOn(type)) return 'off';
    const gate = this.clients.gate(principal.id, type, this.trustLocalClients);
    return gate === 'open' && this.isPaused ? 'paused' : gate;
  }

  /** The owner's rules as a ceiling, and the client's own grant. Says nothing of approval and pause: ask `gate`. */
  allows(occurrence: Occurrence, principal: Principal): boolean {
    return this.rules.allows(occurrence) && this.#mailboxes.allows(occurrence) && this.clients.allows(principal.id, occurrence);
  }

  refusal(occurrence: Occurrence): NotSent {
    return this.rules.allows(occurrence) && !this.#mailboxes.allows(occurrence) ? 'mailbox' : 'no-allowed-sender';
  }

  /** Whether an arrival lies within the owner's mailboxes, whoever wrote it. */
  inMailboxes(occurrence: Occurrence): boolean {
    return this.#mailboxes.allows(occurrence);
  }

  /** How far a client may read a store; null: not at all. Says nothing of the event's switch and the pause: ask `gate`. */
  reach(principal: Principal, store: StoreKind): Reach | null {
    return this.clients.reach(principal.id, store);
  }

  /** Whether a client may write texts, and whether they may go out unasked. Says nothing of to whom: ask `allowsAll` and `allowsRow`. */
  writes(principal: Principal): 'asked' | 'unasked' | null {
    return this.clients.writes(principal.id);
  }

  /** Whether a client may answer a row: what it may read, or what could have rung for it. Says nothing of the pause. */
  mayAnswer(row: StoreRow, principal: Principal): boolean {
    return this.writes(principal) !== null && this.#within(row, principal, this.#answerReach(principal, row.store));
  }

  /** Whether a client may write to a chat, unasked by anybody there. Says nothing of the pause. @param members without the owner; all have to be allowed */
  mayWriteTo(members: readonly string[], chat: string, principal: Principal): boolean {
    const reach = this.#answerReach(principal, 'messages');
    if (reach === null || this.writes(principal) === null || members.length === 0) return false;
    return reach === 'everything' || this.allowsAll(members, chat, principal);
  }

  /** Whether the rules allow all in a chat, for this client. That it may read everything counts for nothing. @param members without the owner */
  allowsAll(members: readonly string[], chat: string, principal: Principal): boolean {
    return members.length > 0 && members.every((member) => this.#allowsFrom(member, chat, principal));
  }

  /** The same of who wrote a row, where it lies. */
  allowsRow(row: StoreRow, principal: Principal): boolean {
    return this.#within(row, principal, 'rules');
  }

  #answerReach(principal: Principal, store: StoreKind): Reach | null {
    return this.reach(principal, store) ?? (ADMITTED.has(this.gate(principal, eventTypeOf[store])) ? 'rules' : null);
  }

  /** Whether a client may read a row that lies in the store. What is excluded is read by nobody. */
  mayRead(row: StoreRow | PlacedMail, principal: Principal): boolean {
    return this.#within(row, principal, this.reach(principal, row.store));
  }

  #within(row: StoreRow | PlacedMail, principal: Principal, reach: Reach | null): boolean {
    if (reach === null || this.#mailboxes.excludes(row)) return false;
    if (reach === 'everything') return true;
    // One's own words are no allowed sender's, also where a row names the other party.
    if (row.sender === null || row.excluded === 'sent') return false;
    const arrival = { type: eventTypeOf[row.store], row, sender: row.sender };
    return this.rules.allows(arrival) && this.#mailboxes.allows(arrival) && this.clients.takes(principal.id, row.sender);
  }

  /** Whether a client may read what one person writes in a chat. */
  mayReadFrom(sender: string, chat: string | null, principal: Principal): boolean {
    const reach = this.reach(principal, 'messages');
    return reach === 'rules' ? this.#allowsFrom(sender, chat, principal) : reach === 'everything';
  }

  /** Whether what one person writes in a chat rings for a client, now or after the pause. @param chat guid */
  mayHearFrom(sender: string, chat: string, principal: Principal): boolean {
    const gate = this.gate(principal, 'messages.received');
    return (gate === 'open' || gate === 'paused') && this.#allowsFrom(sender, chat, principal);
  }

  #allowsFrom(sender: string, chat: string | null, principal: Principal): boolean {
    return this.rules.allows({ type: 'messages.received', sender, row: { store: 'messages', chat: chat === null ? null : { guid: chat } } }) && this.clients.takes(principal.id, sender);
  }

  /** Whether a client may search what it may read. */
  maySearch(principal: Principal): boolean {
    return this.clients.maySearch(principal.id);
  }

  /** Whether any client may search a store: without one there is no index. */
  searched(store: StoreKind): boolean {
    return this.clients.searched(store);
  }

  /** Whose mail a client may read, for a search that judges many senders at once; null: everybody's. */
  readableSenders(principal: Principal): ReadableSenders | null {
    if (this.reach(principal, 'mail') === 'everything') return null;
    return { ...this.rules.sets('mail'), own: this.clients.ownSenders(principal.id) };
  }

  /** Whether a client that is bound by the rules may read mail of this mailbox; mail that shows in several needs one of them. */
  isWithinMailboxes(mailbox: Pick<Mailbox, 'accountId' | 'path'>): boolean {
    return this.#mailboxes.takes(mailbox);
  }

  /** Whether a mailbox is excluded: nobody hears of it. */
  hides(mailbox: Pick<Mailbox, 'accountId' | 'path'>): boolean {
    return this.#mailboxes.hides(mailbox);
  }

  /** Whether anything of Mail is excluded. */
  get excludesMail(): boolean {
    return this.#mailboxes.excludesAny;
  }

  /** For Live's "Not matched": which of the owner's rules an arrival passes, whoever listens. */
  ruleFor(occurrence: Occurrence): RuleMatch | null {
    return this.rules.ruleFor(occurrence);
  }

  /** Whether the owner's rules and the client's own grant let all of these senders pass. Says nothing of which do. */
  covers(principal: Principal, type: EventType, senders: readonly string[]): boolean {
    return senders.every((sender) => {
      const entry = parsedEntry(sender, false);
      return entry !== null && this.rules.covers(type, entry) && this.clients.covers(principal.id, type, entry);
    });
  }

  /** Whether the owner lets webhooks go to a host. @param host name, with the port unless it is 443 */
  isWebhookHost(host: string): boolean {
    return this.settings.hosts.includes(host);
  }
  get webhooksOn(): boolean {
    return this.settings.hosts.length > 0;
  }

  isDenied(principal: Principal): boolean {
    return this.clients.decision(principal.id) === 'denied';
  }
}
