import { htmlToText, joined, MAX_QUOTES, type Link, type Range } from './html-text.ts';
import { headersOf, introductionOf, nameOf, subjectOf, type MailHeaders } from './mail-headers.ts';
import { readTree, type MimeLimit, type MimePart, type MimeTree } from './mime-tree.ts';
import { Pace } from './pace.ts';
import { TextBudget, textOfPart } from './part-text.ts';
import { linksIn, quotesOf, tidy } from './plain-text.ts';
import { decodedSize, transferDecoded } from './transfer-decoding.ts';

/**
 * Why something of a mail is missing from what was read. `text` and `links`: it has more than is read of one mail; `html`: a document
 * deeper or longer than is read; `charset`: letters may be wrong, since nobody knows the charset that it names, or its bytes do not fit it;
 * `truncated`: the file has fewer bytes than it says.
 */
export type Missing = MimeLimit | 'size' | 'text' | 'html' | 'links' | 'charset' | 'not-downloaded' | 'truncated';

export interface MailText {
  readonly text: string;
  /** Where former mails are repeated. */
  readonly quotes: readonly Range[];
  /** The form that the text was taken from. */
  readonly source: 'plain' | 'html' | 'none';
  readonly missing: readonly Missing[];
}

/** An attachment or an inline picture. Its bytes are not read. */
export interface MailPart {
  /** Dotted part number, the name of its folder where it is kept apart. */
  readonly part: string;
  /** Decoded, without control and bidi characters, at most 256; null where the sender gave none. */
  readonly name: string | null;
  /** The same as written, for finding the file. */
  readonly rawName: string | null;
  /** Lower case, e.g. `application/pdf`. */
  readonly type: string;
  /** Decoded bytes; of a body kept apart as its header says; null if that is not known, as where the message was not read to its end. */
  readonly size: number | null;
  readonly isInline: boolean;
  /** False if the body is not in this file (data-formats/envelope-index 7). */
  readonly isHere: boolean;
}

export interface MailContent extends MailText {
  readonly headers: MailHeaders;
  readonly links: readonly Link[];
  readonly attachments: readonly MailPart[];
}

const MAX_NAME = 256;
/** Text parts that are read: more belong to digests. */
const MAX_TEXT_PARTS = 50;
const UNSAFE = /[\p{Cc}\p{Bidi_Control}]/gu;
/** What the name in a header costs more than a text of the same length. */
const HEADER_WEIGHT = 16;

/** Text alone, for an index: plain parts where there are any, so that HTML is parsed only if need be. Never throws. @param pace of several mails that are read in a row @param isWhole false: it goes on beyond these bytes */
export async function readMailText(message: Buffer, pace = new Pace(), isWhole = true): Promise<MailText & { readonly subject: () => string }> {
  const tree = readTree(message);
  await pace.after(message.length);
  return { ...(await textOf(tree, chosen(tree.root), { budget: new TextBudget(), pace, end: isWhole ? null : endOf(message) })), subject: () => subjectOf(tree.root.header) };
}

/** Everything of a message but the bytes of its attachments. Never throws. @param isWhole false: it goes on beyond these bytes */
export async function readMailContent(message: Buffer, isWhole = true): Promise<MailContent> {
  const [budget, pace] = [new TextBudget(), new Pace()];
  await pace.after(message.length);
  const tree = readTree(message);
  await pace.after(message.length);
  const body = chosen(tree.root);
  const links: Link[] = [];
  const end = isWhole ? null : endOf(message);
  const text = await textOf(tree, body, { budget, pace, end, links });
  const missing = new Set(text.missing);
  for (const part of body.spared) {
    const decoded = await textOfPart(part, budget, pace);
    const read = await htmlToText(decoded.text, pace);
    links.push(...read.links);
    if (decoded.isCut || read.isCut) missing.add('links');
  }
  // A link in the HTML is also in the text beside it: the one with words is kept.
  const byUrl = new Map<string, Link>();
  for (const link of links) if (!byUrl.has(link.url) || byUrl.get(link.url)!.text === link.url) byUrl.set(link.url, link);
  const headers = await headersOf(tree.root.header, pace);
  if (headers.isCut) missing.add('headers');
  const attachments: MailPart[] = [];
  for (const part of body.attachments) {
    await pace.after(HEADER_WEIGHT * part.header.length);
    attachments.push(await describe(part, endOf(part.body) === end, pace));
  }
  await pace.after(message.length);
  return { ...text, missing: [...missing], headers, links: [...byUrl.values()], attachments };
}

/** Headers alone, of the beginning of a message. Null: there are none, or more than are read. Never throws. */
export async function readMailHeaders(beginning: Buffer): Promise<MailHeaders | null> {
  const tree = readTree(beginning);
  return beginning.length === 0 || tree.limits.includes('headers') ? null : headersOf(tree.root.header, new Pace());
}

/** Decoded bytes of one part, or null where the message has no such part or not all of its bytes. Never throws. @param isWhole as of `readMailContent` */
export async function partBytes(message: Buffer, number: string, isWhole = true): Promise<Buffer | null> {
  const part = partOf(readTree(message).root, number);
  if (part === null || (part.externalLength !== null && part.body.length === 0) || (!isWhole && endOf(part.body) === endOf(message))) return null;
  return transferDecoded(part.encoding, part.body, new Pace());
}

/** Where a stretch of a message ends: views of one message share its memory. */
const endOf = (bytes: Buffer): number => bytes.byteOffset + bytes.length;

function partOf(part: MimePart, number: string): MimePart | null {
  if (part.number === number) return part;
  for (const child of part.children) {
    const found = partOf(child, number);
    if (found !== null) return found;
  }
  return null;
}

