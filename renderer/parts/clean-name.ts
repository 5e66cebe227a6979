import { cleanName, cutName } from '../../app/contract/name.ts';

export { cleanName, cutName } from '../../app/contract/name.ts';

/** Characters in a label: of a name with its quotes, and of a sentence or of what a pointer shows. */
const NAME = 66;
const SENTENCE = 300;

/** A stranger's name inside an attribute or a label that is only read out: no attribute holds more of it, or holds it as it came. */
export const nameLabel = (name: string): string => cutName(cleanName(name), NAME);

/** The same of an address, which loses its middle. */
export function addressLabel(address: string): string {
  const [start, end] = splitAddress(address);
  return `${cutName(start, NAME - end.length)}${end}`;
}

/** The same of a sentence, and of what a pointer shows of a text that may be cut on screen. */
export const textLabel = (text: string): string => cutName(cleanName(text), SENTENCE);

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
