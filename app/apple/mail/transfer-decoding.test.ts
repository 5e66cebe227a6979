import { expect, test } from 'vitest';
import { Random } from '../../testing/random.ts';
import { Pace } from './pace.ts';
import { decodedSize, transferDecoded } from './transfer-decoding.ts';

const decoded = (encoding: string, body: string | Buffer): Promise<Buffer> => transferDecoded(encoding, Buffer.from(body as string, 'latin1'), new Pace());
const MB = 1024 * 1024;

// RFC 2045, 6.7 and 6.8.
test.each([
  ['quoted-printable', 'a=3Db=3db', 'a=b=b'],
  ['quoted-printable', 'a= \t\r\nb=\nc', 'abc'],
  ['quoted-printable', 'a=\t', 'a'],
  ['quoted-printable', 'a=', 'a'],
  ['quoted-printable', 'a= b=4=4G==41', 'a= b=4=4G=A'],
  ['base64', 'SGk=\r\n-- footer', 'Hi'],
  ['base64', 'S G\r\nk!h', 'Hi!'],
  ['base64', 'SGkhS', 'Hi!'],
  ['7bit', 'a=3D', 'a=3D'],
])('%s of %j', async (encoding, body, expected) => {
  expect((await decoded(encoding, body)).toString('latin1')).toBe(expected);
});

test('the size is that of what is decoded', async () => {
  const random = new Random(7);
  for (let round = 0; round < 2000; round += 1) {
    const body = Buffer.from(Array.from({ length: random.between(0, 60) }, () => random.pick([...'AZaz09+/-_ \r\n\t=!\u00e4'])).join(''), 'latin1');
    for (const encoding of ['base64', 'quoted-printable', '8bit']) {
      expect(await decodedSize(encoding, body, new Pace()), `${encoding} of ${JSON.stringify(body.toString('latin1'))}`).toBe((await transferDecoded(encoding, body, new Pace())).length);
    }
  }
});

test('a long body is decoded as a short one is, wherever its stretches end', async () => {
  const bytes = Buffer.from(Array.from({ length: 3 * MB + 1 }, (_, at) => (at * 31) % 251));
  for (const width of [73, 76, 77]) {
    const base64 = Buffer.from(bytes.toString('base64').replace(new RegExp(`.{${width}}`, 'g'), '$&\r\n'));
    expect((await transferDecoded('base64', base64, new Pace())).equals(bytes), `lines of ${width}`).toBe(true);
    expect(await decodedSize('base64', base64, new Pace())).toBe(bytes.length);
  }
  const quoted = Buffer.from(Array.from(bytes, (byte) => `=${byte.toString(16).padStart(2, '0')}`).join(''));
  for (const lead of ['', 'x', 'xy']) {
    const body = Buffer.concat([Buffer.from(lead), quoted]);
    expect((await transferDecoded('quoted-printable', body, new Pace())).subarray(lead.length).equals(bytes)).toBe(true);
    expect(await decodedSize('quoted-printable', body, new Pace())).toBe(bytes.length + lead.length);
  }
});
