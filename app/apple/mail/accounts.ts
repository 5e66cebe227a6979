import { parseBuffer, UID } from 'bplist-parser';
import { statSync } from 'node:fs';
import { StoreError } from '../reader.ts';
import { normaliseAddress } from '../sender.ts';
import { Store } from '../store.ts';

/** Mailbox roles that an account's properties name (data-formats/envelope-index 5). */
const ROLE_KEYS = {
  DraftsMailboxName: 'drafts',
  SentMessagesMailboxName: 'sent',
  TrashMailboxName: 'trash',
  JunkMailboxName: 'junk',
  ArchiveMailboxName: 'archive',
  OutboxMailboxName: 'outbox',
} as const;

type NamedRole = (typeof ROLE_KEYS)[keyof typeof ROLE_KEYS];

/** Keys whose values may list further own addresses. */
const ADDRESS_KEY = /email|alias/i;
/** An archived list of aliases is small; deeper or larger values are none. */
const MAX_DEPTH = 8;

export interface Account {
  /** `ZIDENTIFIER`, upper case. */
  readonly id: string;
  readonly description: string | null;
  /** Mailbox names as the account spells them. */
  readonly roles: ReadonlyMap<NamedRole, string>;
}

interface AccountLine {
  readonly key: number;
  readonly parent: number | null;
  readonly id: unknown;
  readonly description: unknown;
  readonly user: unknown;
}

/**
 * Accounts4.sqlite: names, mailbox roles and own addresses. A file that is absent or may not be read leaves all
 * of it empty (ruling 11); it is looked at again when it changed.
 */
export class Accounts {
  readonly #path: string | null;
  #accounts: ReadonlyMap<string, Account> = new Map();
  #addresses: ReadonlySet<string> = new Set();
  #signature: string | null = null;

  constructor(path: string | null) {
    this.#path = path;
  }

  get(id: string): Account | undefined {
    return this.#accounts.get(id.toUpperCase());
  }

  ownAddresses(): ReadonlySet<string> {
    return this.#addresses;
  }

