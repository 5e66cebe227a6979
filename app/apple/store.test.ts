import Database from 'better-sqlite3';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { asNobody } from '../testing/as-nobody.ts';
import { tempFolder, type TempFolder } from '../testing/temp.ts';
import { StoreError } from './reader.ts';
import { Store, troubleOf } from './store.ts';

const folders: TempFolder[] = [];
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const folder of folders.splice(0)) folder.remove();
});

function folder(): TempFolder {
  const made = tempFolder('belfry-store');
  folders.push(made);
  return made;
}

/** A small WAL database; stays open as its writer does. */
function writer(path: string): Database.Database {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE IF NOT EXISTS items (ROWID INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT)');
  db.exec(`INSERT INTO items (name) VALUES ('one'), ('two')`);
  return db;
}

const open = (path: string, tables = ['items']): Store => {
  const store = new Store(path, { tables });
  store.open();
  return store;
};

function troubleAt(path: string, tables?: string[]): string {
  try {
    open(path, tables).close();
    return 'readable';
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    expect(error.message).not.toMatch(/\/|SELECT|sqlite/i);
    return error.kind;
  }
}

describe('opening', () => {
  test('tells absent, broken and foreign files apart', () => {
    const { at } = folder();
    writer(at('good')).close();
    writeFileSync(at('empty'), '');
    writeFileSync(at('short'), 'SQLite');
    writeFileSync(at('text'), 'This is no database at all, only a line of text.');
    writeFileSync(at('torn'), Buffer.concat([Buffer.from('SQLite format 3\0', 'latin1'), Buffer.alloc(4096, 0xa5)]));
    mkdirSync(at('directory'));
    expect(troubleAt(at('good'))).toBe('readable');
    expect(troubleAt(at('good'), ['messages'])).toBe('broken');
    expect(troubleAt(at('nothing'))).toBe('not_there');
    expect(troubleAt(at('no', 'folder', 'file'))).toBe('not_there');
    expect(troubleAt(at('good', 'below'))).toBe('not_there');
    for (const name of ['empty', 'short', 'text', 'torn', 'directory']) expect(troubleAt(at(name)), name).toBe('broken');
  });

  test('a fifo does not hang it', () => {
    const { at } = folder();
    expect(spawnSync('mkfifo', [at('fifo')]).status).toBe(0);
    expect(['broken', 'busy']).toContain(troubleAt(at('fifo')));
  });

  test('a file that may not be read, or lies behind a closed folder, is not_permitted', () => {
    const { at, path } = folder();
    writer(at('store')).close();
    chmodSync(path, 0o755);
    chmodSync(at('store'), 0o000);
    expect(asNobody(() => troubleAt(at('store')))).toBe('not_permitted');
    chmodSync(at('store'), 0o644);
    chmodSync(path, 0o000);
    expect(asNobody(() => troubleAt(at('store')))).toBe('not_permitted');
    chmodSync(path, 0o755);
  });

  test('a store that another process holds exclusively is busy, and quickly said so', async () => {
    const { at } = folder();
    writer(at('store')).close();
    const script = `
      const Database = require('better-sqlite3');
      const db = new Database(process.argv[1]);
      db.pragma('locking_mode = EXCLUSIVE');
      db.exec("BEGIN EXCLUSIVE; INSERT INTO items (name) VALUES ('held')");
      console.log('held'); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['-e', script, at('store')], { cwd: new URL('../..', import.meta.url), stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    await once(child.stdout, 'data');
    const started = performance.now();
    expect(troubleAt(at('store'))).toBe('busy');
    // The driver by itself would wait five seconds.
    expect(performance.now() - started).toBeLessThan(4000);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(troubleAt(at('store'))).toBe('readable');
  });
});

describe('an open store', () => {
  test('refuses writing and gives its head', () => {
    const { at } = folder();
    const db = writer(at('store'));
    const store = open(at('store'));
    expect(() => store.guard(() => store.db.exec(`DELETE FROM items`))).toThrow(StoreError);
    expect(store.head('items')).toBe(2);
    db.exec('DELETE FROM items WHERE ROWID = 2');
    expect(store.head('items')).toBe(2);
    expect(store.has('items', 'name')).toBe(true);
    expect(store.has('items', 'colour')).toBe(false);
    expect(store.has('nothing')).toBe(false);
    store.close();
    db.close();
  });

  test('its data version moves with foreign commits only', () => {
    const { at } = folder();
    const db = writer(at('store'));
    const store = open(at('store'));
    const before = store.dataVersion();
    expect(store.dataVersion()).toBe(before);
    db.exec(`INSERT INTO items (name) VALUES ('three')`);
    expect(store.dataVersion()).not.toBe(before);
    store.close();
    db.close();
  });

  test('sees the rows of an uncheckpointed log, and one state in a transaction', () => {
    const { at } = folder();
    const db = writer(at('store'));
    db.pragma('wal_autocheckpoint = 0');
    const store = open(at('store'));
    const count = (): unknown => store.statement('SELECT COUNT(*) FROM items', 'pluck').get();
    const seen = store.transaction('count', () => {
      const first = count();
      db.exec(`INSERT INTO items (name) VALUES ('three')`);
      return [first, count()];
    });
    expect(seen).toEqual([2, 2]);
    expect(count()).toBe(3);
    store.close();
    db.close();
  });

  test('an error within a transaction ends it', () => {
    const { at } = folder();
    const db = writer(at('store'));
    const store = open(at('store'));
    expect(() => store.transaction('none', () => store.statement('SELECT * FROM nowhere').all())).toThrow(StoreError);
    expect(store.db.inTransaction).toBe(false);
    store.close();
    db.close();
  });

  test('a slow read is named', () => {
    const { at } = folder();
    writer(at('store')).close();
    const slow: string[] = [];
    const store = new Store(at('store'), { tables: ['items'], slowMs: 0, onSlow: (name) => slow.push(name) });
    store.open();
    store.transaction('items', () => store.head('items'));
    expect(slow).toEqual(['items']);
    store.close();
  });

  test('closed, it says not_there instead of failing otherwise', () => {
    const { at } = folder();
    writer(at('store')).close();
    const store = open(at('store'));
    store.close();
    expect(store.replaced()).toBe(false);
    expect(() => store.dataVersion()).toThrow(StoreError);
  });
});

describe('replaced', () => {
  test('another file under the path, or none', () => {
    const { at } = folder();
    const db = writer(at('store'));
    const store = open(at('store'));
    const { ino } = store.identity();
    expect(ino).toMatch(/^\d+$/);
    expect(store.replaced()).toBe(false);
    writer(at('next')).close();
    db.close();
    renameSync(at('next'), at('store'));
    expect(store.replaced()).toBe(true);
    store.close();
    store.open();
    expect(store.identity().ino).not.toBe(ino);
    expect(store.replaced()).toBe(false);
    rmSync(at('store'));
    expect(store.replaced()).toBe(true);
    store.close();
  });

  test('a write-ahead log that became another', () => {
    const { at } = folder();
    const db = writer(at('store'));
    const store = open(at('store'));
    expect(store.replaced()).toBe(false);
    // A new file while the old one is still there: the inode cannot be the same.
    writeFileSync(at('other'), '');
    renameSync(at('other'), at('store-wal'));
    expect(store.replaced()).toBe(true);
    store.close();
    db.close();
  });

  test('a first write-ahead log is no change', () => {
    const { at } = folder();
    const db = new Database(at('store'));
    db.exec('CREATE TABLE items (name TEXT)');
    const store = open(at('store'));
    expect(store.replaced()).toBe(false);
    db.close();
    writeFileSync(at('store-wal'), '');
    expect(store.replaced()).toBe(false);
    rmSync(at('store-wal'));
    expect(store.replaced()).toBe(true);
    store.close();
  });
});

test.each([
  ['SQLITE_BUSY', 'busy'], ['SQLITE_BUSY_RECOVERY', 'busy'], ['SQLITE_BUSY_SNAPSHOT', 'busy'], ['SQLITE_LOCKED', 'busy'], ['SQLITE_PROTOCOL', 'busy'],
  ['SQLITE_AUTH', 'not_permitted'], ['SQLITE_PERM', 'not_permitted'],
  ['SQLITE_NOTADB', 'broken'], ['SQLITE_CORRUPT', 'broken'], ['SQLITE_IOERR_READ', 'broken'], ['SQLITE_ERROR', 'broken'],
] as const)('%s is %s', (code, kind) => {
  expect(troubleOf(code)).toBe(kind);
});
