const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `15m`, `2h`, `1d` (ruling 3) in ms; null for anything else. How long a pause may be is policy's to say. */
export function parseDuration(text: string): number | null {
  const parts = /^(\d{1,9})([smhd])$/.exec(text);
  if (!parts) return null;
  const ms = Number(parts[1]) * UNIT_MS[parts[2]!]!;
  return ms > 0 ? ms : null;
}
