import { withoutHidden } from '../text/hidden.ts';

export { codePointName, linesWithoutHidden } from '../text/hidden.ts';

/**
 * Names, subjects and addresses are text by strangers. Left out: what is not seen or turns the reading direction (ui.md, Live), since
 * it makes a text look like another. Line breaks and tabs become spaces, half surrogates a replacement character.
 */
export function cleanName(text: string): string {
  return withoutHidden(text.replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' ')).trim();
}

/** At most `max` characters as a reader counts them, the last one an ellipsis. */
export function cutName(text: string, max: number): string {
  if (text.length <= max) return text;
  const characters = [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text.slice(0, max * 16))].map(({ segment }) => segment);
  return characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : text.length > max * 16 ? `${characters.join('')}…` : text;
}
