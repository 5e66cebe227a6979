import { deadLetterLines, type DeadLetters, type SearchState } from '../contract/search.ts';
import { table } from './table.ts';

const PHASE: Readonly<Record<SearchState['phase'], string>> = {
  off: 'off: no client may search mail', unavailable: 'not available', waiting: 'waiting for Mail to be readable', opening: 'opening', comparing: 'comparing with Mail', building: 'building',
  paused: 'paused', ready: 'ready', failed: 'failed',
};
const PAUSED_BY = { owner: ' with Belfry', battery: ' while on battery' } as const;

/** The search index in one line, for `belfry status`: how far it is, and what is not as it should be. */
export function searchSummary(search: SearchState, mailOn: boolean): string {
  if (!hasFigures(search)) return searchLine(search, mailOn);
  const { pending, bytes } = search;
  const unreadable = countOf(search.deadLetters);
  return [
    searchLine(search, mailOn), ...(pending > 0 ? [`${pending} pending`] : []), ...(unreadable > 0 ? [`${unreadable} not read whole`] : []), ...(bytes > 0 ? [megabytes(bytes)] : []),
  ].join(', ');
}

/** @param mailOn whether New mail is on: without it Mail is not read at all */
function searchLine(search: SearchState, mailOn: boolean): string {
  const { phase, pausedBy, indexed, total } = search;
  const word = phase === 'waiting' && !mailOn ? 'waiting: New mail is off' : PHASE[phase];
  const figures = hasFigures(search) && (total > 0 || phase !== 'waiting') ? `, ${indexed} of ${total} mails` : '';
  return `${word}${phase === 'paused' && pausedBy !== null ? PAUSED_BY[pausedBy] : ''}${figures}`;
}

/** All that is known of it, for `belfry search status`. */
export function searchLines(search: SearchState, deadLetters: readonly DeadLetters[], mailOn: boolean): string {
  const { since, sentence, encrypted, indexed, total, pending, perSecond, bytes, textBytes, syncedAt } = search;
  const time = (ms: number) => new Date(ms).toISOString();
  const unreadable = countOf(deadLetters);
  return table([
    ['Index', searchLine(search, mailOn)],
    ...(sentence === null ? [] : [['', sentence]]),
    ...(since === null ? [] : [['Since', time(since)]]),
    ...(encrypted === null ? [] : [['File', encrypted ? 'encrypted' : 'not encrypted']]),
    ...(hasFigures(search) ? [
      ['Mails', `${indexed} of ${total}, ${pending} pending${perSecond === null ? '' : `, ${Math.round(perSecond)} a second`}`],
      ['Size', `${megabytes(bytes)} for ${megabytes(textBytes)} of text`],
      ['Compared', syncedAt === null ? 'not yet' : time(syncedAt)],
      ['Not whole', unreadable === 0 ? 'none' : `${unreadable}: ${deadLetters.map(({ reason, count }) => `${count} ${reason}`).join('; ')}`],
      ...deadLetters.flatMap((kind) => [`${kind.reason}:`, ...deadLetterLines(kind).map((line) => `  ${line}`)]).map((line) => ['', line]),
    ] : []),
  ]);
}

const hasFigures = ({ phase }: SearchState) => phase !== 'off' && phase !== 'unavailable';
const countOf = (kinds: readonly { readonly count: number }[]): number => kinds.reduce((sum, { count }) => sum + count, 0);
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
