import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError, type StoreTrouble } from '../reader.ts';
import { Store } from '../store.ts';
import { ContactIndex, type Card } from './contact-index.ts';

export interface AddressBookOptions {
  /** `~/Library/Application Support/AddressBook`. */
  readonly folder: string;
  /** ISO 3166 code for numbers that were typed without country code, or null. */
  readonly region: string | null;
}

export interface SourceState {
  /** `top` for the file of the folder itself, `Sources` for the folder of accounts if it cannot be listed, else an account's UUID. */
  readonly source: string;
  readonly state: 'readable' | StoreTrouble;
  /** Cards with a name. */
  readonly cards: number;
}

interface Source {
  readonly path: string;
  readonly signature: string;
  readonly cards: readonly Card[];
  readonly state: 'readable' | StoreTrouble;
}

const USUAL = 'AddressBook-v22.abcddb';
const FILE = /^AddressBook-v(\d+)\.abcddb$/;
/** Entities of people; their numbers differ by release, groups and containers share the table (data-formats/contacts). */
const PEOPLE = `(SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME IN ('ABCDContact', 'ABCDSubscribedContact'))`;
const MOST_REMEMBERED = 20_000;

/**
 * Names from all Contacts sources, united. `nameOf` only looks at memory; `refresh` looks at the files and is for a timer.
 * Names are labels: filters act on handles and addresses.
 */
export class AddressBook {
  readonly #options: AddressBookOptions;
  #sources = new Map<string, Source>();
  #unlisted: StoreTrouble | null = null;
  #index: ContactIndex;
  readonly #remembered = new Map<string, string | null>();

  constructor(options: AddressBookOptions) {
    this.#options = options;
    this.#index = new ContactIndex([], options.region);
  }

