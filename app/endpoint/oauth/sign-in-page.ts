import { createHash } from 'node:crypto';
import { cleanText } from '../../events/text.ts';
import { withoutQuotes } from '../../text/quotes.ts';
import { MAX_NAME } from '../../policy/credentials.ts';
import type { SignInRefusal } from '../../policy/sign-ins.ts';
import { withAnswer } from './redirect-uri.ts';
import type { Authorization } from './authorizations.ts';
import { PATHS } from './metadata.ts';

const STYLE = `:root{color-scheme:light dark;--bg:#F5F5F7;--surface:#FFFFFF;--text:#1D1D1F;--text-2:#515156;--line:#D2D2D7;--accent:#0B63CE}
@media (prefers-color-scheme:dark){:root{--bg:#1C1C1E;--surface:#2A2A2D;--text:#F5F5F7;--text-2:#C7C7CC;--line:#3E3E42;--accent:#5AA9FF}}
body{margin:0;background:var(--bg);color:var(--text);font:15px/22px -apple-system,BlinkMacSystemFont,system-ui,sans-serif}
main{max-width:28rem;margin:12vh auto 0;padding:24px;background:var(--surface);border:1px solid var(--line);border-radius:12px;overflow-wrap:anywhere}
h1{margin:0 0 12px;font-size:22px;line-height:28px}
p{margin:0 0 12px;color:var(--text-2)}
p:last-child{margin-bottom:0}
strong,kbd{color:var(--text)}
.code{margin:16px 0;font:600 40px/48px ui-monospace,Menlo,monospace;letter-spacing:.12em;color:var(--text)}
kbd{font:13px/18px ui-monospace,Menlo,monospace}
a{color:var(--accent)}
@media (max-width:32rem){main{margin:0;border:0;border-radius:0}}`;

/** Looks again once the owner decided, or where nobody knows of the request any more. The page's own address answers what became of it. */
const SCRIPT = `const source=new EventSource(document.body.dataset.wait);source.addEventListener('decided',()=>{source.close();location.reload()});source.onerror=()=>{if(source.readyState===EventSource.CLOSED)location.reload()};`;

const sha256 = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Nothing is fetched, sent or framed, and only this very style and script run. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src ${sha256(STYLE)}; script-src ${sha256(SCRIPT)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** How long the page of a refusal stands before the program is told. */
const TOLD_AFTER_S = 5;

export interface Page {
  readonly status: number;
  readonly html: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Where the owner answers. */
export type Host = 'app' | 'headless';

/** While nobody decided. It says what the owner has to compare, and goes on by itself. */
export function waitingPage({ id, ask }: Authorization, host: Host, minutes: number): Page {
  const where = host === 'app'
    ? '<p>Open Belfry and choose <strong>Clients</strong>. Allow it there if <strong>Waiting for you</strong> shows the same code.</p>'
    : `<p>In a terminal, <kbd>belfry clients list</kbd> shows what waits. If it shows the same code, allow it with <kbd>belfry clients allow ${ask.id} --code ${ask.code}</kbd></p>`;
  return {
    status: 200,
    html: document('Sign in to Belfry', `<h1>${quoted(ask.name)} asks to sign in to Belfry</h1>
<p class="code" aria-label="Code ${[...ask.code].join(' ')}">${ask.code}</p>
${where}
<p>Nothing is given out before that. Afterwards your browser goes to <strong><bdi>${escaped(ask.host)}</bdi></strong>. This page goes on by itself and ends in ${minutes} minute${minutes === 1 ? '' : 's'}.</p>
<p>You did not start this? Close the page and don't allow it.</p>`, `${PATHS.wait}?id=${id}`),
  };
}

/** A person said no: first the person is told, then the program. */
export function deniedPage({ request: { redirectUri, state }, issuer, ask }: Authorization): Page {
  const back = withAnswer(redirectUri, { error: 'access_denied', error_description: 'The owner did not allow it', state, iss: issuer });
  return {
    status: 200,
    html: document('Not allowed', `<h1>Not allowed</h1>
<p>${quoted(ask.name)} was not allowed to sign in to Belfry, and was given nothing.</p>
<p><a href="${escaped(back)}">Go back to the program</a></p>`),
    headers: { refresh: `${TOLD_AFTER_S}; url=${back}` },
  };
}

const ENDED = {
  expired: ['This request is over', 'Nobody answered within ten minutes, so nothing was given out. Start the sign-in again in the program.'],
  lapsed: ['This request is over', 'It was allowed, but this page was not loaded within ten minutes, so nothing was given out. Start the sign-in again in the program.'],
  handed: ['Signed in', 'The program was let in with this page. You can close it.'],
} as const;

/** Nobody allowed it, or it is done: nothing more comes of this page, and it leads nowhere. */
export const endedPage = (state: keyof typeof ENDED): Page => faultPage(state === 'handed' ? 200 : 410, ENDED[state][0], ENDED[state][1]);

const REFUSED: Readonly<Record<SignInRefusal, readonly [status: number, title: string, sentence: string]>> = {
  // Whoever asked first may have been somebody else in the name of this program: that one has its own page, and its own code.
  waits: [503, 'Another request waits', 'Another request of this program waits in Belfry, and it is not the one of this page. Allow it only if another page of yours shows its code. Otherwise don\'t allow it there, and load this page again.'],
  full: [503, 'Others wait already', 'As many requests wait for an answer as may. Answer those in Belfry, and load this page again.'],
  often: [429, 'Too many requests', 'Too many requests to sign in came within a minute. Load this page again in a minute.'],
};

/** Nothing was asked; loading the page again may. */
export function refusedPage(why: SignInRefusal): Page {
  const [status, title, sentence] = REFUSED[why];
  return faultPage(status, title, sentence, { 'retry-after': '60' });
}

/** @param sentence plain text; may quote what a stranger sent */
export function faultPage(status: number, title: string, sentence: string, headers: Readonly<Record<string, string>> = {}): Page {
  return { status, html: document(title, `<h1>${escaped(title)}</h1>\n<p>${escaped(cleanText(sentence, 400))}</p>`), headers };
}

/** @param wait address that tells when it was decided; without scripts the page looks again by itself */
function document(title: string, main: string, wait: string | null = null): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>${wait === null ? '' : '\n<noscript><meta http-equiv="refresh" content="5"></noscript>'}
</head>
<body${wait === null ? '' : ` data-wait="${escaped(wait)}"`}>
<main>
${main}
</main>${wait === null ? '' : `\n<script>${SCRIPT}</script>`}
</body>
</html>
`;
}

const quoted = (name: string): string => `“<bdi>${escaped(withoutQuotes(cleanText(name, MAX_NAME)))}</bdi>”`;

const ENTITY: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITY[character]!);
