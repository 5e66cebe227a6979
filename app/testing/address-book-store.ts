import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { schemaObjects } from './schema.ts';
import { SqliteStore, type StoreOptions } from './sqlite-store.ts';

export interface Contact {
  readonly first?: string;
  readonly last?: string;
  readonly nickname?: string;
  readonly organization?: string;
  /** As typed. */
  readonly phones?: readonly string[];
  readonly emails?: readonly string[];
  readonly isMe?: boolean;
  /** Cards of one person in several accounts share it. */
  readonly linkId?: string;
}

const FILE = 'AddressBook-v22.abcddb';
/** Entity number of a contact in this model version; it changes between releases. */
const CONTACT = 22;

/** One AddressBook file. */
class AddressBookFile extends SqliteStore {
  add(contact: Contact): number {
    return this.transaction(() => {
      const now = Date.now() / 1000 - 978_307_200;
      const pk = this.insert('ZABCDRECORD', {
        Z_ENT: CONTACT, Z_OPT: 1, ZCONTAINER1: 1, ZCONTAINERWHERECONTACTISME: contact.isMe === true ? 1 : null, ZDISPLAYFLAGS: 0,
        ZCREATIONDATE: now, ZMODIFICATIONDATE: now, ZUNIQUEID: `${crypto.randomUUID().toUpperCase()}:ABPerson`, ZLINKID: contact.linkId ?? null,
        ZFIRSTNAME: contact.first ?? null, ZLASTNAME: contact.last ?? null, ZNICKNAME: contact.nickname ?? null,
        ZORGANIZATION: contact.organization ?? null, ZSORTINGFIRSTNAME: contact.first ?? null, ZSORTINGLASTNAME: contact.last ?? null,
      });
      contact.phones?.forEach((phone, index) => {
        this.insert('ZABCDPHONENUMBER', {
          Z_ENT: 20, Z_OPT: 1, ZISPRIMARY: index === 0 ? 1 : 0, ZORDERINGINDEX: index, ZOWNER: pk, Z22_OWNER: CONTACT, ZFULLNUMBER: phone,
          ZLABEL: '_$!<Mobile>!$_', ZLASTFOURDIGITS: phone.replaceAll(/\D/g, '').slice(-4), ZUNIQUEID: crypto.randomUUID().toUpperCase(),
        });
      });
      contact.emails?.forEach((email, index) => {
        this.insert('ZABCDEMAILADDRESS', {
          Z_ENT: 14, Z_OPT: 1, ZISPRIMARY: index === 0 ? 1 : 0, ZORDERINGINDEX: index, ZOWNER: pk, Z22_OWNER: CONTACT, ZADDRESS: email,
          ZADDRESSNORMALIZED: email.toLowerCase(), ZLABEL: '_$!<Home>!$_', ZUNIQUEID: crypto.randomUUID().toUpperCase(),
        });
      });
      this.#changed(now);
      return pk;
    });
  }

  rename(pk: number, first: string, last: string): void {
    this.transaction(() => {
      this.run('UPDATE ZABCDRECORD SET ZFIRSTNAME = ?, ZLASTNAME = ? WHERE Z_PK = ?', first, last, pk);
      this.#changed(Date.now() / 1000 - 978_307_200);
    });
  }

  remove(pk: number): void {
    this.transaction(() => {
      for (const table of ['ZABCDPHONENUMBER', 'ZABCDEMAILADDRESS']) this.run(`DELETE FROM ${table} WHERE ZOWNER = ?`, pk);
      this.run('DELETE FROM ZABCDRECORD WHERE Z_PK = ?', pk);
      this.#changed(Date.now() / 1000 - 978_307_200);
    });
  }

  #changed(seconds: number): void {
    this.insert('ATRANSACTION', { Z_ENT: 1, Z_OPT: 1, ZTIMESTAMP: seconds, ZAUTHOR: 'test', ZBUNDLEID: 'com.apple.AddressBook' });
  }
}

/** The Contacts folder: a nearly empty top file, and one file per account below `Sources`. */
export class AddressBookStore {
  readonly dir: string;
  readonly top: AddressBookFile;
  readonly sources = new Map<string, AddressBookFile>();
  readonly #options: StoreOptions;

  private constructor(dir: string, options: StoreOptions) {
    this.dir = dir;
    this.#options = options;
    this.top = newFile(join(dir, FILE), options);
  }

  static create(dir: string, options: StoreOptions = {}): AddressBookStore {
    const store = new AddressBookStore(dir, options);
    store.top.add({ first: 'Own', last: 'Card', emails: ['me@example.org'], isMe: true });
    store.addSource();
    return store;
  }

  /** Monotonic clock before the last COMMIT of any file. */
  get committedAt(): bigint {
    return [this.top, ...this.sources.values()].reduce((latest, file) => (file.committedAt > latest ? file.committedAt : latest), 0n);
  }

  /** A further account; gives its identifier. */
  addSource(id: string = crypto.randomUUID().toUpperCase()): string {
    this.sources.set(id, newFile(join(this.dir, 'Sources', id, FILE), this.#options));
    return id;
  }

  /** Adds a card to a source (default the first one), or to the top file with 'top'. Gives its Z_PK. */
  addContact(contact: Contact, source?: string): number {
    return this.#file(source).add(contact);
  }

  renameContact(pk: number, first: string, last: string, source?: string): void {
    this.#file(source).rename(pk, first, last);
  }

  removeContact(pk: number, source?: string): void {
    this.#file(source).remove(pk);
  }

  close(): void {
    for (const file of [this.top, ...this.sources.values()]) file.close();
  }

  #file(source: string | undefined): AddressBookFile {
    if (source === 'top') return this.top;
    const found = source === undefined ? [...this.sources.values()][0] : this.sources.get(source);
    if (found === undefined) throw new Error('No such source.');
    return found;
  }
}

function newFile(path: string, options: StoreOptions): AddressBookFile {
  mkdirSync(join(path, '..'), { recursive: true });
  SqliteStore.build(path, schemaObjects('address-book.sql'));
  const file = new AddressBookFile(path, options);
  file.transaction(() => {
    file.insert('Z_METADATA', { Z_VERSION: 1, Z_UUID: crypto.randomUUID().toUpperCase() });
    for (const [ent, name] of [[1, 'ATransaction'], [14, 'ABCDEmailAddress'], [20, 'ABCDPhoneNumber'], [CONTACT, 'ABCDContact'], [23, 'ABCDSubscribedContact'], [24, 'ABCDGroup']] as const) {
      file.insert('Z_PRIMARYKEY', { Z_ENT: ent, Z_NAME: name, Z_SUPER: 0, Z_MAX: 0 });
    }
  });
  return file;
}
