/**
 * Splits an .emlx file (data-formats/envelope-index 8): a line with the decimal count of the message's bytes, that many
 * bytes, then an XML property list. Lenient where real files differ: a count beyond the file, no count, no trailer.
 */
export interface EmlxParts {
  /** The RFC 5322 message, a view of the input. */
  readonly message: Buffer;
  /** The property list as it stands, or null. */
  readonly footer: Buffer | null;
  /** True if the file says how long the message is and holds that much. */
  readonly isCounted: boolean;
  /** True if the message has fewer bytes than the file says: its end is gone, as after a full disk or a broken copy. */
  readonly isTruncated: boolean;
}

/** A count never needs more: 10 characters are usual, padding included. */
const MAX_COUNT_LINE = 64;
const PLIST = Buffer.from('<?xml', 'latin1');
const PLIST_TAG = Buffer.from('<plist', 'latin1');
/** How far behind `<?xml` the `<plist` tag stands at most. */
const PLIST_HEAD = 512;
/** How far before the end a property list is looked for: real ones have about 1 KB. */
const MAX_TRAILER = 256 * 1024;
const LF = 0x0a;

/** Bytes before the message and the count, or null if the first line is no count. */
export function readCount(bytes: Buffer): { readonly start: number; readonly count: number } | null {
  const end = bytes.subarray(0, MAX_COUNT_LINE).indexOf(LF);
  const digits = end < 0 ? null : /^\s*(\d{1,15})[ \t]*\r?$/.exec(bytes.toString('latin1', 0, end));
  return digits === null ? null : { start: end + 1, count: Number(digits[1]) };
}

/** Never throws; a file without a message gives an empty one. */
export function splitEmlx(bytes: Buffer): EmlxParts {
  const counted = readCount(bytes);
  const parts = partsOf(bytes, counted);
  return { ...parts, isTruncated: counted !== null && parts.message.length < counted.count };
}

function partsOf(bytes: Buffer, counted: ReturnType<typeof readCount>): Omit<EmlxParts, 'isTruncated'> {
  const start = counted?.start ?? 0;
  if (counted !== null && start + counted.count <= bytes.length) {
    const end = start + counted.count;
    const rest = bytes.subarray(end);
    if (rest.length === 0) return { message: bytes.subarray(start, end), footer: null, isCounted: true };
    if (startsPlist(rest)) return { message: bytes.subarray(start, end), footer: rest, isCounted: true };
  }
  const at = lastPlist(bytes, Math.max(start, bytes.length - MAX_TRAILER));
  if (at >= 0) return { message: bytes.subarray(start, at), footer: bytes.subarray(at), isCounted: false };
  // No trailer to go by: an honest count still keeps what follows the message out.
  const end = counted === null ? bytes.length : Math.min(bytes.length, start + counted.count);
  return { message: bytes.subarray(start, end), footer: null, isCounted: false };
}

function startsPlist(rest: Buffer): boolean {
  let at = 0;
  while (at < rest.length && at < 8 && rest[at]! <= 0x20) at += 1;
  return rest.subarray(at, at + PLIST.length).equals(PLIST);
}

/** Offset of the last property list: a mail may hold one as text. */
function lastPlist(bytes: Buffer, from: number): number {
  for (let at = bytes.lastIndexOf(PLIST); at >= from; at = at === 0 ? -1 : bytes.lastIndexOf(PLIST, at - 1)) {
    if (bytes.subarray(at, at + PLIST_HEAD).includes(PLIST_TAG)) return at;
  }
  return -1;
}
