/** Waits before each further try, ms: five tries within about eleven minutes (events-extension 9.3: 3 to 5 within 10 to 15). */
const WAITS_MS = [2000, 8000, 60_000, 600_000] as const;
export const MAX_TRIES = WAITS_MS.length + 1;
/** Up to a fifth more or less, so that what failed together does not come back together. */
const JITTER = 0.2;

/** @param failed tries so far, from 1. @param random 0 to 1. Ms to wait, or null: no further try */
export function waitAfter(failed: number, random: number): number | null {
  const wait = WAITS_MS[failed - 1];
  return wait === undefined ? null : Math.round(wait * (1 - JITTER + 2 * JITTER * random));
}
