const [LINE_END, RETURN, SPACE, QUOTE] = ['\n', 0x0d, 0x20, 0x3e];
const SIGNATURE = '-- ';

/**
 * Text in `format=flowed` with its paragraphs in one line each (RFC 3676, 4). What is quoted keeps its marks, one blank behind
 * them. A paragraph that ends improperly, in a change of depth, a signature or the end of the text, ends there (4.1). Time is
 * linear.
 * @param deletesSpaces DelSp=yes: the blank that says that a line goes on is no part of the text
 */
export function unflowed(text: string, deletesSpaces: boolean): string {
  const out: string[] = [];
  /** Depth of the paragraph that goes on, or -1. */
  let open = -1;
  for (let at = 0; at < text.length; ) {
    const found = text.indexOf(LINE_END, at);
    const next = found < 0 ? text.length : found + 1;
    let end = found < 0 ? text.length : found;
    if (end > at && text.charCodeAt(end - 1) === RETURN) end -= 1;
    let start = at;
    while (start < end && text.charCodeAt(start) === QUOTE) start += 1;
    const depth = start - at;
    // Stuffing goes once the marks are counted, and before the line is looked at further (4.4).
    if (start < end && text.charCodeAt(start) === SPACE) start += 1;
    const isSignature = end - start === SIGNATURE.length && text.startsWith(SIGNATURE, start);
    const isFlowed = !isSignature && end > start && text.charCodeAt(end - 1) === SPACE;
    const content = text.slice(start, isFlowed && deletesSpaces ? end - 1 : end);
    const goesOn = open === depth && !isSignature;
    if (!goesOn) {
      if (out.length > 0) out.push(LINE_END);
      if (depth > 0) out.push(text.slice(at, at + depth), content === '' ? '' : ' ');
      // Stuffed, since it is no quote: it must not become one.
      else if (content.startsWith('>')) out.push(' ');
    }
    out.push(content);
    open = isFlowed ? depth : -1;
    at = next;
  }
  return out.join('');
}
