import type { Clock } from '../app/events/clock.ts';

export type { Clock } from '../app/events/clock.ts';

/** Time as main sees it. Electron's own loop keeps the process alive, so no timer has to. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, work) {
    const handle = setTimeout(work, ms);
    return () => clearTimeout(handle);
  },
  every(ms, work) {
    const handle = setInterval(work, ms);
    return () => clearInterval(handle);
  },
};
