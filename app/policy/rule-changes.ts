import type { EventType } from '../events/occurrence.ts';
import { eventTitle, type Change, type Outcome, type SenderOptions, type SenderPatch } from './change.ts';
import { Permissions } from './permissions.ts';
import { addRules, patchRule, removeRules, restoreRules, ruleTitle, type Edit } from './sender-edit.ts';
import type { SenderRule, Settings } from './settings.ts';
import { hostsToAdd, readHosts } from './webhook-hosts.ts';

/** What changed. `notice`: the owner may be told that something waits (one in 10 minutes). */
export type ChangeKind = 'events' | 'senders' | 'clients' | 'hosts' | 'pause' | 'settings' | 'waiting' | 'notice';

/** How a change is saved: null is done, else what went wrong. */
export type Saved = { readonly ok: false; readonly code: 'not-written' | 'full'; readonly message: string } | null;

/** How the owner changes what may ring: which events, from whom, from where, and where webhooks may go. */
export abstract class RuleChanges extends Permissions {
  #removed: readonly SenderRule[] = [];

  /** Whether webhooks may go to this machine. */
  protected abstract readonly localReceivers: boolean;
  /** Null: written, and in force. */
  protected abstract save(part: Partial<Settings>): Saved;
  /** Tells that it is done. */
  protected abstract did(kind: ChangeKind, change: Change, sentence: string): Outcome;

  /** A removal before this is not put back any more: the rules are others now. */
  protected forgetRemoval(): void {
    this.#removed = [];
  }

  setEvent(type: EventType, on: boolean): Outcome {
    const word = on ? 'on' : 'off';
    if (this.eventOn(type) === on) return done(false, `${eventTitle(type)} is ${word} already.`);
    const events = { ...this.settings.events, [type]: on };
    return this.save({ events }) ?? this.did('events', { do: 'set-event', type, on }, `${eventTitle(type)} is ${word}.`);
  }

  addSenders(senders: readonly string[], options: SenderOptions = {}): Outcome {
    const edit = addRules(this.settings.senders, senders, options, this.region);
    return this.#applyEdit(edit, 'Allowed');
  }

  setSender(sender: string, patch: SenderPatch): Outcome {
    return this.#applyEdit(patchRule(this.settings.senders, sender, patch, this.region), 'Changed', true);
  }

  removeSenders(senders: readonly string[]): Outcome {
    const edit = removeRules(this.settings.senders, senders, this.region);
    const outcome = this.#applyEdit(edit, 'Removed');
    if (outcome.ok && edit.ok) this.#removed = edit.touched;
    return outcome;
  }

