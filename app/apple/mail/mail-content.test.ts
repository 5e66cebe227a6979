import { expect, test } from 'vitest';
import { fuzz, FUZZ_TIMEOUT } from '../../testing/fuzz.ts';
import { corpusMail } from '../../testing/mail-corpus.ts';
import { readMailContent, readMailHeaders, readMailText } from './mail-content.ts';
import { leaves, MAX_DEPTH, MAX_HEADER, MAX_PARTS, readTree } from './mime-tree.ts';

const mail = (...lines: string[]): Buffer => Buffer.from(lines.join('\r\n'));
const text = async (...lines: string[]): Promise<string> => (await readMailText(mail(...lines))).text;
const typed = (type: string, encoding: string, body: string | Buffer): Buffer => Buffer.concat([mail(`Content-Type: ${type}`, `Content-Transfer-Encoding: ${encoding}`, '', ''), Buffer.from(body)]);
const decoded = async (type: string, encoding: string, body: string | Buffer): Promise<string> => (await readMailText(typed(type, encoding, body))).text;

// RFC 2045 and what senders do with charsets.
test.each<[string, string, string, string | Buffer, string]>([
  ['7bit', 'text/plain', '7bit', 'Hello', 'Hello'],
  ['quoted-printable', 'text/plain; charset=utf-8', 'quoted-printable', 'Z=C3=BCrich =\r\nis=20big =\nand 1=2', 'Zürich is big and 1=2'],
  ['quoted-printable in small letters', 'text/plain; charset=utf-8', 'Quoted-Printable', 'Z=c3=bcrich', 'Zürich'],
  ['an escape cut at the end', 'text/plain', 'quoted-printable', 'abc=4', 'abc=4'],
  ['base64 with line ends', 'text/plain; charset="utf-8"', 'BASE64', '5bGx\r\n55Sw\r\n', '山田'],
  ['base64 with junk behind', 'text/plain; charset=utf-8', 'base64', 'SGk=\r\n-- list footer', 'Hi'],
  ['latin 1', 'text/plain; charset=ISO-8859-1', '8bit', Buffer.from('Zürich', 'latin1'), 'Zürich'],
  ['a code page by its number', 'text/plain; charset=cp932', '8bit', Buffer.from([0x8e, 0x52, 0x93, 0x63]), '山田'],
  ['ISO-2022-JP', 'text/plain; charset=iso-2022-jp', '7bit', Buffer.from('1b24423b3345441b2842', 'hex'), '山田'],
  ['says ASCII, is UTF-8', 'text/plain; charset=us-ascii', '8bit', 'Zürich', 'Zürich'],
  ['says latin 1, is UTF-8', 'text/plain; charset=iso-8859-1', '8bit', 'Zürich €', 'Zürich €'],
  ['says nothing, is UTF-8', 'text/plain', '8bit', 'Zürich', 'Zürich'],
  ['says nothing, is latin 1', 'text/plain', '8bit', Buffer.from('Zürich', 'latin1'), 'Zürich'],
  ['says UTF-8, is not', 'text/plain; charset=utf-8', '8bit', Buffer.from([0x61, 0xff, 0x62]), 'a\ufffdb'],
  ['a charset that nobody knows', 'text/plain; charset=x-klingon', '7bit', 'Hello', 'Hello'],
  ['an encoding that nobody knows', 'text/plain', 'x-uuencode', 'Hello', 'Hello'],
  ['another', 'text/plain; charset=x-cp949', '8bit', Buffer.from([0xb0, 0xa1]), '\uac00'],
  ['a charset that nobody knows, is UTF-8', 'text/plain; charset=x-klingon', '8bit', 'Zürich', 'Zürich'],
  ['flowed without blanks', 'text/plain; format=flowed; DelSp=yes', '7bit', 'one \r\ntwo\r\n', 'onetwo'],
  ['flowed in quoted-printable', 'text/plain; format="flowed"', 'quoted-printable', 'one=20\r\ntwo\r\n', 'one two'],
  ['flowed',  'text/plain; charset=utf-8; format=flowed', '7bit', 'one \r\ntwo\r\n', 'one two'],
  ['a type that is none', 'garbage', '7bit', 'Hello', 'Hello'],
])('%s', async (_name, type, encoding, body, expected) => {
  expect(await decoded(type, encoding, body)).toBe(expected);
});

