import { expect, test } from 'vitest';
import { encodeAttributedBody, typedstreamLength } from './typedstream.ts';

/** A template as data-formats/chat-db 5 prints it: hex bytes, class names in quotes. */
function template(text: string): Buffer {
  const parts = text.match(/"[^"]*"|[0-9a-f]{2}/g) ?? [];
  return Buffer.concat(parts.map((part) => (part.startsWith('"') ? Buffer.from(part.slice(1, -1)) : Buffer.from(part, 'hex'))));
}

const IMMUTABLE = (length: string, text: string, units: string): Buffer =>
  template(`04 0b "streamtyped" 81 e8 03 84 01 40
    84 84 84 12 "NSAttributedString" 00 84 84 08 "NSObject" 00 85
    92 84 84 84 08 "NSString" 01 94 84 01 2b ${length} "${text}" 86
    84 02 69 49 01 ${units}
    92 84 84 84 0c "NSDictionary" 00 94 84 01 69 01
    92 84 96 96 1d "__kIMMessagePartAttributeName" 86
    92 84 84 84 08 "NSNumber" 00 84 84 07 "NSValue" 00 94 84 01 2a 84 99 99 00 86 86 86`);

const MUTABLE = (length: string, text: string, units: string): Buffer =>
  template(`04 0b "streamtyped" 81 e8 03 84 01 40
    84 84 84 19 "NSMutableAttributedString" 00 84 84 12 "NSAttributedString" 00 84 84 08 "NSObject" 00 85
    92 84 84 84 0f "NSMutableString" 01 84 84 08 "NSString" 01 95 84 01 2b ${length} "${text}" 86
    84 02 69 49 01 ${units}
    92 84 84 84 0c "NSDictionary" 00 95 84 01 69 01
    92 84 98 98 1d "__kIMMessagePartAttributeName" 86
    92 84 84 84 08 "NSNumber" 00 84 84 07 "NSValue" 00 95 84 01 2a 84 9b 9b 00 86 86 86`);

test('both forms are the published templates, byte for byte', () => {
  expect(encodeAttributedBody('Noter test').toString('hex')).toBe(IMMUTABLE('0a', 'Noter test', '0a').toString('hex'));
  expect(encodeAttributedBody('Noter test', { form: 'mutable' }).toString('hex')).toBe(MUTABLE('0a', 'Noter test', '0a').toString('hex'));
});

test('sizes agree with samples of real blobs: 189 bytes for a 14-byte text, 76 for an empty one', () => {
  // regular-text.bin and Blank are of these sizes (data-formats/samples A).
  expect([encodeAttributedBody('Haha yeah \u{1F603}').length, encodeAttributedBody('Haha yeah \u{1F603}', { form: 'mutable' }).length]).toContain(189);
  expect([encodeAttributedBody('').length, encodeAttributedBody('', { form: 'mutable' }).length]).toContain(76);
});

test('string length counts UTF-8 bytes, run length counts UTF-16 units', () => {
  expect(encodeAttributedBody('Haha yeah \u{1F603}').toString('hex')).toBe(IMMUTABLE('0e', 'Haha yeah \u{1F603}', '0c').toString('hex'));
});

test('lengths take one, three or five bytes', () => {
  expect(typedstreamLength(127).toString('hex')).toBe('7f');
  expect(typedstreamLength(128).toString('hex')).toBe('818000');
  expect(typedstreamLength(336).toString('hex')).toBe('815001');
  expect(typedstreamLength(32_767).toString('hex')).toBe('81ff7f');
  expect(typedstreamLength(32_768).toString('hex')).toBe('8200800000');
});
