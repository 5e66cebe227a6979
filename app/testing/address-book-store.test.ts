import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { AddressBookStore } from './address-book-store.ts';
import { tempFolder } from './temp.ts';

test('contacts stand in a source, the own card in the top file', () => {
  using folder = tempFolder();
  const book = AddressBookStore.create(folder.path);
  const pk = book.addContact({ first: 'Ann', last: 'Example', phones: ['0555 / 010-0123'], emails: ['Ann@Example.org'] });
  const [source] = readdirSync(folder.at('Sources'));
  expect(existsSync(folder.at('AddressBook-v22.abcddb'))).toBe(true);
  expect(existsSync(folder.at('Sources', source ?? '', 'AddressBook-v22.abcddb'))).toBe(true);
  const file = book.sources.get(source ?? '');
  expect(file?.get('SELECT ZFULLNUMBER AS number, ZLASTFOURDIGITS AS last FROM ZABCDPHONENUMBER WHERE ZOWNER = ?', pk)).toEqual({ number: '0555 / 010-0123', last: '0123' });
  expect(file?.get('SELECT ZADDRESSNORMALIZED AS address FROM ZABCDEMAILADDRESS')).toEqual({ address: 'ann@example.org' });
  expect(file?.value('SELECT e.Z_NAME FROM ZABCDRECORD r JOIN Z_PRIMARYKEY e ON e.Z_ENT = r.Z_ENT')).toBe('ABCDContact');
  expect(book.top.value('SELECT COUNT(*) FROM ZABCDRECORD WHERE ZCONTAINERWHERECONTACTISME IS NOT NULL')).toBe(1);
  book.close();
});