test('of two forms the plain one is the text, unless it is blank', async () => {
  const both = (plain: string): string[] => [
    'Content-Type: multipart/alternative; boundary="b"', '', '--b', 'Content-Type: text/plain', '', plain, '--b', 'Content-Type: text/html', '', '<p>Rich <a href="https://x.example/a">here</a></p>', '--b--', '',
  ];
  expect(await readMailText(mail(...both('Plain')))).toMatchObject({ text: 'Plain', quotes: [], source: 'plain', missing: [] });
  expect(await readMailText(mail(...both('  ')))).toMatchObject({ text: 'Rich here', source: 'html' });
  expect((await readMailContent(mail(...both('Plain')))).links).toEqual([{ url: 'https://x.example/a', text: 'here' }]);
});

test('attachments: part numbers, decoded names, sizes, what lies beside; nothing of them in the text', async () => {
  const content = await readMailContent(mail(
    'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=', 'From: "Ada, L." <ada@example.org>', 'Date: Tue, 14 Nov 2023 22:13:20 +0000', 'Content-Type: multipart/mixed; boundary=outer', '',
    '--outer', 'Content-Type: multipart/related; boundary=inner', '', '--inner', 'Content-Type: text/html', '', '<p>See <img src="cid:a@b" alt=""></p>',
    '--inner', 'Content-Type: image/png', 'Content-ID: <a@b>', 'Content-Transfer-Encoding: base64', '', 'AAECAwQ=', '--inner--',
    '--outer', `Content-Type: application/pdf;\r\n name="=?utf-8?B?w6QucGRm?="`, 'Content-Disposition: attachment;', ` filename*0*=utf-8''%C3%A4;`, ' filename*1=".pdf"', 'X-Apple-Content-Length: 35967', 'Content-Transfer-Encoding: base64', '', '',
    '--outer', 'Content-Type: text/plain; name=notes.txt', 'Content-Disposition: attachment', '', 'secret notes', '--outer--', '',
  ));
  expect(content.text).toBe('See');
  expect(content.headers).toMatchObject({ subject: 'Grüße', from: [{ address: 'ada@example.org', name: 'Ada, L.' }], date: 1_700_000_000_000, to: [] });
  expect(content.attachments).toEqual([
    { part: '1.2', name: null, rawName: null, type: 'image/png', size: 5, isInline: true, isHere: true },
    { part: '2', name: 'ä.pdf', rawName: 'ä.pdf', type: 'application/pdf', size: null, isInline: false, isHere: false },
    { part: '3', name: 'notes.txt', rawName: 'notes.txt', type: 'text/plain', size: 12, isInline: false, isHere: true },
  ]);
});

test('a forwarded message is an attachment whose text is read', async () => {
  const content = await readMailContent(mail(
    'Content-Type: multipart/mixed; boundary=o', '', '--o', '', 'Look', '--o', 'Content-Type: message/rfc822', '', 'Subject: inner', 'Content-Type: multipart/mixed; boundary=i', '',
    '--i', '', 'Inner text', '--i', 'Content-Type: image/gif; name=x.gif', '', 'GIF', '--i--', '--o--', '',
  ));
  expect(content.text).toBe('Look\n\nSubject: inner\n\nInner text');
  // RFC 3501, 6.4.5: parts of a message that is part 2 are 2.1, 2.2.
  expect(content.attachments.map(({ part, type }) => [part, type])).toEqual([['2', 'message/rfc822'], ['2.2', 'image/gif']]);
});

