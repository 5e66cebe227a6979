import { createHmac, type KeyObject } from 'node:crypto';
import { invalidParams } from '../../events/errors.ts';

const PREFIX = 'whsec_';
/** Bytes of a decoded secret (events-extension 9.1). */
const MIN_BYTES = 24;
const MAX_BYTES = 64;

/**
 * The key of `delivery.secret`: the decoded bytes, not the text. One spelling only, so that both sides sign with the same.
 * @throws EventsError -32602
 */
export function keyOf(value: unknown): Buffer {
  const rule = `delivery.secret: must be "${PREFIX}" and base64 of ${MIN_BYTES} to ${MAX_BYTES} bytes`;
  if (typeof value !== 'string' || !value.startsWith(PREFIX)) throw invalidParams(rule);
  const text = value.slice(PREFIX.length);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw invalidParams(rule);
  const key = Buffer.from(text, 'base64');
  const unpadded = (base64: string) => base64.replace(/=+$/, '');
  const isWhole = unpadded(key.toString('base64')) === unpadded(text) && (!text.endsWith('=') || text.length % 4 === 0);
  if (!isWhole || key.length < MIN_BYTES || key.length > MAX_BYTES) throw invalidParams(rule);
  return key;
}

/**
 * The headers of Standard Webhooks over the very bytes that are sent. While a secret is being replaced both sign, and a
 * receiver takes whichever it knows.
 * @param at Unix ms
 */
export function signedHeaders(keys: readonly (Buffer | KeyObject)[], id: string, at: number, body: Buffer): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`);
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
