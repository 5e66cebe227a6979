import { expect, test } from 'vitest';
import { fuzz, FUZZ_TIMEOUT } from '../../testing/fuzz.ts';
import { htmlToText, MAX_QUOTES } from './html-text.ts';
import { linksIn, quotesOf, tidy } from './plain-text.ts';

test.each([
  ['blocks are lines, paragraphs stand apart', '<div>a</div><div>b</div><p>c</p><p>d</p>', 'a\nb\n\nc\n\nd'],
  ['blanks collapse', '  a \n\t b&nbsp;&nbsp;c  <b>d</b>e ', 'a b c de'],
  ['line breaks', 'a<br>b<br><br><br><br>c', 'a\nb\n\nc'],
  ['entities', '&lt;b&gt; &amp; &euro; &#8364; &#x20ac;', '<b> & € € €'],
  ['cells', '<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>', 'a b\nc'],
  ['lists', '<ul><li>a</li><li>b</li></ul>', '- a\n- b'],
  ['scripts and styles are no text', '<style>p{}</style><script>alert(1)</script><title>t</title>x', 'x'],
  ['what is styled away is no text', 'a<div style="display:none">b</div><span style="color:red;font-size:0px">c</span><p hidden>d</p>e', 'a\n\ne'],
  ['pictures stand for their words', '<img alt="Logo" src="https://t.example/p.gif"> x', 'Logo x'],
  ['preformatted text stays', '<pre>a  b\n c</pre>', 'a  b\n c'],
  ['nothing is closed', '<div><p>a<div>b', 'a\n\nb'],
  ['comments and conditional ones', 'a<!-- b --><!--[if mso]>c<![endif]-->d', 'ad'],
  ['cut in a tag', 'a<div class="x', 'a'],
])('%s', async (_name, html, text) => {
  expect((await htmlToText(html)).text).toBe(text);
});

test('links that a browser opens, with their words', async () => {
  const html = ['https://a.example/x?y=1&amp;z=2', 'mailto:a@b.example', 'javascript:alert(1)', 'data:text/html,x', 'cid:1', 'tel:1', 'sms:1', '//b.example', 'https://c.example/ \n x'].map((href) => `<a href="${href}"> go <b>there</b></a>`).join('');
  expect((await htmlToText(html)).links).toEqual([{ url: 'https://a.example/x?y=1&z=2', text: 'go there' }]);
  expect((await htmlToText(`<a href="https://a.example">${'x'.repeat(300)}</a>`)).links[0]!.text.length).toBe(200);
});

test.each([
  ['Mail', 'new<blockquote type="cite">old <blockquote>older</blockquote></blockquote>after'],
  ['Gmail', 'new<div class="gmail_quote">On Monday Ada wrote: old older</div>'],
  ['Outlook', 'new<div id="divRplyFwdMsg">From: Ada</div><div>old</div>'],
])('former mails are marked: %s', async (_name, html) => {
  const { text, quotes } = await htmlToText(html);
  expect(quotes).toHaveLength(1);
  const quoted = text.slice(quotes[0]!.start, quotes[0]!.end);
  expect(quoted).toContain('old');
  expect(quoted).not.toContain('new');
  expect(quoted).not.toContain('after');
});

test.each([
  ['bottom', 'new\n\nOn 1 May Ada wrote:\n> old\n>> older\n', 'On 1 May Ada wrote:\n> old\n>> older\n'],
  ['German', 'neu\n\nAm 1.5. schrieb Ada <a@b.example>:\n> alt', 'Am 1.5. schrieb Ada <a@b.example>:\n> alt'],
  ['Outlook', 'new\n-----Original Message-----\nFrom: Ada\nold', '-----Original Message-----\nFrom: Ada\nold'],
])('former mails are marked in plain text: %s', (_name, text, quoted) => {
  expect(quotesOf(text).map(({ start, end }) => text.slice(start, end))).toEqual([quoted]);
});

test('plain text: links once each, without what ends a sentence', () => {
  expect(linksIn('See https://a.example/x. (https://b.example/y(z)) https://a.example/x, http://c.example!').map(({ url }) => url)).toEqual(['https://a.example/x', 'https://b.example/y(z)', 'http://c.example']);
  expect(tidy('\r\n \r\n a\r\nb\r\n\r\n')).toBe(' a\nb');
});

test('bombs: depth, tags, length are cut, and said to be', async () => {
  // End tags that fit nothing make a parser look through all that is open.
  await expect(htmlToText(`a${'<i>'.repeat(200_000)}${'</b>'.repeat(200_000)}`)).resolves.toMatchObject({ text: 'a', isCut: true });
  expect((await htmlToText('<br>'.repeat(500_000))).isCut).toBe(true);
  expect((await htmlToText(`<p ${'a=b '.repeat(200_000)}>x</p>`)).text).toBe('x');
  expect((await htmlToText(`<p style="${';'.repeat(500_000)}">x</p>`)).text).toBe('x');
  expect((await htmlToText('&'.repeat(1_000_000))).text.length).toBe(1_000_000);
});

test('of one stretch of text that is too long as much is kept as fits, no half of a character', async () => {
  const { text, isCut } = await htmlToText(`<p>first</p><p>${'words '.repeat(500_000)}</p>`);
  expect([text.length, isCut, text.startsWith('first\n\nwords words')]).toEqual([1024 * 1024, true, true]);
  const odd = (await htmlToText(`x${'\u{1f600}'.repeat(600_000)}`)).text;
  expect([odd.length, odd.isWellFormed()]).toEqual([1024 * 1024 - 1, true]);
});

test('a document is read in stretches, wherever they end', async () => {
  for (const blanks of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) {
    const pad = 'x'.repeat(64 * 1024 - blanks);
    expect((await htmlToText(`${pad}&amp;<a href="https://a.example">b \u{1f600}</a> c`)).text).toBe(`${pad}&b \u{1f600} c`);
  }
});

test('plain text of millions of lines', () => {
  expect(tidy(`${'\n'.repeat(4_000_000)}  a`)).toBe('  a');
  expect(tidy(`${' \n\t\n'.repeat(1_000_000)}`)).toBe('');
  // What is beyond the limit is not marked, and no mark goes astray.
  const ranges = quotesOf('>\nb\n'.repeat(1_000_000));
  expect([ranges.length, ranges.at(-1)]).toEqual([MAX_QUOTES, { start: 4 * (MAX_QUOTES - 1), end: 4 * (MAX_QUOTES - 1) + 2 }]);
});

test('fuzz', { timeout: FUZZ_TIMEOUT }, async () => {
  const seeds = [
    '<html><body><div class="gmail_quote"><blockquote>a<p>b</p></blockquote></div><table><tr><td>x</td></tr></table></body></html>',
    '<ul><li style="display:none">a<li>b</ul><pre>x\n y</pre><a href="https://a.example/?x=1&amp;y=2">go</a>', '<![CDATA[x]]><!--[if mso]>a<![endif]--><?xml ?><svg><title>t</title></svg>&nbsp;&#x1F600;',
  ].map((html) => Buffer.from(html));
  await fuzz(seeds, async (input) => {
    const { text, quotes } = await htmlToText(input.toString());
    for (const { start, end } of quotes) expect(start >= 0 && end <= text.length && start < end).toBe(true);
    quotesOf(tidy(input.toString()));
    linksIn(input.toString());
  });
});
