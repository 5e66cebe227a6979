import type { SenderSet } from '../apple/reader.ts';
import { buildSenderSet, domainOf, matches, parseSender, type ParsedSender } from '../apple/sender.ts';
import { storeOf, type EventType } from '../events/occurrence.ts';
import type { SenderRule } from './settings.ts';

/** What of an occurrence the rules look at. */
export interface Sent {
  readonly type: EventType;
  readonly sender: string;
  readonly row: { readonly store: 'mail' } | { readonly store: 'messages'; readonly chat: { readonly guid: string } | null };
}

/** What let an occurrence pass: the owner's sender rule, or a chat by its guid. */
export type RuleMatch = { readonly rule: SenderRule } | { readonly chat: string };

interface StoreRules {
  readonly exact: Map<string, SenderRule>;
  readonly domains: Map<string, SenderRule>;
  readonly parents: Map<string, SenderRule>;
  excepted: SenderSet;
}

type Store = 'mail' | 'messages';

/**
 * The owner's senders and chats, compiled once for each change. A look-up costs a few map reads, however many
 * rules there are. An exception beats every rule, also another one that names the sender: what the owner
 * excepted does not ring. An empty list matches nothing (ui.md, rule 1).
 */
export class SenderRules {
  readonly #stores: Readonly<Record<Store, StoreRules>>;
  readonly #chats: ReadonlySet<string>;

  constructor(rules: readonly SenderRule[], chats: readonly string[]) {
    this.#stores = { mail: compile(rules, 'mail'), messages: compile(rules, 'messages') };
    this.#chats = new Set(chats);
  }

  allows(occurrence: Sent): boolean {
    return this.ruleFor(occurrence) !== null;
  }

  ruleFor(occurrence: Sent): RuleMatch | null {
    const store = storeOf[occurrence.type];
    const rules = this.#stores[store];
    if (occurrence.sender === '' || matches(rules.excepted, occurrence.sender)) return null;
    const rule = find(rules, occurrence.sender, domainOf(occurrence.sender));
    if (rule) return { rule };
    const chat = occurrence.row.store === 'messages' ? occurrence.row.chat?.guid : undefined;
    return chat !== undefined && this.#chats.has(chat) ? { chat } : null;
  }

  /** Whom the rules allow, and whom they except: the same as `allows`, for a search that judges many at once. Chats are left out. */
  sets(store: Store): { readonly allowed: SenderSet; readonly excepted: SenderSet } {
    const { exact, domains, parents, excepted } = this.#stores[store];
    return { allowed: { addresses: new Set(exact.keys()), domains: new Set(domains.keys()), parents: new Set(parents.keys()) }, excepted };
  }

  /** Whether all that a filter entry asks for can pass: for "asks for bob@x, not allowed". */
  covers(type: EventType, entry: ParsedSender): boolean {
    const rules = this.#stores[storeOf[type]];
    if (entry.kind !== 'domain') {
      return !matches(rules.excepted, entry.value) && find(rules, entry.value, domainOf(entry.value)) !== null;
    }
    if (isWithin(entry.value, rules.excepted.parents)) return false;
    const parent = findParent(rules, entry.value);
    return parent !== null || (!entry.subdomains && rules.domains.has(entry.value));
  }
}

/** Entries as a set; those that do not parse are left out, which can only narrow. */
export function senderSetOf(entries: readonly string[], subdomains: boolean): SenderSet {
  return buildSenderSet(entries.flatMap((entry) => parsedEntry(entry, subdomains) ?? []));
}

/** A stored or asked-for entry, read again. Domains are stored without `@`. Null for what is no sender. */
export function parsedEntry(entry: string, subdomains: boolean): ParsedSender | null {
  const parsed = parseSender(entry, null);
  return parsed.ok ? { kind: parsed.kind, value: parsed.value, subdomains: parsed.kind === 'domain' && subdomains } : null;
}

/**
 * True if `rule` could ring for something that `excepting`'s exceptions hold back: then taking `excepting` away
 * lets more through, not less.
 */
export function holdsBack(excepting: SenderRule, rule: SenderRule): boolean {
  if (excepting.except.length === 0 || !rule.on || !shareStore(excepting, rule)) return false;
  const excepted = senderSetOf(excepting.except, true);
  if (rule.kind !== 'domain') return matches(excepted, rule.value);
  if (isWithin(rule.value, excepted.parents)) return true;
  const own = rule.subdomains ? { exact: '', parent: rule.value } : { exact: rule.value, parent: '' };
  const within = (domain: string | null) => domain !== null && (domain === own.exact || (own.parent !== '' && isWithin(domain, new Set([own.parent]))));
  return [...excepted.parents].some(within) || [...excepted.addresses].some((address) => within(domainOf(address)));
}

const shareStore = (a: SenderRule, b: SenderRule) => a.for === 'both' || b.for === 'both' || a.for === b.for;

function compile(rules: readonly SenderRule[], store: Store): StoreRules {
  const compiled: StoreRules = { exact: new Map(), domains: new Map(), parents: new Map(), excepted: buildSenderSet([]) };
  const exceptions: ParsedSender[] = [];
  for (const rule of rules) {
    if (!rule.on || (rule.for !== 'both' && rule.for !== store)) continue;
    const entry = parsedEntry(rule.value, rule.subdomains);
    const except = rule.except.map((each) => parsedEntry(each, true));
    // A rule whose exception cannot be read (edited by hand) would let through what the owner held back: it is off.
    if (entry === null || except.includes(null)) continue;
    const map = entry.kind !== 'domain' ? compiled.exact : entry.subdomains ? compiled.parents : compiled.domains;
    if (!map.has(entry.value)) map.set(entry.value, rule);
    for (const each of except) if (each) exceptions.push(each);
  }
  compiled.excepted = buildSenderSet(exceptions);
  return compiled;
}

function find(rules: StoreRules, sender: string, domain: string | null): SenderRule | null {
  const exact = rules.exact.get(sender);
  if (exact || domain === null) return exact ?? null;
  return rules.domains.get(domain) ?? findParent(rules, domain);
}

function findParent(rules: StoreRules, domain: string): SenderRule | null {
  if (rules.parents.size === 0) return null;
  for (const at of upwards(domain)) {
    const rule = rules.parents.get(at);
    if (rule) return rule;
  }
  return null;
}

function isWithin(domain: string, parents: ReadonlySet<string>): boolean {
  for (const at of upwards(domain)) if (parents.has(at)) return true;
  return false;
}

/** The domain and each one above it, label by label. */
function* upwards(domain: string): Iterable<string> {
  for (let at = domain; ; at = at.slice(at.indexOf('.') + 1)) {
    yield at;
    if (!at.includes('.')) return;
  }
}
