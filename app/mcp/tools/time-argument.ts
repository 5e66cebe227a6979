import { z } from 'zod';

export const timeArgument = z.union([z.iso.date(), z.iso.datetime({ offset: true })], 'must be a day such as 2026-11-30 or a time such as 2026-11-30T08:00:00Z');

/** Unix ms, or null for what was left out. A day begins at midnight here (architecture 7). */
export function timeOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const date = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  return date === null ? Date.parse(text) : new Date(Number(date[1]), Number(date[2]) - 1, Number(date[3])).getTime();
}
