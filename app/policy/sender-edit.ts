import { isSharedDomain, parseSender } from '../apple/sender.ts';
import type { ChangeFault, SenderOptions, SenderPatch } from './change.ts';
import { parsedEntry } from './sender-rules.ts';
import type { SenderRule } from './settings.ts';

/** Edits of the owner's list as pure functions over rules. All or nothing: one bad entry changes nothing. */
export type Edit =
  | { readonly ok: true; readonly rules: readonly SenderRule[]; readonly touched: readonly SenderRule[]; readonly notes: readonly string[] }
  | { readonly ok: false; readonly code: ChangeFault; readonly message: string };

/** One entry of a paste, for the Add sheet (ui.md, Senders). */
export type EntryCheck =
  | { readonly ok: true; readonly text: string; readonly kind: SenderRule['kind']; readonly value: string; readonly shared: boolean }
  | { readonly ok: false; readonly text: string; readonly reason: string };

const MAX_ENTRIES = 10_000;

/** One per line or separated by commas or semicolons; a comma within quotes belongs to a name. */
export function splitEntries(text: string): readonly string[] {
  const entries: string[] = [];
  let entry = '';
  let quoted = false;
  for (const char of text) {
    if (char === '"') quoted = !quoted;
    if (char === '\n' || char === '\r' || (!quoted && (char === ',' || char === ';'))) {
      quoted = false;
      entries.push(entry);
      entry = '';
    } else entry += char;
  }
  entries.push(entry);
  return entries.map((each) => each.trim()).filter((each) => each !== '').slice(0, MAX_ENTRIES);
}

export function checkEntry(text: string, region: string | null): EntryCheck {
  const parsed = parseSender(text, region);
  if (!parsed.ok) return { ok: false, text, reason: parsed.reason };
  return { ok: true, text, kind: parsed.kind, value: parsed.value, shared: parsed.kind === 'domain' && isSharedDomain(parsed.value) };
}

/** How a rule is called on screen. */
export const ruleTitle = (rule: Pick<SenderRule, 'kind' | 'value'>): string => (rule.kind === 'domain' ? `everyone at ${rule.value}` : rule.value);

/** Duplicates merge: what was there stays allowed, and what is asked for is added. */
export function addRules(rules: readonly SenderRule[], texts: readonly string[], options: SenderOptions, region: string | null): Edit {
  const entries = texts.flatMap(splitEntries);
  if (entries.length === 0) return invalid('Name at least one sender: an address, a domain or a number.');
  const except = exceptValues(options.except ?? [], region);
  if (!except.ok) return except;
  const added: SenderRule[] = [];
  const notes: string[] = [];
  for (const text of entries) {
    const entry = checkEntry(text, region);
    if (!entry.ok) return invalid(`${quote(text)}: ${entry.reason}.`);
    const isDomain = entry.kind === 'domain';
    const fault = forFault(entry, options.for);
    if (fault) return invalid(fault);
    if (entry.shared) notes.push(`Matches everyone at ${entry.value}.`);
    added.push({
      kind: entry.kind, value: entry.value, subdomains: isDomain && options.subdomains === true,
      for: options.for ?? 'both', on: true, except: isDomain ? [...except.values] : [],
    });
  }
  if (!added.some((rule) => rule.kind === 'domain')) {
    if (options.subdomains === true) return invalid('Subdomains need a domain: none of the senders is one.');
    if (except.values.length > 0) return invalid('An exception needs a domain that it is taken from: none of the senders is one.');
  }
  const merged = new Map(rules.map((rule) => [keyOf(rule), rule]));
  for (const rule of added) {
    const old = merged.get(keyOf(rule));
    merged.set(keyOf(rule), old ? merge(old, rule) : rule);
  }
  for (const rule of added) {
    const holder = rules.find((each) => each.on && each.except.includes(rule.value));
    if (holder) notes.push(`${rule.value} stays held back: it is an exception of ${ruleTitle(holder)}.`);
  }
  return { ok: true, rules: [...merged.values()], touched: added, notes };
}

