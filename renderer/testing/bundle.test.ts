import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { tempFolder } from '../../app/testing/temp.ts';

const root = join(import.meta.dirname, '..', '..');

/** What the app ships; a test runner's environment would make it a development build, so it is a process of its own. */
test('what a page needs at its start is at most 120 KB of gzip JavaScript in each view; the rest comes when it is opened', async () => {
  using folder = tempFolder();
  const { NODE_ENV: _, ...env } = process.env;
  const script = `const { buildPage, initialBytes } = await import(${JSON.stringify(join(root, 'build', 'page.mjs'))});
    const chunks = await buildPage({ folder: ${JSON.stringify(join(folder.path, 'page'))}, shipped: true });
    console.log(JSON.stringify(Object.fromEntries(['window', 'panel', 'onboarding'].map((view) => [view, initialBytes(chunks, view)]))));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { cwd: root, env });
  const bytes = JSON.parse(stdout) as Record<string, number>;
  expect(Object.keys(bytes)).toEqual(['window', 'panel', 'onboarding']);
  for (const [view, count] of Object.entries(bytes)) {
    expect(count, view).toBeGreaterThan(50 * 1024);
    expect(count, view).toBeLessThanOrEqual(120 * 1024);
  }
}, 120 * 1024);
