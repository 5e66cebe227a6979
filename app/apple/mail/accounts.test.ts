import { rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { AccountsStore } from '../../testing/accounts-store.ts';
import { encodePlist, Uid } from '../../testing/binary-plist.ts';
import { tempFolder } from '../../testing/temp.ts';
import { Accounts, unarchive } from './accounts.ts';

const A = 'AAAAAAAA-0000-4000-8000-000000000001';
const B = 'BBBBBBBB-0000-4000-8000-000000000002';

test('descriptions, roles and own addresses', () => {
  using folder = tempFolder('belfry-accounts');
  const path = folder.at('Accounts4.sqlite');
  const store = AccountsStore.create(path);
  store.addAccount({ id: A, description: 'iCloud', email: 'Me@Example.ORG', type: 'IMAP', parentType: 'AppleAccount', properties: { SentMessagesMailboxName: 'Sent Messages' } });
  store.addAccount({ id: B, description: 'Office', email: 'exchange-user', type: 'Exchange', parentType: null, properties: {} });
  store.insert('ZACCOUNTPROPERTY', { Z_ENT: 3, Z_OPT: 1, ZOWNER: 2, ZKEY: 'EmailAliases', ZVALUE: encodePlist([{ EmailAddresses: ['Alias@example.org'], Name: 'Me' }]) });
  store.insert('ZACCOUNTPROPERTY', { Z_ENT: 3, Z_OPT: 1, ZOWNER: 2, ZKEY: 'Picture', ZVALUE: Buffer.from('bplist00 but broken') });
  store.insert('ZACCOUNTPROPERTY', { Z_ENT: 3, Z_OPT: 1, ZOWNER: 2, ZKEY: 'TrashMailboxName', ZVALUE: Buffer.from('bplist00 but broken') });
  const accounts = new Accounts(path);
  expect(accounts.get(A)).toBeUndefined();
  expect(accounts.refresh()).toBe(true);
  expect(accounts.get(A)?.description).toBe('iCloud');
  expect(accounts.get(A.toLowerCase())?.id).toBe(A);
  expect([...(accounts.get(A)?.roles ?? [])]).toEqual([['sent', 'Sent Messages']]);
  expect(accounts.get(B)?.description).toBe('Office');
  expect([...accounts.ownAddresses()].sort()).toEqual(['alias@example.org', 'me@example.org']);
  // Nothing changed: not read again. A new description shows.
  expect(accounts.refresh()).toBe(false);
  store.describe(A, 'Home');
  expect(accounts.refresh()).toBe(true);
  expect(accounts.get(A)?.description).toBe('Home');
  store.close();
});

test('absent, broken, then there, then gone', () => {
  using folder = tempFolder('belfry-accounts');
  const path = folder.at('Accounts4.sqlite');
  const accounts = new Accounts(path);
  expect(accounts.refresh()).toBe(false);
  writeFileSync(path, 'not a database, whatever the name says');
  expect(accounts.refresh()).toBe(false);
  rmSync(path);
  const store = AccountsStore.create(path);
  store.addAccount({ id: A, description: 'iCloud', email: 'me@example.org', type: 'IMAP', parentType: null, properties: {} });
  store.close();
  expect(accounts.refresh()).toBe(true);
  expect(accounts.get(A)?.description).toBe('iCloud');
  rmSync(path);
  expect(accounts.refresh()).toBe(true);
  expect(accounts.get(A)).toBeUndefined();
  expect(accounts.ownAddresses().size).toBe(0);
  expect(new Accounts(null).refresh()).toBe(false);
});

test('values of properties', () => {
  const archive = (...objects: Parameters<typeof encodePlist>[0][]) =>
    encodePlist({ $version: 100000, $archiver: 'NSKeyedArchiver', $top: { root: new Uid(1) }, $objects: ['$null', ...objects] });
  expect(unarchive('plain')).toBe('plain');
  expect(unarchive(encodePlist('Sent'))).toBe('Sent');
  expect(unarchive(archive('Gesendete Objekte'))).toBe('Gesendete Objekte');
  expect(unarchive(archive({ 'NS.string': 'Sent' }))).toBe('Sent');
  expect(unarchive(archive({ 'NS.objects': [new Uid(2), new Uid(3)] }, 'a@example.org', 'b@example.org'))).toEqual(['a@example.org', 'b@example.org']);
  expect(unarchive(archive({ 'NS.keys': [new Uid(2)], 'NS.objects': [new Uid(3)] }, 'key', 'value'))).toEqual({ key: 'value' });
  // A list that holds itself ends.
  expect(() => unarchive(archive({ 'NS.objects': [new Uid(1)] }))).not.toThrow();
  expect(unarchive(Buffer.from('neither'))).toBeUndefined();
  expect(unarchive(null)).toBeUndefined();
});