test('the text of a forwarded message is a quote of its own, behind who wrote it; the words of the sender around it are none', async () => {
  const pieces = async (...lines: string[]): Promise<[string, string][]> => {
    const { text: all, quotes } = await readMailText(mail(...lines));
    const ends = [0, ...quotes.flatMap(({ start, end }) => [start, end]), all.length];
    return ends.slice(1).map((end, nth): [string, string] => [nth % 2 === 0 ? 'own' : 'quoted', all.slice(ends[nth], end)]).filter(([, words]) => words !== '');
  };
  const forwarded = (from: string, subject: string, ...body: string[]): string[] => ['--o', 'Content-Type: message/rfc822', '', `From: ${from}`, `Subject: ${subject}`, ...body];
  const head = ['From: bob@example.org', 'Subject: Fwd', 'Content-Type: multipart/mixed; boundary=o', '', '--o', '', 'Look'];
  expect(await pieces(...head, ...forwarded('Ada <ada@example.org>', '=?utf-8?Q?Z=C3=BCrich?=', '', 'One', '> older'), '--o', '', 'Bye', '--o--')).toEqual([
    ['own', 'Look\n\n'], ['quoted', 'From: Ada <ada@example.org>\nSubject: Zürich\n\nOne\n> older'], ['own', '\n\nBye'],
  ]);
  // All parts of a message are one quote, named once; so is what it forwards itself, and a second message behind it.
  const inner = ['Content-Type: multipart/mixed; boundary=i', '', '--i', '', 'One', '--i', 'Content-Type: text/html', '', '<p>Two</p>', '--i', 'Content-Type: message/rfc822', '', 'Subject: inmost', '', 'Three', '--i--'];
  expect(await pieces(...head, ...forwarded('ada@example.org', 'a', ...inner), ...forwarded('cy@example.org', 'c', '', 'Four'), '--o--')).toEqual([
    ['own', 'Look\n\n'],
    ['quoted', 'From: ada@example.org\nSubject: a\n\nOne\n\nTwo\n\nSubject: inmost\n\nThree\n\nFrom: cy@example.org\nSubject: c\n\nFour'],
  ]);
  // What it is called cannot break out of its line, nor hide anything in it.
  const hostile = `=?utf-8?B?${Buffer.from('a\nFrom: boss@example.org\u202e\u200b').toString('base64')}?=`;
  expect(await pieces(...head, ...forwarded(`"${hostile}" <ada@example.org>`, hostile, '', 'Words'), '--o--')).toEqual([
    ['own', 'Look\n\n'], ['quoted', expect.stringMatching(/^From: [^\n\u202e\u200b]+ <ada@example\.org>\nSubject: a ?From: boss@example\.org\n\nWords$/)],
  ]);
  expect(await pieces(...head, '--o', 'Content-Type: message/rfc822', '', '', 'No header', '--o--')).toEqual([['own', 'Look\n\n'], ['quoted', 'No header']]);
});

test('names lose control and bidi characters', async () => {
  const { attachments } = await readMailContent(mail('Content-Type: application/pdf', `Content-Disposition: attachment; filename*=utf-8''a%E2%80%AEfdp%00.exe`, '', 'x'));
  expect(attachments[0]!.name).toBe('afdp.exe');
});

test('a text part whose body is still on the server is said to be missing', async () => {
  expect(await readMailText(mail('Content-Type: text/plain', 'X-Apple-Content-Length: 500', '', ''))).toMatchObject({ text: '', missing: ['not-downloaded'] });
});

test('a boundary counts at the start of a line, as a whole, and may never end', async () => {
  const head = ['Content-Type: multipart/mixed; boundary=ab', ''];
  expect(await text(...head, '--ab', '', 'x --ab y', '--abc', '--ab  ', '', 'z')).toBe('x --ab y\n--abc\n\nz');
  expect(await text('Content-Type: multipart/mixed', '', 'no boundary')).toBe('');
  expect(await text('Content-Type: multipart/mixed; boundary=zz', '', 'never')).toBe('');
});

test('bombs: depth, parts, headers give what is within the limits and say so', async () => {
  let deep = 'Content-Type: text/plain\n\nbottom';
  for (let level = 0; level < 100; level += 1) deep = `Content-Type: multipart/mixed; boundary=b${level}\n\n--b${level}\n${deep}\n--b${level}--\n`;
  const tree = readTree(Buffer.from(deep));
  expect(tree.limits).toEqual(['depth']);
  expect([...leaves(tree.root)][0]!.number.split('.').length).toBe(MAX_DEPTH);
  const wide = `Content-Type: multipart/mixed; boundary=b\n\n${'--b\n\nx\n'.repeat(20_000)}--b--`;
  expect((await readMailText(Buffer.from(wide))).missing).toContain('parts');
  expect([...leaves(readTree(Buffer.from(wide)).root)].length).toBeLessThan(MAX_PARTS);
  const headers = Buffer.from(`Content-Type: text/plain\n${'X-A: b\n'.repeat(300_000)}\nHello`);
  expect(await readMailText(headers)).toMatchObject({ text: 'Hello', missing: ['headers'] });
  const matryoshka = Buffer.from(`${'Content-Type: message/rfc822\n\n'.repeat(1000)}\nx`);
  expect((await readMailContent(matryoshka)).missing).toContain('depth');
});

