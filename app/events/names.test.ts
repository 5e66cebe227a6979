import { describe, expect, test } from 'vitest';
import type { Mailbox } from '../apple/occurrence.ts';
import { findMailbox } from './names.ts';

const box = (id: number, account: string, path: string): Mailbox => ({ id, url: `imap://${account}/${path}`, accountId: `ID-${account}`, account, path, role: 'other', source: null });
const boxes = [box(1, 'iCloud', 'INBOX'), box(2, 'Work', 'Inbox'), box(3, 'iCloud', 'Projects/Öffentlich'), box(4, 'Work', 'Projects/Notes'), box(5, 'iCloud', 'Notes/Notes')];

describe('mailbox names (ruling 10)', () => {
  test.each([
    ['a path', 'Projects/Öffentlich', 3],
    ['in another case', 'projects/öffentlich', 3],
    ['decomposed', 'Projects/O\u0308ffentlich', 3],
    ['a leaf that only one has', 'öffentlich', 3],
    ['with its account', 'iCloud/INBOX', 1],
    ['with its account, in another case', 'work/inbox', 2],
  ])('%s', (_name, name, id) => expect(findMailbox(boxes, name)).toEqual([id]));
  test.each([['in two accounts', 'INBOX'], ['a leaf that two have', 'Notes']])('%s: refused with the list', (_name, name) =>
    expect(() => findMailbox(boxes, name)).toThrow(/fits 2 mailboxes/));
  test('unknown: refused with what exists', () => expect(() => findMailbox(boxes, 'Nowhere')).toThrow(/iCloud\/INBOX.*Work\/Inbox/));
});
