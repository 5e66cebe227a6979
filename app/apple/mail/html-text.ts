import { Parser } from 'htmlparser2';
import { Pace } from './pace.ts';

/** A link of a mail. */
export interface Link {
  readonly url: string;
  /** What the link shows, at most 200 characters. */
  readonly text: string;
}

/** A stretch of the text, in UTF-16 units. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

export interface HtmlText {
  readonly text: string;
  readonly links: readonly Link[];
  /** Where former mails are repeated, in order, not overlapping. */
  readonly quotes: readonly Range[];
  /** True if the document was deeper or longer than is read: the text is that of its beginning. */
  readonly isCut: boolean;
}

/** Characters that the parser gets at a time. */
const STRETCH = 64 * 1024;
/** Real mails stay below 100. A deep document makes the parser look through all open elements at each end tag. */
const MAX_DEPTH = 256;
const MAX_TAGS = 200_000;
const MAX_OUTPUT = 1024 * 1024;
export const MAX_LINKS = 500;
/** Stretches that are marked in one text: what repeats a former mail beyond them is text like any other. */
export const MAX_QUOTES = 2000;
const MAX_LINK_TEXT = 200;
const MAX_URL = 4096;

const SILENT = new Set(['script', 'style', 'head', 'title', 'template', 'noscript', 'svg', 'math', 'object', 'iframe', 'select', 'textarea']);
const BLOCKS = new Set([
  'address', 'article', 'aside', 'blockquote', 'center', 'dd', 'div', 'dl', 'dt', 'fieldset', 'figure', 'footer', 'form', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header',
  'hr', 'li', 'main', 'nav', 'ol', 'p', 'pre', 'section', 'table', 'tbody', 'tfoot', 'thead', 'tr', 'ul',
]);
const SPACED = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'ul', 'ol', 'table', 'pre']);
const VOID = new Set(['br', 'img', 'hr', 'meta', 'link', 'input', 'area', 'base', 'col', 'embed', 'source', 'track', 'wbr', 'param']);
/** Names that mail programs give to the former mail or to all that follows it. */
const QUOTE_NAME = /(?:^|\s)(?:gmail_quote|gmail_extra|yahoo_quoted|moz-cite-prefix|protonmail_quote|tutanota_quote)(?:\s|$)/;
const REST_IS_QUOTE = /^(?:divRplyFwdMsg|appendonsend|mail-editor-reference-message-container)$/;
const HIDDEN = /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?:px|pt|em|%)?\s*(?:;|!|$)|max-height\s*:\s*0(?:px)?\s*(?:;|!|$)|mso-hide\s*:\s*all)/i;

class Enough extends Error {}

/**
 * Visible text of a document by a real parser; elements that are styled away are left out, since what their reader never
 * sees no agent should act on. `mailto:`, `javascript:`, `data:`, `cid:`, `tel:` and `sms:` links are skipped. Nothing is
 * loaded. Time is linear in the input, with a turn of the loop between stretches.
 */
export async function htmlToText(html: string, pace = new Pace()): Promise<HtmlText> {
  const writer = new Writer();
  const parser = new Parser({ onopentag: (name, attributes) => writer.open(name, attributes), ontext: (text) => writer.text(text), onclosetag: (name) => writer.close(name) }, { lowerCaseAttributeNames: true });
  let isCut = false;
  try {
    for (let from = 0; from < html.length; ) {
      const to = wholeEnd(html, from + STRETCH);
      parser.write(html.slice(from, to));
      await pace.after(to - from);
      from = to;
    }
    parser.end();
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
    isCut = true;
  }
  return { ...writer.end(), isCut };
}

/** Its words are cut out of the text at the end: to look into a text that grows copies it each time. */
interface LinkPlace extends Range {
  readonly url: string;
}

interface Element {
  readonly name: string;
  readonly isSilent: boolean;
  readonly isQuote: boolean;
  readonly href: string | null;
  readonly textFrom: number;
}

