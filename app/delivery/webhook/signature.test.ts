import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { keyOf, signedHeaders } from './signature.ts';

const secretOf = (bytes: number) => `whsec_${randomBytes(bytes).toString('base64')}`;
const now = Math.floor(Date.now() / 1000) * 1000;

test.each([24, 25, 26, 32, 63, 64])('a secret of %i bytes is decoded', (length) => {
  const bytes = randomBytes(length);
  expect(keyOf(`whsec_${bytes.toString('base64')}`)).toEqual(bytes);
  // Padding may be left out.
  expect(keyOf(`whsec_${bytes.toString('base64').replace(/=+$/, '')}`)).toEqual(bytes);
});

test.each<[string, unknown]>([
  ['absent', undefined], ['null', null], ['empty', ''], ['without prefix', randomBytes(32).toString('base64')], ['another prefix', `WHSEC_${randomBytes(32).toString('base64')}`],
  ['8 bytes', secretOf(8)], ['23 bytes', secretOf(23)], ['65 bytes', secretOf(65)], ['base64url', 'whsec_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_'], ['a space', `whsec_ ${randomBytes(32).toString('base64')}`],
  ['bits beyond the last byte', `whsec_${'A'.repeat(33)}B`.slice(0, 40)], ['padding in the middle', `whsec_QUFB=${'A'.repeat(36)}`], ['too much padding', `whsec_${'A'.repeat(32)}==`],
])('refused: %s', (_, secret) => {
  expect(() => keyOf(secret)).toThrow(expect.objectContaining({ code: -32602, message: expect.stringMatching(/^delivery\.secret: /) }));
});

test('the published receiver library accepts it, over the very bytes, with the decoded key', () => {
  const secret = secretOf(32);
  const body = Buffer.from('{"a":"ü\\u0000","b":[1, 2]}');
  const headers = signedHeaders([keyOf(secret)], 'msg_1', now, body);
  expect(new Webhook(secret).verify(body.toString(), headers)).toEqual({ a: 'ü\u0000', b: [1, 2] });
  expect(headers['webhook-timestamp']).toBe(String(now / 1000));
  for (const [changed, text] of [[{ ...headers, 'webhook-id': 'msg_2' }, body.toString()], [headers, `${body.toString()} `], [{ ...headers, 'webhook-timestamp': String(now / 1000 + 1) }, body.toString()]] as const) {
    expect(() => new Webhook(secret).verify(text, changed as Record<string, string>)).toThrow(/signature/);
  }
  expect(() => new Webhook(secretOf(32)).verify(body.toString(), headers)).toThrow(/signature/);
});

test('the value of the specification\'s own example', () => {
  // Worked out with: printf 'msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}' | openssl dgst -sha256 -mac HMAC -macopt hexkey:<base64 -d of the secret> -binary | base64
  const headers = signedHeaders([keyOf('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')], 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330_000, Buffer.from('{"test": 2432232314}'));
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

test('while a secret is replaced both sign, the newer first', () => {
  const [newer, older] = [secretOf(32), secretOf(24)];
  const headers = signedHeaders([keyOf(newer), keyOf(older)], 'msg_1', now, Buffer.from('{}'));
  expect(headers['webhook-signature']!.split(' ')).toHaveLength(2);
  for (const secret of [newer, older]) expect(new Webhook(secret).verify('{}', headers)).toEqual({});
});
