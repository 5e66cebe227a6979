import type { Backtest, EventRow, SenderRow } from '../../app/contract/values.ts';
import type { ParsedEntry } from './paste.ts';

/** Each rule is one search through the stores. */
export const TESTED = 20;
const EXAMPLES = 10;

/** What is searched for: an address within a domain that is searched too would be counted twice. */
export function backtestTargets(senders: readonly ParsedEntry[], subdomains: boolean): readonly ParsedEntry[] {
  const domains = senders.filter(({ kind }) => kind === 'domain').map(({ value }) => value);
  const covered = ({ kind, value }: ParsedEntry) => domains.some((domain) => {
    const host = kind === 'address' ? value.slice(value.lastIndexOf('@') + 1) : kind === 'domain' && value !== domain ? value : null;
    return host !== null && ((kind === 'address' && host === domain) || (subdomains && host.endsWith(`.${domain}`)));
  });
  return senders.filter((sender) => !covered(sender));
}

export interface BacktestResult {
  readonly count: number;
  /** Newest first. */
  readonly examples: readonly (Backtest['examples'][number] & { readonly type: Backtest['type'] })[];
  /** Types that were not looked at, since nothing is read for what is off. */
  readonly unread: readonly Backtest['type'][];
}

export function joinBacktests(answers: readonly (readonly Backtest[])[], target: SenderRow['for'], events: readonly Pick<EventRow, 'type'>[]): BacktestResult {
  const all = answers.flat();
  const read = new Set(all.map(({ type }) => type));
  const wanted = events.map(({ type }) => type).filter((type) => target === 'both' || (target === 'mail') === (type === 'mail.received'));
  return {
    count: all.reduce((sum, { count }) => sum + count, 0),
    examples: all.flatMap(({ type, examples }) => examples.map((example) => ({ ...example, type })))
      .toSorted((a, b) => (b.at ?? 0) - (a.at ?? 0)).slice(0, EXAMPLES),
    unread: wanted.filter((type) => !read.has(type)),
  };
}

/** `Would have rung 14 times in the last 30 days.` */
export function backtestSentence({ count }: Pick<BacktestResult, 'count'>): string {
  if (count === 0) return 'Would not have rung in the last 30 days.';
  return `Would have rung ${count === 1 ? 'once' : `${count} times`} in the last 30 days.`;
}