export function removeRules(rules: readonly SenderRule[], texts: readonly string[], region: string | null): Edit {
  const wanted = new Map<string, string>();
  for (const text of texts.flatMap(splitEntries)) {
    const entry = checkEntry(text, region);
    if (!entry.ok) return invalid(`${quote(text)}: ${entry.reason}.`);
    wanted.set(keyOf(entry), entry.value);
  }
  if (wanted.size === 0) return invalid('Name at least one sender to remove.');
  const touched = rules.filter((rule) => wanted.has(keyOf(rule)));
  const found = new Set(touched.map(keyOf));
  const missing = [...wanted].filter(([key]) => !found.has(key)).map(([, value]) => value);
  if (touched.length === 0) return { ok: false, code: 'nothing', message: `${missing.slice(0, 3).join(', ')}: not in the list of allowed senders.` };
  return {
    ok: true, touched, rules: rules.filter((rule) => !wanted.has(keyOf(rule))),
    notes: missing.map((value) => `${value} was not in the list.`),
  };
}

export function patchRule(rules: readonly SenderRule[], text: string, patch: SenderPatch, region: string | null): Edit {
  const entry = checkEntry(text, region);
  if (!entry.ok) return invalid(`${quote(text)}: ${entry.reason}.`);
  const old = rules.find((rule) => keyOf(rule) === keyOf(entry));
  if (!old) return { ok: false, code: 'nothing', message: `${entry.value}: not in the list of allowed senders.` };
  const except = patch.except ? exceptValues(patch.except, region) : { ok: true as const, values: old.except };
  if (!except.ok) return except;
  const fault = forFault(entry, patch.for);
  if (fault) return invalid(fault);
  if (old.kind !== 'domain' && (patch.subdomains === true || except.values.length > 0)) return invalid('Only a domain has subdomains and exceptions.');
  const next: SenderRule = {
    ...old, on: patch.on ?? old.on, for: patch.for ?? old.for, subdomains: patch.subdomains ?? old.subdomains, except: [...except.values],
  };
  return { ok: true, rules: rules.map((rule) => (rule === old ? next : rule)), touched: [next], notes: [] };
}

/** Puts rules back that are not there again by now. */
export function restoreRules(rules: readonly SenderRule[], removed: readonly SenderRule[]): readonly SenderRule[] {
  const present = new Set(rules.map(keyOf));
  return [...rules, ...removed.filter((rule) => !present.has(keyOf(rule)))];
}

const keyOf = (rule: Pick<SenderRule, 'kind' | 'value'>) => `${rule.kind} ${rule.value}`;
const invalid = (message: string) => ({ ok: false as const, code: 'invalid' as const, message });
const quote = (text: string) => JSON.stringify(text.slice(0, 80));

function merge(old: SenderRule, added: SenderRule): SenderRule {
  return {
    ...old,
    on: true,
    subdomains: old.subdomains || added.subdomains,
    // A rule that was off allowed nothing: only what is asked for now counts.
    for: !old.on || old.for === added.for ? added.for : 'both',
    except: [...new Set([...old.except, ...added.except])],
  };
}

function exceptValues(texts: readonly string[], region: string | null): { ok: true; values: readonly string[] } | { ok: false; code: 'invalid'; message: string } {
  const values = new Set<string>();
  for (const text of texts.flatMap(splitEntries)) {
    const entry = checkEntry(text, region);
    if (!entry.ok) return invalid(`Exception ${quote(text)}: ${entry.reason}.`);
    // What is stored has to mean the same when it is read again without a region.
    if (parsedEntry(entry.value, false)?.value !== entry.value) return invalid(`Exception ${quote(text)}: it cannot be stored.`);
    values.add(entry.value);
  }
  return { ok: true, values: [...values] };
}

function forFault(entry: Pick<SenderRule, 'kind' | 'value'>, target: SenderOptions['for']): string | null {
  return target === 'mail' && (entry.kind === 'phone' || entry.kind === 'code') ? `${entry.value} is a number, and numbers send no mail. Use --for messages.` : null;
}
