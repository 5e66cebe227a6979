import { describe, expect, test } from 'vitest';
import { fuzz, FUZZ_TIMEOUT } from '../../testing/fuzz.ts';
import { encodeAttributedBody } from '../../testing/typedstream.ts';
import { readArchive, readAttributedBody, readBodyText } from './typedstream.ts';

// data-formats/chat-db 5: one byte up to 127, `81` and two bytes, `82` and four from 32768 on.
const LENGTHS = [0, 1, 127, 128, 129, 255, 256, 292, 336, 32_767, 32_768, 32_769, 65_535, 65_536, 100_000];

describe.each(['immutable', 'mutable'] as const)('%s form', (form) => {
  test.each(LENGTHS)('%i bytes', (length) => {
    const text = 'x'.repeat(length);
    expect(readBodyText(encodeAttributedBody(text, { form }))).toBe(text);
  });

  test.each([126, 127, 128, 254, 256, 32_766, 32_767, 32_768, 65_536])('characters of several bytes across %i bytes', (length) => {
    for (const sign of ['é', '€', '😀', '👩‍👩‍👧‍👦']) {
      const bytes = Buffer.byteLength(sign);
      for (const lead of [0, 1, 2, 3]) {
        const text = 'a'.repeat(lead) + sign.repeat(Math.ceil(length / bytes));
        expect(readBodyText(encodeAttributedBody(text, { form }))).toBe(text);
      }
    }
  });

  test.each(['a+b \u0001+ +', 'NSString', '\u0084\u0001+', '"\u0000\u0001\u0007\n"', '\uFFFC', '\uFFFChello', '\u0086\u0084'])('text %j, which looks like markers', (text) => {
    expect(readBodyText(encodeAttributedBody(text, { form }))).toBe(text);
  });

  test('only the first payload is the text', () => {
    const body = encodeAttributedBody('hello', { form, transferGuid: 'at_0_AAAA' });
    expect(readBodyText(body)).toBe('hello');
  });

  test('a body cut short anywhere gives null or the whole text, never an error', () => {
    const body = encodeAttributedBody('hello '.repeat(40), { form });
    for (let end = 0; end < body.length; end += 1) expect([null, 'hello '.repeat(40)]).toContain(readBodyText(body.subarray(0, end)));
  });

  test('a length beyond the blob is refused', () => {
    for (const length of [Buffer.from([0x7f]), Buffer.from([0x81, 0xff, 0xff]), Buffer.from([0x82, 0xff, 0xff, 0xff, 0xff]), Buffer.from([0x83, 1]), Buffer.from([0x92])]) {
      const body = encodeAttributedBody('hello', { form });
      const at = body.indexOf('hello') - 1;
      expect(readBodyText(Buffer.concat([body.subarray(0, at), length, body.subarray(at + 1)]))).toBeNull();
    }
  });
});

test('other blobs are refused', () => {
  for (const blob of [Buffer.alloc(0), Buffer.from('bplist00'), Buffer.from('040b73747265616d747970656481e803', 'hex'), Buffer.alloc(5 * 1024 * 1024)]) {
    expect(readBodyText(blob)).toBeNull();
  }
});

describe.each(['immutable', 'mutable'] as const)('attributes, %s form', (form) => {
  test('runs with their part and attachment', () => {
    expect(readAttributedBody(encodeAttributedBody('a😀', { form, part: 3, transferGuid: 'at_0_X' }))).toEqual({
      text: 'a😀',
      // Run length counts UTF-16 units.
      runs: [{ start: 0, end: 3, attributes: new Map<string, unknown>([['__kIMFileTransferGUIDAttributeName', 'at_0_X'], ['__kIMMessagePartAttributeName', 3]]) }],
    });
    expect(readAttributedBody(encodeAttributedBody('', { form }))).toEqual({ text: '', runs: [] });
  });

  test('cut at every byte: null, or the text with the runs before the cut', () => {
    const body = encodeAttributedBody('hello', { form, transferGuid: 'at_0_X' });
    const textEnd = body.indexOf('hello') + 5;
    for (let end = 0; end <= body.length; end += 1) {
      const found = readAttributedBody(body.subarray(0, end));
      if (end < textEnd) expect(found).toBeNull();
      else expect(found!.text).toBe('hello');
    }
  });
});

test('the 0x81 length form is two bytes: 292 is 81 24 01, 264 is 81 08 01 (peers 5.1)', () => {
  for (const [length, form] of [[292, '812401'], [264, '810801'], [150, '819600']] as const) {
    const body = encodeAttributedBody('x'.repeat(length));
    expect(body.includes(Buffer.from(form, 'hex'))).toBe(true);
    expect(readBodyText(body)).toBe('x'.repeat(length));
  }
});

test('lengths from 32,768 on in two bytes without sign are read too', () => {
  for (const length of [32_768, 65_535]) {
    const body = encodeAttributedBody('x'.repeat(length));
    const at = body.indexOf(0x82);
    const short = Buffer.from([0x81, length & 0xff, length >> 8]);
    expect(readBodyText(Buffer.concat([body.subarray(0, at), short, body.subarray(at + 5)]))).toBe('x'.repeat(length));
  }
});

test('every length up to 1,100 in bytes (peers 5.1, 5)', () => {
  for (let length = 0; length <= 1100; length += 1) expect(readBodyText(encodeAttributedBody('y'.repeat(length)))!.length).toBe(length);
});

test('U+0130, UTF-16 with a mark, a body with `?` for every high byte', () => {
  expect(readBodyText(encodeAttributedBody('\u0130'))).toBe('\u0130');
  expect(readBodyText(Buffer.from('\ufeffhé', 'utf16le'))).toBe('hé');
  expect(readBodyText(Buffer.from(encodeAttributedBody('hello').map((byte) => (byte >= 0x80 ? 0x3f : byte))))).toBeNull();
});

test('an archive that nests or refers to itself for ever ends', () => {
  const header = Buffer.from('040b73747265616d747970656481e803840140', 'hex');
  const nested = Buffer.concat([header, ...Array.from({ length: 5000 }, () => Buffer.from('848484014100858401408484840141', 'hex'))]);
  expect(readBodyText(nested)).toBeNull();
  // A class that names itself as its parent: the class is number 1 of the objects.
  const itself = Buffer.concat([header, Buffer.from('8484840141', 'hex'), Buffer.from('0093', 'hex'), Buffer.alloc(40, 0x93)]);
  expect(readBodyText(itself)).toBeNull();
  readArchive(itself);
  readArchive(nested);
  readAttributedBody(Buffer.concat([encodeAttributedBody('x').subarray(0, 90), Buffer.alloc(60_000, 0x92)]));
});

test('fuzz', { timeout: FUZZ_TIMEOUT }, async () => {
  const seeds = (['immutable', 'mutable'] as const).flatMap((form) => [encodeAttributedBody('hello', { form }), encodeAttributedBody('é😀'.repeat(60), { form, transferGuid: 'at_0_X' }), encodeAttributedBody('', { form })]);
  await fuzz(seeds, (input) => {
    const found = readAttributedBody(input);
    expect(found?.text ?? null).toBe(readBodyText(input));
    for (const { start, end } of found?.runs ?? []) expect(start >= 0 && start <= end && end <= found!.text.length).toBe(true);
  });
});
