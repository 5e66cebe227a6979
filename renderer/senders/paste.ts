import type { EntryCheck, SenderRow } from '../../app/contract/values.ts';
import { KINDS, ruleKey, sendsNoMail } from './rule-words.ts';

/** One row of the parsing table (ui.md, Add sheet). */
export interface PasteLine {
  readonly key: string;
  /** As it was typed. */
  readonly text: string;
  /** What is stored, where that differs from what was typed. */
  readonly value: string | null;
  /** `confirm`: everybody can have an address there, so it counts only once confirmed. `listed`: adding changes nothing or widens a rule. */
  readonly state: 'ok' | 'confirm' | 'confirmed' | 'listed' | 'refused';
  /** Kind, question or reason. */
  readonly words: string;
  readonly domain: string | null;
}

export interface Paste {
  readonly lines: readonly PasteLine[];
  /** What Add adds. */
  readonly senders: readonly ParsedEntry[];
}

export type ParsedEntry = Pick<SenderRow, 'kind' | 'value'>;

/** Whether subdomains and exceptions mean something. */
export const hasDomain = (senders: readonly ParsedEntry[]): boolean => senders.some(({ kind }) => kind === 'domain');

export interface PasteContext {
  readonly rules: readonly Pick<SenderRow, 'kind' | 'value' | 'on'>[];
  /** Shared domains that were confirmed. */
  readonly confirmed: ReadonlySet<string>;
  readonly for: SenderRow['for'];
}

/** The table under a paste. One refused entry takes nothing from the others; duplicates are one line. */
export function readPaste(checks: readonly EntryCheck[], { rules, confirmed, for: target }: PasteContext): Paste {
  const listed = new Set(rules.filter(({ on }) => on).map(ruleKey));
  const lines = new Map<string, PasteLine>();
  const senders: ParsedEntry[] = [];
  for (const check of checks) {
    const key = check.ok ? ruleKey(check) : `refused ${check.text}`;
    if (lines.has(key)) continue;
    const line = lineOf(check, key, listed.has(key), confirmed, target);
    lines.set(key, line);
    if (!check.ok || line.state === 'refused' || line.state === 'confirm') continue;
    senders.push({ kind: check.kind, value: check.value });
  }
  return { lines: [...lines.values()], senders };
}

function lineOf(check: EntryCheck, key: string, listed: boolean, confirmed: ReadonlySet<string>, target: SenderRow['for']): PasteLine {
  if (!check.ok) return { key, text: check.text, value: null, state: 'refused', words: check.reason, domain: null };
  const { kind, text, value, shared } = check;
  const shown = { key, text, value: saysTheSame(text, value) ? null : value, domain: kind === 'domain' ? value : null };
  if (target === 'mail' && sendsNoMail(kind)) return { ...shown, state: 'refused', words: 'A number sends no mail' };
  if (listed) return { ...shown, state: 'listed', words: `${KINDS[kind]}, already in the list` };
  if (shared) return { ...shown, state: confirmed.has(value) ? 'confirmed' : 'confirm', words: `Matches everyone at ${value}` };
  return { ...shown, state: 'ok', words: KINDS[kind] };
}

const saysTheSame = (text: string, value: string) => [value, `@${value}`].includes(text.trim().toLowerCase());

/** The entry that is being typed at the end of a paste, for suggestions. */
export const typedEntry = (text: string): string => text.slice(entryStart(text)).trim();

/** The paste with its last entry replaced by a chosen one, ready for the next. */
export const withEntry = (text: string, value: string): string => `${text.slice(0, entryStart(text))}${value}\n`;

const entryStart = (text: string): number => Math.max(text.lastIndexOf('\n'), text.lastIndexOf(','), text.lastIndexOf(';')) + 1;
