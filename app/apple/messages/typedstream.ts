/**
 * Reader of NSArchiver typedstreams, as `message.attributedBody` holds them (data-formats/chat-db 5). It follows the structure,
 * tag by tag: nothing is searched for, so no text can look like a marker. Own code: the reader on npm does 25,500 rows a second
 * and is wrong from 32,768 bytes on.
 *
 * Two tables number what was written before: one of strings (type encodings and class names), one of objects, classes and C
 * strings. A byte of 92 and more refers to either, as the place demands.
 */
export interface TypedClass {
  readonly name: string;
  readonly parent: TypedClass | null;
}

export interface TypedObject {
  readonly kind: 'object';
  readonly class: TypedClass | null;
  /** Values in the order in which they were written. */
  readonly values: TypedValue[];
}

/** Bytes of `+`, numbers, C strings, arrays as bytes, objects; null for nil. */
export type TypedValue = TypedObject | Uint8Array | string | number | null;

/** An attribute of a stretch of the text. */
export interface TextRun {
  /** UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly attributes: ReadonlyMap<string, string | number>;
}

export interface AttributedBody {
  readonly text: string;
  /** As far as they could be read, in order. */
  readonly runs: readonly TextRun[];
}

const [INT16, INT32, FLOAT, NEW, NIL, END, FIRST_REFERENCE] = [0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x92];
/** `streamtyped` of version 4 and system version 1000, with their lengths. */
const HEADER = Buffer.from('040b73747265616d747970656481e803', 'hex');
/** A body beyond is no message of this world. */
const MAX_BODY = 4 * 1024 * 1024;
const MAX_DEPTH = 32;
/** Values of one archive, references included. */
const MAX_VALUES = 100_000;
const MAX_RUNS = 10_000;
const MAX_ATTRIBUTES = 200;

/** Ends the reading; what was read stands. */
class Broken extends Error {}

/** Text of a body; null where the blob is none, or is cut before its text ends. '' is a text without characters. Never throws. */
export function readBodyText(blob: Uint8Array): string | null {
  const bytes = viewOf(blob);
  if (!isStream(bytes)) return wideText(bytes);
  try {
    return new Reader(bytes).text();
  } catch (error) {
    if (error instanceof Broken) return null;
    throw error;
  }
}

/** Text and runs of a body; null as with `readBodyText`. A body that breaks behind its text keeps the text and the runs before. Never throws. */
export function readAttributedBody(blob: Uint8Array): AttributedBody | null {
  const text = readBodyText(blob);
  if (text === null) return null;
  const root = readArchive(blob);
  return { text, runs: root === null ? [] : runsOf(root, text.length) };
}

/** The object at the top of an archive, as far as it can be read; null if the blob is no archive of an object. Never throws. */
export function readArchive(blob: Uint8Array): TypedObject | null {
  const bytes = viewOf(blob);
  return isStream(bytes) ? new Reader(bytes).root() : null;
}

function viewOf(blob: Uint8Array): Buffer {
  return Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
}

const isStream = (bytes: Buffer): boolean => bytes.length <= MAX_BODY && bytes.length > HEADER.length && bytes.compare(HEADER, 0, HEADER.length, 0, HEADER.length) === 0;

/** One project saw bodies that are plain UTF-16 with a mark (data-formats/chat-db 5). */
function wideText(bytes: Buffer): string | null {
  return bytes.length >= 2 && bytes.length <= MAX_BODY && bytes[0] === 0xff && bytes[1] === 0xfe ? bytes.toString('utf16le', 2) : null;
}

type Known = TypedClass | TypedObject | string;

