/**
 * Control characters (C0, C1, line and paragraph separators), bidi controls and zero-width characters that
 * can hide or reorder text. The joiners U+200C and U+200D stay: scripts and emoji need them (ui.md, Live).
 */
// oxlint-disable-next-line no-control-regex -- removing control characters is the point
const UNWANTED = /[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\u061c]/gu;
// oxlint-disable-next-line no-control-regex -- the same without line ends and tabs
const UNWANTED_IN_BODY = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\u061c]/gu;
const LONE_SURROGATE = /\p{Surrogate}/gu;

/** Text from a stranger made inert: unwanted characters out, cut at `limit` characters (code points, whole). */
export function cleanText(value: string, limit: number): string {
  // Most text is short ASCII: nothing to do for it on the hot path.
  const clean = /^[\x20-\x7e]*$/.test(value) ? value : value.replace(UNWANTED, '').replace(LONE_SURROGATE, '\ufffd');
  if (clean.length <= limit) return clean;
  // As many characters have at most twice as many units.
  const points = Array.from(clean.slice(0, 2 * limit + 1));
  return points.length <= limit ? clean : points.slice(0, limit).join('');
}

/** The same for a text of several lines: line ends and tabs stay. Not cut. */
export function cleanBody(value: string): string {
  return value.replace(/\r\n?|[\u2028\u2029]/g, '\n').replace(UNWANTED_IN_BODY, '').replace(LONE_SURROGATE, '\ufffd');
}
