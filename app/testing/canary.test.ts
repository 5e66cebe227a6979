import { expect, test } from 'vitest';
import { canary, findCanary } from './canary.ts';

test('a mark is found in plain text and bytes, with its place', () => {
  expect(findCanary(`x ${canary('mail-summary')} y`)).toBe('mail-summary');
  expect(findCanary(JSON.stringify({ a: [canary('message-text')] }))).toBe('message-text');
  expect(findCanary(Buffer.from(canary('message-attachment')))).toBe('message-attachment');
});

test('a mark is found in UTF-16, base64 and hex', () => {
  for (const lead of ['', 'a', 'ab', 'abc']) {
    expect(findCanary(Buffer.from(`${lead}${canary('mail-body')} tail`).toString('base64')), `base64 after "${lead}"`).toBe('disguised');
  }
  expect(findCanary(Buffer.from(canary('mail-body'), 'utf16le'))).toBe('disguised');
  expect(findCanary(Buffer.from(canary('mail-body')).toString('hex'))).toBe('disguised');
});

test('nothing is found where nothing is', () => {
  expect(findCanary('A subject, a sender, canary yellow')).toBeNull();
  expect(findCanary(new Uint8Array(0))).toBeNull();
});
