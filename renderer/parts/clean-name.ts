import { cleanName } from '../../app/contract/name.ts';

export { cleanName, cutName } from '../../app/contract/name.ts';

/**
 * An address in two parts: the first may be cut at its end, the second is always shown, so that what is lost is the
 * middle. An address that is short has no second part.
 */
export function splitAddress(address: string): readonly [start: string, end: string] {
  const clean = cleanName(address);
  if (clean.length <= 20) return [clean, ''];
  const characters = Array.from(clean);
  const at = characters.lastIndexOf('@');
  const kept = at > 0 ? Math.min(16, Math.max(8, characters.length - at)) : 8;
  return [characters.slice(0, -kept).join(''), characters.slice(-kept).join('')];
}
