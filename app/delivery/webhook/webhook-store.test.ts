import Database from 'better-sqlite3';
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { webhookIdOf, type WebhookRecord } from './webhook-record.ts';
import { WebhookStore } from './webhook-store.ts';

const key = () => randomBytes(32).toString('base64');
const recordOf = (url = 'https://hooks.example.net/secret-path'): WebhookRecord => {
  const of = { client: '0a1b2c3d', type: 'mail.received' as const, arguments: { from: ['ada@example.org'] }, callback: { url, host: 'hooks.example.net' } };
  return { ...of, id: webhookIdOf(of), createdAt: 1, key: 'c2lnbmluZyBrZXk=', previous: null, expiresAt: null, gap: false, ending: null };
};

test('what was put is there again, with its position', () => {
  const db = new Database(':memory:');
  const own = key();
  const record = recordOf();
  new WebhookStore(db, own).put(record, 'v1.1-1.5.00000000');
  const store = new WebhookStore(db, own);
  expect(store.load()).toEqual([{ id: record.id, record, cursor: 'v1.1-1.5.00000000' }]);
  store.move(new Map([[record.id, 'v1.1-1.9.00000000']]));
  expect(store.load()[0]!.cursor).toBe('v1.1-1.9.00000000');
  store.put({ ...record, gap: true }, 'v1.1-1.9.00000000');
  expect(store.load()).toMatchObject([{ record: { gap: true } }]);
  store.remove(record.id);
  expect(store.load()).toEqual([]);
});

test('at rest nothing of it lies in clear: no address, no URL, no secret, no client', () => {
  const db = new Database(':memory:');
  new WebhookStore(db, key()).put(recordOf(), 'v1.1-1.5.00000000');
  const bytes = db.serialize().toString('latin1');
  for (const word of ['ada@', 'example', 'hooks', 'secret-path', 'c2lnbmluZyBrZXk', '0a1b2c3d', 'mail.received']) expect(bytes, word).not.toContain(word);
});

test('another key, a changed byte or another id: it does not open', () => {
  const own = key();
  for (const spoil of [
    (db: Database.Database) => new WebhookStore(db, key()),
    (db: Database.Database) => {
      const sealed = db.prepare('SELECT sealed FROM webhook').pluck().get() as Buffer;
      sealed[sealed.length - 1]! ^= 1;
      db.prepare('UPDATE webhook SET sealed = ?').run(sealed);
      return new WebhookStore(db, own);
    },
    (db: Database.Database) => {
      db.exec(`UPDATE webhook SET id = 'sub_0'`);
      return new WebhookStore(db, own);
    },
  ]) {
    const db = new Database(':memory:');
    new WebhookStore(db, own).put(recordOf(), 'v1.1-1.5.00000000');
    expect(spoil(db).load()).toMatchObject([{ record: null }]);
  }
});

test('the id is made of client, URL, name and arguments, whatever the order of keys', () => {
  const of = { client: '0a1b2c3d', type: 'mail.received' as const, arguments: { from: ['a@example.org'], subdomains: true }, callback: { url: 'https://hooks.example.net/a', host: 'hooks.example.net' } };
  const id = webhookIdOf(of);
  expect(webhookIdOf({ ...of, arguments: { subdomains: true, from: ['a@example.org'] } })).toBe(id);
  const others = [{ ...of, client: '0a1b2c3e' }, { ...of, type: 'messages.received' as const }, { ...of, arguments: { from: ['b@example.org'], subdomains: true } }, { ...of, callback: { ...of.callback, url: 'https://hooks.example.net/b' } }];
  expect(new Set([id, ...others.map(webhookIdOf)]).size).toBe(5);
});