class Reader {
  readonly #bytes: Buffer;
  #at = HEADER.length;
  readonly #strings: string[] = [];
  /** Objects, classes and C strings. */
  readonly #known: Known[] = [];
  #values = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The bytes of the first string: the value of an attributed string, whose super classes came before it. */
  text(): string {
    const bytes = this.#bytes;
    // "@": the top object, then its class up to the root.
    if (this.#string() !== '@' || bytes[this.#at++] !== NEW) throw new Broken();
    this.#known.push('');
    if (!isAttributedString(this.#class())) throw new Broken();
    if (this.#string() !== '@' || bytes[this.#at++] !== NEW) throw new Broken();
    this.#known.push('');
    if (!isString(this.#class()) || this.#string() !== '+') throw new Broken();
    const length = this.#length();
    this.#at += length;
    return bytes.toString('utf8', this.#at - length, this.#at);
  }

  root(): TypedObject | null {
    let root: TypedObject | null = null;
    try {
      if (this.#string() !== '@') return null;
      this.#object(0, (object) => { root = object; });
    } catch (error) {
      // What was read up to the break hangs on the root already.
      if (!(error instanceof Broken)) throw error;
    }
    return root;
  }

  /** @param opened Is given the object before its values are read. */
  #object(depth: number, opened?: (object: TypedObject) => void): TypedValue {
    const tag = this.#byte();
    if (tag === NIL) return null;
    if (tag !== NEW) return this.#reference(tag);
    if (depth >= MAX_DEPTH) throw new Broken();
    // Numbered before its class is (data-formats/chat-db 5: the class of the first object is 1).
    const place = this.#known.push('') - 1;
    const object: TypedObject = { kind: 'object', class: this.#class(), values: [] };
    this.#known[place] = object;
    opened?.(object);
    while (this.#peek() !== END) this.#group(object.values, depth);
    this.#at += 1;
    return object;
  }

  /** One encoding and the values that it announces. */
  #group(values: TypedValue[], depth: number): void {
    const type = this.#string();
    if (type === null) throw new Broken();
    for (let at = 0; at < type.length; at += 1) {
      if ((this.#values += 1) > MAX_VALUES) throw new Broken();
      switch (type[at]) {
        case '@':
          values.push(this.#object(depth + 1));
          break;
        case '+': {
          const length = this.#length();
          values.push(this.#bytes.subarray(this.#at, (this.#at += length)));
          break;
        }
        case '*':
          values.push(this.#cString());
          break;
        case '#':
          values.push(this.#class()?.name ?? null);
          break;
        case 'f':
        case 'd':
          values.push(this.#real(type[at] === 'f' ? 4 : 8));
          break;
        case '[': {
          // An array of bytes, as NSData writes it. Others do not occur in messages.
          const array = /^\[(\d{1,7})[cC]\]/.exec(type.slice(at));
          if (array === null) throw new Broken();
          const length = this.#within(Number(array[1]));
          values.push(this.#bytes.subarray(this.#at, (this.#at += length)));
          at += array[0].length - 1;
          break;
        }
        case 'c': case 'C': case 's': case 'S': case 'i': case 'I': case 'l': case 'L': case 'q': case 'Q': case 'B':
          values.push(this.#number());
          break;
        default:
          throw new Broken();
      }
    }
  }

  /** New: its name, its version, its super class; or one that was named before. */
  #class(depth = 0): TypedClass | null {
    const tag = this.#byte();
    if (tag === NIL) return null;
    if (tag !== NEW) {
      const found = this.#known[tag - FIRST_REFERENCE];
      if (found === undefined || typeof found === 'string' || !('name' in found)) throw new Broken();
      return found;
    }
    const name = this.#string();
    if (name === null || depth >= MAX_DEPTH) throw new Broken();
    this.#number();
    // Known once its parent is: no class can be its own ancestor.
    const place = this.#known.push('') - 1;
    const made: TypedClass = { name, parent: this.#class(depth + 1) };
    this.#known[place] = made;
    return made;
  }

  #reference(tag: number): TypedValue {
    const found = this.#known[this.#index(tag)];
    if (found === undefined) throw new Broken();
    return typeof found === 'string' ? found : 'name' in found ? null : found;
  }

  #cString(): string | null {
    const tag = this.#byte();
    if (tag === NIL) return null;
    if (tag !== NEW) {
      const found = this.#known[this.#index(tag)];
      if (typeof found !== 'string') throw new Broken();
      return found;
    }
    const text = this.#string();
    if (text === null) throw new Broken();
    this.#known.push(text);
    return text;
  }

  /** A string of the shared table: new, nil, or a reference. */
  #string(): string | null {
    const tag = this.#byte();
    if (tag === NIL) return null;
    if (tag !== NEW) {
      const found = this.#strings[this.#index(tag)];
      if (found === undefined) throw new Broken();
      return found;
    }
    const length = this.#length();
    const start = this.#at;
    this.#at += length;
    const text = nameAt(this.#bytes, start, length);
    this.#strings.push(text);
    return text;
  }

  /** References beyond one byte take the forms of numbers. */
  #index(tag: number): number {
    if (tag >= FIRST_REFERENCE) return tag - FIRST_REFERENCE;
    this.#at -= 1;
    const value = this.#number();
    // A signed byte of 92 is -110; wider forms go on from there.
    return value + 110;
  }

  #real(width: 4 | 8): number {
    if (this.#peek() !== FLOAT) return this.#number();
    this.#at += 1;
    const at = this.#at;
    this.#at += this.#within(width);
    return width === 4 ? this.#bytes.readFloatLE(at) : this.#bytes.readDoubleLE(at);
  }

  /** A signed byte, or `81` and two, `82` and four bytes, little endian. */
  #number(): number {
    const tag = this.#byte();
    if (tag === INT16) {
      this.#within(2);
      this.#at += 2;
      return this.#bytes.readInt16LE(this.#at - 2);
    }
    if (tag === INT32) {
      this.#within(4);
      this.#at += 4;
      return this.#bytes.readInt32LE(this.#at - 4);
    }
    if (tag > INT32 && tag < FIRST_REFERENCE) throw new Broken();
    return tag < 0x80 ? tag : tag - 256;
  }

  /** A count of bytes that are there. Two bytes are taken without sign: 32,768 to 65,535 are written in either form. */
  #length(): number {
    const isShort = this.#peek() === INT16;
    const value = this.#number();
    return this.#within(value < 0 && isShort ? value + 65_536 : value);
  }

  #within(length: number): number {
    if (length < 0 || this.#at + length > this.#bytes.length) throw new Broken();
    return length;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Broken();
    this.#at += 1;
    return byte;
  }

  #peek(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Broken();
    return byte;
  }
}

/** Names that every body has: comparing is faster than making the string anew. */
const USUAL = ['@', '+', 'iI', 'i', '*', 'NSAttributedString', 'NSObject', 'NSString', 'NSMutableAttributedString', 'NSMutableString', 'NSDictionary', 'NSNumber', 'NSValue']
  .map((name) => ({ name, bytes: Buffer.from(name, 'latin1') }));
const USUAL_BY_LENGTH = new Map<number, typeof USUAL>();
for (const each of USUAL) USUAL_BY_LENGTH.set(each.bytes.length, [...(USUAL_BY_LENGTH.get(each.bytes.length) ?? []), each]);

function nameAt(bytes: Buffer, start: number, length: number): string {
  for (const { name, bytes: usual } of USUAL_BY_LENGTH.get(length) ?? []) {
    let at = 0;
    while (at < length && usual[at] === bytes[start + at]) at += 1;
    if (at === length) return name;
  }
  return bytes.toString('latin1', start, start + length);
}

const isA = (type: TypedClass | null, name: string): boolean => {
  for (let each = type; each !== null; each = each.parent) if (each.name === name) return true;
  return false;
};
const isAttributedString = (type: TypedClass | null): boolean => isA(type, 'NSAttributedString');
const isString = (type: TypedClass | null): boolean => isA(type, 'NSString');

/** After the string: pairs of an attribute set's number and a length; a new number brings its dictionary (data-formats/chat-db 5). */
function runsOf(root: TypedObject, length: number): TextRun[] {
  const runs: TextRun[] = [];
  const sets = new Map<number, ReadonlyMap<string, string | number>>();
  let start = 0;
  for (let at = 1; at + 1 < root.values.length && runs.length < MAX_RUNS; ) {
    const [number, units] = [root.values[at], root.values[at + 1]];
    if (typeof number !== 'number' || typeof units !== 'number' || units < 0) break;
    at += 2;
    const next = root.values[at];
    if (!sets.has(number) && typeof next === 'object' && next !== null && 'kind' in next) {
      sets.set(number, attributesOf(next));
      at += 1;
    }
    const end = Math.min(length, start + units);
    runs.push({ start, end, attributes: sets.get(number) ?? new Map() });
    start = end;
  }
  return runs;
}

function attributesOf(dictionary: TypedObject): ReadonlyMap<string, string | number> {
  const attributes = new Map<string, string | number>();
  const [, ...entries] = dictionary.values;
  for (let at = 0; at + 1 < entries.length && attributes.size < MAX_ATTRIBUTES; at += 2) {
    const [key, value] = [plain(entries[at]!), plain(entries[at + 1]!)];
    if (typeof key === 'string' && value !== null) attributes.set(key, value);
  }
  return attributes;
}

/** Strings, numbers and URLs as values; anything else is null. */
function plain(value: TypedValue | undefined, depth = 0): string | number | null {
  if (typeof value === 'number' || typeof value === 'string') return value;
  if (value === undefined || value === null || value instanceof Uint8Array) return null;
  const [first, second] = value.values;
  if (isString(value.class)) return first instanceof Uint8Array ? Buffer.from(first.buffer, first.byteOffset, first.length).toString('utf8') : null;
  if (isA(value.class, 'NSNumber')) return typeof second === 'number' ? second : null;
  // One inside another: a relative URL with its base. An object may even hold itself.
  if (isA(value.class, 'NSURL') && depth < 4) return plain(value.values.findLast((each) => each !== null && typeof each === 'object'), depth + 1);
  return null;
}
