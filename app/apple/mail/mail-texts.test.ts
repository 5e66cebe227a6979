import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { emlxFile } from '../../testing/mail-corpus.ts';
import { tempFolder, type TempFolder } from '../../testing/temp.ts';
import { MAX_READ, MAX_READ_WHOLE } from './emlx.ts';
import { MailFiles } from './mail-files.ts';
import { attachmentSource, readMail, readText } from './mail-texts.ts';

const BOX = { accountId: 'A', path: 'INBOX' };
const TIMEOUT = 60_000;
const MB = 1024 * 1024;

const PATH = ['V10', 'A', 'INBOX.mbox', 'S', 'Data', 'Messages', '1.emlx'] as const;
const HEAD = ['From: ada@example.org', 'Content-Type: multipart/mixed; boundary=b', '', '--b', '', 'The files.', ''];

const attached = (name: string, bytes: Buffer): string[] => [
  '--b', `Content-Type: application/pdf; name=${name}`, 'Content-Disposition: attachment', 'Content-Transfer-Encoding: base64', '', bytes.toString('base64').replace(/.{76}/g, '$&\r\n'),
];

function put(folder: TempFolder, file: Buffer): string {
  const path = folder.at(...PATH);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, file);
  return path;
}

test('the attachments of a mail of 25 MB are listed with their sizes, and their bytes can be had', { timeout: TIMEOUT }, async () => {
  using folder = tempFolder('texts');
  const sizes = [20 * MB, 5 * MB, 1000];
  const parts = sizes.flatMap((size, nth) => attached(`${nth}.pdf`, Buffer.alloc(size, nth + 1)));
  put(folder, emlxFile(Buffer.from([...HEAD, ...parts, '--b--', ''].join('\r\n'))));
  const files = new MailFiles(folder.at('V10'));
  const mail = (await readMail(files, BOX, 1))!;
  expect(mail).toMatchObject({
    text: 'The files.', missing: [],
    attachments: [{ part: '2', name: '0.pdf', size: 20 * MB, where: 'in-message' }, { part: '3', name: '1.pdf', size: 5 * MB, where: 'in-message' }, { part: '4', name: '2.pdf', size: 1000, where: 'in-message' }],
  });
  for (const [nth, attachment] of mail.attachments.entries()) {
    const source = await attachmentSource(files, BOX, 1, attachment);
    expect(typeof source === 'object' && 'bytes' in source && source.bytes.equals(Buffer.alloc(attachment.size!, nth + 1)), attachment.part).toBe(true);
  }
  // For the text alone less is read, and that is said.
  expect(MAX_READ).toBeLessThan(20 * MB);
  expect(await readText(files, BOX, 1)).toMatchObject({ text: 'The files.', missing: ['size'] });
});

test('of a mail beyond the limit: what lies before it can be had, what goes through it has no size and no bytes', { timeout: TIMEOUT }, async () => {
  using folder = tempFolder('texts');
  const start = [...HEAD, ...attached('0.pdf', Buffer.alloc(1000, 1)), ...attached('1.pdf', Buffer.alloc(2000, 2))].join('\r\n');
  const length = MAX_READ_WHOLE + 3 * MB;
  // The last part goes on, in a file that has no blocks for it.
  truncateSync(put(folder, Buffer.from(`${length}\n${start}`)), length + 64);
  const files = new MailFiles(folder.at('V10'));
  const { missing, attachments } = (await readMail(files, BOX, 1))!;
  expect(missing).toEqual(['size']);
  expect(attachments).toMatchObject([{ part: '2', size: 1000 }, { part: '3', size: null, where: 'in-message' }]);
  expect(await attachmentSource(files, BOX, 1, attachments[0]!)).toEqual({ bytes: Buffer.alloc(1000, 1) });
  expect(await attachmentSource(files, BOX, 1, attachments[1]!)).toBe('too-large');
  expect(await attachmentSource(files, BOX, 1, { ...attachments[0]!, where: 'not-downloaded' })).toBe('not-here');
  expect(await attachmentSource(files, BOX, 1, { ...attachments[0]!, where: 'beside' })).toBe('not-here');
  expect(await attachmentSource(files, BOX, 2, attachments[0]!)).toBe('not-here');
});

test('of a mail whose file ends too early, what goes through the end is truncated', async () => {
  using folder = tempFolder('texts');
  const start = [...HEAD, ...attached('0.pdf', Buffer.alloc(1000, 1)), ...attached('1.pdf', Buffer.alloc(2000, 2))].join('\r\n');
  put(folder, Buffer.from(`${start.length + 5000}\n${start}`));
  const files = new MailFiles(folder.at('V10'));
  const { attachments } = (await readMail(files, BOX, 1))!;
  expect(await attachmentSource(files, BOX, 1, attachments[0]!)).toEqual({ bytes: Buffer.alloc(1000, 1) });
  expect(await attachmentSource(files, BOX, 1, attachments[1]!)).toBe('truncated');
});
