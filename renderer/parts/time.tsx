import { useNow } from '../stores/clock.ts';
import { hourMinuteSecond, whenWords } from '../../app/contract/time-words.ts';

interface TimeProps {
  /** Unix ms; null is drawn as `never`. */
  readonly at: number | null;
  readonly never?: string;
  /** With seconds, and only the time: for lists of one day. */
  readonly exact?: boolean;
}

export function Time({ at, never = 'never', exact = false }: TimeProps) {
  const now = useNow();
  if (at === null) return <span className="numbers">{never}</span>;
  return <time className="numbers" dateTime={new Date(at).toISOString()}>{exact ? hourMinuteSecond(at) : whenWords(at, now)}</time>;
}
