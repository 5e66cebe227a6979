import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { encodePlist } from '../../testing/binary-plist.ts';
import { tempFolder } from '../../testing/temp.ts';
import { activeMailFolder, envelopeIndexPath, versionIn } from './mail-folder.ts';

const xml = (name: string): Buffer =>
  Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0"><dict>\n\t<key>LastUsedVersionDirectoryName</key>\n\t<string>${name}</string>\n</dict></plist>\n`);

test('the version that PersistenceInfo.plist names', () => {
  expect(versionIn(xml('V10'))).toBe('V10');
  expect(versionIn(encodePlist({ LastUsedVersionDirectoryName: 'V9' }))).toBe('V9');
  expect(versionIn(xml('../../elsewhere'))).toBeNull();
  expect(versionIn(Buffer.from('bplist00 but broken'))).toBeNull();
  expect(versionIn(Buffer.from(''))).toBeNull();
});

test('the active folder: named, else numerically highest', () => {
  using folder = tempFolder('belfry-mail');
  const mail = folder.at('Mail');
  expect(activeMailFolder(mail)).toBe(folder.at('Mail', 'V10'));
  for (const version of ['V2', 'V9', 'V10', 'Vault']) mkdirSync(folder.at('Mail', version, 'MailData'), { recursive: true });
  expect(activeMailFolder(mail)).toBe(folder.at('Mail', 'V10'));
  writeFileSync(envelopeIndexPath(folder.at('Mail', 'V9')), '');
  expect(activeMailFolder(mail)).toBe(folder.at('Mail', 'V9'));
  writeFileSync(folder.at('Mail', 'PersistenceInfo.plist'), xml('V10'));
  expect(activeMailFolder(mail)).toBe(folder.at('Mail', 'V10'));
  writeFileSync(folder.at('Mail', 'PersistenceInfo.plist'), xml('V99'));
  expect(activeMailFolder(mail)).toBe(folder.at('Mail', 'V9'));
  expect(activeMailFolder(folder.at('Mail', 'V2'))).toBe(folder.at('Mail', 'V2'));
});
