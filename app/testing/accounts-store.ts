import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { archivedString } from './binary-plist.ts';
import { schemaObjects } from './schema.ts';
import { SqliteStore, type StoreOptions } from './sqlite-store.ts';

export interface AccountEntry {
  readonly id: string;
  readonly description: string;
  readonly email: string;
  /** `com.apple.account.` and this. */
  readonly type: string;
  readonly parentType: string | null;
  /** Properties of the mail account, e.g. `DraftsMailboxName`. */
  readonly properties: { readonly [key: string]: string };
}

/** Accounts4.sqlite: a parent that carries description and user name, a child that is the mail account. */
export class AccountsStore extends SqliteStore {
  static create(path: string, options: StoreOptions = {}): AccountsStore {
    mkdirSync(dirname(path), { recursive: true });
    SqliteStore.build(path, schemaObjects('accounts.sql'));
    const store = new AccountsStore(path, options);
    store.transaction(() => {
      for (const [ent, name] of [[1, 'AccessOptionsKey'], [2, 'Account'], [3, 'AccountProperty'], [4, 'AccountType']] as const) {
        store.insert('Z_PRIMARYKEY', { Z_ENT: ent, Z_NAME: name, Z_SUPER: 0, Z_MAX: 0 });
      }
    });
    return store;
  }

  static openOrCreate(path: string, options: StoreOptions = {}): AccountsStore {
    return existsSync(path) ? new AccountsStore(path, options) : AccountsStore.create(path, options);
  }

  addAccount(entry: AccountEntry): void {
    this.transaction(() => {
      const parent = entry.parentType === null ? null : this.#account(entry.parentType, null, crypto.randomUUID().toUpperCase(), entry.description, entry.email);
      // The child is silent where a parent speaks (data-formats/envelope-index 5).
      const own = this.#account(entry.type, parent, entry.id, parent === null ? entry.description : null, parent === null ? entry.email : null);
      for (const [key, value] of Object.entries(entry.properties)) {
        this.insert('ZACCOUNTPROPERTY', { Z_ENT: 3, Z_OPT: 1, ZOWNER: own, ZKEY: key, ZVALUE: archivedString(value) });
      }
    });
  }

  /** New description of an account, as the owner renames it in System Settings. */
  describe(id: string, description: string): void {
    this.transaction(() => {
      this.run(
        `UPDATE ZACCOUNT SET ZACCOUNTDESCRIPTION = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = (SELECT COALESCE(ZPARENTACCOUNT, Z_PK) FROM ZACCOUNT WHERE ZIDENTIFIER = ?)`,
        description,
        id,
      );
    });
  }

  #account(type: string, parent: number | null, id: string, description: string | null, user: string | null): number {
    const identifier = `com.apple.account.${type}`;
    const typeKey =
      this.value<number>('SELECT Z_PK FROM ZACCOUNTTYPE WHERE ZIDENTIFIER = ?', identifier) ??
      this.insert('ZACCOUNTTYPE', { Z_ENT: 4, Z_OPT: 1, ZACCOUNTTYPEDESCRIPTION: type, ZIDENTIFIER: identifier });
    return this.insert('ZACCOUNT', {
      Z_ENT: 2, Z_OPT: 1, ZACCOUNTTYPE: typeKey, ZPARENTACCOUNT: parent, ZIDENTIFIER: id, ZACCOUNTDESCRIPTION: description, ZUSERNAME: user,
    });
  }
}
