import { describe, expect, test } from 'vitest';
import { encodeAttributedBody } from '../../testing/typedstream.ts';
import { readAttributedBody } from './attributed-body.ts';

// data-formats/chat-db 5: one byte up to 127, `81` and two bytes, `82` and four from 32768 on.
const LENGTHS = [0, 1, 127, 128, 129, 255, 256, 292, 336, 32_767, 32_768, 32_769, 65_535, 65_536, 100_000];

describe.each(['immutable', 'mutable'] as const)('%s form', (form) => {
  test.each(LENGTHS)('%i bytes', (length) => {
    const text = 'x'.repeat(length);
    expect(readAttributedBody(encodeAttributedBody(text, { form }))).toBe(text);
  });

  test.each([126, 127, 128, 254, 256, 32_766, 32_767, 32_768, 65_536])('characters of several bytes across %i bytes', (length) => {
    for (const sign of ['é', '€', '😀', '👩‍👩‍👧‍👦']) {
      const bytes = Buffer.byteLength(sign);
      for (const lead of [0, 1, 2, 3]) {
        const text = 'a'.repeat(lead) + sign.repeat(Math.ceil(length / bytes));
        expect(readAttributedBody(encodeAttributedBody(text, { form }))).toBe(text);
      }
    }
  });

  test.each(['a+b \u0001+ +', 'NSString', '\u0084\u0001+', '"\u0000\u0001\u0007\n"', '\uFFFC', '\uFFFChello', '\u0086\u0084'])('text %j, which looks like markers', (text) => {
    expect(readAttributedBody(encodeAttributedBody(text, { form }))).toBe(text);
  });

  test('only the first payload is the text', () => {
    const body = encodeAttributedBody('hello', { form, transferGuid: 'at_0_AAAA' });
    expect(readAttributedBody(body)).toBe('hello');
  });

  test('a body cut short anywhere gives null or the whole text, never an error', () => {
    const body = encodeAttributedBody('hello '.repeat(40), { form });
    for (let end = 0; end < body.length; end += 1) expect([null, 'hello '.repeat(40)]).toContain(readAttributedBody(body.subarray(0, end)));
  });

  test('a length beyond the blob is refused', () => {
    for (const length of [Buffer.from([0x7f]), Buffer.from([0x81, 0xff, 0xff]), Buffer.from([0x82, 0xff, 0xff, 0xff, 0xff]), Buffer.from([0x83, 1]), Buffer.from([0x92])]) {
      const body = encodeAttributedBody('hello', { form });
      const at = body.indexOf('hello') - 1;
      expect(readAttributedBody(Buffer.concat([body.subarray(0, at), length, body.subarray(at + 1)]))).toBeNull();
    }
  });
});

test('other blobs are refused', () => {
  for (const blob of [Buffer.alloc(0), Buffer.from('bplist00'), Buffer.from('040b73747265616d747970656481e803', 'hex'), Buffer.alloc(5 * 1024 * 1024)]) {
    expect(readAttributedBody(blob)).toBeNull();
  }
});
