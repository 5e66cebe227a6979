import type { ActivityRow } from '../../app/contract/values.ts';
import { dayWords } from '../../app/contract/time-words.ts';

export interface DayGroup {
  /** Start of the local day, Unix ms. */
  readonly day: number;
  readonly title: string;
  readonly rows: readonly ActivityRow[];
}

/** Rows newest first, by local days (architecture 7). @param now Unix ms */
export function dayGroups(rows: readonly ActivityRow[], now: number): readonly DayGroup[] {
  const groups: { day: number; title: string; rows: ActivityRow[] }[] = [];
  for (const row of rows) {
    const day = startOfDay(row.at);
    const last = groups.at(-1);
    if (last?.day === day) last.rows.push(row);
    else groups.push({ day, title: dayWords(day, now), rows: [row] });
  }
  return groups;
}

function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

/** Joins pages and newly told rows: newest first, each once. */
export function joinRows(rows: readonly ActivityRow[], more: readonly ActivityRow[]): readonly ActivityRow[] {
  if (more.length === 0) return rows;
  return [...new Map([...rows, ...more].map((row) => [row.id, row])).values()].sort((a, b) => b.id - a.id);
}
