/**
 * The skeleton of a MIME message: parts with their numbers, types and where they lie. Bodies are views, nothing is decoded.
 * Own code because no parser at hand gives part numbers (Mail names attachment folders by them), keeps bodies undecoded and
 * answers a message beyond its limits with what there was: postal-mime throws.
 */
export interface MimePart {
  /** Dotted as Mail and IMAP number parts: `1`, `2.1`. The message itself, if it has parts, is ''. */
  readonly number: string;
  /** Lower case, e.g. `text/plain`. */
  readonly type: string;
  readonly charset: string | null;
  /** Lines are wrapped by the sender and to be joined (RFC 3676). */
  readonly isFlowed: boolean;
  /** With that, the blank before a line end is the sender's too (DelSp). */
  readonly deletesSpaces: boolean;
  /** Lower case; '' where none is given. */
  readonly encoding: string;
  /** `attachment`, `inline` or another word, lower case; '' where none is given. */
  readonly disposition: string;
  /** True if a header gives a file name. */
  readonly isNamed: boolean;
  readonly contentId: string | null;
  /** Length of the encoded body that Mail keeps apart (`X-Apple-Content-Length`), or null. */
  readonly externalLength: number | null;
  readonly header: Buffer;
  /** Header of the message that this part is (`message/rfc822`); null for other parts, and where it was not read. */
  readonly inner: Buffer | null;
  readonly body: Buffer;
  readonly children: readonly MimePart[];
}

/** What of a message was not read: more than a limit of this reader allows. */
export type MimeLimit = 'depth' | 'parts' | 'headers';

export interface MimeTree {
  readonly root: MimePart;
  readonly limits: readonly MimeLimit[];
}

export const MAX_DEPTH = 16;
export const MAX_PARTS = 500;
/** Bytes of one part's header, and of all headers together. */
export const MAX_HEADER = 128 * 1024;
export const MAX_HEADERS = 512 * 1024;
/** RFC 2046 allows 70 characters. */
const MAX_BOUNDARY = 200;
const [LF, CR, SPACE, TAB, DASH] = [0x0a, 0x0d, 0x20, 0x09, 0x2d];

/** Bytes compared with boundaries in lines that begin like one and are none, all together. Real mails stay far below. */
const MAX_MISSED = 16 * 1024 * 1024;

interface Walk {
  readonly message: Buffer;
  parts: number;
  headerBytes: number;
  missed: number;
  readonly limits: Set<MimeLimit>;
  /** Boundaries of the multiparts that are open, the outermost first. */
  readonly open: Buffer[];
}

/** What ends a part: a line with the boundary of an open multipart, or the end of the message. */
interface Ending {
  /** Place of the multipart among those that are open, or -1 for the end of the message. */
  readonly level: number;
  /** Offsets of the line, and of what follows it. */
  readonly at: number;
  readonly next: number;
  readonly isLast: boolean;
}

interface Read<T> {
  readonly value: T;
  readonly ending: Ending;
}

interface ReadChildren extends Read<MimePart[]> {
  readonly inner: Buffer | null;
}

/** Goes over the message once, whatever is nested in it. Never throws. */
export function readTree(message: Buffer): MimeTree {
  const walk: Walk = { message, parts: 0, headerBytes: 0, missed: 0, limits: new Set(), open: [] };
  const { value: root } = readPart(walk, 0, '', 0, 'text/plain');
  return { root, limits: [...walk.limits] };
}

/** Parts without children, in their order. */
export function* leaves(part: MimePart): Generator<MimePart> {
  if (part.children.length === 0) yield part;
  else for (const child of part.children) yield* leaves(child);
}

