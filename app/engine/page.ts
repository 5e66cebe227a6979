import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync } from 'node:fs';
import { answerBytes, COMMON_HEADERS } from '../endpoint/http/answer.ts';
import { readBody } from '../endpoint/http/body.ts';
import { targetOf } from '../endpoint/http/gate.ts';
import { guarded, LIMITS } from '../endpoint/http/guard.ts';
import { BrowserShell, browserShell } from './browser-shell.ts';
import type { Engine } from './engine.ts';
import { nativeFile } from './host.ts';
import { describeFault } from './log.ts';
import { pageFolder, readPageFiles, type PageFile } from './page-files.ts';
import { frameOf, PageSession } from './page-session.ts';
import type { WiringEnv } from '../wiring/wiring.ts';

export interface Page {
  /** With a code that works once. */
  readonly address: string;
  close(): Promise<void>;
}

export interface PageOptions {
  /** 0 chooses a free one. */
  readonly port: number;
  /** Of the built page; `dist/page` unless a test says otherwise. */
  readonly folder?: string;
  /** The home folder in which settings of other programs are wired. */
  readonly wiring: Pick<WiringEnv, 'home' | 'configHomes'>;
  /** The data folder is where a helper looks by itself. */
  readonly usualFolder: boolean;
}

const COOKIE = 'belfry';
/** A settings file of the contract's greatest length, escaped. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
export const MAX_PAGES = 16;
const REOPEN = 'Open the address that the engine printed.';
const NOT_THERE = 'There is no such page.';

/** Everything comes from here, and nothing is run that the page did not bring (React sets styles through the object model). */
const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const HEADERS = {
  'content-security-policy': CSP,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

/**
 * The page of a headless engine on loopback. The address carries a one-use code that becomes a cookie, for the files, and
 * a key, for the bridge; Host and Origin are checked, so that no other page in the browser can look in or ask for anything.
 * @throws for an engine of the app: its page is its own window
 */
export async function startPage(engine: Engine, options: PageOptions): Promise<Page> {
  if (engine.options.kind === 'app') throw new Error('The app has its own window and serves no page');
  const files = readPageFiles(options.folder ?? pageFolder());
  const shim = nativeFile('belfry-mcp');
  const shell = new BrowserShell({
    wiring: existsSync(shim) ? { ...options.wiring, platform: process.platform, shim, now: () => engine.clock.now() } : null,
    socketPath: options.usualFolder ? null : engine.socketPath,
  });
  const server = new PageServer(engine, files, shell);
  return server.listen(options.port);
}

class PageServer {
  readonly #engine: Engine;
  readonly #files: ReadonlyMap<string, PageFile> | null;
  readonly #secret = randomBytes(24).toString('base64url');
  /** Cookies are of a host and all its ports: this one the page alone is told, and keeps for its origin. */
  readonly #key = randomBytes(24).toString('base64url');
  readonly #sessions = new Map<string, PageSession>();
  readonly #shell: BrowserShell;
  readonly #server = createServer(LIMITS, guarded((request, response) => this.#answer(request, response), {
    fault: (error) => this.#engine.options.log(`page: ${describeFault(error)}`),
    say: (response, sentence) => plain(response, 500, `${sentence}.`),
  }));
  #code: string | null = randomBytes(24).toString('base64url');
  #hosts: readonly string[] = [];

  constructor(engine: Engine, files: ReadonlyMap<string, PageFile> | null, shell: BrowserShell) {
    this.#engine = engine;
    this.#shell = shell;
    this.#files = files;
  }

  async listen(port: number): Promise<Page> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', resolve);
    });
    const { port: bound } = this.#server.address() as AddressInfo;
    this.#hosts = [`127.0.0.1:${bound}`, `localhost:${bound}`];
    return {
      address: `http://127.0.0.1:${bound}/?code=${this.#code}`,
      close: async () => {
        for (const session of this.#sessions.values()) session.close();
        const closed = new Promise((resolve) => this.#server.close(resolve));
        this.#server.closeAllConnections();
        await closed;
      },
    };
  }

  #answer(request: IncomingMessage, response: ServerResponse): void | Promise<void> {
    const { origin, host } = request.headers;
    const isOurs = (origin === undefined ? request.method === 'GET' : this.#hosts.some((each) => origin === `http://${each}`));
    if (!this.#hosts.includes(host ?? '') || !isOurs) return plain(response, 403, 'This page is for this computer only.');
    const url = targetOf(request, `http://${host}`);
    if (url === null) return plain(response, 404, NOT_THERE);
    const given = url.searchParams.get('code');
    if (request.method === 'GET' && url.pathname === '/' && given !== null) return this.#signIn(url, given, response);
    // Browsers ask for it by themselves; there is none to show.
    if (url.pathname === '/favicon.ico') return answerBytes(response, 204, '');
    if (!same(cookieOf(request), this.#secret)) return plain(response, 403, REOPEN);
    if (url.pathname === '/bridge') {
      if (request.method === 'GET') return this.#open(url, response);
      if (request.method === 'POST') return this.#hear(url, request, response);
    }
    if (request.method !== 'GET') return plain(response, 405, 'Only GET is served here.');
    if (this.#files === null) return plain(response, 503, 'The page was not built. Run "npm run build" and start the engine again.');
    const file = this.#files.get(url.pathname);
    if (!file) return plain(response, 404, NOT_THERE);
    return answerBytes(response, 200, file.bytes, {
      ...HEADERS, 'content-type': file.type, 'cache-control': file.hashed ? 'private, max-age=31536000, immutable' : 'no-store',
    });
  }

  #signIn(url: URL, given: string, response: ServerResponse): void {
    if (this.#code === null || !same(given, this.#code)) return plain(response, 403, 'This address was used already. Start the engine again for a new one.');
    this.#code = null;
    url.searchParams.delete('code');
    answerBytes(response, 303, '', { location: `/${url.search}#key=${this.#key}`, 'set-cookie': `${COOKIE}=${this.#secret}; HttpOnly; SameSite=Strict; Path=/`, 'cache-control': 'no-store' });
  }

  #open(url: URL, response: ServerResponse): void {
    if (!same(url.searchParams.get('key') ?? '', this.#key)) return plain(response, 403, REOPEN);
    if (this.#sessions.size >= MAX_PAGES) return plain(response, 503, `At most ${MAX_PAGES} pages are served at once.`);
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    const session = new PageSession(this.#engine, response, (notify) => browserShell(this.#shell, notify));
    this.#sessions.set(session.id, session);
    response.on('close', () => {
      this.#sessions.delete(session.id);
      session.close();
    });
  }

  async #hear(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) return plain(response, 415, 'A frame is JSON.');
    const body = await readBody(request, MAX_BODY_BYTES);
    if ('fault' in body) {
      if (body.fault === 'aborted') return undefined;
      return body.fault === 'too-large' ? plain(response, 413, `A frame has at most ${MAX_BODY_BYTES} bytes.`) : plain(response, 400, 'A frame is UTF-8.');
    }
    const session = this.#sessions.get(url.searchParams.get('session') ?? '');
    if (!session) return plain(response, 410, 'This session is over.');
    const frame = frameOf(body.text);
    if (frame === null) return plain(response, 400, 'A frame is {"port": "shell" or "engine", "value": ...}.');
    answerBytes(response, 204, '');
    session.heard(frame);
  }
}

function plain(response: ServerResponse, code: number, sentence: string): void {
  answerBytes(response, code, `${sentence}\n`, { ...COMMON_HEADERS, 'content-type': 'text/plain; charset=utf-8' });
}

function cookieOf(request: IncomingMessage): string {
  return /(?:^|;\s*)belfry=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
}

function same(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
