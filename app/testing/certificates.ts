import { createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

/** A certification authority of this test run, and what it vouches for. PEM. */
export interface Authority {
  readonly ca: string;
  issue(names: readonly string[], validity?: { readonly from: Date; readonly to: Date }): { readonly cert: string; readonly key: string };
}

/** DER (X.690): tag, length, content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
const bytes = (...values: readonly number[]) => Buffer.from(values);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const time = (at: Date) => der(0x18, Buffer.from(`${at.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));
const bits = (content: Uint8Array) => der(0x03, bytes(0), content);

/** ecdsa-with-SHA256, RFC 5758. */
const ALGORITHM = sequence(oid('2a8648ce3d040302'));
const name = (common: string) => sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(common)))));
const extension = (id: string, critical: boolean, value: Uint8Array) => sequence(oid(id), ...(critical ? [der(0x01, bytes(0xff))] : []), der(0x04, value));
const DAY_MS = 86_400_000;

let serial = 0;

function certificate(options: { issuer: string; subject: string; subjectKey: KeyObject; signer: KeyObject; from: Date; to: Date; extensions: readonly Uint8Array[] }): string {
  const { issuer, subject, subjectKey, signer, from, to, extensions } = options;
  const content = sequence(
    der(0xa0, der(0x02, bytes(2))), der(0x02, bytes(0x40, (serial += 1))), ALGORITHM, name(issuer), sequence(time(from), time(to)), name(subject),
    createPublicKey(subjectKey).export({ type: 'spki', format: 'der' }), der(0xa3, sequence(...extensions)),
  );
  const whole = sequence(content, ALGORITHM, bits(sign('sha256', content, signer)));
  return `-----BEGIN CERTIFICATE-----\n${whole.toString('base64').replace(/(.{64})/g, '$1\n').trimEnd()}\n-----END CERTIFICATE-----\n`;
}

/** Made by hand, so that no program is needed for it (RFC 5280; Node has no builder of certificates). */
export function authority(common = 'Belfry test authority'): Authority {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const from = new Date(Date.now() - DAY_MS);
  const to = new Date(Date.now() + DAY_MS);
  const ca = certificate({
    issuer: common, subject: common, subjectKey: own.privateKey, signer: own.privateKey, from, to,
    extensions: [extension('551d13', true, sequence(der(0x01, bytes(0xff)))), extension('551d0f', true, der(0x03, bytes(1, 0x06)))],
  });
  return {
    ca,
    issue(names, validity = { from, to }) {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const cert = certificate({
        issuer: common, subject: names[0]!, subjectKey: privateKey, signer: own.privateKey, ...validity,
        extensions: [extension('551d11', false, sequence(...names.map((each) => der(0x82, Buffer.from(each)))))],
      });
      return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
    },
  };
}
