import { describe, expect, test } from 'vitest';
import { AccountsStore } from '../../testing/accounts-store.ts';
import { tempFolder } from '../../testing/temp.ts';
import type { MailboxRole } from '../occurrence.ts';
import { Accounts } from './accounts.ts';
import { MailboxDirectory, parseMailboxUrl, roleOfPath } from './mailboxes.ts';

const ID = '6F1E2D3C-0000-4000-8000-000000000001';

test.each([
  [`imap://${ID}/INBOX`, ID, 'INBOX'],
  [`imap://${ID}/%5BGmail%5D/All%20Mail`, ID, '[Gmail]/All Mail'],
  [`imap://${ID}/[Gmail]/All Mail`, ID, '[Gmail]/All Mail'],
  [`ews://${ID}/Deleted%20Items`, ID, 'Deleted Items'],
  [`local://${ID}/Recovered%20Messages%20(Work)`, ID, 'Recovered Messages (Work)'],
  // U+00D6, precomposed and decomposed (O and U+0308), are one name.
  [`imap://${ID}/%C3%96ffentlich`, ID, '\u00d6ffentlich'],
  [`imap://${ID}/O%CC%88ffentlich`, ID, '\u00d6ffentlich'],
  [`imap://${ID}/\u30e1\u30e2`, ID, 'メモ'],
  [`imap://${ID}/%E3%83%A1\u30e2`, ID, 'メモ'],
  [`imap://${ID}/100%25`, ID, '100%'],
  // Stray signs and bytes that are no UTF-8 stay.
  [`imap://${ID}/100%`, ID, '100%'],
  [`imap://${ID}/50%zz%20off`, ID, '50%zz off'],
  [`imap://${ID}/caf%E9`, ID, 'caf%E9'],
  [`imap://${ID}/a//b/`, ID, 'a/b'],
  [`imap://${ID}`, ID, ''],
  ['imap://user%40example.org@mail.example.org/INBOX', 'user@example.org@mail.example.org', 'INBOX'],
  ['Some Name', '', 'Some Name'],
])('%s', (url, accountId, path) => {
  expect(parseMailboxUrl(url)).toEqual({ accountId, path });
});

describe('roles by name', () => {
  test.each<[string, MailboxRole]>([
    ['INBOX', 'inbox'], ['Inbox', 'inbox'], ['inbox', 'inbox'], ['Shared/INBOX', 'inbox'],
    ['Sent', 'sent'], ['Sent Messages', 'sent'], ['Sent Items', 'sent'], ['[Gmail]/Sent Mail', 'sent'], ['INBOX/Sent', 'sent'],
    ['Gesendete Elemente', 'sent'], ['[Gmail]/Gesendet', 'sent'], ['Éléments envoyés', 'sent'], ['Messages envoyés', 'sent'], ['Elementos enviados', 'sent'], ['Enviados', 'sent'],
    ['Posta inviata', 'sent'], ['Verzonden items', 'sent'], ['Itens Enviados', 'sent'], ['送信済みメール', 'sent'], ['已发送邮件', 'sent'], ['寄件備份', 'sent'],
    ['Drafts', 'drafts'], ['Entwürfe', 'drafts'], ['Brouillons', 'drafts'], ['Borradores', 'drafts'], ['Bozze', 'drafts'], ['Concepten', 'drafts'], ['Rascunhos', 'drafts'], ['下書き', 'drafts'], ['草稿', 'drafts'],
    ['Junk', 'junk'], ['Junk Email', 'junk'], ['Spam', 'junk'], ['[Gmail]/Spam', 'junk'], ['Junk-E-Mail', 'junk'], ['Courrier indésirable', 'junk'], ['Correo no deseado', 'junk'], ['Posta indesiderata', 'junk'],
    ['Ongewenste e-mail', 'junk'], ['Lixo Eletrônico', 'junk'], ['迷惑メール', 'junk'], ['垃圾邮件', 'junk'],
    ['Trash', 'trash'], ['Bin', 'trash'], ['Deleted Messages', 'trash'], ['Deleted Items', 'trash'], ['[Gmail]/Trash', 'trash'], ['[Google Mail]/Bin', 'trash'], ['Papierkorb', 'trash'], ['Gelöschte Elemente', 'trash'],
    ['Corbeille', 'trash'], ['Papelera', 'trash'], ['Cestino', 'trash'], ['Prullenbak', 'trash'], ['Lixeira', 'trash'], ['ゴミ箱', 'trash'], ['已删除邮件', 'trash'],
    ['Archive', 'archive'], ['[Gmail]/All Mail', 'archive'], ['[Gmail]/Alle Nachrichten', 'archive'], ['Archiv', 'archive'],
    ['SendLater', 'outbox'], ['Outbox', 'outbox'],
    ['Projects', 'other'], ['Projects/Sent', 'other'], ['Sentinel', 'other'], ['[Gmail]/Important', 'other'], ['', 'other'],
  ])('%s is %s', (path, role) => {
    expect(roleOfPath(path)).toBe(role);
    expect(roleOfPath(path.normalize('NFD').toUpperCase())).toBe(role);
  });

  test('a mailbox that holds the mail of labels is an archive in any language', () => {
    expect(roleOfPath('[Gmail]/Kõik kirjad', true)).toBe('archive');
    expect(roleOfPath('INBOX', true)).toBe('inbox');
  });
});

test('properties of the account come before names, and the parent names the account', () => {
  using folder = tempFolder('belfry-boxes');
  const path = folder.at('Accounts', 'Accounts4.sqlite');
  const store = AccountsStore.create(path);
  store.addAccount({
    id: ID, description: 'Work', email: 'me@example.org', type: 'IMAP', parentType: 'AppleAccount',
    properties: { SentMessagesMailboxName: 'Ablage/Raus', TrashMailboxName: 'Archive', JunkMailboxName: 'Müll', DraftsMailboxName: 'INBOX' },
  });
  store.close();
  const accounts = new Accounts(path);
  expect(accounts.refresh()).toBe(true);
  const directory = new MailboxDirectory(accounts);
  const boxes = ['INBOX', 'Ablage/Raus', 'Archive', 'Sent', 'Server/M%C3%BCll', 'Ablage'];
  directory.load([
    ...boxes.map((box, index) => ({ id: index + 1, url: `imap://${ID}/${box}`, source: null })),
    { id: 10, url: 'imap://unknown/All', source: null },
    { id: 11, url: 'imap://unknown/INBOX', source: 10 },
  ]);
  expect(directory.all().map((box) => [box.account, box.path, box.role])).toEqual([
    ['Work', 'INBOX', 'inbox'],
    ['Work', 'Ablage/Raus', 'sent'],
    ['Work', 'Archive', 'trash'],
    ['Work', 'Sent', 'sent'],
    ['Work', 'Server/Müll', 'junk'],
    ['Work', 'Ablage', 'other'],
    ['unknown', 'All', 'archive'],
    ['unknown', 'INBOX', 'inbox'],
  ]);
  expect(directory.hasLabels(10)).toBe(true);
  expect(directory.hasLabels(11)).toBe(false);
  expect(directory.get(1, `imap://${ID}/INBOX`)?.path).toBe('INBOX');
  expect(directory.get(1, `imap://${ID}/Other`)).toBeUndefined();
});
