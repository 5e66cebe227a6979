import { lstatSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { corpusMail, emlxFile } from '../../testing/mail-corpus.ts';
import { tempFolder, type TempFolder } from '../../testing/temp.ts';
import { digitFolders, MailFiles, type MailboxPlace } from './mail-files.ts';
import { readMail } from './mail-texts.ts';

const ACCOUNT = 'A0000000-0000-4000-8000-000000000001';
const STORE = 'B0000000-0000-4000-8000-000000000001';
const BOX = { accountId: ACCOUNT, path: 'INBOX' };

/** The file where there is a plain one. */
const find = (files: MailFiles, box: MailboxPlace, rowid: number) => files.open(box, rowid, (path) => (lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? path : null))?.file ?? null;

function put(folder: TempFolder, path: string, content: string | Buffer = emlxFile(Buffer.from('Subject: a\n\nHello\n'))): string {
  const at = folder.at('V10', path);
  mkdirSync(dirname(at), { recursive: true });
  writeFileSync(at, content);
  return at;
}
const inbox = (...rest: string[]): string => join(ACCOUNT, 'INBOX.mbox', STORE, 'Data', ...rest);

// The table of data-formats/envelope-index 7.
test.each([[218, ''], [9865, '9'], [19_926, '9/1'], [262_653, '2/6/2'], [1_234_567, '4/3/2/1']])('folder of %i', (rowid, folders) => {
  expect(digitFolders(rowid).join('/')).toBe(folders);
});

test('files are found by row id, whole before partial, in any store of the mailbox', () => {
  using folder = tempFolder('files');
  const whole = put(folder, inbox('2', '6', '2', 'Messages', '262653.emlx'));
  const partial = put(folder, inbox('Messages', '218.partial.emlx'));
  const other = put(folder, join(ACCOUNT, 'INBOX.mbox', 'C0000000-0000-4000-8000-000000000001', 'Data', 'Messages', '7.emlx'));
  const nested = put(folder, join(ACCOUNT, '[Gmail].mbox', 'All Mail.mbox', STORE, 'Data', 'Messages', '5.emlx'));
  const files = new MailFiles(folder.at('V10'));
  expect(find(files, BOX, 262_653)).toEqual({ path: whole, isPartial: false });
  expect(find(files, BOX, 218)).toEqual({ path: partial, isPartial: true });
  expect(find(files, BOX, 7)).toEqual({ path: other, isPartial: false });
  expect(find(files, { accountId: ACCOUNT, path: '[Gmail]/All Mail' }, 5)?.path).toBe(nested);
  expect(find(files, BOX, 8)).toBeNull();
  expect([...files.list(BOX)].sort((a, b) => a.rowid - b.rowid)).toEqual([{ rowid: 7, isPartial: false }, { rowid: 218, isPartial: true }, { rowid: 262_653, isPartial: false }]);
  // A file that came meanwhile, in a store that came meanwhile.
  renameSync(folder.at('V10', ACCOUNT, 'INBOX.mbox', 'C0000000-0000-4000-8000-000000000001'), folder.at('V10', ACCOUNT, 'INBOX.mbox', 'D0000000-0000-4000-8000-000000000001'));
  expect(find(files, BOX, 7)?.path).toContain('D0000000');
});

test('names in another normal form or case are found', () => {
  using folder = tempFolder('files');
  put(folder, join(ACCOUNT, `${'Entwürfe'.normalize('NFD')}.mbox`, STORE, 'Data', 'Messages', '1.emlx'));
  put(folder, join(ACCOUNT, 'Inbox.mbox', STORE, 'Data', 'Messages', '2.emlx'));
  const files = new MailFiles(folder.at('V10'));
  expect(find(files, { accountId: ACCOUNT, path: 'Entwürfe' }, 1)).not.toBeNull();
  expect(find(files, BOX, 2)).not.toBeNull();
});

test('what a link leads out of the tree is refused, in every place', () => {
  using folder = tempFolder('files');
  put(folder, join('..', 'outside', STORE, 'Data', 'Messages', '1.emlx'));
  put(folder, join('..', 'outside', 'Messages', '1.emlx'));
  put(folder, join('..', 'outside', '1.emlx'));
  const outside = folder.at('outside');
  mkdirSync(folder.at('V10', ACCOUNT), { recursive: true });
  symlinkSync(outside, folder.at('V10', ACCOUNT, 'Box.mbox'));
  mkdirSync(folder.at('V10', ACCOUNT, 'Store.mbox'));
  symlinkSync(join(outside, STORE), folder.at('V10', ACCOUNT, 'Store.mbox', STORE));
  mkdirSync(folder.at('V10', ACCOUNT, 'Data.mbox', STORE), { recursive: true });
  symlinkSync(join(outside, STORE, 'Data'), folder.at('V10', ACCOUNT, 'Data.mbox', STORE, 'Data'));
  mkdirSync(folder.at('V10', ACCOUNT, 'Messages.mbox', STORE, 'Data'), { recursive: true });
  symlinkSync(join(outside, 'Messages'), folder.at('V10', ACCOUNT, 'Messages.mbox', STORE, 'Data', 'Messages'));
  mkdirSync(folder.at('V10', ACCOUNT, 'File.mbox', STORE, 'Data', 'Messages'), { recursive: true });
  symlinkSync(join(outside, '1.emlx'), folder.at('V10', ACCOUNT, 'File.mbox', STORE, 'Data', 'Messages', '1.emlx'));
  symlinkSync(outside, folder.at('V10', 'Account'));
  const files = new MailFiles(folder.at('V10'));
  for (const path of ['Box', 'Store', 'Data', 'Messages', 'File']) {
    expect(find(files, { accountId: ACCOUNT, path }, 1), path).toBeNull();
    expect([...files.list({ accountId: ACCOUNT, path })], path).toEqual([]);
  }
  for (const place of [{ accountId: '..', path: 'outside' }, { accountId: ACCOUNT, path: '../../outside' }, { accountId: '../outside', path: 'x' }, { accountId: '', path: '' }, { accountId: 'Account', path: 'x' }]) {
    expect(find(files, place, 1)).toBeNull();
  }
  for (const rowid of [-1, 1.5, Number.NaN, 2 ** 60]) expect(find(files, BOX, rowid)).toBeNull();
});

test('a folder that becomes a link out of the tree after it was used is refused', () => {
  using folder = tempFolder('files');
  put(folder, inbox('Messages', '1.emlx'));
  put(folder, join('..', 'outside', '1.emlx'));
  const files = new MailFiles(folder.at('V10'));
  expect(find(files, BOX, 1)).not.toBeNull();
  renameSync(folder.at('V10', inbox('Messages')), folder.at('V10', inbox('Old')));
  symlinkSync(folder.at('outside'), folder.at('V10', inbox('Messages')));
  expect(find(files, BOX, 1)).toBeNull();
});

test('attachments beside: the exact name, else the only file; dotted parts; no way out', () => {
  using folder = tempFolder('files');
  put(folder, inbox('Messages', '9.partial.emlx'));
  const exact = put(folder, inbox('Attachments', '9', '2.2', 'a.txt'), '12345');
  put(folder, inbox('Attachments', '9', '2.2', 'b.txt'), '1');
  const only = put(folder, inbox('Attachments', '9', '3', 'image001.png'), '123');
  mkdirSync(folder.at('V10', inbox('Attachments', '9', '4')), { recursive: true });
  symlinkSync(exact, folder.at('V10', inbox('Attachments', '9', '4', 'link.txt')));
  const files = new MailFiles(folder.at('V10'));
  const file = find(files, BOX, 9)!;
  expect(files.attachment(file, 9, '2.2', 'a.txt')).toEqual({ path: exact, size: 5 });
  expect(files.attachment(file, 9, '2.2', 'c.txt')).toBeNull();
  expect(files.attachment(file, 9, '3', null)).toEqual({ path: only, size: 3 });
  for (const part of ['', '.', '..', '4', '5', '2/../3', '../9/3']) expect(files.attachment(file, 9, part, null), part).toBeNull();
});

test('a partial mail is read with what lies beside it, and writes nothing', async () => {
  using folder = tempFolder('files');
  const nth = Array.from({ length: 100 }, (_, index) => index).find((index) => corpusMail(index, { from: 'a@b.example', subject: 's', messageId: '<1>', date: 1 }).isPartial)!;
  const mail = corpusMail(nth, { from: 'Ada <a@b.example>', subject: 'Report', messageId: '<1@b>', date: 1_700_000_000 });
  put(folder, inbox('Messages', '1.partial.emlx'), emlxFile(mail.message));
  const files = new MailFiles(folder.at('V10'));
  const bare = await readMail(files, BOX, 1);
  expect(bare).toMatchObject({ onDisk: 'partial', headers: { subject: 'Report' }, missing: [], attachments: [{ part: '2', name: mail.attachment!.name, where: 'not-downloaded' }] });
  put(folder, inbox('Attachments', '1', '2', mail.attachment!.name), mail.attachment!.bytes);
  expect((await readMail(files, BOX, 1))!.attachments).toMatchObject([{ where: 'beside', size: mail.attachment!.bytes.length, type: 'application/pdf' }]);
  expect(await readMail(files, BOX, 2)).toBeNull();
});