class Writer {
  readonly #stack: Element[] = [];
  readonly #links: LinkPlace[] = [];
  readonly #quotes: Range[] = [];
  #out = '';
  #tags = 0;
  #silent = 0;
  #restFrom = -1;
  #pre = 0;
  /** A blank that is due once more text comes, and line ends that are. */
  #gap = '';

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#tags += 1;
    if (this.#stack.length >= MAX_DEPTH || this.#tags > MAX_TAGS) throw new Enough();
    if (name === 'br') this.#newline(1, true);
    else if (name === 'img' && this.#silent === 0 && attributes['alt'] !== undefined && !isHidden(attributes)) this.text(attributes['alt']);
    else if (BLOCKS.has(name)) this.#newline(SPACED.has(name) ? 2 : 1);
    else if (name === 'td' || name === 'th') this.#space();
    if (name === 'hr') return;
    if (VOID.has(name)) return;
    const isSilent = SILENT.has(name) || isHidden(attributes);
    if (name === 'li' && this.#silent === 0 && !isSilent) this.#write('- ');
    if (isSilent) this.#silent += 1;
    if (name === 'pre') this.#pre += 1;
    if (this.#restFrom < 0 && REST_IS_QUOTE.test(attributes['id'] ?? '')) this.#restFrom = this.#out.length;
    const isQuote = name === 'blockquote' || QUOTE_NAME.test(attributes['class'] ?? '');
    const href = name === 'a' && this.#silent === 0 ? linkOf(attributes['href']) : null;
    this.#stack.push({ name, isSilent, isQuote, href, textFrom: this.#out.length });
  }

  close(name: string): void {
    if (VOID.has(name)) return;
    const element = this.#stack.pop();
    if (element === undefined) return;
    if (element.isSilent) this.#silent -= 1;
    if (element.name === 'pre') this.#pre -= 1;
    if (element.isQuote) this.#quote(element.textFrom);
    if (element.href !== null && this.#links.length < MAX_LINKS) {
      this.#links.push({ url: element.href, start: element.textFrom, end: this.#out.length });
    }
    if (BLOCKS.has(name)) this.#newline(SPACED.has(name) ? 2 : 1);
    else if (name === 'td' || name === 'th') this.#space();
  }

  text(text: string): void {
    if (this.#silent > 0) return;
    if (this.#pre > 0) {
      this.#write(text);
      return;
    }
    // Most stretches have single blanks only.
    const words = /[\t\r\n\f\u00a0]| {2}/.test(text) ? text.replace(/[ \t\r\n\f\u00a0]+/g, ' ') : text;
    if (words === ' ' || words === '') {
      if (words === ' ') this.#space();
      return;
    }
    if (words.startsWith(' ')) this.#space();
    this.#write(words.startsWith(' ') || words.endsWith(' ') ? words.slice(words.startsWith(' ') ? 1 : 0, words.endsWith(' ') ? -1 : undefined) : words);
    if (words.endsWith(' ')) this.#space();
  }

  end(): Omit<HtmlText, 'isCut'> {
    for (const element of this.#stack) if (element.isQuote) this.#quote(element.textFrom);
    if (this.#restFrom >= 0) this.#quotes.push({ start: this.#restFrom, end: this.#out.length });
    const wordsOf = ({ start, end }: Range): string => this.#out.slice(start, Math.min(end, start + 4 * MAX_LINK_TEXT)).trim().replace(/\s+/g, ' ').slice(0, MAX_LINK_TEXT);
    return { text: this.#out, links: this.#links.map((link) => ({ url: link.url, text: wordsOf(link) })), quotes: joined(this.#quotes) };
  }

  #quote(start: number): void {
    if (this.#quotes.length < MAX_QUOTES) this.#quotes.push({ start, end: this.#out.length });
  }

  #space(): void {
    if (this.#gap === '') this.#gap = ' ';
  }

  /** At least so many line ends before the next text; `br` adds one each time, up to two. */
  #newline(count: number, adds = false): void {
    const lines = this.#gap.startsWith('\n') ? this.#gap.length : 0;
    this.#gap = '\n'.repeat(Math.min(2, adds ? lines + count : Math.max(lines, count)));
  }

  #write(text: string): void {
    if (text === '') return;
    const more = this.#out === '' ? text : this.#gap + text;
    const room = MAX_OUTPUT - this.#out.length;
    // A document may be one stretch of text: what fits of it counts.
    this.#out += more.slice(0, wholeEnd(more, room));
    this.#gap = '';
    if (more.length > room) throw new Enough();
  }
}

/** An end at or just before another that halves no character. */
function wholeEnd(text: string, end: number): number {
  if (end >= text.length) return text.length;
  return (text.charCodeAt(end - 1) & 0xfc00) === 0xd800 ? end - 1 : end;
}

function isHidden(attributes: Readonly<Record<string, string>>): boolean {
  if (attributes['hidden'] !== undefined) return true;
  const style = attributes['style'];
  return style !== undefined && style.length < 10_000 && HIDDEN.test(style);
}

/** Only what a browser would open; spaces and control characters are not part of a URL. */
export function linkOf(href: string | undefined): string | null {
  const url = href?.trim();
  return url !== undefined && url.length <= MAX_URL && /^https?:\/\/[^\s\p{Cc}]+$/iu.test(url) ? url : null;
}

/** Ranges in order, without empty and overlapping ones. */
export function joined(ranges: readonly Range[]): Range[] {
  const out: { start: number; end: number }[] = [];
  for (const range of [...ranges].sort((a, b) => a.start - b.start)) {
    const last = out.at(-1);
    if (range.end <= range.start) continue;
    if (last !== undefined && range.start <= last.end) last.end = Math.max(last.end, range.end);
    else out.push({ ...range });
  }
  return out;
}
