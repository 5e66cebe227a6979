/** A value of a property list. Dates are Unix ms, data are views of the input. */
export type PlistValue = string | number | boolean | null | Uint8Array | readonly PlistValue[] | { readonly [key: string]: PlistValue };

/** Bytes that are looked at, and how deep and how many values are read. */
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_DEPTH = 32;
const MAX_VALUES = 50_000;
/** Unix ms of 2001-01-01. */
const EPOCH_MS = 978_307_200_000;

class Broken extends Error {}

/**
 * Reads a binary property list that a stranger may have written. Lists may name one object many times over, so a file of 1 KB can
 * stand for more values than memory holds: they are counted, and too many end the reading. Null for anything that is no such
 * list. Never throws. (bplist-parser, which reads the Mac's own settings, counts nothing.)
 */
export function readBinaryPlist(bytes: Uint8Array): PlistValue {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length < 40 || buffer.length > MAX_BYTES || buffer.toString('latin1', 0, 8) !== 'bplist00') return null;
  try {
    return new Reader(buffer).value();
  } catch (error) {
    if (error instanceof Broken || error instanceof RangeError) return null;
    throw error;
  }
}

class Reader {
  readonly #bytes: Buffer;
  readonly #offsetSize: number;
  readonly #referenceSize: number;
  readonly #count: number;
  readonly #top: number;
  readonly #table: number;
  #values = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    const trailer = bytes.length - 32;
    [this.#offsetSize, this.#referenceSize] = [bytes[trailer + 6]!, bytes[trailer + 7]!];
    [this.#count, this.#top, this.#table] = [this.#integer(trailer + 8, 8), this.#integer(trailer + 16, 8), this.#integer(trailer + 24, 8)];
    if (this.#offsetSize < 1 || this.#offsetSize > 8 || this.#referenceSize < 1 || this.#referenceSize > 8) throw new Broken();
  }

  value(): PlistValue {
    return this.#object(this.#top, 0);
  }

  #object(index: number, depth: number): PlistValue {
    if (depth > MAX_DEPTH || index < 0 || index >= this.#count || (this.#values += 1) > MAX_VALUES) throw new Broken();
    const at = this.#integer(this.#table + index * this.#offsetSize, this.#offsetSize);
    const tag = this.#bytes[at];
    if (tag === undefined) throw new Broken();
    const low = tag & 0x0f;
    switch (tag >> 4) {
      case 0x0:
        return low === 9 ? true : low === 8 ? false : null;
      case 0x1:
        return this.#integer(at + 1, 2 ** low);
      case 0x2:
        return low === 2 ? this.#bytes.readFloatBE(at + 1) : this.#bytes.readDoubleBE(at + 1);
      case 0x3:
        return this.#bytes.readDoubleBE(at + 1) * 1000 + EPOCH_MS;
      case 0x4: {
        const { start, count } = this.#sized(at, low);
        return this.#slice(start, count);
      }
      case 0x5: {
        const { start, count } = this.#sized(at, low);
        return this.#slice(start, count).toString('latin1');
      }
      case 0x6: {
        const { start, count } = this.#sized(at, low);
        return Buffer.from(this.#slice(start, count * 2)).swap16().toString('utf16le');
      }
      case 0x8:
        return this.#integer(at + 1, low + 1);
      case 0xa:
      case 0xc: {
        const { start, count } = this.#sized(at, low);
        this.#slice(start, count * this.#referenceSize);
        return Array.from({ length: count }, (_, nth) => this.#reference(start, nth, depth));
      }
      case 0xd: {
        const { start, count } = this.#sized(at, low);
        this.#slice(start, 2 * count * this.#referenceSize);
        const entries: [string, PlistValue][] = [];
        for (let nth = 0; nth < count; nth += 1) {
          const key = this.#reference(start, nth, depth);
          if (typeof key === 'string') entries.push([key, this.#reference(start, count + nth, depth)]);
        }
        return Object.fromEntries(entries);
      }
      default:
        throw new Broken();
    }
  }

  #reference(start: number, nth: number, depth: number): PlistValue {
    return this.#object(this.#integer(start + nth * this.#referenceSize, this.#referenceSize), depth + 1);
  }

  /** Counts from 15 on stand as an integer behind the tag. */
  #sized(at: number, low: number): { start: number; count: number } {
    if (low < 15) return { start: at + 1, count: low };
    const tag = this.#bytes[at + 1];
    if (tag === undefined || tag >> 4 !== 1 || (tag & 0x0f) > 3) throw new Broken();
    const size = 2 ** (tag & 0x0f);
    return { start: at + 2 + size, count: this.#integer(at + 2, size) };
  }

  #slice(start: number, length: number): Buffer {
    if (length < 0 || start < 0 || start + length > this.#bytes.length) throw new Broken();
    return this.#bytes.subarray(start, start + length);
  }

  /** Big endian; eight bytes are signed. What a double does not hold exactly is rounded. */
  #integer(at: number, size: number): number {
    if (at < 0 || at + size > this.#bytes.length) throw new Broken();
    if (size <= 6) return this.#bytes.readUIntBE(at, size);
    if (size === 8) return Number(this.#bytes.readBigInt64BE(at));
    // 16 bytes: Apple writes unsigned 64-bit values so.
    if (size === 16) return Number(this.#bytes.readBigUInt64BE(at + 8));
    throw new Broken();
  }
}
