/** First and last UTF-16 unit. */
export type UnitRange = readonly [first: number, last: number];

/** The first place from `from` on where a unit of the ranges stands; -1: none. */
export type UnitFinder = (text: string, from: number) => number;

/** One look-up a unit: several times as quick as a regular expression of many ranges. */
export function unitFinder(ranges: readonly UnitRange[]): UnitFinder {
  const table = new Uint8Array(0x10000);
  for (const [first, last] of ranges) table.fill(1, first, last + 1);
  return (text, from) => {
    const { length } = text;
    for (let at = from; at < length; at += 1) if (table[text.charCodeAt(at)] === 1) return at;
    return -1;
  };
}
