import Database from 'better-sqlite3';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkpointRestart, makeBroken, mailIndex, replaceStore, replaceStoreSameInode, walInode, walSize } from './store-surgery.ts';
import { MessagesStore } from './messages-store.ts';
import { tempFolder, type TempFolder } from './temp.ts';
import { startWriter, type Writer } from './writer-client.ts';

let folder: TempFolder;
let writer: Writer;
let index: string;
let chat: string;
beforeEach(async () => {
  folder = tempFolder();
  const mailDir = folder.at('Mail', 'V10');
  index = join(mailDir, 'MailData', 'Envelope Index');
  chat = folder.at('Messages', 'chat.db');
  writer = await startWriter({ mailDir, messagesDb: chat, addressBookDir: folder.at('AddressBook') });
});
afterEach(async () => {
  await writer.stop();
  folder.remove();
});

const account = { description: 'iCloud', email: 'me@icloud.example', kind: 'imap' } as const;

test('another process writes, the WAL is live, and a reader here sees the commits', async () => {
  expect(writer.pid).not.toBe(process.pid);
  await writer.mail.addAccount(account);
  const before = process.hrtime.bigint();
  const mail = await writer.mail.arrive({ subject: 'Over IPC' });
  const message = await writer.messages.arrive({ text: 'Over IPC' });
  const after = process.hrtime.bigint();
  // One monotonic clock for both processes.
  expect(mail.committedAt).toBeGreaterThan(before);
  expect(message.committedAt).toBeGreaterThan(mail.committedAt);
  expect(message.committedAt).toBeLessThan(after);
  for (const path of [index, chat]) {
    expect(walSize(path)).toBeGreaterThan(0);
    expect(existsSync(`${path}-shm`)).toBe(true);
  }
  const reader = new Database(index, { readonly: true, fileMustExist: true });
  const version = reader.pragma('data_version', { simple: true });
  expect(reader.prepare('SELECT MAX(ROWID) AS top FROM messages').get()).toEqual({ top: mail.result });
  await writer.mail.arrive();
  expect(reader.pragma('data_version', { simple: true })).not.toBe(version);
  reader.close();
  await writer.contacts.addContact({ first: 'Ann', last: 'Example', phones: ['(555) 010-0123'], emails: ['Ann@Example.org'] });
});

test('failures come back as errors and the writer goes on', async () => {
  await expect(writer.call('mail.nothing')).rejects.toThrow('No operation mail.nothing');
  await expect(writer.mail.arrive()).rejects.toThrow('addAccount');
  await writer.mail.addAccount(account);
  expect((await writer.mail.arrive()).result).toBe(1);
});

test('a burst keeps its rate and reports every commit', async () => {
  await writer.mail.addAccount(account);
  for (const store of ['mail', 'messages'] as const) {
    const arrivals = await writer.burst({ store, n: 50, perSecond: 200, senders: ['a@example.org', 'b@example.org'] });
    expect(arrivals.map((arrival) => arrival.rowid)).toEqual(Array.from({ length: 50 }, (_, nth) => nth + 1));
    const spanMs = Number((arrivals.at(-1)?.committedAt ?? 0n) - (arrivals[0]?.committedAt ?? 0n)) / 1e6;
    expect(spanMs).toBeGreaterThan(200);
    // A quarter of a second where the processor is free.
    expect(spanMs).toBeLessThan(10_000);
  }
});

test('the WAL restarts at the same size, and is made anew', async () => {
  await writer.mail.addAccount(account);
  for (let nth = 0; nth < 5; nth += 1) await writer.mail.arrive();
  const size = walSize(index);
  expect((await writer.store.checkpointRestart('mail')).result).toBe(true);
  await writer.mail.arrive();
  expect(walSize(index)).toBe(size);
  const inode = walInode(index);
  const reader = new Database(index, { readonly: true });
  reader.prepare('SELECT COUNT(*) FROM messages').get();
  reader.close();
  await writer.store.recreateWal('mail');
  await writer.mail.arrive();
  expect(walInode(index)).not.toBeNull();
  expect(inode).not.toBeNull();
  expect((await writer.store.query<{ n: number }>('mail', 'SELECT COUNT(*) AS n FROM messages')).result).toEqual([{ n: 7 }]);
});

test('an exclusive phase makes readers busy, and passes', async () => {
  await writer.messages.arrive();
  await writer.store.holdExclusive('messages');
  const read = (): unknown => {
    const reader = new Database(chat, { readonly: true, timeout: 20 });
    try {
      return reader.prepare('SELECT COUNT(*) AS n FROM message').get();
    } finally {
      reader.close();
    }
  };
  expect(read).toThrow('database is locked');
  await writer.store.releaseExclusive('messages');
  expect(read()).toEqual({ n: 1 });
  const reader = new Database(chat, { readonly: true });
  reader.prepare('SELECT COUNT(*) FROM message').get();
  await expect(writer.store.holdExclusive('messages')).rejects.toMatchObject({ code: 'SQLITE_BUSY' });
  expect((await writer.messages.arrive()).result).toBe(2);
  reader.close();
});

test('a killed writer leaves its WAL, and another one goes on', async () => {
  await writer.messages.arrive();
  await writer.kill();
  expect(walSize(chat)).toBeGreaterThan(0);
  writer = await startWriter({ messagesDb: chat });
  expect((await writer.messages.arrive()).result).toBe(2);
});

test('stores are replaced by rename and in place', async () => {
  await writer.mail.addAccount(account);
  await writer.mail.arrive();
  const uuid = (await writer.mail.uuid()).result;
  const inode = statSync(index).ino;
  await writer.store.close('mail');
  const build = mailIndex({}, (store) => {
    store.addAccount(account);
    store.arriveMany([{}, {}]);
  });
  replaceStore(index, build);
  expect(statSync(index).ino).not.toBe(inode);
  await writer.store.reopen('mail');
  const second = (await writer.mail.uuid()).result;
  expect(second).not.toBe(uuid);
  expect((await writer.mail.arrive()).result).toBe(3);

  const kept = statSync(index).ino;
  await writer.store.close('mail');
  replaceStoreSameInode(index, build);
  expect(statSync(index).ino).toBe(kept);
  await writer.store.reopen('mail');
  expect((await writer.mail.uuid()).result).not.toBe(second);

  await writer.store.close('messages');
  replaceStore(chat, (path) => MessagesStore.create(path).close());
  await writer.store.reopen('messages');
  expect((await writer.messages.arrive()).result).toBe(1);
  await writer.store.close('messages');
  makeBroken(chat);
  expect(() => new Database(chat, { readonly: true }).prepare('SELECT 1 FROM message').get()).toThrow('not a database');
});

test('a reader that holds a transaction keeps a checkpoint from finishing', () => {
  const own = MessagesStore.create(folder.at('own', 'chat.db'));
  own.arrive();
  const reader = new Database(own.path, { readonly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT COUNT(*) FROM message').get();
  own.db.pragma('busy_timeout = 10');
  own.arrive();
  expect(checkpointRestart(own.db)).toBe(false);
  reader.exec('COMMIT');
  reader.close();
  expect(checkpointRestart(own.db)).toBe(true);
  own.close();
});
