import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { asNobody } from '../../testing/as-nobody.ts';
import { AddressBookStore, type Contact } from '../../testing/address-book-store.ts';
import { makeBroken } from '../../testing/store-surgery.ts';
import { tempFolder, type TempFolder } from '../../testing/temp.ts';
import { AddressBook } from './address-book.ts';

let folder: TempFolder;
beforeEach(() => void (folder = tempFolder()));
afterEach(() => folder.remove());

function book(contacts: readonly Contact[], region: string | null = 'US'): AddressBook {
  const store = AddressBookStore.create(folder.at('AddressBook'));
  for (const contact of contacts) store.addContact(contact);
  const found = new AddressBook({ folder: store.dir, region });
  found.refresh();
  store.close();
  return found;
}

// data-formats/contacts, Matching.
test.each([
  ['as E.164', '+1 (555) 010-1234', '+15550101234', 'Ada Lovelace'],
  ['without country code', '555-010-1234', '+15550101234', 'Ada Lovelace'],
  ['seven digits', '010-1234', '+15550101234', null],
  ['seven digits without a zero in front', '555-0100', '+12125550100', 'Ada Lovelace'],
  ['six digits', '55-0100', '+12125550100', null],
  ['00 prefix', '0044 20 7946 0958', '+442079460958', 'Ada Lovelace'],
  ['trunk zero of another country', '020 7946 0958', '+442079460958', 'Ada Lovelace'],
  ['trunk zero in brackets', '+44 (0)20 7946 0958', '+442079460958', 'Ada Lovelace'],
  ['extension', '(415) 555-2671 ext. 12', '+14155552671', 'Ada Lovelace'],
  ['another country code', '+44 20 7946 0958', '+12079460958', null],
  ['the end of another whole number', '+44 20 7946 0958', '+1442079460958', null],
  ['a digit more in the middle', '415 555 2671', '+14155502671', null],
  ['handle without plus', '+44 20 7946 0958', '442079460958', 'Ada Lovelace'],
  ['a short code', '39781', '39781', null],
  ['an eight-digit code', '+1 555 39781234', '39781234', null],
])('number typed %s', (_case, typed, handle, name) => {
  expect(book([{ first: 'Ada', last: 'Lovelace', phones: [typed] }]).nameOf(handle)).toBe(name);
});

test('numbers of the region beat equal ends', () => {
  const found = book([{ first: 'Ada', phones: ['020 7946 0958'] }, { first: 'Bob', phones: ['+1 207 946 0958'] }], 'GB');
  expect(found.nameOf('+442079460958')).toBe('Ada');
  expect(found.nameOf('+12079460958')).toBe('Bob');
});

test('the longest match wins, two people with the same match give no name', () => {
  const found = book([
    { first: 'Short', phones: ['555-2671'] },
    { first: 'Long', phones: ['415-555-2671'] },
    { first: 'One', phones: ['(212) 555-0199'] },
    { first: 'Two', phones: ['+1 212 555 0199'] },
  ], null);
  expect(found.nameOf('+14155552671')).toBe('Long');
  expect(found.nameOf('+12125550199')).toBe('Two');
  const both = new AddressBook({ folder: folder.at('AddressBook'), region: 'US' });
  both.refresh();
  expect(both.nameOf('+12125550199')).toBeNull();
});

test('cards of one person in two accounts are one', () => {
  const store = AddressBookStore.create(folder.at('AddressBook'));
  store.addContact({ first: 'Ada', last: 'Lovelace', phones: ['+14155552671'], linkId: 'L1' });
  store.addContact({ first: 'Ada', last: 'King', phones: ['+14155552671'], linkId: 'L1' }, store.addSource());
  store.addContact({ first: 'Bob', emails: ['Bob@Example.org'] });
  store.addContact({ first: 'Bob', emails: ['bob@example.org'] }, 'top');
  store.addContact({ first: 'Eve', emails: ['shared@example.org'] });
  store.addContact({ first: 'Mallory', emails: ['shared@example.org'] });
  const found = new AddressBook({ folder: store.dir, region: 'US' });
  found.refresh();
  expect(found.nameOf('+14155552671')).toMatch(/^Ada /);
  expect(found.nameOf('bob@example.org')).toBe('Bob');
  expect(found.nameOf('shared@example.org')).toBeNull();
  expect(found.nameOf('me@example.org')).toBe('Own Card');
  store.close();
});

