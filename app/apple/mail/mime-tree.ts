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

interface Walk {
  parts: number;
  headerBytes: number;
  readonly limits: Set<MimeLimit>;
}

/** Time is linear in the length times the depth. Never throws. */
export function readTree(message: Buffer): MimeTree {
  const walk: Walk = { parts: 0, headerBytes: 0, limits: new Set() };
  const root = readPart(message, '', 0, 'text/plain', walk);
  return { root, limits: [...walk.limits] };
}

/** Parts without children, in their order. */
export function* leaves(part: MimePart): Generator<MimePart> {
  if (part.children.length === 0) yield part;
  else for (const child of part.children) yield* leaves(child);
}

function readPart(bytes: Buffer, number: string, depth: number, typeByDefault: string, walk: Walk): MimePart {
  walk.parts += 1;
  const end = headerEnd(bytes);
  let header = bytes.subarray(0, end.header);
  const room = Math.min(MAX_HEADER, MAX_HEADERS - walk.headerBytes);
  if (header.length > room) {
    walk.limits.add('headers');
    header = header.subarray(0, Math.max(0, room));
  }
  walk.headerBytes += header.length;
  const fields = readFields(header);
  const contentType = fields.type === '' ? typeByDefault : fields.type;
  const type = /^\s*([^\s;/]+\/[^\s;]+)/.exec(contentType)?.[1]?.toLowerCase() ?? 'text/plain';
  const body = bytes.subarray(end.body);
  const length = /^\s*(\d{1,12})\s*$/.exec(fields.externalLength)?.[1];
  const part = {
    type,
    charset: parameter(contentType, 'charset'),
    isFlowed: type === 'text/plain' && /;\s*format\s*=\s*"?flowed/i.test(contentType),
    encoding: fields.encoding.trim().toLowerCase(),
    disposition: /^\s*([^\s;]+)/.exec(fields.disposition)?.[1]?.toLowerCase() ?? '',
    isNamed: /;\s*filename\*?(?:\d+\*?)?\s*=/i.test(fields.disposition) || /;\s*name\*?(?:\d+\*?)?\s*=/i.test(contentType),
    contentId: /<?([^<>\s]{1,512})>?/.exec(fields.contentId)?.[1] ?? null,
    externalLength: length === undefined ? null : Number(length),
    header,
    body,
  };
  const children = readChildren(part, contentType, number, depth, walk);
  // A message that is one part is part 1 (RFC 3501, 6.4.5).
  return { ...part, number: number === '' && children.length === 0 ? '1' : number, children };
}

function readChildren(part: { type: string; body: Buffer; encoding: string }, contentType: string, number: string, depth: number, walk: Walk): MimePart[] {
  const isMessage = part.type === 'message/rfc822' && !/base64|quoted-printable/.test(part.encoding);
  const boundary = part.type.startsWith('multipart/') ? parameter(contentType, 'boundary') : null;
  if ((!isMessage || part.body.length === 0) && (boundary === null || boundary === '' || boundary.length > MAX_BOUNDARY)) return [];
  if (depth >= MAX_DEPTH) {
    walk.limits.add('depth');
    return [];
  }
  if (isMessage) {
    if (walk.parts >= MAX_PARTS) return overParts(walk);
    // The parts of a message that is a part are numbered below it, without a level of their own.
    const inner = readPart(part.body, number, depth + 1, 'text/plain', walk);
    return inner.children.length > 0 && inner.type.startsWith('multipart/') ? [...inner.children] : [{ ...inner, number: number === '' ? '1' : `${number}.1` }];
  }
  const typeByDefault = part.type === 'multipart/digest' ? 'message/rfc822' : 'text/plain';
  const children: MimePart[] = [];
  for (const piece of pieces(part.body, boundary!)) {
    if (walk.parts >= MAX_PARTS) {
      overParts(walk);
      break;
    }
    const place = String(children.length + 1);
    children.push(readPart(piece, number === '' ? place : `${number}.${place}`, depth + 1, typeByDefault, walk));
  }
  return children;
}

function overParts(walk: Walk): MimePart[] {
  walk.limits.add('parts');
  return [];
}

/** What stands between the lines of a boundary. A part that no line ends goes to the end (a cut message). */
function* pieces(body: Buffer, boundary: string): Generator<Buffer> {
  const line = Buffer.from(`--${boundary}`, 'latin1');
  let start = -1;
  for (let at = body.indexOf(line); at >= 0; at = body.indexOf(line, at + line.length)) {
    if (at > 0 && body[at - 1] !== LF) continue;
    let end = at + line.length;
    const isLast = body[end] === DASH && body[end + 1] === DASH;
    if (isLast) end += 2;
    while (body[end] === SPACE || body[end] === TAB || body[end] === CR) end += 1;
    if (end < body.length && body[end] !== LF) continue;
    if (start >= 0) yield withoutLineEnd(body, start, at);
    if (isLast) return;
    start = Math.min(body.length, end + 1);
  }
  if (start >= 0 && start < body.length) yield body.subarray(start);
}

/** The line end before a boundary belongs to the boundary (RFC 2046, 5.1.1). */
function withoutLineEnd(body: Buffer, start: number, end: number): Buffer {
  if (end > start && body[end - 1] === LF) end -= 1;
  if (end > start && body[end - 1] === CR) end -= 1;
  return body.subarray(start, end);
}

function headerEnd(bytes: Buffer): { header: number; body: number } {
  if (bytes[0] === LF) return { header: 0, body: 1 };
  if (bytes[0] === CR && bytes[1] === LF) return { header: 0, body: 2 };
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === LF) return { header: at + 1, body: at + 2 };
    if (bytes[at + 1] === CR && bytes[at + 2] === LF) return { header: at + 1, body: at + 3 };
  }
  return { header: bytes.length, body: bytes.length };
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