  /** Reads the file if it changed; true if it did. */
  refresh(): boolean {
    if (this.#path === null) return false;
    const signature = signatureOf(this.#path);
    if (signature === this.#signature) return false;
    try {
      this.#load(this.#path);
      this.#signature = signature;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      // Busy: what was read before stays; otherwise nothing is known. Either way the next call tries again.
      this.#signature = error.kind === 'not_there' ? signature : null;
      if (error.kind === 'busy' || this.#accounts.size === 0) return false;
      this.#accounts = new Map();
      this.#addresses = new Set();
    }
    return true;
  }

  #load(path: string): void {
    const store = new Store(path, { tables: ['ZACCOUNT'] });
    store.open();
    try {
      store.transaction('accounts', () => {
        const lines = readLines(store);
        const properties = readProperties(store);
        this.#accounts = new Map(accountsOf(lines, properties).map((account) => [account.id, account]));
        this.#addresses = addressesOf(lines, properties);
      });
    } finally {
      store.close();
    }
  }
}

/** Changes with each write: size, time and inode of the file and of its write-ahead log. */
function signatureOf(path: string): string {
  return [path, `${path}-wal`]
    .map((file) => {
      try {
        const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
        return stat === undefined ? '-' : `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
      } catch {
        return '?';
      }
    })
    .join(' ');
}

function readLines(store: Store): AccountLine[] {
  const column = (name: string): string => (store.has('ZACCOUNT', name) ? name : 'NULL');
  return store
    .statement(
      `SELECT Z_PK AS key, ${column('ZPARENTACCOUNT')} AS parent, ${column('ZIDENTIFIER')} AS id,
         ${column('ZACCOUNTDESCRIPTION')} AS description, ${column('ZUSERNAME')} AS user FROM ZACCOUNT ORDER BY Z_PK`,
    )
    .all() as AccountLine[];
}

type Properties = ReadonlyMap<number, ReadonlyMap<string, unknown>>;

function readProperties(store: Store): Properties {
  const found = new Map<number, Map<string, unknown>>();
  if (!['ZOWNER', 'ZKEY', 'ZVALUE'].every((name) => store.has('ZACCOUNTPROPERTY', name))) return found;
  const rows = store.statement('SELECT ZOWNER AS owner, ZKEY AS key, ZVALUE AS value FROM ZACCOUNTPROPERTY').all() as {
    owner: number;
    key: unknown;
    value: unknown;
  }[];
  for (const { owner, key, value } of rows) {
    if (typeof key !== 'string' || !(Object.hasOwn(ROLE_KEYS, key) || ADDRESS_KEY.test(key))) continue;
    let own = found.get(owner);
    if (own === undefined) found.set(owner, (own = new Map()));
    own.set(key, unarchive(value));
  }
  return found;
}

function accountsOf(lines: readonly AccountLine[], properties: Properties): Account[] {
  const byKey = new Map(lines.map((line) => [line.key, line]));
  return lines.flatMap((line) => {
    if (typeof line.id !== 'string') return [];
    const parent = line.parent === null ? undefined : byKey.get(line.parent);
    const roles = new Map<NamedRole, string>();
    for (const [key, role] of Object.entries(ROLE_KEYS)) {
      const value = properties.get(line.key)?.get(key) ?? (parent && properties.get(parent.key)?.get(key));
      if (typeof value === 'string' && value !== '') roles.set(role, value);
    }
    // The parent is what the owner named; the mail account below it is silent or says "IMAP".
    return [{ id: line.id.toUpperCase(), description: text(parent?.description) ?? text(line.description), roles }];
  });
}

function addressesOf(lines: readonly AccountLine[], properties: Properties): Set<string> {
  const found = new Set<string>();
  for (const line of lines) addAddresses(line.user, found, 0);
  for (const own of properties.values()) for (const [key, value] of own) if (ADDRESS_KEY.test(key)) addAddresses(value, found, 0);
  return found;
}

function addAddresses(value: unknown, into: Set<string>, depth: number): void {
  if (typeof value === 'string') {
    if (/^[^\s@]+@[^\s@]+$/.test(value.trim())) into.add(normaliseAddress(value));
  } else if (typeof value === 'object' && value !== null && depth < MAX_DEPTH) {
    for (const [key, item] of Object.entries(value)) {
      addAddresses(key, into, depth + 1);
      addAddresses(item, into, depth + 1);
    }
  }
}

const text = (value: unknown): string | null => (typeof value === 'string' && value.trim() !== '' ? value : null);

/** A property's value: text, or a binary property list, plain or written by NSKeyedArchiver; undefined if neither. */
export function unarchive(value: unknown): unknown {
  if (typeof value === 'string') return value;
  if (!Buffer.isBuffer(value)) return undefined;
  let root: unknown;
  try {
    root = parseBuffer<unknown>(value)[0];
  } catch {
    return undefined;
  }
  const archive = root as { $top?: { root?: unknown }; $objects?: unknown[] };
  return Array.isArray(archive?.$objects) ? resolve(archive.$top?.root, archive.$objects, 0) : root;
}

/** Follows the references of a keyed archive: strings, arrays and dictionaries. */
function resolve(value: unknown, objects: readonly unknown[], depth: number): unknown {
  if (depth > MAX_DEPTH) return undefined;
  if (value instanceof UID) return resolve(objects[value.UID], objects, depth + 1);
  if (typeof value !== 'object' || value === null) return value;
  const entry = value as { 'NS.string'?: unknown; 'NS.objects'?: unknown; 'NS.keys'?: unknown };
  if (entry['NS.string'] !== undefined) return entry['NS.string'];
  if (!Array.isArray(entry['NS.objects'])) return undefined;
  const items = entry['NS.objects'].map((item) => resolve(item, objects, depth + 1));
  if (!Array.isArray(entry['NS.keys'])) return items;
  return Object.fromEntries(entry['NS.keys'].map((key, index) => [String(resolve(key, objects, depth + 1)), items[index]]));
}
