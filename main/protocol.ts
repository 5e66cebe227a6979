import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { protocol, type Session } from 'electron';
import { HOST, SCHEME } from './origin.ts';

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', svg: 'image/svg+xml', png: 'image/png', json: 'application/json', woff2: 'font/woff2',
};

const POLICY = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "font-src 'self'", "connect-src 'none'",
  "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "object-src 'none'", "require-trusted-types-for 'script'",
].join('; ');

/** Before `ready`: the scheme behaves like https, for modules, storage and origins. */
export function registerScheme(): void {
  protocol.registerSchemesAsPrivileged([{ scheme: SCHEME, privileges: { standard: true, secure: true, supportFetchAPI: false, corsEnabled: false, codeCache: true } }]);
}

/** The built files by their path in an address. Listed once: no path of a request is ever joined to a folder. */
export function fileTable(folder: string): ReadonlyMap<string, string> {
  const table = new Map<string, string>();
  const list = (below: string, prefix: string): void => {
    for (const entry of readdirSync(below, { withFileTypes: true })) {
      if (entry.isDirectory()) list(join(below, entry.name), `${prefix}${entry.name}/`);
      else if (Object.hasOwn(TYPES, extension(entry.name))) table.set(`${prefix}${entry.name}`, join(below, entry.name));
    }
  };
  list(folder, '/');
  const index = table.get('/index.html');
  if (index !== undefined) table.set('/', index);
  return table;
}

export function serveFiles({ protocol }: Pick<Session, 'protocol'>, table: ReadonlyMap<string, string>): void {
  protocol.handle(SCHEME, (request) => answer(request, table));
}

export function answer(request: Pick<Request, 'url' | 'method'>, table: ReadonlyMap<string, string>): Response {
  const { host, pathname } = new URL(request.url);
  const file = host === HOST && request.method === 'GET' ? table.get(pathname) : undefined;
  if (file === undefined) return new Response('There is no such file.', { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' } });
  return new Response(readFileSync(file), {
    headers: {
      'content-type': TYPES[extension(file)]!,
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    },
  });
}

const extension = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
