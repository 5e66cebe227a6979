import PostalMime, { addressParser, decodeWords, type Address as ParsedAddress } from 'postal-mime';
import type { Address } from '../occurrence.ts';
import { htmlToText, joined, type Link, type Range } from './html-text.ts';
import { readTree, type MimeLimit, type MimePart } from './mime-tree.ts';
import { linksIn, quotesOf, tidy } from './plain-text.ts';
import { decodeText, transferDecoded } from './transfer-decoding.ts';

/** Why something of a mail is missing from what was read. */
export type Missing = MimeLimit | 'size' | 'text' | 'html' | 'not-downloaded';

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
  /** Decoded bytes; of a body kept apart as its header says; null if that is not known. */
  readonly size: number | null;
  readonly isInline: boolean;
  /** False if the body is not in this file (data-formats/envelope-index 7). */
  readonly isHere: boolean;
}

/** Headers that the index does not hold, or holds only in part. */
export interface MailHeaders {
  readonly from: readonly Address[];
  readonly to: readonly Address[];
  readonly cc: readonly Address[];
  readonly replyTo: readonly Address[];
  readonly subject: string | null;
  readonly messageId: string | null;
  readonly inReplyTo: string | null;
  /** Unix ms of the Date header, or null. */
  readonly date: number | null;
}

export interface MailContent extends MailText {
  readonly headers: MailHeaders;
  readonly links: readonly Link[];
  readonly attachments: readonly MailPart[];
}

/** Addresses read from one header. */
const MAX_ADDRESSES = 200;
const MAX_NAME = 256;
/** Bytes of a header in which its subject is looked for. */
const MAX_SUBJECT_AT = 64 * 1024;
/** Text parts that are read: more belong to digests. */
const MAX_TEXT_PARTS = 50;
const UNSAFE = /[\p{Cc}\p{Bidi_Control}]/gu;

/** Text alone, for an index: plain parts where there are any, so that HTML is parsed only if need be. Never throws. */
export async function readMailText(message: Buffer): Promise<MailText & { readonly subject: () => string }> {
  const tree = readTree(message);
  return { ...(await textOf(chosen(tree.root), tree.limits)), subject: () => subjectOf(tree.root.header) };
}

/** Everything of a message but the bytes of its attachments. Never throws. */
export async function readMailContent(message: Buffer): Promise<MailContent> {
  const tree = readTree(message);
  const body = chosen(tree.root);
  const links: Link[] = [];
  const text = await textOf(body, tree.limits, links);
  for (const part of body.spared) links.push(...htmlToText((await decodeText(part)).text).links);
  // A link in the HTML is also in the text beside it: the one with words is kept.
  const byUrl = new Map<string, Link>();
  for (const link of links) if (!byUrl.has(link.url) || byUrl.get(link.url)!.text === link.url) byUrl.set(link.url, link);
  return { ...text, headers: await headersOf(tree.root.header), links: [...byUrl.values()], attachments: await Promise.all(body.attachments.map(describe)) };
}

/** Decoded bytes of one part, or null where the message has no such part or not its bytes. Never throws. */
export function partBytes(message: Buffer, number: string): Buffer | null {
  const part = partOf(readTree(message).root, number);
  if (part === null || (part.externalLength !== null && part.body.length === 0)) return null;
  return transferDecoded(part.encoding, part.body);
}

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

async function textOf(body: Body, limits: readonly MimeLimit[], links?: Link[]): Promise<MailText> {
  const missing = new Set<Missing>(limits);
  if (body.texts.length > MAX_TEXT_PARTS) missing.add('parts');
  if (body.texts.some((part) => part.body.length === 0 && part.externalLength !== null)) missing.add('not-downloaded');
  const texts: string[] = [];
  const quotes: Range[] = [];
  let length = 0;
  for (const part of body.texts.slice(0, MAX_TEXT_PARTS)) {
    const decoded = await decodeText(part);
    if (decoded.isCut) missing.add('text');
    const isHtml = part.type === 'text/html';
    const read = isHtml ? htmlToText(decoded.text) : { text: tidy(decoded.text), links: [], quotes: [], isCut: false };
    if (read.isCut) missing.add('html');
    if (read.text === '') continue;
    if (links !== undefined) links.push(...(isHtml ? read.links : linksIn(read.text)));
    if (texts.length > 0) length += 2;
    for (const quote of isHtml ? read.quotes : quotesOf(read.text)) quotes.push({ start: quote.start + length, end: quote.end + length });
    texts.push(read.text);
    length += read.text.length;
  }
  const source = texts.length === 0 ? 'none' : body.texts.some((part) => part.type === 'text/html') ? 'html' : 'plain';
  return { text: texts.join('\n\n'), quotes: joined(quotes), source, missing: [...missing] };
}