  undoRemoval(): Outcome {
    if (this.#removed.length === 0) return { ok: false, code: 'nothing', message: 'There is nothing to undo.' };
    const outcome = this.save({ senders: [...restoreRules(this.settings.senders, this.#removed)] })
      ?? this.did('senders', { do: 'undo-removal' }, `Put back ${titles(this.#removed)}.`);
    if (outcome.ok) this.#removed = [];
    return outcome;
  }

  /** @param chats guids */
  addChats(chats: readonly string[]): Outcome {
    const added = [...new Set(chats)].filter((chat) => !this.settings.chats.includes(chat));
    if (added.length === 0) return done(false, 'These chats are allowed already.');
    return this.save({ chats: [...this.settings.chats, ...added] })
      ?? this.did('senders', { do: 'add-chats', chats: added }, `Allowed everyone in ${chatCount(added)}.`);
  }

  removeChats(chats: readonly string[]): Outcome {
    const removed = this.settings.chats.filter((chat) => chats.includes(chat));
    if (removed.length === 0) return { ok: false, code: 'nothing', message: 'These chats are not in the list of allowed chats.' };
    return this.save({ chats: this.settings.chats.filter((chat) => !removed.includes(chat)) })
      ?? this.did('senders', { do: 'remove-chats', chats: removed }, `Removed ${chatCount(removed)}.`);
  }

  /** The owner's narrowing of mail. @param mailboxes `account id/path`; null: every mailbox that can ring */
  setMailboxes(mailboxes: readonly string[] | null): Outcome {
    const next = mailboxes === null ? null : [...new Set(mailboxes)];
    if (next?.length === 0) return { ok: false, code: 'invalid', message: 'Name at least one mailbox, or choose all of them.' };
    const sentence = next === null ? 'Every mailbox can ring.' : `${next.length === 1 ? 'One mailbox' : `${next.length} mailboxes`} can ring.`;
    if (JSON.stringify(next) === JSON.stringify(this.settings.mailboxes)) return done(false, sentence);
    return this.save({ mailboxes: next }) ?? this.did('senders', { do: 'set-mailboxes', mailboxes: next }, sentence);
  }

  /** No client hears of these places or reads them. @param places account ids, or `account id/path` */
  exclude(places: readonly string[]): Outcome {
    const before = this.#excludedPlaces();
    const added = [...new Set(places)].filter((place) => !before.includes(place));
    if (added.length === 0) return done(false, 'These are excluded already.');
    return this.#saveExcluded([...before, ...added]) ?? this.did('senders', { do: 'exclude', places: added }, 'Excluded. No client hears of it or reads it.');
  }

  include(places: readonly string[]): Outcome {
    const before = this.#excludedPlaces();
    const removed = before.filter((place) => places.includes(place));
    if (removed.length === 0) return { ok: false, code: 'nothing', message: 'These are not excluded.' };
    return this.#saveExcluded(before.filter((place) => !removed.includes(place))) ?? this.did('senders', { do: 'include', places: removed }, 'No longer excluded.');
  }

  /** Webhooks may go to these hosts: the first of them switches webhooks on. @param texts names, with a port unless it is 443 */
  addHosts(texts: readonly string[]): Outcome {
    const hosts = hostsToAdd(texts, this.localReceivers);
    if (typeof hosts === 'string') return { ok: false, code: 'invalid', message: hosts };
    const added = hosts.filter((host) => !this.settings.hosts.includes(host));
    if (added.length === 0) return done(false, 'Webhooks may go there already.');
    return this.save({ hosts: [...this.settings.hosts, ...added] }) ?? this.did('hosts', { do: 'add-hosts', hosts: added }, `Webhooks may go to ${added.join(', ')}.`);
  }

  removeHosts(texts: readonly string[]): Outcome {
    const hosts = readHosts(texts);
    const removed = this.settings.hosts.filter((host) => texts.includes(host) || (typeof hosts !== 'string' && hosts.includes(host)));
    if (removed.length === 0) return { ok: false, code: 'nothing', message: 'No such host is listed.' };
    return this.save({ hosts: this.settings.hosts.filter((host) => !removed.includes(host)) })
      ?? this.did('hosts', { do: 'remove-hosts', hosts: removed }, `No webhook goes to ${removed.join(', ')} any more.`);
  }

  #applyEdit(edit: Edit, verb: string, isPatch = false): Outcome {
    if (!edit.ok) return edit;
    const { touched } = edit;
    const sentence = [`${verb} ${titles(touched)}.`, ...edit.notes].join(' ');
    const failed = this.save({ senders: [...edit.rules] });
    if (failed) return failed;
    const senders = touched.map((rule) => rule.value);
    if (isPatch) return this.did('senders', { do: 'set-sender', sender: senders[0] ?? '', patch: {} }, sentence);
    const change: Change = verb === 'Removed' ? { do: 'remove-senders', senders } : { do: 'add-senders', senders, options: {} };
    return this.did('senders', change, sentence);
  }

  #excludedPlaces(): readonly string[] {
    return [...this.settings.excluded.accounts, ...this.settings.excluded.mailboxes];
  }

  #saveExcluded(places: readonly string[]): Saved {
    const isMailbox = (place: string) => place.includes('/');
    return this.save({ excluded: { accounts: places.filter((place) => !isMailbox(place)), mailboxes: places.filter(isMailbox) } });
  }
}

export const done = (changed: boolean, sentence: string): Outcome => ({ ok: true, changed, sentence });
export const chatCount = (chats: readonly string[]): string => `${chats.length} chat${chats.length === 1 ? '' : 's'}`;
const titles = (rules: readonly SenderRule[]) =>
  `${rules.slice(0, 3).map(ruleTitle).join(', ')}${rules.length > 3 ? ` and ${rules.length - 3} more` : ''}`;
