import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { keyOf, signedHeaders } from '../delivery/webhook/signature.ts';
import { tempFolder } from './temp.ts';

const FIVE_MINUTES = 300_000;

/** The check that the README gives to receivers. */
async function readmeCheck(secret: string): Promise<(headers: Record<string, string>, raw: Buffer) => boolean> {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const [code] = [...readme.matchAll(/```js\n([\s\S]*?)```/g)].flatMap(([, block]) => (block!.includes('isGenuine') ? [block!] : []));
  using folder = tempFolder();
  const file = folder.at('check.mjs');
  writeFileSync(file, code!);
  process.env['SECRET'] = secret;
  return ((await import(pathToFileURL(file).href)) as { isGenuine: (headers: Record<string, string>, raw: Buffer) => boolean }).isGenuine;
}

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const body = Buffer.from('{"eventId":"ü","cursor":"v1.1-2.3.0a0b0c0d"}');
const sent = (at = Date.now(), by = secret) => signedHeaders([keyOf(by)], 'msg_1', at, body);

test.each<[string, Record<string, string>, Buffer, boolean]>([
  ['as it was sent', sent(), body, true],
  ['while a secret is replaced, by the older one', signedHeaders([keyOf(`whsec_${randomBytes(24).toString('base64')}`), keyOf(secret)], 'msg_1', Date.now(), body), body, true],
  ['sent again after its time', sent(Date.now() - FIVE_MINUTES - 5000), body, false],
  ['dated ahead', sent(Date.now() + FIVE_MINUTES + 5000), body, false],
  ['sent again with a new time', { ...sent(Date.now() - FIVE_MINUTES - 5000), 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) }, body, false],
  ['under another id', { ...sent(), 'webhook-id': 'msg_2' }, body, false],
  ['with another body', sent(), Buffer.from(`${body.toString()} `), false],
  ['by somebody without the secret', sent(Date.now(), `whsec_${randomBytes(32).toString('base64')}`), body, false],
])('what a receiver is told to check, and a published library, agree: %s', async (_, headers, raw, isTaken) => {
  const isGenuine = await readmeCheck(secret);
  expect(isGenuine(headers, raw)).toBe(isTaken);
  const verify = () => new Webhook(secret).verify(raw, headers);
  if (isTaken) expect(verify()).toMatchObject({ eventId: 'ü' });
  else expect(verify).toThrow();
});