function readPart(walk: Walk, from: number, number: string, depth: number, typeByDefault: string): Read<MimePart> {
  walk.parts += 1;
  const head = headerEnd(walk, from);
  const header = boundedHeader(walk, walk.message.subarray(from, head.header));
  const fields = readFields(header);
  const contentType = fields.type === '' ? typeByDefault : fields.type;
  const type = /^\s*([^\s;/]+\/[^\s;]+)/.exec(contentType)?.[1]?.toLowerCase() ?? 'text/plain';
  const length = /^\s*(\d{1,12})\s*$/.exec(fields.externalLength)?.[1];
  const isFlowed = type === 'text/plain' && /;\s*format\s*=\s*"?flowed/i.test(contentType);
  const part = {
    type,
    charset: parameter(contentType, 'charset'),
    isFlowed,
    deletesSpaces: isFlowed && /;\s*delsp\s*=\s*"?yes/i.test(contentType),
    encoding: fields.encoding.trim().toLowerCase(),
    disposition: /^\s*([^\s;]+)/.exec(fields.disposition)?.[1]?.toLowerCase() ?? '',
    isNamed: /;\s*filename\*?(?:\d+\*?)?\s*=/i.test(fields.disposition) || /;\s*name\*?(?:\d+\*?)?\s*=/i.test(contentType),
    contentId: /<?([^<>\s]{1,512})>?/.exec(fields.contentId)?.[1] ?? null,
    externalLength: length === undefined ? null : Number(length),
    header,
  };
  const { value: children, ending, inner } = head.ending === null ? readChildren(walk, part, contentType, head.body, number, depth) : { value: [], ending: head.ending, inner: null };
  const body = walk.message.subarray(head.body, Math.max(head.body, contentEnd(walk, ending, head.body)));
  // A message that is one part is part 1 (RFC 3501, 6.4.5).
  return { value: { ...part, inner, body, number: number === '' && children.length === 0 ? '1' : number, children }, ending };
}

function boundedHeader(walk: Walk, header: Buffer): Buffer {
  const room = Math.min(MAX_HEADER, MAX_HEADERS - walk.headerBytes);
  if (header.length > room) walk.limits.add('headers');
  const kept = header.subarray(0, Math.max(0, room));
  walk.headerBytes += kept.length;
  return kept;
}

function readChildren(walk: Walk, part: { type: string; encoding: string }, contentType: string, from: number, number: string, depth: number): ReadChildren {
  const isMessage = part.type === 'message/rfc822' && !/base64|quoted-printable/.test(part.encoding);
  const boundary = part.type.startsWith('multipart/') ? parameter(contentType, 'boundary') : null;
  const isLeaf = !isMessage && (boundary === null || boundary === '' || boundary.length > MAX_BOUNDARY);
  if (!isLeaf && depth >= MAX_DEPTH) walk.limits.add('depth');
  else if (isMessage && walk.parts >= MAX_PARTS) walk.limits.add('parts');
  else if (isMessage) return readMessage(walk, from, number, depth);
  else if (!isLeaf) return { ...readPieces(walk, boundary!, from, number, depth, part.type === 'multipart/digest' ? 'message/rfc822' : 'text/plain'), inner: null };
  return { value: [], ending: nextBoundary(walk, from), inner: null };
}

/** The parts of a message that is a part are numbered below it, without a level of their own. */
function readMessage(walk: Walk, from: number, number: string, depth: number): ReadChildren {
  const { value: message, ending } = readPart(walk, from, number, depth + 1, 'text/plain');
  if (contentEnd(walk, ending, from) === from) return { value: [], ending, inner: null };
  const value = message.children.length > 0 && message.type.startsWith('multipart/') ? [...message.children] : [{ ...message, number: number === '' ? '1' : `${number}.1` }];
  return { value, ending, inner: message.header };
}

/** What stands between the lines of a boundary. A part that no line ends goes to the end (a cut message). */
function readPieces(walk: Walk, boundary: string, from: number, number: string, depth: number, typeByDefault: string): Read<MimePart[]> {
  const level = walk.open.length;
  walk.open.push(Buffer.from(boundary, 'latin1'));
  const children: MimePart[] = [];
  let ending = nextBoundary(walk, from);
  while (ending.level === level && !ending.isLast) {
    if (walk.parts >= MAX_PARTS) {
      walk.limits.add('parts');
      break;
    }
    const place = String(children.length + 1);
    const start = ending.next;
    const read = readPart(walk, start, number === '' ? place : `${number}.${place}`, depth + 1, typeByDefault);
    ({ ending } = read);
    // Nothing behind the last line is no part.
    if (ending.level === level || contentEnd(walk, ending, start) > start) children.push(read.value);
  }
  walk.open.length = level;
  // What follows the last part belongs to none.
  return { value: children, ending: ending.level === level ? nextBoundary(walk, ending.next) : ending };
}