async function describe(part: MimePart): Promise<MailPart> {
  const rawName = part.isNamed || part.type === 'message/rfc822' ? await nameOf(part) : null;
  const isHere = part.externalLength === null || part.body.length > 0;
  return {
    part: part.number,
    name: rawName === null ? null : rawName.replace(UNSAFE, '').slice(0, MAX_NAME),
    rawName,
    type: part.type,
    size: isHere ? decodedSize(part) : part.encoding.includes('base64') ? null : part.externalLength,
    isInline: part.disposition === 'inline' || (part.disposition === '' && part.contentId !== null),
    isHere,
  };
}

/** By postal-mime, which knows the ways in which names are split and encoded; the part is shown to it as an attachment without a body. */
async function nameOf(part: MimePart): Promise<string | null> {
  const kept = (part.header.toString('latin1').match(/^content-(?:type|disposition):.*(?:\r?\n[ \t].*)*/gim) ?? [])
    .map((field) => field.replace(/^(content-type:\s*)[^\s;]+/i, '$1application/octet-stream').replace(/^(content-disposition:\s*)[^\s;]+/i, '$1attachment'));
  if (!kept.some((field) => /^content-disposition:/i.test(field))) kept.push('Content-Disposition: attachment');
  try {
    const email = await PostalMime.parse(Buffer.from(`${kept.map((field) => field.trimEnd()).join('\r\n')}\r\n\r\n`, 'latin1'));
    return email.attachments[0]?.filename ?? null;
  } catch {
    return null;
  }
}

function decodedSize(part: MimePart): number {
  if (part.encoding.includes('quoted-printable')) return transferDecoded(part.encoding, part.body).length;
  if (!part.encoding.includes('base64')) return part.body.length;
  let signs = 0;
  for (const byte of part.body) if (byte > 0x20 && byte !== 0x3d) signs += 1;
  return Math.floor((signs * 3) / 4);
}

async function headersOf(header: Buffer): Promise<MailHeaders> {
  const fields = new Map<string, string>();
  // Of a field given twice the first counts.
  for (const { key, value } of await rawHeaders(header)) if (!fields.has(key)) fields.set(key, value);
  const addresses = (key: string): Address[] => addressParser(fields.get(key)?.slice(0, 64 * 1024) ?? '', { flatten: true }).slice(0, MAX_ADDRESSES).flatMap(addressOf);
  const text = (key: string): string | null => {
    const value = fields.get(key)?.trim();
    return value === undefined || value === '' ? null : decodeWords(value).slice(0, 4096);
  };
  const date = Date.parse(fields.get('date') ?? '');
  return {
    from: addresses('from'), to: addresses('to'), cc: addresses('cc'), replyTo: addresses('reply-to'), subject: text('subject'), messageId: text('message-id'),
    inReplyTo: text('in-reply-to'), date: Number.isNaN(date) ? null : date,
  };
}

function subjectOf(header: Buffer): string {
  const [, field = ''] = /^subject:(.{0,4096}(?:\r?\n[ \t].{0,4096}){0,16})/im.exec(header.toString('utf8', 0, MAX_SUBJECT_AT)) ?? [];
  return decodeWords(field.replace(/\r?\n[ \t]/g, ' ').trim());
}

async function rawHeaders(header: Buffer): Promise<readonly { readonly key: string; readonly value: string }[]> {
  try {
    return (await PostalMime.parse(withoutContent(header))).headers;
  } catch {
    return [];
  }
}

/** Content fields would make the parser look for parts in a body that is not there. */
function withoutContent(header: Buffer): Buffer {
  return Buffer.from(`${header.toString('latin1').replace(/^content-[a-z-]+:.*(?:\r?\n[ \t].*)*\r?\n?/gim, '').trimEnd()}\r\n\r\n`, 'latin1');
}

function addressOf(entry: ParsedAddress): Address[] {
  const address = entry.address?.trim() ?? '';
  return address === '' ? [] : [{ address, name: entry.name === '' ? null : entry.name }];
}