test.each([
  [{ first: 'Ada', last: 'Lovelace', nickname: 'Countess' }, 'Ada Lovelace'],
  [{ last: 'Lovelace' }, 'Lovelace'],
  [{ organization: 'Analytical Engines' }, 'Analytical Engines'],
  [{ nickname: 'Countess' }, null],
])('display name of %j', (contact, name) => {
  expect(book([{ ...contact, emails: ['ada@example.org'] }]).nameOf('ada@example.org')).toBe(name);
});

test.each(['urn:biz:6c2f7c4e', 'mybank', '', '+', 'ada', '@', '+123'])('%j never has a name', (handle) => {
  expect(book([{ first: 'Ada', phones: ['+14155552671', '39781'], emails: ['ada@example.org'] }]).nameOf(handle)).toBeNull();
});

test('groups share the table and are no people; the number of the entity is looked up', () => {
  const store = AddressBookStore.create(folder.at('AddressBook'));
  const group = store.addContact({ first: 'Group', emails: ['group@example.org'] }, 'top');
  const moved = store.addContact({ first: 'Ada', emails: ['ada@example.org'] }, 'top');
  store.top.run('UPDATE Z_PRIMARYKEY SET Z_ENT = 31 WHERE Z_NAME = ?', 'ABCDContact');
  store.top.run('UPDATE ZABCDRECORD SET Z_ENT = 31 WHERE Z_PK = ?', moved);
  store.top.run('UPDATE ZABCDRECORD SET Z_ENT = 24 WHERE Z_PK = ?', group);
  const found = new AddressBook({ folder: store.dir, region: null });
  found.refresh();
  expect(found.nameOf('ada@example.org')).toBe('Ada');
  expect(found.nameOf('group@example.org')).toBeNull();
  store.close();
});

test('names change only by refresh, and only changed sources are read', () => {
  const store = AddressBookStore.create(folder.at('AddressBook'));
  const ada = store.addContact({ first: 'Ada', emails: ['ada@example.org'] });
  const found = new AddressBook({ folder: store.dir, region: null });
  expect(found.nameOf('ada@example.org')).toBeNull();
  expect(found.refresh()).toBe(true);
  expect(found.refresh()).toBe(false);
  store.renameContact(ada, 'Augusta', 'King');
  expect(found.nameOf('ada@example.org')).toBe('Ada');
  expect(found.refresh()).toBe(true);
  expect(found.nameOf('ada@example.org')).toBe('Augusta King');
  store.removeContact(ada);
  found.refresh();
  expect(found.nameOf('ada@example.org')).toBeNull();
  store.addContact({ first: 'New', emails: ['new@example.org'] }, store.addSource());
  found.refresh();
  expect(found.nameOf('new@example.org')).toBe('New');
  store.close();
  // The last writer leaves and takes the sidecars with it: another look at most, and the same names.
  found.refresh();
  expect(found.refresh()).toBe(false);
  expect(found.nameOf('new@example.org')).toBe('New');
});

test('a source that cannot be read is skipped and told', () => {
  const store = AddressBookStore.create(folder.at('AddressBook'));
  store.addContact({ first: 'Ada', emails: ['ada@example.org'] });
  const second = store.addSource('22222222-0000-4000-8000-000000000000');
  store.addContact({ first: 'Bob', emails: ['bob@example.org'] }, second);
  store.close();
  makeBroken(folder.at('AddressBook', 'Sources', second, 'AddressBook-v22.abcddb'));
  mkdirSync(folder.at('AddressBook', 'Sources', 'empty'));
  writeFileSync(folder.at('AddressBook', 'Sources', '.DS_Store'), '');
  const found = new AddressBook({ folder: store.dir, region: null });
  found.refresh();
  expect(found.nameOf('ada@example.org')).toBe('Ada');
  expect(found.nameOf('bob@example.org')).toBeNull();
  expect(found.states().map(({ state, cards }) => [state, cards]).sort()).toEqual([['broken', 0], ['readable', 1], ['readable', 1]]);
  expect(found.refresh()).toBe(false);
  rmSync(folder.at('AddressBook'), { recursive: true });
  found.refresh();
  expect(found.nameOf('ada@example.org')).toBeNull();
  expect(found.states()).toEqual([{ source: 'top', state: 'not_there', cards: 0 }]);
});

test('denied folders are told apart from absent ones', () => {
  const store = AddressBookStore.create(folder.at('AddressBook'));
  store.close();
  chmodSync(folder.at('AddressBook', 'Sources'), 0);
  const found = new AddressBook({ folder: store.dir, region: null });
  chmodSync(folder.path, 0o755);
  asNobody(() => found.refresh());
  expect(found.states()).toContainEqual({ source: 'Sources', state: 'not_permitted', cards: 0 });
  chmodSync(folder.at('AddressBook', 'Sources'), 0o700);
});
