import { expect, test } from 'vitest';
import { hideCodes } from '../../events/one-time-code.ts';
import { cleanBody } from '../../events/text.ts';
import { readMailContent } from './mail-content.ts';
import { MAX_DEPTH } from './mime-tree.ts';
import { MAX_TEXT } from './part-text.ts';

/**
 * Processor time of one turn of the loop that none of these mails may take. Twenty times what the worst of them takes, and a tenth of what
 * they take where time grows with the square of their size.
 */
const MAX_TURN_MS = 3000;
const TIMEOUT = 120_000;
const MB = 1024 * 1024;

const filled = (megabytes: number, pattern: string): string => pattern.repeat(Math.ceil((megabytes * MB) / pattern.length));
const typed = (type: string, body: string, more = ''): string => `Content-Type: ${type}\r\n${more}\r\n${body}`;
const parts = (count: number, part: string): string => typed('multipart/mixed; boundary=b', `${`--b\r\n${part}\r\n`.repeat(count)}--b--`);
/** As many levels as are read, each with a boundary of its own, and what is in the innermost. */
const nested = (boundary: (level: number) => string, inner: string): string =>
  `${Array.from({ length: MAX_DEPTH }, (_, level) => typed(`multipart/mixed; boundary=${boundary(level)}`, `--${boundary(level)}\r\n`)).join('')}\r\n${inner}`;
const many = (count: number, each: (nth: number) => string): string => Array.from({ length: count }, (_, nth) => each(nth)).join('');
const han = (nth: number): string => String.fromCharCode(0x4e00 + nth);

