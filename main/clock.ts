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

/** `11:30`, or with the day if it isn't today: `Tue 11:30`, `12 Nov 11:30`. @param at Unix ms @param now Unix ms */
export function timeOfDay(at: number, now: number): string {
  const part = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-GB', options).format(at);
  const time = part({ hour: '2-digit', minute: '2-digit' });
  if (new Date(at).toDateString() === new Date(now).toDateString()) return time;
  return `${part(Math.abs(at - now) < 6 * 86_400_000 ? { weekday: 'short' } : { day: 'numeric', month: 'short' })} ${time}`;
}
