import { linesWithoutHidden, withoutHidden } from '../text/hidden.ts';

/** Text from a stranger made inert: controls and what is hidden out, cut at `limit` characters (code points, whole). */
export const cleanText = (value: string, limit: number): string => cutText(withoutHidden(value), limit);

/** At most `limit` characters (code points, whole). */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // As many characters have at most twice as many units.
  const points = Array.from(text.slice(0, 2 * limit + 1));
  return points.length <= limit ? text : points.slice(0, limit).join('');
}

/** The same for a text of several lines: line ends and tabs stay. Not cut. */
export const cleanBody = (value: string): string => linesWithoutHidden(unixLines(value));

/** Each line ends in a line feed. */
export const unixLines = (value: string): string => value.replace(/\r\n?|[\u2028\u2029]/g, '\n');
