/**
 * Whether an `Accept` header admits a media type (RFC 9110, 12.5.1): the most specific range that fits decides, and
 * `q=0` is a refusal. No header admits everything.
 */
export function admits(accept: string | undefined, type: string): boolean {
  if (accept === undefined) return true;
  const [main] = type.split('/') as [string];
  let best = -1;
  let quality = 0;
  for (const part of accept.toLowerCase().split(',')) {
    const [range, ...parameters] = part.split(';').map((text) => text.trim()) as [string, ...string[]];
    const rank = range === type ? 2 : range === `${main}/*` ? 1 : range === '*/*' ? 0 : -1;
    if (rank < 0 || rank < best) continue;
    const q = Number(parameters.find((text) => text.startsWith('q='))?.slice(2) ?? 1);
    const given = Number.isFinite(q) ? q : 0;
    quality = rank === best ? Math.max(quality, given) : given;
    best = rank;
  }
  return quality > 0;
}