const MAILS: readonly (readonly [string, () => string])[] = [
  ['flowed lines', () => typed('text/plain; format=flowed', filled(16, 'hello world \r\n'))],
  ['flowed lines of one blank', () => typed('text/plain; format=flowed', filled(16, ' \r\n'))],
  ['flowed lines of changing depth', () => typed('text/plain; format=flowed; delsp=yes', filled(16, '> a \n>> b \n'))],
  ['marks of quotes', () => typed('text/plain; format=flowed', filled(16, '>'))],
  ['HTML in a charset that nobody knows', () => typed('text/html; charset=x-foo', filled(16, '<p>hi</p>'))],
  ['fifty parts of HTML', () => parts(50, typed('text/html', '<p>hello world</p>'.repeat(27_000)))],
  ['fifty parts that decode to nothing', () => parts(50, typed('text/plain', '=\r\n'.repeat(100_000), 'Content-Transfer-Encoding: quoted-printable\r\n'))],
  ['attachments with names in many pieces', () => parts(499, typed(`application/pdf; ${many(55, (nth) => `name*${nth}*=u''%41; `)}`, 'AAAA'))],
  ['blank lines', () => typed('text/plain', filled(16, '\n'))],
  ['carriage returns', () => typed('text/plain', `a${filled(16, '\r')}`)],
  ['quotes line by line', () => typed('text/plain', filled(16, '>\nb\n'))],
  ['almost an attribution', () => typed('text/plain', filled(4, `${'schrieb'.repeat(20)}${' '.repeat(140)}::\n`))],
  ['almost a divider', () => typed('text/plain', filled(4, `${'-'.repeat(200)}${' '.repeat(90)}x\n`))],
  ['links', () => typed('text/plain', filled(4, 'https://a.example/((((( '))],
  ['HTML of brackets', () => typed('text/html', filled(16, '<'))],
  ['HTML of pictures', () => typed('text/html', filled(16, '<img alt=x>'))],
  ['HTML of end tags that fit nothing', () => typed('text/html', `${'<i>'.repeat(250)}x${filled(4, '</b>')}`)],
  ['HTML of attributes', () => typed('text/html', `<p ${many(300_000, (nth) => ` a${nth}`)}>x</p>`)],
  ['links in links', () => typed('text/html', `${'<a href="https://a.example/">'.repeat(250)}${filled(1, 'word ')}${'</a>'.repeat(250)}`)],
  ['links behind a long text', () => typed('text/html', `<p>${filled(0.9, 'word ')}${many(40_000, (nth) => `<a href="https://a.example/${nth}">q</a>`)}`)],
  ['quotes in HTML', () => typed('text/html', filled(4, '<blockquote>x</blockquote>y'))],
  ['lines that begin like the boundaries of all levels', () => nested((level) => 'b'.repeat(level + 1), filled(32, `\n--${'b'.repeat(MAX_DEPTH + 1)}`))],
  ['dashes', () => nested((level) => '-'.repeat(level + 1), filled(32, '-'))],
  ['short lines of dashes', () => nested((level) => level.toString(36), filled(32, '\n--z'))],
  ['the start of boundaries', () => typed('multipart/digest; boundary=b', filled(16, '--b\n\n'))],
  ['messages in messages', () => filled(16, 'Content-Type: message/rfc822\n\n')],
  ['a header without an end', () => filled(32, 'X: y\n')],
  ['groups of addresses', () => `To: ${'a:'.repeat(30_000)}\r\nCc: ${'a:'.repeat(30_000)}\r\n\r\nhi`],
  ['encoded words', () => `Subject: ${'=?utf-8?q?a?= '.repeat(8000)}\r\n\r\nhi`],
  ['an attachment of equals signs', () => typed('application/pdf; name=a', filled(34, '='), 'Content-Transfer-Encoding: quoted-printable\r\n')],
  ['an attachment of blanks', () => typed('application/pdf; name=a', `=${filled(34, ' ')}`, 'Content-Transfer-Encoding: quoted-printable\r\n')],
  ['an attachment in base64', () => typed('application/pdf; name=a', filled(34, `${'A'.repeat(76)}\r\n`), 'Content-Transfer-Encoding: base64\r\n')],
  ['base64 with more junk than signs', () => typed('text/plain', filled(16, 'Q!!!'), 'Content-Transfer-Encoding: base64\r\n')],
  ['Japanese that shifts at each letter', () => typed('text/plain; charset=iso-2022-jp', filled(16, '\u001b$B3E\u001b(B'))],
  ['the substitute for bytes that cannot be read', () => typed('text/plain; charset=utf-8', filled(8, '\ufffd '))],
  ['a code at each word', () => typed('text/plain', many(150_000, (nth) => `code ${String((nth * 7919) % 1e8).padStart(8, '0')} `))],
  ['codes of a form of their own', () => typed('text/plain', many(200_000, (nth) => `G-${String(nth).padStart(6, '0')} `))],
  ['codes that are told apart by their last letter, in a text of almost all of them', () => typed('text/plain; charset=utf-8',
    `1234${many(20_000, (nth) => `\n@a #${han(nth)}\u3402${nth % 2 === 0 ? '\u3400' : '\u3401'}`)}\n${many(500_000, (nth) => `${han(nth % 20_000)}\u3402${nth % 2 === 0 ? '\u3401' : '\u3400'}`)}`)],
  ['a code before a line of marks', () => typed('text/plain', `${'code '.repeat(40)}\n123456${filled(2, '-')}x`)],
  ['characters that are taken out', () => typed('text/plain; charset=utf-8', filled(6, '\u200b'))],
];

test.each(MAILS)('the loop goes on and the text is bounded: %s', { timeout: TIMEOUT }, async (_name, make) => {
  const message = Buffer.from(make());
  using turns = longestTurn();
  const { text, quotes, links } = await readMailContent(message);
  const hidden = hideCodes(text, 'Your code');
  expect(turns.longestMs()).toBeLessThan(MAX_TURN_MS);
  expect(cleanBody(hidden).length).toBeLessThanOrEqual(text.length);
  expect(text.length).toBeLessThanOrEqual(MAX_TEXT + 100);
  expect(hidden).toHaveLength(text.length);
  expect([quotes.length <= 2000, links.length <= 50_000]).toEqual([true, true]);
});

/** Processor time of this thread, so that other work on the machine does not count. */
function longestTurn(): Disposable & { longestMs(): number } {
  let [last, longest, goesOn] = [process.threadCpuUsage(), 0, true];
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1000);
    last = process.threadCpuUsage();
  };
  const turn = (): void => {
    look();
    if (goesOn) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    longestMs() {
      look();
      return longest;
    },
    [Symbol.dispose]() { goesOn = false; },
  };
}