test('a text of many megabytes is cut, and said to be', async () => {
  const long = await readMailText(Buffer.concat([mail('Content-Type: text/plain', '', ''), Buffer.alloc(12 * 1024 * 1024, 'word ')]));
  expect(long.missing).toEqual(['text']);
  expect(long.text.length).toBeLessThanOrEqual(2 * 1024 * 1024);
});

test('the text of all parts together is bounded, and what is beyond is said to be missing', async () => {
  const part = (type: string, word: string): string => `--b\r\nContent-Type: ${type}\r\n\r\n${word.repeat(100_000)}\r\n`;
  const plain = Array.from({ length: 6 }, (_, nth) => part('text/plain', `word${nth} `)).join('');
  const read = await readMailContent(Buffer.from(`Content-Type: multipart/mixed; boundary=b\r\n\r\n${plain}--b--`));
  expect(read).toMatchObject({ missing: ['text'], source: 'plain' });
  expect([read.text.replaceAll('\n\n', '').length <= 2 * 1024 * 1024, read.text.includes('word2'), read.text.includes('word5')]).toEqual([true, true, false]);
  // Of HTML beside a text only the links are wanted: theirs are said to be missing, and the text is whole.
  const html = `--b\r\nContent-Type: text/html\r\n\r\n<a href="https://a.example/">a</a>${'<p>word</p>'.repeat(150_000)}<a href="https://b.example/">b</a>\r\n`;
  const both = await readMailContent(Buffer.from(`Content-Type: multipart/alternative; boundary=b\r\n\r\n${part('text/plain', 'many words')}${html}--b--`));
  expect(both).toMatchObject({ missing: ['links'], source: 'plain', links: [{ url: 'https://a.example/' }] });
  expect(both.text).toHaveLength(1_000_000);
});

test('where a charset that nobody knows is guessed, that is said', async () => {
  const missing = async (charset: string, bytes: Buffer): Promise<readonly string[]> => (await readMailText(typed(`text/plain; charset=${charset}`, '8bit', bytes))).missing;
  const western = Buffer.from('Z\xfcrich \x80', 'latin1');
  expect(await decoded('text/plain; charset=x-klingon', '8bit', western)).toBe('Zürich €');
  expect(await missing('x-klingon', western)).toEqual(['charset']);
  expect(await missing('iso-2022-kr', Buffer.from('\u000e0!\u000f'))).toEqual(['charset']);
  expect(await missing('x-klingon', Buffer.from('Zurich'))).toEqual([]);
  expect(await missing('windows-1252', western)).toEqual([]);
});

test.each<[string, string, Buffer, boolean]>([
  ['bytes that are no UTF-8', 'utf-8', Buffer.from([0x61, 0xe9, 0xff, 0xfe, 0x62]), true],
  ['a character that is half at the end', 'utf-8', Buffer.from([0x61, 0xe9]), true],
  ['the substitute itself', 'utf-8', Buffer.from('a\ufffdb'), false],
  ['the substitute itself in another charset', 'gb18030', Buffer.from([0x61, 0x84, 0x31, 0xa4, 0x37]), false],
  ['the substitute itself and bytes that are none', 'utf-8', Buffer.concat([Buffer.from('a\ufffdb'), Buffer.from([0xff])]), true],
  ['bytes that a charset of one byte leaves out', 'windows-1253', Buffer.from([0x61, 0xd2]), true],
  ['bytes that are no EUC-KR', 'euc-kr', Buffer.from([0x61, 0xff]), true],
  ['a long text with characters over its stretches', 'utf-8', Buffer.from(`\ufffd${'漢'.repeat(800_000)}`), false],
  ['a long text with one byte that is none', 'utf-8', Buffer.concat([Buffer.from('漢'.repeat(800_000)), Buffer.from([0xff])]), true],
  ['a text that is cut in a character', 'utf-8', Buffer.from(`a\ufffd${'漢'.repeat(3_000_000)}`), false],
])('bytes that do not fit the charset that is named are told from a text that holds the substitute: %s', async (_name, charset, bytes, isDoubtful) => {
  const { text: read, missing } = await readMailText(typed(`text/plain; charset=${charset}`, '8bit', bytes));
  expect([read.includes('\ufffd'), missing.includes('charset')]).toEqual([true, isDoubtful]);
});

