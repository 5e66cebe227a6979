import { joined, linkOf, MAX_LINKS, type Link, type Range } from './html-text.ts';

/** A line that says that the former mail follows, to its end. */
const DIVIDER = /^\s*(?:-{3,}\s*(?:Original Message|Ursprüngliche Nachricht|Message d'origine|Mensaje original|Messaggio originale|Oorspronkelijk bericht|Forwarded message|Weitergeleitete Nachricht)\s*-{3,}|_{20,})\s*$/i;
/** Line before `>` lines that names who wrote them. */
const ATTRIBUTION = /(?:wrote|schrieb[^:]{0,120}|écrit|escribió|ha scritto|schreef[^:]{0,120}|написал[^:]{0,60}|写道|のメール)\s*[:：]\s*$/i;
const MAX_ATTRIBUTION = 300;

/** Line ends as `\n`, nothing before the first and after the last line with text. */
export function tidy(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/\0/g, '').replace(/^(?:[ \t]*\n)+/, '').trimEnd();
}

/** Where a plain text repeats former mails: `>` lines with the line that introduces them, or all after a divider. */
export function quotesOf(text: string): Range[] {
  const ranges: Range[] = [];
  let from = 0;
  let introduction = -1;
  while (from < text.length) {
    const lineEnd = text.indexOf('\n', from);
    const end = lineEnd < 0 ? text.length : lineEnd + 1;
    const line = text.slice(from, Math.min(end, from + MAX_ATTRIBUTION)).trimEnd();
    if (line.startsWith('>')) {
      ranges.push({ start: introduction < 0 ? from : introduction, end });
      introduction = -1;
    } else if (DIVIDER.test(line)) {
      ranges.push({ start: from, end: text.length });
      break;
    } else if (end - from < MAX_ATTRIBUTION && ATTRIBUTION.test(line)) introduction = from;
    else if (line !== '') introduction = -1;
    from = end;
  }
  return joined(ranges);
}

/** Links in a plain text, each once. What ends a sentence is no part of one. */
export function linksIn(text: string): Link[] {
  const found = new Map<string, Link>();
  for (const [raw] of text.matchAll(/\bhttps?:\/\/[^\s<>"'`{}|\\^\u3000\u3001\u3002]{1,4096}/gi)) {
    const url = linkOf(trimmed(raw));
    if (url !== null && !found.has(url)) found.set(url, { url, text: url.slice(0, 200) });
    if (found.size >= MAX_LINKS) break;
  }
  return [...found.values()];
}

function trimmed(url: string): string {
  // A closing bracket belongs to the URL if it was opened in it.
  let open = url.split('(').length - url.split(')').length;
  let end = url.length;
  while (end > 0 && '.,;:!?)]'.includes(url[end - 1]!)) {
    if (url[end - 1] === ')') {
      if (open >= 0) break;
      open += 1;
    }
    end -= 1;
  }
  return url.slice(0, end);
}