interface Body {
  readonly texts: readonly MimePart[];
  /** HTML that a plain part spares. */
  readonly spared: readonly MimePart[];
  readonly attachments: readonly MimePart[];
}

/** Which parts are the text, and which are attachments. */
function chosen(part: MimePart): Body {
  if (part.children.length === 0) {
    if (part.type.startsWith('multipart/')) return { texts: [], spared: [], attachments: [] };
    return isText(part) ? { texts: [part], spared: [], attachments: [] } : { texts: [], spared: [], attachments: [part] };
  }
  const parts = part.children.map(chosen);
  const attachments = [...(part.type === 'message/rfc822' ? [part] : []), ...parts.flatMap((each) => each.attachments)];
  const spared = parts.flatMap((each) => each.spared);
  if (part.type !== 'multipart/alternative') return { texts: parts.flatMap((each) => each.texts), spared, attachments };
  const forms = parts.filter((each) => each.texts.length > 0);
  const plain = forms.find((each) => each.texts.every((text) => text.type === 'text/plain') && each.texts.some(hasText));
  // The last form that can be shown is the best (RFC 2046, 5.1.4).
  const best = plain ?? forms.at(-1);
  const others = best === plain && plain !== undefined ? forms.filter((each) => each !== plain).flatMap((each) => each.texts).filter((text) => text.type === 'text/html') : [];
  return { texts: best?.texts ?? [], spared: [...spared, ...others], attachments };
}

function isText(part: MimePart): boolean {
  return (part.type === 'text/plain' || part.type === 'text/html') && part.disposition !== 'attachment' && !(part.isNamed && part.disposition !== 'inline') && !(part.isNamed && part.type === 'text/plain');
}

const hasText = (part: MimePart): boolean => /\S/.test(part.body.toString('latin1', 0, 4096));

/** The innermost message within the mail, for each part of one. */
function messagesOf(part: MimePart, message?: MimePart, found = new Map<MimePart, MimePart>()): ReadonlyMap<MimePart, MimePart> {
  if (part.children.length === 0 && message !== undefined) found.set(part, message);
  for (const child of part.children) messagesOf(child, part.type === 'message/rfc822' ? part : message, found);
  return found;
}

interface Run {
  readonly budget: TextBudget;
  readonly pace: Pace;
  /** Where the bytes of a message end that goes on behind them, else null. */
  readonly end: number | null;
  /** Takes what links there are. */
  readonly links?: Link[];
}

/** The text of all parts. That of a message within the mail is a quote as a whole, behind who wrote it. */
async function textOf({ root, limits }: MimeTree, body: Body, { budget, pace, end, links }: Run): Promise<MailText> {
  const missing = new Set<Missing>(limits);
  if (body.texts.length > MAX_TEXT_PARTS) missing.add('parts');
  if (body.texts.some((part) => part.body.length === 0 && part.externalLength !== null)) missing.add('not-downloaded');
  const texts: string[] = [];
  const quotes: Range[] = [];
  const messages = messagesOf(root);
  let [length, last]: [number, MimePart | undefined] = [0, undefined];
  for (const part of body.texts.slice(0, MAX_TEXT_PARTS)) {
    const decoded = await textOfPart(part, budget, pace, endOf(part.body) === end);
    if (decoded.isCut) missing.add('text');
    if (decoded.isDoubtful) missing.add('charset');
    const read = part.type === 'text/html' ? await htmlToText(decoded.text, pace) : await plainText(decoded.text, pace, links !== undefined);
    if (read.isCut) missing.add('html');
    if (read.text === '') continue;
    links?.push(...read.links);
    const message = messages.get(part);
    const introduction = message === undefined || message.inner === null || message === last ? '' : budget.afford(await introductionOf(message.inner, pace));
    const text = introduction === '' ? read.text : `${introduction}\n\n${read.text}`;
    const start = texts.length > 0 ? length + 2 : 0;
    const from = start + text.length - read.text.length;
    for (const quote of read.quotes) quotes.push({ start: quote.start + from, end: quote.end + from });
    // What stands between two texts that are quoted is no word of the sender.
    if (message !== undefined) quotes.push({ start: last === undefined ? start : length, end: start + text.length });
    texts.push(text);
    length = start + text.length;
    last = message;
  }
  const source = texts.length === 0 ? 'none' : body.texts.some((part) => part.type === 'text/html') ? 'html' : 'plain';
  return { text: texts.join('\n\n'), quotes: joined(quotes).slice(0, MAX_QUOTES), source, missing: [...missing] };
}

async function plainText(raw: string, pace: Pace, withLinks: boolean): Promise<{ text: string; links: readonly Link[]; quotes: readonly Range[]; isCut: boolean }> {
  const text = tidy(raw);
  await pace.after(raw.length);
  const quotes = quotesOf(text);
  await pace.after(text.length);
  return { text, links: withLinks ? linksIn(text) : [], quotes, isCut: false };
}

/** @param goesOn true if more of its body lies behind what was read */
async function describe(part: MimePart, goesOn: boolean, pace: Pace): Promise<MailPart> {
  const rawName = part.isNamed || part.type === 'message/rfc822' ? await nameOf(part) : null;
  const isHere = part.externalLength === null || part.body.length > 0;
  return {
    part: part.number,
    name: rawName === null ? null : rawName.replace(UNSAFE, '').slice(0, MAX_NAME),
    rawName,
    type: part.type,
    size: isHere ? (goesOn ? null : await decodedSize(part.encoding, part.body, pace)) : part.encoding.includes('base64') ? null : part.externalLength,
    isInline: part.disposition === 'inline' || (part.disposition === '' && part.contentId !== null),
    isHere,
  };
}
