import { isUtf8 } from 'node:buffer';
import PostalMime, { addressParser, decodeWords, type Address as ParsedAddress } from 'postal-mime';
import { withoutHidden } from '../../text/hidden.ts';
import type { Address } from '../occurrence.ts';
import type { MimePart } from './mime-tree.ts';
import type { Pace } from './pace.ts';

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
  /** True if a header has more addresses than are read. */
  readonly isCut: boolean;
}

/** Characters of a header that addresses are looked for in: some hundreds of them. */
const MAX_ADDRESS_FIELD = 32 * 1024;
/** What they cost more than a text of the same length. */
const ADDRESS_WEIGHT = 8;
const MAX_DATE = 256;
/** Characters of a subject as it is written. */
const MAX_SUBJECT = 64 * 1024;
/** Characters of a name, an address and a subject of a message within a mail. */
const MAX_SHOWN = 256;

/** Of a header that the tree of the message bounds (`MAX_HEADER`), with a turn of the loop between its fields. */
export async function headersOf(header: Buffer, pace: Pace): Promise<MailHeaders> {
  const fields = fieldsOf(header);
  await pace.after(header.length);
  let isCut = false;
  const addresses = async (name: FieldName): Promise<Address[]> => {
    const whole = fields.get(name) ?? '';
    const value = whole.slice(0, MAX_ADDRESS_FIELD);
    await pace.after(ADDRESS_WEIGHT * value.length);
    const all = addressParser(value, { flatten: true });
    if (value.length === whole.length) return all.flatMap(addressOf);
    isCut = true;
    // The last one may be a half, which is another address.
    return (value.trimEnd().endsWith(',') ? all : all.slice(0, -1)).flatMap(addressOf);
  };
  const text = (name: FieldName): string | null => {
    const value = fields.get(name);
    return value === undefined || value === '' ? null : decodeWords(value).slice(0, 4096);
  };
  const date = Date.parse(fields.get('date')?.slice(0, MAX_DATE) ?? '');
  const [from, to, cc, replyTo] = [await addresses('from'), await addresses('to'), await addresses('cc'), await addresses('reply-to')];
  return {
    from, to, cc, replyTo, isCut,
    subject: text('subject'), messageId: text('message-id'), inReplyTo: text('in-reply-to'), date: Number.isNaN(date) ? null : date,
  };
}

/** The subject alone, '' where there is none. */
export const subjectOf = (header: Buffer): string => subjectIn(fieldsOf(header));

/** Who wrote a message within a mail, and its subject, a line each and without what nobody sees; '' where its header names neither. */
export async function introductionOf(header: Buffer, pace: Pace): Promise<string> {
  const fields = fieldsOf(header);
  const from = (fields.get('from') ?? '').slice(0, MAX_ADDRESS_FIELD);
  await pace.after(header.length + ADDRESS_WEIGHT * from.length);
  const [writer] = addressParser(from, { flatten: true }).flatMap(addressOf);
  const shown = (text: string): string => withoutHidden(text.slice(0, MAX_SHOWN).toWellFormed());
  const lines: string[] = [];
  if (writer !== undefined) lines.push(`From: ${writer.name === null ? shown(writer.address) : `${shown(writer.name)} <${shown(writer.address)}>`}`);
  const subject = shown(subjectIn(fields));
  if (subject !== '') lines.push(`Subject: ${subject}`);
  return lines.join('\n');
}

const subjectIn = (fields: ReadonlyMap<FieldName, string>): string => decodeWords((fields.get('subject') ?? '').slice(0, MAX_SUBJECT));

const FIELD_NAMES = ['from', 'to', 'cc', 'reply-to', 'subject', 'message-id', 'in-reply-to', 'date'] as const;
type FieldName = (typeof FIELD_NAMES)[number];
const FIELDS: ReadonlySet<string> = new Set(FIELD_NAMES);
/** Given twice, they count together (RFC 5322, 4.5.3): whoever is named in either is written to. */
const LISTS: ReadonlySet<FieldName> = new Set(['from', 'to', 'cc', 'reply-to']);

/** Fields unfolded (RFC 5322, 2.2.3), as they are written. Of a field given twice the first counts, unless it lists addresses. */
function fieldsOf(header: Buffer): ReadonlyMap<FieldName, string> {
  const lines = new Map<FieldName, string[]>();
  let open: string[] | undefined;
  // UTF-8 is what RFC 6532 allows; older senders wrote bytes of their own charset.
  for (const line of header.toString(isUtf8(header) ? 'utf8' : 'latin1').split('\n')) {
    if (line.startsWith(' ') || line.startsWith('\t')) {
      open?.push(line);
      continue;
    }
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).trimEnd().toLowerCase();
    open = undefined;
    if (!isField(name)) continue;
    const before = lines.get(name);
    if (before === undefined) lines.set(name, (open = [line.slice(colon + 1)]));
    else if (LISTS.has(name)) (open = before).push(',', line.slice(colon + 1));
  }
  return new Map([...lines].map(([name, value]) => [name, value.join('').replaceAll('\r', '').trim()]));
}

const isField = (name: string): name is FieldName => FIELDS.has(name);

function addressOf(entry: ParsedAddress): Address[] {
  const address = entry.address?.trim() ?? '';
  return address === '' ? [] : [{ address, name: entry.name === '' ? null : entry.name }];
}

/** Name of an attachment as written, or null. By postal-mime, which knows the ways in which names are split and encoded; the part is shown to it as an attachment without a body. */
export async function nameOf(part: MimePart): Promise<string | null> {
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
