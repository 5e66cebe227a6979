import Database from 'better-sqlite3';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { asNobody } from './as-nobody.ts';
import { tempFolder, type TempFolder } from './temp.ts';
import { AccessProbe } from '../engine/access.ts';

const MAGIC = 'SQLite format 3\0';

function put(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
}
const index = (folder: TempFolder, version: string) => folder.at('Mail', version, 'MailData', 'Envelope Index');

function probeIn(folder: TempFolder, db = new Database(':memory:'), open: { mail?: string } = {}) {
  const probe = new AccessProbe({
    db, mailDir: folder.at('Mail'), messagesDb: folder.at('chat.db'), now: () => 5, openPath: (kind) => (kind === 'mail' ? (open.mail ?? null) : null),
  });
  return { db, probe };
}

test('before the first look nothing is known', () => {
  using folder = tempFolder();
  const unknown = { state: 'unknown', everRead: false, version: null };
  expect(probeIn(folder).probe.found).toEqual({ mail: unknown, messages: unknown, checkedAt: null });
});

/** ui.md, Full Disk Access: open and read 16 bytes; EPERM, EACCES and an empty read are denied, ENOENT is missing. */
test.each<[string, string | null, number, string]>([
  ['a SQLite file', MAGIC, 0o644, 'readable'],
  ['a longer one', `${MAGIC}and more`, 0o644, 'readable'],
  ['a file of mode 000', MAGIC, 0o000, 'denied'],
  ['an empty file', '', 0o644, 'denied'],
  ['something else', 'not a database at all', 0o644, 'unknown'],
  ['no file', null, 0o644, 'missing'],
])('chat.db is %s: %s', (_what, text, mode, state) => {
  using folder = tempFolder();
  chmodSync(folder.path, 0o755);
  put(index(folder, 'V10'), MAGIC);
  if (text !== null) put(folder.at('chat.db'), text, mode);
  const { probe } = probeIn(folder);
  expect(asNobody(() => probe.look())).toBe(true);
  expect(probe.found.messages).toEqual({ state, everRead: state === 'readable', version: null });
});

test('neither store is there: can’t tell', () => {
  using folder = tempFolder();
  const { probe } = probeIn(folder);
  probe.look();
  expect([probe.found.mail.state, probe.found.messages.state, probe.found.checkedAt]).toEqual(['unknown', 'unknown', 5]);
});

test('the highest version folder is found by name, also where the Mail folder cannot be listed', () => {
  using folder = tempFolder();
  chmodSync(folder.path, 0o755);
  for (const version of ['V2', 'V9', 'V10', 'V21']) put(index(folder, version), MAGIC);
  chmodSync(folder.at('Mail'), 0o711);
  const { probe } = probeIn(folder);
  asNobody(() => probe.look());
  expect(probe.found.mail).toEqual({ state: 'readable', everRead: true, version: 'V10' });
  rmSync(index(folder, 'V10'));
  asNobody(() => probe.look());
  expect(probe.found.mail.version).toBe('V9');
});

test('a folder that lets nothing through is denied', () => {
  using folder = tempFolder();
  chmodSync(folder.path, 0o755);
  put(index(folder, 'V10'), MAGIC);
  chmodSync(folder.at('Mail'), 0o000);
  const { probe } = probeIn(folder);
  asNobody(() => probe.look());
  chmodSync(folder.at('Mail'), 0o755);
  expect(probe.found.mail).toMatchObject({ state: 'denied', everRead: false });
});

test('that a store was read once is kept: lost access is not access that was never given', () => {
  using folder = tempFolder();
  put(folder.at('chat.db'), MAGIC);
  const { db, probe } = probeIn(folder);
  probe.look();
  rmSync(folder.at('chat.db'));
  put(folder.at('chat.db'), '');
  const { probe: again } = probeIn(folder, db);
  expect(again.found.messages).toEqual({ state: 'unknown', everRead: true, version: null });
  again.look();
  expect(again.found).toMatchObject({ messages: { state: 'denied', everRead: true }, mail: { state: 'missing', everRead: false } });
});

test('a store that is open is not opened a second time: that would drop its locks', () => {
  using folder = tempFolder();
  const { probe } = probeIn(folder, undefined, { mail: folder.at('Mail', 'V11', 'MailData', 'Envelope Index') });
  probe.look();
  expect(probe.found.mail).toEqual({ state: 'readable', everRead: true, version: 'V11' });
});

test('looking again tells whether something changed', () => {
  using folder = tempFolder();
  put(folder.at('chat.db'), MAGIC);
  const { probe } = probeIn(folder);
  expect([probe.look(), probe.look()]).toEqual([true, false]);
  rmSync(folder.at('chat.db'));
  expect(probe.look()).toBe(true);
});
