import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { corpusMail, emlxFile } from '../../testing/mail-corpus.ts';
import { fuzz, FUZZ_TIMEOUT } from '../../testing/fuzz.ts';
import { tempFolder } from '../../testing/temp.ts';
import { MAX_READ, readEmlx, readEmlxFile } from './emlx.ts';
import { readFlags } from './mail-flags.ts';

const MESSAGE = 'Subject: x\n\nHéllo\n';
const BYTES = Buffer.byteLength(MESSAGE);
const plist = (inner: string): string => `<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0">\n<dict>\n${inner}</dict>\n</plist>\n`;
const TRAILER = plist('<key>flags</key>\n<integer>8593</integer>\n<key>date-received</key>\n<integer>1700000000</integer>\n');
const read = (text: string) => {
  const { message, isCounted, footer } = readEmlx(Buffer.from(text));
  return { message: message.toString(), isCounted, flags: footer.flags?.read ?? null };
};

// data-formats/envelope-index 8 and samples D: what real files do.
test.each([
  ['count padded to 10', `${`${BYTES}`.padEnd(10)}\n${MESSAGE}${TRAILER}`, MESSAGE, true, true],
  ['count not padded', `${BYTES}\n${MESSAGE}${TRAILER}`, MESSAGE, true, true],
  ['count line with CRLF', `${BYTES}\r\n${MESSAGE}${TRAILER}`, MESSAGE, true, true],
  ['count in bytes, not characters', `${BYTES}\n${MESSAGE}${TRAILER}`, MESSAGE, true, true],
  ['count larger than the file, with a trailer', `99999\n${MESSAGE}${TRAILER}`, MESSAGE, false, true],
  ['count larger than the file, without a trailer', `1497      \n${MESSAGE}`, MESSAGE, false, null],
  ['count too small: line ends were converted', `${BYTES - 4}\n${MESSAGE}${TRAILER}`, MESSAGE, false, true],
  ['no trailer', `${BYTES}\n${MESSAGE}`, MESSAGE, true, null],
  ['no count line', `${MESSAGE}${TRAILER}`, MESSAGE, false, true],
  ['neither', MESSAGE, MESSAGE, false, null],
  ['a property list inside the message', `${Buffer.byteLength(`a\n\n${TRAILER}`)}\na\n\n${TRAILER}${TRAILER}`, `a\n\n${TRAILER}`, true, true],
  ['empty file', '', '', false, null],
  ['count of nothing', '0\n', '', true, null],
  ['a count alone', '12', '12', false, null],
  ['an endless count', `${'9'.repeat(100)}\n${MESSAGE}`, `${'9'.repeat(100)}\n${MESSAGE}`, false, null],
])('%s', (_name, file, message, isCounted, flags) => {
  expect(read(file)).toEqual({ message, isCounted, flags });
});

test.each([
  ['more than the file has', '99999', TRAILER, true],
  ['more than comes before the trailer', `${BYTES + 10}`, TRAILER, true],
  ['what the file has', `${BYTES}`, '', false],
  ['less, as where line ends were converted', `${BYTES - 4}`, TRAILER, false],
  ['nothing that is a number', 'x', TRAILER, false],
])('a count of %s', (_name, count, trailer, isTruncated) => {
  expect(readEmlx(Buffer.from(`${count}\n${MESSAGE}${trailer}`)).isTruncated).toBe(isTruncated);
});

test('flags: bits of data-formats/envelope-index 8', () => {
  // peers 3.1: 8593 = read + flagged + initial + forwarded + 8 attachments.
  expect(readFlags(8593)).toMatchObject({ read: true, flagged: true, initial: true, forwarded: true, attachments: 8, deleted: false, answered: false, priority: 0 });
  expect(readFlags(8_623_489_089)).toMatchObject({ read: true, draft: true, notJunk: true, junk: false });
  expect(readFlags(8_590_132_225)).toMatchObject({ read: true, priority: 3, attachments: 1, notJunk: false });
  expect(readFlags(8_623_689_857)).toMatchObject({ read: true, notJunk: true, priority: 3, attachments: 4, initial: true });
  expect(readFlags(2 ** 33 + 2 ** 24)).toMatchObject({ junk: true, notJunk: false });
  expect(readFlags(63 * 1024).attachments).toBeNull();
  for (const value of [-1, 1.5, Number.NaN, 2 ** 60]) expect(readFlags(value)).toEqual(readFlags(0));
});

test('footer: dates are Unix seconds, integer or real; entities; absent is null', () => {
  const footer = (inner: string) => readEmlx(Buffer.from(`0\n${plist(inner)}`)).footer;
  expect(footer('<key>date-received</key>\n\t<real>1700000000.5</real>').dateReceived).toBe(1_700_000_000_500);
  expect(footer('<key>date-last-viewed</key><integer>0</integer>').dateLastViewed).toBeNull();
  expect(footer('<key>remote-id</key><string>a&amp;b</string>').remoteId).toBe('a&b');
  expect(footer('<key>original-mailbox</key><string>imap://A/INBOX</string>').originalMailbox).toBe('imap://A/INBOX');
  expect(footer('')).toEqual({ flags: null, dateReceived: null, dateLastViewed: null, remoteId: null, conversationId: null, originalMailbox: null });
});

test('a property list bomb expands nothing', () => {
  const bomb = `<!DOCTYPE plist [<!ENTITY a "${'x'.repeat(1000)}"><!ENTITY b "${'&a;'.repeat(1000)}">]>${plist('<key>remote-id</key><string>&b;</string>')}`;
  expect(readEmlx(Buffer.from(`0\n<?xml version="1.0"?>${bomb}`)).footer.remoteId).toBe('&b;');
});

test('a file is read as it is; one above the limit in its beginning, with its footer', () => {
  using folder = tempFolder('emlx');
  const small = folder.at('1.emlx');
  writeFileSync(small, emlxFile(Buffer.from(MESSAGE), { flags: 1 }));
  expect(readEmlxFile(small)).toMatchObject({ isWhole: true, isCounted: true, footer: { flags: { read: true } } });
  const big = folder.at('2.emlx');
  writeFileSync(big, emlxFile(Buffer.alloc(26 * 1024 * 1024, 'a'), { flags: 1 }));
  const found = readEmlxFile(big)!;
  expect(found).toMatchObject({ isWhole: false, isCounted: true, isTruncated: false, footer: { flags: { read: true } } });
  expect(found.message.length).toBeLessThanOrEqual(MAX_READ);
  truncateSync(big, 20 * 1024 * 1024);
  expect(readEmlxFile(big)).toMatchObject({ isWhole: false, isCounted: false, isTruncated: true, footer: { flags: null } });
});

test('what is gone, a link, a folder, is no file', () => {
  using folder = tempFolder('emlx');
  writeFileSync(folder.at('secret'), 'secret');
  symlinkSync(folder.at('secret'), folder.at('1.emlx'));
  mkdirSync(folder.at('2.emlx'));
  for (const name of ['1.emlx', '2.emlx', '3.emlx', 'secret/4.emlx']) expect(readEmlxFile(folder.at(name))).toBeNull();
});

test('fuzz', { timeout: FUZZ_TIMEOUT }, async () => {
  const header = { from: 'a@b.example', subject: 'S', messageId: '<1@b>', date: 1_700_000_000 };
  const seeds = [0, 1, 2, 3].map((nth) => emlxFile(corpusMail(nth, header).message));
  await fuzz([...seeds, Buffer.from(TRAILER)], (input) => {
    const { message } = readEmlx(input);
    expect(message.length).toBeLessThanOrEqual(input.length);
  });
});