test('header fields: folded, repeated, in bytes beyond ASCII', async () => {
  const headers = async (...lines: (string | Buffer)[]) => (await readMailContent(Buffer.concat([...lines.map((line) => Buffer.from(line as string)), Buffer.from('\r\nx')]))).headers;
  expect(await headers('SUBJECT : one\r\n two\r\n\tthree\r\nSubject: other\r\n', 'To: Ada\r\n <ada@example.org>,\r\n bob@example.org\r\n')).toMatchObject({
    subject: 'one two\tthree', to: [{ address: 'ada@example.org', name: 'Ada' }, { address: 'bob@example.org', name: null }],
  });
  // 32 KB of one list are read; the last address of them is half an address.
  const people = Array.from({ length: 2000 }, (_, nth) => `person${nth}@people.example`);
  const { cc, isCut } = await headers(`Cc: ${people.join(', ')}\r\n`);
  expect([isCut, cc.length > 1000, cc.map(({ address }) => address)]).toEqual([true, true, people.slice(0, cc.length)]);
  expect((await headers('Subject: Zürich\r\n')).subject).toBe('Zürich');
  expect((await headers(Buffer.from('Subject: Z\xfcrich\r\n', 'latin1'))).subject).toBe('Zürich');
});

test('whom a field names that is given twice counts together, and what is not read of them is said', async () => {
  const beginning = (...lines: string[]) => readMailHeaders(Buffer.from(`${lines.join('\r\n')}\r\n\r\nx`));
  expect(await beginning('Reply-To: ada@example.org', 'Subject: S', 'Reply-To: Eve', ' <eve@bad.example>', 'Cc: a@x.example', 'cc: b@x.example')).toMatchObject({
    replyTo: [{ address: 'ada@example.org', name: null }, { address: 'eve@bad.example', name: 'Eve' }], cc: [{ address: 'a@x.example' }, { address: 'b@x.example' }], subject: 'S', isCut: false,
  });
  expect(await beginning(`Cc: ${Array.from({ length: 4000 }, (_, nth) => `p${nth}@x.example`).join(', ')}`)).toMatchObject({ isCut: true });
  expect(await beginning(`Reply-To: ada@example.org,${' '.repeat(40_000)}eve@bad.example`)).toMatchObject({ replyTo: [{ address: 'ada@example.org' }], isCut: true });
  expect(await beginning(`X: ${'x'.repeat(MAX_HEADER)}`, 'Reply-To: eve@bad.example')).toBeNull();
  expect(await readMailHeaders(Buffer.alloc(0))).toBeNull();
});

test.each(['', '\n', '\r\n', '\0', 'Subject', '--', ':', 'Content-Type: multipart/mixed; boundary=""\n\n--\n\nx\n----', 'Content-Type: text/html\n\n'])('input %j is no error', async (input) => {
  await expect(readMailContent(Buffer.from(input))).resolves.toMatchObject({ attachments: expect.any(Array) });
});

test('fuzz', { timeout: FUZZ_TIMEOUT }, async () => {
  const header = { from: 'a@b.example', subject: '=?utf-8?Q?=C3=BC?=', messageId: '<1@b>', date: 1_700_000_000 };
  const seeds = Array.from({ length: 12 }, (_, nth) => corpusMail(nth, header).message);
  await fuzz(seeds, async (input) => {
    const { text, quotes } = await readMailContent(input);
    for (const { start, end } of quotes) expect(start >= 0 && end <= text.length && start < end).toBe(true);
  });
});
