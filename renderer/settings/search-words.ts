import type { SearchState } from '../../app/contract/search.ts';
import { many } from '../../app/contract/glance.ts';
import type { BadgeKind } from '../parts/badge.tsx';

const PHASES: Readonly<Record<SearchState['phase'], { readonly text: string; readonly kind: BadgeKind; readonly sentence: string }>> = {
  off: { text: 'Off', kind: 'quiet', sentence: 'No client may search mail, so there is no index.' },
  unavailable: { text: 'Not available', kind: 'problem', sentence: '' },
  waiting: { text: 'Waiting for Mail', kind: 'wait', sentence: 'It begins once New mail is on and Belfry can read Mail.' },
  opening: { text: 'Opening', kind: 'wait', sentence: '' },
  comparing: { text: 'Comparing with Mail', kind: 'wait', sentence: 'Mails that came or went meanwhile are looked for.' },
  building: { text: 'Building', kind: 'wait', sentence: 'Newest mail first: what is in it is found already.' },
  paused: { text: 'Paused', kind: 'wait', sentence: '' },
  ready: { text: 'Ready', kind: 'ok', sentence: '' },
  failed: { text: 'Failed', kind: 'problem', sentence: 'It is tried again by itself.' },
};
const PAUSED_BY = { owner: 'It goes on when Belfry is resumed.', battery: 'It waits while this Mac runs on battery.' } as const;

export interface SearchWords {
  readonly text: string;
  readonly kind: BadgeKind;
  readonly sentence: string;
  /** How much is indexed, in words; null while there is nothing to count. */
  readonly progress: string | null;
  readonly size: string | null;
  /** Mails whose text could not be read whole: how many, and each kind of trouble. */
  readonly deadLetters: { readonly title: string; readonly lines: readonly { readonly reason: string; readonly text: string }[] } | null;
}

const number = (count: number): string => count.toLocaleString('en-GB');
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

export function searchWords(search: SearchState): SearchWords {
  const { phase, pausedBy, indexed, total, perSecond, deadLetters, bytes, textBytes, encrypted } = search;
  const { text, kind, sentence } = PHASES[phase];
  const counted = total > 0 && phase !== 'off' && phase !== 'unavailable';
  const notWhole = deadLetters.reduce((sum, { count }) => sum + count, 0);
  return {
    text, kind,
    sentence: [search.sentence, phase === 'paused' && pausedBy !== null ? PAUSED_BY[pausedBy] : sentence].filter(Boolean).join(' '),
    progress: counted ? `${number(indexed)} of ${many(total, 'mail').replace(String(total), number(total))}${perSecond === null ? '' : `, ${number(Math.round(perSecond))} a second`}` : null,
    size: bytes > 0 ? `${megabytes(bytes)} for ${megabytes(textBytes)} of text${encrypted === null ? '' : encrypted ? ', encrypted' : ', not encrypted'}` : null,
    deadLetters: notWhole === 0 ? null : {
      title: `${number(notWhole)} ${notWhole === 1 ? 'mail' : 'mails'} could not be read whole; what was read of ${notWhole === 1 ? 'it' : 'them'} is found.`,
      lines: deadLetters.map(({ reason, count }) => ({ reason, text: `${number(count)}: ${reason}` })),
    },
  };
}
