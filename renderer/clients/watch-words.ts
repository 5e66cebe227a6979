import { EVENT_TITLES, many } from '../../app/contract/glance.ts';
import type { WatchRow } from '../../app/contract/values.ts';
import { sourceName } from '../events/event-notes.ts';
import type { BadgeKind } from '../parts/badge.tsx';
import type { ParsedEntry } from '../senders/paste.ts';

interface StateWords {
  readonly text: string;
  readonly kind: BadgeKind;
  /** What it means, where the text alone does not say. */
  readonly sentence: string | null;
}

/** A watch of a client: where it stands, from what it does now. */
export function watchState({ state, type }: Pick<WatchRow, 'state' | 'type'>): StateWords {
  switch (state) {
    case 'watching': return { text: 'Watching', kind: 'ok', sentence: null };
    case 'waiting-for-owner': return { text: 'Waiting for you', kind: 'wait', sentence: "The client or some of its senders aren't allowed yet. For those nothing is kept." };
    case 'paused': return { text: 'Paused', kind: 'quiet', sentence: null };
    case 'ceiling': return { text: 'Ceiling reached', kind: 'wait', sentence: 'The events of this hour are used up. It goes on by itself.' };
    case 'off': return { text: 'Off', kind: 'quiet', sentence: `${EVENT_TITLES[type]} is off.` };
    case 'unreadable': return { text: "Can't read", kind: 'problem', sentence: `Belfry can't read ${sourceName(type)} now. The watch goes on once it can.` };
    // The row brings its own sentence.
    case 'problem': return { text: 'Problem', kind: 'problem', sentence: null };
  }
}

/** `New mail from 2 senders` */
export const watchTitle = ({ type, senders }: Pick<WatchRow, 'type' | 'senders'>): string => `${EVENT_TITLES[type]} from ${many(senders, 'sender')}`;

/** `2 unread, 1 sent and not confirmed, 5 confirmed`: unread ones are always told. */
export function watchCounts({ waiting, sent, confirmed }: Pick<WatchRow, 'waiting' | 'sent' | 'confirmed'>): string {
  return [`${waiting} unread`, ...(sent > 0 ? [`${sent} sent, not confirmed`] : []), ...(confirmed > 0 ? [`${confirmed} confirmed`] : [])].join(' - ');
}

/** What was lost, each as a sentence. */
export function watchLosses({ dropped, gap, type }: Pick<WatchRow, 'dropped' | 'gap' | 'type'>): readonly string[] {
  return [
    ...(dropped > 0 ? [`${many(dropped, 'unread item')} had to go because the watch was full.`] : []),
    ...(gap ? [`The database of ${sourceName(type)} was replaced, so events may be missing.`] : []),
  ];
}

/** Unread items over all watches of a client. */
export const unreadOf = (client: string, watches: readonly Pick<WatchRow, 'client' | 'waiting'>[]): number =>
  watches.reduce((sum, watch) => (watch.client === client ? sum + watch.waiting : sum), 0);

/** The arguments of a watch as a client would give them (architecture, subscriptions): domains stand by themselves. */
export function watchArguments(senders: readonly ParsedEntry[], subdomains: boolean): Record<string, unknown> {
  const from = senders.filter(({ kind }) => kind !== 'domain').map(({ value }) => value);
  const domains = senders.filter(({ kind }) => kind === 'domain').map(({ value }) => value);
  return {
    ...(from.length > 0 ? { from } : {}),
    ...(domains.length > 0 ? { domains, ...(subdomains ? { subdomains } : {}) } : {}),
  };
}
