/**
 * The text in `message.attributedBody`, a typedstream (data-formats/chat-db 5). Only twins need it here, so only the
 * first payload of the first string is read; lengths are followed and nothing is searched inside the text.
 */
const HEADER = Buffer.from('040b73747265616d747970656481e803', 'hex');
const STRING_CLASS = Buffer.from('\u0008NSString', 'latin1');
/** A new type `+`: counted bytes follow. */
const COUNTED_BYTES = Buffer.from([0x84, 0x01, 0x2b]);
/** Between the class name and its payload stand a version and one back reference: `01 94` or `01 95`. */
const GAP = 16;
/** Largest body that is looked at. */
const MAX_BODY = 4 * 1024 * 1024;

/** Null where the blob is none, is cut short or has another form. '' is a text without characters. */
export function readAttributedBody(body: Uint8Array): string | null {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (bytes.length > MAX_BODY || !bytes.subarray(0, HEADER.length).equals(HEADER)) return null;
  const name = bytes.indexOf(STRING_CLASS, HEADER.length);
  if (name < 0) return null;
  const after = name + STRING_CLASS.length;
  const type = bytes.subarray(after, after + GAP).indexOf(COUNTED_BYTES);
  if (type < 0) return null;
  const counted = readLength(bytes, after + type + COUNTED_BYTES.length);
  if (counted === null || counted.start + counted.length > bytes.length) return null;
  return bytes.toString('utf8', counted.start, counted.start + counted.length);
}

/** 0 to 127 as it is, else `81` and two bytes or `82` and four, little endian. Not BER: `81` has two bytes. */
function readLength(bytes: Buffer, at: number): { length: number; start: number } | null {
  const first = bytes[at];
  if (first === undefined) return null;
  if (first < 0x80) return { length: first, start: at + 1 };
  if (first === 0x81) return at + 3 > bytes.length ? null : { length: bytes.readUInt16LE(at + 1), start: at + 3 };
  if (first === 0x82) return at + 5 > bytes.length ? null : { length: bytes.readUInt32LE(at + 1), start: at + 5 };
  return null;
}
