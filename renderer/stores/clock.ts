import { useEffect, useState } from 'react';

let now: () => number = Date.now;

/** The page has one clock: the system's, or that of a fixture. */
export function setClock(next: () => number): void {
  now = next;
}

/** Unix ms. */
export const clockNow = (): number => now();

/** The time, drawn again every `everyMs`. */
export function useNow(everyMs = 30_000): number {
  const [at, setAt] = useState(clockNow);
  useEffect(() => {
    const timer = setInterval(() => setAt(clockNow()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return at;
}
