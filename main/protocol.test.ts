import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import type { Session } from 'electron';
import { tempFolder } from '../app/testing/temp.ts';
import { fileTable, registerScheme, serveFiles } from './protocol.ts';
import { callsOf, defaultSession, handlers, reset } from './testing/electron-double.ts';

beforeEach(reset);

async function served(url: string, method = 'GET'): Promise<Response> {
  const folder = tempFolder();
  mkdirSync(folder.at('page', 'assets'), { recursive: true });
  writeFileSync(folder.at('page', 'index.html'), '<!doctype html>');
  writeFileSync(folder.at('page', 'assets', 'index-1.js'), 'export {}');
  writeFileSync(folder.at('page', 'notes.txt'), 'not built');
  writeFileSync(folder.at('secret.html'), 'secret');
  symlinkSync(folder.at('secret.html'), folder.at('page', 'assets', 'link'));
  serveFiles(defaultSession as unknown as Session, fileTable(folder.at('page')));
  try {
    return await handlers.get('app')!({ url, method } as Request);
  } finally {
    folder.remove();
  }
}

test('the scheme behaves like https and is registered with what pages need', () => {
  registerScheme();
  expect(callsOf('protocol.registerSchemesAsPrivileged')[0]![0]).toMatchObject([{ scheme: 'app', privileges: { standard: true, secure: true } }]);
});

test.each([
  ['app://belfry/', 'text/html'], ['app://belfry/?view=panel', 'text/html'], ['app://belfry/index.html', 'text/html'], ['app://belfry/assets/index-1.js', 'text/javascript'],
])('%s is served as %s', async (url, type) => {
  const response = await served(url);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain(type);
});

test('a page runs only its own scripts and reaches no address', async () => {
  const policy = (await served('app://belfry/')).headers.get('content-security-policy')!;
  for (const rule of ["default-src 'none'", "script-src 'self'", "connect-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]) expect(policy).toContain(rule);
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
});

test.each([
  'app://belfry/secret.html', 'app://belfry/../secret.html', 'app://belfry/assets/../../secret.html', 'app://belfry/assets/%2e%2e/%2e%2e/secret.html', 'app://belfry/assets/..%2f..%2fsecret.html',
  'app://belfry/notes.txt', 'app://belfry/assets', 'app://belfry/assets/link', 'app://belfry//index.html', 'app://other/index.html', 'app://belfry/constructor',
])('%s is not served', async (url) => {
  expect((await served(url)).status).toBe(404);
});

test('only GET is served', async () => {
  expect((await served('app://belfry/', 'POST')).status).toBe(404);
});
