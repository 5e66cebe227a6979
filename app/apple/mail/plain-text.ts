import { joined, linkOf, MAX_LINKS, MAX_QUOTES, type Link, type Range } from './html-text.ts';

/** A line that says that the former mail follows, to its end. */
const DIVIDER = /^\s*(?:-{3,}\s*(?:Original Message|Ursprüngliche Nachricht|Message d'origine|Mensaje original|Messaggio originale|Oorspronkelijk bericht|Forwarded message|Weitergeleitete Nachricht)\s*-{3,}|_{20,})$/i;
/** Line before `>` lines that names who wrote them, without the colon at its end. */
const ATTRIBUTION = /(?:wrote|écrit|escribió|ha scritto|写道|のメール)$|(?:schrieb|schreef)[^:]{0,120}$|написал[^:]{0,60}$/i;
const MAX_ATTRIBUTION = 300;
/** Where the longest of its words, and what may follow it, begins. */
const ATTRIBUTION_END = 140;

/** Line ends as `\n`, nothing before the first and after the last line with text. */
export function tidy(text: string): string {
  const clean = (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text).replaceAll('\0', '').trimEnd();
  // Not by an expression: one that repeats a group fails on some millions of lines.
  let start = 0;
  for (let at = 0; at < clean.length; at += 1) {
    const sign = clean[at]!;
    if (sign === '\n') start = at + 1;
    else if (sign !== ' ' && sign !== '\t') break;
  }
  return clean.slice(start);
}

/** Where a plain text repeats former mails: `>` lines with the line that introduces them, or all after a divider. */
export function quotesOf(text: string): Range[] {
  const ranges: { start: number; end: number }[] = [];
  let introduction = -1;
  for (let from = 0; from < text.length; ) {
    const lineEnd = text.indexOf('\n', from);
    const end = lineEnd < 0 ? text.length : lineEnd + 1;
    if (text.startsWith('>', from)) {
      const [start, last] = [introduction < 0 ? from : introduction, ranges.at(-1)];
      introduction = -1;
      if (last?.end === start) last.end = end;
      else if (ranges.length < MAX_QUOTES) ranges.push({ start, end });
      else break;
    } else {
      const line = text.slice(from, Math.min(end, from + MAX_ATTRIBUTION)).trim();
      if ((line.startsWith('-') || line.startsWith('_')) && DIVIDER.test(line)) {
        ranges.push({ start: from, end: text.length });
        break;
      }
      if (end - from < MAX_ATTRIBUTION && isAttribution(line)) introduction = from;
      else if (line !== '') introduction = -1;
    }
    from = end;
  }
  return joined(ranges);
}

const isAttribution = (line: string): boolean => (line.endsWith(':') || line.endsWith('：')) && ATTRIBUTION.test(line.slice(0, -1).trimEnd().slice(-ATTRIBUTION_END));

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
