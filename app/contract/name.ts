/**
 * Names, subjects and addresses are text by strangers. Left out: control characters, zero-width characters and those that
 * turn the reading direction (ui.md, Live), since they make a text look like another. The joiners U+200C and U+200D stay:
 * several scripts and emoji need them. Line breaks and tabs become spaces, half surrogates a replacement character.
 */
export function cleanName(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' ')
    .replace(/[\p{Cc}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu, '')
    .trim();
}

/** At most `max` characters as a reader counts them, the last one an ellipsis. */
export function cutName(text: string, max: number): string {
  if (text.length <= max) return text;
  const characters = [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text.slice(0, max * 16))].map(({ segment }) => segment);
  return characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : text.length > max * 16 ? `${characters.join('')}…` : text;
}
