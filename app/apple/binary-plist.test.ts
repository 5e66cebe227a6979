import { expect, test } from 'vitest';
import { encodePlist, Real } from '../testing/binary-plist.ts';
import { fuzz, FUZZ_TIMEOUT } from '../testing/fuzz.ts';
import { readBinaryPlist } from './binary-plist.ts';

test('values come back as they were written', () => {
  const value = { a: [1, 300, 70_000, 2 ** 40, -1], b: { c: true, d: false }, e: 'text', f: 'Ünïcode 😀', g: 1.5, h: '', i: [] };
  expect(readBinaryPlist(encodePlist(value))).toEqual(value);
  expect(readBinaryPlist(encodePlist({ t: Buffer.from('bytes'), d: new Real(3) }))).toEqual({ t: Buffer.from('bytes'), d: 3 });
  expect(readBinaryPlist(encodePlist('x'.repeat(70_000)))).toBe('x'.repeat(70_000));
});

/** Twenty arrays, each of which names the one before it ten times: 10^20 values in 400 bytes. */
function bomb(levels: number): Buffer {
  const objects = [Buffer.from([0x51, 0x61]), ...Array.from({ length: levels }, (_, level) => Buffer.from([0xaa, ...Array.from({ length: 10 }, () => level)]))];
  const offsets: number[] = [];
  let at = 8;
  for (const object of objects) {
    offsets.push(at);
    at += object.length;
  }
  const trailer = Buffer.alloc(32);
  trailer[6] = 2;
  trailer[7] = 1;
  trailer.writeBigUInt64BE(BigInt(objects.length), 8);
  trailer.writeBigUInt64BE(BigInt(levels), 16);
  trailer.writeBigUInt64BE(BigInt(at), 24);
  return Buffer.concat([Buffer.from('bplist00'), ...objects, ...offsets.map((offset) => Buffer.from([offset >> 8, offset & 0xff])), trailer]);
}

test('a bomb of references, a list inside itself, and what is no list give null', () => {
  expect(readBinaryPlist(bomb(2))).toHaveLength(10);
  expect(readBinaryPlist(bomb(20))).toBeNull();
  const itself = bomb(1);
  itself[11] = 1;
  expect(readBinaryPlist(itself)).toBeNull();
  for (const bytes of [Buffer.alloc(0), Buffer.from('bplist00'), Buffer.alloc(100), Buffer.from('<?xml version="1.0"?><plist></plist>'.padEnd(80))]) expect(readBinaryPlist(bytes)).toBeNull();
});

test('fuzz', { timeout: FUZZ_TIMEOUT }, async () => {
  await fuzz([encodePlist({ a: [1, 'b', { c: 2.5 }], d: Buffer.from('x') }), bomb(3), encodePlist('é'.repeat(40))], (input) => { readBinaryPlist(input); });
});