  /** Name for a sender as sender.ts normalises it, or null. Never touches a file. */
  nameOf(sender: string): string | null {
    const known = this.#remembered.get(sender);
    if (known !== undefined) return known;
    const name = this.#index.find(sender);
    if (this.#remembered.size >= MOST_REMEMBERED) this.#remembered.clear();
    this.#remembered.set(sender, name);
    return name;
  }

  /** Addresses and numbers of cards that hold the text in their name or in one of them, by name; at most `limit`. */
  search(text: string, limit: number): readonly { readonly name: string; readonly value: string }[] {
    const wanted = fold(text);
    const found: { name: string; value: string }[] = [];
    for (const { cards } of this.#sources.values()) {
      for (const { name, emails, phones } of cards) {
        const named = fold(name).includes(wanted);
        for (const value of [...emails, ...phones]) if (named || fold(value).includes(wanted)) found.push({ name, value });
      }
    }
    return found.sort((a, b) => a.name.localeCompare(b.name)).slice(0, limit);
  }

  /** What can be read, `top` first. */
  states(): readonly SourceState[] {
    const states: SourceState[] = [...this.#sources].map(([source, { state, cards }]) => ({ source, state, cards: cards.length }));
    if (this.#unlisted !== null) states.push({ source: 'Sources', state: this.#unlisted, cards: 0 });
    return states;
  }

  /**
   * Reads the sources whose files changed (size or time of the file or its `-wal`). True if names may have changed.
   * Never throws: a source that cannot be read is a state.
   */
  refresh(): boolean {
    const before = this.#sources;
    const now = new Map<string, Source>();
    for (const [name, path] of this.#list()) now.set(name, this.#look(path, before.get(name)));
    this.#sources = now;
    const changed = now.size !== before.size || [...now].some(([name, source]) => before.get(name)?.cards !== source.cards);
    if (!changed) return false;
    this.#index = new ContactIndex([...now.values()].flatMap((source) => source.cards), this.#options.region);
    this.#remembered.clear();
    return true;
  }

  #list(): [string, string][] {
    this.#unlisted = null;
    const { folder } = this.#options;
    const found: [string, string][] = [['top', fileIn(folder) ?? join(folder, USUAL)]];
    let accounts: string[] = [];
    try {
      accounts = readdirSync(join(folder, 'Sources')).sort();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // No accounts is no trouble: then the top file is all there is.
      if (code !== 'ENOENT') this.#unlisted = code === 'EPERM' || code === 'EACCES' ? 'not_permitted' : 'broken';
    }
    for (const account of accounts) {
      const path = fileIn(join(folder, 'Sources', account));
      if (path !== null) found.push([account, path]);
    }
    return found;
  }

  #look(path: string, known: Source | undefined): Source {
    // Taken before reading: what changes meanwhile is read at the next look.
    const signature = `${stamp(path)} ${stamp(`${path}-wal`)}`;
    if (known?.path === path && known.signature === signature && known.state === 'readable') return known;
    try {
      return { path, signature, cards: readCards(path), state: 'readable' };
    } catch (error) {
      const state = error instanceof StoreError ? error.kind : 'broken';
      // Busy passes: the cards of before stay. An empty list stays the same value, so that nothing is rebuilt for it.
      const cards = state === 'busy' || known?.cards.length === 0 ? (known?.cards ?? []) : [];
      return { path, signature: '', cards, state };
    }
  }
}

/** The file of the highest model version in a folder. A folder that may not be listed gives the usual name, so that opening says why. */
function fileIn(folder: string): string | null {
  try {
    const versions = readdirSync(folder).flatMap((name) => FILE.exec(name)?.[1] ?? []);
    return versions.length === 0 ? null : join(folder, `AddressBook-v${Math.max(...versions.map(Number))}.abcddb`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EPERM' || code === 'EACCES' ? join(folder, USUAL) : null;
  }
}

/** An empty `-wal` comes and goes with readers. */
function stamp(path: string): string {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stat === undefined || stat.size === 0n ? '-' : `${stat.ino}.${stat.size}.${stat.mtimeNs}`;
  } catch {
    return '?';
  }
}

/** Throws StoreError. Opened for the reading only: Contacts is asked rarely. */
function readCards(path: string): Card[] {
  const store = new Store(path, { tables: ['ZABCDRECORD'] });
  store.open();
  try {
    return store.transaction('contacts', () => {
      const record = (column: string) => (store.has('ZABCDRECORD', column) ? column : 'NULL');
      const people = store.has('Z_PRIMARYKEY') && store.has('ZABCDRECORD', 'Z_ENT') ? `WHERE Z_ENT IN ${PEOPLE}` : '';
      const rows = store.db
        .prepare(`SELECT Z_PK, ${record('ZFIRSTNAME')}, ${record('ZLASTNAME')}, ${record('ZORGANIZATION')}, ${record('ZLINKID')} FROM ZABCDRECORD ${people}`)
        .raw()
        .all() as [number, unknown, unknown, unknown, unknown][];
      const phones = valuesByOwner(store, 'ZABCDPHONENUMBER', ['ZFULLNUMBER']);
      const emails = valuesByOwner(store, 'ZABCDEMAILADDRESS', ['ZADDRESS', 'ZADDRESSNORMALIZED']);
      return rows.flatMap(([key, first, last, organization, link]) => {
        // A nickname is not the default name (data-formats/contacts).
        const name = [text(first), text(last)].filter((part) => part !== '').join(' ') || text(organization);
        if (name === '') return [];
        return [{ name, linkId: text(link) || null, phones: phones.get(key) ?? [], emails: emails.get(key) ?? [] }];
      });
    });
  } finally {
    store.close();
  }
}

/** Columns with the entity's number in their name (`Z22_OWNER`) change by release; `ZOWNER` does not. */
function valuesByOwner(store: Store, table: string, columns: readonly string[]): Map<number, string[]> {
  const found = new Map<number, string[]>();
  const present = columns.filter((column) => store.has(table, column));
  if (present.length === 0 || !store.has(table, 'ZOWNER')) return found;
  const rows = store.db.prepare(`SELECT ZOWNER, COALESCE(${present.join(', ')}, NULL) FROM ${table} WHERE ZOWNER IS NOT NULL`).raw().all() as [number, unknown][];
  for (const [owner, value] of rows) {
    if (text(value) === '') continue;
    const list = found.get(owner);
    if (list === undefined) found.set(owner, [text(value)]);
    else list.push(text(value));
  }
  return found;
}

const fold = (value: string) => value.normalize('NFC').toLowerCase();
const text = (value: unknown) => (typeof value === 'string' ? value.trim() : '');
