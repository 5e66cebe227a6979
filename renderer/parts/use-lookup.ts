import { useEffect, useRef, useState } from 'react';
import { problemOf } from '../stores/notice-store.ts';

export interface Lookup<T> {
  /** The newest answer, also while the next one is under way. */
  readonly value: T | null;
  readonly problem: string | null;
  readonly busy: boolean;
}

const NOTHING = { value: null, problem: null, busy: false } as const;

/**
 * Asks again whenever the text changes, once it has rested for `ms`; only the answer to the newest text is kept.
 * @param text what is asked about, or null to ask nothing
 */
export function useLookup<T>(text: string | null, ask: (text: string) => Promise<T>, ms: number): Lookup<T> {
  const [answer, setAnswer] = useState<{ readonly text: string; readonly value: T | null; readonly problem: string | null } | null>(null);
  const asks = useRef(ask);
  useEffect(() => {
    asks.current = ask;
  });
  useEffect(() => {
    if (text === null) return undefined;
    let current = true;
    const timer = setTimeout(() => {
      asks.current(text).then(
        (value) => {
          if (current) setAnswer({ text, value, problem: null });
        },
        (error: unknown) => {
          if (current) setAnswer({ text, value: null, problem: problemOf(error) });
        },
      );
    }, ms);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [text, ms]);
  if (text === null) return NOTHING;
  return { value: answer?.value ?? null, problem: answer?.problem ?? null, busy: answer?.text !== text };
}
