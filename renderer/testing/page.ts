import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pageFolder, pageIsFresh } from '../../build/page.mjs';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const SCREENSHOTS = join(root, '.cache', 'screenshots');

/** What the page server sends too: everything from its own files, nothing inline, nothing made from text. */
export const CONTENT_SECURITY_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; require-trusted-types-for 'script'";

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.png': 'image/png' };

export interface PageOptions {
  readonly view?: 'window' | 'panel' | 'onboarding';
  readonly screen?: string;
  readonly fixture?: string;
  readonly theme?: 'light' | 'dark';
  /** CSS px; 960 x 640 unless told. */
  readonly width?: number;
  readonly height?: number;
  readonly contrast?: 'more';
  readonly reducedMotion?: 'reduce';
  /** Pixels of a picture for one CSS px; only when a page is opened. */
  readonly scale?: number;
}

export interface OpenPage {
  readonly page: Page;
  /** Console errors, uncaught errors and refusals of the policy. Empty is what a test wants. */
  readonly errors: string[];
}

export interface Harness {
  readonly browser: Browser;
  readonly address: string;
  /** A page of its own context, drawn and at rest. */
  open(options?: PageOptions): Promise<OpenPage>;
  /** Goes to another view, fixture or theme in a page that is open; its errors start anew. */
  go(opened: OpenPage, options: PageOptions): Promise<void>;
  close(): Promise<void>;
}

/** Serves the built page on loopback and opens it in Chromium. Builds it first if a source is newer. */
export async function startHarness(): Promise<Harness> {
  await buildWhenStale();
  // Read once, as the page server does: a build meanwhile changes nothing for this run.
  const files = new Map(readdirSync(pageFolder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => {
    const file = join(entry.parentPath, entry.name);
    return [`/${relative(pageFolder, file).split(sep).join('/')}` as string, readFileSync(file)] as const;
  }));
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const path = pathname === '/' ? '/index.html' : pathname;
    const file = files.get(path);
    if (file) response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream', 'content-security-policy': CONTENT_SECURITY_POLICY }).end(file);
    else response.writeHead(path === '/favicon.ico' ? 204 : 404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const browser = await chromium.launch({
    executablePath: process.env.BELFRY_CHROMIUM ?? '/usr/bin/chromium',
    // The sandbox of Chromium refuses root, which is what containers run as.
    args: ['--force-color-profile=srgb', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
  });
  const contexts = new Set<BrowserContext>();
  const addressOf = ({ view = 'window', screen, fixture = 'listening', theme }: PageOptions) => {
    const query = new URLSearchParams({ view, fixture });
    if (screen !== undefined) query.set('screen', screen);
    if (theme !== undefined) query.set('theme', theme);
    return `${address}?${query}`;
  };
  async function go(opened: OpenPage, options: PageOptions): Promise<void> {
    const { page, errors } = opened;
    await page.setViewportSize({ width: options.width ?? (options.view === 'panel' ? 360 : options.view === 'onboarding' ? 640 : 960), height: options.height ?? (options.view === 'onboarding' ? 520 : 640) });
    await page.emulateMedia({ contrast: options.contrast ?? null, reducedMotion: options.reducedMotion ?? null, colorScheme: options.theme ?? 'light' });
    errors.length = 0;
    await page.goto(addressOf(options));
    await drawn(page);
  }
  return {
    browser,
    address,
    async open(options = {}) {
      const context = await browser.newContext({ locale: 'en-GB', deviceScaleFactor: options.scale ?? 1 });
      contexts.add(context);
      const page = await context.newPage();
      page.setDefaultTimeout(90_000);
      const errors: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
      });
      page.on('pageerror', (error) => errors.push(String(error)));
      const opened = { page, errors };
      await go(opened, options);
      return opened;
    },
    go,
    async close() {
      await Promise.all([...contexts].map((context) => context.close()));
      await browser.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Turns the page into another fixture without loading it again. Not for fixtures whose engine has told nothing yet. */
export async function become({ page, errors }: OpenPage, fixture: string): Promise<void> {
  errors.length = 0;
  await page.evaluate((name) => window.belfryFixture!.become(name), fixture);
  await settled(page);
}

/** Waits until the view stands: its title is there and nothing has changed for a moment; what never rests is given a second. */
export async function drawn(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor({ state: 'visible' });
  await settled(page);
}

/** Waits until nothing on the page has changed for 60 ms. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(() => new Promise<void>((resolve) => {
    let timer = setTimeout(done, 60);
    const limit = setTimeout(done, 1000);
    const observer = new MutationObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(done, 60);
    });
    observer.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
    function done() {
      observer.disconnect();
      clearTimeout(timer);
      clearTimeout(limit);
      requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
    }
  }));
}

const LOCK = join(root, '.cache', 'page.lock');

/** The same build as the set-up's. Test files run side by side: one builds, the others wait for it. */
export async function buildWhenStale(): Promise<void> {
  mkdirSync(dirname(LOCK), { recursive: true });
  for (;;) {
    if (pageIsFresh()) return;
    if (take()) break;
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
  try {
    // As a process of its own: a test runner's environment would make it a development build.
    const { NODE_ENV: _, ...env } = process.env;
    await promisify(execFile)(process.execPath, [join(root, 'build', 'page.mjs')], { cwd: root, env });
  } finally {
    rmSync(LOCK, { recursive: true, force: true });
  }
}

/** A lock is a folder with the process that holds it; one that has died does not hold it. */
function take(): boolean {
  try {
    mkdirSync(LOCK);
    writeFileSync(join(LOCK, 'pid'), String(process.pid));
    return true;
  } catch {
    if (!holderLives()) rmSync(LOCK, { recursive: true, force: true });
    return false;
  }
}

function holderLives(): boolean {
  try {
    process.kill(Number(readFileSync(join(LOCK, 'pid'), 'utf8')), 0);
    return true;
  } catch (error) {
    // The folder is there and the number not yet.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && existsSync(LOCK) && Date.now() - statSync(LOCK).mtimeMs < 5000;
  }
}