/** The first line at or behind the start of a line that is the boundary of an open multipart. */
function nextBoundary(walk: Walk, from: number): Ending {
  const { message } = walk;
  if (walk.open.length === 0) return endOf(walk);
  // By bytes: a call for each line takes longest where lines are shortest.
  for (let at = from, isStart = true; at < message.length; at += 1) {
    const byte = message[at];
    const found = isStart && byte === DASH ? boundaryAt(walk, at) : null;
    if (found !== null) return found;
    isStart = byte === LF;
  }
  return endOf(walk);
}

const endOf = ({ message: { length } }: Walk): Ending => ({ level: -1, at: length, next: length, isLast: true });

/** An outer boundary counts before an inner one: it ends what is in it, closed or not. */
function boundaryAt(walk: Walk, at: number): Ending | null {
  const { message, open } = walk;
  if (message[at] !== DASH || message[at + 1] !== DASH) return null;
  for (let level = 0; level < open.length; level += 1) {
    const boundary = open[level]!;
    let same = 0;
    while (same < boundary.length && message[at + 2 + same] === boundary[same]) same += 1;
    let end = at + 2 + same;
    if (same === boundary.length) {
      const isLast = message[end] === DASH && message[end + 1] === DASH;
      if (isLast) end += 2;
      while (message[end] === SPACE || message[end] === TAB || message[end] === CR) end += 1;
      if (end >= message.length || message[end] === LF) return { level, at, next: Math.min(message.length, end + 1), isLast };
    }
    walk.missed += end - at;
  }
  if (walk.missed <= MAX_MISSED) return null;
  walk.limits.add('parts');
  return endOf(walk);
}

/** The line end before a boundary belongs to the boundary (RFC 2046, 5.1.1). */
function contentEnd({ message }: Walk, { level, at }: Ending, start: number): number {
  let end = at;
  if (level < 0) return end;
  if (end > start && message[end - 1] === LF) end -= 1;
  if (end > start && message[end - 1] === CR) end -= 1;
  return end;
}

/** Where the header of a part ends and its body begins; with what ends the part, if that comes before a body. */
function headerEnd(walk: Walk, from: number): { readonly header: number; readonly body: number; readonly ending: Ending | null } {
  const { message } = walk;
  for (let at = from; at < message.length; at += 1) {
    if (message[at] === LF) return { header: at, body: at + 1, ending: null };
    if (message[at] === CR && message[at + 1] === LF) return { header: at, body: at + 2, ending: null };
    const ending = boundaryAt(walk, at);
    if (ending !== null) {
      const end = contentEnd(walk, ending, from);
      return { header: end, body: end, ending };
    }
    while (at < message.length && message[at] !== LF) at += 1;
  }
  return { header: message.length, body: message.length, ending: endOf(walk) };
}

interface Fields {
  type: string;
  encoding: string;
  disposition: string;
  contentId: string;
  externalLength: string;
}

const FIELD_NAMES: Readonly<Record<string, keyof Fields>> = {
  'content-type': 'type', 'content-transfer-encoding': 'encoding', 'content-disposition': 'disposition', 'content-id': 'contentId',
  'x-apple-content-length': 'externalLength',
};

/** Of a field given twice the first counts, as with postal-mime. */
function readFields(header: Buffer): Fields {
  const fields: Fields = { type: '', encoding: '', disposition: '', contentId: '', externalLength: '' };
  const seen = new Set<string>();
  const lines = header.toString('latin1').split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    const first = line.charCodeAt(0) | 0x20;
    // `c` and `x`: no other field is of use here.
    if (first !== 0x63 && first !== 0x78) continue;
    const colon = line.indexOf(':');
    const name = colon < 0 ? undefined : FIELD_NAMES[line.slice(0, colon).trimEnd().toLowerCase()];
    if (name === undefined || seen.has(name)) continue;
    seen.add(name);
    const value = [line.slice(colon + 1)];
    while (at + 1 < lines.length && (lines[at + 1]!.startsWith(' ') || lines[at + 1]!.startsWith('\t'))) value.push(lines[(at += 1)]!);
    fields[name] = value.join(' ').replaceAll('\r', '');
  }
  return fields;
}

const PARAMETERS = new Map(['charset', 'boundary'].map((name) => [name, new RegExp(`;\\s*${name}\\s*=\\s*(?:"([^"]*)"|([^\\s;"]+))`, 'i')] as const));

function parameter(value: string, name: 'charset' | 'boundary'): string | null {
  const found = PARAMETERS.get(name)!.exec(value);
  return found === null ? null : (found[1] ?? found[2]!).trim();
}
