/** Writer of binary property lists, enough for the plists that Apple's stores hold (accounts, edit history, VIPs). */
export class Uid {
  readonly index: number;
  constructor(index: number) {
    this.index = index;
  }
}

/** A number to be written as a real even where it is whole. */
export class Real {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

export type PlistValue = string | number | boolean | Uid | Real | Uint8Array | readonly PlistValue[] | { readonly [key: string]: PlistValue };

function sized(tag: number, count: number): Buffer {
  if (count < 15) return Buffer.from([tag | count]);
  return Buffer.concat([Buffer.from([tag | 15]), integer(count)]);
}

function integer(value: number): Buffer {
  if (value >= 0 && value < 0x100) return Buffer.from([0x10, value]);
  if (value >= 0 && value < 0x10000) return Buffer.from([0x11, value >> 8, value & 0xff]);
  const out = Buffer.alloc(9);
  out[0] = 0x13;
  out.writeBigInt64BE(BigInt(value), 1);
  return out;
}

function real(value: number): Buffer {
  const out = Buffer.alloc(9);
  out[0] = 0x23;
  out.writeDoubleBE(value, 1);
  return out;
}

function string(value: string): Buffer {
  // eslint-disable-next-line no-control-regex
  if (/^[\x00-\x7f]*$/.test(value)) return Buffer.concat([sized(0x50, value.length), Buffer.from(value, 'latin1')]);
  return Buffer.concat([sized(0x60, value.length), Buffer.from(value, 'utf16le').swap16()]);
}

export function encodePlist(root: PlistValue): Buffer {
  const objects: Buffer[] = [];
  const reference = (index: number): Buffer => Buffer.from([index >> 8, index & 0xff]);
  const add = (value: PlistValue): number => {
    const index = objects.push(Buffer.alloc(0)) - 1;
    objects[index] = body(value);
    return index;
  };
  const body = (value: PlistValue): Buffer => {
    if (typeof value === 'string') return string(value);
    if (typeof value === 'boolean') return Buffer.from([value ? 9 : 8]);
    if (typeof value === 'number') return Number.isInteger(value) ? integer(value) : real(value);
    if (value instanceof Uid) return Buffer.from([0x80, value.index]);
    if (value instanceof Real) return real(value.value);
    if (value instanceof Uint8Array) return Buffer.concat([sized(0x40, value.length), value]);
    if (Array.isArray(value)) {
      const items = value.map((item: PlistValue) => reference(add(item)));
      return Buffer.concat([sized(0xa0, items.length), ...items]);
    }
    const entries = Object.entries(value as { readonly [key: string]: PlistValue });
    const keys = entries.map(([key]) => reference(add(key)));
    const values = entries.map(([, item]) => reference(add(item)));
    return Buffer.concat([sized(0xd0, entries.length), ...keys, ...values]);
  };
  add(root);
  const offsets: Buffer[] = [];
  let at = 8;
  for (const object of objects) {
    const offset = Buffer.alloc(4);
    offset.writeUInt32BE(at);
    offsets.push(offset);
    at += object.length;
  }
  const trailer = Buffer.alloc(32);
  trailer[6] = 4;
  trailer[7] = 2;
  trailer.writeBigUInt64BE(BigInt(objects.length), 8);
  trailer.writeBigUInt64BE(BigInt(at), 24);
  return Buffer.concat([Buffer.from('bplist00'), ...objects, ...offsets, trailer]);
}

/** An NSKeyedArchiver archive of one string, as ZACCOUNTPROPERTY.ZVALUE holds it. */
export function archivedString(value: string): Buffer {
  return encodePlist({
    $version: 100000,
    $archiver: 'NSKeyedArchiver',
    $top: { root: new Uid(1) },
    $objects: ['$null', value],
  });
}
