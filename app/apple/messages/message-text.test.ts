import { expect, test } from 'vitest';
import { encodePlist, Real } from '../../testing/binary-plist.ts';
import { encodeAttributedBody } from '../../testing/typedstream.ts';
import { attachmentsOf, type AttachmentColumns } from './message-attachments.ts';
import { readEdits } from './message-edits.ts';
import { plainText, readMessageText } from './message-text.ts';
import { reactionsOf, targetOf, type ReactionRow } from './reactions.ts';

// data-formats/chat-db 5: the body before the copy; placeholders and templates are not for showing.
test.each([
  ['body alone', { text: null, attributedBody: encodeAttributedBody('hi') }, 'hi', false],
  ['copy alone', { text: 'hi', attributedBody: null }, 'hi', false],
  ['both: the body', { text: 'old', attributedBody: encodeAttributedBody('new') }, 'new', false],
  ['a broken body with a copy', { text: 'copy', attributedBody: Buffer.from('junk') }, 'copy', false],
  ['a broken body alone', { text: null, attributedBody: Buffer.from('junk') }, '', true],
  ['neither', { text: null, attributedBody: null }, '', false],
  ['photos and words', { text: null, attributedBody: encodeAttributedBody('\uFFFC\uFFFC look ') }, 'look', false],
  ['a photo alone', { text: null, attributedBody: encodeAttributedBody('\uFFFC') }, '', false],
  ['a notice', { text: null, attributedBody: encodeAttributedBody('$(kIMTranscriptPluginBreadcrumbTextReceiverIdentifier) joined') }, 'joined', false],
])('%s', (_name, columns, text, isUnreadable) => {
  expect(readMessageText(columns)).toMatchObject({ text, isUnreadable });
  expect(plainText(columns)).toEqual({ text, isReadable: !isUnreadable });
});

test('edits: versions of each part, the oldest first; unsent parts (chat-db 8)', () => {
  const info = encodePlist({
    amc: 1, ust: true, ec: { '0': [{ t: encodeAttributedBody('first'), d: new Real(0) }, { t: encodeAttributedBody('second'), d: new Real(60.5) }], x: [] }, ep: [0], rp: [1, 2],
  });
  expect(readEdits(info)).toEqual({
    versions: new Map([[0, [{ text: 'first', date: 978_307_200_000 }, { text: 'second', date: 978_307_260_500 }]]]),
    unsent: [1, 2],
  });
  for (const none of [null, Buffer.from('junk'), encodePlist([1]), encodePlist({ ec: 1, rp: 'x' }), encodePlist({ ec: { '0': [{ t: 'x' }, 1] } })]) {
    const { versions, unsent } = readEdits(none);
    expect([[...versions.values()].flat(), unsent]).toEqual([[], []]);
  }
});

test('targets of reactions (chat-db 7)', () => {
  expect(targetOf('p:2/ABC-1')).toEqual({ guid: 'ABC-1', part: 2 });
  expect(targetOf('bp:ABC-1')).toEqual({ guid: 'ABC-1', part: 0 });
  expect(targetOf('ABC-1')).toEqual({ guid: 'ABC-1', part: 0 });
  for (const bad of [null, '', 'p:x/ABC', 'p:1/', 'a b', `p:0/${'x'.repeat(200)}`]) expect(targetOf(bad)).toBeNull();
});

test('reactions stand on their message; a removal takes its own away', () => {
  let rowid = 0;
  const row = (type: number, sender: string | null, emoji: string | null = null, target = 'p:0/M'): ReactionRow => ({ rowid: (rowid += 1), target, type, emoji, sender, date: rowid });
  const kinds = (rows: ReactionRow[]): string[] => (reactionsOf(rows).get('M') ?? []).map(({ kind, sender, emoji }) => [sender ?? 'me', kind, emoji].filter(Boolean).join(' '));
  expect(kinds([row(2000, '+1'), row(2001, '+2'), row(2000, null)])).toEqual(['+1 loved', '+2 liked', 'me loved']);
  expect(kinds([row(2000, '+1'), row(3000, '+1'), row(2001, '+1')])).toEqual(['+1 liked']);
  expect(kinds([row(2000, '+1'), row(3000, '+2')])).toEqual(['+1 loved']);
  expect(kinds([row(2006, '+1', '🎉'), row(2006, '+1', '🔥'), row(3006, '+1', '🎉')])).toEqual(['+1 emoji 🔥']);
  expect(kinds([row(3000, '+1')])).toEqual([]);
  expect(kinds([row(1000, '+1'), row(4000, '+1'), row(2099, '+1'), row(2000, '+1', null, 'p:x')])).toEqual([]);
  const [late, early] = [row(2000, '+1'), row(3000, '+1')];
  expect(kinds([early, late])).toEqual([]);
});

test('attachments: names and types in the order of their placeholders', () => {
  const base: AttachmentColumns = { guid: 'a', transferName: 'a.jpeg', filename: '~/Library/Messages/Attachments/89/09/a/x.jpeg', mimeType: 'Image/JPEG', uti: 'public.jpeg', totalBytes: 5, transferState: 5, isSticker: 0, isHidden: 0 };
  const found = attachmentsOf([base, { ...base, guid: 'b', transferName: null, mimeType: null, filename: null, totalBytes: 0, transferState: 0, isSticker: 1 }, { ...base, guid: 'c', isHidden: 1 }, { ...base, guid: 'd', transferName: '../\u202Egpj.exe\0' }], ['d', 'b']);
  expect(found).toEqual([
    { guid: 'd', name: 'gpj.exe', type: 'image/jpeg', size: 5, isSticker: false, isHere: true },
    { guid: 'b', name: null, type: 'public.jpeg', size: null, isSticker: true, isHere: false },
    { guid: 'a', name: 'a.jpeg', type: 'image/jpeg', size: 5, isSticker: false, isHere: true },
  ]);
});
